//! Growing one tree: Algorithm 1 of the paper with an explicit stack and one permutation partitioned in place.
//!
//! A node is named by its path, so its direction and cut do not depend on the order in which nodes are reached. The
//! partition is stable: the points of a node stay in ascending order, so that rows are read forwards in memory and
//! the leaf lists come out sorted.
//!
//! The upper levels of a large tree come from `together`, the nodes below them are cut by rough sums, and a subtree that fits
//! the cache and is small, or has few columns, is grown in `Columns`.

use std::ops::Range;
use std::sync::Arc;

use super::params::{ForestParams, Split};
use super::projection::fixed_order::{DirectionVector, Rows};
use super::projection::transposed::Columns;
use super::quantized::grid::CoarseRows;
use super::quantized::node_cut::{Divider, RoughDirection};
use super::split::{ATTEMPTS, DirectionSource, cut};
use super::tree::{Cuts, Tree};
use super::tree_batch::Projections;
use crate::error::Result;
use crate::observe::{Observer, check};
use crate::points::Real;
use crate::random::{ROOT_PATH, child_path};
use crate::simd::stable_partition::{Moved, Spare, partition};

/// From this many columns on, moving them with every cut costs more than rough sums of rows where they lie, down to nodes
/// of this size: a smaller one has too few points for what a node costs.
pub(crate) const MANY_COLUMNS: usize = 6;
const SMALL: usize = 256;

/// What all trees of a forest share.
pub(crate) struct Job<'a, R: Real> {
    pub rows: Rows<'a, R>,
    /// The same rounded, where nodes are cut by rough sums.
    pub coarse: Option<CoarseRows>,
    pub n: usize,
    pub d: usize,
    pub params: &'a ForestParams,
    pub exponent: i32,
    pub observer: &'a dyn Observer,
}

/// Buffers one thread uses for all its trees.
pub(crate) struct Scratch<R> {
    projections: Vec<R>,
    other: Vec<R>,
    spare: Spare<R>,
    direction: DirectionVector<R>,
    columns: Columns<R>,
    sums: Vec<f32>,
    divider: Divider<R>,
    /// Projections of the trees whose upper levels are grown together.
    pub side_by_side: Vec<Projections<R>>,
}

impl<R: Real> Default for Scratch<R> {
    fn default() -> Self {
        Scratch {
            projections: Vec::new(),
            other: Vec::new(),
            spare: Spare::default(),
            direction: DirectionVector::default(),
            columns: Columns::default(),
            sums: Vec::new(),
            divider: Divider::default(),
            side_by_side: Vec::new(),
        }
    }
}

/// A tree of which some upper nodes are known: a permutation that they have partitioned, and the nodes.
pub(crate) struct Begun<R> {
    pub members: Vec<u32>,
    /// The root first; empty when nothing is known.
    pub known: Vec<Known<R>>,
}

/// An inner node that was grown beforehand with its first direction.
pub(crate) struct Known<R> {
    pub cut: R,
    pub middle: usize,
    /// The children among the known nodes.
    pub children: [Option<u32>; 2],
}

/// A subtree still to be grown: its points are `members[start..end]`.
struct Open {
    start: usize,
    end: usize,
    path: u64,
    /// The inner node whose right child this is.
    right_of: Option<u32>,
    known: Option<u32>,
}

/// What is chosen at a node.
struct Chosen<R> {
    cut: R,
    draw: usize,
    middle: usize,
    known: [Option<u32>; 2],
}

pub(crate) fn grow_tree<R: Real>(
    job: &Job<R>,
    tree: usize,
    begun: Begun<R>,
    scratch: &mut Scratch<R>,
) -> Result<Tree> {
    let Begun { mut members, known } = begun;
    let (n, params) = (job.n, job.params);
    let mut source = DirectionSource::new(params, tree, job.d, job.exponent);
    let (mut right, mut cuts, mut draws, mut starts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let root = (!known.is_empty()).then_some(0);
    let mut stack = vec![Open { start: 0, end: n, path: ROOT_PATH, right_of: None, known: root }];
    let cached = match Columns::most(&job.rows, job.d) {
        most if job.coarse.is_some() && job.d >= MANY_COLUMNS => most.min(SMALL),
        most => most,
    };
    // The subtree whose rows are in `scratch.columns`.
    let mut near: Option<Range<usize>> = None;
    while let Some(node) = stack.pop() {
        if let Some(parent) = node.right_of {
            right[parent as usize] = right_len(&right);
        }
        if let Some(done) = near.take_if(|near| node.start >= near.end) {
            members[done].copy_from_slice(&scratch.columns.ids);
        }
        let size = node.end - node.start;
        let chosen = if let Some(known) = node.known.map(|at| &known[at as usize]) {
            Some(Chosen { cut: known.cut, draw: 0, middle: known.middle, known: known.children })
        } else if size < params.min_node {
            None
        } else {
            if near.is_none() && size <= cached {
                check(job.observer)?;
                scratch.columns.load(&job.rows, job.d, &members[node.start..node.end]);
                near = Some(node.start..node.end);
            }
            // Wide rows, or a large node of a tree grown alone.
            if near.is_none() && size >= 64 {
                check(job.observer)?;
            }
            let offset = near.as_ref().map(|near| near.start);
            let at = Node { tree, path: node.path, range: node.start..node.end, offset };
            choose_roughly(job, &at, &mut members, &mut source, scratch)
                .or_else(|| choose(job, &at, &mut members, &mut source, scratch))
        };
        let Some(chosen) = chosen else {
            starts.push(node.start as u32);
            continue;
        };
        let this = right_len(&right);
        if chosen.draw > 0 {
            draws.push((this, chosen.draw as u32));
        }
        right.push(0);
        cuts.push(chosen.cut);
        stack.push(Open {
            start: chosen.middle,
            end: node.end,
            path: child_path(node.path, true),
            right_of: Some(this),
            known: chosen.known[1],
        });
        stack.push(Open {
            start: node.start,
            end: chosen.middle,
            path: child_path(node.path, false),
            right_of: None,
            known: chosen.known[0],
        });
    }
    if let Some(last) = near {
        members[last].copy_from_slice(&scratch.columns.ids);
    }
    starts.push(n as u32);
    right.shrink_to_fit();
    cuts.shrink_to_fit();
    Ok(Tree {
        right,
        cuts: Cuts::from_real(cuts),
        draws,
        starts: Arc::from(starts),
        members: Arc::from(members),
    })
}

fn right_len(right: &[u32]) -> u32 {
    right.len() as u32
}

struct Node {
    tree: usize,
    path: u64,
    range: Range<usize>,
    /// Where the subtree in the columns begins, when its rows are there.
    offset: Option<usize>,
}

/// What `choose` does with one direction, by rough sums; `None` where they or the direction tell nothing.
fn choose_roughly<R: Real>(
    job: &Job<R>,
    node: &Node,
    members: &mut [u32],
    source: &mut DirectionSource,
    scratch: &mut Scratch<R>,
) -> Option<Chosen<R>> {
    let coarse = job.coarse.as_ref().filter(|_| node.offset.is_none())?;
    source.draw(node.path, 0, &mut scratch.direction);
    let mut rough = RoughDirection::new(coarse, &scratch.direction, 0.0)?;
    let ids = &mut members[node.range.clone()];
    if scratch.sums.len() < ids.len() {
        scratch.sums.resize(ids.len(), 0.0);
    }
    let sums = &mut scratch.sums[..ids.len()];
    rough.project(coarse, ids, sums);
    let along = (&scratch.direction, &rough);
    let (cut, left) = scratch.divider.choose(job, (node.tree, node.path), along, ids, sums)?;
    Some(Chosen { cut, draw: 0, middle: node.range.start + left, known: [None; 2] })
}

/// Projects the node, chooses its cut and divides its points; `None` when no direction tells them apart.
fn choose<R: Real>(
    job: &Job<R>,
    node: &Node,
    members: &mut [u32],
    source: &mut DirectionSource,
    scratch: &mut Scratch<R>,
) -> Option<Chosen<R>> {
    let (params, m) = (job.params, node.range.len());
    // (spread per unit length, range, draw) of the best direction so far.
    let mut best: Option<(f64, (R, R), usize)> = None;
    let mut draw = 0;
    let mut last = 0;
    while draw < params.candidates || (best.is_none() && draw < params.candidates.max(ATTEMPTS)) {
        let length = source.draw(node.path, draw, &mut scratch.direction);
        let (low, high) = project(job, node, members, scratch);
        last = draw;
        if high > low {
            let spread = (high.to_f64() - low.to_f64()) / length;
            if best.is_none_or(|(widest, ..)| spread > widest) {
                best = Some((spread, (low, high), draw));
            }
        }
        draw += 1;
    }
    let (_, range, draw) = best?;
    if draw != last {
        source.draw(node.path, draw, &mut scratch.direction);
        project(job, node, members, scratch);
    }
    let projections = match node.offset {
        Some(_) => scratch.columns.projections(m),
        None => &scratch.projections[..m],
    };
    scratch.other.clear();
    if params.split == Split::Median {
        scratch.other.extend_from_slice(projections);
    }
    let cut = cut(params, node.tree, node.path, range, &mut scratch.other);
    let left = match node.offset {
        Some(offset) => scratch.columns.divide(&(node.range.start - offset..node.range.end - offset), cut),
        None => {
            let ids = &mut members[node.range.clone()];
            let moved = Moved { ids, columns: &mut [], stride: 0, at: 0 };
            partition(moved, projections, cut, &mut scratch.spare)
        }
    };
    Some(Chosen { cut, draw, middle: node.range.start + left, known: [None; 2] })
}

/// Projects the node's points along `scratch.direction`; returns the ends.
fn project<R: Real>(job: &Job<R>, node: &Node, members: &[u32], scratch: &mut Scratch<R>) -> (R, R) {
    let m = node.range.len();
    match node.offset {
        Some(offset) => {
            let range = node.range.start - offset..node.range.end - offset;
            scratch.columns.project(&range, &scratch.direction)
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
