//! `paper`: the thresholded kernel with an exponential weight (Algorithm 3 of the paper), as a constant plus a sparse
//! part.
//!
//! Exact at any n; O(pairs above the threshold) time and memory.

use super::transform::{Diagonal, exponential};
use crate::error::Result;
use crate::graph::{CANCEL_CHECK_ROWS, SparseAffinity, Weights};
use crate::kernel::SparseKernel;
use crate::observe::{Observer, check};

impl SparseAffinity {
    /// `exp((s - 1) / beta2)` of the pairs in `kernel`; every pruned pair gets the constant `exp(-1 / beta2)`.
    pub fn paper(
        kernel: &SparseKernel,
        beta2: f64,
        diagonal: Diagonal,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (constant, table) = exponential(beta2, kernel.trees)?;
        let mut starts = Vec::with_capacity(kernel.starts.len());
        let mut indices = Vec::with_capacity(kernel.pairs());
        let mut counts = Vec::with_capacity(kernel.pairs());
        starts.push(0);
        for row in 0..kernel.rows {
            if row.is_multiple_of(CANCEL_CHECK_ROWS) {
                check(observer)?;
            }
            let (columns, shared) = kernel.row(row);
            let own = match diagonal {
                Diagonal::Keep => None,
                Diagonal::Drop => columns.binary_search(&(row as u32)).ok(),
            };
            let before = own.unwrap_or(columns.len());
            let after = own.map_or(columns.len(), |at| at + 1);
            indices.extend_from_slice(&columns[..before]);
            indices.extend_from_slice(&columns[after..]);
            counts.extend_from_slice(&shared[..before]);
            counts.extend_from_slice(&shared[after..]);
            starts.push(indices.len());
        }
        SparseAffinity::checked(constant, starts, indices, Weights::Table { counts, table }, observer)
    }

    /// The same pairs at another bandwidth.
    pub fn at_bandwidth(mut self, beta2: f64) -> Result<Self> {
        self.set_bandwidth(beta2)?;
        Ok(self)
    }

    /// [`SparseAffinity::at_bandwidth`] in place, for searches over hundreds of bandwidths.
    pub fn set_bandwidth(&mut self, beta2: f64) -> Result<()> {
        let trees = match self.weights() {
            Weights::Table { table, .. } => table.len() - 1,
            Weights::Values(_) => 0,
        };
        let (constant, table) = exponential(beta2, trees)?;
        self.set_table(constant, table)
    }
}
