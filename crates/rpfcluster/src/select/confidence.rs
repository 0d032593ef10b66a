//! How firmly the forest puts each point into its cluster: the share of its leaf mates, over all trees, that are in
//! the same cluster. 1 deep inside a cluster, about 1/2 on the border of two, low for a point among strangers.

use rayon::prelude::*;

use crate::error::Result;
use crate::kernel::LeafMatrix;
use crate::observe::{Observer, check};

const ROWS: usize = 4096;

/// One number for each training row, from 0 to 1. A point that never shares a leaf has 0.
pub(crate) fn confidence(
    leaves: &LeafMatrix,
    labels: &[u32],
    k: usize,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let codes = leaves.prepare_leaf_ids(observer)?;
    let mut own = vec![0u64; leaves.n()];
    let mut mates = vec![0u64; leaves.n()];
    for (t, tree) in leaves.tree_leaves().iter().enumerate() {
        check(observer)?;
        let mut counts = vec![0u32; tree.count() * k];
        for (&leaf, &label) in codes.tree(t).iter().zip(labels) {
            counts[leaf as usize * k + label as usize] += 1;
        }
        let rows = own.par_chunks_mut(ROWS).zip(mates.par_chunks_mut(ROWS)).enumerate();
        rows.for_each(|(chunk, (own, mates))| {
            let from = chunk * ROWS;
            for (i, (own, mates)) in own.iter_mut().zip(mates).enumerate() {
                let leaf = codes.tree(t)[from + i];
                *own += u64::from(counts[leaf as usize * k + labels[from + i] as usize]) - 1;
                *mates += u64::from(tree.size(leaf)) - 1;
            }
        });
    }
    let share = |(&own, &mates): (&u64, &u64)| if mates == 0 { 0.0 } else { own as f64 / mates as f64 };
    Ok(own.iter().zip(&mates).map(share).collect())
}
