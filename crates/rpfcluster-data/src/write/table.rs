//! Tables of typed columns: CSV, .npy, Parquet and Arrow, batch by batch. `copied` gives the columns of a [`Frame`] as such, so
//! that a table can be copied into another format with columns added.
//!
//! [`Frame`]: crate::Frame
//!
//! A column of whole numbers is written as integers, other numbers in the precision they were read with, and the rest as
//! text. A missing cell is null, NaN in .npy, and empty in CSV. What a frame does not hold exactly is refused: dates and
//! other types that it only names, and whole numbers of 2^53 and more.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{Error, Result, Seek, Write};

use super::matrix;
use crate::read::Format;

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

/// Writes a table batch by batch. Every batch has the columns of the first, with the same types.
pub trait TableWriter {
    /// Writes rows: columns of equal length.
    fn write(&mut self, columns: &[Column<'_>]) -> Result<()>;

    /// Completes the table.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A writer of tables in this format. A matrix format is an error. A .npy file holds the numbers only, in double precision,
/// without names; a single column is written as a vector, and text is an error.
pub fn table_writer<'a>(
    out: &'a mut (impl Write + Seek + Send + ?Sized),
    format: Format,
) -> Result<Box<dyn TableWriter + 'a>> {
    match format {
        Format::Text => Ok(text_writer(out, b',')),
        Format::Npy => Ok(Box::new(Npy::new(out)?)),
        #[cfg(feature = "parquet")]
        Format::Parquet => Ok(Box::new(super::parquet::Table::new(out))),
        #[cfg(feature = "arrow")]
        Format::Arrow => Ok(Box::new(super::arrow::Table::new(out))),
        _ => Err(Error::other("this build does not write tables in this format")),
    }
}

/// A writer of text with this delimiter. Numbers have the shortest form that reads back to the same bits.
pub fn text_writer<'a>(out: impl Write + 'a, delimiter: u8) -> Box<dyn TableWriter + 'a> {
    let csv = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    Box::new(Text { csv, begun: false })
}

struct Text<W: Write> {
    csv: csv::Writer<W>,
    begun: bool,
}

impl<W: Write> TableWriter for Text<W> {
    fn write(&mut self, columns: &[Column<'_>]) -> Result<()> {
        if !self.begun {
            self.csv.write_record(columns.iter().map(|column| column.name.as_bytes())).map_err(of_csv)?;
            self.begun = true;
        }
        let mut cell = String::new();
        for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
            for column in columns {
                cell.clear();
                // A string takes everything.
                let _ = match &column.cells {
                    Cells::Integers(cells) => cells[row].map_or(Ok(()), |x| write!(cell, "{x}")),
                    Cells::Singles(cells) if !cells[row].is_nan() => write!(cell, "{}", cells[row]),
                    Cells::Doubles(cells) if !cells[row].is_nan() => write!(cell, "{}", cells[row]),
                    Cells::Singles(_) | Cells::Doubles(_) => Ok(()),
                    Cells::Text(cells) => cells[row].as_ref().map_or(Ok(()), |x| cell.write_str(x)),
                };
                self.csv.write_field(&cell).map_err(of_csv)?;
            }
            self.csv.write_record(None::<&[u8]>).map_err(of_csv)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.csv.flush()
    }
}

/// The error of the output itself, so that a closed pipe is told from other errors.
fn of_csv(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => Error::other(format!("{other:?}")),
    }
}

/// A .npy array, whose header is written last, when the number of rows is known. Its elements wait in memory where the output,
/// such as a pipe, has no places to return to.
struct Npy<W: Write + Seek> {
    out: W,
    waiting: Option<Vec<u8>>,
    rows: usize,
    /// Number of columns, and whether there is one of whole numbers; `None` before the first rows.
    kind: Option<(usize, bool)>,
}

/// Bytes of the header: enough for any shape.
const HEADER: usize = 128;

impl<W: Write + Seek> Npy<W> {
    fn new(mut out: W) -> Result<Self> {
        let waiting = out.stream_position().is_err().then(Vec::new);
        if waiting.is_none() {
            out.write_all(&[0; HEADER])?;
        }
        Ok(Npy { out, waiting, rows: 0, kind: None })
    }

    fn put(&mut self, elements: impl Iterator<Item = [u8; 8]>) -> Result<()> {
        match &mut self.waiting {
            Some(waiting) => waiting.extend(elements.flatten()),
            None => elements.into_iter().try_for_each(|bytes| self.out.write_all(&bytes))?,
        }
        Ok(())
    }
}

impl<W: Write + Seek> TableWriter for Npy<W> {
    fn write(&mut self, columns: &[Column<'_>]) -> Result<()> {
        let integers = match columns {
            [Column { cells: Cells::Integers(cells), .. }] => {
                cells.iter().copied().collect::<Option<Vec<i64>>>()
            }
            _ => None,
        };
        let (_, whole) = *self.kind.get_or_insert((columns.len(), integers.is_some()));
        let rows = columns.first().map_or(0, |column| column.cells.len());
        self.rows += rows;
        if whole {
            let missing = || {
                Error::other(
                    "a cell is missing, for which a vector of whole numbers has no value; write .csv",
                )
            };
            return self.put(integers.ok_or_else(missing)?.into_iter().map(i64::to_le_bytes));
        }
        let mut values = vec![f64::NAN; rows * columns.len()];
        for (at, column) in columns.iter().enumerate() {
            let mut put = |row: usize, x: f64| values[row * columns.len() + at] = x;
            match &column.cells {
                Cells::Integers(cells) => {
                    cells.iter().enumerate().for_each(|(row, x)| put(row, x.map_or(f64::NAN, |x| x as f64)))
                }
                Cells::Singles(cells) => {
                    cells.iter().enumerate().for_each(|(row, x)| put(row, f64::from(*x)))
                }
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
        self.put(values.into_iter().map(f64::to_le_bytes))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let (columns, whole) = self.kind.unwrap_or((1, true));
        let shape = [self.rows, columns];
        let shape = if columns == 1 { &shape[..1] } else { &shape[..] };
        let descr = if whole { "<i8" } else { "<f8" };
        if let Some(waiting) = self.waiting {
            matrix::header(&mut self.out, descr, shape, HEADER)?;
            return self.out.write_all(&waiting);
        }
        self.out.rewind()?;
        matrix::header(&mut self.out, descr, shape, HEADER)
    }
}
