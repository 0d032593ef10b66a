//! Parquet, compressed with Zstandard: tables of typed columns, and a sparse matrix as a table of its entries with the
//! columns `i`, `j` (from 0) and `s`.

use std::io::{Error, Result, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::matrix::Csr;
use super::table::{Cells, Column, TableWriter};

/// Entries per row group, the default of Arrow's writers; no more are held in memory.
const GROUP: usize = 1 << 20;

/// Writes every stored entry.
pub fn csr_parquet(out: impl Write + Send, matrix: &Csr<'_>) -> Result<()> {
    let schema = schema().map_err(Error::other)?;
    let mut file = writer(out, schema).map_err(Error::other)?;
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

fn writer<W: Write + Send>(
    out: W,
    schema: Type,
) -> std::result::Result<SerializedFileWriter<W>, ParquetError> {
    let compression = Compression::ZSTD(ZstdLevel::try_new(1)?);
    let properties = WriterProperties::builder().set_compression(compression).build();
    SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
}

/// A table of columns, all of them optional, in row groups of at most [`GROUP`] rows.
pub(super) struct Table<W: Write + Send> {
    /// Until the first rows.
    out: Option<W>,
    file: Option<SerializedFileWriter<W>>,
}

impl<W: Write + Send> Table<W> {
    /// An empty table.
    pub fn new(out: W) -> Self {
        Table { out: Some(out), file: None }
    }

    fn rows(&mut self, columns: &[Column<'_>]) -> std::result::Result<(), ParquetError> {
        if let Some(out) = self.out.take() {
            self.file = Some(writer(out, schema_of(columns)?)?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let rows = columns.first().map_or(0, |column| column.cells.len());
        for start in (0..rows).step_by(GROUP) {
            let part = start..rows.min(start + GROUP);
            let mut group = file.next_row_group()?;
            for column in columns {
                let Some(mut to) = group.next_column()? else { continue };
                match &column.cells {
                    Cells::Integers(cells) => {
                        put::<Int64Type>(&mut to, cells[part.clone()].iter().copied())?;
                    }
                    Cells::Singles(cells) => {
                        let present = cells[part.clone()].iter().map(|x| (!x.is_nan()).then_some(*x));
                        put::<FloatType>(&mut to, present)?;
                    }
                    Cells::Doubles(cells) => {
                        let present = cells[part.clone()].iter().map(|x| (!x.is_nan()).then_some(*x));
                        put::<DoubleType>(&mut to, present)?;
                    }
                    Cells::Text(cells) => {
                        let text = cells[part.clone()].iter().map(|x| x.as_deref().map(ByteArray::from));
                        put::<ByteArrayType>(&mut to, text)?;
                    }
                }
                to.close()?;
            }
            group.close()?;
        }
        Ok(())
    }
}

impl<W: Write + Send> TableWriter for Table<W> {
    fn write(&mut self, columns: &[Column<'_>]) -> Result<()> {
        self.rows(columns).map_err(Error::other)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        match self.file {
            Some(file) => file.close().map(drop).map_err(Error::other),
            None => Err(Error::other("there are no rows")),
        }
    }
}

fn schema_of(columns: &[Column<'_>]) -> std::result::Result<Type, ParquetError> {
    let field = |column: &Column<'_>| {
        let (kind, logical) = match column.cells {
            Cells::Integers(_) => (PhysicalType::INT64, None),
            Cells::Singles(_) => (PhysicalType::FLOAT, None),
            Cells::Doubles(_) => (PhysicalType::DOUBLE, None),
            Cells::Text(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder = Type::primitive_type_builder(&column.name, kind);
        builder.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<std::result::Result<Vec<_>, _>>()?;
    Type::group_type_builder("table").with_fields(fields).build()
}

/// Writes the cells of one column of a group; a missing one has definition level 0.
fn put<T: DataType>(
    to: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = Option<T::T>> + Clone,
) -> std::result::Result<(), ParquetError> {
    let levels: Vec<i16> = cells.clone().map(|cell| i16::from(cell.is_some())).collect();
    let present: Vec<T::T> = cells.flatten().collect();
    to.typed::<T>().write_batch(&present, Some(&levels), None)?;
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
