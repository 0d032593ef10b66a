//! Sending unseen points down grown trees: the same projections, the same cuts, so a training row ends in its own leaf.
//!
//! A batch of rows goes down a tree together, like the points of a growing tree, so that each node's direction is
//! drawn once for a batch and not once for a row.

use super::Forest;
use super::project::{DirectionVector, Rows};
use super::split::DirectionSource;
use super::tree::{Cursor, Tree};
use crate::points::Real;

/// Buffers one thread uses for all its trees.
pub(crate) struct RouteScratch<R> {
    projections: Vec<R>,
    ids: Vec<u32>,
    moved: Vec<u32>,
    direction: DirectionVector<R>,
}

impl<R: Real> RouteScratch<R> {
    pub fn new() -> Self {
        RouteScratch {
            projections: Vec::new(),
            ids: Vec::new(),
            moved: Vec::new(),
            direction: DirectionVector::default(),
        }
    }
}

/// The leaf of every row in tree number `tree`, into `leaves`.
pub(crate) fn route_tree<R: Real>(
    forest: &Forest,
    number: usize,
    tree: &Tree,
    rows: &Rows<R>,
    scratch: &mut RouteScratch<R>,
    leaves: &mut [u32],
) {
    let n = leaves.len();
    let mut source = DirectionSource::new(&forest.params, number, forest.d, forest.exponent);
    scratch.ids.clear();
    scratch.ids.extend(0..n as u32);
    scratch.moved.resize(n, 0);
    scratch.projections.resize(n, R::default());
    let mut stack: Vec<(Cursor, usize, usize)> = vec![(tree.root(), 0, n)];
    while let Some((at, start, end)) = stack.pop() {
        let ids = &mut scratch.ids[start..end];
        if at.is_leaf() {
            for &id in ids.iter() {
                leaves[id as usize] = at.leaf;
            }
            continue;
        }
        source.draw(at.path, tree.draw_of(at.node), &mut scratch.direction);
        let projections = &mut scratch.projections[..end - start];
        rows.project(ids, &scratch.direction, projections);
        let cut: R = tree.cuts.get(at.node as usize);
        let middle = start + super::grow::partition(ids, projections, cut, &mut scratch.moved);
        if middle < end {
            stack.push((tree.right(at), middle, end));
        }
        if start < middle {
            stack.push((tree.left(at), start, middle));
        }
    }
}
