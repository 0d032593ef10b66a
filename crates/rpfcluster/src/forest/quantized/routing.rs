//! Narrow rows going down a grown tree by rough sums (`coarse`, `sieve`), and by exact ones where those tell nothing, so
//! that rows come to the leaves of `project`. Only the rows' numbers are moved.

use std::ops::Range;

use crate::forest::projection::fixed_order::{Rows, sum};
use crate::forest::quantized::grid::CoarseRows;
use crate::forest::quantized::partition::Sieve;
use crate::forest::tree::{Cursor, Tree};
use crate::points::Real;

/// The inner nodes of a tree, as a walk needs them.
#[derive(Default)]
pub(crate) struct Steps<R> {
    /// Directions and cuts, rounded like the rows.
    rough: Vec<i16>,
    directions: Vec<R>,
    cuts: Vec<R>,
}

impl<R: Real> Steps<R> {
    pub fn clear(&mut self) {
        self.rough.clear();
        self.directions.clear();
        self.cuts.clear();
    }

    /// Adds the next inner node.
    pub fn push(&mut self, coarse: &CoarseRows, direction: &[R], cut: R) {
        let from = self.rough.len();
        self.rough.resize(from + coarse.width(), 0);
        coarse.grid.round_node(direction, cut, &mut self.rough[from..]);
        self.directions.extend_from_slice(direction);
        self.cuts.push(cut);
    }
}

/// The leaves of the rows from `first` on, all at once.
pub(crate) fn descend<R: Real>(
    tree: &Tree,
    steps: &Steps<R>,
    coarse: &CoarseRows,
    rows: &Rows<R>,
    sieve: &mut Sieve,
    (first, leaves): (usize, &mut [u32]),
) {
    let Some((values, stride)) = rows.dense() else { return };
    let (width, d) = (coarse.width(), coarse.grid.d());
    sieve.load(first as u32..(first + leaves.len()) as u32);
    let mut stack: Vec<(Cursor, Range<usize>)> = vec![(tree.root(), 0..leaves.len())];
    while let Some((at, range)) = stack.pop() {
        if at.is_leaf() {
            for &id in sieve.ids(range) {
                leaves[id as usize - first] = at.leaf;
            }
            continue;
        }
        let node = at.node as usize;
        let (direction, cut) = (&steps.directions[node * d..][..d], steps.cuts[node]);
        let exactly = |row: u32| sum(&values[row as usize * stride..][..d], direction) < cut;
        let along = &steps.rough[node * width..][..width];
        let middle = range.start + sieve.divide(coarse, along, &range, exactly);
        if middle < range.end {
            stack.push((tree.right(at), middle..range.end));
        }
        if range.start < middle {
            stack.push((tree.left(at), range.start..middle));
        }
    }
}
