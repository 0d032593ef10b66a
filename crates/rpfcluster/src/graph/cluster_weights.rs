//! Sums of similarities and of squared similarities within and between the clusters of a partition (the k × k quotient
//! graph), and the merging of two clusters. `label/refine` measures separation by the former and merges by average
//! linkage of the latter.
//!
//! The similarity of two points is the fraction of trees in which they share a leaf, whatever the power of the edge
//! weights; in a graph without shared-leaf counts it is the weight. One pass over the stored pairs; O(k²) memory for
//! each chunk of rows. The sums do not depend on the number of threads.

use rayon::prelude::*;

use super::{SparseAffinity, Weights};
use crate::error::{Error, Result, parameter};
use crate::observe::{Observer, check};

/// Rows summed as one chunk. Fixed, so that the sums do not depend on the number of threads.
const CHUNK_ROWS: usize = 8192;

/// A symmetric k x k matrix of sums, row-major. An edge within a cluster counts from both ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClusterWeights {
    pub k: usize,
    pub weights: Vec<f64>,
}

impl ClusterWeights {
    pub fn get(&self, a: usize, b: usize) -> f64 {
        self.weights[a * self.k + b]
    }

    /// Adds row and column `b` to `a` and clears them.
    pub fn merge(&mut self, a: usize, b: usize) {
        for c in 0..self.k {
            self.weights[a * self.k + c] += self.weights[b * self.k + c];
            self.weights[b * self.k + c] = 0.0;
        }
        for c in 0..self.k {
            self.weights[c * self.k + a] += self.weights[c * self.k + b];
            self.weights[c * self.k + b] = 0.0;
        }
    }
}

/// First and second moments of the similarities between clusters.
pub(crate) struct ClusterMoments {
    /// Sums of similarities.
    pub first: ClusterWeights,
    /// Sums of squared similarities.
    pub second: ClusterWeights,
}

impl SparseAffinity {
    /// Sums the similarities of the stored pairs between the `k` clusters of `labels`. The similarity of a counted pair
    /// is its fraction of trees, whatever power the weights have; of any other pair it is the weight.
    pub(crate) fn cluster_moments(
        &self,
        labels: &[u32],
        k: usize,
        observer: &dyn Observer,
    ) -> Result<ClusterMoments> {
        if labels.len() != self.n() {
            return Err(Error::Length { what: "labels", got: labels.len(), expected: self.n() });
        }
        if let Some(most) = labels.iter().max().filter(|l| **l as usize >= k) {
            return Err(parameter("label", most, format!("below k, which is {k}")));
        }
        let similarity = |e: usize| match self.weights() {
            Weights::Table { counts, table } => f64::from(counts[e]) / (table.len() - 1) as f64,
            Weights::Values(values) => values[e],
        };
        let chunks: Vec<usize> = (0..self.n()).step_by(CHUNK_ROWS).collect();
        let partial: Result<Vec<[Vec<f64>; 2]>> = chunks
            .par_iter()
            .map(|&start| {
                check(observer)?;
                let mut sums = [vec![0.0; k * k], vec![0.0; k * k]];
                for row in start..(start + CHUNK_ROWS).min(self.n()) {
                    let own = labels[row] as usize * k;
                    for e in self.indptr()[row]..self.indptr()[row + 1] {
                        let at = own + labels[self.indices()[e] as usize] as usize;
                        let similarity = similarity(e);
                        sums[0][at] += similarity;
                        sums[1][at] += similarity * similarity;
                    }
                }
                Ok(sums)
            })
            .collect();
        let mut total = [vec![0.0; k * k], vec![0.0; k * k]];
        for sums in partial? {
            for (total, part) in total.iter_mut().zip(sums) {
                total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
            }
        }
        let [first, second] = total;
        Ok(ClusterMoments {
            first: ClusterWeights { k, weights: first },
            second: ClusterWeights { k, weights: second },
        })
    }
}
