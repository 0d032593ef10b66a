//! Confidence of each row: of the rows it shares a leaf with, over all trees, the fraction that is in its cluster.
//!
//! 1 deep inside a cluster, about 1/2 on the border of two, 0 for a row that never shares a leaf. It is the sum of
//! S_ij over the other rows of the cluster divided by the sum over all other rows: the Nadaraya-Watson estimate (1964)
//! of the row's own label from the other rows. O(n T) time, and one table of leaves × K counts per tree. For a new row the
//! sums run over all training rows.

use rayon::prelude::*;

use crate::error::Result;
use crate::forest::LeafIds;
use crate::kernel::LeafMatrix;
use crate::observe::{Observer, check};

/// Rows per parallel task.
const CHUNK: usize = 4096;

/// One number from 0 to 1 for each training row; 0 for a row that never shares a leaf.
pub(crate) fn confidence(
    leaves: &LeafMatrix,
    labels: &[u32],
    k: usize,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let ids = leaves.prepare_leaf_ids(observer)?;
    let mut own = vec![0u64; leaves.n()];
    let mut others = vec![0u64; leaves.n()];
    for (t, tree) in leaves.tree_leaves().iter().enumerate() {
        check(observer)?;
        let counts = rows_by_leaf(ids.tree(t), tree.count(), labels, k);
        let rows = own.par_chunks_mut(CHUNK).zip(others.par_chunks_mut(CHUNK)).enumerate();
        rows.for_each(|(chunk, (own, others))| {
            let from = chunk * CHUNK;
            for (i, (own, others)) in own.iter_mut().zip(others).enumerate() {
                let leaf = ids.tree(t)[from + i];
                *own += u64::from(counts[leaf as usize * k + labels[from + i] as usize]) - 1;
                *others += u64::from(tree.size(leaf)) - 1;
            }
        });
    }
    let share = |(&own, &others): (&u64, &u64)| if others == 0 { 0.0 } else { own as f64 / others as f64 };
    Ok(own.iter().zip(&others).map(share).collect())
}

/// One number from 0 to 1 for each new row, given by its leaves and its label; `labels` are those of the training rows.
pub(crate) fn confidence_of(
    leaves: &LeafMatrix,
    labels: &[u32],
    k: usize,
    new: &LeafIds,
    new_labels: &[u32],
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let ids = leaves.prepare_leaf_ids(observer)?;
    let mut sums = vec![(0u64, 0u64); new.n()];
    for (t, tree) in leaves.tree_leaves().iter().enumerate() {
        check(observer)?;
        let counts = rows_by_leaf(ids.tree(t), tree.count(), labels, k);
        for ((own, all), (&leaf, &label)) in sums.iter_mut().zip(new.tree(t).iter().zip(new_labels)) {
            *own += u64::from(counts[leaf as usize * k + label as usize]);
            *all += u64::from(tree.size(leaf));
        }
    }
    Ok(sums.iter().map(|&(own, all)| if all == 0 { 0.0 } else { own as f64 / all as f64 }).collect())
}

/// How many rows of each cluster a leaf has, leaf after leaf.
fn rows_by_leaf(ids: &[u32], leaves: usize, labels: &[u32], k: usize) -> Vec<u32> {
    let mut counts = vec![0u32; leaves * k];
    for (&leaf, &label) in ids.iter().zip(labels) {
        counts[leaf as usize * k + label as usize] += 1;
    }
    counts
}
