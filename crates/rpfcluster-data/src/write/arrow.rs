//! A table as an Arrow IPC file (Feather version 2), one record batch, not compressed.

use std::io::{Error, Result, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};

use super::table::{Cells, Column};

/// Writes the columns, all of them nullable.
pub(super) fn columns(out: &mut impl Write, columns: &[Column<'_>]) -> Result<()> {
    let array = |cells: &Cells<'_>| -> (DataType, ArrayRef) {
        match cells {
            Cells::Integers(cells) => (DataType::Int64, Arc::new(Int64Array::from(cells.clone()))),
            Cells::Singles(cells) => {
                let present = cells.iter().map(|x| (!x.is_nan()).then_some(*x));
                (DataType::Float32, Arc::new(present.collect::<Float32Array>()))
            }
            Cells::Doubles(cells) => {
                let present = cells.iter().map(|x| (!x.is_nan()).then_some(*x));
                (DataType::Float64, Arc::new(present.collect::<Float64Array>()))
            }
            Cells::Text(cells) => {
                (DataType::Utf8, Arc::new(cells.iter().map(Option::as_deref).collect::<StringArray>()))
            }
        }
    };
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
        .iter()
        .map(|column| {
            let (kind, array) = array(&column.cells);
            (Field::new(column.name.as_ref(), kind, true), array)
        })
        .unzip();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(Error::other)?;
    let mut file = FileWriter::try_new(out, &schema).map_err(Error::other)?;
    file.write(&batch).and_then(|()| file.finish()).map_err(Error::other)
}
