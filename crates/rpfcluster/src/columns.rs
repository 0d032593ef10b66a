//! What the columns of a table tell before clustering, without labels: columns that decide nearly everything, and
//! columns that look like identifiers.
//!
//! A projection is p = Σ rⱼ xⱼ with independent standard normal rⱼ, so the variance of p over the rows has the
//! expectation E[Σ rᵢ rⱼ covᵢⱼ] = Σ varⱼ over the directions, and column j contributes the share varⱼ / Σ var.
//! Variances are computed by Welford's method (Technometrics 4(3), 1962) on values divided by the largest of their
//! column, so that no finite value overflows. Zeros are left out and merged at the end by the formula of Chan, Golub
//! and LeVeque (1979): dense and sparse tables give the same bits.
//!
//! An identifier numbers the rows and describes none of them. Its values all differ, and they are strictly sorted or
//! whole and evenly spaced. Nothing else tells it from a measurement: a table that somebody sorted by a measured column
//! is reported as well, therefore "looks like".
//!
//! At most four passes over the stored values; memory O(d) and one bit per row for each column that may be evenly
//! spaced.

use crate::points::{AnyPoints, Points, Real};
use crate::printable::excerpt;

/// Share of the spread from which columns decide nearly everything: the others move a projection by less than a third
/// of its standard deviation.
const DOMINANT_SHARE: f64 = 0.9;
/// One in this many columns may be dominant, and always one. More are no exception but the data.
const COLUMNS_PER_DOMINANT: usize = 10;
/// Standard deviations of a dominant column, in medians of those of the other columns. Measurements in one unit differ
/// by small factors (petal length and sepal width of irises: 4); a factor of ten comes from another unit.
const DOMINANT_RATIO: f64 = 10.0;
/// Ratio of standard deviations beyond which a column of small spread hardly counts.
const SCALE_RATIO: f64 = 100.0;
/// Fewest rows of an identifier. Twenty measured values are sorted by chance once in 20! / 2 tables; the values of a
/// short table may well be sorted or evenly spaced on purpose.
const MIN_ROWS: usize = 20;
/// Largest whole number with an exact successor in an f64: 2^53.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;
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
                let (hold, them) = if columns.len() == 1 { ("holds", "it") } else { ("hold", "them") };
                let percent = match 100.0 * share {
                    percent if percent >= 99.95 => "more than 99.9 %".to_string(),
                    percent => format!("{percent:.1} %"),
                };
                format!(
                    "{named} {hold} {percent} of the spread of random projections, so the clusters follow {them} \
                     almost alone; standardise the columns to give each the same weight."
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

/// The columns of the largest and the smallest spread, where they differ by more than [`SCALE_RATIO`].
fn scales(deviations: &[f64]) -> Option<ColumnProblem> {
    let varying = || (0..deviations.len()).filter(|&column| deviations[column] > 0.0);
    let largest = varying().max_by(|&a, &b| deviations[a].total_cmp(&deviations[b]))?;
    let smallest = varying().min_by(|&a, &b| deviations[a].total_cmp(&deviations[b]))?;
    let ratio = deviations[largest] / deviations[smallest];
    (ratio > SCALE_RATIO).then_some(ColumnProblem::Scales { columns: [largest, smallest], ratio })
}

/// The values of a column other than zero.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    nonzeros: usize,
    largest: f64,
}

fn extents<R: Real>(points: &Points<R>) -> Vec<Extent> {
    let mut extents = vec![Extent::default(); points.d()];
    for row in 0..points.n() {
        points.each_value(row, |column, value| {
            let (extent, magnitude) = (&mut extents[column], value.to_f64().abs());
            extent.nonzeros += usize::from(magnitude > 0.0);
            extent.largest = extent.largest.max(magnitude);
        });
    }
    extents
}

/// The standard deviation of each column over all rows; exactly 0 for a constant column.
fn deviations<R: Real>(points: &Points<R>, extents: &[Extent]) -> Vec<f64> {
    /// Welford's running mean and sum of squared deviations of the values other than zero.
    #[derive(Clone, Copy)]
    struct Moments {
        inverse: f64,
        count: f64,
        mean: f64,
        squares: f64,
    }
    // The inverse of a subnormal number would be infinite.
    let scale = |extent: &Extent| extent.largest.max(f64::MIN_POSITIVE);
    let start = |extent| Moments { inverse: 1.0 / scale(extent), count: 0.0, mean: 0.0, squares: 0.0 };
    let mut moments: Vec<Moments> = extents.iter().map(start).collect();
    for row in 0..points.n() {
        points.each_value(row, |column, value| {
            let value = value.to_f64();
            if value != 0.0 {
                let of = &mut moments[column];
                let scaled = value * of.inverse;
                let delta = scaled - of.mean;
                of.count += 1.0;
                of.mean += delta / of.count;
                of.squares += delta * (scaled - of.mean);
            }
        });
    }
    let n = points.n() as f64;
    let deviation = |(of, extent): (&Moments, &Extent)| {
        let zeros = n - of.count;
        let squares = of.squares + of.mean * of.mean * of.count * zeros / n;
        (squares / n).sqrt() * scale(extent)
    };
    moments.iter().zip(extents).map(deviation).collect()
}

/// The fewest columns that hold [`DOMINANT_SHARE`] of the variance, when they are exceptions among the columns that
/// vary.
fn dominant(deviations: &[f64]) -> Option<ColumnProblem> {
    let mut order: Vec<usize> = (0..deviations.len()).filter(|column| deviations[*column] > 0.0).collect();
    order.sort_by(|a, b| deviations[*b].total_cmp(&deviations[*a]));
    let largest = deviations[*order.first()?];
    // Relative to the largest, so that no square overflows.
    let variance = |column: &usize| (deviations[*column] / largest).powi(2);
    let total: f64 = order.iter().map(variance).sum();
    let most = (order.len() / COLUMNS_PER_DOMINANT).max(1);
    let mut share = 0.0;
    let count = 1 + order[..most].iter().position(|column| {
        share += variance(column) / total;
        share >= DOMINANT_SHARE
    })?;
    let (leading, others) = order.split_at(count);
    // Both are sorted: the last is the smallest, the middle the median. Without other columns nothing is dominated.
    let (smallest, median) = (deviations[*leading.last()?], deviations[*others.get(others.len() / 2)?]);
    (smallest >= DOMINANT_RATIO * median)
        .then(|| ColumnProblem::Dominant { columns: leading.to_vec(), share: share.min(1.0) })
}

/// The columns that look like identifiers. At least one column that varies has to remain: columns of ranks are all
/// evenly spaced, and the columns of a measured curve are all sorted. When every column looks like an identifier,
/// sorted columns with fractions count as measured; when still none remains, nothing is reported.
fn identifiers<R: Real>(points: &Points<R>, extents: &[Extent], deviations: &[f64]) -> Vec<ColumnProblem> {
    let n = points.n();
    if n < MIN_ROWS {
        return Vec::new();
    }
    // Two zeros are two equal values, so only full columns are looked at.
    let full =
        |(column, extent): (usize, &Extent)| (extent.nonzeros + 1 >= n).then(|| (column, Order::new()));
    let candidates = extents.iter().enumerate().filter_map(full).collect();
    let ordered = scan(points, candidates, Order::accepts);
    let numbered = |(column, order): &(usize, Order)| Some((*column, Numbered::new(order, n)?));
    let numbered = scan(points, ordered.iter().filter_map(numbered).collect(), Numbered::accepts);

    let kind = |(column, order): &(usize, Order)| {
        let evenly_spaced = numbered.binary_search_by_key(column, |(column, _)| *column).is_ok();
        match evenly_spaced {
            true => Some((*column, IdentifierOrder::EvenlySpaced, order.whole)),
            false => order.is_sorted().then_some((*column, IdentifierOrder::Sorted, order.whole)),
        }
    };
    let mut found: Vec<_> = ordered.iter().filter_map(kind).collect();
    let varying = deviations.iter().filter(|deviation| **deviation > 0.0).count();
    if found.len() >= varying {
        found.retain(|(_, _, whole)| *whole);
    }
    if found.len() >= varying {
        return Vec::new();
    }
    found.into_iter().map(|(column, order, _)| ColumnProblem::Identifier { column, order }).collect()
}

/// A column read in the order of the rows.
struct Scan<T> {
    column: usize,
    state: T,
    rows: usize,
    open: bool,
}

impl<T> Scan<T> {
    /// Reads the zeros that rows before `row` do not store.
    fn zeros_until(&mut self, row: usize, accepts: &impl Fn(&mut T, f64) -> bool) {
        while self.open && self.rows < row {
            self.open = accepts(&mut self.state, 0.0);
            self.rows += 1;
        }
    }
}

/// Passes the values of some columns to `accepts` in the order of the rows, until it declines one; returns the columns
/// all of whose values it accepts. Stops with the last column.
fn scan<R: Real, T>(
    points: &Points<R>,
    columns: Vec<(usize, T)>,
    accepts: impl Fn(&mut T, f64) -> bool,
) -> Vec<(usize, T)> {
    let mut scan_of = vec![usize::MAX; points.d()];
    let mut open = columns.len();
    let start = |(at, (column, state)): (usize, (usize, T))| {
        scan_of[column] = at;
        Scan { column, state, rows: 0, open: true }
    };
    let mut scans: Vec<Scan<T>> = columns.into_iter().enumerate().map(start).collect();
    for row in 0..points.n() {
        if open == 0 {
            return Vec::new();
        }
        points.each_value(row, |column, value| {
            let Some(scan) = scans.get_mut(scan_of[column]) else { return };
            scan.zeros_until(row, &accepts);
            scan.open = scan.open && accepts(&mut scan.state, value.to_f64());
            scan.rows += 1;
            if !scan.open {
                scan_of[column] = usize::MAX;
                open -= 1;
            }
        });
    }
    scans.iter_mut().for_each(|scan| scan.zeros_until(points.n(), &accepts));
    scans.into_iter().filter(|scan| scan.open).map(|scan| (scan.column, scan.state)).collect()
}

/// Whether the values read so far rise, fall or are whole.
struct Order {
    previous: Option<f64>,
    rising: bool,
    falling: bool,
    whole: bool,
    lowest: f64,
    highest: f64,
}

impl Order {
    fn new() -> Self {
        Order {
            previous: None,
            rising: true,
            falling: true,
            whole: true,
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
        }
    }

    fn accepts(&mut self, value: f64) -> bool {
        if let Some(previous) = self.previous.replace(value) {
            self.rising &= previous < value;
            self.falling &= previous > value;
        }
        self.whole &= value.abs() <= LARGEST_WHOLE && value.fract() == 0.0;
        self.lowest = self.lowest.min(value);
        self.highest = self.highest.max(value);
        self.whole || self.is_sorted()
    }

    fn is_sorted(&self) -> bool {
        self.rising || self.falling
    }
}

/// Whether whole values fill a range of n evenly spaced numbers. Each number occurs once, so n values fill it.
struct Numbered {
    lowest: i64,
    step: i64,
    seen: Vec<u64>,
}

impl Numbered {
    /// `None` when the values are not whole, or their range is no multiple of n − 1.
    fn new(order: &Order, n: usize) -> Option<Self> {
        if !order.whole {
            return None;
        }
        // Exact: whole values are at most 2^53.
        let (lowest, gaps) = (order.lowest as i64, n as i64 - 1);
        let range = order.highest as i64 - lowest;
        (range > 0 && range % gaps == 0).then(|| Numbered {
            lowest,
            step: range / gaps,
            seen: vec![0; n.div_ceil(64)],
        })
    }

    fn accepts(&mut self, value: f64) -> bool {
        let offset = value as i64 - self.lowest;
        let place = (offset / self.step) as usize;
        let (word, bit) = (&mut self.seen[place / 64], 1 << (place % 64));
        let is_new = offset % self.step == 0 && *word & bit == 0;
        *word |= bit;
        is_new
    }
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
            "Column income holds 99.8 % of the spread of random projections, so the clusters follow it almost alone; \
             standardise the columns to give each the same weight."
        );
        assert_eq!(
            dominant(&[1, 0], 0.99996).sentence(&names),
            "Columns income and id hold more than 99.9 % of the spread of random projections, so the clusters follow \
             them almost alone; standardise the columns to give each the same weight."
        );
        let many: Vec<usize> = (0..12).collect();
        assert!(
            dominant(&many, 0.9)
                .sentence(&names)
                .starts_with("Columns id, income, 3, d, e and 7 more hold 90.0 %")
        );
        assert!(dominant(&many[..5], 0.9).sentence(&[]).starts_with("Columns 1, 2, 3, 4 and 5 hold"));
        assert_eq!(
            identifier(2, IdentifierOrder::Sorted).sentence(&[]),
            "Column 3 looks like an identifier (all values different and sorted); leave it out."
        );
    }
}
