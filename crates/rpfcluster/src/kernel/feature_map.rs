//! The exact feature map of the kernel: rows of Z / √T in sparse form. T entries per row.

use super::LeafMatrix;
use crate::forest::LeafIds;

/// The exact feature map of the kernel. Each row has T entries of 1/√T, one column per leaf of the forest; the dot
/// product of two rows is their similarity.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureMap {
    /// Number of rows.
    pub n: usize,
    /// Number of columns: the leaves of all trees.
    pub columns: usize,
    /// T column indices per row, ascending.
    pub indices: Vec<u64>,
    /// The value of every entry.
    pub value: f64,
}

impl LeafMatrix {
    /// The feature map of rows given by their leaf ids (see [`LeafMatrix::leaf_ids`] and [`LeafMatrix::adapt`]).
    pub fn features(&self, ids: &LeafIds) -> FeatureMap {
        let trees = self.trees();
        let mut indices = Vec::with_capacity(ids.n() * trees);
        for row in 0..ids.n() {
            indices.extend((0..trees).map(|t| (self.first_column(t) + ids.get(row, t) as usize) as u64));
        }
        FeatureMap { n: ids.n(), columns: self.columns(), indices, value: 1.0 / (trees as f64).sqrt() }
    }
}
