//! Rows that lie far outside all others: the extent of the training rows, by which predict tells new rows, and the
//! training rows that the same rule tells when each is left out.
//!
//! A row is far outside when its distance from the box of the other rows (their range in every column) is more than half
//! of the diagonal of the box. Projections weigh columns as the Euclidean distance does, so an extreme value in one of
//! many columns, or in one of small spread, does not count. The leaves of a row far outside are those of the nearest
//! border, and its label is an extrapolation. docs/notes/2026-11-verdict.md counts how often ordinary tables have one.
//!
//! One pass over the stored values; memory O(d + n).

use rayon::prelude::*;

use super::Fitted;
use crate::distinct::DistinctRows;
use crate::error::{Error, Result};
use crate::points::{Points, Real};

/// Diagonals of the box of the other rows from which a row is far outside.
const FAR: f64 = 0.5;
/// Share of a sum that rounding may leave when all its terms are subtracted again.
const ROUNDING: f64 = 1e-9;
/// Fewer distinct training rows do not tell what is ordinary.
const MIN_ROWS: usize = 20;

/// Columns of one parallel task.
const COLUMNS: usize = 64;

/// This number and the one below it are no groups: [`MAX_ROWS`](crate::points::MAX_ROWS) is smaller.
const NO_GROUP: u32 = u32::MAX;

/// The smallest and the largest value of each column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Extent(pub Vec<[f64; 2]>);

impl Extent {
    /// The extent of these rows, and the rows, ascending, that lie far outside the others. Copies of a row count as one:
    /// `distinct` groups them.
    pub fn new<R: Real>(points: &Points<R>, distinct: Option<&DistinctRows>) -> (Self, Vec<u32>) {
        let (n, d) = (points.n(), points.d());
        let group_of = |row: usize| distinct.map_or(row as u32, |rows| rows.group_of[row]);
        let groups = distinct.map_or(n, DistinctRows::len);
        let mut ends = vec![ColumnEnds::default(); d];
        if points.is_dense() {
            // A column passes over the rows in their order, whatever the number of threads.
            ends.par_chunks_mut(COLUMNS).enumerate().for_each(|(chunk, ends)| {
                let mut values = vec![0.0; ends.len()];
                for row in 0..n {
                    points.copy_columns(row, chunk * COLUMNS, &mut values);
                    for (end, &value) in ends.iter_mut().zip(&values) {
                        if value > end.high.second || -value > end.low.second {
                            end.low.add(-value, group_of(row));
                            end.high.add(value, group_of(row));
                        }
                    }
                }
                ends.iter_mut().for_each(|end| end.stored = groups);
            });
        } else {
            let mut seen = 0;
            for row in 0..n {
                let group = group_of(row);
                // Groups are numbered by first appearance.
                let is_first = group as usize == seen;
                seen += usize::from(is_first);
                points.each_value(row, |column, value| {
                    let (column, value) = (&mut ends[column], value.to_f64());
                    column.low.add(-value, group);
                    column.high.add(value, group);
                    column.stored += usize::from(is_first);
                    column.groups = column.groups.wrapping_add(u64::from(group) * u64::from(is_first));
                });
            }
        }
        // Entries that a sparse row does not store are zero.
        let all = (0..groups as u64).fold(0, u64::wrapping_add);
        for column in ends.iter_mut().filter(|column| column.stored < groups) {
            // A single group without a value is the one that the sum lacks; several hold zero together.
            let holders = match groups - column.stored {
                1 => [all.wrapping_sub(column.groups) as u32; 2],
                _ => [NO_GROUP, NO_GROUP - 1],
            };
            for group in holders {
                column.low.add(0.0, group);
                column.high.add(0.0, group);
            }
        }
        let extent = Extent(ends.iter().map(|column| [-column.low.first, column.high.first]).collect());
        let far = if groups < MIN_ROWS { Vec::new() } else { far_groups(&ends, groups, points.largest()) };
        let far = (0..n).filter(|row| far.get(group_of(*row) as usize) == Some(&true));
        (extent, far.map(|row| row as u32).collect())
    }

    /// The squared diagonal of the box, in units of `scale`.
    fn squared_diagonal(&self, scale: f64) -> f64 {
        self.0.iter().map(|[low, high]| (high / scale - low / scale).powi(2)).sum()
    }

    /// The squared distance of a value from the values of its column, in units of `scale`.
    fn squared_excess(&self, column: usize, value: f64, scale: f64) -> f64 {
        let [low, high] = self.0[column];
        (low / scale - value / scale).max(value / scale - high / scale).max(0.0).powi(2)
    }

    /// The rows, ascending, that lie far outside.
    fn far_rows<R: Real>(&self, points: &Points<R>) -> Vec<usize> {
        let ends = self.0.iter().flatten();
        // Of the training rows only: what is said about a row does not depend on the rows beside it.
        let scale = ends.fold(0.0f64, |most, end| most.max(end.abs())).max(f64::MIN_POSITIVE);
        let reach = FAR * FAR * self.squared_diagonal(scale);
        let excess = |column, value| self.squared_excess(column, value, scale);
        // An entry that a sparse row does not store is zero. What rounding leaves of their sum is none.
        let of_zeros: f64 = (0..points.d()).map(|column| excess(column, 0.0)).sum();
        let is_far = |row: &usize| {
            let (mut squares, mut zeros) = (0.0, of_zeros);
            points.each_value(*row, |column, value| {
                squares += excess(column, value.to_f64());
                zeros -= excess(column, 0.0);
            });
            squares + if zeros > ROUNDING * of_zeros { zeros } else { 0.0 } > reach
        };
        (0..points.n()).filter(is_far).collect()
    }
}

/// One end of a column: the largest value and the largest of another group of copies. The low end holds negated values.
#[derive(Debug, Clone, Copy)]
struct End {
    first: f64,
    second: f64,
    /// The group that holds the first.
    group: u32,
}

impl End {
    fn add(&mut self, value: f64, group: u32) {
        if value > self.first {
            if group != self.group {
                (self.second, self.group) = (self.first, group);
            }
            self.first = value;
        } else if value > self.second && group != self.group {
            self.second = value;
        }
    }
}

/// Both ends of a column, and which groups store a value in it.
#[derive(Debug, Clone, Copy)]
struct ColumnEnds {
    low: End,
    high: End,
    /// Number of groups whose first row stores a value.
    stored: usize,
    /// Sum of their numbers.
    groups: u64,
}

impl Default for ColumnEnds {
    fn default() -> Self {
        let end = End { first: f64::NEG_INFINITY, second: f64::NEG_INFINITY, group: NO_GROUP };
        ColumnEnds { low: end, high: end, stored: 0, groups: 0 }
    }
}

/// For each group, whether it lies far outside the box of the others. A group changes the box only in the columns in
/// which it alone holds an end.
fn far_groups(ends: &[ColumnEnds], groups: usize, largest: f64) -> Vec<bool> {
    // Values of at most 1, so that no square overflows.
    let scale = largest.max(f64::MIN_POSITIVE);
    let mut diagonal = 0.0;
    // The squared distance of each group from the box of the others, and by how much it enlarges the squared diagonal.
    let mut of_group = vec![(0.0, 0.0); groups];
    for ColumnEnds { low, high, .. } in ends {
        let range = high.first / scale + low.first / scale;
        diagonal += range * range;
        for end in [low, high] {
            let beyond = end.first / scale - end.second / scale;
            if beyond > 0.0
                && let Some((distance, enlarged)) = of_group.get_mut(end.group as usize)
            {
                *distance += beyond * beyond;
                *enlarged += beyond * (2.0 * range - beyond);
            }
        }
    }
    of_group
        .iter()
        .map(|(distance, enlarged)| *distance > FAR * FAR * (diagonal - enlarged).max(0.0))
        .collect()
}

impl Fitted {
    /// The training rows, ascending, that lie far outside the others: each one's distance from the box of the other rows
    /// is more than half of the diagonal of the box. Copies of a row count as one. Their labels are guesses. Empty for
    /// fewer than 20 distinct rows and for a clustering read from a file.
    ///
    /// ```
    /// use rpfcluster::{Points, RpfCluster};
    /// let mut values: Vec<f64> = (0..100).map(|i| f64::from(i % 2) * 10.0 + f64::from(i) * 0.01).collect();
    /// values[7] = 40.0;
    /// let fitted = RpfCluster { k: 2, ..Default::default() }.fit(&Points::new(&values, 100, 1)?)?;
    /// assert_eq!(fitted.far_training_rows(), [7]);
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn far_training_rows(&self) -> &[u32] {
        &self.far
    }

    /// The rows, ascending, that lie far outside the training rows: their distance from the box of the training rows is
    /// more than half of the diagonal of the box. Their predicted labels are extrapolations. Empty for a model of a
    /// version that did not store the ranges.
    ///
    /// ```
    /// use rpfcluster::{Points, RpfCluster};
    /// let values: Vec<f64> = (0..100).map(|i| f64::from(i % 2) * 10.0 + f64::from(i) * 0.01).collect();
    /// let fitted = RpfCluster { k: 2, ..Default::default() }.fit(&Points::new(&values, 100, 1)?)?;
    /// assert_eq!(fitted.far_rows(&Points::new(&[0.5, 11.0, 40.0], 3, 1)?)?, [2]);
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn far_rows<R: Real>(&self, points: &Points<R>) -> Result<Vec<usize>> {
        let Some(extent) = &self.extent else { return Ok(Vec::new()) };
        if points.d() != extent.0.len() {
            return Err(Error::Columns { got: points.d(), expected: extent.0.len() });
        }
        Ok(extent.far_rows(points))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;

    /// 40 rows of d columns of values from 0 to 1, among them both.
    fn square(d: usize) -> Vec<f64> {
        (0..40 * d).map(|at| ((at / d + 1) * (at % d + 3) * 7 % 40) as f64 / 39.0).collect()
    }

    fn far(values: &[f64], d: usize) -> Vec<u32> {
        let points = Points::new(values, values.len() / d, d).unwrap();
        let groups = DistinctRows::find(&points, &Silent).unwrap();
        Extent::new(&points, groups.as_ref()).1
    }

    /// What predict says about each row when it and its copies are left out.
    fn far_when_left_out(values: &[f64], d: usize) -> Vec<u32> {
        let rows: Vec<&[f64]> = values.chunks_exact(d).collect();
        let is_far = |row: &usize| {
            let others: Vec<f64> =
                rows.iter().filter(|other| **other != rows[*row]).copied().flatten().copied().collect();
            let others = Points::new(&others, others.len() / d, d).unwrap();
            let extent = Extent::new(&others, None).0;
            !extent.far_rows(&Points::new(rows[*row], 1, d).unwrap()).is_empty()
        };
        (0..rows.len()).filter(is_far).map(|row| row as u32).collect()
    }

    #[test]
    fn a_row_is_far_by_more_than_half_of_the_diagonal() {
        let points = Points::new(&[0.0, 5.0, 3.0, 5.0, 3.0, 9.0], 3, 2).unwrap();
        let extent = Extent::new(&points, None).0;
        assert_eq!(extent.0, [[0.0, 3.0], [5.0, 9.0]]);
        // The diagonal is 5.
        let far = |row: [f64; 2]| !extent.far_rows(&Points::new(&row, 1, 2).unwrap()).is_empty();
        assert!(!far([5.4, 7.0]) && far([5.6, 7.0]) && !far([1.0, 2.6]) && far([1.0, 2.4]));
        // Excesses of two columns add up as in the distance.
        assert!(!far([4.7, 10.7]) && far([4.8, 10.8]));
        let sparse = Points::sparse(&[0, 1, 1], &[0], &[4.0], 2, 2).unwrap();
        assert_eq!(Extent::new(&sparse, None).0.0, [[0.0, 4.0], [0.0, 0.0]]);
    }

    #[test]
    fn training_rows_are_far_as_predict_says_when_they_are_left_out() {
        for d in [1, 2, 5] {
            let mut tables = vec![square(d)];
            for (row, value) in [(3, 1.4), (3, 1.6), (17, -0.7), (39, 2.3), (0, 3.0), (0, 1e9)] {
                for columns in [1, d] {
                    let mut values = square(d);
                    values[row * d..][..columns].fill(value);
                    tables.push(values.clone());
                    // Copies of the row count as one with it; a row like it, but not equal, keeps it company.
                    values.extend_from_within(row * d..(row + 1) * d);
                    tables.push(values.clone());
                    values.extend_from_within(row * d..(row + 1) * d);
                    *values.last_mut().unwrap() += 0.01;
                    tables.push(values);
                }
            }
            let expected: Vec<_> = tables.iter().map(|values| far_when_left_out(values, d)).collect();
            assert!(expected.iter().any(|far| far.len() == 2) && expected[0].is_empty());
            for (values, expected) in tables.iter().zip(expected) {
                assert_eq!(far(values, d), expected, "{values:?}");
            }
        }
    }

    #[test]
    fn few_rows_constant_columns_and_rare_entries_name_no_row() {
        assert!(far(&[0.0, 1.0, 2.0, 50.0], 1).is_empty());
        assert!(far(&[7.0; 60], 2).is_empty());
        // Each column but the first has one row that differs, by the range of the first.
        let mut rare = vec![0.0; 40 * 41];
        (0..40).for_each(|row| (rare[row * 41], rare[row * 41 + 1 + row]) = (row as f64 / 39.0, 1.0));
        assert!(far(&rare, 41).is_empty());
    }

    #[test]
    fn sparse_rows_and_single_precision_name_the_same_rows() {
        // The zeros of row 3 are far below all values, as are those of rows 3 and 4 together, which are copies.
        for zeros in [vec![3], vec![3, 4], vec![]] {
            let mut dense: Vec<f64> = square(3).iter().map(|value| value + 5.0).collect();
            zeros.iter().for_each(|row: &usize| dense[row * 3..][..3].fill(0.0));
            dense[9 * 3 + 1] = 0.0;
            let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in dense.chunks_exact(3) {
                for (column, value) in (0..).zip(row).filter(|(_, value)| **value != 0.0) {
                    columns.push(column);
                    values.push(*value);
                }
                starts.push(values.len());
            }
            let sparse = Points::sparse(&starts, &columns, &values, 40, 3).unwrap();
            let groups = DistinctRows::find(&sparse, &Silent).unwrap();
            let (extent, found) = Extent::new(&sparse, groups.as_ref());
            let expected = far(&dense, 3);
            assert_eq!(expected, far_when_left_out(&dense, 3));
            assert_eq!(found, expected);
            assert!(zeros.iter().all(|row| found.contains(&(*row as u32))), "{found:?}");
            assert!(extent.far_rows(&sparse).is_empty());
            let singles: Vec<f32> = dense.iter().map(|value| *value as f32).collect();
            assert_eq!(Extent::new(&Points::new(&singles, 40, 3).unwrap(), groups.as_ref()).1, expected);
        }
    }

    #[test]
    fn huge_values_do_not_overflow() {
        let mut values: Vec<f64> = square(2).iter().map(|value| (value - 0.5) * 1e308).collect();
        assert!(far(&values, 2).is_empty());
        values[4] = f64::MAX;
        assert_eq!(far(&values, 2), [2]);
        let tiny: Vec<f64> = values.iter().map(|value| value * 1e-308 * 1e-308).collect();
        assert_eq!(far(&tiny, 2), [2]);
    }
}
