//! `linear`: the rpf-kernel S = Z Zᵀ / T itself, factored. A product with a vector costs O(n T); only the leaf ids are
//! stored.
//!
//! Its connected components are found by union-find over the leaves, tree by tree until all points are connected.

use std::sync::Arc;

use super::{Affinity, SimilarityOperator, Submatrix};
use crate::error::Result;
use crate::graph::{Components, find_root};
use crate::kernel::LeafMatrix;
use crate::observe::{Observer, check};

/// S = Z Zᵀ / T as an affinity.
#[derive(Debug, Clone)]
pub struct LinearAffinity {
    leaves: Arc<LeafMatrix>,
}

impl LinearAffinity {
    /// The kernel of these leaves.
    pub fn new(leaves: Arc<LeafMatrix>) -> Self {
        LinearAffinity { leaves }
    }

    /// The leaves of the kernel.
    pub(crate) fn leaves(&self) -> &LeafMatrix {
        &self.leaves
    }
}

impl SimilarityOperator for LinearAffinity {
    fn n(&self) -> usize {
        self.leaves.n()
    }

    fn degrees(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        self.leaves.degrees(observer)
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) -> Result<()> {
        self.leaves.apply(x, y, b, observer)
    }

    fn column(&self, j: usize, out: &mut [f64], observer: &dyn Observer) -> Result<()> {
        self.leaves.prepare_leaf_ids(observer)?;
        out.copy_from_slice(&self.leaves.row(j));
        Ok(())
    }

    fn components(&self, observer: &dyn Observer) -> Result<Option<Components>> {
        let found = self.leaves.components(observer)?;
        Ok((found.count() > 1).then_some(found))
    }

    /// 0: S is positive semi-definite.
    fn lower_bound(&self, _observer: &dyn Observer) -> Result<f64> {
        Ok(0.0)
    }

    fn submatrix(&self, rows: &[u32], _observer: &dyn Observer) -> Result<Affinity<'_>> {
        Ok(Affinity::operator(Submatrix::new(self, rows)))
    }
}

impl LeafMatrix {
    /// The connected components of the kernel, by union-find: points are connected when a tree puts them into one leaf.
    pub(crate) fn components(&self, observer: &dyn Observer) -> Result<Components> {
        let mut parent: Vec<u32> = (0..self.n() as u32).collect();
        let mut count = self.n();
        // Usually all points are connected after a few trees.
        'trees: for tree in self.tree_leaves() {
            check(observer)?;
            for leaf in 0..tree.count() as u32 {
                let (first, rest) = match tree.leaf(leaf) {
                    [first, rest @ ..] => (*first, rest),
                    [] => continue,
                };
                let mut root = find_root(&mut parent, first);
                for &other in rest {
                    let other = find_root(&mut parent, other);
                    if other != root {
                        // The lower number is the root: the result does not depend on the order of unions.
                        let (low, high) = (root.min(other), root.max(other));
                        parent[high as usize] = low;
                        root = low;
                        count -= 1;
                    }
                }
                if count == 1 {
                    break 'trees;
                }
            }
        }
        let roots = (0..self.n() as u32).map(|i| find_root(&mut parent, i) as usize);
        Ok(Components::numbered(roots, self.n()))
    }
}
