//! Leaf signatures: a 64-bit hash of a row's leaves in all trees.
//!
//! Rows with the same leaf in every tree have the same signature. The probability that any two other rows collide is
//! about n² / 2^65. The value is the SplitMix64 mixer folded over the trees in order. O(n T) time, 8 bytes per row.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::LeafMatrix;
use crate::error::Result;
use crate::forest::LeafIds;
use crate::observe::{Observer, check};
use crate::random::mix;

/// The signature before the first tree. The value is arbitrary: the first fractional bits of π.
const SEED: u64 = 0x243f_6a88_85a3_08d3;

/// Rows per task. Their signatures, 32 KB, stay in the first-level cache from tree to tree.
const TASK_ROWS: usize = 4096;

/// Smallest number of leaves per task; fewer would not pay for starting it.
const TASK_LEAVES: usize = 256;

impl LeafIds {
    /// The signature of every row.
    pub(crate) fn signatures(&self, observer: &dyn Observer) -> Result<Vec<u64>> {
        let mut signatures = vec![SEED; self.n()];
        signatures.par_chunks_mut(TASK_ROWS).enumerate().try_for_each(|(task, signatures)| {
            check(observer)?;
            for t in 0..self.trees() {
                for (signature, &leaf) in signatures.iter_mut().zip(&self.tree(t)[task * TASK_ROWS..]) {
                    *signature = mix(*signature ^ u64::from(leaf));
                }
            }
            Ok(())
        })?;
        Ok(signatures)
    }
}

impl LeafMatrix {
    /// The signature of every training row, computed on first use and kept.
    pub(crate) fn signatures(&self, observer: &dyn Observer) -> Result<&[u64]> {
        check(observer)?;
        if let Some(signatures) = self.signatures.get() {
            return Ok(signatures);
        }
        let signatures = match self.computed_leaf_ids() {
            Some(ids) => ids.signatures(observer)?,
            None => self.signatures_from_lists(observer)?,
        };
        Ok(self.signatures.get_or_init(|| signatures))
    }

    /// Reads the leaf lists, so that the n × T leaf ids need not be computed.
    fn signatures_from_lists(&self, observer: &dyn Observer) -> Result<Vec<u64>> {
        let signatures: Vec<AtomicU64> = (0..self.n()).map(|_| AtomicU64::new(SEED)).collect();
        for tree in self.tree_leaves() {
            check(observer)?;
            // A row is in one leaf of a tree, so no two tasks write the same signature.
            (0..tree.count() as u32).into_par_iter().with_min_len(TASK_LEAVES).for_each(|leaf| {
                for &row in tree.leaf(leaf) {
                    let signature = &signatures[row as usize];
                    signature.store(mix(signature.load(Relaxed) ^ u64::from(leaf)), Relaxed);
                }
            });
        }
        Ok(signatures.into_iter().map(AtomicU64::into_inner).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::forest::{Forest, ForestParams};
    use crate::observe::Silent;
    use crate::points::Points;

    fn leaves() -> LeafMatrix {
        let values: Vec<f64> = (0..600).map(|i| f64::from(i % 150 * 37 % 101)).collect();
        let params = ForestParams { trees: 7, min_node: 5, ..Default::default() };
        Forest::grow(&Points::new(&values, 300, 2).unwrap(), &params).unwrap().leaves()
    }

    #[test]
    fn leaf_lists_and_leaf_ids_give_the_same_signatures() {
        let (from_lists, from_ids) = (leaves(), leaves());
        let expected = from_ids.leaf_ids().signatures(&Silent).unwrap();
        assert_eq!(from_lists.signatures(&Silent).unwrap(), expected);
        assert_eq!(from_ids.signatures(&Silent).unwrap(), expected);
        // Values repeat after 150: 75 distinct rows.
        assert!((75..300).all(|row| expected[row] == expected[row - 75]));
        let ids = from_ids.leaf_ids();
        let first = (0..ids.trees()).fold(SEED, |hash, t| mix(hash ^ u64::from(ids.get(0, t))));
        assert_eq!(expected[0], first);
    }

    #[test]
    fn cancelled_signatures_are_an_error_and_are_not_kept() {
        struct Stop;
        impl Observer for Stop {
            fn cancelled(&self) -> bool {
                true
            }
        }
        let leaves = leaves();
        assert_eq!(leaves.signatures(&Stop).unwrap_err(), Error::Cancelled);
        assert_eq!(leaves.leaf_ids().signatures(&Stop).unwrap_err(), Error::Cancelled);
        assert_eq!(leaves.signatures(&Silent).unwrap().len(), 300);
    }
}
