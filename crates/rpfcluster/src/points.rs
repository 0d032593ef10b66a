//! The input of the library: a validated view of n rows and d columns, all finite, dense or CSR, f32 or f64.
//!
//! Values are checked once, here, in O(stored values). The forest works in the precision of the data: f32 rows are
//! projected in f32, f64 rows in f64.

use crate::error::{Error, Result};

/// The floating-point precision of the data. A forest records it and routes new rows in the same precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Precision {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
}

/// A floating-point type the forest works in: `f32` or `f64`. Sealed.
pub trait Real:
    Copy
    + PartialOrd
    + Default
    + Send
    + Sync
    + std::fmt::Debug
    + std::ops::Add<Output = Self>
    + std::ops::Mul<Output = Self>
    + private::Sealed
    + 'static
{
    /// The precision of the type.
    const PRECISION: Precision;
    /// Rounds to the nearest value of the type.
    fn from_f64(value: f64) -> Self;
    /// Converts without rounding.
    fn to_f64(self) -> f64;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// The points with their precision as a value instead of a type.
    #[doc(hidden)]
    fn any(points: Points<'_, Self>) -> AnyPoints<'_>;
}

/// Points of either precision. A function that takes them is compiled once, in this crate; one that takes `Points<R>`
/// is compiled again in every crate that calls it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum AnyPoints<'a> {
    /// 32 bits.
    F32(Points<'a, f32>),
    /// 64 bits.
    F64(Points<'a, f64>),
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Real for f32 {
    const PRECISION: Precision = Precision::F32;
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
    fn any(points: Points<'_, f32>) -> AnyPoints<'_> {
        AnyPoints::F32(points)
    }
}

impl Real for f64 {
    const PRECISION: Precision = Precision::F64;
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
    fn any(points: Points<'_, f64>) -> AnyPoints<'_> {
        AnyPoints::F64(points)
    }
}

/// Largest number of rows: row indices are 32-bit, and one value is reserved.
pub const MAX_ROWS: usize = u32::MAX as usize - 1;

/// Largest number of columns: column indices are 32-bit.
pub const MAX_COLUMNS: usize = u32::MAX as usize;

/// A view of the data: `n` rows of `d` finite values.
#[derive(Debug, Clone, Copy)]
pub struct Points<'a, R> {
    n: usize,
    d: usize,
    largest: f64,
    storage: Storage<'a, R>,
}

/// Memory layout of the rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Storage<'a, R> {
    /// Row-major, `d` values per row.
    Dense(&'a [R]),
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
        Ok(Points { n, d, largest, storage: Storage::Dense(values) })
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
        Ok(Points { n, d, largest, storage: Storage::Sparse { starts, columns, values } })
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

    /// The rows of this range, borrowed.
    pub(crate) fn part(&self, rows: std::ops::Range<usize>) -> Points<'a, R> {
        let n = rows.len();
        let storage = match self.storage {
            Storage::Dense(values) => Storage::Dense(&values[rows.start * self.d..rows.end * self.d]),
            Storage::Sparse { starts, columns, values } => {
                Storage::Sparse { starts: &starts[rows.start..=rows.end], columns, values }
            }
        };
        Points { n, d: self.d, largest: self.largest, storage }
    }

    /// Calls `work` with a copy of some rows. Sparse rows stay sparse.
    pub(crate) fn with_rows<T>(&self, rows: &[u32], work: impl FnOnce(&Points<R>) -> T) -> Result<T> {
        let mut copied = Vec::new();
        match self.storage {
            Storage::Dense(values) => {
                for &row in rows {
                    copied.extend_from_slice(&values[row as usize * self.d..][..self.d]);
                }
                Ok(work(&Points::new(&copied, rows.len(), self.d)?))
            }
            Storage::Sparse { starts, columns, values } => {
                let (mut firsts, mut places) = (vec![0], Vec::new());
                for &row in rows {
                    let range = starts[row as usize]..starts[row as usize + 1];
                    places.extend_from_slice(&columns[range.clone()]);
                    copied.extend_from_slice(&values[range]);
                    firsts.push(places.len());
                }
                Ok(work(&Points::sparse(&firsts, &places, &copied, rows.len(), self.d)?))
            }
        }
    }

    /// Calls `work` with the rows converted to precision `W`. Sparse rows stay sparse. Rounding to f32 can overflow, so
    /// the values are checked again.
    pub(crate) fn in_width<W: Real, T>(&self, work: impl FnOnce(&Points<W>) -> T) -> Result<T> {
        let (Storage::Dense(values) | Storage::Sparse { values, .. }) = self.storage;
        let values: Vec<W> = values.iter().map(|v| W::from_f64(v.to_f64())).collect();
        let points = match self.storage {
            Storage::Dense(_) => Points::new(&values, self.n, self.d)?,
            Storage::Sparse { starts, columns, .. } => {
                Points::sparse(starts, columns, &values, self.n, self.d)?
            }
        };
        Ok(work(&points))
    }

    /// Calls `work` with the rows scaled to unit length. Sparse rows stay sparse.
    pub(crate) fn with_unit_rows<T>(&self, work: impl FnOnce(&Points<R>) -> T) -> Result<T> {
        match self.storage {
            Storage::Dense(values) => {
                let mut values = values.to_vec();
                values.chunks_exact_mut(self.d).for_each(scale_to_unit_length);
                Ok(work(&Points::new(&values, self.n, self.d)?))
            }
            Storage::Sparse { starts, columns, values } => {
                // A part of a table has starts of its own.
                let (first, last) = (starts[0], starts[self.n]);
                let mut values = values[first..last].to_vec();
                let starts: Vec<usize> = starts.iter().map(|start| start - first).collect();
                starts.windows(2).for_each(|row| scale_to_unit_length(&mut values[row[0]..row[1]]));
                Ok(work(&Points::sparse(&starts, &columns[first..last], &values, self.n, self.d)?))
            }
        }
    }

    /// Bytes of the rows.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = match self.storage {
            Storage::Dense(values) => size_of_val(values),
            Storage::Sparse { starts, columns, values } => {
                size_of_val(starts) + size_of_val(columns) + size_of_val(values)
            }
        };
        bytes as u64
    }

    /// The share of values that are not zero, stored or not.
    pub(crate) fn density(&self) -> f64 {
        let (Storage::Dense(values) | Storage::Sparse { values, .. }) = self.storage;
        values.iter().filter(|v| **v != R::default()).count() as f64 / (self.n as f64 * self.d as f64)
    }

    /// Calls `visit` with the column and the value of each stored entry of a row, in column order.
    pub(crate) fn each_value(&self, row: usize, mut visit: impl FnMut(usize, R)) {
        match self.storage {
            Storage::Dense(values) => {
                let row = &values[row * self.d..][..self.d];
                row.iter().enumerate().for_each(|(column, value)| visit(column, *value));
            }
            Storage::Sparse { starts, columns, values } => {
                let range = starts[row]..starts[row + 1];
                let stored = columns[range.clone()].iter().zip(&values[range]);
                stored.for_each(|(column, value)| visit(*column as usize, *value));
            }
        }
    }

    /// The values of a dense row; `None` for a sparse one.
    pub(crate) fn dense_row(&self, row: usize) -> Option<&'a [R]> {
        match self.storage {
            Storage::Dense(values) => Some(&values[row * self.d..][..self.d]),
            Storage::Sparse { .. } => None,
        }
    }

    /// Writes the columns of a row from `first` on into `out`.
    pub(crate) fn copy_columns(&self, row: usize, first: usize, out: &mut [f64]) {
        match self.storage {
            Storage::Dense(values) => {
                let values = &values[row * self.d + first..];
                out.iter_mut().zip(values).for_each(|(to, from)| *to = from.to_f64());
            }
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

    /// Whether `agree(column, x, y)` holds for every column in which row `a` or row `b` stores a value.
    pub(crate) fn rows_agree(&self, a: usize, b: usize, agree: impl Fn(usize, f64, f64) -> bool) -> bool {
        match self.storage {
            Storage::Dense(values) => {
                let (a, b) = (&values[a * self.d..][..self.d], &values[b * self.d..][..self.d]);
                a.iter().zip(b).enumerate().all(|(column, (x, y))| agree(column, x.to_f64(), y.to_f64()))
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

    /// Writes the row as dense values of precision `W` into `out` (length d).
    ///
    /// # Panics
    /// When `row` is out of range.
    pub fn copy_row<W: Real>(&self, row: usize, out: &mut [W]) {
        match self.storage {
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

/// Divides the values by their Euclidean length; zeros stay zeros.
pub(crate) fn scale_to_unit_length<R: Real>(values: &mut [R]) {
    let largest = values.iter().map(|v| v.to_f64().abs()).fold(0.0, f64::max);
    if largest > 0.0 {
        // Relative to the largest, no square overflows or vanishes.
        let length = values.iter().map(|v| v.to_f64() / largest).map(|v| v * v).sum::<f64>().sqrt();
        values.iter_mut().for_each(|v| *v = R::from_f64(v.to_f64() / largest / length));
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
