//! How much weight there is between clusters: what a partition of a graph is judged by.

use rayon::prelude::*;

use super::{SparseAffinity, Weights};
use crate::error::{Error, Result, parameter};

/// Rows summed as one piece. Fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 8192;

/// Sums between clusters: k x k, row by row, symmetric; an edge inside a cluster counts from both ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Between {
    pub k: usize,
    pub weights: Vec<f64>,
}

impl Between {
    pub fn get(&self, a: usize, b: usize) -> f64 {
        self.weights[a * self.k + b]
    }

    /// Gives what `b` has to `a`.
    pub fn join(&mut self, a: usize, b: usize) {
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

/// What the neighbours of a graph have in common, cluster by cluster.
pub(crate) struct Sums {
    /// Of the similarity itself, the share of trees; of the weight where nothing was counted.
    pub plain: Between,
    /// Of its square.
    pub squared: Between,
}

impl SparseAffinity {
    /// The similarities of stored pairs between the `k` clusters of `labels`, whatever power the weights are of.
    pub(crate) fn between(&self, labels: &[u32], k: usize) -> Result<Sums> {
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
        let chunks: Vec<usize> = (0..self.n()).step_by(CHUNK).collect();
        let sums: Vec<[Vec<f64>; 2]> = chunks
            .par_iter()
            .map(|&first| {
                let mut sums = [vec![0.0; k * k], vec![0.0; k * k]];
                for row in first..(first + CHUNK).min(self.n()) {
                    let own = labels[row] as usize * k;
                    for e in self.indptr()[row]..self.indptr()[row + 1] {
                        let at = own + labels[self.indices()[e] as usize] as usize;
                        let similarity = similarity(e);
                        sums[0][at] += similarity;
                        sums[1][at] += similarity * similarity;
                    }
                }
                sums
            })
            .collect();
        let mut total = [vec![0.0; k * k], vec![0.0; k * k]];
        for sums in sums {
            for (total, part) in total.iter_mut().zip(sums) {
                total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
            }
        }
        let [plain, squared] = total;
        Ok(Sums { plain: Between { k, weights: plain }, squared: Between { k, weights: squared } })
    }
}
