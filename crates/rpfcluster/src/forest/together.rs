//! The upper levels of several large trees, grown side by side.
//!
//! The points of an upper node are spread over all of the data, which no cache holds: grown alone, every tree reads
//! all rows from memory once a level. Here the rows are taken block by block, and while a block is in the cache the
//! nodes of all trees project their points in it. A node's points are ascending, so those in a block lie side by side
//! in its list. What is computed is what growing alone computes.

use super::columns::Columns;
use super::grow::{Begun, Job, Known, Scratch};
use super::params::Split;
use super::partition::{Moved, Spare, partition};
use super::project::DirectionVector;
use super::split::{DirectionSource, cut};
use crate::error::Result;
use crate::observe::check;
use crate::points::Real;
use crate::rng::{ROOT_PATH, child_path};

/// Trees grown side by side: each needs a projection a row, and reading a row once for eight is as good as never.
pub(crate) const TREES: usize = 8;
/// Bytes of a block of rows.
const BLOCK: usize = 256 << 10;
/// Wide rows are not copied together later; their nodes are grown here while a block holds some points of each.
const SHARE: usize = 32;

/// The size down to which nodes are grown here, if at all.
pub(crate) fn smallest<R: Real>(job: &Job<R>) -> Option<usize> {
    job.rows.dense_width()?;
    let most = match Columns::most(&job.rows, job.d) {
        0 => job.n / SHARE,
        most => most,
    };
    let plain = job.params.candidates == 1 && job.params.split == Split::Uniform;
    (plain && job.n > 2 * most && job.n >= 4096).then(|| most.max(job.params.min_node))
}

/// A node that is being projected.
struct Open<R> {
    start: usize,
    end: usize,
    path: u64,
    /// Whose child it is, and which.
    parent: Option<(u32, usize)>,
    direction: DirectionVector<R>,
    /// Up to where in the list it has been projected.
    seen: usize,
    ends: Option<(R, R)>,
}

struct Growing<R> {
    tree: usize,
    source: DirectionSource,
    begun: Begun<R>,
    open: Vec<Open<R>>,
}

impl<R: Real> Growing<R> {
    fn add(&mut self, start: usize, end: usize, path: u64, parent: Option<(u32, usize)>) {
        let mut direction = DirectionVector::default();
        self.source.draw(path, 0, &mut direction);
        self.open.push(Open { start, end, path, parent, direction, seen: start, ends: None });
    }

    /// Projects the points in rows below `row_end` that were not seen yet.
    fn project(&mut self, job: &Job<R>, row_end: usize, block: usize, projections: &mut [R]) {
        for node in &mut self.open {
            let ids = &self.begun.members[node.seen..node.end.min(node.seen + block)];
            let here = below(ids, row_end);
            if here == 0 {
                continue;
            }
            let out = &mut projections[node.seen..node.seen + here];
            let (low, high) = job.rows.project(&ids[..here], &node.direction, out);
            node.ends = Some(match node.ends {
                Some((a, b)) => (if low < a { low } else { a }, if high > b { high } else { b }),
                None => (low, high),
            });
            node.seen += here;
        }
    }

    /// Cuts every open node; children that are still large are open next.
    fn divide(&mut self, job: &Job<R>, smallest: usize, projections: &[R], spare: &mut Spare<R>) {
        for node in std::mem::take(&mut self.open) {
            // A node that its first direction does not cut is left to `grow_tree`, which draws others.
            let Some(ends) = node.ends.filter(|(low, high)| high > low) else { continue };
            let cut = cut(job.params, self.tree, node.path, ends, &mut []);
            let ids = &mut self.begun.members[node.start..node.end];
            let moved = Moved { ids, columns: &mut [], stride: 0, at: 0 };
            let middle = node.start + partition(moved, &projections[node.start..node.end], cut, spare);
            let this = self.begun.known.len() as u32;
            if let Some((parent, side)) = node.parent {
                self.begun.known[parent as usize].children[side] = Some(this);
            }
            self.begun.known.push(Known { cut, middle, children: [None; 2] });
            for (side, (start, end)) in [(node.start, middle), (middle, node.end)].into_iter().enumerate() {
                if end - start > smallest {
                    self.add(start, end, child_path(node.path, side == 1), Some((this, side)));
                }
            }
        }
    }
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
    let width = job.rows.dense_width().unwrap_or(1) * size_of::<R>();
    let block = (BLOCK / width).clamp(64, 1 << 16);
    let mut spare = Spare::default();
    scratch.side_by_side.resize_with(trees.len().max(scratch.side_by_side.len()), Vec::new);
    let mut growing: Vec<Growing<R>> = trees
        .map(|tree| {
            let source = DirectionSource::new(job.params, tree, job.d, job.exponent);
            let begun = Begun { members: (0..job.n as u32).collect(), known: Vec::new() };
            let mut growing = Growing { tree, source, begun, open: Vec::new() };
            growing.add(0, job.n, ROOT_PATH, None);
            growing
        })
        .collect();
    scratch.side_by_side.iter_mut().for_each(|p| p.resize(job.n, R::default()));
    while growing.iter().any(|g| !g.open.is_empty()) {
        for first in (0..job.n).step_by(block) {
            check(job.observer)?;
            for (g, projections) in growing.iter_mut().zip(&mut scratch.side_by_side) {
                g.project(job, first + block, block, projections);
            }
        }
        for (g, projections) in growing.iter_mut().zip(&scratch.side_by_side) {
            check(job.observer)?;
            g.divide(job, smallest, projections, &mut spare);
        }
    }
    Ok(growing.into_iter().map(|g| g.begun).collect())
}
