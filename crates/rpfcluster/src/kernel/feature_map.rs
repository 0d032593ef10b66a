//! The exact feature map of the kernel: Z with entries 1/sqrt(T).

use super::LeafMatrix;
use crate::forest::LeafIds;

/// The exact feature map of the kernel: each row has T entries of 1/sqrt(T), one column per leaf of the forest, and
/// the scalar product of two rows is their similarity.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureMap {
    /// Number of rows.
    pub n: usize,
    /// Number of columns: all leaves of all trees.
    pub columns: usize,
    /// T column numbers for each row, ascending.
    pub indices: Vec<u64>,
    /// The value of every entry.
    pub value: f64,
}

impl LeafMatrix {
    /// The feature map of rows given by their leaf numbers (see [`LeafMatrix::leaf_ids`] and [`LeafMatrix::adapt`]).
    pub fn features(&self, codes: &LeafIds) -> FeatureMap {
        let trees = self.trees();
        let mut indices = Vec::with_capacity(codes.n() * trees);
        for row in 0..codes.n() {
            indices.extend((0..trees).map(|t| (self.first_column(t) + codes.get(row, t) as usize) as u64));
        }
        FeatureMap { n: codes.n(), columns: self.columns(), indices, value: 1.0 / (trees as f64).sqrt() }
    }
}
