//! Tables of typed columns: CSV, .npy, Parquet and Arrow. A [`Frame`] gives its columns as such, so that a table can be
//! copied into another format with columns added.
//!
//! A column of whole numbers is written as integers, other numbers in the precision they were read with, and the rest as
//! text. A missing cell is null, NaN in .npy, and empty in CSV. What a frame does not hold exactly is refused: dates and
//! other types that it only names, and whole numbers of 2^53 and more.

use std::borrow::Cow;
use std::io::{Error, Result, Write};

use super::matrix;
use crate::error::DataError;
use crate::frame::Frame;
use crate::read::Format;
use crate::table::Values;

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells<'a> {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers in single precision; NaN is missing.
    Singles(Vec<f32>),
    /// Numbers; NaN is missing.
    Doubles(Vec<f64>),
    /// Text.
    Text(Vec<Option<Cow<'a, str>>>),
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its cells.
    pub cells: Cells<'a>,
}

impl Cells<'_> {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Cells::Integers(cells) => cells.len(),
            Cells::Singles(cells) => cells.len(),
            Cells::Doubles(cells) => cells.len(),
            Cells::Text(cells) => cells.len(),
        }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The largest whole number up to which doubles hold every one.
const EXACT: f64 = (1u64 << 53) as f64;

impl Frame {
    /// The columns except the last `left_out`; an error for one that the frame does not hold exactly.
    pub fn columns(&self, left_out: usize) -> std::result::Result<Vec<Column<'_>>, DataError> {
        let kept = self.width().saturating_sub(left_out);
        (0..kept)
            .map(|c| Ok(Column { name: Cow::Borrowed(self.names[c].as_str()), cells: self.cells(c)? }))
            .collect()
    }

    fn cells(&self, column: usize) -> std::result::Result<Cells<'_>, DataError> {
        let refuse = |what: &str| {
            let problem = format!(
                "holds {what}, which cannot be copied exactly; leave out --append, which writes row and cluster"
            );
            Err(self.column_error(column, problem))
        };
        let numbers = || (0..self.n).map(|row| self.number(row, column));
        if let Some(text) = self.text.get(column).and_then(Option::as_ref) {
            if text.is_foreign {
                return refuse(text.names.first().map_or("values of another type", String::as_str));
            }
            let cell = |row| match self.text(row, column) {
                Some(text) => Some(Cow::Borrowed(text)),
                None => Some(self.number(row, column)).filter(|x| !x.is_nan()).map(|x| x.to_string().into()),
            };
            return Ok(Cells::Text((0..self.n).map(cell).collect()));
        }
        let whole =
            numbers().all(|x| x.is_nan() || (x.fract() == 0.0 && x.abs() < 2.0 * (1u64 << 63) as f64));
        if whole && numbers().any(|x| !x.is_nan()) {
            if numbers().any(|x| x.abs() >= EXACT) {
                return refuse("whole numbers of 2^53 and more");
            }
            return Ok(Cells::Integers(numbers().map(|x| (!x.is_nan()).then_some(x as i64)).collect()));
        }
        Ok(match self.values {
            Values::F32(_) => Cells::Singles(numbers().map(|x| x as f32).collect()),
            Values::F64(_) => Cells::Doubles(numbers().collect()),
        })
    }
}

/// Writes columns of equal length as a table in this format. A matrix format is an error, and so is text in .npy, which
/// holds the numbers only, in double precision, without names; a single column is written as a vector.
pub fn table(out: &mut (impl Write + Send), format: Format, columns: &[Column<'_>]) -> Result<()> {
    match format {
        Format::Text => table_csv(out, columns),
        Format::Npy => npy(out, columns),
        #[cfg(feature = "parquet")]
        Format::Parquet => super::parquet::columns(out, columns),
        #[cfg(feature = "arrow")]
        Format::Arrow => super::arrow::columns(out, columns),
        _ => Err(Error::other("this build does not write tables in this format")),
    }
}

/// Writes columns of equal length as CSV. Numbers have the shortest form that reads back to the same bits.
pub fn table_csv(out: &mut impl Write, columns: &[Column<'_>]) -> Result<()> {
    let mut csv = csv::WriterBuilder::new().from_writer(out);
    csv.write_record(columns.iter().map(|column| column.name.as_bytes())).map_err(of_csv)?;
    let shown = |cells: &Cells<'_>, row: usize| match cells {
        Cells::Integers(cells) => cells[row].map(|x| x.to_string()),
        Cells::Singles(cells) => Some(cells[row]).filter(|x| !x.is_nan()).map(|x| x.to_string()),
        Cells::Doubles(cells) => Some(cells[row]).filter(|x| !x.is_nan()).map(|x| x.to_string()),
        Cells::Text(cells) => cells[row].as_ref().map(|x| x.to_string()),
    };
    for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
        csv.write_record(columns.iter().map(|column| shown(&column.cells, row).unwrap_or_default()))
            .map_err(of_csv)?;
    }
    csv.flush()
}

/// The error of the output itself, so that a closed pipe is told from other errors.
fn of_csv(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => Error::other(format!("{other:?}")),
    }
}

fn npy(out: &mut impl Write, columns: &[Column<'_>]) -> Result<()> {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    if let [Column { cells: Cells::Integers(cells), .. }] = columns
        && let Some(cells) = cells.iter().copied().collect::<Option<Vec<i64>>>()
    {
        return matrix::npy_integers(out, &cells);
    }
    let mut values = vec![f64::NAN; rows * columns.len()];
    for (at, column) in columns.iter().enumerate() {
        let mut put = |row: usize, x: f64| values[row * columns.len() + at] = x;
        match &column.cells {
            Cells::Integers(cells) => {
                cells.iter().enumerate().for_each(|(row, x)| put(row, x.map_or(f64::NAN, |x| x as f64)))
            }
            Cells::Singles(cells) => cells.iter().enumerate().for_each(|(row, x)| put(row, f64::from(*x))),
            Cells::Doubles(cells) => cells.iter().enumerate().for_each(|(row, x)| put(row, *x)),
            Cells::Text(_) => {
                let problem = format!(
                    "column \"{}\" holds text, which .npy does not; write .csv, .parquet or .arrow",
                    crate::error::excerpt(&column.name)
                );
                return Err(Error::other(problem));
            }
        }
    }
    match columns {
        [_] => matrix::npy(out, &values, &[rows]),
        _ => matrix::npy(out, &values, &[rows, columns.len()]),
    }
}
