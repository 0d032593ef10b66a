//! What the columns of a table tell before clustering, without labels: columns that decide nearly everything, and
//! columns that look like identifiers.
//!
//! `spread` finds columns that decide nearly everything, `identifier` those that look like identifiers.
//!
//! At most four passes over the stored values; memory O(d) and one bit per row for each column that may be evenly
//! spaced.

mod identifier;
mod spread;

use crate::points::{AnyPoints, Points, Real};
use crate::printable::excerpt;
use identifier::identifiers;
use spread::{deviations, dominant, extents, scales};

/// Names in a sentence before the rest is counted.
const NAMES: usize = 5;

/// A column (or few) that decides nearly everything, or that looks like an identifier. Columns are counted from 0.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ColumnProblem {
    /// Few columns hold nearly all of the spread of random projections.
    Dominant {
        /// The columns, the largest share first.
        columns: Vec<usize>,
        /// Their expected share of the variance of a random projection.
        share: f64,
    },
    /// The spreads of the columns differ by more than a factor of 100, and none is dominant.
    Scales {
        /// The column of the largest spread and that of the smallest, constant columns aside.
        columns: [usize; 2],
        /// The ratio of their standard deviations.
        ratio: f64,
    },
    /// All values differ, and they are sorted or evenly spaced.
    Identifier {
        /// The column.
        column: usize,
        /// What the values have in common.
        order: IdentifierOrder,
    },
}

/// What the values of an identifier have in common, apart from being different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum IdentifierOrder {
    /// They rise, or fall, from every row to the next.
    Sorted,
    /// They are whole numbers with equal steps between them, in any order of the rows.
    EvenlySpaced,
}

impl ColumnProblem {
    /// The columns concerned, counted from 0.
    pub fn columns(&self) -> &[usize] {
        match self {
            ColumnProblem::Dominant { columns, .. } => columns,
            ColumnProblem::Scales { columns, .. } => columns,
            ColumnProblem::Identifier { column, .. } => std::slice::from_ref(column),
        }
    }

    /// The problem and its remedy in one sentence. A column without a name is given by its number, counted from 1.
    ///
    /// ```
    /// # use rpfcluster::{Points, columns::column_problems};
    /// let values: Vec<f64> = (0..100).flat_map(|i| [f64::from(i), f64::from(i * 7 % 4)]).collect();
    /// let problems = column_problems(&Points::new(&values, 100, 2)?);
    /// let names = ["id".to_string(), "size".to_string()];
    /// assert_eq!(
    ///     problems[1].sentence(&names),
    ///     "Column id looks like an identifier (all values different and evenly spaced); leave it out."
    /// );
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn sentence(&self, names: &[String]) -> String {
        let named = subject(self.columns(), names);
        match self {
            ColumnProblem::Dominant { columns, share } => {
                let (account, they, them) = match columns.len() {
                    1 => ("accounts", "it decides", "it"),
                    _ => ("account", "they decide", "them"),
                };
                let percent = match 100.0 * share {
                    percent if percent >= 99.95 => "more than 99.9 %".to_string(),
                    percent => format!("{percent:.1} %"),
                };
                format!(
                    "{named} {account} for {percent} of the spread of the rows, so {they} the clusters almost alone; \
                     standardise the columns, or leave {them} out."
                )
            }
            ColumnProblem::Scales { columns, ratio } => {
                let [largest, smallest] = columns.map(|column| subject(&[column], names));
                let smallest = smallest.replacen('C', "c", 1);
                format!(
                    "{largest} varies {ratio:.0} times as much as {smallest}, which hardly counts; standardise the columns \
                     to give each the same weight."
                )
            }
            ColumnProblem::Identifier { order, .. } => {
                let order = match order {
                    IdentifierOrder::Sorted => "sorted",
                    IdentifierOrder::EvenlySpaced => "evenly spaced",
                };
                format!("{named} looks like an identifier (all values different and {order}); leave it out.")
            }
        }
    }
}

/// `Column a`, `Columns a, b and c`, or five names `and 7 more`.
fn subject(columns: &[usize], names: &[String]) -> String {
    let name = |column: &usize| match names.get(*column) {
        Some(name) if !name.is_empty() => excerpt(name, 80),
        _ => (column + 1).to_string(),
    };
    let mut parts: Vec<String> = columns.iter().take(NAMES).map(name).collect();
    if columns.len() > NAMES {
        parts.push(format!("{} more", columns.len() - NAMES));
    }
    match parts.split_last() {
        Some((last, [])) => format!("Column {last}"),
        Some((last, others)) => format!("Columns {} and {last}", others.join(", ")),
        None => "No column".to_string(),
    }
}

/// The problems of the columns of a table: dominant columns first, then identifiers in column order. None for a table
/// of one column.
pub fn column_problems<R: Real>(points: &Points<R>) -> Vec<ColumnProblem> {
    match R::any(*points) {
        AnyPoints::F32(points) => problems(&points),
        AnyPoints::F64(points) => problems(&points),
    }
}

fn problems<R: Real>(points: &Points<R>) -> Vec<ColumnProblem> {
    if points.d() < 2 {
        return Vec::new();
    }
    let extents = extents(points);
    let deviations = deviations(points, &extents);
    let mut found: Vec<ColumnProblem> =
        dominant(&deviations).or_else(|| scales(&deviations)).into_iter().collect();
    found.extend(identifiers(points, &extents, &deviations));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(columns: &[Vec<f64>]) -> Vec<ColumnProblem> {
        let (n, d) = (columns[0].len(), columns.len());
        let values: Vec<f64> = (0..n).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        column_problems(&Points::new(&values, n, d).unwrap())
    }

    fn column(n: i32, value: impl Fn(i32) -> f64) -> Vec<f64> {
        (0..n).map(value).collect()
    }

    /// Fractions between 0 and 1 in no order, with repetitions.
    fn noise(row: i32) -> f64 {
        f64::from(row * 37 % 101 % 11) / 11.0
    }

    /// Two groups of rows, three apart.
    fn groups(row: i32) -> f64 {
        f64::from(row * 7 % 2 * 3) + noise(row)
    }

    fn identifier(column: usize, order: IdentifierOrder) -> ColumnProblem {
        ColumnProblem::Identifier { column, order }
    }

    #[test]
    fn an_id_beside_two_groups_is_dominant_and_an_identifier() {
        let found = find(&[column(200, groups), column(200, |row| f64::from(row + 1))]);
        assert_eq!(found.len(), 2);
        let ColumnProblem::Dominant { columns, share } = &found[0] else { panic!("{found:?}") };
        assert_eq!(columns, &[1]);
        // The variance of 1..n is (n² − 1) / 12.
        let values = column(200, groups);
        let mean = values.iter().sum::<f64>() / 200.0;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 200.0;
        let id = (200.0f64 * 200.0 - 1.0) / 12.0;
        assert!((share - id / (id + variance)).abs() < 1e-12, "{share}");
        assert_eq!(found[1], identifier(1, IdentifierOrder::EvenlySpaced));
    }

    #[test]
    fn shuffled_evenly_spaced_ids_are_identifiers_and_a_gap_or_a_copy_is_not() {
        // 37 is prime to 100: a permutation of 0..100, shifted below zero, in steps of 5.
        let id = column(100, |row| f64::from(row * 37 % 100 * 5 - 50));
        let noise = column(100, noise);
        let is_found = |id: &Vec<f64>| {
            find(&[noise.clone(), id.clone()]).contains(&identifier(1, IdentifierOrder::EvenlySpaced))
        };
        assert!(is_found(&id));
        for changed in [id[0] + 1.0, id[1], id[0] + 0.5, 1000.0] {
            let mut id = id.clone();
            id[0] = changed;
            assert!(!is_found(&id), "{changed}");
        }
    }

    #[test]
    fn sorted_timestamps_are_identifiers() {
        let seconds = |row: i32| 1.7e9 + f64::from(row * row) + noise(row) / 2.0;
        let falling = column(60, |row| -seconds(row));
        let found = find(&[column(60, seconds), column(60, groups), falling]);
        let sorted: Vec<_> = found.iter().filter(|one| one.columns().len() == 1).cloned().collect();
        assert_eq!(sorted, [0, 2].map(|column| identifier(column, IdentifierOrder::Sorted)));
        // One pair of rows exchanged, or a value twice.
        for (to, from) in [(30, 31), (31, 30)] {
            let mut times = column(60, seconds);
            times[to] = seconds(from);
            let found = find(&[times, column(60, groups)]);
            assert!(found.iter().all(|one| matches!(one, ColumnProblem::Dominant { .. })), "{found:?}");
        }
    }

    #[test]
    fn a_short_table_has_no_identifiers() {
        let of = |n| find(&[column(n, f64::from), column(n, |row| groups(row) * 10.0)]);
        assert_eq!(of(19), []);
        assert_eq!(of(20), [identifier(0, IdentifierOrder::EvenlySpaced)]);
    }

    #[test]
    fn curves_and_ranks_have_no_identifiers() {
        let time = column(50, |row| f64::from(row) + 0.5);
        let growth = column(50, |row| (f64::from(row) / 10.0).exp());
        assert_eq!(find(&[time.clone(), growth.clone()]), []);
        // Whole numbers are the identifier of the two.
        let id = column(50, |row| f64::from(row + 1));
        assert_eq!(find(&[growth, id.clone()]), [identifier(1, IdentifierOrder::EvenlySpaced)]);
        let ranks = column(50, |row| f64::from(row * 17 % 50 + 1));
        assert_eq!(find(&[id.clone(), ranks.clone()]), []);
        // A constant column is not what remains.
        assert_eq!(find(&[id.clone(), vec![3.0; 50], ranks]), []);
        assert_eq!(find(&[id, vec![3.0; 50]]), []);
    }

    #[test]
    fn spreads_of_four_to_one_are_natural_and_twenty_to_one_are_not() {
        let by = |factor: f64| {
            find(&[column(100, noise), column(100, |row| factor * f64::from(row * 61 % 97 % 13) / 13.0)])
        };
        assert_eq!(by(4.0), []);
        let found = by(20.0);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].columns(), [1]);
    }

    #[test]
    fn columns_of_similar_spread_have_no_problem() {
        // Standard deviations as those of the irises: 0.83, 0.43, 1.76, 0.76.
        let of =
            |spread: f64, step: i32| column(150, move |row| spread * f64::from(row * step % 151 % 17) / 5.0);
        assert_eq!(find(&[of(0.83, 31), of(0.43, 57), of(1.76, 83), of(0.76, 101)]), []);
    }

    #[test]
    fn one_column_in_ten_may_be_dominant() {
        let table = |large: usize, factor: f64| {
            let spread = |at: usize| if at < large { factor } else { 1.0 };
            let of = |at: usize| column(60, move |row| spread(at) * noise(row * (at as i32 + 1)));
            find(&(0..20).map(of).collect::<Vec<_>>())
        };
        assert_eq!(table(0, 50.0), []);
        assert_eq!(table(2, 50.0)[0].columns().len(), 2);
        assert_eq!(table(3, 50.0), []);
        // Beyond a factor of 100, more columns than that are a difference of scales.
        assert!(matches!(table(2, 1000.0)[..], [ColumnProblem::Dominant { .. }]));
        assert!(matches!(table(3, 1000.0)[..], [ColumnProblem::Scales { .. }]));
    }

    #[test]
    fn constant_columns_change_nothing() {
        let constant = vec![0.1; 100];
        assert_eq!(find(&[constant.clone(), constant.clone()]), []);
        assert_eq!(find(&[constant.clone(), column(100, groups), vec![0.0; 100]]), []);
        let large = column(100, |row| 1000.0 * groups(row));
        let alone = find(&[large.clone(), column(100, noise)]);
        assert_eq!(alone.len(), 1);
        assert_eq!(find(&[large, column(100, noise), constant]), alone);
    }

    #[test]
    fn one_column_or_one_row_has_no_problem() {
        assert_eq!(find(&[column(100, f64::from)]), []);
        assert_eq!(find(&[vec![1.0], vec![1e9]]), []);
    }

    #[test]
    fn sparse_tables_give_the_problems_of_dense_tables() {
        // Column 0 counts from 0 and column 2 down to 0, so each has one zero; column 1 is mostly zeros.
        let rows = 64;
        let row_of = |row: i32| {
            [f64::from(row), if row % 5 == 0 { 2.0 * noise(row) } else { 0.0 }, f64::from(63 - row)]
        };
        let dense: Vec<f64> = (0..rows).flat_map(row_of).collect();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..rows {
            // Row 0 stores its zeros.
            for (column, value) in (0..).zip(row_of(row)).filter(|(_, value)| row == 0 || *value != 0.0) {
                columns.push(column);
                values.push(value);
            }
            starts.push(values.len());
        }
        let expected = column_problems(&Points::new(&dense, 64, 3).unwrap());
        let ids = [0, 2].map(|column| identifier(column, IdentifierOrder::EvenlySpaced));
        assert_eq!(expected, ids);
        let sparse = column_problems(&Points::sparse(&starts, &columns, &values, 64, 3).unwrap());
        assert_eq!(sparse, expected);

        // The zero of a column in the middle and in the last row is not stored; the third column is dominant.
        let starts: Vec<usize> = (0..=40).map(|row| row * 2).collect();
        let row_of = |row: i32| match row {
            20 => [(1, 3.0), (2, 3e5)],
            39 => [(0, 19.0), (2, 1e5)],
            _ => [(0, f64::from(row - 20)), (1, noise(row) + 1.0)],
        };
        let entries: Vec<(u32, f64)> = (0..40).flat_map(row_of).collect();
        let (columns, values): (Vec<u32>, Vec<f64>) = entries.iter().copied().unzip();
        let mut dense = vec![0.0; 120];
        for (at, (column, value)) in entries.iter().enumerate() {
            dense[at / 2 * 3 + *column as usize] = *value;
        }
        let expected = column_problems(&Points::new(&dense, 40, 3).unwrap());
        assert_eq!(expected[0].columns(), [2]);
        assert_eq!(expected[1..], [identifier(0, IdentifierOrder::EvenlySpaced)]);
        assert_eq!(column_problems(&Points::sparse(&starts, &columns, &values, 40, 3).unwrap()), expected);
    }

    #[test]
    fn huge_and_tiny_values_neither_overflow_nor_vanish() {
        let alternating = |size: f64| column(40, move |row| if row * 7 % 3 == 0 { size } else { -size });
        for size in [f64::MAX, 1e300, 1.0, 1e-300, 5e-324] {
            assert_eq!(find(&[alternating(size), alternating(size)]), [], "{size}");
        }
        for (large, small) in [(f64::MAX, 1.0), (1e300, 1e-300), (1.0, 5e-324)] {
            let found = find(&[alternating(small), alternating(large)]);
            assert_eq!(found, [ColumnProblem::Dominant { columns: vec![1], share: 1.0 }], "{large}");
        }
        // Too large to be counted, still sorted.
        let nanoseconds = column(40, |row| 1.7e300 + 1e298 * f64::from(row));
        assert_eq!(find(&[nanoseconds, column(40, noise)])[1], identifier(0, IdentifierOrder::Sorted));
    }

    #[test]
    fn single_precision_gives_the_same_problems() {
        let values: Vec<f32> = (0..60).flat_map(|row| [row as f32, (row * 7 % 5) as f32]).collect();
        let found = column_problems(&Points::new(&values, 60, 2).unwrap());
        assert_eq!(found[1..], [identifier(0, IdentifierOrder::EvenlySpaced)]);
    }

    #[test]
    fn sentences_name_five_columns_and_count_the_rest() {
        let names: Vec<String> = ["id", "income", "", "d", "e", "f"].map(String::from).to_vec();
        let dominant =
            |columns: &[usize], share| ColumnProblem::Dominant { columns: columns.to_vec(), share };
        assert_eq!(
            dominant(&[1], 0.9981).sentence(&names),
            "Column income accounts for 99.8 % of the spread of the rows, so it decides the clusters almost alone; \
             standardise the columns, or leave it out."
        );
        assert_eq!(
            dominant(&[1, 0], 0.99996).sentence(&names),
            "Columns income and id account for more than 99.9 % of the spread of the rows, so they decide the clusters \
             almost alone; standardise the columns, or leave them out."
        );
        let many: Vec<usize> = (0..12).collect();
        assert!(
            dominant(&many, 0.9)
                .sentence(&names)
                .starts_with("Columns id, income, 3, d, e and 7 more account for 90.0 %")
        );
        assert!(dominant(&many[..5], 0.9).sentence(&[]).starts_with("Columns 1, 2, 3, 4 and 5 account"));
        assert_eq!(
            identifier(2, IdentifierOrder::Sorted).sentence(&[]),
            "Column 3 looks like an identifier (all values different and sorted); leave it out."
        );
    }
}
