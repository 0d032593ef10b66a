//! The upper levels of several large trees, grown side by side.
//!
//! The points of an upper node are spread over all of the data, which no cache holds: grown alone, every tree reads
//! all rows from memory once a level. Here the rows are taken block by block, and while a block is in the cache the
//! nodes of all trees project their points in it. A node's points are ascending, so those in a block lie side by side
//! in its list. Rows are summed roughly first (`coarse`, `rough`). What is computed is what growing alone computes.

use super::grow::{Begun, Job, Known, Scratch};
use super::params::Split;
use super::projection::fixed_order::DirectionVector;
use super::projection::transposed::Columns;
use super::quantized::node_cut::{Divider, RoughDirection};
use super::split::{DirectionSource, cut};
use crate::error::Result;
use crate::observe::check;
use crate::points::Real;
use crate::random::{ROOT_PATH, child_path};
use crate::simd::stable_partition::{Moved, Spare, partition};

/// Trees grown side by side: each needs a projection a row, and reading a row once for eight is as good as never.
pub(crate) const TREES: usize = 8;
/// Bytes of a block of rows.
const BLOCK: usize = 256 << 10;
/// Wide rows are not copied together later; their nodes are grown here while a block holds some points of each.
const SHARE: usize = 32;

/// Whether there are many dense rows, and a node has but one direction and needs no more than its ends to be cut.
pub(crate) fn many_plain<R: Real>(job: &Job<R>) -> bool {
    let plain = job.params.candidates == 1 && job.params.split == Split::Uniform;
    plain && job.rows.dense_width().is_some() && job.n >= 4096
}

/// The size down to which nodes are grown here, if at all.
pub(crate) fn smallest<R: Real>(job: &Job<R>) -> Option<usize> {
    let most = match Columns::most(&job.rows, job.d) {
        0 => job.n / SHARE,
        most => most,
    };
    (many_plain(job) && job.n > 2 * most).then(|| most.max(job.params.min_node))
}

/// A node that is being projected.
struct Open<R> {
    start: usize,
    end: usize,
    path: u64,
    /// Whose child it is, and which.
    parent: Option<(u32, usize)>,
    direction: DirectionVector<R>,
    /// The direction rounded, where sums are rough.
    rough: Option<RoughDirection>,
    /// Up to where in the list it has been projected.
    seen: usize,
    ends: Option<(R, R)>,
}

/// Projections of one tree: rough ones where the job has rounded rows, else exact ones.
#[derive(Default)]
pub(crate) struct Projections<R> {
    exact: Vec<R>,
    rough: Vec<f32>,
}

/// Buffers for cutting nodes.
#[derive(Default)]
struct Spares<R> {
    exact: Spare<R>,
    rough: Divider<R>,
}

struct Growing<R> {
    tree: usize,
    source: DirectionSource,
    begun: Begun<R>,
    open: Vec<Open<R>>,
}

impl<R: Real> Growing<R> {
    fn add(&mut self, job: &Job<R>, (start, end): (usize, usize), path: u64, parent: Option<(u32, usize)>) {
        let mut direction = DirectionVector::default();
        self.source.draw(path, 0, &mut direction);
        let mut rough = None;
        if let Some(coarse) = &job.coarse {
            rough = RoughDirection::new(coarse, &direction, 0.0);
            // A node about which rough sums tell nothing is left to `grow_tree`.
            if rough.is_none() {
                return;
            }
        }
        self.open.push(Open { start, end, path, parent, direction, rough, seen: start, ends: None });
    }

    /// Projects the points in rows below `row_end` that were not seen yet.
    fn project(&mut self, job: &Job<R>, row_end: usize, block: usize, out: &mut Projections<R>) {
        for node in &mut self.open {
            let ids = &self.begun.members[node.seen..node.end.min(node.seen + block)];
            let here = below(ids, row_end);
            if here == 0 {
                continue;
            }
            let (ids, range) = (&ids[..here], node.seen..node.seen + here);
            node.seen += here;
            if let (Some(coarse), Some(rough)) = (&job.coarse, &mut node.rough) {
                rough.project(coarse, ids, &mut out.rough[range]);
                continue;
            }
            let (low, high) = job.rows.project(ids, &node.direction, &mut out.exact[range]);
            node.ends = Some(match node.ends {
                Some((a, b)) => (if low < a { low } else { a }, if high > b { high } else { b }),
                None => (low, high),
            });
        }
    }

    /// Cuts every open node; children that are still large are open next.
    fn divide(&mut self, job: &Job<R>, smallest: usize, out: &mut Projections<R>, spares: &mut Spares<R>) {
        for node in std::mem::take(&mut self.open) {
            let ids = &mut self.begun.members[node.start..node.end];
            // A node that its first direction does not cut is left to `grow_tree`, which draws others.
            let Some((cut, left)) = divide_node(job, self.tree, &node, ids, out, spares) else { continue };
            let middle = node.start + left;
            let this = self.begun.known.len() as u32;
            if let Some((parent, side)) = node.parent {
                self.begun.known[parent as usize].children[side] = Some(this);
            }
            self.begun.known.push(Known { cut, middle, children: [None; 2] });
            for (side, (start, end)) in [(node.start, middle), (middle, node.end)].into_iter().enumerate() {
                if end - start > smallest {
                    self.add(job, (start, end), child_path(node.path, side == 1), Some((this, side)));
                }
            }
        }
    }
}

/// Chooses the cut and moves the points; returns it and how many are below, or `None` where nothing can be cut.
fn divide_node<R: Real>(
    job: &Job<R>,
    tree: usize,
    node: &Open<R>,
    ids: &mut [u32],
    out: &mut Projections<R>,
    spares: &mut Spares<R>,
) -> Option<(R, usize)> {
    let range = node.start..node.end;
    if let Some(rough) = &node.rough {
        let along = (&node.direction, rough);
        return spares.rough.choose(job, (tree, node.path), along, ids, &mut out.rough[range]);
    }
    let ends = node.ends?;
    let cut = (ends.1 > ends.0).then(|| cut(job.params, tree, node.path, ends, &mut []))?;
    let moved = Moved { ids, columns: &mut [], stride: 0, at: 0 };
    Some((cut, partition(moved, &out.exact[range], cut, &mut spares.exact)))
}

/// How many of these ascending numbers are below `end`. Forwards in steps: a search by halves would jump to places in
/// memory that are not needed yet.
fn below(ids: &[u32], end: usize) -> usize {
    const STEP: usize = 64;
    let whole = ids.chunks_exact(STEP).take_while(|step| (step[STEP - 1] as usize) < end).count() * STEP;
    let last = &ids[whole..ids.len().min(whole + STEP)];
    whole + last.partition_point(|&id| (id as usize) < end)
}

/// The trees of this range with their nodes of more than `smallest` points.
pub(crate) fn begin<R: Real>(
    job: &Job<R>,
    trees: std::ops::Range<usize>,
    smallest: usize,
    scratch: &mut Scratch<R>,
) -> Result<Vec<Begun<R>>> {
    let width = match &job.coarse {
        Some(coarse) => coarse.width() * size_of::<i16>(),
        None => job.rows.dense_width().unwrap_or(1) * size_of::<R>(),
    };
    let block = (BLOCK / width).clamp(64, 1 << 16);
    let mut spares = Spares::default();
    let sides = trees.len().max(scratch.side_by_side.len());
    scratch.side_by_side.resize_with(sides, Projections::default);
    let mut growing: Vec<Growing<R>> = trees
        .map(|tree| {
            let source = DirectionSource::new(job.params, tree, job.d, job.exponent);
            let begun = Begun { members: (0..job.n as u32).collect(), known: Vec::new() };
            let mut growing = Growing { tree, source, begun, open: Vec::new() };
            growing.add(job, (0, job.n), ROOT_PATH, None);
            growing
        })
        .collect();
    for projections in &mut scratch.side_by_side {
        match job.coarse {
            Some(_) => projections.rough.resize(job.n, 0.0),
            None => projections.exact.resize(job.n, R::default()),
        }
    }
    while growing.iter().any(|g| !g.open.is_empty()) {
        for first in (0..job.n).step_by(block) {
            check(job.observer)?;
            for (g, projections) in growing.iter_mut().zip(&mut scratch.side_by_side) {
                g.project(job, first + block, block, projections);
            }
        }
        for (g, projections) in growing.iter_mut().zip(&mut scratch.side_by_side) {
            check(job.observer)?;
            g.divide(job, smallest, projections, &mut spares);
        }
    }
    Ok(growing.into_iter().map(|g| g.begun).collect())
}
