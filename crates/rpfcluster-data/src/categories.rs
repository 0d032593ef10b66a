//! Categorical columns as indicator columns, one for each level.
//!
//! A random direction then has a coefficient of its own for every level. Indicators are divided by the square root of
//! the sum of their variances, so that a categorical column counts like a numeric one of unit spread, whatever the number of its
//! levels. Levels are ordered by name, and coefficients are drawn by name: neither the order of the rows nor that of the
//! levels in a file changes a bit, and levels that come or go leave the coefficients of the others as they are. A
//! level that was not fitted is a gap, for which trees use the means of their nodes; so is a missing value where these are
//! native. Under mean imputation a missing value is the mean of the fitted rows.

use std::collections::BTreeMap;

use rpfcluster::ColumnKey;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::frame::Frame;
use crate::table::Values;

/// Largest number of levels of a column; the table grows by as many columns.
const MAX_LEVELS: usize = 1000;
/// Number of rows from which a column whose values all differ is refused as an identifier.
const IDENTIFIER_ROWS: usize = 20;

/// Whether as many distinct values of so many name their rows instead of grouping them.
fn is_identifier(distinct: usize, values: usize) -> bool {
    distinct == values && values >= IDENTIFIER_ROWS
}

/// Whether a column of so many distinct values in so many rows can be categorical.
pub(crate) fn can_be_levels(distinct: usize, rows: usize) -> bool {
    distinct <= MAX_LEVELS && !is_identifier(distinct, rows)
}

/// A fitted categorical column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Category {
    /// Its place among the features, from 0.
    pub column: usize,
    /// The names of its levels, ascending.
    pub levels: Vec<String>,
    /// The share of the fitted rows with each level.
    pub shares: Vec<f64>,
    /// Divides the indicators.
    pub spread: f64,
}

/// The level of each row of a categorical column.
pub(crate) struct Levels {
    names: Vec<String>,
    /// The place of each row's level in `names`; `None` where it is missing.
    codes: Vec<Option<u32>>,
}

impl Levels {
    /// Reads them, before the numbers are moved out of the frame.
    pub fn read(frame: &Frame, column: usize) -> Self {
        let (labels, gaps) = frame.labels(column);
        let mut codes: Vec<Option<u32>> = labels.codes.into_iter().map(Some).collect();
        gaps.into_iter().for_each(|row| codes[row] = None);
        Levels { names: labels.names, codes }
    }

    /// The rows without a level.
    pub fn gaps(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.codes.len()).filter(|row| self.codes[*row].is_none())
    }

    /// Keeps these rows, counted from 0.
    pub fn keep(&mut self, rows: &[usize]) {
        self.codes = rows.iter().map(|row| self.codes[*row]).collect();
    }

    fn name(&self, row: usize) -> Option<&str> {
        self.codes[row].map(|code| &self.names[code as usize][..])
    }
}

impl Category {
    /// Fits the levels of the column at `position` of the frame, the feature number `column`.
    pub(crate) fn fit(frame: &Frame, position: usize, column: usize, levels: &Levels) -> Result<Self> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        (0..levels.codes.len())
            .filter_map(|row| levels.name(row))
            .for_each(|name| *counts.entry(name).or_default() += 1);
        let (found, total) = (counts.len(), counts.values().sum::<usize>());
        if is_identifier(found, total) {
            let option = frame.column_option(position);
            let problem =
                format!("looks like an identifier: all values differ; leave it out with --drop {option}");
            return Err(frame.column_error(position, problem));
        }
        if !(1..=MAX_LEVELS).contains(&found) {
            let option = frame.column_option(position);
            let problem = match found {
                0 => format!("has no value; leave it out with --drop {option}"),
                _ => format!(
                    "has {found} levels, but at most {MAX_LEVELS} are allowed; leave it out with --drop {option}"
                ),
            };
            return Err(frame.column_error(position, problem));
        }
        let shares: Vec<f64> = counts.values().map(|count| *count as f64 / total as f64).collect();
        let variance: f64 = shares.iter().map(|share| share * (1.0 - share)).sum();
        let spread = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        Ok(Category { column, levels: counts.into_keys().map(String::from).collect(), shares, spread })
    }

    /// The mean of an indicator over the fitted rows.
    pub(crate) fn mean(&self, at: usize) -> f64 {
        self.shares[at] / self.spread
    }

    /// Writes the scaled indicators of a level; gaps where it is unknown, or missing and gaps are native.
    fn write(&self, level: Option<&str>, native: bool, out: &mut [f64]) {
        let known = level.map(|name| self.levels.binary_search_by(|known| known.as_str().cmp(name)));
        match known {
            Some(Ok(at)) => {
                out.fill(0.0);
                out[at] = 1.0 / self.spread;
            }
            None if !native => out.iter_mut().enumerate().for_each(|(at, to)| *to = self.mean(at)),
            _ => out.fill(f64::NAN),
        }
    }

    /// Whether the numbers of a model fit each other.
    pub(crate) fn is_valid(&self) -> bool {
        let ascending = self.levels.windows(2).all(|pair| pair[0] < pair[1]);
        let numbers = self.shares.iter().chain([&self.spread]).all(|v| v.is_finite());
        self.levels.len() == self.shares.len()
            && !self.levels.is_empty()
            && ascending
            && numbers
            && self.spread > 0.0
    }
}

/// The features of a table with categories: `numbers` are the prepared numeric ones, row by row, and `levels` those of the
/// categorical ones, both in the order of the features.
pub(crate) fn expanded(
    numbers: &Values,
    n: usize,
    d: usize,
    categories: &[(&Category, Levels)],
    native: bool,
) -> Values {
    let numeric = d - categories.len();
    let width = numeric + categories.iter().map(|(category, _)| category.levels.len()).sum::<usize>();
    let mut all = Vec::with_capacity(n * width);
    let mut indicators = Vec::new();
    for row in 0..n {
        let (mut next, mut rest) = (row * numeric, categories.iter().peekable());
        for column in 0..d {
            match rest.next_if(|(category, _)| category.column == column) {
                Some((category, levels)) => {
                    indicators.resize(category.levels.len(), 0.0);
                    category.write(levels.name(row), native, &mut indicators);
                    all.extend_from_slice(&indicators);
                }
                None => {
                    all.push(numbers.get(next));
                    next += 1;
                }
            }
        }
    }
    numbers.in_same_precision(all)
}

/// Number of columns of the expanded table of `d` features.
pub(crate) fn table_width(d: usize, categories: &[Category]) -> usize {
    d - categories.len() + categories.iter().map(|category| category.levels.len()).sum::<usize>()
}

/// What the columns of the expanded table stand for; empty without categories, whose coefficients are drawn by name.
pub(crate) fn column_keys(d: usize, categories: &[Category]) -> Vec<ColumnKey> {
    if categories.is_empty() {
        return Vec::new();
    }
    let level =
        |category: &Category, at: usize| ColumnKey::level(category.column as u32, &category.levels[at]);
    per_column(d, categories, |j| ColumnKey::number(j as u32), level)
}

/// One entry for each column of the expanded table: `numeric` of a feature, or `level` of a category and a level.
pub(crate) fn per_column<T>(
    d: usize,
    categories: &[Category],
    numeric: impl Fn(usize) -> T,
    level: impl Fn(&Category, usize) -> T,
) -> Vec<T> {
    let mut all = Vec::new();
    for column in 0..d {
        match categories.iter().find(|category| category.column == column) {
            Some(category) => all.extend((0..category.levels.len()).map(|at| level(category, at))),
            None => all.push(numeric(column)),
        }
    }
    all
}
