//! A sparse matrix as a table of its entries: columns `i`, `j` (from 0) and `s`.

use std::io::{Error, Result, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::matrix::{Csr, Element};

/// Entries a batch.
const BATCH: usize = 1 << 20;

/// Writes every stored entry.
pub fn csr_parquet<T: Element>(out: impl Write + Send, matrix: &Csr<'_, T>) -> Result<()> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("i", DataType::UInt32, false),
        Field::new("j", DataType::UInt32, false),
        Field::new("s", DataType::Float64, false),
    ]));
    let compression = Compression::ZSTD(ZstdLevel::try_new(1).map_err(Error::other)?);
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(Error::other)?;
    let mut entries = matrix.entries().peekable();
    while entries.peek().is_some() {
        let (mut is, mut js, mut ss) = (Vec::new(), Vec::new(), Vec::new());
        for (i, j, at) in entries.by_ref().take(BATCH) {
            is.push(i as u32);
            js.push(j);
            ss.push(matrix.data.get(at).copied().map_or(0.0, Into::into));
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from(is)),
            Arc::new(UInt32Array::from(js)),
            Arc::new(Float64Array::from(ss)),
        ];
        let batch = RecordBatch::try_new(schema.clone(), columns).map_err(Error::other)?;
        writer.write(&batch).map_err(Error::other)?;
    }
    writer.close().map_err(Error::other)?;
    Ok(())
}
