//! Arrow record batches → [`Frame`]. The only file that knows Arrow's types; they go no further.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};

use crate::error::{Result, format};
use crate::frame::{Frame, Lines, TextColumn};
use crate::table::Values;

/// Collects batches row by row.
pub(crate) struct Collector<'a> {
    source: &'a str,
    names: Vec<String>,
    values: Values,
    text: Vec<Option<TextColumn>>,
    n: usize,
}

impl<'a> Collector<'a> {
    /// For batches of this schema; single precision when no column of numbers has more.
    pub fn new(source: &'a str, schema: &Schema, rows: usize) -> Result<Self> {
        let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
        if names.is_empty() {
            return Err(format(source, "there are no columns"));
        }
        let mut numeric = schema.fields().iter().map(|f| f.data_type()).filter(|t| t.is_numeric()).peekable();
        let single =
            numeric.peek().is_some() && numeric.all(|t| matches!(t, DataType::Float32 | DataType::Float16));
        let room = rows.saturating_mul(names.len());
        let mut values = if single { Values::F32(Vec::new()) } else { Values::F64(Vec::new()) };
        // A file may lie about its rows: no room is no error here, the vector then grows as the rows come.
        let _ = match &mut values {
            Values::F32(v) => v.try_reserve_exact(room),
            Values::F64(v) => v.try_reserve_exact(room),
        };
        Ok(Collector { source, text: vec![None; names.len()], names, values, n: 0 })
    }

    /// Adds the rows of a batch.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let width = self.names.len();
        if batch.num_columns() != width {
            return Err(format(self.source, "a part of the file has other columns than the rest"));
        }
        let cells = (self.n + batch.num_rows()) * width;
        match &mut self.values {
            Values::F32(v) => v.resize(cells, f32::NAN),
            Values::F64(v) => v.resize(cells, f64::NAN),
        }
        for (column, array) in batch.columns().iter().enumerate() {
            self.push_column(column, array);
        }
        self.n += batch.num_rows();
        Ok(())
    }

    fn push_column(&mut self, column: usize, array: &dyn Array) {
        let width = self.names.len();
        let (first, n) = (self.n * width + column, self.n);
        macro_rules! numbers {
            ($kind:ty, $widen:expr) => {
                for (row, x) in array.as_primitive::<$kind>().iter().enumerate() {
                    if let Some(x) = x {
                        self.values.set(first + row * width, $widen(x));
                    }
                }
            };
        }
        macro_rules! texts {
            ($array:expr) => {
                for (row, s) in $array.iter().enumerate() {
                    if let Some(s) = s {
                        self.text[column].get_or_insert_default().put(n + row, s);
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
                        self.values.set(first + row * width, f64::from(u8::from(x)));
                    }
                }
            }
            DataType::Utf8 => texts!(array.as_string::<i32>()),
            DataType::LargeUtf8 => texts!(array.as_string::<i64>()),
            DataType::Utf8View => texts!(array.as_string_view()),
            DataType::Dictionary(_, values) if values.is_string() => {
                let dictionary = array.as_any_dictionary();
                // All gaps: there is no key to look up.
                if dictionary.values().is_empty() {
                    return;
                }
                let keys = dictionary.normalized_keys();
                let names: Vec<Option<String>> = match dictionary.values().data_type() {
                    DataType::LargeUtf8 => {
                        dictionary.values().as_string::<i64>().iter().map(|s| s.map(String::from)).collect()
                    }
                    DataType::Utf8View => {
                        dictionary.values().as_string_view().iter().map(|s| s.map(String::from)).collect()
                    }
                    _ => dictionary.values().as_string::<i32>().iter().map(|s| s.map(String::from)).collect(),
                };
                for (row, key) in keys.into_iter().enumerate().filter(|(row, _)| array.is_valid(*row)) {
                    if let Some(Some(name)) = names.get(key) {
                        self.text[column].get_or_insert_default().put(n + row, name);
                    }
                }
            }
            DataType::Null => {}
            // Dates, lists and the like are no features; as text they are refused by name, unless left out.
            other => {
                let text = self.text[column].get_or_insert_default();
                for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
                    text.put(n + row, &format!("a value of type {other}"));
                }
            }
        }
    }

    /// The table of all rows pushed.
    pub fn finish(self) -> Result<Frame> {
        if self.n == 0 {
            return Err(format(self.source, "there are columns but no rows"));
        }
        Ok(Frame {
            source: self.source.to_string(),
            names: self.names,
            has_header: true,
            n: self.n,
            values: self.values,
            text: self.text,
            lines: Lines { first: 1, gaps: Vec::new() },
        })
    }
}

/// Runs a reader of another crate on a file that may be hostile: should it panic, the file is at fault, not we.
pub(crate) fn guarded<T>(source: &str, what: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(format(source, format!("the {what} data is damaged"))))
}
