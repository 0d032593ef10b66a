//! Routing of narrow rows down a grown tree by 16-bit quantized dot products (filter and refine).
//!
//! All nodes of the tree are quantized beforehand. `forest::route` uses this for dense rows of at most 64 columns,
//! those that a transposed block admits; for wider rows it quantizes one direction at a time. Rows within the error
//! bound of a cut are projected exactly, so every row reaches the leaf of exact routing. Only row ids are moved.

use std::ops::Range;

use super::grid::QuantizedRows;
use super::partition::RowPermutation;
use crate::forest::projection::fixed_order::{RowStorage, sum};
use crate::forest::tree::{Cursor, Tree};
use crate::points::Real;

/// The inner nodes of a tree, with quantized directions.
#[derive(Default)]
pub(crate) struct QuantizedTree<R> {
    /// Directions and cuts, quantized as the rows are.
    nodes: Vec<i16>,
    directions: Vec<R>,
    cuts: Vec<R>,
}

impl<R: Real> QuantizedTree<R> {
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.directions.clear();
        self.cuts.clear();
    }

    /// Adds the next inner node.
    pub fn push(&mut self, rows: &QuantizedRows, direction: &[R], cut: R) {
        let from = self.nodes.len();
        self.nodes.resize(from + rows.width(), 0);
        rows.grid.quantize_node(direction, cut, &mut self.nodes[from..]);
        self.directions.extend_from_slice(direction);
        self.cuts.push(cut);
    }
}

/// Writes the leaves of `leaves.len()` rows, beginning with row `first`.
pub(crate) fn route_rows<R: Real>(
    tree: &Tree,
    nodes: &QuantizedTree<R>,
    quantized: &QuantizedRows,
    rows: &RowStorage<R>,
    permutation: &mut RowPermutation,
    first: usize,
    leaves: &mut [u32],
) {
    let Some((values, stride)) = rows.dense() else { return };
    let (width, d) = (quantized.width(), quantized.grid.d());
    permutation.load(first as u32..(first + leaves.len()) as u32);
    let mut stack: Vec<(Cursor, Range<usize>)> = vec![(tree.root(), 0..leaves.len())];
    while let Some((at, range)) = stack.pop() {
        if at.is_leaf() {
            for &id in permutation.ids(range) {
                leaves[id as usize - first] = at.leaf;
            }
            continue;
        }
        let node = at.node as usize;
        let (direction, cut) = (&nodes.directions[node * d..][..d], nodes.cuts[node]);
        let is_below = |row: u32| sum(&values[row as usize * stride..][..d], direction) < cut;
        let quantized_node = &nodes.nodes[node * width..][..width];
        let middle = range.start + permutation.partition(quantized, quantized_node, &range, is_below);
        if middle < range.end {
            stack.push((tree.right(at), middle..range.end));
        }
        if range.start < middle {
            stack.push((tree.left(at), range.start..middle));
        }
    }
}
