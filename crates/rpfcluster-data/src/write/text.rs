//! CSV files of numbers, which have the shortest form that reads back to the same bits.

use std::io::{Result, Write};

/// A row-major matrix under a header; with `rows`, a first column `row` of 1-based input rows.
pub fn numbers_csv(
    out: &mut impl Write,
    names: &[String],
    values: &[f64],
    rows: Option<&[usize]>,
) -> Result<()> {
    let mut header = csv::WriterBuilder::new().from_writer(Vec::new());
    header.write_record(rows.map(|_| "row").into_iter().chain(names.iter().map(String::as_str)))?;
    out.write_all(&header.into_inner().map_err(|e| e.into_error())?)?;
    for (i, row) in values.chunks_exact(names.len().max(1)).enumerate() {
        if let Some(r) = rows.and_then(|rows| rows.get(i)) {
            write!(out, "{r},")?;
        }
        for (j, x) in row.iter().enumerate() {
            if j > 0 {
                out.write_all(b",")?;
            }
            write!(out, "{x}")?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
