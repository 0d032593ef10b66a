//! Z: which points are in which leaf. Shares its lists with the forest it came from.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::forest::Forest;
use crate::forest::LeafIds;
use crate::observe::{Observer, Silent, check};
use crate::simd::prefetch;

/// The leaves of one tree at one `min_node`.
#[derive(Debug, Clone)]
pub(crate) struct TreeLeaves {
    /// Where each leaf begins in `members`; one more entry holds their number.
    pub starts: Arc<[u32]>,
    /// The points, leaf by leaf, ascending within a leaf of the tree as grown.
    pub members: Arc<[u32]>,
    /// For each leaf as grown, the leaf it is part of here; `None` when they are the same.
    becomes: Option<Arc<[u32]>>,
}

impl TreeLeaves {
    #[inline(always)]
    pub fn leaf(&self, leaf: u32) -> &[u32] {
        let leaf = leaf as usize;
        &self.members[self.starts[leaf] as usize..self.starts[leaf + 1] as usize]
    }

    /// Asks for what [`TreeLeaves::leaf`] reads first.
    #[inline(always)]
    pub fn fetch(&self, leaf: u32) {
        prefetch(&self.starts[leaf as usize]);
    }

    #[inline(always)]
    pub fn size(&self, leaf: u32) -> u32 {
        self.starts[leaf as usize + 1] - self.starts[leaf as usize]
    }

    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }
}

impl Forest {
    /// The leaves as grown.
    pub fn leaves(&self) -> LeafMatrix {
        LeafMatrix::as_grown(self)
    }

    /// The leaves as they would be had the forest been grown with this larger `min_node`; nothing is grown again.
    pub fn leaves_at(&self, min_node: usize) -> Result<LeafMatrix> {
        if min_node < self.params.min_node {
            let expected = format!("at least {}, the value the forest was grown with", self.params.min_node);
            return Err(crate::error::parameter("min_node", min_node, expected));
        }
        if min_node == self.params.min_node {
            Ok(self.leaves())
        } else {
            Ok(LeafMatrix::coarser(self, min_node))
        }
    }

    /// The leaves of the trees `from..to` only, at the given `min_node`: a smaller forest for nothing.
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
    /// The forest's number of the first tree here; not 0 for a part of a forest.
    first_tree: usize,
    /// The first column of Z that belongs to each tree; the last entry is the number of columns.
    first: Vec<usize>,
    codes: OnceLock<LeafIds>,
}

impl LeafMatrix {
    pub(crate) fn as_grown(forest: &Forest) -> Self {
        let leaves = forest
            .trees
            .iter()
            .map(|t| TreeLeaves { starts: t.starts.clone(), members: t.members.clone(), becomes: None })
            .collect();
        Self::from_trees(forest.n, leaves, 0)
    }

    pub(crate) fn coarser(forest: &Forest, min_node: usize) -> Self {
        let leaves = forest
            .trees
            .par_iter()
            .map(|tree| {
                let (starts, becomes) = tree.coarser(min_node);
                TreeLeaves {
                    starts: Arc::from(starts),
                    members: tree.members.clone(),
                    becomes: Some(Arc::from(becomes)),
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
        LeafMatrix { n, leaves, first_tree, first, codes: OnceLock::new() }
    }

    /// Only these trees.
    pub(crate) fn subset(&self, trees: Range<usize>) -> Self {
        let first_tree = self.first_tree + trees.start;
        Self::from_trees(self.n, self.leaves[trees].to_vec(), first_tree)
    }

    /// Z of other rows, given by their leaf numbers in the trees of this matrix: what rows are compared with when it is
    /// not the training rows.
    ///
    /// ```
    /// # use rpfcluster::{Forest, ForestParams, Points, Silent};
    /// let points = Points::new(&[0.0, 0.1, 8.0, 8.1], 4, 1)?;
    /// let forest = Forest::grow(&points, &ForestParams { trees: 50, min_node: 3, ..Default::default() })?;
    /// let codes = forest.route(&Points::new(&[0.05, 8.05], 2, 1)?)?;
    /// let among = forest.leaves().of_rows(codes.clone(), &Silent)?.dense_of(&codes);
    /// assert!(among[0] == 1.0 && among[3] == 1.0 && among[1] < 0.1 && among[1] == among[2]);
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn of_rows(&self, codes: LeafIds, observer: &dyn Observer) -> Result<Self> {
        let n = codes.n();
        if n > u32::MAX as usize {
            return Err(Error::TooManyRows { n, limit: u32::MAX as usize });
        }
        let leaves: Result<Vec<TreeLeaves>> = self
            .leaves
            .par_iter()
            .enumerate()
            .map(|(t, tree)| {
                check(observer)?;
                let (starts, members) = listed(codes.tree(t), tree.count());
                Ok(TreeLeaves { starts: Arc::from(starts), members: Arc::from(members), becomes: None })
            })
            .collect();
        Ok(Self::from_trees(n, leaves?, self.first_tree))
    }

    /// Number of points.
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

    /// The points of a leaf.
    pub fn members(&self, tree: usize, leaf: u32) -> &[u32] {
        self.leaves[tree].leaf(leaf)
    }

    /// Mean number of points that share a leaf with a point, itself included, averaged over points and trees.
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

    /// The leaf of every training row in every tree; made on first use and kept (4 bytes a row and tree).
    pub fn leaf_ids(&self) -> &LeafIds {
        self.codes.get_or_init(|| self.laid_out(&Silent))
    }

    /// As [`LeafMatrix::leaf_ids`], asking `observer` at each tree whether to go on.
    pub fn prepare_leaf_ids(&self, observer: &dyn Observer) -> Result<&LeafIds> {
        check(observer)?;
        if let Some(codes) = self.codes.get() {
            return Ok(codes);
        }
        let made = self.laid_out(observer);
        check(observer)?;
        Ok(self.codes.get_or_init(|| made))
    }

    fn laid_out(&self, observer: &dyn Observer) -> LeafIds {
        let mut codes = vec![0u32; self.n * self.trees()];
        codes.par_chunks_exact_mut(self.n).zip(&self.leaves).for_each(|(codes, tree)| {
            if observer.cancelled() {
                return;
            }
            for leaf in 0..tree.count() as u32 {
                for &i in tree.leaf(leaf) {
                    codes[i as usize] = leaf;
                }
            }
        });
        LeafIds::new(self.n, self.trees(), codes)
    }

    /// Whether [`LeafMatrix::leaf_ids`] has been made.
    pub(crate) fn has_leaf_ids(&self) -> bool {
        self.codes.get().is_some()
    }

    /// Leaf numbers as the forest gives them for routed rows, turned into leaf numbers of the trees and the
    /// `min_node` of this matrix.
    ///
    /// # Panics
    /// When `routed` does not come from the forest of this matrix: it has fewer trees.
    pub fn adapt(&self, routed: LeafIds) -> LeafIds {
        let (n, trees) = (routed.n(), self.trees());
        if trees == routed.trees() && self.leaves.iter().all(|t| t.becomes.is_none()) {
            return routed;
        }
        let mut codes = routed.as_slice()[self.first_tree * n..(self.first_tree + trees) * n].to_vec();
        codes.par_chunks_exact_mut(n.max(1)).zip(&self.leaves).for_each(|(codes, tree)| {
            if let Some(becomes) = &tree.becomes {
                codes.iter_mut().for_each(|code| *code = becomes[*code as usize]);
            }
        });
        LeafIds::new(n, trees, codes)
    }

    /// S_ij for two training rows.
    pub fn pair(&self, i: usize, j: usize) -> f64 {
        let codes = self.leaf_ids();
        codes.shared(i, codes, j) as f64 / self.trees() as f64
    }
}

/// The rows of each of `count` leaves, ascending, and where each leaf begins.
fn listed(codes: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; count + 1];
    for &leaf in codes {
        starts[leaf as usize + 1] += 1;
    }
    for leaf in 0..count {
        starts[leaf + 1] += starts[leaf];
    }
    let mut next = starts.clone();
    let mut members = vec![0u32; codes.len()];
    for (row, &leaf) in (0..).zip(codes) {
        members[next[leaf as usize] as usize] = row;
        next[leaf as usize] += 1;
    }
    (starts, members)
}
