//! Sending unseen points down grown trees: the same projections, the same cuts, so a training row ends in its own leaf.
//!
//! Rows go down a tree in blocks that fit the cache, like the points of a growing tree: a node's rows lie side by side.
//! A tree's directions are drawn once and kept while the blocks pass, where they are not too many.

use std::ops::Range;

use super::Forest;
use super::params::Direction;
use super::projection::fixed_order::{DirectionVector, Rows};
use super::projection::transposed::Columns;
use super::quantized::grid::CoarseRows;
use super::quantized::node_cut::{Divider, RoughDirection};
use super::quantized::partition::{Sieve, available};
use super::quantized::routing::{Steps, descend};
use super::split::DirectionSource;
use super::tree::{Cursor, Tree};
use crate::error::Result;
use crate::observe::{Observer, check};
use crate::points::Real;
use crate::simd::stable_partition::{Moved, Spare, partition};

/// Bytes of directions that are kept; beyond, they are drawn again for every block.
const KEPT: usize = 16 << 20;

/// Nodes a row is worth: with fewer rows it costs less to draw the directions on their ways only.
const NODES_PER_ROW: usize = 16;

/// The rows to be sent down.
pub(crate) struct Unseen<'a, R: Clone> {
    rows: &'a Rows<'a, R>,
    /// The same rounded, where they can go down on their own.
    coarse: Option<CoarseRows>,
}

impl<'a, R: Real> Unseen<'a, R> {
    pub fn new(rows: &'a Rows<'a, R>, n: usize, forest: &Forest) -> Self {
        let d = forest.d;
        let coarse = match available() {
            false => None,
            true if Columns::most(rows, d) > 0 => CoarseRows::new(rows, n, d),
            // A direction with few columns is added up faster than it is rounded.
            true if forest.params.direction == Direction::Sparse => None,
            true => CoarseRows::covering(rows, n, d),
        };
        Unseen { rows, coarse }
    }
}

/// Buffers one thread uses for all its trees.
pub(crate) struct RouteScratch<R> {
    projections: Vec<R>,
    ids: Vec<u32>,
    spare: Spare<R>,
    direction: DirectionVector<R>,
    columns: Columns<R>,
    /// The directions of the tree's inner nodes, `d` values each; empty when they are drawn as needed.
    kept: Vec<R>,
    /// The same for narrow rows, with the cuts.
    steps: Steps<R>,
    sieve: Sieve,
    sums: Vec<f32>,
    divider: Divider<R>,
}

impl<R: Real> RouteScratch<R> {
    pub fn new() -> Self {
        RouteScratch {
            projections: Vec::new(),
            ids: Vec::new(),
            spare: Spare::default(),
            direction: DirectionVector::default(),
            columns: Columns::default(),
            kept: Vec::new(),
            steps: Steps::default(),
            sieve: Sieve::default(),
            sums: Vec::new(),
            divider: Divider::default(),
        }
    }
}

/// The leaf of every row in tree number `tree`, into `leaves`.
pub(crate) fn route_tree<R: Real>(
    forest: &Forest,
    number: usize,
    tree: &Tree,
    unseen: &Unseen<R>,
    scratch: &mut RouteScratch<R>,
    (leaves, observer): (&mut [u32], &dyn Observer),
) -> Result<()> {
    let (rows, d) = (unseen.rows, forest.d);
    let mut source = DirectionSource::new(&forest.params, number, d, forest.exponent);
    let kept = tree.right.len() * d * size_of::<R>();
    let most = Columns::most(rows, d);
    if let Some(coarse) = &unseen.coarse
        && most > 0
        && kept <= KEPT
        && tree.right.len() <= NODES_PER_ROW * leaves.len()
    {
        keep_steps(tree, coarse, &mut source, scratch);
        // Enough rows for some in every leaf, few enough to stay in the cache.
        let block = (16 * tree.leaves()).clamp(1 << 14, 1 << 16);
        for (number, leaves) in leaves.chunks_mut(block).enumerate() {
            check(observer)?;
            let (steps, sieve) = (&scratch.steps, &mut scratch.sieve);
            descend(tree, steps, coarse, rows, sieve, (number * block, leaves));
        }
        return Ok(());
    }
    // Enough rows for a few in every leaf: a node costs as much for one row as for eight.
    let together = (16 * tree.leaves()).clamp(most, 8 * most);
    if together == 0 {
        return route_scattered(tree, unseen, &mut source, scratch, (leaves, observer));
    }
    scratch.kept.clear();
    if leaves.len() > together && kept <= KEPT {
        keep_directions(tree, &mut source, scratch);
    }
    for (block, leaves) in leaves.chunks_mut(together).enumerate() {
        check(observer)?;
        let first = block * together;
        scratch.ids.clear();
        scratch.ids.extend(first as u32..(first + leaves.len()) as u32);
        scratch.columns.load(rows, d, &scratch.ids);
        route_block(tree, d, &mut source, scratch, first, leaves);
    }
    Ok(())
}

fn keep_steps<R: Real>(
    tree: &Tree,
    coarse: &CoarseRows,
    source: &mut DirectionSource,
    scratch: &mut RouteScratch<R>,
) {
    scratch.steps.clear();
    each_inner(tree, source, &mut scratch.direction, |node, direction| {
        scratch.steps.push(coarse, direction, tree.cuts.get(node as usize));
    });
}

fn keep_directions<R: Real>(tree: &Tree, source: &mut DirectionSource, scratch: &mut RouteScratch<R>) {
    each_inner(tree, source, &mut scratch.direction, |_, direction| {
        scratch.kept.extend_from_slice(direction);
    });
}

/// Shows the inner nodes with their directions, in the order of their numbers.
fn each_inner<R: Real>(
    tree: &Tree,
    source: &mut DirectionSource,
    direction: &mut DirectionVector<R>,
    mut show: impl FnMut(u32, &[R]),
) {
    let mut stack = vec![tree.root()];
    while let Some(at) = stack.pop() {
        if at.is_leaf() {
            continue;
        }
        source.draw(at.path, tree.draw_of(at.node), direction);
        show(at.node, &direction.dense[..source.d()]);
        stack.push(tree.right(at));
        stack.push(tree.left(at));
    }
}

/// Rows that lie in the columns.
fn route_block<R: Real>(
    tree: &Tree,
    d: usize,
    source: &mut DirectionSource,
    scratch: &mut RouteScratch<R>,
    first: usize,
    leaves: &mut [u32],
) {
    let mut stack: Vec<(Cursor, Range<usize>)> = vec![(tree.root(), 0..leaves.len())];
    while let Some((at, range)) = stack.pop() {
        if at.is_leaf() {
            for &id in &scratch.columns.ids[range] {
                leaves[id as usize - first] = at.leaf;
            }
            continue;
        }
        if let Some(direction) = scratch.kept.get(at.node as usize * d..(at.node as usize + 1) * d) {
            scratch.columns.project_along(&range, direction);
        } else {
            source.draw(at.path, tree.draw_of(at.node), &mut scratch.direction);
            scratch.columns.project_along(&range, &scratch.direction.dense[..d]);
        }
        let middle = range.start + scratch.columns.divide(&range, tree.cuts.get(at.node as usize));
        if middle < range.end {
            stack.push((tree.right(at), middle..range.end));
        }
        if range.start < middle {
            stack.push((tree.left(at), range.start..middle));
        }
    }
}

/// Rows where they are: too wide to be copied together, or sparse.
fn route_scattered<R: Real>(
    tree: &Tree,
    unseen: &Unseen<R>,
    source: &mut DirectionSource,
    scratch: &mut RouteScratch<R>,
    (leaves, observer): (&mut [u32], &dyn Observer),
) -> Result<()> {
    let (n, rows) = (leaves.len(), unseen.rows);
    scratch.ids.clear();
    scratch.ids.extend(0..n as u32);
    scratch.projections.resize(n, R::default());
    scratch.sums.resize(n, 0.0);
    let mut stack: Vec<(Cursor, usize, usize)> = vec![(tree.root(), 0, n)];
    while let Some((at, start, end)) = stack.pop() {
        let ids = &mut scratch.ids[start..end];
        if at.is_leaf() {
            for &id in ids.iter() {
                leaves[id as usize] = at.leaf;
            }
            continue;
        }
        if ids.len() >= 64 {
            check(observer)?;
        }
        source.draw(at.path, tree.draw_of(at.node), &mut scratch.direction);
        let (cut, direction): (R, _) = (tree.cuts.get(at.node as usize), &scratch.direction);
        let rough = unseen
            .coarse
            .as_ref()
            .and_then(|coarse| Some((coarse, RoughDirection::new(coarse, direction, cut.to_f64())?)));
        let below = if let Some((coarse, mut rough)) = rough {
            let sums = &mut scratch.sums[..end - start];
            rough.project(coarse, ids, sums);
            scratch.divider.divide((rows, coarse), (direction, &rough), cut, ids, sums)
        } else {
            let projections = &mut scratch.projections[..end - start];
            rows.project(ids, direction, projections);
            let moved = Moved { ids, columns: &mut [], stride: 0, at: 0 };
            partition(moved, projections, cut, &mut scratch.spare)
        };
        let middle = start + below;
        if middle < end {
            stack.push((tree.right(at), middle, end));
        }
        if start < middle {
            stack.push((tree.left(at), start, middle));
        }
    }
    Ok(())
}
