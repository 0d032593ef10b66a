//! Arrow IPC: the file format (Feather version 2 is the same) and the stream format.
//!
//! Reads floats, integers, decimals of 128 bits, booleans, strings, dictionaries of strings, and lists of floats or
//! integers that have one length in all rows, such as embeddings. A null is a missing cell; a value of another type
//! becomes text that names its type. Numbers stay in single precision if no numeric column has more; integers of one byte
//! in lists have no more. A panic of the arrow crates on a damaged file becomes an error; `arrow_limits` checks the lengths
//! that they would allocate. Rows are read as they are asked for: all into one frame, or batch by batch.

use std::io::{Cursor, Read, Seek};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use super::arrow_limits;
use super::arrow_limits::CheckedStream;
use super::columnar::{Collector, Layout, Lists, Ragged, guarded, with_even_lists};
use crate::error::{DataError, Result, format, shortened};
use crate::frame::Frame;
use crate::memory::Budget;

/// Reads a whole Arrow file or stream.
pub(crate) fn read(bytes: &[u8], source: &str, budget: &Budget) -> Result<Frame> {
    with_even_lists(budget, |ragged| {
        let mut rows = match is_file(bytes, source)? {
            true => ArrowRows::of_file(Cursor::new(bytes), ragged, source, budget)?,
            false => ArrowRows::of_stream(Cursor::new(bytes), ragged, source, budget)?,
        };
        let mut collector = rows.collector(source, budget)?;
        match rows.push(&mut collector, usize::MAX, Ragged::Stop, source)? {
            Some(field) => Ok(Lists::Ragged(field)),
            None => collector.finish().map(Lists::Even),
        }
    })
}

/// Whether the first bytes are those of a file, not of a stream.
pub(crate) fn is_file(bytes: &[u8], source: &str) -> Result<bool> {
    if bytes.starts_with(b"FEA1") {
        return Err(format(source, "is a Feather file of version 1; convert it to version 2"));
    }
    Ok(bytes.starts_with(b"ARROW1"))
}

/// An Arrow file or stream whose rows are read as they are asked for. A record batch of the file is held meanwhile.
pub(crate) struct ArrowRows<'a> {
    batches: Box<dyn Iterator<Item = Result<RecordBatch>> + 'a>,
    /// The batch at hand, as far as its rows are not read.
    current: Option<RecordBatch>,
    layout: Layout,
    /// The length of the lists of each field.
    lengths: Vec<Option<usize>>,
    single: bool,
}

/// An error of arrow-ipc, which may hold one of ours.
fn bad(source: &str) -> impl Fn(ArrowError) -> DataError + Clone + use<> {
    let source = source.to_string();
    move |e| {
        let ours = match &e {
            ArrowError::IoError(_, e) => e.get_ref().and_then(|inner| inner.downcast_ref::<DataError>()),
            _ => None,
        };
        ours.cloned()
            .unwrap_or_else(|| format(&source, format!("is not a valid Arrow file: {}", shortened(&e))))
    }
}

impl<'a> ArrowRows<'a> {
    /// Checks a file and reads its footer and its first batch. The fields in `ragged` hold lists of different lengths.
    pub fn of_file(
        mut reader: impl Read + Seek + 'a,
        ragged: &[usize],
        source: &str,
        budget: &Budget,
    ) -> Result<Self> {
        guarded(source, "Arrow", || {
            let bad = bad(source);
            arrow_limits::check_file(&mut reader, source, budget)?;
            let reader = FileReader::try_new(reader, None).map_err(&bad)?;
            let schema = reader.schema();
            let batches = Box::new(reader.map(move |batch| batch.map_err(&bad)));
            ArrowRows::new(&schema, batches, ragged, source, budget)
        })
    }

    /// Reads the schema and the first batch of a stream, each message checked before it is read.
    pub fn of_stream(
        reader: impl Read + 'a,
        ragged: &[usize],
        source: &str,
        budget: &Budget,
    ) -> Result<Self> {
        guarded(source, "Arrow", || {
            let bad = bad(source);
            let reader = CheckedStream::new(reader, source, budget);
            let reader = StreamReader::try_new(reader, None).map_err(&bad)?;
            let schema = reader.schema();
            let batches = Box::new(reader.map(move |batch| batch.map_err(&bad)));
            ArrowRows::new(&schema, batches, ragged, source, budget)
        })
    }

    fn new(
        schema: &Schema,
        mut batches: Box<dyn Iterator<Item = Result<RecordBatch>> + 'a>,
        ragged: &[usize],
        source: &str,
        budget: &Budget,
    ) -> Result<Self> {
        let numbers = |t: &DataType| element(t).map_or(t.is_numeric(), DataType::is_numeric);
        let mut numeric = schema.fields().iter().map(|f| f.data_type()).filter(|t| numbers(t)).peekable();
        let is_single = |t: &DataType| match element(t) {
            Some(of) => {
                matches!(of, DataType::Int8 | DataType::UInt8 | DataType::Float16 | DataType::Float32)
            }
            None => matches!(t, DataType::Float32 | DataType::Float16),
        };
        let single = numeric.peek().is_some() && numeric.all(is_single);
        let current = batches.next().transpose()?;
        // The length of lists whose type does not state it is that of the first one.
        let first = current.as_ref().filter(|batch| batch.num_columns() == schema.fields().len());
        let field = |(at, field): (usize, &std::sync::Arc<Field>)| {
            let array = first.map(|batch| batch.column(at).as_ref());
            let length = if ragged.contains(&at) { None } else { list_length(field.data_type(), array) };
            (field.name().clone(), length)
        };
        let fields: Vec<(String, Option<usize>)> = schema.fields().iter().enumerate().map(field).collect();
        let lengths = fields.iter().map(|(_, length)| *length).collect();
        let layout = Layout::new(source, fields, budget)?;
        Ok(ArrowRows { batches, current, layout, lengths, single })
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.layout.names.len()
    }

    /// An empty collector for rows of this file.
    pub fn collector<'b>(&self, source: &'b str, budget: &'b Budget) -> Result<Collector<'b>> {
        Collector::new(source, self.layout.names.clone(), self.single, budget)
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
        guarded(source, "Arrow", || {
            while collector.n() < most {
                let Some(batch) = self.current.take().map(Ok).or_else(|| self.batches.next()).transpose()?
                else {
                    break;
                };
                if batch.num_columns() != self.lengths.len() {
                    return Err(format(source, "a part of the file has other columns than the rest"));
                }
                let rows = batch.num_rows().min(most - collector.n());
                if rows < batch.num_rows() {
                    self.current = Some(batch.slice(rows, batch.num_rows() - rows));
                }
                let batch = batch.slice(0, rows);
                collector.begin(rows)?;
                for (at, array) in batch.columns().iter().enumerate() {
                    let first = self.layout.first[at];
                    match self.lengths[at] {
                        Some(length) => {
                            if !push_lists(collector, first, length, array, ragged) {
                                return Ok(Some(at));
                            }
                        }
                        None => push(collector, first, array),
                    }
                }
                collector.end(rows)?;
            }
            Ok(None)
        })
    }
}

/// The type of the elements of lists of numbers.
fn element(list: &DataType) -> Option<&DataType> {
    match list {
        DataType::FixedSizeList(of, _) | DataType::List(of) | DataType::LargeList(of) => Some(of.data_type()),
        _ => None,
    }
    .filter(|of| of.is_integer() || of.is_floating())
}

/// The length of the lists of numbers of a column; `None` where it holds none.
fn list_length(kind: &DataType, first: Option<&dyn Array>) -> Option<usize> {
    element(kind)?;
    match (kind, first) {
        (DataType::FixedSizeList(_, length), _) => usize::try_from(*length).ok(),
        (_, Some(array)) => {
            (0..array.len()).map(|row| list(array, row).map_or(0, |l| l.len())).find(|l| *l > 0)
        }
        _ => None,
    }
    .filter(|length| *length > 0)
}

/// The list of a row; `None` where it is missing.
fn list(array: &dyn Array, row: usize) -> Option<ArrayRef> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::FixedSizeList(..) => array.as_fixed_size_list().value(row),
        DataType::LargeList(_) => array.as_list::<i64>().value(row),
        _ => array.as_list::<i32>().value(row),
    })
}

/// Spreads lists of numbers over the columns from `first`; false where a list of another length stops the reading.
fn push_lists(
    collector: &mut Collector<'_>,
    first: usize,
    length: usize,
    array: &dyn Array,
    ragged: Ragged,
) -> bool {
    for row in 0..array.len() {
        // An empty list is a missing one.
        let Some(items) = list(array, row).filter(|items| !items.is_empty()) else { continue };
        if items.len() != length {
            match ragged {
                Ragged::Stop => return false,
                Ragged::Mark => collector.list_of_other_length(row, first, items.len()),
            }
            continue;
        }
        macro_rules! numbers {
            ($kind:ty, $widen:expr) => {
                for (at, x) in items.as_primitive::<$kind>().iter().enumerate() {
                    if let Some(x) = x {
                        collector.number(row, first + at, $widen(x));
                    }
                }
            };
        }
        match items.data_type() {
            DataType::Float64 => numbers!(Float64Type, |x: f64| x),
            DataType::Float32 => numbers!(Float32Type, f64::from),
            DataType::Float16 => numbers!(Float16Type, f64::from),
            DataType::Int8 => numbers!(Int8Type, f64::from),
            DataType::Int16 => numbers!(Int16Type, f64::from),
            DataType::Int32 => numbers!(Int32Type, f64::from),
            DataType::Int64 => numbers!(Int64Type, |x: i64| x as f64),
            DataType::UInt8 => numbers!(UInt8Type, f64::from),
            DataType::UInt16 => numbers!(UInt16Type, f64::from),
            DataType::UInt32 => numbers!(UInt32Type, f64::from),
            _ => numbers!(UInt64Type, |x: u64| x as f64),
        }
    }
    true
}

/// Keys of a dictionary that are widened at a time.
const KEYS: usize = 8192;

fn push(collector: &mut Collector<'_>, column: usize, array: &dyn Array) {
    macro_rules! numbers {
        ($kind:ty, $widen:expr) => {
            for (row, x) in array.as_primitive::<$kind>().iter().enumerate() {
                if let Some(x) = x {
                    collector.number(row, column, $widen(x));
                }
            }
        };
    }
    macro_rules! texts {
        ($array:expr) => {
            for (row, text) in $array.iter().enumerate() {
                if let Some(text) = text {
                    collector.text(row, column, text);
                }
            }
        };
    }
    match array.data_type() {
        DataType::Float64 => numbers!(Float64Type, |x: f64| x),
        DataType::Float32 => numbers!(Float32Type, f64::from),
        DataType::Float16 => numbers!(Float16Type, f64::from),
        DataType::Int8 => numbers!(Int8Type, f64::from),
        DataType::Int16 => numbers!(Int16Type, f64::from),
        DataType::Int32 => numbers!(Int32Type, f64::from),
        DataType::Int64 => numbers!(Int64Type, |x: i64| x as f64),
        DataType::UInt8 => numbers!(UInt8Type, f64::from),
        DataType::UInt16 => numbers!(UInt16Type, f64::from),
        DataType::UInt32 => numbers!(UInt32Type, f64::from),
        DataType::UInt64 => numbers!(UInt64Type, |x: u64| x as f64),
        DataType::Decimal128(_, scale) => {
            let unit = 10f64.powi(i32::from(*scale));
            numbers!(Decimal128Type, |x: i128| x as f64 / unit);
        }
        DataType::Boolean => {
            for (row, x) in array.as_boolean().iter().enumerate() {
                if let Some(x) = x {
                    collector.number(row, column, f64::from(u8::from(x)));
                }
            }
        }
        DataType::Utf8 => texts!(array.as_string::<i32>()),
        DataType::LargeUtf8 => texts!(array.as_string::<i64>()),
        DataType::Utf8View => texts!(array.as_string_view()),
        DataType::Dictionary(_, values) if values.is_string() => {
            // Some rows at a time, since the keys are widened.
            for first in (0..array.len()).step_by(KEYS) {
                let part = array.slice(first, KEYS.min(array.len() - first));
                let dictionary = part.as_any_dictionary();
                // Without values every cell is missing, and there is no key to normalise.
                if dictionary.values().is_empty() {
                    return;
                }
                let keys = dictionary.normalized_keys();
                macro_rules! named {
                    ($names:expr) => {{
                        let names = $names;
                        for (row, key) in keys.into_iter().enumerate() {
                            if part.is_valid(row) && names.is_valid(key) {
                                collector.text(first + row, column, names.value(key));
                            }
                        }
                    }};
                }
                match dictionary.values().data_type() {
                    DataType::LargeUtf8 => named!(dictionary.values().as_string::<i64>()),
                    DataType::Utf8View => named!(dictionary.values().as_string_view()),
                    _ => named!(dictionary.values().as_string::<i32>()),
                }
            }
        }
        DataType::Null => {}
        other => {
            let kind = other.to_string();
            for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
                collector.other(row, column, &kind);
            }
        }
    }
}
