//! Rows with a level that no training row has: at every node, its indicators are the means of the training rows there.
//!
//! A forest on a table with categories keeps the level of each training row, two bytes per row and category, instead of
//! the means of its nodes, which take 16 bytes per column and node. The means of a node are counted when a row with an
//! unknown level reaches it: O(rows of the node) for each category, none for rows whose levels are known. Forests on rows
//! with gaps have moments (`gaps`), which serve unknown levels too.

use std::ops::Range;

use super::gaps::GapRows;
use super::split::columns_of_features;
use super::tree::{Cursor, Tree};
use crate::points::{ColumnKey, Points, Real};

/// The code of a row that has no level in a category.
const NONE: u16 = u16::MAX;

/// The levels of the training rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FittedLevels {
    /// The columns of each category.
    categories: Vec<Range<u32>>,
    /// The value of the indicators of each category.
    pub values: Vec<f64>,
    /// For each row, the number of its level in each category.
    pub codes: Vec<u16>,
}

/// The columns of the categories.
fn categories_of(keys: &[ColumnKey]) -> Vec<Range<u32>> {
    let mut all = columns_of_features(keys);
    all.retain(|columns| keys[columns.start as usize].is_level());
    all
}

impl FittedLevels {
    /// The levels of these rows; `None` where no column is the indicator of a level, or where they are no indicators of
    /// one value.
    pub fn of<R: Real>(points: &Points<R>) -> Option<Self> {
        let categories = categories_of(points.keys());
        if categories.is_empty() || categories.iter().any(|columns| columns.len() >= usize::from(NONE)) {
            return None;
        }
        let mut values = vec![0.0; categories.len()];
        let mut codes = vec![NONE; points.n() * categories.len()];
        let mut row_values = vec![0.0; points.d()];
        for (row, codes) in codes.chunks_exact_mut(categories.len()).enumerate() {
            points.copy_row::<f64>(row, &mut row_values);
            for ((columns, code), value) in categories.iter().zip(codes).zip(&mut values) {
                let of_row = &row_values[columns.start as usize..columns.end as usize];
                let mut set = (0..).zip(of_row).filter(|(_, value)| **value != 0.0);
                // The shares of the levels, for a row without one, are several values.
                if let (Some((level, found)), None) = (set.next(), set.next()) {
                    if *value != 0.0 && value != found {
                        return None;
                    }
                    (*value, *code) = (*found, level);
                }
            }
        }
        Some(FittedLevels { categories, values, codes })
    }

    /// From the arrays of a model file.
    pub fn read(keys: &[ColumnKey], values: Vec<f64>, codes: Vec<u16>) -> Self {
        FittedLevels { categories: categories_of(keys), values, codes }
    }

    /// Whether the arrays fit a forest over `n` rows.
    pub fn fits(&self, n: usize) -> bool {
        let of_row = self.categories.len();
        of_row > 0
            && self.values.len() == of_row
            && self.values.iter().all(|value| value.is_finite())
            && n.checked_mul(of_row) == Some(self.codes.len())
            && self.codes.chunks_exact(of_row).all(|row| {
                row.iter()
                    .zip(&self.categories)
                    .all(|(code, columns)| *code == NONE || u32::from(*code) < columns.end - columns.start)
            })
    }

    /// The numbers of the categories whose level is not known in some of these rows.
    pub fn lacking<R: Real>(&self, rows: &GapRows<R>, n: usize) -> Vec<usize> {
        let has_gap = |columns: &Range<u32>| {
            (0..n as u32).any(|row| {
                let row = &rows.row(row)[columns.start as usize..columns.end as usize];
                row.iter().any(|value| value.is_nan())
            })
        };
        (0..self.categories.len()).filter(|number| has_gap(&self.categories[*number])).collect()
    }

    /// Writes the means of the indicators of these categories over the rows of a node into `means`; other columns keep
    /// theirs. A category of which no row of the node has a level has the means of the tree.
    pub fn means_at<R: Real>(&self, categories: &[usize], tree: &Tree, at: Cursor, means: &mut [R]) {
        let rows = |at: Cursor| &tree.members[tree.starts[at.leaf as usize] as usize..][..tree.size(at)];
        for &number in categories {
            let columns = &self.categories[number];
            let mut counts = vec![0u32; columns.len()];
            for rows in [rows(at), rows(tree.root())] {
                for row in rows {
                    let code = self.codes[*row as usize * self.categories.len() + number];
                    if let Some(count) = counts.get_mut(usize::from(code)) {
                        *count += 1;
                    }
                }
                if counts.iter().any(|count| *count > 0) {
                    break;
                }
            }
            let total = counts.iter().sum::<u32>().max(1);
            let out = &mut means[columns.start as usize..columns.end as usize];
            out.iter_mut().zip(counts).for_each(|(mean, count)| {
                *mean = R::from_f64(self.values[number] * f64::from(count) / f64::from(total));
            });
        }
    }
}
