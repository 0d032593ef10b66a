//! Leaf numbers of rows, n x T, and the exact feature map they are.

use super::LeafMatrix;

/// The leaf of each row in each tree. Rows of the training data or unseen ones routed down the trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeafCodes {
    n: usize,
    trees: usize,
    /// Tree after tree: `codes[t * n + i]`.
    codes: Vec<u32>,
}

impl LeafCodes {
    pub(crate) fn new(n: usize, trees: usize, codes: Vec<u32>) -> Self {
        debug_assert_eq!(codes.len(), n * trees);
        LeafCodes { n, trees, codes }
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of trees.
    pub fn trees(&self) -> usize {
        self.trees
    }

    /// The leaf of every row in one tree.
    pub fn tree(&self, tree: usize) -> &[u32] {
        &self.codes[tree * self.n..(tree + 1) * self.n]
    }

    /// The leaf of one row in one tree.
    pub fn get(&self, row: usize, tree: usize) -> u32 {
        self.codes[tree * self.n + row]
    }

    /// In how many trees row `i` of this and row `j` of `other` share a leaf.
    pub fn shared(&self, i: usize, other: &LeafCodes, j: usize) -> usize {
        (0..self.trees.min(other.trees)).filter(|&t| self.get(i, t) == other.get(j, t)).count()
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.codes
    }
}

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
    /// The feature map of rows given by their leaf numbers (see [`LeafMatrix::codes`] and [`LeafMatrix::adapt`]).
    pub fn features(&self, codes: &LeafCodes) -> FeatureMap {
        let trees = self.trees();
        let mut indices = Vec::with_capacity(codes.n() * trees);
        for row in 0..codes.n() {
            indices.extend((0..trees).map(|t| (self.first_column(t) + codes.get(row, t) as usize) as u64));
        }
        FeatureMap { n: codes.n(), columns: self.columns(), indices, value: 1.0 / (trees as f64).sqrt() }
    }
}
