//! The input of the library: a validated view of n rows and d columns, all finite, dense or CSR, f32 or f64; dense rows
//! may be stored in one or two bytes a value (`compact`).
//!
//! Values are checked once, here, in O(stored values). The forest works in the precision of the data: f32 rows are
//! projected in f32, f64 rows in f64.
//!
//! Dense rows may have gaps, written as NaN. Trees route such rows by node means (`forest::gaps`); everything else
//! reads the mean of the column in place of a gap.

mod compact;
mod copies;
mod keys;
mod real;

pub use compact::CompactValues;
pub(crate) use copies::scale_to_unit_length;
pub use keys::ColumnKey;
pub(crate) use keys::first_descent;
pub use real::{AnyPoints, Precision, Real};

use crate::error::{Error, Result};

/// Largest number of rows: row indices are 32-bit, and one value is reserved.
pub const MAX_ROWS: usize = u32::MAX as usize - 1;

/// Largest number of columns: column indices are 32-bit.
pub const MAX_COLUMNS: usize = u32::MAX as usize;

/// A view of the data: `n` rows of `d` finite values, some of which may be missing ([`Points::with_gaps`]).
#[derive(Debug, Clone, Copy)]
pub struct Points<'a, R> {
    n: usize,
    d: usize,
    largest: f64,
    storage: Storage<'a, R>,
    /// What the columns stand for; empty where coefficients are drawn by place.
    keys: &'a [ColumnKey],
}

/// Memory layout of the rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Storage<'a, R> {
    /// Row-major, `d` values per row.
    Dense(&'a [R]),
    /// Row-major; NaN is a gap. The mean of each column stands for its gaps wherever no tree is involved.
    Gaps { values: &'a [R], means: &'a [R] },
    /// Row-major, one or two bytes per value.
    Compact(CompactValues<'a>),
    /// Compressed sparse rows (CSR).
    Sparse { starts: &'a [usize], columns: &'a [u32], values: &'a [R] },
}

impl<'a, R: Real> Points<'a, R> {
    /// A dense row-major table.
    ///
    /// ```
    /// # use rpfcluster::Points;
    /// let points = Points::new(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 3, 2)?;
    /// assert_eq!((points.n(), points.d()), (3, 2));
    /// assert!(Points::new(&[f64::NAN, 1.0], 1, 2).is_err());
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn new(values: &'a [R], n: usize, d: usize) -> Result<Self> {
        check_shape(n, d)?;
        if n.checked_mul(d) != Some(values.len()) {
            return Err(Error::Shape { len: values.len(), n, d });
        }
        let largest = largest_magnitude(values).map_err(|(at, value)| Error::NotFinite {
            row: at / d + 1,
            column: at % d + 1,
            value,
        })?;
        Ok(Points { n, d, largest, storage: Storage::Dense(values), keys: &[] })
    }

    /// A dense row-major table with gaps: NaN is a missing value. `means` replace gaps wherever rows are not routed down
    /// trees; use [`column_means`] of the fitted rows, for new rows too. A forest keeps the means of its nodes and
    /// routes a row without a value by its other columns; where a direction has no weight on them, by a coin that
    /// depends on seed, tree, node and the values of the row.
    ///
    /// ```
    /// # use rpfcluster::{Points, column_means};
    /// let values = [0.0, f64::NAN, 2.0, 3.0];
    /// let means = column_means(&values, 2)?;
    /// assert_eq!(means, [1.0, 3.0]);
    /// assert!(Points::with_gaps(&values, 2, 2, &means).is_ok());
    /// assert!(Points::with_gaps(&[f64::INFINITY; 4], 2, 2, &means).is_err());
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn with_gaps(values: &'a [R], n: usize, d: usize, means: &'a [R]) -> Result<Self> {
        check_shape(n, d)?;
        if n.checked_mul(d) != Some(values.len()) {
            return Err(Error::Shape { len: values.len(), n, d });
        }
        if means.len() != d {
            return Err(Error::Length { what: "column means", got: means.len(), expected: d });
        }
        let mut largest = largest_magnitude(means).map_err(|(at, value)| Error::NotFinite {
            row: 1,
            column: at + 1,
            value,
        })?;
        for (at, value) in values.iter().map(|v| v.to_f64()).enumerate() {
            if value.is_infinite() {
                return Err(Error::NotFinite { row: at / d + 1, column: at % d + 1, value });
            }
            // Ignores NaN.
            largest = largest.max(value.abs());
        }
        Ok(Points { n, d, largest, storage: Storage::Gaps { values, means }, keys: &[] })
    }

    /// A sparse table in compressed rows: row i holds `columns[starts[i]..starts[i + 1]]`, ascending, and their
    /// values; everything else is zero. The trees are the same, bit for bit, as those of the dense table.
    pub fn sparse(
        starts: &'a [usize],
        columns: &'a [u32],
        values: &'a [R],
        n: usize,
        d: usize,
    ) -> Result<Self> {
        check_shape(n, d)?;
        if starts.len() != n + 1 {
            return Err(Error::Length { what: "row starts", got: starts.len(), expected: n + 1 });
        }
        if columns.len() != values.len() || starts[n] != values.len() || starts[0] != 0 {
            return Err(Error::Length { what: "stored values", got: values.len(), expected: starts[n] });
        }
        for row in 0..n {
            let (from, to) = (starts[row], starts[row + 1]);
            let ascending = from <= to
                && to <= columns.len()
                && columns[from..to].windows(2).all(|pair| pair[0] < pair[1])
                && columns[from..to].last().is_none_or(|&last| (last as usize) < d);
            if !ascending {
                return Err(Error::Shape { len: columns.len(), n, d });
            }
        }
        let largest = largest_magnitude(values).map_err(|(at, value)| Error::NotFinite {
            row: starts.partition_point(|&s| s <= at),
            column: columns[at] as usize + 1,
            value,
        })?;
        Ok(Points { n, d, largest, storage: Storage::Sparse { starts, columns, values }, keys: &[] })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns.
    pub fn d(&self) -> usize {
        self.d
    }

    /// The largest absolute value. It decides whether directions are rescaled to keep projections finite.
    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }

    pub(crate) fn storage(&self) -> Storage<'a, R> {
        self.storage
    }

    /// The means of the columns, where rows may have gaps; otherwise empty.
    pub(crate) fn means(&self) -> &'a [R] {
        match self.storage {
            Storage::Gaps { means, .. } => means,
            _ => &[],
        }
    }

    /// The same rows without the possibility of gaps; `None` where they have some.
    pub(crate) fn complete(self) -> Option<Self> {
        match self.storage {
            Storage::Gaps { values, .. } if values.iter().any(|value| value.is_nan()) => None,
            Storage::Gaps { values, .. } => Some(Points { storage: Storage::Dense(values), ..self }),
            _ => Some(self),
        }
    }

    /// The rows of this range, borrowed.
    pub(crate) fn part(&self, rows: std::ops::Range<usize>) -> Points<'a, R> {
        let n = rows.len();
        let storage = match self.storage {
            Storage::Dense(values) => Storage::Dense(&values[rows.start * self.d..rows.end * self.d]),
            Storage::Gaps { values, means } => {
                Storage::Gaps { values: &values[rows.start * self.d..rows.end * self.d], means }
            }
            Storage::Compact(values) => Storage::Compact(values.part(rows.start * self.d..rows.end * self.d)),
            Storage::Sparse { starts, columns, values } => {
                Storage::Sparse { starts: &starts[rows.start..=rows.end], columns, values }
            }
        };
        Points { n, storage, ..*self }
    }

    /// Whether every row stores all of its values, without gaps.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.storage, Storage::Dense(_) | Storage::Compact(_))
    }

    /// Whether the rows are stored in one or two bytes a value.
    pub(crate) fn is_compact(&self) -> bool {
        matches!(self.storage, Storage::Compact(_))
    }

    /// Bytes of the rows.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = match self.storage {
            Storage::Dense(values) | Storage::Gaps { values, .. } => size_of_val(values),
            Storage::Compact(values) => values.bytes(),
            Storage::Sparse { starts, columns, values } => {
                size_of_val(starts) + size_of_val(columns) + size_of_val(values)
            }
        };
        bytes as u64
    }

    /// The share of values that are not zero, stored or not. A gap is not zero.
    pub(crate) fn density(&self) -> f64 {
        let nonzero = match self.storage {
            Storage::Dense(values) | Storage::Gaps { values, .. } | Storage::Sparse { values, .. } => {
                values.iter().filter(|v| **v != R::default()).count()
            }
            Storage::Compact(values) => values.count_nonzero(),
        };
        nonzero as f64 / (self.n as f64 * self.d as f64)
    }

    /// Calls `visit` with the column and the value of each stored entry of a row, in column order; a gap has the mean of
    /// its column.
    pub(crate) fn each_value(&self, row: usize, mut visit: impl FnMut(usize, R)) {
        match self.storage {
            Storage::Gaps { values, means } => {
                let row = values[row * self.d..][..self.d].iter().zip(means);
                row.enumerate().for_each(|(column, (value, mean))| visit(column, value_or(*value, *mean)));
            }
            Storage::Dense(values) => {
                let row = &values[row * self.d..][..self.d];
                row.iter().enumerate().for_each(|(column, value)| visit(column, *value));
            }
            Storage::Compact(values) => values.each_value(row * self.d, self.d, visit),
            Storage::Sparse { starts, columns, values } => {
                let range = starts[row]..starts[row + 1];
                let stored = columns[range.clone()].iter().zip(&values[range]);
                stored.for_each(|(column, value)| visit(*column as usize, *value));
            }
        }
    }

    /// The values of a dense row, widened into `scratch` where it is compact; `None` for a sparse row and one that may have
    /// gaps.
    pub(crate) fn dense_row<'b>(&self, row: usize, scratch: &'b mut Vec<R>) -> Option<&'b [R]>
    where
        'a: 'b,
    {
        match self.storage {
            Storage::Dense(values) => Some(&values[row * self.d..][..self.d]),
            Storage::Compact(values) => {
                scratch.resize(self.d, R::default());
                values.widen(row * self.d, scratch);
                Some(scratch)
            }
            Storage::Gaps { .. } | Storage::Sparse { .. } => None,
        }
    }

    /// Writes the columns of a row from `first` on into `out`.
    pub(crate) fn copy_columns(&self, row: usize, first: usize, out: &mut [f64]) {
        match self.storage {
            Storage::Gaps { values, means } => {
                let row = values[row * self.d + first..].iter().zip(&means[first..]);
                out.iter_mut()
                    .zip(row)
                    .for_each(|(to, (value, mean))| *to = value_or(*value, *mean).to_f64());
            }
            Storage::Dense(values) => {
                let values = &values[row * self.d + first..];
                out.iter_mut().zip(values).for_each(|(to, from)| *to = from.to_f64());
            }
            Storage::Compact(values) => values.widen(row * self.d + first, out),
            Storage::Sparse { starts, columns, values } => {
                out.fill(0.0);
                let range = starts[row]..starts[row + 1];
                let (columns, values) = (&columns[range.clone()], &values[range]);
                let from = columns.partition_point(|&column| (column as usize) < first);
                for (&column, value) in columns[from..].iter().zip(&values[from..]) {
                    match out.get_mut(column as usize - first) {
                        Some(to) => *to = value.to_f64(),
                        None => break,
                    }
                }
            }
        }
    }

    /// Whether `agree(column, x, y)` holds for every column in which row `a` or row `b` stores a value. A gap agrees with
    /// a gap and with nothing else.
    pub(crate) fn rows_agree(&self, a: usize, b: usize, agree: impl Fn(usize, f64, f64) -> bool) -> bool {
        match self.storage {
            Storage::Gaps { values, .. } => {
                let (a, b) = (&values[a * self.d..][..self.d], &values[b * self.d..][..self.d]);
                let same = |(column, (x, y)): (usize, (&R, &R))| match (x.to_f64(), y.to_f64()) {
                    (x, y) if x.is_nan() || y.is_nan() => x.is_nan() && y.is_nan(),
                    (x, y) => agree(column, x, y),
                };
                a.iter().zip(b).enumerate().all(same)
            }
            Storage::Dense(values) => {
                let (a, b) = (&values[a * self.d..][..self.d], &values[b * self.d..][..self.d]);
                a.iter().zip(b).enumerate().all(|(column, (x, y))| agree(column, x.to_f64(), y.to_f64()))
            }
            Storage::Compact(values) => {
                let (mut x, mut y) = ([0.0], [0.0]);
                (0..self.d).all(|column| {
                    values.widen(a * self.d + column, &mut x);
                    values.widen(b * self.d + column, &mut y);
                    agree(column, x[0], y[0])
                })
            }
            Storage::Sparse { starts, columns, values } => {
                let (mut i, mut j) = (starts[a], starts[b]);
                while i < starts[a + 1] || j < starts[b + 1] {
                    let of = |at: usize, row: usize| {
                        if at < starts[row + 1] { columns[at] as usize } else { usize::MAX }
                    };
                    let column = of(i, a).min(of(j, b));
                    let (mut x, mut y) = (0.0, 0.0);
                    if of(i, a) == column {
                        x = values[i].to_f64();
                        i += 1;
                    }
                    if of(j, b) == column {
                        y = values[j].to_f64();
                        j += 1;
                    }
                    if !agree(column, x, y) {
                        return false;
                    }
                }
                true
            }
        }
    }

    /// Writes the row as dense values of precision `W` into `out` (length d), the mean of the column for a gap.
    ///
    /// # Panics
    /// When `row` is out of range.
    pub fn copy_row<W: Real>(&self, row: usize, out: &mut [W]) {
        match self.storage {
            Storage::Gaps { .. } => {
                self.each_value(row, |column, value| out[column] = W::from_f64(value.to_f64()))
            }
            Storage::Compact(values) => values.widen(row * self.d, &mut out[..self.d]),
            Storage::Dense(values) => {
                for (to, from) in out.iter_mut().zip(&values[row * self.d..(row + 1) * self.d]) {
                    *to = W::from_f64(from.to_f64());
                }
            }
            Storage::Sparse { starts, columns, values } => {
                out.fill(W::default());
                for at in starts[row]..starts[row + 1] {
                    out[columns[at] as usize] = W::from_f64(values[at].to_f64());
                }
            }
        }
    }
}

/// The value, or the mean where it is NaN.
#[inline(always)]
pub(crate) fn value_or<R: Real>(value: R, mean: R) -> R {
    if value.is_nan() { mean } else { value }
}

/// The mean of the values that are not NaN, for each of `d` columns of row-major values; an error where a column has
/// none.
pub fn column_means<R: Real>(values: &[R], d: usize) -> Result<Vec<R>> {
    let (mut sums, mut counts) = (vec![0.0; d], vec![0u64; d]);
    for row in values.chunks_exact(d.max(1)) {
        add_present(row, &mut sums, &mut counts);
    }
    let mean = |(column, (sum, count)): (usize, (&f64, &u64))| match count {
        0 => Err(Error::NoValue { column: column + 1 }),
        // The mean of huge values whose sum overflows is near the largest number.
        _ => Ok(R::from_f64((sum / *count as f64).clamp(f64::MIN, f64::MAX))),
    };
    sums.iter().zip(&counts).enumerate().map(mean).collect()
}

/// Adds the values of a row that are not NaN to the sum and the count of their columns.
pub(crate) fn add_present<R: Real>(row: &[R], sums: &mut [f64], counts: &mut [u64]) {
    for ((value, sum), count) in row.iter().zip(sums).zip(counts) {
        let is_there = !value.is_nan();
        *sum += if is_there { value.to_f64() } else { 0.0 };
        *count += u64::from(is_there);
    }
}

pub(crate) fn check_shape(n: usize, d: usize) -> Result<()> {
    if n == 0 || d == 0 {
        return Err(Error::Empty { n, d });
    }
    if n > MAX_ROWS {
        return Err(Error::TooManyRows { n, limit: MAX_ROWS });
    }
    if d > MAX_COLUMNS {
        return Err(Error::TooManyColumns { d, limit: MAX_COLUMNS });
    }
    Ok(())
}

/// The largest |value|, or the position and the value of the first that is not finite.
fn largest_magnitude<R: Real>(values: &[R]) -> std::result::Result<f64, (usize, f64)> {
    let mut largest = 0.0f64;
    for (block, chunk) in values.chunks(4096).enumerate() {
        // x * 0 is 0 for finite x and NaN otherwise: a branch-free pass, then a search in the block that fails.
        let mut not_finite = 0.0f64;
        for value in chunk {
            let x = value.to_f64();
            not_finite += x * 0.0;
            largest = if x.abs() > largest { x.abs() } else { largest };
        }
        if not_finite != 0.0 {
            for (i, value) in chunk.iter().enumerate() {
                if !value.is_finite() {
                    return Err((block * 4096 + i, value.to_f64()));
                }
            }
        }
    }
    Ok(largest)
}
