//! The leaf matrix Z of S = Z Zᵀ / T: for every tree, the rows of each leaf.
//!
//! The lists are shared with the forest. A larger `min_node` merges neighbouring leaves and costs one pass over the
//! nodes; nothing is grown again. The n × T leaf ids, the transposed form, are computed on first use.
//! Also the leaf matrices of a subset of the trees and of other rows, given by their leaf ids. Products with S are in
//! `matvec`.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::forest::{Forest, LeafIds, leaf_lists};
use crate::observe::{Observer, check};
use crate::simd::prefetch;

/// The leaves of one tree at one `min_node`.
#[derive(Debug, Clone)]
pub(crate) struct TreeLeaves {
    /// Start of each leaf in `members`, and their number at the end.
    pub starts: Arc<[u32]>,
    /// The rows, leaf by leaf; ascending within a leaf of the grown tree.
    pub members: Arc<[u32]>,
    /// For each leaf of the grown tree, the leaf that contains it here; `None` when they are the same.
    merged_into: Option<Arc<[u32]>>,
}

impl TreeLeaves {
    #[inline(always)]
    pub fn leaf(&self, leaf: u32) -> &[u32] {
        let leaf = leaf as usize;
        &self.members[self.starts[leaf] as usize..self.starts[leaf + 1] as usize]
    }

    /// Prefetches what [`TreeLeaves::leaf`] reads first.
    #[inline(always)]
    pub fn prefetch(&self, leaf: u32) {
        prefetch(&self.starts[leaf as usize]);
    }

    #[inline(always)]
    pub fn size(&self, leaf: u32) -> u32 {
        self.starts[leaf as usize + 1] - self.starts[leaf as usize]
    }

    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Writes the leaf of each row.
    fn write_ids(&self, ids: &mut [u32]) {
        for leaf in 0..self.count() as u32 {
            for &row in self.leaf(leaf) {
                ids[row as usize] = leaf;
            }
        }
    }
}

impl Forest {
    /// The leaves of the grown trees.
    pub fn leaves(&self) -> LeafMatrix {
        let leaves = self
            .trees
            .iter()
            .map(|t| TreeLeaves { starts: t.starts.clone(), members: t.members.clone(), merged_into: None })
            .collect();
        LeafMatrix::from_trees(self.n, leaves, 0)
    }

    /// The leaves of the forest grown with a larger `min_node`, by merging the leaves of this one.
    pub fn leaves_at(&self, min_node: usize) -> Result<LeafMatrix> {
        if min_node < self.params.min_node {
            let expected = format!("at least {}, the value the forest was grown with", self.params.min_node);
            return Err(crate::error::parameter("min_node", min_node, expected));
        }
        if min_node == self.params.min_node {
            Ok(self.leaves())
        } else {
            Ok(LeafMatrix::merged(self, min_node))
        }
    }

    /// The leaves of a range of trees at the given `min_node`: a smaller forest without growing it.
    pub fn leaves_of_trees(&self, trees: Range<usize>, min_node: usize) -> Result<LeafMatrix> {
        let expected = || format!("within 0..{}", self.trees.len());
        if trees.start >= trees.end || trees.end > self.trees.len() {
            return Err(crate::error::parameter("trees", format!("{trees:?}"), expected()));
        }
        Ok(self.leaves_at(min_node)?.subset(trees))
    }
}

/// The matrix Z of the paper's kernel S = Z Zᵀ / T.
#[derive(Debug)]
pub struct LeafMatrix {
    n: usize,
    leaves: Vec<TreeLeaves>,
    /// Index in the forest of the first tree here; not 0 for a subset of the trees.
    first_tree: usize,
    /// First column of Z of each tree, and the number of columns at the end.
    first: Vec<usize>,
    leaf_ids: OnceLock<LeafIds>,
    pub(super) signatures: OnceLock<Vec<u64>>,
}

impl LeafMatrix {
    fn merged(forest: &Forest, min_node: usize) -> Self {
        let leaves = forest
            .trees
            .par_iter()
            .map(|tree| {
                let (starts, merged_into) = tree.merge_leaves(min_node);
                TreeLeaves {
                    starts: Arc::from(starts),
                    members: tree.members.clone(),
                    merged_into: Some(Arc::from(merged_into)),
                }
            })
            .collect();
        Self::from_trees(forest.n, leaves, 0)
    }

    fn from_trees(n: usize, leaves: Vec<TreeLeaves>, first_tree: usize) -> Self {
        let mut first = vec![0];
        for tree in &leaves {
            first.push(first[first.len() - 1] + tree.count());
        }
        LeafMatrix { n, leaves, first_tree, first, leaf_ids: OnceLock::new(), signatures: OnceLock::new() }
    }

    /// A subset of the trees.
    fn subset(&self, trees: Range<usize>) -> Self {
        let first_tree = self.first_tree + trees.start;
        Self::from_trees(self.n, self.leaves[trees].to_vec(), first_tree)
    }

    /// The leaf matrix of other rows, given by their leaf ids in the trees of this matrix. They take the place of the
    /// training rows.
    ///
    /// ```
    /// # use rpfcluster::{Forest, ForestParams, Points, Silent};
    /// let points = Points::new(&[0.0, 0.1, 8.0, 8.1], 4, 1)?;
    /// let forest = Forest::grow(&points, &ForestParams { trees: 50, min_node: 3, ..Default::default() })?;
    /// let ids = forest.route(&Points::new(&[0.05, 8.05], 2, 1)?)?;
    /// let among = forest.leaves().of_rows(ids.clone(), &Silent)?.dense_of(&ids);
    /// assert!(among[0] == 1.0 && among[3] == 1.0 && among[1] < 0.1 && among[1] == among[2]);
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn of_rows(&self, ids: LeafIds, observer: &dyn Observer) -> Result<Self> {
        let n = ids.n();
        if n > u32::MAX as usize {
            return Err(Error::TooManyRows { n, limit: u32::MAX as usize });
        }
        let leaves: Result<Vec<TreeLeaves>> = self
            .leaves
            .par_iter()
            .enumerate()
            .map(|(t, tree)| {
                check(observer)?;
                let (starts, members) = leaf_lists(ids.tree(t), tree.count());
                Ok(TreeLeaves { starts: Arc::from(starts), members: Arc::from(members), merged_into: None })
            })
            .collect();
        Ok(Self::from_trees(n, leaves?, self.first_tree))
    }

    /// The leaf matrix of rows of which row i is a copy of row `group_of[i]` of this matrix.
    pub(crate) fn expanded(&self, group_of: &[u32]) -> Self {
        let expand = |tree: &TreeLeaves| {
            let mut own = vec![0; self.n];
            tree.write_ids(&mut own);
            let ids: Vec<u32> = group_of.iter().map(|group| own[*group as usize]).collect();
            let (starts, members) = leaf_lists(&ids, tree.count());
            let merged_into = tree.merged_into.clone();
            TreeLeaves { starts: Arc::from(starts), members: Arc::from(members), merged_into }
        };
        Self::from_trees(group_of.len(), self.leaves.par_iter().map(expand).collect(), self.first_tree)
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of trees, T.
    pub fn trees(&self) -> usize {
        self.leaves.len()
    }

    /// Number of leaves of all trees.
    pub fn columns(&self) -> usize {
        self.first[self.leaves.len()]
    }

    /// The first column of Z that belongs to `tree`.
    pub fn first_column(&self, tree: usize) -> usize {
        self.first[tree]
    }

    /// The rows of a leaf.
    pub fn members(&self, tree: usize, leaf: u32) -> &[u32] {
        self.leaves[tree].leaf(leaf)
    }

    /// Mean size of the leaf of a row, averaged over rows and trees.
    pub fn mean_leaf(&self) -> f64 {
        let squares: f64 = self
            .leaves
            .iter()
            .map(|t| {
                t.starts.windows(2).map(|w| f64::from(w[1] - w[0]) * f64::from(w[1] - w[0])).sum::<f64>()
            })
            .sum();
        squares / (self.n as f64 * self.trees() as f64)
    }

    pub(crate) fn tree_leaves(&self) -> &[TreeLeaves] {
        &self.leaves
    }

    /// The leaf of every training row in every tree, computed on first use and kept (4 bytes per row and tree).
    pub fn leaf_ids(&self) -> &LeafIds {
        self.leaf_ids.get_or_init(|| {
            let mut ids = vec![0u32; self.n * self.trees()];
            ids.par_chunks_exact_mut(self.n).zip(&self.leaves).for_each(|(ids, tree)| tree.write_ids(ids));
            LeafIds::new(self.n, self.trees(), ids)
        })
    }

    /// As [`LeafMatrix::leaf_ids`], stopping at the next tree when `observer` cancels.
    pub fn prepare_leaf_ids(&self, observer: &dyn Observer) -> Result<&LeafIds> {
        check(observer)?;
        if let Some(ids) = self.leaf_ids.get() {
            return Ok(ids);
        }
        let mut ids = vec![0u32; self.n * self.trees()];
        ids.par_chunks_exact_mut(self.n).zip(&self.leaves).try_for_each(|(ids, tree)| {
            check(observer)?;
            tree.write_ids(ids);
            Ok(())
        })?;
        Ok(self.leaf_ids.get_or_init(|| LeafIds::new(self.n, self.trees(), ids)))
    }

    /// The leaf ids if they have been computed.
    pub(crate) fn computed_leaf_ids(&self) -> Option<&LeafIds> {
        self.leaf_ids.get()
    }

    /// Converts the leaf ids that [`Forest::route`] returns to the trees and the `min_node` of this matrix.
    ///
    /// # Panics
    /// When `routed` does not come from the forest of this matrix and has fewer trees.
    pub fn adapt(&self, routed: LeafIds) -> LeafIds {
        let (n, trees) = (routed.n(), self.trees());
        if trees == routed.trees() && self.leaves.iter().all(|t| t.merged_into.is_none()) {
            return routed;
        }
        let mut ids = routed.as_slice()[self.first_tree * n..(self.first_tree + trees) * n].to_vec();
        ids.par_chunks_exact_mut(n.max(1)).zip(&self.leaves).for_each(|(ids, tree)| {
            if let Some(merged_into) = &tree.merged_into {
                ids.iter_mut().for_each(|leaf| *leaf = merged_into[*leaf as usize]);
            }
        });
        LeafIds::new(n, trees, ids)
    }

    /// S_ij of two training rows.
    pub fn pair(&self, i: usize, j: usize) -> f64 {
        let ids = self.leaf_ids();
        ids.shared(i, ids, j) as f64 / self.trees() as f64
    }
}
