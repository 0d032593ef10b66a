//! A table ready for clustering: a row-major matrix of finite numbers, or with gaps where these are native, with an optional label for each row. [`Values`]
//! holds the numbers in the precision of the file, [`Labels`] the coded labels; [`ScaleHint`] names columns of very
//! different scale.

use rpfcluster::{ColumnKey, CompactValues, column_means, f16};

use crate::error::{Result, format};
use crate::read::Dialect;

/// The numbers of a table, row by row, in as few bytes as the file has for them.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Half precision: an `f2` .npy file.
    F16(Vec<f16>),
    /// Integers of one byte: an `i1` .npy file.
    I8(Vec<i8>),
    /// Integers of one byte without sign: a `u1` .npy file.
    U8(Vec<u8>),
    /// Single precision, as in an `f4` .npy file or a Parquet file of float columns.
    F32(Vec<f32>),
    /// Double precision: everything else.
    F64(Vec<f64>),
}

/// Evaluates `$body` with `$vec` bound to the vector.
macro_rules! with_vec {
    ($values:expr, $vec:ident => $body:expr) => {
        match $values {
            Values::F16($vec) => $body,
            Values::I8($vec) => $body,
            Values::U8($vec) => $body,
            Values::F32($vec) => $body,
            Values::F64($vec) => $body,
        }
    };
}

/// As `with_vec`; the new vector is wrapped in the variant of the old one.
macro_rules! map_vec {
    ($values:expr, $vec:ident => $body:expr) => {
        match $values {
            Values::F16($vec) => Values::F16($body),
            Values::I8($vec) => Values::I8($body),
            Values::U8($vec) => Values::U8($body),
            Values::F32($vec) => Values::F32($body),
            Values::F64($vec) => Values::F64($body),
        }
    };
}
pub(crate) use map_vec;

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        with_vec!(self, v => v.len())
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of one value.
    pub(crate) fn width(&self) -> usize {
        fn width<T>(_: &[T]) -> usize {
            size_of::<T>()
        }
        with_vec!(self, v => width(v))
    }

    /// Number `i`, widened; NaN past the end.
    pub fn get(&self, i: usize) -> f64 {
        fn wide<T: Copy + Into<f64>>(values: &[T], i: usize) -> f64 {
            values.get(i).map_or(f64::NAN, |&x| x.into())
        }
        with_vec!(self, v => wide(v, i))
    }

    /// Replaces number `i`, rounded where the table is in single precision, to which numbers of one or two bytes are widened.
    /// Does nothing past the end.
    pub(crate) fn set(&mut self, i: usize, x: f64) {
        match self {
            Values::F32(v) => {
                if let Some(slot) = v.get_mut(i) {
                    *slot = x as f32;
                }
            }
            Values::F64(v) => {
                if let Some(slot) = v.get_mut(i) {
                    *slot = x;
                }
            }
            _ => {
                self.widen();
                self.set(i, x);
            }
        }
    }

    /// Turns numbers of one or two bytes into single precision, which holds them exactly.
    pub(crate) fn widen(&mut self) {
        fn single<T: Copy + Into<f32>>(values: &[T]) -> Values {
            Values::F32(values.iter().map(|&x| x.into()).collect())
        }
        *self = match self {
            Values::F16(v) => single(v),
            Values::I8(v) => single(v),
            Values::U8(v) => single(v),
            Values::F32(_) | Values::F64(_) => return,
        };
    }

    /// The numbers of one or two bytes, as the library reads them.
    pub fn compact(&self) -> Option<CompactValues<'_>> {
        match self {
            Values::F16(v) => Some(CompactValues::F16(v)),
            Values::I8(v) => Some(CompactValues::I8(v)),
            Values::U8(v) => Some(CompactValues::U8(v)),
            Values::F32(_) | Values::F64(_) => None,
        }
    }

    /// All numbers in double precision; copied only when they are in another.
    pub fn to_f64(&self) -> std::borrow::Cow<'_, [f64]> {
        match self {
            Values::F64(v) => v.as_slice().into(),
            narrower => (0..narrower.len()).map(|i| narrower.get(i)).collect::<Vec<f64>>().into(),
        }
    }

    /// The mean of each column of row-major values, gaps aside, in the precision of the values. The means of numbers of
    /// one or two bytes, which have no gaps in the library, are not asked for.
    pub(crate) fn means(&self, source: &str, d: usize) -> Result<Vec<f64>> {
        let means = match self {
            Values::F64(v) => column_means(v, d),
            Values::F32(v) => column_means(v, d).map(|means| means.into_iter().map(f64::from).collect()),
            Values::F16(_) | Values::I8(_) | Values::U8(_) => Ok(Vec::new()),
        };
        means.map_err(|error| format(source, error.to_string()))
    }

    /// Numbers in the precision of these values, or in single precision where they are in less.
    pub(crate) fn in_same_precision(&self, numbers: Vec<f64>) -> Values {
        match self {
            Values::F64(_) => Values::F64(numbers),
            _ => Values::F32(numbers.into_iter().map(|x| x as f32).collect()),
        }
    }

    /// Keeps the given columns of every row of `width` numbers, in that order; in place when the order ascends.
    pub(crate) fn choose_columns(self, width: usize, columns: &[usize]) -> Values {
        map_vec!(self, v => choose_columns(v, width, columns))
    }

    /// Keeps the rows whose flag is true.
    pub(crate) fn keep_rows(&mut self, width: usize, keep: &[bool]) {
        with_vec!(self, v => keep_rows(v, width, keep));
    }
}

fn choose_columns<T: Copy>(mut values: Vec<T>, width: usize, columns: &[usize]) -> Vec<T> {
    if width == 0 || columns.iter().copied().eq(0..width) {
        return values;
    }
    if columns.windows(2).all(|w| w[0] < w[1]) {
        let n = values.len() / width;
        let mut to = 0;
        for row in 0..n {
            for &c in columns {
                values[to] = values[row * width + c];
                to += 1;
            }
        }
        values.truncate(to);
        values.shrink_to_fit();
        return values;
    }
    values.chunks_exact(width).flat_map(|row| columns.iter().map(|&c| row[c])).collect()
}

fn keep_rows<T: Copy>(values: &mut Vec<T>, width: usize, keep: &[bool]) {
    let mut to = 0;
    for (row, _) in keep.iter().enumerate().filter(|(_, k)| **k) {
        values.copy_within(row * width..(row + 1) * width, to);
        to += width;
    }
    values.truncate(to);
}

/// One label per row, as a code; names are in order of first appearance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// For every row the index of its name.
    pub codes: Vec<u32>,
    /// The distinct names.
    pub names: Vec<String>,
}

impl Labels {
    /// Codes names in order of first appearance.
    pub fn from_names<S: AsRef<str>>(rows: impl IntoIterator<Item = S>) -> Labels {
        let mut index = std::collections::HashMap::new();
        let mut labels = Labels::default();
        for name in rows {
            let name = name.as_ref();
            let code = match index.get(name) {
                Some(&code) => code,
                None => {
                    let code = labels.names.len() as u32;
                    index.insert(name.to_string(), code);
                    labels.names.push(name.to_string());
                    code
                }
            };
            labels.codes.push(code);
        }
        labels
    }

    /// The name of row `i`, empty past the end.
    pub fn name(&self, i: usize) -> &str {
        self.codes.get(i).and_then(|&c| self.names.get(c as usize)).map_or("", String::as_str)
    }

    /// How many rows carry each name, in the order of `names`.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        for &c in &self.codes {
            if let Some(slot) = counts.get_mut(c as usize) {
                *slot += 1;
            }
        }
        counts
    }
}

/// A numeric matrix ready for clustering: every value finite, or NaN where gaps are native.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The name of the file, for messages.
    pub source: String,
    /// Names of the features; `c1`, `c2`, … (by position in the file) where the file names no columns.
    pub columns: Vec<String>,
    /// What the columns stand for; empty without categories.
    pub keys: Vec<ColumnKey>,
    /// Whether the file names its columns.
    pub has_header: bool,
    /// Number of rows of the file before these: 0 unless they are a batch.
    pub before: usize,
    /// Number of rows.
    pub n: usize,
    /// n x d numbers, row by row.
    pub values: Values,
    /// The mean of each column of the fitted table, in the precision of the values, where rows may have gaps: these are
    /// native, or a row has a level that was not fitted.
    pub means: Option<Values>,
    /// The label column, when there is one.
    pub labels: Option<Labels>,
    /// The 1-based row of the file for every row, ascending; `None` when all rows are kept.
    pub rows: Option<Vec<usize>>,
    /// How the text of the file was read; `None` for other formats.
    pub dialect: Option<Dialect>,
}

impl Table {
    /// Number of features.
    pub fn d(&self) -> usize {
        self.columns.len()
    }

    /// The number in a row and column, the mean of the column for a gap.
    pub fn value(&self, row: usize, column: usize) -> f64 {
        let value = self.values.get(row * self.d() + column);
        self.means.as_ref().filter(|_| value.is_nan()).map_or(value, |means| means.get(column))
    }

    /// All numbers in double precision, the mean of its column for every gap.
    pub fn complete_values(&self) -> std::borrow::Cow<'_, [f64]> {
        match self.means {
            None => self.values.to_f64(),
            Some(_) => (0..self.n * self.d()).map(|at| self.value(at / self.d(), at % self.d())).collect(),
        }
    }

    /// The 1-based row of the file for row `i` of the table.
    pub fn input_row(&self, i: usize) -> usize {
        self.rows.as_ref().and_then(|r| r.get(i).copied()).unwrap_or(self.before + i + 1)
    }

    /// When the largest standard deviation of a column is over 100 times the smallest (constant columns aside): the
    /// ratio and the two columns. The column that varies more then dominates the random projections.
    pub fn scale_hint(&self) -> Option<ScaleHint> {
        let sds = crate::scaling::moments(&self.values, self.d()).1;
        let mut large: Option<(usize, f64)> = None;
        let mut small: Option<(usize, f64)> = None;
        for (j, &sd) in sds.iter().enumerate().filter(|(_, sd)| **sd > 0.0) {
            if large.is_none_or(|(_, s)| sd > s) {
                large = Some((j, sd));
            }
            if small.is_none_or(|(_, s)| sd < s) {
                small = Some((j, sd));
            }
        }
        let ((l, large), (s, small)) = (large?, small?);
        (large > 100.0 * small).then(|| ScaleHint {
            ratio: large / small,
            largest: self.columns[l].clone(),
            smallest: self.columns[s].clone(),
        })
    }
}

/// Two columns whose scales differ by over 100 times.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleHint {
    /// The largest standard deviation over the smallest.
    pub ratio: f64,
    /// The column with the largest standard deviation.
    pub largest: String,
    /// The column with the smallest one that is not zero.
    pub smallest: String,
}
