//! A multigrid V-cycle without pre-smoothing on an aggregation hierarchy: an approximate solution of `(1 - P) z = c`.
//!
//! Piecewise constant restriction and prolongation with over-correction (Braess, Computing 55, 1995), a Chebyshev
//! smoother on the way up, a dense pseudo-inverse on the coarsest level. The cycle preconditions
//! [`lobpcg`](super::lobpcg), so single precision is enough. Costs 5 products on each level; memory three blocks of
//! vectors per level.

use rayon::prelude::*;

use crate::eigen::NormalizedAffinity;
use crate::eigen::dense::{SymmetricEigen, symmetric};
use crate::eigen::tall_skinny::CHUNK;
use crate::error::Result;
use crate::graph::{Aggregation, ChebyshevStep, SparseAffinity};
use crate::observe::{Observer, check};

/// Products of one smoothing; between three and seven, no other number is faster.
const SMOOTHING_STEPS: usize = 5;
/// Lower end of the eigenvalues of `1 - P` that the smoother damps; errors below are left to the coarse levels.
const SMOOTHED_FROM: f32 = 0.12;
/// Over-correction: piecewise constant corrections are too small by about this factor.
const OVER_CORRECTION: f32 = 1.5;
/// Eigenvalues of `1 - P` below this belong to the constant vector, the null space of the coarsest level.
const NULL_SPACE: f64 = 1e-10;

/// One graph of the hierarchy and the vectors of the cycle on it.
struct Level<'a> {
    graph: &'a SparseAffinity,
    /// The aggregation that leads to the next coarser level.
    coarse: Option<&'a Aggregation>,
    degrees: Vec<f32>,
    inverse_degrees: Vec<f32>,
    /// An upper bound of the eigenvalues of `1 - P`.
    upper_bound: f32,
    c: Vec<f32>,
    z: Vec<f32>,
    previous: Vec<f32>,
}

/// The levels from one graph to the coarsest.
pub(crate) struct VCycle<'a> {
    levels: Vec<Level<'a>>,
    /// The solution operator of the coarsest level: takes `D c` to `z`.
    coarsest: Vec<f32>,
}

impl<'a> VCycle<'a> {
    /// For blocks of at most `width` vectors on `graph`; `coarser` are the levels below it, finest first.
    pub fn new(
        graph: &'a SparseAffinity,
        coarser: &'a [Aggregation],
        width: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let graphs = std::iter::once(graph).chain(coarser.iter().map(|level| &level.graph));
        let aggregations = coarser.iter().map(Some).chain(std::iter::once(None));
        let mut levels = Vec::with_capacity(coarser.len() + 1);
        for (graph, coarse) in graphs.zip(aggregations) {
            let degrees: Vec<f32> = graph.degrees(observer)?.iter().map(|d| *d as f32).collect();
            let inverse_degrees = degrees.iter().map(|d| if *d > 0.0 { 1.0 / d } else { 0.0 }).collect();
            let zeros = || vec![0.0; graph.n() * width];
            let upper_bound =
                (1.0 - graph.lower_bound(observer)?).clamp(2.0 * f64::from(SMOOTHED_FROM), 2.0) as f32;
            let (c, z, previous) = (zeros(), zeros(), zeros());
            levels.push(Level { graph, coarse, degrees, inverse_degrees, upper_bound, c, z, previous });
        }
        let coarsest = pseudo_inverse(levels[levels.len() - 1].graph, observer)?;
        Ok(VCycle { levels, coarsest })
    }

    /// The right-hand side on the finest level, for `b` vectors.
    pub fn right_hand_side(&mut self, b: usize) -> &mut [f32] {
        let n = self.levels[0].graph.n();
        &mut self.levels[0].c[..n * b]
    }

    /// One cycle from a zero start; returns the approximate solution.
    pub fn solve(&mut self, b: usize, observer: &dyn Observer) -> Result<&[f32]> {
        let deepest = self.levels.len() - 1;
        for at in 0..deepest {
            check(observer)?;
            let (upper, lower) = self.levels.split_at_mut(at + 1);
            upper[at].restrict(&mut lower[0], b);
        }
        solve_coarsest(&mut self.levels[deepest], &self.coarsest, b);
        for at in (0..deepest).rev() {
            check(observer)?;
            let (upper, lower) = self.levels.split_at_mut(at + 1);
            upper[at].prolong(&lower[0], b);
            upper[at].smooth(b, observer)?;
        }
        let level = &self.levels[0];
        Ok(&level.z[..level.graph.n() * b])
    }
}

impl Level<'_> {
    /// The right-hand side of the next coarser level: the degree-weighted mean over each aggregate.
    fn restrict(&self, lower: &mut Level, b: usize) {
        let Some(coarse) = self.coarse else { return };
        let n = lower.graph.n();
        let inverse = &lower.inverse_degrees;
        lower.c[..n * b].par_chunks_mut(CHUNK * b).enumerate().for_each(|(chunk, rows)| {
            for (aggregate, row) in (chunk * CHUNK..).zip(rows.chunks_exact_mut(b)) {
                row.fill(0.0);
                for &point in coarse.aggregates.members(aggregate) {
                    let weight = self.degrees[point as usize] * inverse[aggregate];
                    for (sum, c) in row.iter_mut().zip(&self.c[point as usize * b..][..b]) {
                        *sum += weight * c;
                    }
                }
            }
        });
    }

    /// Starts from the over-corrected solution of the next coarser level.
    fn prolong(&mut self, lower: &Level, b: usize) {
        let Some(coarse) = self.coarse else { return };
        let n = self.graph.n();
        self.z[..n * b].par_chunks_mut(CHUNK * b).zip(coarse.aggregates.of.par_chunks(CHUNK)).for_each(
            |(rows, aggregates)| {
                for (row, aggregate) in rows.chunks_exact_mut(b).zip(aggregates) {
                    for (z, from) in row.iter_mut().zip(&lower.z[*aggregate as usize * b..][..b]) {
                        *z = OVER_CORRECTION * from;
                    }
                }
            },
        );
    }

    /// Chebyshev iteration on the eigenvalues of `1 - P` from [`SMOOTHED_FROM`] to the upper bound.
    fn smooth(&mut self, b: usize, observer: &dyn Observer) -> Result<()> {
        let length = self.graph.n() * b;
        let (middle, half) =
            ((self.upper_bound + SMOOTHED_FROM) / 2.0, (self.upper_bound - SMOOTHED_FROM) / 2.0);
        let (mut alpha, mut beta, mut rho) = (0.0, 1.0 / middle, half / middle);
        self.previous[..length].fill(0.0);
        for _ in 0..SMOOTHING_STEPS {
            let (c, z) = (&self.c[..length], &self.z[..length]);
            let step = ChebyshevStep { b, alpha, beta, inverse_degrees: &self.inverse_degrees, c, z };
            self.graph.smooth(&step, &mut self.previous[..length], observer)?;
            std::mem::swap(&mut self.z, &mut self.previous);
            let next = 1.0 / (2.0 * middle / half - rho);
            (alpha, beta) = (next * rho, 2.0 * next / half);
            rho = next;
        }
        Ok(())
    }
}

/// `z = coarsest D c`, dense.
fn solve_coarsest(level: &mut Level, coarsest: &[f32], b: usize) {
    let n = level.graph.n();
    for (row, weights) in level.z.chunks_exact_mut(b).zip(coarsest.chunks_exact(n)) {
        row.fill(0.0);
        for ((w, d), c) in weights.iter().zip(&level.degrees).zip(level.c.chunks_exact(b)) {
            for (z, c) in row.iter_mut().zip(c) {
                *z += w * d * c;
            }
        }
    }
}

/// The pseudo-inverse of `D - A`.
fn pseudo_inverse(graph: &SparseAffinity, observer: &dyn Observer) -> Result<Vec<f32>> {
    let operator = NormalizedAffinity::new(graph, observer)?;
    let n = operator.n();
    let SymmetricEigen { values, vectors } = symmetric(&operator.matrix(observer)?, n, n, observer)?;
    let mut out = vec![0.0f32; n * n];
    out.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
        let mut sums = vec![0.0; n];
        for (j, value) in values.iter().enumerate().filter(|(_, v)| 1.0 - **v > NULL_SPACE) {
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
