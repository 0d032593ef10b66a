//! The k nearest rows by the kernel (top-k): most shared leaves first, ties to the lowest index, without the row
//! itself.
//!
//! Exact. Candidates are the rows above a lower bound on the count, taken from the previous row and recomputed from a
//! histogram where it leaves fewer than k; quickselect (Hoare 1961) keeps the best k. O(rows that share a leaf +
//! k log k) time per row, 6 k bytes per row.

use super::leaf_matrix::LeafMatrix;
use super::pair_counts::{Counted, count_rows, count_training};
use crate::error::{Result, parameter};
use crate::forest::LeafIds;
use crate::observe::{Observer, check};

/// Marks the unused places of a row with fewer than k neighbours. No row has this index.
const NONE: u32 = u32::MAX;

/// The k nearest neighbours of every row by the kernel, nearest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbors {
    n: usize,
    k: usize,
    trees: usize,
    indices: Vec<u32>,
    counts: Vec<u16>,
}

impl Neighbors {
    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Neighbours per row at most.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Number of trees; a count divided by it is a similarity.
    pub fn trees(&self) -> usize {
        self.trees
    }

    /// The neighbours of a row and their numbers of shared leaves, nearest first; fewer than k where fewer rows share a
    /// leaf.
    pub fn row(&self, row: usize) -> (&[u32], &[u16]) {
        let indices = &self.indices[row * self.k..(row + 1) * self.k];
        let found = indices.iter().position(|&j| j == NONE).unwrap_or(self.k);
        (&indices[..found], &self.counts[row * self.k..row * self.k + found])
    }
}

impl LeafMatrix {
    /// The k nearest neighbours of each training row.
    pub fn top_k(&self, k: usize, observer: &dyn Observer) -> Result<Neighbors> {
        let k = check_k(k, self.n())?;
        let chunks = count_training(self, observer, Selection::default, |selected, row, counted| {
            selected.select(&counted, Some(row as u32), k)
        })?;
        self.assemble_neighbors(&self.tree_leaves()[0].members, chunks, k, observer)
    }

    /// The k nearest training rows of rows given by their leaf ids.
    pub fn top_k_of(&self, ids: &LeafIds, k: usize, observer: &dyn Observer) -> Result<Neighbors> {
        let k = check_k(k, self.n() + 1)?;
        let (order, chunks) = count_rows(self, ids, observer, Selection::default, |selected, _, counted| {
            selected.select(&counted, None, k)
        })?;
        self.assemble_neighbors(&order, chunks, k, observer)
    }

    /// Brings the selected neighbours from the order of counting to the order of the rows.
    fn assemble_neighbors(
        &self,
        order: &[u32],
        chunks: Vec<Selection>,
        k: usize,
        observer: &dyn Observer,
    ) -> Result<Neighbors> {
        let n = order.len();
        // Zeroed memory is mapped as it is written, between two checks; filled with `NONE`, which the chunks contain, it
        // would be mapped at once, for 10^8 numbers in half a second.
        let (mut indices, mut counts) = (vec![0u32; n * k], vec![0u16; n * k]);
        let mut order = order.iter();
        for chunk in chunks {
            check(observer)?;
            let selected = chunk.indices.chunks(k).zip(chunk.counts.chunks(k));
            for ((js, cs), &row) in selected.zip(&mut order) {
                let at = row as usize * k;
                indices[at..at + k].copy_from_slice(js);
                counts[at..at + k].copy_from_slice(cs);
            }
        }
        Ok(Neighbors { n, k, trees: self.trees(), indices, counts })
    }
}

fn check_k(k: usize, n: usize) -> Result<usize> {
    if k == 0 {
        return Err(parameter("top", k, "at least 1"));
    }
    Ok(k.min(n.saturating_sub(1).max(1)))
}

/// The neighbours of a chunk of rows.
#[derive(Default)]
struct Selection {
    indices: Vec<u32>,
    counts: Vec<u16>,
    candidates: Vec<u64>,
    /// Lower bound on the count that gave enough candidates for the previous row.
    least: u16,
    histogram: Vec<u32>,
}

impl Selection {
    fn select(&mut self, counted: &Counted<'_>, exclude: Option<u32>, k: usize) {
        // Consecutive rows are close to each other: the bound of the previous row usually suffices.
        self.collect(counted, exclude, self.least);
        if self.candidates.len() < k && self.least > 1 {
            let least = self.k_th_count(counted, k);
            self.collect(counted, exclude, least);
        }
        if self.candidates.len() > k {
            self.candidates.select_nth_unstable(k - 1);
            self.candidates.truncate(k);
        }
        self.candidates.sort_unstable();
        // Below the count of the last neighbour, since the next row may have more distant ones.
        self.least = match self.candidates.get(k - 1) {
            Some(&last) => (u16::MAX - (last >> 32) as u16) * 3 / 4,
            None => 0,
        };
        self.indices.extend(self.candidates.iter().map(|&key| key as u32));
        self.counts.extend(self.candidates.iter().map(|&key| u16::MAX - (key >> 32) as u16));
        let missing = k - self.candidates.len();
        self.indices.extend(std::iter::repeat_n(NONE, missing));
        self.counts.extend(std::iter::repeat_n(0, missing));
    }

    /// Collects the rows with at least this count, without the row itself. Keys ascend by falling count, then by index.
    fn collect(&mut self, counted: &Counted<'_>, exclude: Option<u32>, least: u16) {
        self.candidates.clear();
        self.candidates.extend(counted.touched.iter().filter_map(|&j| {
            let count = counted.counts[j as usize];
            (count >= least && Some(j) != exclude).then(|| u64::from(u16::MAX - count) << 32 | u64::from(j))
        }));
    }

    /// The smallest count that can be among the k largest, from a histogram of the counts.
    fn k_th_count(&mut self, counted: &Counted<'_>, k: usize) -> u16 {
        self.histogram.clear();
        for &j in counted.touched {
            let count = usize::from(counted.counts[j as usize]);
            if count >= self.histogram.len() {
                self.histogram.resize(count + 1, 0);
            }
            self.histogram[count] += 1;
        }
        let mut least = self.histogram.len();
        let mut kept = 0;
        // k + 1, since the row itself is counted.
        while least > 1 && kept < k + 1 {
            least -= 1;
            kept += self.histogram[least] as usize;
        }
        least as u16
    }
}
