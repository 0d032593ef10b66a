//! Routing of rows down grown trees, with the projections and cuts of growth: a training row reaches its own leaf.
//!
//! Rows are routed in blocks, and partitioned at each node as in a growing tree. The directions of a tree are drawn
//! once for all blocks where they fit in [`MAX_KEPT`] bytes. One projection per row and level.

use std::ops::Range;

use super::Forest;
use super::levels::FittedLevels;
use super::params::Direction;
use super::projection::fixed_order::{DirectionVector, RowStorage};
use super::projection::transposed::TransposedBlock;
use super::quantized::grid::QuantizedRows;
use super::quantized::node_cut::{NodeCutter, QuantizedDirection};
use super::quantized::partition::{RowPermutation, available};
use super::quantized::routing::{QuantizedTree, route_rows};
use super::split::DirectionSource;
use super::tree::{Cursor, Tree};
use crate::error::Result;
use crate::observe::{Observer, check};
use crate::points::Real;
use crate::simd::stable_partition::{PartitionBuffer, RowBlock, partition};

/// Largest size of the directions kept per thread, in bytes. Beyond that, every block draws them again.
const MAX_KEPT: usize = 16 << 20;

/// Largest number of inner nodes per row for which all directions are quantized. With fewer rows it is cheaper to draw
/// only the directions on their paths.
const NODES_PER_ROW: usize = 16;

/// Smallest node, in rows, before which cancellation is checked; smaller ones take microseconds.
const CHECK_ROWS: usize = 64;

/// Rows per leaf in a block. A node costs as much for one row as for eight, so a leaf should get more than eight.
const ROWS_PER_LEAF: usize = 16;

/// The rows to be routed.
pub(crate) struct RoutedRows<'a, R: Clone> {
    rows: &'a RowStorage<'a, R>,
    d: usize,
    /// The quantized rows, where quantized routing applies.
    quantized: Option<QuantizedRows>,
    /// The levels of the training rows, and the categories in which rows have others.
    levels: Option<(&'a FittedLevels, Vec<usize>)>,
}

impl<'a, R: Real> RoutedRows<'a, R> {
    pub fn new(rows: &'a RowStorage<'a, R>, n: usize, forest: &'a Forest) -> Self {
        let d = forest.d;
        let quantized = match available() {
            false => None,
            true if TransposedBlock::max_rows(rows, d) > 0 => QuantizedRows::new(rows, n, d),
            // A sparse direction is projected faster than it is quantized.
            true if forest.params.direction == Direction::Sparse => None,
            true => QuantizedRows::covering(rows, n, d),
        };
        let levels = forest.levels.as_ref().zip(rows.gaps());
        let levels = levels.map(|(levels, rows)| (levels, levels.lacking(rows, n)));
        RoutedRows { rows, d, quantized, levels }
    }
}

/// The buffers of one thread.
#[derive(Default)]
pub(crate) struct RouteScratch<R> {
    projections: Vec<R>,
    ids: Vec<u32>,
    buffer: PartitionBuffer<R>,
    direction: DirectionVector<R>,
    block: TransposedBlock<R>,
    /// The directions of the inner nodes of the tree, `d` values each; empty when they are drawn as needed.
    kept: Vec<R>,
    /// The quantized inner nodes of the tree.
    nodes: QuantizedTree<R>,
    permutation: RowPermutation,
    sums: Vec<f32>,
    cutter: NodeCutter<R>,
}

/// Writes the leaf of every row in tree number `number` to `leaves`.
pub(crate) fn route_tree<R: Real>(
    forest: &Forest,
    number: usize,
    routed: &RoutedRows<R>,
    scratch: &mut RouteScratch<R>,
    leaves: &mut [u32],
    observer: &dyn Observer,
) -> Result<()> {
    let (tree, rows, d) = (&forest.trees[number], routed.rows, forest.d);
    let mut source = DirectionSource::new(&forest.params, number, d, forest.exponent, &forest.keys);
    let kept = tree.right.len() * d * size_of::<R>();
    let max_rows = TransposedBlock::max_rows(rows, d);
    if let Some(quantized) = &routed.quantized
        && max_rows > 0
        && kept <= MAX_KEPT
        && tree.right.len() <= NODES_PER_ROW * leaves.len()
    {
        scratch.nodes.clear();
        for_each_inner(tree, &mut source, &mut scratch.direction, |node, direction| {
            scratch.nodes.push(quantized, direction, tree.cuts.get(node as usize));
        });
        // The ids and the quantized rows of a block stay in the cache.
        let block = (ROWS_PER_LEAF * tree.leaves()).clamp(1 << 14, 1 << 16);
        for (number, leaves) in leaves.chunks_mut(block).enumerate() {
            check(observer)?;
            let (nodes, permutation) = (&scratch.nodes, &mut scratch.permutation);
            route_rows(tree, nodes, quantized, rows, permutation, number * block, leaves);
        }
        return Ok(());
    }
    let block_rows = (ROWS_PER_LEAF * tree.leaves()).clamp(max_rows, 8 * max_rows);
    if block_rows == 0 {
        return route_in_place(tree, routed, &mut source, scratch, leaves, observer);
    }
    scratch.kept.clear();
    if leaves.len() > block_rows && kept <= MAX_KEPT {
        for_each_inner(tree, &mut source, &mut scratch.direction, |_, direction| {
            scratch.kept.extend_from_slice(direction);
        });
    }
    for (block, leaves) in leaves.chunks_mut(block_rows).enumerate() {
        check(observer)?;
        let first = block * block_rows;
        scratch.ids.clear();
        scratch.ids.extend(first as u32..(first + leaves.len()) as u32);
        scratch.block.load(rows, d, &scratch.ids);
        route_block(tree, d, &mut source, scratch, first, leaves);
    }
    Ok(())
}

/// Calls `visit` with every inner node and its direction, in pre-order.
fn for_each_inner<R: Real>(
    tree: &Tree,
    source: &mut DirectionSource,
    direction: &mut DirectionVector<R>,
    mut visit: impl FnMut(u32, &[R]),
) {
    let mut stack = vec![tree.root()];
    while let Some(at) = stack.pop() {
        if at.is_leaf() {
            continue;
        }
        source.draw(at.path, tree.draw_of(at.node), direction);
        visit(at.node, &direction.dense[..source.d()]);
        stack.push(tree.right(at));
        stack.push(tree.left(at));
    }
}

/// Routes the rows in the transposed block.
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
            for &id in &scratch.block.ids[range] {
                leaves[id as usize - first] = at.leaf;
            }
            continue;
        }
        if let Some(direction) = scratch.kept.get(at.node as usize * d..(at.node as usize + 1) * d) {
            scratch.block.project_along(&range, direction);
        } else {
            source.draw(at.path, tree.draw_of(at.node), &mut scratch.direction);
            scratch.block.project_along(&range, &scratch.direction.dense[..d]);
        }
        let middle = range.start + scratch.block.partition(&range, tree.cuts.get(at.node as usize), 0);
        if middle < range.end {
            stack.push((tree.right(at), middle..range.end));
        }
        if range.start < middle {
            stack.push((tree.left(at), range.start..middle));
        }
    }
}

/// Routes all rows without copying them: for rows too wide for a transposed block, sparse rows, and rows with gaps.
fn route_in_place<R: Real>(
    tree: &Tree,
    routed: &RoutedRows<R>,
    source: &mut DirectionSource,
    scratch: &mut RouteScratch<R>,
    leaves: &mut [u32],
    observer: &dyn Observer,
) -> Result<()> {
    let (n, rows) = (leaves.len(), routed.rows);
    scratch.ids.clear();
    scratch.ids.extend(0..n as u32);
    scratch.projections.resize(n, R::default());
    scratch.sums.resize(n, 0.0);
    let moments = tree.moments.as_ref().filter(|_| rows.gaps().is_some());
    // The last number is that of the nearest node above that keeps moments.
    let mut stack: Vec<(Cursor, usize, usize, usize)> = vec![(tree.root(), 0, n, 0)];
    while let Some((at, start, end, above)) = stack.pop() {
        let ids = &mut scratch.ids[start..end];
        if at.is_leaf() {
            for &id in ids.iter() {
                leaves[id as usize] = at.leaf;
            }
            continue;
        }
        if ids.len() >= CHECK_ROWS {
            check(observer)?;
        }
        source.draw(at.path, tree.draw_of(at.node), &mut scratch.direction);
        let kept = moments.and_then(|moments| moments.find(at.node)).unwrap_or(above);
        if let Some(moments) = moments {
            moments.read(kept, routed.d, &mut scratch.direction.moments);
        } else if let Some((levels, lacking)) = &routed.levels {
            let means = &mut scratch.direction.moments.means;
            means.resize(routed.d, R::default());
            levels.means_at(lacking, tree, at, means);
        }
        let (cut, direction): (R, _) = (tree.cuts.get(at.node as usize), &scratch.direction);
        let approx = routed
            .quantized
            .as_ref()
            .and_then(|rows| Some((rows, QuantizedDirection::new(rows, direction, cut.to_f64())?)));
        let below = if let Some((quantized, mut approx)) = approx {
            let sums = &mut scratch.sums[..end - start];
            approx.project(quantized, ids, sums);
            scratch.cutter.partition(rows, direction, &approx, cut, ids, sums)
        } else {
            let projections = &mut scratch.projections[..end - start];
            rows.project(ids, direction, projections);
            partition(RowBlock::ids(ids), projections, cut, &mut scratch.buffer)
        };
        let middle = start + below;
        if middle < end {
            stack.push((tree.right(at), middle, end, kept));
        }
        if start < middle {
            stack.push((tree.left(at), start, middle, kept));
        }
    }
    Ok(())
}
