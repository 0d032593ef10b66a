//! The whole kernel matrix, for small n and for people who want to look at it.

use rayon::prelude::*;

use super::leaf_matrix::LeafMatrix;
use crate::error::Result;
use crate::forest::LeafIds;
use crate::observe::{Observer, Silent, check};
use crate::points::Real;

impl LeafMatrix {
    /// Row `i` of S: its similarity to every training row.
    pub fn row(&self, i: usize) -> Vec<f64> {
        self.row_of(self.leaf_ids(), i)
    }

    /// The similarity of row `i` of `codes` to every training row.
    pub fn row_of(&self, codes: &LeafIds, i: usize) -> Vec<f64> {
        let mut counts = vec![0u16; self.n()];
        for (t, tree) in self.tree_leaves().iter().enumerate() {
            for &j in tree.leaf(codes.get(i, t)) {
                counts[j as usize] += 1;
            }
        }
        let trees = self.trees() as f64;
        counts.into_iter().map(|c| f64::from(c) / trees).collect()
    }

    /// S in full, n x n, row after row.
    pub fn dense(&self) -> Vec<f64> {
        self.dense_of(self.leaf_ids())
    }

    /// The similarity of every row of `codes` to every training row, m x n, row after row.
    pub fn dense_of(&self, codes: &LeafIds) -> Vec<f64> {
        self.dense_rows(codes, 0.0, &Silent)
    }

    /// As [`LeafMatrix::dense_of`] in either width, similarities below `threshold` as zeros, asking `observer` at each
    /// row whether to go on.
    pub fn dense_above<R: Real>(
        &self,
        codes: &LeafIds,
        threshold: f64,
        observer: &dyn Observer,
    ) -> Result<Vec<R>> {
        let all = self.dense_rows(codes, threshold, observer);
        check(observer).map(|()| all)
    }

    fn dense_rows<R: Real>(&self, codes: &LeafIds, threshold: f64, observer: &dyn Observer) -> Vec<R> {
        let mut all = vec![R::default(); codes.n() * self.n()];
        all.par_chunks_mut(self.n()).enumerate().for_each(|(i, row)| {
            if observer.cancelled() {
                return;
            }
            for (to, s) in row.iter_mut().zip(self.row_of(codes, i)) {
                *to = if s >= threshold { R::from_f64(s) } else { R::default() };
            }
        });
        all
    }
}
