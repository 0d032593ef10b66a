//! Leaf ids: the leaf of each row in each tree, n × T, 4 bytes each.

/// The leaf of each row in each tree, for training rows or for unseen rows routed down the trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeafIds {
    n: usize,
    trees: usize,
    /// Tree by tree: `ids[t * n + i]`.
    ids: Vec<u32>,
}

impl LeafIds {
    pub(crate) fn new(n: usize, trees: usize, ids: Vec<u32>) -> Self {
        debug_assert_eq!(ids.len(), n * trees);
        LeafIds { n, trees, ids }
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
        &self.ids[tree * self.n..(tree + 1) * self.n]
    }

    /// The leaf of one row in one tree.
    pub fn get(&self, row: usize, tree: usize) -> u32 {
        self.ids[tree * self.n + row]
    }

    /// The number of trees in which row `i` of this and row `j` of `other` share a leaf.
    pub fn shared(&self, i: usize, other: &LeafIds, j: usize) -> usize {
        (0..self.trees.min(other.trees)).filter(|&t| self.get(i, t) == other.get(j, t)).count()
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.ids
    }
}
