//! A table as an Arrow IPC file (Feather version 2), a record batch for each batch of rows, not compressed.

use std::io::{Error, Result, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};

use super::table::{Cells, Column, TableWriter};

/// A table of columns, all of them nullable.
pub(super) struct Table<W: Write> {
    /// Until the first rows.
    out: Option<W>,
    file: Option<FileWriter<W>>,
}

impl<W: Write> Table<W> {
    /// An empty table.
    pub fn new(out: W) -> Self {
        Table { out: Some(out), file: None }
    }
}

impl<W: Write> TableWriter for Table<W> {
    fn write(&mut self, columns: &[Column<'_>]) -> Result<()> {
        let batch = batch(columns)?;
        if let Some(out) = self.out.take() {
            self.file = Some(FileWriter::try_new(out, &batch.schema()).map_err(Error::other)?);
        }
        self.file.as_mut().map_or(Ok(()), |file| file.write(&batch).map_err(Error::other))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        match self.file {
            Some(mut file) => file.finish().map_err(Error::other),
            None => Err(Error::other("there are no rows")),
        }
    }
}

fn batch(columns: &[Column<'_>]) -> Result<RecordBatch> {
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
    RecordBatch::try_new(schema, arrays).map_err(Error::other)
}
