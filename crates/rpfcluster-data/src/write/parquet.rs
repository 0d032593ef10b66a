//! A sparse matrix as a Parquet table of its entries: columns `i`, `j` (from 0) and `s`, compressed with Zstandard.

use std::io::{Error, Result, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{DoubleType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::matrix::Csr;

/// Entries per row group, the default of Arrow's writers; no more are held in memory.
const GROUP: usize = 1 << 20;

/// Writes every stored entry.
pub fn csr_parquet(out: impl Write + Send, matrix: &Csr<'_>) -> Result<()> {
    let compression = Compression::ZSTD(ZstdLevel::try_new(1).map_err(Error::other)?);
    let properties = WriterProperties::builder().set_compression(compression).build();
    let schema = schema().map_err(Error::other)?;
    let mut file =
        SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(Error::other)?;
    let mut entries = matrix.entries().peekable();
    while entries.peek().is_some() {
        let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (i, j, s) in entries.by_ref().take(GROUP) {
            rows.push(i as u32 as i32);
            columns.push(j as i32);
            values.push(s);
        }
        write_group(&mut file, &rows, &columns, &values).map_err(Error::other)?;
    }
    file.close().map_err(Error::other)?;
    Ok(())
}

/// Row and column numbers are stored as 32 bits and marked unsigned.
fn schema() -> std::result::Result<Type, ParquetError> {
    let field = |name: &str, kind: PhysicalType, logical: Option<LogicalType>| {
        let builder = Type::primitive_type_builder(name, kind).with_repetition(Repetition::REQUIRED);
        builder.with_logical_type(logical).build().map(Arc::new)
    };
    let unsigned = || Some(LogicalType::integer(32, false));
    let fields = vec![
        field("i", PhysicalType::INT32, unsigned())?,
        field("j", PhysicalType::INT32, unsigned())?,
        field("s", PhysicalType::DOUBLE, None)?,
    ];
    Type::group_type_builder("entries").with_fields(fields).build()
}

fn write_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    rows: &[i32],
    columns: &[i32],
    values: &[f64],
) -> std::result::Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for integers in [rows, columns] {
        if let Some(mut column) = group.next_column()? {
            column.typed::<Int32Type>().write_batch(integers, None, None)?;
            column.close()?;
        }
    }
    if let Some(mut column) = group.next_column()? {
        column.typed::<DoubleType>().write_batch(values, None, None)?;
        column.close()?;
    }
    group.close()?;
    Ok(())
}
