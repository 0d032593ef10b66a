//! In how many trees does one row share a leaf with every other? The one place where pairs are counted.
//!
//! Rows are visited in the order of the first tree's leaves: neighbours in space follow each other, so their leaf
//! lists and counters are still in the cache. What is not is asked for while the row before is counted: where a list begins
//! two rows ahead, the list one row ahead. Each thread has one counter per point and a list of those touched;
//! memory grows with what is kept of a row, not with the pairs seen.

use rayon::prelude::*;

use super::leaf_matrix::LeafMatrix;
use crate::error::Result;
use crate::forest::LeafIds;
use crate::observe::{Observer, Stage, check};
use crate::simd::prefetch;

/// Rows one task counts before it looks for cancellation.
const CHUNK: usize = 1024;
/// Rows after which it is asked again whether to go on.
const ASK: usize = 16;

/// Points in a line of the cache, and lines of a list that are asked for: the machine sees by then what comes next.
const LINE: usize = 16;
const LINES: usize = 4;

/// Rows whose leaf numbers are laid out at a time, so that they need not be laid out for all.
const WINDOWS: usize = 4;
const WINDOW_AT_LEAST: usize = 1 << 16;

/// Counters of one thread.
pub(crate) struct Counter {
    counts: Vec<u16>,
    touched: Vec<u32>,
}

/// What was counted for one row.
pub(crate) struct Counted<'a> {
    /// Points that share at least one leaf with the row, in no particular order, the row itself included.
    pub touched: &'a [u32],
    /// For every point, in how many trees; zero for points not touched.
    pub counts: &'a [u16],
}

impl Counter {
    fn new(n: usize) -> Self {
        Counter { counts: vec![0; n], touched: vec![0; n + 1] }
    }

    /// Counts the row that shares leaves with these lists of points, and shows the counts to `look`. After each list
    /// `meanwhile` is called with its number.
    fn count<T>(
        &mut self,
        lists: &[&[u32]],
        mut meanwhile: impl FnMut(usize),
        look: impl FnOnce(Counted<'_>) -> T,
    ) -> T {
        let mut seen = 0;
        for (t, &list) in lists.iter().enumerate() {
            for &j in list {
                let count = &mut self.counts[j as usize];
                // Written always, kept only when the point is new: no branch to mispredict.
                self.touched[seen] = j;
                seen += usize::from(*count == 0);
                *count += 1;
            }
            meanwhile(t);
        }
        let touched = &self.touched[..seen];
        let result = look(Counted { touched, counts: &self.counts });
        for &j in touched {
            self.counts[j as usize] = 0;
        }
        result
    }
}

/// Counts every training row and collects what `keep` makes of it: one result for each chunk of rows, with the rows
/// in the order of the first tree's leaves (`order` gives the row of each position).
pub(crate) fn count_training<T: Send>(
    matrix: &LeafMatrix,
    observer: &dyn Observer,
    fresh: impl Fn() -> T + Sync,
    keep: impl Fn(&mut T, usize, Counted<'_>) + Sync,
) -> Result<Vec<T>> {
    observer.begin(Stage::Kernel, matrix.n() as u64);
    let results = count_windows(matrix, observer, &fresh, &keep);
    observer.end(Stage::Kernel);
    results
}

fn count_windows<T: Send>(
    matrix: &LeafMatrix,
    observer: &dyn Observer,
    fresh: &(impl Fn() -> T + Sync),
    keep: &(impl Fn(&mut T, usize, Counted<'_>) + Sync),
) -> Result<Vec<T>> {
    let n = matrix.n();
    let order = &matrix.tree_leaves()[0].members;
    let row = |p: usize| order[p] as usize;
    if matrix.has_leaf_ids() {
        let codes = matrix.leaf_ids();
        return count_chunks(matrix, 0..n, observer, fresh, keep, row, |p, t| codes.get(row(p), t));
    }
    let mut position = vec![0u32; n];
    for (p, &row) in order.iter().enumerate() {
        position[row as usize] = p as u32;
    }
    let window = n.div_ceil(WINDOWS).max(WINDOW_AT_LEAST).next_multiple_of(CHUNK).min(n);
    let mut results = Vec::new();
    for from in (0..n).step_by(window) {
        let to = (from + window).min(n);
        let width = to - from;
        let codes = window_codes(matrix, &position, from..to, observer);
        let code = |p: usize, t: usize| codes[t * width + (p - from)];
        results.extend(count_chunks(matrix, from..to, observer, fresh, keep, row, code)?);
    }
    Ok(results)
}

/// Counts rows given by their leaf numbers against the training points: the order in which they are visited, that of
/// their leaves in the first tree, and one result for each chunk of them.
pub(crate) fn count_rows<T: Send>(
    matrix: &LeafMatrix,
    codes: &LeafIds,
    observer: &dyn Observer,
    fresh: impl Fn() -> T + Sync,
    keep: impl Fn(&mut T, usize, Counted<'_>) + Sync,
) -> Result<(Vec<u32>, Vec<T>)> {
    observer.begin(Stage::Kernel, codes.n() as u64);
    let mut order: Vec<u32> = (0..codes.n() as u32).collect();
    let first = codes.tree(0);
    order.sort_by_key(|&row| first[row as usize]);
    let row = |p: usize| order[p] as usize;
    let code = |p: usize, t: usize| codes.get(row(p), t);
    let results = count_chunks(matrix, 0..codes.n(), observer, &fresh, &keep, row, code);
    observer.end(Stage::Kernel);
    Ok((order, results?))
}

fn count_chunks<T: Send>(
    matrix: &LeafMatrix,
    positions: std::ops::Range<usize>,
    observer: &dyn Observer,
    fresh: &(impl Fn() -> T + Sync),
    keep: &(impl Fn(&mut T, usize, Counted<'_>) + Sync),
    row: impl Fn(usize) -> usize + Sync,
    code: impl Fn(usize, usize) -> u32 + Sync,
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
                    trees.iter().enumerate().map(|(t, tree)| tree.leaf(code(from, t))).collect();
                let mut next: Vec<&[u32]> = vec![&[]; trees.len()];
                for p in from..to {
                    // Thousands of trees with large leaves make a row cost milliseconds.
                    if (p - from).is_multiple_of(ASK) {
                        check(observer)?;
                    }
                    let ahead = |t: usize| {
                        if p + 2 < to {
                            trees[t].fetch(code(p + 2, t));
                        }
                        if p + 1 < to {
                            next[t] = trees[t].leaf(code(p + 1, t));
                            next[t].iter().step_by(LINE).take(LINES).for_each(prefetch);
                        }
                    };
                    counter.count(&lists, ahead, |counted| keep(&mut result, row(p), counted));
                    std::mem::swap(&mut lists, &mut next);
                }
                observer.advance(Stage::Kernel, (to - from) as u64);
                Ok(result)
            },
        )
        .collect()
}

/// Leaf numbers of the rows at `positions` of the first tree's order, tree after tree.
fn window_codes(
    matrix: &LeafMatrix,
    position: &[u32],
    positions: std::ops::Range<usize>,
    observer: &dyn Observer,
) -> Vec<u32> {
    let width = positions.len();
    let mut codes = vec![0u32; width * matrix.trees()];
    codes.par_chunks_exact_mut(width).zip(matrix.tree_leaves()).for_each(|(codes, tree)| {
        // Whoever counts with them asks again first.
        if observer.cancelled() {
            return;
        }
        for leaf in 0..tree.count() as u32 {
            for &i in tree.leaf(leaf) {
                let p = (position[i as usize] as usize).wrapping_sub(positions.start);
                if p < width {
                    codes[p] = leaf;
                }
            }
        }
    });
    codes
}
