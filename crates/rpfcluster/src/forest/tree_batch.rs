//! Tree batch: the upper levels of several trees grown together, so that one row read serves all of them (cache
//! blocking; Lam, Rothberg and Wolf, ASPLOS 1991).
//!
//! The rows of an upper node are spread over the whole table, which no cache holds; a tree grown alone reads the table
//! from memory once per level. Here the table is read block by block, and while a block is in the cache the nodes of
//! all trees project their rows in it. Row ids of a node are ascending, so those in a block are contiguous. Rows are
//! projected by quantized dot products where possible. The nodes are those of trees grown one by one.

use std::ops::Range;

use super::grow::{Job, PartialNode, PartialTree, Scratch};
use super::params::Split;
use super::projection::fixed_order::DirectionVector;
use super::projection::transposed::TransposedBlock;
use super::quantized::node_cut::{NodeCutter, QuantizedDirection};
use super::split::{DirectionSource, NodeKey, cut};
use crate::error::Result;
use crate::observe::check;
use crate::points::Real;
use crate::random::{ROOT_PATH, child_path};
use crate::simd::stable_partition::{PartitionBuffer, RowBlock, partition};

/// Trees per batch. One row read is amortised over eight projections.
pub(crate) const TREES: usize = 8;
/// Bytes of a block of rows: a quarter of a second-level cache of 1 MB.
const BLOCK: usize = 256 << 10;
/// Wide rows are not transposed later. Their nodes are grown here down to this fraction of the table, at which a block
/// still holds some rows of each.
const WIDE_FRACTION: usize = 32;
/// Smallest number of rows for which batches and quantization pay for their setup.
const MIN_ROWS: usize = 4096;

/// Whether there are many dense rows, a node has one direction, and its cut depends on the extremes alone.
pub(crate) fn is_batchable<R: Real>(job: &Job<R>) -> bool {
    let extremes_suffice = job.params.candidates == 1 && job.params.split == Split::Uniform;
    extremes_suffice && job.rows.dense_width().is_some() && job.n >= MIN_ROWS
}

/// The size of the largest nodes that a batch leaves to `grow_tree`; `None` when trees are grown one by one.
pub(crate) fn node_limit<R: Real>(job: &Job<R>) -> Option<usize> {
    let limit = match TransposedBlock::max_rows(&job.rows, job.d) {
        0 => job.n / WIDE_FRACTION,
        rows => rows,
    };
    (is_batchable(job) && job.n > 2 * limit).then(|| limit.max(job.params.min_node))
}

/// The parent of a node, and the side.
#[derive(Clone, Copy)]
struct Parent {
    node: u32,
    side: usize,
}

/// A node that is being projected; its rows are `members[start..end]`.
struct BatchNode<R> {
    start: usize,
    end: usize,
    path: u64,
    parent: Option<Parent>,
    direction: DirectionVector<R>,
    /// The quantized direction, where the job has quantized rows.
    approx: Option<QuantizedDirection>,
    /// The position up to which rows are projected.
    projected: usize,
    extremes: Option<(R, R)>,
}

/// Projections of one tree: quantized where the job has quantized rows, else exact.
#[derive(Default)]
pub(crate) struct Projections<R> {
    exact: Vec<R>,
    quantized: Vec<f32>,
}

/// Buffers for partitioning nodes.
#[derive(Default)]
struct Buffers<R> {
    exact: PartitionBuffer<R>,
    cutter: NodeCutter<R>,
}

/// A tree of the batch.
struct BatchTree<'a, R> {
    tree: usize,
    source: DirectionSource<'a>,
    partial: PartialTree<R>,
    open: Vec<BatchNode<R>>,
}

impl<R: Real> BatchTree<'_, R> {
    /// Opens the node of the rows `members[start..end]`. A node along whose direction the error bound does not hold is
    /// left to `grow_tree`.
    fn open(&mut self, job: &Job<R>, start: usize, end: usize, path: u64, parent: Option<Parent>) {
        let mut direction = DirectionVector::default();
        self.source.draw(path, 0, &mut direction);
        let mut approx = None;
        if let Some(quantized) = &job.quantized {
            approx = QuantizedDirection::new(quantized, &direction, 0.0);
            if approx.is_none() {
                return;
            }
        }
        let node =
            BatchNode { start, end, path, parent, direction, approx, projected: start, extremes: None };
        self.open.push(node);
    }

    /// Projects the rows below `row_end` that are not projected yet, at most `block` per node.
    fn project(&mut self, job: &Job<R>, row_end: usize, block: usize, out: &mut Projections<R>) {
        for node in &mut self.open {
            let ids = &self.partial.members[node.projected..node.end.min(node.projected + block)];
            let count = count_below(ids, row_end);
            if count == 0 {
                continue;
            }
            let (ids, range) = (&ids[..count], node.projected..node.projected + count);
            node.projected += count;
            if let (Some(quantized), Some(approx)) = (&job.quantized, &mut node.approx) {
                approx.project(quantized, ids, &mut out.quantized[range]);
                continue;
            }
            let (low, high) = job.rows.project(ids, &node.direction, &mut out.exact[range]);
            node.extremes = Some(match node.extremes {
                Some((a, b)) => (if low < a { low } else { a }, if high > b { high } else { b }),
                None => (low, high),
            });
        }
    }

    /// NodeValues every open node and opens its large children.
    fn cut_nodes(&mut self, job: &Job<R>, limit: usize, out: &mut Projections<R>, buffers: &mut Buffers<R>) {
        for node in std::mem::take(&mut self.open) {
            let ids = &mut self.partial.members[node.start..node.end];
            // A node that its first direction does not cut is left to `grow_tree`, which draws others.
            let Some((cut, left)) = cut_node(job, self.tree, &node, ids, out, buffers) else { continue };
            let middle = node.start + left;
            let this = self.partial.nodes.len() as u32;
            if let Some(Parent { node: parent, side }) = node.parent {
                self.partial.nodes[parent as usize].children[side] = Some(this);
            }
            self.partial.nodes.push(PartialNode { cut, middle, children: [None; 2] });
            for (side, (start, end)) in [(node.start, middle), (middle, node.end)].into_iter().enumerate() {
                if end - start > limit {
                    let parent = Some(Parent { node: this, side });
                    self.open(job, start, end, child_path(node.path, side == 1), parent);
                }
            }
        }
    }
}

/// Chooses the cut and partitions the rows. Returns the cut and the number of rows below it, or `None` when all
/// projections are equal.
fn cut_node<R: Real>(
    job: &Job<R>,
    tree: usize,
    node: &BatchNode<R>,
    ids: &mut [u32],
    out: &mut Projections<R>,
    buffers: &mut Buffers<R>,
) -> Option<(R, usize)> {
    let range = node.start..node.end;
    let key = NodeKey { tree, path: node.path };
    if let Some(approx) = &node.approx {
        let sums = &mut out.quantized[range];
        return buffers.cutter.choose_cut(job, key, &node.direction, approx, ids, sums);
    }
    let (low, high) = node.extremes?;
    let cut = (high > low).then(|| cut(job.params, key, low, high, &mut []))?;
    Some((cut, partition(RowBlock::ids(ids), &out.exact[range], cut, &mut buffers.exact)))
}

/// The number of these ascending ids below `end`. A linear scan in steps: a binary search would touch cache lines that
/// are not needed yet.
fn count_below(ids: &[u32], end: usize) -> usize {
    const STEP: usize = 64;
    let whole = ids.chunks_exact(STEP).take_while(|step| (step[STEP - 1] as usize) < end).count() * STEP;
    let last = &ids[whole..ids.len().min(whole + STEP)];
    whole + last.partition_point(|&id| (id as usize) < end)
}

/// Grows the nodes of more than `limit` rows of these trees.
pub(crate) fn grow_upper_levels<R: Real>(
    job: &Job<R>,
    trees: Range<usize>,
    limit: usize,
    scratch: &mut Scratch<R>,
) -> Result<Vec<PartialTree<R>>> {
    let width = match &job.quantized {
        Some(quantized) => quantized.width() * size_of::<i16>(),
        None => job.rows.dense_width().unwrap_or(1) * size_of::<R>(),
    };
    let block = (BLOCK / width).clamp(64, 1 << 16);
    let mut buffers = Buffers::default();
    let slots = trees.len().max(scratch.batch.len());
    scratch.batch.resize_with(slots, Projections::default);
    let mut growing: Vec<BatchTree<R>> = trees
        .map(|tree| {
            let source = DirectionSource::new(job.params, tree, job.d, job.exponent, job.keys);
            let mut growing = BatchTree { tree, source, partial: PartialTree::new(job.n), open: Vec::new() };
            growing.open(job, 0, job.n, ROOT_PATH, None);
            growing
        })
        .collect();
    for projections in &mut scratch.batch {
        match job.quantized {
            Some(_) => projections.quantized.resize(job.n, 0.0),
            None => projections.exact.resize(job.n, R::default()),
        }
    }
    while growing.iter().any(|tree| !tree.open.is_empty()) {
        for first in (0..job.n).step_by(block) {
            check(job.observer)?;
            for (tree, projections) in growing.iter_mut().zip(&mut scratch.batch) {
                tree.project(job, first + block, block, projections);
            }
        }
        for (tree, projections) in growing.iter_mut().zip(&mut scratch.batch) {
            check(job.observer)?;
            tree.cut_nodes(job, limit, projections, &mut buffers);
        }
    }
    Ok(growing.into_iter().map(|tree| tree.partial).collect())
}
