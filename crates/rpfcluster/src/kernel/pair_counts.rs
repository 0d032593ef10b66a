//! Co-leaf pair counts: for each row, the number of trees in which it shares a leaf with every other row.
//!
//! A sparse accumulator per thread (Gustavson 1978): one counter per training row and a list of those not zero. Rows
//! are visited in the order of the first tree's leaves, so that consecutive rows share leaf lists and counters in the
//! cache. List starts are prefetched two rows ahead, lists one row ahead. Time is the sum of the leaf sizes over rows
//! and trees; memory grows with what the caller keeps of a row, not with the pairs seen.

use std::ops::Range;

use rayon::prelude::*;

use super::leaf_matrix::LeafMatrix;
use crate::error::Result;
use crate::forest::LeafIds;
use crate::observe::{Observer, Stage, StageGuard};
use crate::simd::prefetch;

/// Rows per task: long enough to reuse the counters of its first rows, short enough to balance threads.
const CHUNK: usize = 1024;
/// Rows between two checks for cancellation; a row with thousands of trees and large leaves takes milliseconds.
const CHECK_ROWS: usize = 16;

/// Row indices per 64-byte cache line.
const LINE: usize = 16;
/// Cache lines of a leaf list that are prefetched; the hardware prefetcher continues from there.
const PREFETCH_LINES: usize = 4;

/// Windows in which leaf ids are computed where the matrix does not hold them: a quarter of the n × T ids at a time.
const WINDOWS: usize = 4;
/// Smallest number of rows per window; smaller tables are one window.
const MIN_WINDOW: usize = 1 << 16;

/// The sparse accumulator of one thread.
struct Counter {
    counts: Vec<u16>,
    touched: Vec<u32>,
}

/// The counts of one row.
pub(crate) struct Counted<'a> {
    /// The training rows that share at least one leaf with the row, itself included, in no particular order.
    pub touched: &'a [u32],
    /// The number of shared leaves of every training row.
    pub counts: &'a [u16],
}

impl Counter {
    fn new(n: usize) -> Self {
        Counter { counts: vec![0; n], touched: vec![0; n + 1] }
    }

    /// Counts the rows in these leaf lists and passes the counts to `consume`. `after_list` is called with the index of
    /// each list once it is counted.
    fn count<T>(
        &mut self,
        lists: &[&[u32]],
        mut after_list: impl FnMut(usize),
        consume: impl FnOnce(Counted<'_>) -> T,
    ) -> T {
        let mut seen = 0;
        for (t, &list) in lists.iter().enumerate() {
            for &j in list {
                let count = &mut self.counts[j as usize];
                // Always written, kept only when the row is new: no branch to mispredict.
                self.touched[seen] = j;
                seen += usize::from(*count == 0);
                *count += 1;
            }
            after_list(t);
        }
        let touched = &self.touched[..seen];
        let result = consume(Counted { touched, counts: &self.counts });
        for &j in touched {
            self.counts[j as usize] = 0;
        }
        result
    }
}

/// Counts every training row. `keep` adds the counts of a row to the result of its chunk, which `fresh` creates. The
/// chunks are in the order of the first tree's leaf lists.
pub(crate) fn count_training<T: Send>(
    matrix: &LeafMatrix,
    observer: &dyn Observer,
    fresh: impl Fn() -> T + Sync,
    keep: impl Fn(&mut T, usize, Counted<'_>) + Sync,
) -> Result<Vec<T>> {
    let stage = StageGuard::begin(observer, Stage::Kernel, matrix.n() as u64);
    let n = matrix.n();
    let order = &matrix.tree_leaves()[0].members;
    let row = |p: usize| order[p] as usize;
    if let Some(ids) = matrix.computed_leaf_ids() {
        return count_chunks(matrix, 0..n, &stage, &fresh, &keep, row, |p, t| ids.get(row(p), t));
    }
    let mut position = vec![0u32; n];
    for (p, &row) in order.iter().enumerate() {
        position[row as usize] = p as u32;
    }
    let window = n.div_ceil(WINDOWS).max(MIN_WINDOW).next_multiple_of(CHUNK).min(n);
    let mut results = Vec::new();
    for from in (0..n).step_by(window) {
        let to = (from + window).min(n);
        let width = to - from;
        let ids = window_ids(matrix, &position, from..to, &stage)?;
        let leaf = |p: usize, t: usize| ids[t * width + (p - from)];
        results.extend(count_chunks(matrix, from..to, &stage, &fresh, &keep, row, leaf)?);
    }
    Ok(results)
}

/// As [`count_training`] for rows given by their leaf ids. Returns the order in which the rows were visited, that of
/// their leaves in the first tree, and the results of the chunks.
pub(crate) fn count_rows<T: Send>(
    matrix: &LeafMatrix,
    ids: &LeafIds,
    observer: &dyn Observer,
    fresh: impl Fn() -> T + Sync,
    keep: impl Fn(&mut T, usize, Counted<'_>) + Sync,
) -> Result<(Vec<u32>, Vec<T>)> {
    let stage = StageGuard::begin(observer, Stage::Kernel, ids.n() as u64);
    let mut order: Vec<u32> = (0..ids.n() as u32).collect();
    let first = ids.tree(0);
    order.sort_by_key(|&row| first[row as usize]);
    let row = |p: usize| order[p] as usize;
    let leaf = |p: usize, t: usize| ids.get(row(p), t);
    let results = count_chunks(matrix, 0..ids.n(), &stage, &fresh, &keep, row, leaf)?;
    Ok((order, results))
}

/// Counts the rows at some positions of the visiting order; `row` gives the row, `leaf` its leaf in a tree.
fn count_chunks<T: Send>(
    matrix: &LeafMatrix,
    positions: Range<usize>,
    stage: &StageGuard<'_>,
    fresh: &(impl Fn() -> T + Sync),
    keep: &(impl Fn(&mut T, usize, Counted<'_>) + Sync),
    row: impl Fn(usize) -> usize + Sync,
    leaf: impl Fn(usize, usize) -> u32 + Sync,
) -> Result<Vec<T>> {
    let starts: Vec<usize> = positions.clone().step_by(CHUNK).collect();
    let trees = matrix.tree_leaves();
    starts
        .into_par_iter()
        .map_init(
            || Counter::new(matrix.n()),
            |counter, from| {
                let to = (from + CHUNK).min(positions.end);
                let mut result = fresh();
                let mut lists: Vec<&[u32]> =
                    trees.iter().enumerate().map(|(t, tree)| tree.leaf(leaf(from, t))).collect();
                let mut next: Vec<&[u32]> = vec![&[]; trees.len()];
                for p in from..to {
                    if (p - from).is_multiple_of(CHECK_ROWS) {
                        stage.check()?;
                    }
                    let ahead = |t: usize| {
                        if p + 2 < to {
                            trees[t].prefetch(leaf(p + 2, t));
                        }
                        if p + 1 < to {
                            next[t] = trees[t].leaf(leaf(p + 1, t));
                            next[t].iter().step_by(LINE).take(PREFETCH_LINES).for_each(prefetch);
                        }
                    };
                    counter.count(&lists, ahead, |counted| keep(&mut result, row(p), counted));
                    std::mem::swap(&mut lists, &mut next);
                }
                stage.advance((to - from) as u64);
                Ok(result)
            },
        )
        .collect()
}

/// The leaf ids of the rows at `positions` of the visiting order, tree by tree.
fn window_ids(
    matrix: &LeafMatrix,
    position: &[u32],
    positions: Range<usize>,
    stage: &StageGuard<'_>,
) -> Result<Vec<u32>> {
    let width = positions.len();
    let mut ids = vec![0u32; width * matrix.trees()];
    ids.par_chunks_exact_mut(width).zip(matrix.tree_leaves()).try_for_each(|(ids, tree)| {
        stage.check()?;
        for leaf in 0..tree.count() as u32 {
            for &i in tree.leaf(leaf) {
                let p = (position[i as usize] as usize).wrapping_sub(positions.start);
                if p < width {
                    ids[p] = leaf;
                }
            }
        }
        Ok(())
    })?;
    Ok(ids)
}
