//! Multigrid on a graph and the graphs of its groups: an approximate solution of `(1 - P) z = c`.
//!
//! Errors that change from point to point are smoothed away by a few products with the graph itself; what is left is
//! nearly the same all over a group and is solved for on the graph of the groups, and so on down to a few hundred
//! points, which are solved densely. It only has to point the eigen-solver where to look, so single precision will do.

use rayon::prelude::*;

use crate::affinity::Affinity;
use crate::eigen::dense::symmetric;
use crate::eigen::tall_skinny::CHUNK;
use crate::error::Result;
use crate::graph::{Grouped, SparseAffinity, Step};
use crate::observe::{Observer, check};

/// Products of one smoothing.
const PRODUCTS: usize = 5;
/// Eigenvalues of `1 - P` from which on an error is left to the smoothing.
const ROUGH: f32 = 0.12;
/// Group by group constant corrections are too short by about this factor.
const LONGER: f32 = 1.5;
/// Directions of the dense solution with a smaller eigenvalue than this are those of the constant.
const NOTHING: f64 = 1e-10;

/// One graph with the vectors that pass through it.
struct Level<'a> {
    graph: &'a SparseAffinity,
    /// The groups that make the next graph.
    groups: Option<&'a Grouped>,
    degrees: Vec<f32>,
    inverse: Vec<f32>,
    /// `1 - P` has no larger eigenvalue.
    top: f32,
    c: Vec<f32>,
    z: Vec<f32>,
    old: Vec<f32>,
}

/// The graphs from one on down.
pub(crate) struct Cycle<'a> {
    levels: Vec<Level<'a>>,
    /// The dense solution on the last: takes `D c` to `z`.
    last: Vec<f32>,
}

impl<'a> Cycle<'a> {
    /// For blocks of at most `width` vectors on `graph`; `below` are its groups, theirs, and so on.
    pub fn new(
        graph: &'a SparseAffinity,
        below: &'a [Grouped],
        width: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let graphs = std::iter::once(graph).chain(below.iter().map(|g| &g.graph));
        let groups = below.iter().map(Some).chain(std::iter::once(None));
        let mut levels = Vec::with_capacity(below.len() + 1);
        for (graph, groups) in graphs.zip(groups) {
            check(observer)?;
            let degrees: Vec<f32> = graph.degrees().iter().map(|d| *d as f32).collect();
            let inverse = degrees.iter().map(|d| if *d > 0.0 { 1.0 / d } else { 0.0 }).collect();
            let length = graph.n() * width;
            let room = || vec![0.0; length];
            let top = (1.0 - graph.lower_bound()).clamp(2.0 * f64::from(ROUGH), 2.0) as f32;
            levels.push(Level { graph, groups, degrees, inverse, top, c: room(), z: room(), old: room() });
        }
        let last = pseudo_inverse(levels[levels.len() - 1].graph)?;
        Ok(Cycle { levels, last })
    }

    /// Where the right side of the first graph goes, for `b` vectors.
    pub fn right_side(&mut self, b: usize) -> &mut [f32] {
        let n = self.levels[0].graph.n();
        &mut self.levels[0].c[..n * b]
    }

    /// The approximate solution.
    pub fn solve(&mut self, b: usize, observer: &dyn Observer) -> Result<&[f32]> {
        let deepest = self.levels.len() - 1;
        for at in 0..deepest {
            check(observer)?;
            let (upper, lower) = self.levels.split_at_mut(at + 1);
            upper[at].restrict(&mut lower[0], b);
        }
        let level = &mut self.levels[deepest];
        solve_last(level, &self.last, b);
        for at in (0..deepest).rev() {
            check(observer)?;
            let (upper, lower) = self.levels.split_at_mut(at + 1);
            upper[at].prolong(&lower[0], b);
            upper[at].smooth(b, observer);
        }
        check(observer)?;
        let level = &self.levels[0];
        Ok(&level.z[..level.graph.n() * b])
    }
}

impl Level<'_> {
    /// The right side of the groups: the weighted means of their points'.
    fn restrict(&self, lower: &mut Level, b: usize) {
        let Some(groups) = self.groups else { return };
        let n = lower.graph.n();
        let inverse = &lower.inverse;
        lower.c[..n * b].par_chunks_mut(CHUNK * b).enumerate().for_each(|(chunk, rows)| {
            for (group, row) in (chunk * CHUNK..).zip(rows.chunks_exact_mut(b)) {
                row.fill(0.0);
                for &point in
                    &groups.members[groups.starts[group] as usize..groups.starts[group + 1] as usize]
                {
                    let weight = self.degrees[point as usize] * inverse[group];
                    for (sum, c) in row.iter_mut().zip(&self.c[point as usize * b..][..b]) {
                        *sum += weight * c;
                    }
                }
            }
        });
    }

    /// Begins at the solution of the groups.
    fn prolong(&mut self, lower: &Level, b: usize) {
        let Some(groups) = self.groups else { return };
        let n = self.graph.n();
        self.z[..n * b].par_chunks_mut(CHUNK * b).zip(groups.group_of.par_chunks(CHUNK)).for_each(
            |(rows, groups)| {
                for (row, group) in rows.chunks_exact_mut(b).zip(groups) {
                    for (z, from) in row.iter_mut().zip(&lower.z[*group as usize * b..][..b]) {
                        *z = LONGER * from;
                    }
                }
            },
        );
    }

    /// Chebyshev's iteration for the eigenvalues from [`ROUGH`] on.
    fn smooth(&mut self, b: usize, observer: &dyn Observer) {
        let length = self.graph.n() * b;
        let (middle, half) = ((self.top + ROUGH) / 2.0, (self.top - ROUGH) / 2.0);
        let (mut alpha, mut beta, mut rho) = (0.0, 1.0 / middle, half / middle);
        self.old[..length].fill(0.0);
        for _ in 0..PRODUCTS {
            let (c, z) = (&self.c[..length], &self.z[..length]);
            let step = Step { b, alpha, beta, inverse: &self.inverse, c, z };
            self.graph.smooth(&step, &mut self.old[..length], observer);
            std::mem::swap(&mut self.z, &mut self.old);
            let next = 1.0 / (2.0 * middle / half - rho);
            (alpha, beta) = (next * rho, 2.0 * next / half);
            rho = next;
        }
    }
}

/// `z = last D c`, dense.
fn solve_last(level: &mut Level, last: &[f32], b: usize) {
    let n = level.graph.n();
    for (row, weights) in level.z.chunks_exact_mut(b).zip(last.chunks_exact(n)) {
        row.fill(0.0);
        for ((w, d), c) in weights.iter().zip(&level.degrees).zip(level.c.chunks_exact(b)) {
            for (z, c) in row.iter_mut().zip(c) {
                *z += w * d * c;
            }
        }
    }
}

/// The pseudo-inverse of `D - A`.
fn pseudo_inverse(graph: &SparseAffinity) -> Result<Vec<f32>> {
    let operator = crate::eigen::Operator::new(graph)?;
    let n = operator.n();
    let (values, vectors) = symmetric(&operator.matrix(), n)?;
    let mut out = vec![0.0f32; n * n];
    out.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
        let mut sums = vec![0.0; n];
        for (j, value) in values.iter().enumerate().filter(|(_, v)| 1.0 - **v > NOTHING) {
            let scale = vectors[i * n + j] / (1.0 - value);
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum += scale * vectors[k * n + j];
            }
        }
        for (k, (out, sum)) in row.iter_mut().zip(&sums).enumerate() {
            *out = (sum * operator.inverse_root(i) * operator.inverse_root(k)) as f32;
        }
    });
    Ok(out)
}
