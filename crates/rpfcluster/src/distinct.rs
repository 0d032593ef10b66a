//! Distinct rows and how often each occurs.
//!
//! Algorithm 1 of the paper never splits identical rows: `min_node` or more of them fill a leaf of their own in every
//! tree, and nothing connects them to the rows around them. A fit therefore grows its forest on the distinct rows and
//! counts each as often as it occurs in the degrees of the graph and in k-means. Rows that differ by no more than
//! [`TOLERANCE`] of the spread of each column count as equal: measured values rarely repeat exactly.
//!
//! Rows are sorted along one random direction, and each is compared with the groups whose first row lies next to it:
//! O(n d + n log n), a small part of growing one tree.

use rayon::prelude::*;

use crate::error::Result;
use crate::observe::{Observer, check};
use crate::points::{Points, Real};
use crate::random::{Purpose, Stream, sample_rows};

/// Rows closer than this share of the spread of every column count as equal: six digits.
const TOLERANCE: f64 = 1e-6;
/// Standard deviations of the projection of such a difference within which groups are compared.
const WINDOW: f64 = 4.0;
/// Fewer copies than this neither fill a leaf nor the shortest list of neighbours that is tried, and change nothing.
const MIN_COPIES: u32 = 5;
/// Rows from which the spread of the columns is estimated.
pub(crate) const RANGE_ROWS: usize = 1000;
/// Rows between two checks for cancellation.
const CHECK_ROWS: usize = 1 << 14;

/// The distinct rows of a table, numbered by first appearance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DistinctRows {
    /// The first row of each group of equal rows, ascending.
    pub first: Vec<u32>,
    /// Number of rows of each group.
    pub copies: Vec<u32>,
    /// The group of each row.
    pub group_of: Vec<u32>,
}

impl DistinctRows {
    /// The groups of equal rows; `None` where no row occurs twice.
    pub fn find<R: Real>(points: &Points<R>, observer: &dyn Observer) -> Result<Option<Self>> {
        let n = points.n();
        let ranges = column_ranges(points);
        let projected = projections(points, &ranges);
        check(observer)?;
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.par_sort_unstable_by(|&a, &b| {
            projected[a as usize].total_cmp(&projected[b as usize]).then(a.cmp(&b))
        });
        let near = WINDOW * TOLERANCE * (ranges.iter().filter(|range| **range > 0.0).count() as f64).sqrt();
        // Where no two neighbours along the direction are close, no two rows are equal.
        if !order.windows(2).any(|pair| projected[pair[1] as usize] - projected[pair[0] as usize] <= near) {
            return Ok(None);
        }
        let mut leader_of = vec![0u32; n];
        let mut leaders: Vec<u32> = Vec::new();
        let mut oldest = 0;
        for (at, &row) in order.iter().enumerate() {
            if at.is_multiple_of(CHECK_ROWS) {
                check(observer)?;
            }
            let here = projected[row as usize];
            while oldest < leaders.len() && here - projected[leaders[oldest] as usize] > near {
                oldest += 1;
            }
            let equal = leaders[oldest..]
                .iter()
                .rev()
                .find(|leader| is_equal(points, **leader as usize, row as usize, &ranges));
            leader_of[row as usize] = match equal {
                Some(leader) => *leader,
                None => {
                    leaders.push(row);
                    row
                }
            };
        }
        let found = Self::new(&leader_of);
        Ok((found.len() < n).then_some(found))
    }

    /// Whether some row occurs often enough to change a forest.
    pub fn has_many_copies(&self) -> bool {
        self.copies.iter().any(|copies| *copies >= MIN_COPIES)
    }

    /// From any labels of the groups, below n.
    fn new(label_of: &[u32]) -> Self {
        const NONE: u32 = u32::MAX;
        let mut number = vec![NONE; label_of.len()];
        let (mut first, mut copies) = (Vec::new(), Vec::new());
        let group_of = (0u32..)
            .zip(label_of)
            .map(|(row, &label)| {
                let group = &mut number[label as usize];
                if *group == NONE {
                    *group = first.len() as u32;
                    first.push(row);
                    copies.push(0);
                }
                copies[*group as usize] += 1;
                *group
            })
            .collect();
        DistinctRows { first, copies, group_of }
    }

    /// From the group of each row, as a model file stores it; `None` when they are not numbered by first appearance.
    #[cfg(feature = "serde")]
    pub fn from_groups(group_of: Vec<u32>) -> Option<Self> {
        if group_of.iter().any(|group| *group as usize >= group_of.len()) {
            return None;
        }
        let found = Self::new(&group_of);
        (found.group_of == group_of).then_some(found)
    }

    /// Number of distinct rows.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// The value of each row, from one value for each distinct row.
    pub fn expand<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.group_of.iter().map(|group| values[*group as usize]).collect()
    }
}

/// The spread of each column: the range of its values without the lowest and the highest tenth, so that outliers do not
/// make other rows equal. From a sample of the rows.
fn column_ranges<R: Real>(points: &Points<R>) -> Vec<f64> {
    let (n, d) = (points.n(), points.d());
    let rows = sample_rows(0, n, RANGE_ROWS);
    let mut of_column: Vec<Vec<f64>> = vec![Vec::new(); d];
    for &row in &rows {
        points.each_value(row as usize, |column, value| of_column[column].push(value.to_f64()));
    }
    let range = |mut values: Vec<f64>| {
        // Entries that a sparse row does not store are zero.
        values.resize(rows.len(), 0.0);
        values.sort_unstable_by(f64::total_cmp);
        let trimmed = (values.len() / 10).max(1).min((values.len() - 1) / 2);
        // A difference that overflows is at least the largest number, which leaves rows of either sign apart.
        (values[values.len() - 1 - trimmed] - values[trimmed]).min(f64::MAX)
    };
    of_column.into_par_iter().map(range).collect()
}

/// The projection of each row along one random direction, every column in units of its spread.
fn projections<R: Real>(points: &Points<R>, ranges: &[f64]) -> Vec<f64> {
    let mut direction = vec![0.0; points.d()];
    Stream::new(0, Purpose::Sample, 3, 0).normals(&mut direction);
    for (r, range) in direction.iter_mut().zip(ranges) {
        *r = if *range > 0.0 { *r / range } else { 0.0 };
    }
    let project = |row: usize| {
        let mut sum = 0.0;
        points.each_value(row, |column, value| sum += value.to_f64() * direction[column]);
        sum
    };
    (0..points.n()).into_par_iter().map(project).collect()
}

/// Whether two rows agree in every column within the tolerance.
fn is_equal<R: Real>(points: &Points<R>, a: usize, b: usize, ranges: &[f64]) -> bool {
    points.rows_agree(a, b, |column, x, y| (x - y).abs() <= TOLERANCE * ranges[column])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;

    fn find(values: &[f64], d: usize) -> Option<DistinctRows> {
        DistinctRows::find(&Points::new(values, values.len() / d, d).unwrap(), &Silent).unwrap()
    }

    #[test]
    fn copies_are_counted_whatever_their_order() {
        let values: Vec<f64> = (0..30).flat_map(|i| [f64::from(i % 3), f64::from(i % 3 * 7)]).collect();
        let found = find(&values, 2).unwrap();
        assert_eq!(found.first, [0, 1, 2]);
        assert_eq!(found.copies, [10, 10, 10]);
        assert_eq!(found.group_of[..5], [0, 1, 2, 0, 1]);
        assert_eq!(found.expand(&['a', 'b', 'c'])[3..6], ['a', 'b', 'c']);
        assert_eq!(DistinctRows::new(&found.group_of), found);
    }

    #[test]
    fn a_small_jitter_does_not_separate_copies_and_a_large_one_does() {
        let jittered = |by: f64| -> Vec<f64> {
            (0..40)
                .flat_map(|i| [f64::from(i % 4) + by * f64::from(i * 7 % 11) / 11.0, f64::from(i % 2)])
                .collect()
        };
        assert_eq!(find(&jittered(1e-7), 2).unwrap().len(), 4);
        assert_eq!(find(&jittered(1e-2), 2), None);
    }

    #[test]
    fn few_copies_and_constant_columns_change_nothing() {
        let few: Vec<f64> = (0..40).map(|i| f64::from(i / 4)).collect();
        let found = find(&few, 1).unwrap();
        assert!(found.len() == 10 && !found.has_many_copies());
        let distinct: Vec<f64> = (0..40).flat_map(|i| [3.0, f64::from(i)]).collect();
        assert_eq!(find(&distinct, 2), None);
        let one = find(&[1.0; 20], 2).unwrap();
        assert!(one.len() == 1 && one.has_many_copies());
    }

    #[test]
    fn outliers_do_not_make_the_other_rows_equal() {
        let mut values: Vec<f64> = (0..40).map(f64::from).collect();
        for outlier in 0..4 {
            values[10 * outlier + 1] = 1e9 + 1e6 * outlier as f64;
            assert_eq!(find(&values, 1), None, "{outlier}");
        }
    }

    #[test]
    fn rows_whose_difference_overflows_are_distinct() {
        let values: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 1e308 } else { -1e308 }).collect();
        assert_eq!(find(&values, 1).unwrap().copies, [20, 20]);
        assert_eq!(find(&values, 2).unwrap().copies, [20]);
        let largest: Vec<f64> = (0..40).map(|i| [f64::MAX, f64::MIN, 0.0, 1e305][i % 4]).collect();
        assert_eq!(find(&largest, 1).unwrap().copies, [10; 4]);
    }

    #[test]
    fn sparse_rows_give_the_groups_of_dense_rows() {
        let dense = [0.0, 2.0, 0.0, 2.0, 0.0, 2.0, 0.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0];
        let starts = [0, 1, 2, 3, 4, 5, 6, 6];
        let sparse =
            Points::sparse(&starts, &[1, 1, 1, 1, 1, 0], &[2.0, 2.0, 2.0, 2.0, 2.0, 1.0], 7, 2).unwrap();
        let found = DistinctRows::find(&sparse, &Silent).unwrap();
        assert_eq!(found, find(&dense, 2));
        assert_eq!(found.unwrap().copies, [5, 1, 1]);
    }
}
