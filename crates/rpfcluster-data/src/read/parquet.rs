//! Apache Parquet, column by column, without Arrow in between: the Arrow side of the parquet crate takes four times as
//! long to compile as the rest of it.
//!
//! Reads numbers, booleans, half precision, decimals of up to 38 digits, text, and lists of numbers that have one length in
//! all rows, such as embeddings. A null is a missing cell; a date, time, binary or other nested value becomes text that
//! names its type. Numbers stay in single precision if no numeric column has more. A panic of the parquet crate on a damaged
//! file becomes an error; `parquet_limits` checks the lengths that it would allocate.
//!
//! Rows are read as they are asked for: all into one frame, or batch by batch. A page of each column is held meanwhile.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use bytes::Bytes;
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};

use super::columnar::{Collector, Layout, Lists, NESTED, Ragged, guarded, with_even_lists};
use super::parquet_columns::{Field, fields, first_length, is_single, push, push_lists};
use super::parquet_limits;
use crate::error::{DataError, Result, format, shortened};
use crate::frame::Frame;
use crate::memory::Budget;

/// Rows per batch: 64 KiB of doubles per column, so that a batch of about a hundred columns stays in cache.
pub(crate) const BATCH: usize = 8192;

/// Reads a whole Parquet file.
pub(crate) fn read(bytes: Vec<u8>, source: &str, budget: &Budget) -> Result<Frame> {
    let bytes = Bytes::from(bytes);
    with_even_lists(budget, |ragged| {
        let mut rows = ParquetRows::open(bytes.clone(), ragged, source, budget)?;
        let mut collector = rows.collector(source, budget)?;
        match rows.push(&mut collector, usize::MAX, Ragged::Stop, source)? {
            Some(field) => Ok(Lists::Ragged(field)),
            None => collector.finish().map(Lists::Even),
        }
    })
}

/// A file on disk, which is not read into memory.
#[derive(Debug, Clone)]
pub(crate) struct OnDisk(pub Arc<File>);

impl Length for OnDisk {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for OnDisk {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> std::result::Result<Self::T, ParquetError> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> std::result::Result<Bytes, ParquetError> {
        self.0.get_bytes(start, length)
    }
}

/// A Parquet file whose rows are read as they are asked for.
pub(crate) struct ParquetRows<R: ChunkReader + 'static> {
    file: SerializedFileReader<R>,
    fields: Vec<Field>,
    layout: Layout,
    /// Rows read at a time.
    batch: usize,
    /// The next row group, the columns of the one before it, and the rows that it has left.
    group: usize,
    columns: Vec<Option<ColumnReader>>,
    left: usize,
}

fn bad(source: &str) -> impl Fn(ParquetError) -> DataError + '_ {
    move |e| format(source, format!("is not a valid Parquet file: {}", shortened(&e)))
}

impl<R: ChunkReader + Clone + 'static> ParquetRows<R> {
    /// Reads the schema and checks all lengths that the file claims. The fields in `ragged` hold lists of different lengths.
    pub fn open(file: R, ragged: &[usize], source: &str, budget: &Budget) -> Result<Self> {
        guarded(source, "Parquet", || {
            let bad = bad(source);
            if !file.get_bytes(0, 4).is_ok_and(|bytes| bytes[..] == *b"PAR1") {
                return Err(format(source, "is not a Parquet file: it does not begin with PAR1"));
            }
            parquet_limits::check_schema(&file, source, budget)?;
            let pages = file.clone();
            let file = SerializedFileReader::new(file).map_err(&bad)?;
            let schema = file.metadata().file_metadata().schema_descr();
            let mut fields = fields(schema);
            ragged.iter().for_each(|field| fields[*field] = Field::nested());
            let lists: Vec<usize> = fields.iter().filter(|f| f.is_list).filter_map(|f| f.stored).collect();
            let at_once = parquet_limits::check(&pages, file.metadata(), &lists, source, budget)?;
            for field in &mut fields {
                field.at_once = field.stored.and_then(|stored| at_once.get(stored).copied()).unwrap_or(BATCH);
            }
            for field in fields.iter_mut().filter(|field| field.is_list) {
                field.length = first_length(&file, field, schema).map_err(&bad)?;
                if field.length.is_none() {
                    // Missing in all rows that were looked at.
                    *field = Field::nested();
                }
            }
            // Without a column that is read, the number of rows would be a mere claim.
            if fields.iter().all(|field| field.stored.is_none()) {
                return Err(format(
                    source,
                    "every column holds lists, maps or structs; there are no numbers",
                ));
            }
            let names = schema.root_schema().get_fields().iter().map(|field| field.name().to_string());
            let lengths = fields.iter().map(|field| field.length);
            let layout = Layout::new(source, names.zip(lengths).collect(), budget)?;
            let longest = fields.iter().filter_map(|field| field.length).max().unwrap_or(1);
            let batch = (BATCH / longest).max(1);
            Ok(ParquetRows { file, fields, layout, batch, group: 0, columns: Vec::new(), left: 0 })
        })
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.layout.names.len()
    }

    /// An empty collector for rows of this file.
    pub fn collector<'a>(&self, source: &'a str, budget: &'a Budget) -> Result<Collector<'a>> {
        let single = is_single(&self.fields, self.file.metadata().file_metadata().schema_descr());
        Collector::new(source, self.layout.names.clone(), single, budget)
    }

    /// Collects the next rows, at most `most`. Returns a field whose lists turn out to have different lengths, where these
    /// stop the reading.
    pub fn push(
        &mut self,
        collector: &mut Collector<'_>,
        most: usize,
        ragged: Ragged,
        source: &str,
    ) -> Result<Option<usize>> {
        guarded(source, "Parquet", || {
            let bad = bad(source);
            while collector.n() < most {
                if self.left == 0 {
                    if self.group == self.file.num_row_groups() {
                        break;
                    }
                    self.next_group().map_err(&bad)?;
                    continue;
                }
                let rows = self.left.min(self.batch).min(most - collector.n());
                collector.begin(rows)?;
                let schema = self.file.metadata().file_metadata().schema_descr();
                for (at, (field, reader)) in self.fields.iter().zip(&mut self.columns).enumerate() {
                    let column = self.layout.first[at];
                    let found = match (reader, field.is_list) {
                        (Some(reader), true) => {
                            let done = push_lists(collector, column, field, schema, reader, rows, ragged);
                            match done.map_err(&bad)? {
                                Some(found) => found,
                                None => return Ok(Some(at)),
                            }
                        }
                        (Some(reader), false) => {
                            push(collector, column, field, schema, reader, rows).map_err(&bad)?
                        }
                        (None, _) => {
                            (0..rows).for_each(|row| collector.other(row, column, NESTED));
                            rows
                        }
                    };
                    if found != rows {
                        return Err(format(source, "is not a Parquet file: a column has too few rows"));
                    }
                }
                collector.end(rows)?;
                self.left -= rows;
            }
            Ok(None)
        })
    }

    fn next_group(&mut self) -> std::result::Result<(), ParquetError> {
        self.columns.clear();
        let group = self.file.get_row_group(self.group)?;
        for field in &self.fields {
            self.columns.push(field.stored.map(|column| group.get_column_reader(column)).transpose()?);
        }
        self.left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        self.group += 1;
        Ok(())
    }
}
