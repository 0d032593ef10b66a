//! A table in batches of rows: most files of any length in constant memory, some in one batch.
//!
//! Text (also gzipped and from standard input), Arrow streams (likewise) and .npy arrays in C order are read as they come;
//! Parquet and Arrow files where they lie on disk, not compressed as a whole. Everything else is one batch: JSON, arrays in
//! Fortran order, and Parquet and Arrow files that are gzipped or come through a pipe. Workbooks and databases are text in
//! memory first.
//!
//! The batches of a file hold the rows that [`read_frame`](crate::read_frame) returns, with the same names, numbers and
//! precision. Two things a whole file knows and a batch does not: a list of another length than the first of its column makes
//! that column useless for all rows, here for its own only; and a text is taken for one with quotes from the batch with the
//! first of them.

use std::path::Path;
use std::sync::Arc;

use super::as_text::{self, Converted};
use super::input::Input;
use super::npy::NpyStream;
use super::text_stream::TextStream;
use super::{Dialect, Format, ReadOptions, foreign, parse_frame};
use crate::error::{Result, format};
use crate::frame::Frame;
use crate::memory::Budget;

#[cfg(feature = "arrow")]
use super::arrow::{self, ArrowRows};
#[cfg(any(feature = "arrow", feature = "parquet"))]
use super::columnar::{Collector, Ragged};
#[cfg(feature = "parquet")]
use super::parquet::{OnDisk, ParquetRows};

/// Cells of a batch at which it ends, however few its rows: 64 MiB of doubles.
const MOST_CELLS: usize = 1 << 23;

/// Rows of a table that follow each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The rows.
    pub frame: Frame,
    /// Their text, where the table is a text of its own; empty for other formats.
    pub text: Vec<u8>,
}

/// A table that is read batch by batch. An error ends it.
pub struct Batches {
    source: String,
    budget: Budget,
    rows: usize,
    /// Rows read.
    done: usize,
    /// Known after the end too.
    dialect: Option<Dialect>,
    header: Vec<u8>,
    kind: Kind,
}

enum Kind {
    Text(Box<TextStream>),
    Npy(Box<NpyStream>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetRows<OnDisk>>),
    #[cfg(feature = "arrow")]
    Arrow(Box<ArrowRows<'static>>),
    Whole(Box<Frame>),
    Ended,
}

/// Opens a table, or standard input when the path is `-`, to be read in batches of at most `rows` rows; wide tables have
/// smaller ones, and a table that cannot be split is one batch. The memory limit of the options bounds a batch.
pub fn read_batches(path: impl AsRef<Path>, options: &ReadOptions, rows: usize) -> Result<Batches> {
    let path = path.as_ref();
    batches(Input::open(path)?, &options.of_path(path), rows)
}

/// As [`read_batches`], of bytes in memory that are not gzipped; `source` is their name in messages.
pub fn read_batches_bytes(
    bytes: Arc<[u8]>,
    source: &str,
    options: &ReadOptions,
    rows: usize,
) -> Result<Batches> {
    batches(Input::of_bytes(bytes, source), options, rows)
}

fn batches(input: Input, options: &ReadOptions, rows: usize) -> Result<Batches> {
    let budget = Budget::new(input.source(), options.memory);
    let (input, options, is_converted) = match as_text::convert(input, options, &budget)? {
        Ok(Converted { text, source, options }) => {
            // The text stays in memory while its rows are read.
            let memory = options.memory.map(|limit| limit.saturating_sub(text.capacity() as u64));
            (Input::of_text(text, source), ReadOptions { memory, ..options }, true)
        }
        Err(input) => (input, options.clone(), false),
    };
    let (source, options) = (input.source().to_string(), &options);
    let budget = Budget::new(&source, options.memory);
    if let Some(problem) = foreign::remedy(input.head(), options.format, &source) {
        return Err(format(&source, problem));
    }
    let found = options.format.unwrap_or_else(|| Format::from_bytes(input.head()));
    let (kind, width) = match found {
        Format::Text => {
            let stream = TextStream::new(input, options, &budget)?;
            let stream = if is_converted { stream.of_converted() } else { stream };
            let width = stream.width();
            (Kind::Text(Box::new(stream)), width)
        }
        Format::Npy => match NpyStream::new(input, &budget)? {
            Ok(stream) => {
                let width = stream.width();
                (Kind::Npy(Box::new(stream)), width)
            }
            Err(input) => whole(input, options, &budget)?,
        },
        #[cfg(feature = "parquet")]
        Format::Parquet if input.plain.is_some() => match input.plain {
            Some(file) => {
                let found = ParquetRows::open(OnDisk(file.into()), &[], &source, &budget)?;
                let width = found.width();
                (Kind::Parquet(Box::new(found)), width)
            }
            None => whole(input, options, &budget)?,
        },
        #[cfg(feature = "arrow")]
        Format::Arrow => match (arrow::is_file(input.head(), &source)?, input) {
            (true, Input { plain: Some(file), .. }) => {
                let file = std::io::BufReader::new(file);
                arrow_rows(ArrowRows::of_file(file, &[], &source, &budget)?)
            }
            (true, input) => whole(input, options, &budget)?,
            (false, input) => arrow_rows(ArrowRows::of_stream(input, &[], &source, &budget)?),
        },
        _ => whole(input, options, &budget)?,
    };
    let rows = rows.min(MOST_CELLS / width.max(1)).max(1);
    let (dialect, header) = match &kind {
        Kind::Text(stream) => (Some(stream.dialect()), stream.header().to_vec()),
        _ => (None, Vec::new()),
    };
    Ok(Batches { source, budget, rows, done: 0, dialect, header, kind })
}

#[cfg(feature = "arrow")]
fn arrow_rows(found: ArrowRows<'static>) -> (Kind, usize) {
    let width = found.width();
    (Kind::Arrow(Box::new(found)), width)
}

fn whole(input: Input, options: &ReadOptions, budget: &Budget) -> Result<(Kind, usize)> {
    let source = input.source().to_string();
    let bytes = input.read_all(budget)?;
    let frame = parse_frame(bytes, &source, options, budget)?;
    let width = frame.width();
    Ok((Kind::Whole(Box::new(frame)), width))
}

impl Batches {
    /// The name of the table in messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How the text of the table is read; `None` for other formats.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// The line of a text that names the columns; empty where none does.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    fn read(&mut self) -> Result<Option<Batch>> {
        let found = match &mut self.kind {
            Kind::Text(stream) => {
                let found = stream.next(self.rows, &self.budget)?;
                return Ok(found.map(|(frame, text)| Batch { frame, text }));
            }
            Kind::Npy(stream) => stream.next(self.rows, &self.budget)?,
            #[cfg(feature = "parquet")]
            Kind::Parquet(found) => {
                let budget = self.budget.part();
                let mut collector = found.collector(&self.source, &budget)?;
                found.push(&mut collector, self.rows, Ragged::Mark, &self.source)?;
                collected(collector, self.done)?
            }
            #[cfg(feature = "arrow")]
            Kind::Arrow(found) => {
                let budget = self.budget.part();
                let mut collector = found.collector(&self.source, &budget)?;
                found.push(&mut collector, self.rows, Ragged::Mark, &self.source)?;
                collected(collector, self.done)?
            }
            Kind::Whole(_) | Kind::Ended => match std::mem::replace(&mut self.kind, Kind::Ended) {
                Kind::Whole(frame) => Some(*frame),
                _ => None,
            },
        };
        Ok(found.map(|frame| {
            self.done += frame.n();
            Batch { frame, text: Vec::new() }
        }))
    }
}

/// The rows of a batch; `None` at the end of the file, an error where that has no row at all.
#[cfg(any(feature = "arrow", feature = "parquet"))]
fn collected(collector: Collector<'_>, done: usize) -> Result<Option<Frame>> {
    if collector.n() == 0 && done > 0 {
        return Ok(None);
    }
    Ok(Some(collector.finish()?.after(done)))
}

impl Iterator for Batches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        let found = self.read();
        if !matches!(found, Ok(Some(_))) {
            self.kind = Kind::Ended;
        }
        found.transpose()
    }
}
