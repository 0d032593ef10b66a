//! `paper`: Algorithm 3's threshold and bandwidth, exact at any n as a constant plus a sparse part.

use super::transform::{Diagonal, exponential};
use super::{SparseAffinity, Weights};
use crate::error::Result;
use crate::kernel::SparseKernel;

impl SparseAffinity {
    /// S thresholded as `kernel` is, then `exp((s - 1) / beta2)`; every pruned pair gets the constant exp(-1/beta2).
    pub fn paper(kernel: &SparseKernel, beta2: f64, diagonal: Diagonal) -> Result<Self> {
        let (constant, table) = exponential(beta2, kernel.trees)?;
        match diagonal {
            Diagonal::Keep => SparseAffinity::new(
                constant,
                kernel.starts.clone(),
                kernel.indices.clone(),
                Weights::Table { counts: kernel.counts.clone(), table },
            ),
            Diagonal::Drop => {
                let mut starts = vec![0];
                let mut indices = Vec::with_capacity(kernel.pairs());
                let mut counts = Vec::with_capacity(kernel.pairs());
                for row in 0..kernel.rows {
                    let (columns, shared) = kernel.row(row);
                    for (&j, &count) in columns.iter().zip(shared) {
                        if j as usize != row {
                            indices.push(j);
                            counts.push(count);
                        }
                    }
                    starts.push(indices.len());
                }
                SparseAffinity::new(constant, starts, indices, Weights::Table { counts, table })
            }
        }
    }

    /// The same pairs at another bandwidth.
    pub fn at_bandwidth(mut self, beta2: f64) -> Result<Self> {
        self.set_bandwidth(beta2)?;
        Ok(self)
    }

    /// The same pairs at another bandwidth, in place: a search asks for hundreds.
    pub fn set_bandwidth(&mut self, beta2: f64) -> Result<()> {
        let trees = match self.weights() {
            Weights::Table { table, .. } => table.len() - 1,
            Weights::Values(_) => 0,
        };
        let (constant, table) = exponential(beta2, trees)?;
        self.set_table(constant, table)
    }
}
