//! Factored products with the kernel: y = Z (Zᵀ x) / T for a block of vectors, without forming S.
//!
//! Trees are processed in groups. First x is summed over the leaves of each tree (a task has some trees, rows in
//! order); then every row adds the sums of its leaves (a task has some rows, trees in order). Every sum has a fixed
//! order, so the result does not depend on the number of threads. O(n T b) time for b vectors; each pass reads one leaf
//! id per row, tree and 16 vectors. Memory: the leaf sums of one group of trees.

use std::ops::Range;

use rayon::prelude::*;

use super::leaf_matrix::LeafMatrix;
use crate::error::Result;
use crate::forest::LeafIds;
use crate::observe::{Observer, check};
use crate::simd::dispatch;

/// Trees per group. y is read and written once per group; the leaf sums of 8 trees stay in the cache.
const GROUP_TREES: usize = 8;
/// Rows per task of the second pass: enough work to pay for a task, few enough to balance threads.
const TASK_ROWS: usize = 4096;
/// Rows of x that are read for one tree after the other while they are in the cache.
const CHUNK_ROWS: usize = 1024;
/// Bytes of leaf sums per task of the first pass: the second-level cache of a core.
const TASK_SUM_BYTES: usize = 1 << 20;

/// Calls `$f::<B>` with B = `$b`, at most 16, so that the loops over the vectors of a block unroll.
macro_rules! with_width {
    ($b:expr, $f:ident, $($arg:expr),*) => {
        match $b {
            1 => $f::<1>($($arg),*), 2 => $f::<2>($($arg),*), 3 => $f::<3>($($arg),*), 4 => $f::<4>($($arg),*),
            5 => $f::<5>($($arg),*), 6 => $f::<6>($($arg),*), 7 => $f::<7>($($arg),*), 8 => $f::<8>($($arg),*),
            9 => $f::<9>($($arg),*), 10 => $f::<10>($($arg),*), 11 => $f::<11>($($arg),*), 12 => $f::<12>($($arg),*),
            13 => $f::<13>($($arg),*), 14 => $f::<14>($($arg),*), 15 => $f::<15>($($arg),*), _ => $f::<16>($($arg),*),
        }
    };
}

impl LeafMatrix {
    /// The row sums of S.
    pub fn degrees(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        let ids = self.prepare_leaf_ids(observer)?;
        let trees = self.trees() as f64;
        let mut degrees = vec![0.0; self.n()];
        degrees.par_chunks_mut(TASK_ROWS).enumerate().try_for_each(|(chunk, out)| {
            check(observer)?;
            let from = chunk * TASK_ROWS;
            for (t, tree) in self.tree_leaves().iter().enumerate() {
                for (out, &leaf) in out.iter_mut().zip(&ids.tree(t)[from..]) {
                    *out += f64::from(tree.size(leaf));
                }
            }
            out.iter_mut().for_each(|d| *d /= trees);
            Ok(())
        })?;
        Ok(degrees)
    }

    /// `y = S x` for `b` vectors; `x` and `y` are n × b, row-major.
    pub fn apply(&self, x: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) -> Result<()> {
        self.apply_to(self.prepare_leaf_ids(observer)?, x, y, b, observer)
    }

    /// As [`LeafMatrix::apply`] for rows given by their leaf ids: `y` is m × b.
    pub fn apply_to(
        &self,
        ids: &LeafIds,
        x: &[f64],
        y: &mut [f64],
        b: usize,
        observer: &dyn Observer,
    ) -> Result<()> {
        let own_ids = self.prepare_leaf_ids(observer)?;
        if b == 0 {
            return Ok(());
        }
        y.fill(0.0);
        // The unrolled loops take at most 16 vectors.
        for from in (0..b).step_by(16) {
            let width = (b - from).min(16);
            for group in (0..self.trees()).step_by(GROUP_TREES) {
                check(observer)?;
                let trees = group..(group + GROUP_TREES).min(self.trees());
                let sums = self.leaf_sums(own_ids, trees.clone(), x, b, from..from + width);
                y.par_chunks_mut(TASK_ROWS * b).enumerate().for_each(|(chunk, y)| {
                    for (t, sums) in trees.clone().zip(&sums) {
                        gather(&ids.tree(t)[chunk * TASK_ROWS..], sums, y, b, from, width);
                    }
                });
            }
        }
        let trees = self.trees() as f64;
        y.par_chunks_mut(TASK_ROWS * b).for_each(|y| y.iter_mut().for_each(|v| *v /= trees));
        Ok(())
    }

    /// The sums of some columns of x over the leaves of each of these trees. A task has as many trees as fit their sums
    /// into the cache; x is read once for all of them.
    fn leaf_sums(
        &self,
        ids: &LeafIds,
        trees: Range<usize>,
        x: &[f64],
        b: usize,
        columns: Range<usize>,
    ) -> Vec<Vec<f64>> {
        let (from, width) = (columns.start, columns.len());
        let largest = trees.clone().map(|t| self.tree_leaves()[t].count()).max().unwrap_or(1);
        let fit = TASK_SUM_BYTES / (largest * width * size_of::<f64>()).max(1);
        let each = fit.clamp(1, trees.len().div_ceil(rayon::current_num_threads()));
        let tasks: Vec<usize> = trees.clone().step_by(each).collect();
        let sums: Vec<Vec<Vec<f64>>> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|first| {
                let own = first..(first + each).min(trees.end);
                let zeros = |t: usize| vec![0.0; self.tree_leaves()[t].count() * width];
                let mut sums: Vec<Vec<f64>> = own.clone().map(zeros).collect();
                for (chunk, x) in x.chunks(CHUNK_ROWS * b).enumerate() {
                    for (t, sums) in own.clone().zip(&mut sums) {
                        scatter(&ids.tree(t)[chunk * CHUNK_ROWS..], x, b, from, sums, width);
                    }
                }
                sums
            })
            .collect();
        sums.into_iter().flatten().collect()
    }
}

dispatch! {
    /// Adds the rows of x to the sums of their leaves.
    fn scatter(ids: &[u32], x: &[f64], b: usize, from: usize, sums: &mut [f64], width: usize) {
        with_width!(width, add_to_leaves, ids, x, b, from, sums);
    }
}

dispatch! {
    /// Adds the sums of their leaves to the rows of y.
    fn gather(ids: &[u32], sums: &[f64], y: &mut [f64], b: usize, from: usize, width: usize) {
        with_width!(width, add_from_leaves, ids, sums, y, b, from);
    }
}

#[inline(always)]
fn add_to_leaves<const B: usize>(ids: &[u32], x: &[f64], b: usize, from: usize, sums: &mut [f64]) {
    let (sums, _) = sums.as_chunks_mut::<B>();
    for (&leaf, x) in ids.iter().zip(x.chunks_exact(b)) {
        let sum = &mut sums[leaf as usize];
        let x = &x[from..from + B];
        for c in 0..B {
            sum[c] += x[c];
        }
    }
}

#[inline(always)]
fn add_from_leaves<const B: usize>(ids: &[u32], sums: &[f64], y: &mut [f64], b: usize, from: usize) {
    let (sums, _) = sums.as_chunks::<B>();
    for (&leaf, y) in ids.iter().zip(y.chunks_exact_mut(b)) {
        let sum = &sums[leaf as usize];
        let y = &mut y[from..from + B];
        for c in 0..B {
            y[c] += sum[c];
        }
    }
}
