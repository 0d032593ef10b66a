//! Keys of columns for random coefficients: hashes of what a column stands for, a feature or a level of one.
//!
//! A categorical feature is one indicator column for each level. With keys, a node draws the coefficient of a level by
//! the number of the feature and the name of the level, and that of a numeric feature by its number, so that levels
//! that come or go, and their order, leave the coefficients of all other columns as they are.

use super::{Points, Real, Storage};
use crate::error::{Error, Result, parameter};
use crate::hash::mix;

/// What a column of a table with categories stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnKey {
    pub(crate) feature: u32,
    pub(crate) id: u64,
}

impl ColumnKey {
    /// The numbers of a feature, counted from 0.
    ///
    /// ```
    /// use rpfcluster::{ColumnKey, Forest, ForestParams, Points};
    /// // A number, and the indicators of two levels.
    /// let keys = [ColumnKey::number(0), ColumnKey::level(1, "blue"), ColumnKey::level(1, "red")];
    /// let values = [0.5, 1.0, 0.0, 0.7, 0.0, 1.0, 0.9, 1.0, 0.0];
    /// let points = Points::new(&values, 3, 3)?.with_keys(&keys)?;
    /// let forest = Forest::grow(&points, &ForestParams { trees: 2, min_node: 2, ..Default::default() })?;
    /// assert_eq!(forest.keys(), keys);
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn number(feature: u32) -> Self {
        ColumnKey { feature, id: mix(u64::from(feature) + 1) }
    }

    /// The indicator of a level of a categorical feature.
    pub fn level(feature: u32, name: &str) -> Self {
        let start = mix(u64::from(feature) + 1) ^ mix(!(name.len() as u64));
        let id = name.as_bytes().chunks(8).fold(start, |hash, bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            mix(hash ^ mix(u64::from_le_bytes(word)))
        });
        ColumnKey { feature, id: mix(id) }
    }

    /// Whether the column is the indicator of a level.
    pub fn is_level(self) -> bool {
        self.id != ColumnKey::number(self.feature).id
    }

    /// The feature.
    pub fn feature(self) -> u32 {
        self.feature
    }

    /// The number that coefficients are drawn by, a hash.
    pub fn id(self) -> u64 {
        self.id
    }
}

impl<'a, R: Real> Points<'a, R> {
    /// The same rows with a key for each column: coefficients are drawn by key instead of by place. Features ascend, and
    /// the columns of a feature are next to each other. A sparse direction takes features instead of columns, with all
    /// levels of those it takes. No keys leave the rows as they are.
    pub fn with_keys(self, keys: &'a [ColumnKey]) -> Result<Self> {
        if !keys.is_empty() && keys.len() != self.d() {
            return Err(Error::Length { what: "column keys", got: keys.len(), expected: self.d() });
        }
        match first_descent(keys) {
            Some(column) => Err(parameter(
                "keys",
                format!("feature {} in column {}", keys[column].feature, column + 1),
                "features that ascend",
            )),
            None => Ok(Points { keys, ..self }),
        }
    }

    /// Whether a column is the indicator of a level.
    pub(crate) fn has_categories(&self) -> bool {
        self.keys.iter().any(|key| key.is_level())
    }

    /// Whether all gaps are in indicators of levels: values that are there, of a level that is not known.
    pub(crate) fn lacks_levels_only(&self) -> bool {
        match self.storage {
            Storage::Gaps { values, .. } if !self.keys.is_empty() => values
                .chunks_exact(self.d)
                .all(|row| row.iter().zip(self.keys).all(|(value, key)| key.is_level() || !value.is_nan())),
            _ => false,
        }
    }

    /// Calls `work` with the rows, the mean of its column in place of each gap.
    pub(crate) fn with_gaps_filled<T>(&self, work: impl FnOnce(&Points<R>) -> T) -> Result<T> {
        let mut values = Vec::with_capacity(self.n * self.d);
        (0..self.n).for_each(|row| self.each_value(row, |_, value| values.push(value)));
        let points = Points::new(&values, self.n, self.d)?;
        Ok(work(&Points { keys: self.keys, ..points }))
    }

    /// The keys of the columns; empty where coefficients are drawn by place.
    pub(crate) fn keys(&self) -> &'a [ColumnKey] {
        self.keys
    }
}

/// The first column whose feature is below that of the column before it.
pub(crate) fn first_descent(keys: &[ColumnKey]) -> Option<usize> {
    keys.windows(2).position(|pair| pair[0].feature > pair[1].feature).map(|at| at + 1)
}
