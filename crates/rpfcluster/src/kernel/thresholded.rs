//! All pairs with S_ij of at least a threshold, as compressed rows of counts.

use super::leaf_matrix::LeafMatrix;
use super::pair_counts::{Counted, count_rows, count_training};
use crate::error::{Result, parameter};
use crate::forest::LeafIds;
use crate::observe::{Observer, check};

/// Part of the kernel: for each row the columns with a similarity of at least the threshold, ascending, and in how
/// many trees the two share a leaf. The diagonal is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparseKernel {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Where each row begins; one more entry holds the number of pairs.
    pub starts: Vec<usize>,
    /// Column of each pair.
    pub indices: Vec<u32>,
    /// Shared trees of each pair.
    pub counts: Vec<u16>,
    /// Number of trees.
    pub trees: usize,
}

impl SparseKernel {
    /// The columns and counts of a row.
    pub fn row(&self, row: usize) -> (&[u32], &[u16]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.indices[range.clone()], &self.counts[range])
    }

    /// Number of pairs kept, both directions and the diagonal counted.
    pub fn pairs(&self) -> usize {
        self.indices.len()
    }

    /// The pairs with a similarity of at least a higher `threshold`, which need no second count.
    pub fn at_least(&self, threshold: f64) -> Result<SparseKernel> {
        let least = least_count(threshold, self.trees)?;
        let mut kept = SparseKernel { starts: vec![0], indices: Vec::new(), counts: Vec::new(), ..*self };
        for row in 0..self.rows {
            let (columns, shared) = self.row(row);
            for (column, count) in columns.iter().zip(shared).filter(|(_, count)| **count >= least) {
                kept.indices.push(*column);
                kept.counts.push(*count);
            }
            kept.starts.push(kept.indices.len());
        }
        Ok(kept)
    }
}

/// The smallest count whose share of `trees` is at least `threshold`; at least 1.
pub(crate) fn least_count(threshold: f64, trees: usize) -> Result<u16> {
    if !(0.0..=1.0).contains(&threshold) {
        return Err(parameter("beta1", threshold, "from 0 to 1"));
    }
    let mut count = (threshold * trees as f64) as usize;
    // The product is rounded, down to a whole number in any case; the definition S_ij >= beta1 is not.
    while (count as f64 / trees as f64) < threshold {
        count += 1;
    }
    Ok(count.max(1) as u16)
}

#[derive(Default)]
struct Kept {
    lengths: Vec<u32>,
    indices: Vec<u32>,
    counts: Vec<u16>,
    scratch: Vec<u32>,
}

impl Kept {
    fn keep(&mut self, counted: &Counted<'_>, least: u16) {
        self.scratch.clear();
        self.scratch.extend(counted.touched.iter().filter(|&&j| counted.counts[j as usize] >= least));
        self.scratch.sort_unstable();
        self.lengths.push(self.scratch.len() as u32);
        self.indices.extend_from_slice(&self.scratch);
        self.counts.extend(self.scratch.iter().map(|&j| counted.counts[j as usize]));
    }
}

impl LeafMatrix {
    /// All pairs of training rows with S_ij >= `threshold` (and above zero).
    pub fn sparse(&self, threshold: f64, observer: &dyn Observer) -> Result<SparseKernel> {
        let least = least_count(threshold, self.trees())?;
        let chunks =
            count_training(self, observer, Kept::default, |kept, _, counted| kept.keep(&counted, least))?;
        self.kept(&self.tree_leaves()[0].members, chunks, observer)
    }

    /// All training rows with a similarity of at least `threshold` to rows given by their leaf numbers.
    pub fn sparse_of(
        &self,
        codes: &LeafIds,
        threshold: f64,
        observer: &dyn Observer,
    ) -> Result<SparseKernel> {
        let least = least_count(threshold, self.trees())?;
        let (order, chunks) =
            count_rows(self, codes, observer, Kept::default, |kept, _, counted| kept.keep(&counted, least))?;
        self.kept(&order, chunks, observer)
    }

    /// What was kept, back in the rows' own order.
    fn kept(&self, order: &[u32], chunks: Vec<Kept>, observer: &dyn Observer) -> Result<SparseKernel> {
        let rows = order.len();
        let mut starts = vec![0usize; rows + 1];
        for (&row, &length) in order.iter().zip(chunks.iter().flat_map(|c| &c.lengths)) {
            starts[row as usize + 1] = length as usize;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut kernel = SparseKernel {
            rows,
            columns: self.n(),
            indices: vec![0; starts[rows]],
            counts: vec![0; starts[rows]],
            starts,
            trees: self.trees(),
        };
        let mut order = order.iter();
        for chunk in chunks {
            check(observer)?;
            let mut from = 0;
            for (&length, &row) in chunk.lengths.iter().zip(&mut order) {
                let to = from + length as usize;
                let at = kernel.starts[row as usize];
                kernel.indices[at..at + length as usize].copy_from_slice(&chunk.indices[from..to]);
                kernel.counts[at..at + length as usize].copy_from_slice(&chunk.counts[from..to]);
                from = to;
            }
        }
        Ok(kernel)
    }
}
