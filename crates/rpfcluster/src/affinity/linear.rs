//! `linear`: the rpf-kernel S itself, factored. O(n T) for any n, nothing stored but leaf numbers.

use std::sync::Arc;

use super::cancellable::WatchedLinear;
use super::{Affinity, Masked};
use crate::graph::Components;
use crate::kernel::LeafMatrix;
use crate::observe::{Observer, Silent};

/// S = Z Zᵀ / T as an affinity.
#[derive(Debug, Clone)]
pub struct LinearAffinity {
    pub(super) leaves: Arc<LeafMatrix>,
}

impl LinearAffinity {
    /// The kernel of these leaves.
    pub fn new(leaves: Arc<LeafMatrix>) -> Self {
        LinearAffinity { leaves }
    }

    /// These leaves.
    pub(crate) fn leaves(&self) -> &LeafMatrix {
        &self.leaves
    }
}

impl Affinity for LinearAffinity {
    fn n(&self) -> usize {
        self.leaves.n()
    }

    fn degrees(&self) -> Vec<f64> {
        self.leaves.degrees(&Silent).unwrap_or_default()
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize) {
        let _ = self.leaves.apply(x, y, b, &Silent);
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.leaves.row(j));
    }

    fn components(&self) -> Option<Components> {
        let found = self.leaves.components();
        (found.count() > 1).then_some(found)
    }

    fn lower_bound(&self) -> f64 {
        // S is positive semi-definite.
        0.0
    }

    fn restrict<'a>(&'a self, rows: &[u32]) -> Box<dyn Affinity + 'a> {
        Box::new(Masked::new(self, rows))
    }

    fn kernel(&self) -> Option<&LeafMatrix> {
        Some(&self.leaves)
    }

    fn watched<'a>(&'a self, observer: &'a dyn Observer) -> Option<Box<dyn Affinity + 'a>> {
        Some(Box::new(WatchedLinear { kernel: self, observer }))
    }
}

impl LeafMatrix {
    /// The pieces into which the kernel falls: points are connected when some tree puts them into one leaf.
    pub fn components(&self) -> Components {
        let mut parent: Vec<u32> = (0..self.n() as u32).collect();
        let mut left = self.n();
        // Nearly always everything is connected after a few trees.
        'trees: for tree in self.tree_leaves() {
            for leaf in 0..tree.count() as u32 {
                let (first, rest) = match tree.leaf(leaf) {
                    [first, rest @ ..] => (*first, rest),
                    [] => continue,
                };
                let mut root = find(&mut parent, first);
                for &other in rest {
                    let other = find(&mut parent, other);
                    if other != root {
                        // The lower number is the root: the result does not depend on the order of joins.
                        let (low, high) = (root.min(other), root.max(other));
                        parent[high as usize] = low;
                        root = low;
                        left -= 1;
                    }
                }
                if left == 1 {
                    break 'trees;
                }
            }
        }
        let mut number = vec![u32::MAX; self.n()];
        let mut sizes = Vec::new();
        let of = (0..self.n() as u32)
            .map(|i| {
                let root = find(&mut parent, i) as usize;
                if number[root] == u32::MAX {
                    number[root] = sizes.len() as u32;
                    sizes.push(0);
                }
                sizes[number[root] as usize] += 1;
                number[root]
            })
            .collect();
        Components { of, sizes }
    }
}

fn find(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        // Halve the path on the way.
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}
