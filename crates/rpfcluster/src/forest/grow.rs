//! Growing one tree: Algorithm 1 of the paper with an explicit stack and one permutation partitioned in place.
//!
//! A node is named by its path, so its direction and cut do not depend on the order in which nodes are reached. The
//! partition is stable: the points of a node stay in ascending order, so that rows are read forwards in memory and
//! the leaf lists come out sorted.

use std::sync::Arc;

use super::params::{ForestParams, Split};
use super::project::{DirectionVector, Rows};
use super::split::{ATTEMPTS, DirectionSource, cut};
use super::tree::{Cuts, Tree};
use crate::points::Real;
use crate::rng::{ROOT_PATH, child_path};

/// Buffers one thread uses for all its trees.
pub(crate) struct Scratch<'a, R: Clone> {
    projections: Vec<R>,
    other: Vec<R>,
    moved: Vec<u32>,
    direction: DirectionVector<R>,
    nearby: Option<Rows<'a, R>>,
}

impl<R: Real> Scratch<'_, R> {
    pub fn new(n: usize) -> Self {
        Scratch {
            projections: vec![R::default(); n],
            other: Vec::new(),
            moved: vec![0; n],
            direction: DirectionVector::default(),
            nearby: None,
        }
    }
}

/// A subtree still to be grown: its points are `members[start..end]`.
struct Open {
    start: usize,
    end: usize,
    path: u64,
    /// The inner node whose right child this is.
    right_of: Option<u32>,
}

/// The subtree whose rows have been copied together: while it is grown, `members` holds positions in the copy.
struct Nearby<'a, R: Clone> {
    rows: Rows<'a, R>,
    start: usize,
    ids: Vec<u32>,
}

impl<R: Clone> Nearby<'_, R> {
    fn end(&self) -> usize {
        self.start + self.ids.len()
    }

    /// Puts the points' own numbers back.
    fn restore(&self, members: &mut [u32]) {
        members[self.start..self.end()].iter_mut().for_each(|m| *m = self.ids[*m as usize]);
    }
}

pub(crate) fn grow_tree<'a, R: Real>(
    rows: &Rows<'a, R>,
    n: usize,
    d: usize,
    params: &ForestParams,
    exponent: i32,
    tree: usize,
    scratch: &mut Scratch<'a, R>,
) -> Tree {
    let mut members: Vec<u32> = (0..n as u32).collect();
    let mut source = DirectionSource::new(params, tree, d, exponent);
    let (mut right, mut cuts, mut draws, mut starts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut stack = vec![Open { start: 0, end: n, path: ROOT_PATH, right_of: None }];
    // A whole tree that fits the cache needs no copy.
    let cached = if n > 2 * rows.cached_rows() { rows.cached_rows() } else { 0 };
    let mut nearby: Option<Nearby<R>> = None;
    while let Some(node) = stack.pop() {
        if let Some(parent) = node.right_of {
            right[parent as usize] = right_len(&right);
        }
        if let Some(done) = nearby.take_if(|near| node.start >= near.end()) {
            done.restore(&mut members);
            scratch.nearby = Some(done.rows);
        }
        let ids = &mut members[node.start..node.end];
        if nearby.is_none() && ids.len() <= cached && ids.len() >= 4 * params.min_node {
            nearby = rows.copy_of(ids, scratch.nearby.take()).map(|rows| {
                let near = Nearby { rows, start: node.start, ids: ids.to_vec() };
                (0..).zip(ids.iter_mut()).for_each(|(position, id)| *id = position);
                near
            });
        }
        let from = nearby.as_ref().map_or(rows, |near| &near.rows);
        let split = (ids.len() >= params.min_node)
            .then(|| choose(from, ids, params, tree, node.path, &mut source, scratch))
            .flatten();
        let Some((cut, draw)) = split else {
            starts.push(node.start as u32);
            continue;
        };
        let middle = node.start + partition(ids, &scratch.projections, cut, &mut scratch.moved);
        let this = right_len(&right);
        if draw > 0 {
            draws.push((this, draw as u32));
        }
        right.push(0);
        cuts.push(cut);
        stack.push(Open {
            start: middle,
            end: node.end,
            path: child_path(node.path, true),
            right_of: Some(this),
        });
        stack.push(Open {
            start: node.start,
            end: middle,
            path: child_path(node.path, false),
            right_of: None,
        });
    }
    if let Some(last) = nearby {
        last.restore(&mut members);
        scratch.nearby = Some(last.rows);
    }
    starts.push(n as u32);
    right.shrink_to_fit();
    cuts.shrink_to_fit();
    Tree { right, cuts: Cuts::from_real(cuts), draws, starts: Arc::from(starts), members: Arc::from(members) }
}

fn right_len(right: &[u32]) -> u32 {
    right.len() as u32
}

/// Projects the node and chooses its cut; `None` when no direction tells its points apart. On return
/// `scratch.projections` holds the projections along the chosen direction.
fn choose<R: Real>(
    rows: &Rows<R>,
    ids: &[u32],
    params: &ForestParams,
    tree: usize,
    path: u64,
    source: &mut DirectionSource,
    scratch: &mut Scratch<'_, R>,
) -> Option<(R, usize)> {
    let m = ids.len();
    let Scratch { projections, other, direction, .. } = scratch;
    // (spread per unit length, range, draw) of the best direction so far.
    let mut best: Option<(f64, (R, R), usize)> = None;
    let mut draw = 0;
    while draw < params.candidates || (best.is_none() && draw < params.candidates.max(ATTEMPTS)) {
        let length = source.draw(path, draw, direction);
        let into = if best.is_some() {
            other.resize(m, R::default());
            &mut other[..m]
        } else {
            &mut projections[..m]
        };
        let (low, high) = rows.project(ids, direction, into);
        if high > low {
            let spread = (high.to_f64() - low.to_f64()) / length;
            if best.is_none_or(|(widest, ..)| spread > widest) {
                if best.is_some() {
                    projections[..m].copy_from_slice(&other[..m]);
                }
                best = Some((spread, (low, high), draw));
            }
        }
        draw += 1;
    }
    let (_, range, draw) = best?;
    let c = match params.split {
        Split::Uniform => cut(params, tree, path, range, &mut []),
        Split::Median => {
            other.clear();
            other.extend_from_slice(&projections[..m]);
            cut(params, tree, path, range, other)
        }
    };
    Some((c, draw))
}

/// Moves the points with a projection below the cut to the front, keeping the order on both sides; returns how many.
pub(crate) fn partition<R: Real>(ids: &mut [u32], projections: &[R], cut: R, moved: &mut [u32]) -> usize {
    let (mut left, mut right) = (0, 0);
    // Both sides are written each time and one of them advances: no branch to mispredict.
    for i in 0..ids.len() {
        let id = ids[i];
        let goes_left = projections[i] < cut;
        ids[left] = id;
        moved[right] = id;
        left += usize::from(goes_left);
        right += usize::from(!goes_left);
    }
    ids[left..].copy_from_slice(&moved[..right]);
    left
}
