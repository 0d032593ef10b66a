//! Dense rows of the kernel, or all of it, for small n and for inspection. O(n T · leaf size) time, n² values.

use rayon::prelude::*;

use super::leaf_matrix::LeafMatrix;
use crate::error::Result;
use crate::forest::LeafIds;
use crate::observe::{Observer, check};
use crate::points::Real;

impl LeafMatrix {
    /// Row `i` of S: its similarity to every training row.
    pub fn row(&self, i: usize) -> Vec<f64> {
        self.row_of(self.leaf_ids(), i)
    }

    /// The similarity of row `i` of `ids` to every training row.
    pub fn row_of(&self, ids: &LeafIds, i: usize) -> Vec<f64> {
        let mut counts = vec![0u16; self.n()];
        for (t, tree) in self.tree_leaves().iter().enumerate() {
            for &j in tree.leaf(ids.get(i, t)) {
                counts[j as usize] += 1;
            }
        }
        let trees = self.trees() as f64;
        counts.into_iter().map(|c| f64::from(c) / trees).collect()
    }

    /// S, n × n, row-major.
    pub fn dense(&self) -> Vec<f64> {
        self.dense_of(self.leaf_ids())
    }

    /// The similarity of every row of `ids` to every training row, m × n, row-major.
    pub fn dense_of(&self, ids: &LeafIds) -> Vec<f64> {
        (0..ids.n()).into_par_iter().flat_map_iter(|i| self.row_of(ids, i)).collect()
    }

    /// As [`LeafMatrix::dense_of`], in either precision and with similarities below `threshold` set to zero.
    pub fn dense_above<R: Real>(
        &self,
        ids: &LeafIds,
        threshold: f64,
        observer: &dyn Observer,
    ) -> Result<Vec<R>> {
        let mut dense = vec![R::default(); ids.n() * self.n()];
        dense.par_chunks_mut(self.n()).enumerate().try_for_each(|(i, row)| {
            check(observer)?;
            for (to, s) in row.iter_mut().zip(self.row_of(ids, i)) {
                *to = if s >= threshold { R::from_f64(s) } else { R::default() };
            }
            Ok(())
        })?;
        Ok(dense)
    }
}
