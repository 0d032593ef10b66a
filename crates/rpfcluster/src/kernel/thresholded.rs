//! The thresholded kernel: all pairs with S_ij of at least a threshold, as a CSR matrix of shared-leaf counts.
//!
//! Exact: the threshold is compared with the fraction count / T. The time is that of `pair_counts`; 6 bytes per pair
//! kept, twice while the rows are put in order.

use super::leaf_matrix::LeafMatrix;
use super::pair_counts::{Counted, count_rows, count_training};
use crate::error::{Result, parameter};
use crate::forest::LeafIds;
use crate::observe::{Observer, check};

/// The entries of the kernel of at least a threshold, as CSR: for each row the columns, ascending, and the number of
/// trees in which the two share a leaf. Includes the diagonal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparseKernel {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Start of each row, and the number of pairs at the end.
    pub starts: Vec<usize>,
    /// Column of each pair.
    pub indices: Vec<u32>,
    /// Number of trees in which each pair shares a leaf.
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

    /// Number of pairs kept, counting both directions and the diagonal.
    pub fn pairs(&self) -> usize {
        self.indices.len()
    }

    /// The pairs with a similarity of at least a higher `threshold`, without counting again.
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

/// The smallest count with count / trees >= `threshold`; at least 1.
pub(crate) fn least_count(threshold: f64, trees: usize) -> Result<u16> {
    if !(0.0..=1.0).contains(&threshold) {
        return Err(parameter("beta1", threshold, "from 0 to 1"));
    }
    let mut count = (threshold * trees as f64) as usize;
    // The truncated product can be too small; the quotient is the definition.
    while (count as f64 / trees as f64) < threshold {
        count += 1;
    }
    Ok(count.max(1) as u16)
}

/// The pairs kept of a chunk of rows.
#[derive(Default)]
struct KeptPairs {
    lengths: Vec<u32>,
    indices: Vec<u32>,
    counts: Vec<u16>,
    scratch: Vec<u32>,
}

impl KeptPairs {
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
        let chunks = count_training(self, observer, KeptPairs::default, |kept, _, counted| {
            kept.keep(&counted, least)
        })?;
        self.assemble_pairs(&self.tree_leaves()[0].members, chunks, observer)
    }

    /// All training rows with a similarity of at least `threshold` to rows given by their leaf ids.
    pub fn sparse_of(&self, ids: &LeafIds, threshold: f64, observer: &dyn Observer) -> Result<SparseKernel> {
        let least = least_count(threshold, self.trees())?;
        let (order, chunks) = count_rows(self, ids, observer, KeptPairs::default, |kept, _, counted| {
            kept.keep(&counted, least)
        })?;
        self.assemble_pairs(&order, chunks, observer)
    }

    /// Brings the kept pairs from the order of counting to the order of the rows.
    fn assemble_pairs(
        &self,
        order: &[u32],
        chunks: Vec<KeptPairs>,
        observer: &dyn Observer,
    ) -> Result<SparseKernel> {
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
