//! The contingency table of two labellings: the number of rows of each (cluster, class) pair, stored as non-zero cells
//! and margins. O(n) time, and at most 64 MB for lookup arrays and a dense table.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// Labels are looked up in an array instead of a hash map where all are below this value (an array of at most 16 MB).
const DIRECT: usize = 1 << 22;
/// Tables with at most this many cells are counted densely (32 MB).
const FULL: usize = 1 << 22;

/// The non-zero cells of a contingency table and its margins. Clusters and classes are numbered by first appearance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contingency {
    cells: Vec<(u32, u32, u64)>,
    row_sums: Vec<u64>,
    column_sums: Vec<u64>,
}

/// Labels renamed to 0, 1, 2, … by first appearance.
struct Names {
    direct: Vec<u32>,
    hashed: HashMap<u32, u32>,
    count: u32,
}

impl Names {
    fn new(labels: &[u32]) -> Self {
        let largest = labels.iter().max().copied().unwrap_or(0) as usize;
        let direct = if largest < DIRECT { vec![u32::MAX; largest + 1] } else { Vec::new() };
        Names { direct, hashed: HashMap::new(), count: 0 }
    }

    #[inline]
    fn name(&mut self, label: u32) -> u32 {
        let known = match self.direct.get_mut(label as usize) {
            Some(known) => known,
            None => self.hashed.entry(label).or_insert(u32::MAX),
        };
        if *known == u32::MAX {
            *known = self.count;
            self.count += 1;
        }
        *known
    }

    fn count_all(&mut self, labels: &[u32]) -> usize {
        for label in labels {
            self.name(*label);
        }
        self.count as usize
    }
}

impl Contingency {
    /// The table of two labellings of the same rows.
    pub fn new(rows: &[u32], columns: &[u32]) -> Result<Self> {
        if rows.len() != columns.len() {
            return Err(Error::Length {
                what: "classes for the labels",
                got: columns.len(),
                expected: rows.len(),
            });
        }
        if rows.is_empty() {
            return Err(Error::Empty { n: 0, d: 1 });
        }
        let (mut row_names, mut column_names) = (Names::new(rows), Names::new(columns));
        let (r, c) = (row_names.count_all(rows), column_names.count_all(columns));
        let pairs = rows.iter().zip(columns);
        let cells = if r.saturating_mul(c) <= FULL {
            let mut full = vec![0u64; r * c];
            for (a, b) in pairs {
                full[row_names.name(*a) as usize * c + column_names.name(*b) as usize] += 1;
            }
            let cell = |(at, count): (usize, u64)| ((at / c) as u32, (at % c) as u32, count);
            full.into_iter().enumerate().filter(|(_, count)| *count > 0).map(cell).collect()
        } else {
            let mut sparse: HashMap<(u32, u32), u64> = HashMap::new();
            for (a, b) in pairs {
                *sparse.entry((row_names.name(*a), column_names.name(*b))).or_insert(0) += 1;
            }
            let mut cells: Vec<(u32, u32, u64)> =
                sparse.into_iter().map(|((a, b), count)| (a, b, count)).collect();
            cells.sort_unstable();
            cells
        };
        Ok(Self::from_cells(cells, r, c))
    }

    /// A table given in full, by rows of `columns` cells.
    pub fn from_counts(counts: &[u64], columns: usize) -> Result<Self> {
        if columns == 0 || !counts.len().is_multiple_of(columns) {
            return Err(Error::Shape {
                len: counts.len(),
                n: counts.len().checked_div(columns).unwrap_or(0),
                d: columns,
            });
        }
        if counts.iter().all(|c| *c == 0) {
            return Err(Error::Empty { n: 0, d: columns });
        }
        let cell = |(at, count): (usize, &u64)| ((at / columns) as u32, (at % columns) as u32, *count);
        let cells = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(cell).collect();
        Ok(Self::from_cells(cells, counts.len() / columns, columns))
    }

    fn from_cells(cells: Vec<(u32, u32, u64)>, rows: usize, columns: usize) -> Self {
        let (mut row_sums, mut column_sums) = (vec![0; rows], vec![0; columns]);
        for (i, j, count) in &cells {
            row_sums[*i as usize] += count;
            column_sums[*j as usize] += count;
        }
        Contingency { cells, row_sums, column_sums }
    }

    /// Number of labelled rows.
    pub fn n(&self) -> u64 {
        self.row_sums.iter().sum()
    }

    /// The cells that are not zero: (cluster, class, rows), in order.
    pub fn cells(&self) -> &[(u32, u32, u64)] {
        &self.cells
    }

    /// Sizes of the clusters.
    pub fn row_sums(&self) -> &[u64] {
        &self.row_sums
    }

    /// Sizes of the classes.
    pub fn column_sums(&self) -> &[u64] {
        &self.column_sums
    }
}
