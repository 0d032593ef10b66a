//! Each row's k strongest co-leaf neighbours: by count, ties to the lowest index, the row itself left out.

use super::leaf_matrix::LeafMatrix;
use super::pair_counts::{Counted, count_rows, count_training};
use crate::error::{Result, parameter};
use crate::forest::LeafIds;
use crate::observe::{Observer, check};

/// A row that has fewer than k co-leaf neighbours is filled up with this.
const NOBODY: u32 = u32::MAX;

/// The k strongest neighbours of every row, strongest first.
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

    /// Neighbours looked for.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Number of trees: a count divided by it is a similarity.
    pub fn trees(&self) -> usize {
        self.trees
    }

    /// The neighbours of a row and the counts of shared trees, strongest first; fewer than k where there are fewer.
    pub fn row(&self, row: usize) -> (&[u32], &[u16]) {
        let indices = &self.indices[row * self.k..(row + 1) * self.k];
        let found = indices.iter().position(|&j| j == NOBODY).unwrap_or(self.k);
        (&indices[..found], &self.counts[row * self.k..row * self.k + found])
    }
}

impl LeafMatrix {
    /// The k strongest neighbours of each training row.
    pub fn top_k(&self, k: usize, observer: &dyn Observer) -> Result<Neighbors> {
        let k = check_k(k, self.n())?;
        let chunks = count_training(self, observer, Picked::default, |picked, row, counted| {
            picked.pick(&counted, Some(row as u32), k)
        })?;
        self.picked(&self.tree_leaves()[0].members, chunks, k, observer)
    }

    /// The k strongest training neighbours of rows given by their leaf numbers.
    pub fn top_k_of(&self, codes: &LeafIds, k: usize, observer: &dyn Observer) -> Result<Neighbors> {
        let k = check_k(k, self.n() + 1)?;
        let (order, chunks) = count_rows(self, codes, observer, Picked::default, |picked, _, counted| {
            picked.pick(&counted, None, k)
        })?;
        self.picked(&order, chunks, k, observer)
    }

    /// What was picked, back in the rows' own order.
    fn picked(
        &self,
        order: &[u32],
        chunks: Vec<Picked>,
        k: usize,
        observer: &dyn Observer,
    ) -> Result<Neighbors> {
        let n = order.len();
        let (mut indices, mut counts) = (vec![NOBODY; n * k], vec![0u16; n * k]);
        let mut order = order.iter();
        for chunk in chunks {
            check(observer)?;
            let picked = chunk.indices.chunks(k).zip(chunk.counts.chunks(k));
            for ((js, cs), &row) in picked.zip(&mut order) {
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

/// What is kept of a chunk of rows.
#[derive(Default)]
struct Picked {
    indices: Vec<u32>,
    counts: Vec<u16>,
    candidates: Vec<u64>,
    /// The count from which on points were collected that sufficed.
    least: u16,
    histogram: Vec<u32>,
}

impl Picked {
    fn pick(&mut self, counted: &Counted<'_>, without: Option<u32>, k: usize) {
        // Rows that follow each other are neighbours: what sufficed for the last one mostly does for this one.
        self.collect(counted, without, self.least);
        if self.candidates.len() < k && self.least > 1 {
            let least = self.smallest(counted, k);
            self.collect(counted, without, least);
        }
        if self.candidates.len() > k {
            self.candidates.select_nth_unstable(k - 1);
            self.candidates.truncate(k);
        }
        self.candidates.sort_unstable();
        // A little less than the last of them, so that the next row need not have as near neighbours.
        self.least = match self.candidates.get(k - 1) {
            Some(&last) => (u16::MAX - (last >> 32) as u16) * 3 / 4,
            None => 0,
        };
        self.indices.extend(self.candidates.iter().map(|&key| key as u32));
        self.counts.extend(self.candidates.iter().map(|&key| u16::MAX - (key >> 32) as u16));
        let missing = k - self.candidates.len();
        self.indices.extend(std::iter::repeat_n(NOBODY, missing));
        self.counts.extend(std::iter::repeat_n(0, missing));
    }

    /// Those with at least this count, but for the row itself. Ascending keys: stronger first, then the lower index.
    fn collect(&mut self, counted: &Counted<'_>, without: Option<u32>, least: u16) {
        self.candidates.clear();
        self.candidates.extend(counted.touched.iter().filter_map(|&j| {
            let count = counted.counts[j as usize];
            (count >= least && Some(j) != without).then(|| u64::from(u16::MAX - count) << 32 | u64::from(j))
        }));
    }

    /// The smallest count that can still be among the k, by how many neighbours have each.
    fn smallest(&mut self, counted: &Counted<'_>, k: usize) -> u16 {
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
        // One more than k, since the row itself is among them.
        while least > 1 && kept < k + 1 {
            least -= 1;
            kept += self.histogram[least] as usize;
        }
        least as u16
    }
}
