//! S times a block of vectors without S: y = Z (Zᵀ x) / T, O(n T) time, for any n.
//!
//! A group of trees at a time: first the sums of x over the leaves of each tree (one task a tree, rows in order),
//! then every row adds up the sums of its leaves (one task a chunk of rows, trees in order). Each sum runs in one
//! order whatever the number of threads. A leaf number is read once for all vectors of the block.

use std::ops::Range;

use rayon::prelude::*;

use super::leaf_matrix::LeafMatrix;
use crate::forest::LeafIds;
use crate::observe::{Observer, Silent};
use crate::simd::in_wide_registers;

/// Trees whose leaf sums are held at a time.
const GROUP: usize = 8;
/// Rows of one task.
const ROWS: usize = 4096;
/// Rows of x that are summed for one tree after the other.
const CHUNK: usize = 1024;
/// Bytes of leaf sums of one task.
const SUMS: usize = 1 << 20;

/// Calls `$body` with the constant `B` set to `$b` for the widths that occur, so that inner loops unroll.
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
    /// Row sums of S.
    pub fn degrees(&self) -> Vec<f64> {
        self.degrees_until(&Silent)
    }

    /// As [`LeafMatrix::degrees`]; once `observer` wants to stop the rest is left out, and what is returned means nothing.
    pub(crate) fn degrees_until(&self, observer: &dyn Observer) -> Vec<f64> {
        let codes = self.leaf_ids();
        let trees = self.trees() as f64;
        let mut degrees = vec![0.0; self.n()];
        degrees.par_chunks_mut(ROWS).enumerate().for_each(|(chunk, out)| {
            if observer.cancelled() {
                return;
            }
            let from = chunk * ROWS;
            for (t, tree) in self.tree_leaves().iter().enumerate() {
                for (out, &leaf) in out.iter_mut().zip(&codes.tree(t)[from..]) {
                    *out += f64::from(tree.size(leaf));
                }
            }
            out.iter_mut().for_each(|d| *d /= trees);
        });
        degrees
    }

    /// `y = S x` for `b` vectors at once; `x` and `y` are n x b, row after row. With b = 0 there is nothing to do.
    pub fn apply(&self, x: &[f64], y: &mut [f64], b: usize) {
        self.apply_to(self.leaf_ids(), x, y, b);
    }

    /// As [`LeafMatrix::apply`] for rows given by their leaf numbers: `y` is m x b.
    pub fn apply_to(&self, codes: &LeafIds, x: &[f64], y: &mut [f64], b: usize) {
        self.apply_until(codes, x, y, b, &Silent);
    }

    /// As [`LeafMatrix::apply_to`]; once `observer` wants to stop the rest is left out, and `y` means nothing.
    pub(crate) fn apply_until(
        &self,
        codes: &LeafIds,
        x: &[f64],
        y: &mut [f64],
        b: usize,
        observer: &dyn Observer,
    ) {
        if b == 0 {
            return;
        }
        y.fill(0.0);
        // Blocks wider than the unrolled loops go in slices of 16 columns.
        for from in (0..b).step_by(16) {
            let width = (b - from).min(16);
            for group in (0..self.trees()).step_by(GROUP) {
                if observer.cancelled() {
                    return;
                }
                let trees = group..(group + GROUP).min(self.trees());
                let sums = self.sums_of(trees.clone(), x, b, from..from + width);
                y.par_chunks_mut(ROWS * b).enumerate().for_each(|(chunk, y)| {
                    for (t, sums) in trees.clone().zip(&sums) {
                        gather(&codes.tree(t)[chunk * ROWS..], sums, y, b, from, width);
                    }
                });
            }
        }
        let trees = self.trees() as f64;
        y.par_chunks_mut(ROWS * b).for_each(|y| y.iter_mut().for_each(|v| *v /= trees));
    }

    /// The sums of x over the leaves of each of these trees. A task has as many trees as their sums fit the cache, so
    /// that a piece of x, once read, serves them all.
    fn sums_of(&self, trees: Range<usize>, x: &[f64], b: usize, columns: Range<usize>) -> Vec<Vec<f64>> {
        let (from, width) = (columns.start, columns.len());
        let largest = trees.clone().map(|t| self.tree_leaves()[t].count()).max().unwrap_or(1);
        let fit = SUMS / (largest * width * size_of::<f64>()).max(1);
        let each = fit.clamp(1, trees.len().div_ceil(rayon::current_num_threads()));
        let tasks: Vec<usize> = trees.clone().step_by(each).collect();
        let sums: Vec<Vec<Vec<f64>>> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|first| {
                let own = first..(first + each).min(trees.end);
                let zeros = |t: usize| vec![0.0; self.tree_leaves()[t].count() * width];
                let mut sums: Vec<Vec<f64>> = own.clone().map(zeros).collect();
                for (chunk, x) in x.chunks(CHUNK * b).enumerate() {
                    for (t, sums) in own.clone().zip(&mut sums) {
                        leaf_sums(&self.leaf_ids().tree(t)[chunk * CHUNK..], x, b, from, sums, width);
                    }
                }
                sums
            })
            .collect();
        sums.into_iter().flatten().collect()
    }
}

in_wide_registers! {
    fn leaf_sums(codes: &[u32], x: &[f64], b: usize, from: usize, sums: &mut [f64], width: usize) {
        with_width!(width, add_to_leaves, codes, x, b, from, sums);
    }
}

in_wide_registers! {
    fn gather(codes: &[u32], sums: &[f64], y: &mut [f64], b: usize, from: usize, width: usize) {
        with_width!(width, add_from_leaves, codes, sums, y, b, from);
    }
}

#[inline(always)]
fn add_to_leaves<const B: usize>(codes: &[u32], x: &[f64], b: usize, from: usize, sums: &mut [f64]) {
    let (sums, _) = sums.as_chunks_mut::<B>();
    for (&leaf, x) in codes.iter().zip(x.chunks_exact(b)) {
        let sum = &mut sums[leaf as usize];
        let x = &x[from..from + B];
        for c in 0..B {
            sum[c] += x[c];
        }
    }
}

#[inline(always)]
fn add_from_leaves<const B: usize>(codes: &[u32], sums: &[f64], y: &mut [f64], b: usize, from: usize) {
    let (sums, _) = sums.as_chunks::<B>();
    for (&leaf, y) in codes.iter().zip(y.chunks_exact_mut(b)) {
        let sum = &sums[leaf as usize];
        let y = &mut y[from..from + B];
        for c in 0..B {
            y[c] += sum[c];
        }
    }
}
