//! A table ready for clustering: a row-major matrix of finite numbers, or with gaps where these are native, with an optional label for each row. [`Values`]
//! holds the numbers in single or double precision, [`Labels`] the coded labels; [`ScaleHint`] names columns of very
//! different scale.

use rpfcluster::{ColumnKey, column_means};

use crate::error::{Result, format};
use crate::read::Dialect;

/// The numbers of a table, row by row, in single precision where the file has no more.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Single precision, as in an `f4` .npy file or a Parquet file of float columns.
    F32(Vec<f32>),
    /// Double precision: everything else.
    F64(Vec<f64>),
}

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number `i`, widened; NaN past the end.
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Values::F32(v) => v.get(i).map_or(f64::NAN, |&x| f64::from(x)),
            Values::F64(v) => v.get(i).copied().unwrap_or(f64::NAN),
        }
    }

    /// Replaces number `i`, rounded where the table is in single precision. Does nothing past the end.
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
        }
    }

    /// All numbers in double precision; copied only when they are in single precision.
    pub fn to_f64(&self) -> std::borrow::Cow<'_, [f64]> {
        match self {
            Values::F32(v) => v.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>().into(),
            Values::F64(v) => v.as_slice().into(),
        }
    }

    /// The mean of each column of row-major values, gaps aside, in the precision of the values.
    pub(crate) fn means(&self, source: &str, d: usize) -> Result<Vec<f64>> {
        let means = match self {
            Values::F32(v) => column_means(v, d).map(|means| means.into_iter().map(f64::from).collect()),
            Values::F64(v) => column_means(v, d),
        };
        means.map_err(|error| format(source, error.to_string()))
    }

    /// Numbers in the precision of these values.
    pub(crate) fn in_same_precision(&self, numbers: Vec<f64>) -> Values {
        match self {
            Values::F32(_) => Values::F32(numbers.into_iter().map(|x| x as f32).collect()),
            Values::F64(_) => Values::F64(numbers),
        }
    }

    /// Keeps the given columns of every row of `width` numbers, in that order; in place when the order ascends.
    pub(crate) fn choose_columns(self, width: usize, columns: &[usize]) -> Values {
        match self {
            Values::F32(v) => Values::F32(choose_columns(v, width, columns)),
            Values::F64(v) => Values::F64(choose_columns(v, width, columns)),
        }
    }

    /// Keeps the rows whose flag is true.
    pub(crate) fn keep_rows(&mut self, width: usize, keep: &[bool]) {
        match self {
            Values::F32(v) => keep_rows(v, width, keep),
            Values::F64(v) => keep_rows(v, width, keep),
        }
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
