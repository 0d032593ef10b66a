//! Arrow IPC: the file format (Feather version 2 is the same) and the stream format.
//!
//! Reads floats, integers, decimals of 128 bits, booleans, strings, dictionaries of strings, and lists of floats or
//! integers that have one length in all rows, such as embeddings. A null is a missing cell; a value of another type
//! becomes text that names its type. Numbers stay in single precision if no numeric column has more; integers of one byte
//! in lists have no more. A panic of the arrow crates on a damaged file becomes an error; `arrow_limits` checks the lengths
//! that they would allocate.

use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use super::arrow_limits;
use super::columnar::{Collector, Layout, Lists, guarded, with_even_lists};
use crate::error::{Result, format};
use crate::frame::Frame;
use crate::memory::Budget;

/// Reads a whole Arrow file or stream.
pub(crate) fn read(bytes: Vec<u8>, source: &str, budget: &Budget) -> Result<Frame> {
    guarded(source, "Arrow", || {
        let bad = |e: ArrowError| format(source, format!("is not a valid Arrow file: {e}"));
        if bytes.starts_with(b"FEA1") {
            return Err(format(source, "is a Feather file of version 1; convert it to version 2"));
        }
        let is_file = bytes.starts_with(b"ARROW1");
        arrow_limits::check(&bytes, is_file, source, budget)?;
        with_even_lists(budget, |ragged| {
            let bytes = Cursor::new(&bytes[..]);
            if is_file {
                let reader = FileReader::try_new(bytes, None).map_err(bad)?;
                collect(source, &reader.schema(), reader.map(|batch| batch.map_err(bad)), ragged, budget)
            } else {
                let reader = StreamReader::try_new(bytes, None).map_err(bad)?;
                collect(source, &reader.schema(), reader.map(|batch| batch.map_err(bad)), ragged, budget)
            }
        })
    })
}

/// Collects batches of one schema. Single precision when no numeric column has more.
fn collect(
    source: &str,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    ragged: &[usize],
    budget: &Budget,
) -> Result<Lists> {
    let width = schema.fields().len();
    let numbers = |t: &DataType| element(t).map_or(t.is_numeric(), DataType::is_numeric);
    let mut numeric = schema.fields().iter().map(|f| f.data_type()).filter(|t| numbers(t)).peekable();
    let is_single = |t: &DataType| match element(t) {
        Some(of) => matches!(of, DataType::Int8 | DataType::UInt8 | DataType::Float16 | DataType::Float32),
        None => matches!(t, DataType::Float32 | DataType::Float16),
    };
    let single = numeric.peek().is_some() && numeric.all(is_single);
    let mut batches = batches.peekable();
    // The length of lists whose type does not state it is that of the first one.
    let first = match batches.peek() {
        Some(Ok(batch)) if batch.num_columns() == width => Some(batch),
        _ => None,
    };
    let field = |(at, field): (usize, &std::sync::Arc<Field>)| {
        let array = first.map(|batch| batch.column(at).as_ref());
        let length = if ragged.contains(&at) { None } else { list_length(field.data_type(), array) };
        (field.name().clone(), length)
    };
    let fields: Vec<(String, Option<usize>)> = schema.fields().iter().enumerate().map(field).collect();
    let lengths: Vec<Option<usize>> = fields.iter().map(|(_, length)| *length).collect();
    let layout = Layout::new(source, fields, budget)?;
    let mut collector = Collector::new(source, layout.names, single, budget)?;
    for batch in batches {
        let batch = batch?;
        if batch.num_columns() != width {
            return Err(format(source, "a part of the file has other columns than the rest"));
        }
        collector.begin(batch.num_rows())?;
        for (at, array) in batch.columns().iter().enumerate() {
            match lengths[at] {
                Some(length) => {
                    if !push_lists(&mut collector, layout.first[at], length, array) {
                        return Ok(Lists::Ragged(at));
                    }
                }
                None => push(&mut collector, layout.first[at], array),
            }
        }
        collector.end(batch.num_rows())?;
    }
    collector.finish().map(Lists::Even)
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

/// Spreads lists of numbers over the columns from `first`; false where a list has another length.
fn push_lists(collector: &mut Collector<'_>, first: usize, length: usize, array: &dyn Array) -> bool {
    for row in 0..array.len() {
        // An empty list is a missing one.
        let Some(items) = list(array, row).filter(|items| !items.is_empty()) else { continue };
        if items.len() != length {
            return false;
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
            let dictionary = array.as_any_dictionary();
            // Without values every cell is missing, and there is no key to normalise.
            if dictionary.values().is_empty() {
                return;
            }
            let keys = dictionary.normalized_keys();
            let names: Vec<Option<String>> = match dictionary.values().data_type() {
                DataType::LargeUtf8 => owned(dictionary.values().as_string::<i64>().iter()),
                DataType::Utf8View => owned(dictionary.values().as_string_view().iter()),
                _ => owned(dictionary.values().as_string::<i32>().iter()),
            };
            for (row, key) in keys.into_iter().enumerate().filter(|(row, _)| array.is_valid(*row)) {
                if let Some(Some(name)) = names.get(key) {
                    collector.text(row, column, name);
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

fn owned<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Vec<Option<String>> {
    texts.map(|text| text.map(String::from)).collect()
}
