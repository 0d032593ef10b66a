//! Growth of one tree: Algorithm 1 of the paper with an explicit stack and a permutation partitioned in place.
//!
//! A node is identified by its path, so its direction and cut do not depend on the order of growth. The partition is
//! stable: the rows of a node stay ascending, rows are read forwards in memory, and the leaf lists are sorted. One
//! projection per row, level and candidate direction, O(n d log n) for balanced trees.
//!
//! The upper levels of a large tree come from `tree_batch`. The nodes below are cut by quantized dot products, and a
//! subtree that fits the cache and is small, or has few columns, is grown in a `TransposedBlock`. All three give the
//! same tree.

use std::ops::Range;
use std::sync::Arc;

use super::gaps::{Moments, NodeMoments, keeps_moments};
use super::params::{ForestParams, Split};
use super::projection::fixed_order::{DirectionVector, RowStorage};
use super::projection::transposed::TransposedBlock;
use super::quantized::grid::QuantizedRows;
use super::quantized::node_cut::{NodeCutter, QuantizedDirection};
use super::split::{ATTEMPTS, DirectionSource, NodeKey, cut};
use super::tree::{NodeValues, Tree};
use super::tree_batch::Projections;
use crate::error::Result;
use crate::observe::{Observer, check};
use crate::points::{ColumnKey, Real};
use crate::random::{ROOT_PATH, child_path};
use crate::simd::stable_partition::{PartitionBuffer, RowBlock, partition};

/// Smallest number of columns at which quantized dot products are cheaper than a transposed block, whose columns every
/// cut moves. Measured.
pub(crate) const MANY_COLUMNS: usize = 6;
/// Largest node, in rows, for which a transposed block is cheaper all the same: so few rows do not pay for quantizing a
/// direction.
const SMALL_NODE: usize = 256;
/// From this number of columns on, moving them costs more than quantizing, however few the rows. Measured: in 50 columns
/// trees take a quarter less time without blocks, in 16 the difference is small.
const WIDE: usize = 32;
/// Smallest node, in rows, before which cancellation is checked; smaller ones take microseconds.
const CHECK_ROWS: usize = 64;

/// The largest node, in rows, of a transposed block beside quantized dot products.
fn small_node(d: usize) -> usize {
    if d < WIDE { SMALL_NODE } else { 0 }
}

/// What all trees of a forest share.
pub(crate) struct Job<'a, R: Real> {
    pub rows: RowStorage<'a, R>,
    /// The quantized rows, where nodes are cut by quantized dot products.
    pub quantized: Option<QuantizedRows>,
    /// The column means of rows with gaps; empty otherwise.
    pub means: &'a [R],
    /// The keys of the columns; empty where coefficients are drawn by place.
    pub keys: &'a [ColumnKey],
    pub n: usize,
    pub d: usize,
    pub params: &'a ForestParams,
    pub exponent: i32,
    pub observer: &'a dyn Observer,
}

/// The buffers of one thread.
#[derive(Default)]
pub(crate) struct Scratch<R> {
    projections: Vec<R>,
    /// A copy of the projections, reordered for the median.
    median: Vec<R>,
    buffer: PartitionBuffer<R>,
    direction: DirectionVector<R>,
    block: TransposedBlock<R>,
    sums: Vec<f32>,
    cutter: NodeCutter<R>,
    /// Projections of the trees of a batch.
    pub batch: Vec<Projections<R>>,
}

/// The upper levels of a tree: the nodes grown so far, and the rows they have partitioned.
pub(crate) struct PartialTree<R> {
    pub members: Vec<u32>,
    /// The root first; empty when no node is grown.
    pub nodes: Vec<PartialNode<R>>,
}

impl<R> PartialTree<R> {
    /// A tree of `n` rows without nodes.
    pub fn new(n: usize) -> Self {
        PartialTree { members: (0..n as u32).collect(), nodes: Vec::new() }
    }
}

/// An inner node of a [`PartialTree`], cut along its first direction.
pub(crate) struct PartialNode<R> {
    pub cut: R,
    /// The position in `members` at which the right side begins.
    pub middle: usize,
    /// The left and the right child, where they are grown.
    pub children: [Option<u32>; 2],
}

/// A subtree to be grown: its rows are `members[start..end]`.
struct PendingNode {
    start: usize,
    end: usize,
    path: u64,
    /// The inner node whose right child this is.
    right_of: Option<u32>,
    /// The node in the [`PartialTree`], where it is grown.
    partial: Option<u32>,
    /// The number of the nearest node above that keeps moments; `None` at the root and where rows have no gaps.
    moments: Option<usize>,
}

/// The split of a node.
struct NodeSplit<R> {
    cut: R,
    draw: usize,
    middle: usize,
    children: [Option<u32>; 2],
}

/// Grows tree number `tree` below the nodes of `partial`.
pub(crate) fn grow_tree<R: Real>(
    job: &Job<R>,
    tree: usize,
    partial: PartialTree<R>,
    scratch: &mut Scratch<R>,
) -> Result<Tree> {
    let PartialTree { mut members, nodes } = partial;
    let (n, params) = (job.n, job.params);
    let mut source = DirectionSource::new(params, tree, job.d, job.exponent, job.keys);
    let (mut right, mut cuts, mut draws, mut starts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut large, mut kept): (Vec<u32>, Vec<Moments<R>>) = (Vec::new(), Vec::new());
    let root = (!nodes.is_empty()).then_some(0);
    let mut stack =
        vec![PendingNode { start: 0, end: n, path: ROOT_PATH, right_of: None, partial: root, moments: None }];
    let block_rows = match TransposedBlock::max_rows(&job.rows, job.d) {
        rows if job.quantized.is_some() && job.d >= MANY_COLUMNS => rows.min(small_node(job.d)),
        rows => rows,
    };
    // The subtree whose rows are in `scratch.block`.
    let mut loaded: Option<Range<usize>> = None;
    while let Some(node) = stack.pop() {
        if let Some(parent) = node.right_of {
            right[parent as usize] = right.len() as u32;
        }
        if let Some(done) = loaded.take_if(|loaded| node.start >= loaded.end) {
            members[done].copy_from_slice(&scratch.block.ids);
        }
        let size = node.end - node.start;
        let split = if let Some(grown) = node.partial.map(|at| &nodes[at as usize]) {
            Some(NodeSplit { cut: grown.cut, draw: 0, middle: grown.middle, children: grown.children })
        } else if size < params.min_node {
            None
        } else {
            if loaded.is_none() && size <= block_rows {
                check(job.observer)?;
                scratch.block.load(&job.rows, job.d, &members[node.start..node.end]);
                loaded = Some(node.start..node.end);
            }
            if loaded.is_none() && size >= CHECK_ROWS {
                check(job.observer)?;
            }
            if let Some(rows) = job.rows.gaps() {
                match node.moments {
                    Some(at) => kept[at].clone_into(&mut scratch.direction.moments),
                    None => scratch.direction.moments = Moments::at_root(job.means),
                }
                if keeps_moments(size, n) {
                    rows.update(&members[node.start..node.end], &mut scratch.direction.moments);
                }
            }
            let offset = loaded.as_ref().map(|loaded| loaded.start);
            let at = Node { key: NodeKey { tree, path: node.path }, range: node.start..node.end, offset };
            split_quantized(job, &at, &mut members, &mut source, scratch)
                .or_else(|| split_exact(job, &at, &mut members, &mut source, scratch))
        };
        let Some(split) = split else {
            starts.push(node.start as u32);
            continue;
        };
        let this = right.len() as u32;
        if split.draw > 0 {
            draws.push((this, split.draw as u32));
        }
        let mut moments = node.moments;
        if job.rows.gaps().is_some() && keeps_moments(size, n) {
            moments = Some(large.len());
            large.push(this);
            kept.push(scratch.direction.moments.clone());
        }
        right.push(0);
        cuts.push(split.cut);
        stack.push(PendingNode {
            start: split.middle,
            end: node.end,
            path: child_path(node.path, true),
            right_of: Some(this),
            partial: split.children[1],
            moments,
        });
        stack.push(PendingNode {
            start: node.start,
            end: split.middle,
            path: child_path(node.path, false),
            right_of: None,
            partial: split.children[0],
            moments,
        });
    }
    if let Some(last) = loaded {
        members[last].copy_from_slice(&scratch.block.ids);
    }
    starts.push(n as u32);
    right.shrink_to_fit();
    cuts.shrink_to_fit();
    Ok(Tree {
        right,
        cuts: NodeValues::from_real(cuts),
        draws,
        moments: job.rows.gaps().map(|_| NodeMoments::new(large, &kept)),
        starts: Arc::from(starts),
        members: Arc::from(members),
    })
}

/// A node to be split.
struct Node {
    key: NodeKey,
    range: Range<usize>,
    /// The start of the subtree that is loaded in the transposed block, if one is.
    offset: Option<usize>,
}

/// As [`split_exact`] with the first direction and quantized dot products; `None` where they are not available or the
/// projections are equal.
fn split_quantized<R: Real>(
    job: &Job<R>,
    node: &Node,
    members: &mut [u32],
    source: &mut DirectionSource,
    scratch: &mut Scratch<R>,
) -> Option<NodeSplit<R>> {
    let quantized = job.quantized.as_ref().filter(|_| node.offset.is_none())?;
    source.draw(node.key.path, 0, &mut scratch.direction);
    let mut approx = QuantizedDirection::new(quantized, &scratch.direction, 0.0)?;
    let ids = &mut members[node.range.clone()];
    if scratch.sums.len() < ids.len() {
        scratch.sums.resize(ids.len(), 0.0);
    }
    let sums = &mut scratch.sums[..ids.len()];
    approx.project(quantized, ids, sums);
    let (cut, left) = scratch.cutter.choose_cut(job, node.key, &scratch.direction, &approx, ids, sums)?;
    Some(NodeSplit { cut, draw: 0, middle: node.range.start + left, children: [None; 2] })
}

/// The widest direction so far.
struct WidestDirection<R> {
    /// Width of the projections over the length of the direction.
    spread: f64,
    low: R,
    high: R,
    draw: usize,
}

/// Projects the rows of a node, chooses its cut and partitions them; `None` when no direction separates them.
fn split_exact<R: Real>(
    job: &Job<R>,
    node: &Node,
    members: &mut [u32],
    source: &mut DirectionSource,
    scratch: &mut Scratch<R>,
) -> Option<NodeSplit<R>> {
    let (params, m) = (job.params, node.range.len());
    let mut best: Option<WidestDirection<R>> = None;
    let mut draw = 0;
    let mut last = 0;
    while draw < params.candidates || (best.is_none() && draw < params.candidates.max(ATTEMPTS)) {
        let length = source.draw(node.key.path, draw, &mut scratch.direction);
        let (low, high) = project(job, node, members, scratch);
        last = draw;
        if high > low {
            let spread = (high.to_f64() - low.to_f64()) / length;
            if best.as_ref().is_none_or(|best| spread > best.spread) {
                best = Some(WidestDirection { spread, low, high, draw });
            }
        }
        draw += 1;
    }
    let WidestDirection { low, high, draw, .. } = best?;
    if draw != last {
        source.draw(node.key.path, draw, &mut scratch.direction);
        project(job, node, members, scratch);
    }
    let projections = match node.offset {
        Some(_) => scratch.block.projections(m),
        None => &scratch.projections[..m],
    };
    scratch.median.clear();
    if params.split == Split::Median {
        scratch.median.extend_from_slice(projections);
    }
    let cut = cut(params, node.key, low, high, &mut scratch.median);
    let left = match node.offset {
        Some(offset) => {
            let range = node.range.start - offset..node.range.end - offset;
            scratch.block.partition(&range, cut, params.min_node)
        }
        None => {
            let rows = RowBlock::ids(&mut members[node.range.clone()]);
            partition(rows, projections, cut, &mut scratch.buffer)
        }
    };
    Some(NodeSplit { cut, draw, middle: node.range.start + left, children: [None; 2] })
}

/// Projects the rows of a node along `scratch.direction`; returns the smallest and the largest projection.
fn project<R: Real>(job: &Job<R>, node: &Node, members: &[u32], scratch: &mut Scratch<R>) -> (R, R) {
    let m = node.range.len();
    match node.offset {
        Some(offset) => {
            let range = node.range.start - offset..node.range.end - offset;
            scratch.block.project(&range, &scratch.direction)
        }
        None => {
            if scratch.projections.len() < m {
                scratch.projections.resize(m, R::default());
            }
            let ids = &members[node.range.clone()];
            job.rows.project(ids, &scratch.direction, &mut scratch.projections[..m])
        }
    }
}
