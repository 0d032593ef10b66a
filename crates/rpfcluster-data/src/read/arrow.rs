//! Arrow IPC: the file format (Feather version 2 is the same) and the stream format.
//!
//! Reads floats, integers, decimals of 128 bits, booleans, strings and dictionaries of strings. A null is a missing
//! cell; a value of another type becomes text that names its type. Numbers stay in single precision if no numeric
//! column has more. A panic of the arrow crates on a damaged file becomes an error; `arrow_limits` checks the lengths
//! that they would allocate.

use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema};

use super::arrow_limits;
use super::columnar::{Collector, guarded};
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
        let bytes = Cursor::new(bytes);
        if is_file {
            let reader = FileReader::try_new(bytes, None).map_err(bad)?;
            collect(source, &reader.schema(), reader.map(|batch| batch.map_err(bad)), budget)
        } else {
            let reader = StreamReader::try_new(bytes, None).map_err(bad)?;
            collect(source, &reader.schema(), reader.map(|batch| batch.map_err(bad)), budget)
        }
    })
}

/// Collects batches of one schema. Single precision when no numeric column has more.
fn collect(
    source: &str,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    budget: &Budget,
) -> Result<Frame> {
    let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    let width = names.len();
    let mut numeric = schema.fields().iter().map(|f| f.data_type()).filter(|t| t.is_numeric()).peekable();
    let single =
        numeric.peek().is_some() && numeric.all(|t| matches!(t, DataType::Float32 | DataType::Float16));
    let mut collector = Collector::new(source, names, single, budget)?;
    for batch in batches {
        let batch = batch?;
        if batch.num_columns() != width {
            return Err(format(source, "a part of the file has other columns than the rest"));
        }
        collector.begin(batch.num_rows())?;
        for (column, array) in batch.columns().iter().enumerate() {
            push(&mut collector, column, array);
        }
        collector.end(batch.num_rows())?;
    }
    collector.finish()
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
