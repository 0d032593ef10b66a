//! CSV files of labels and of numbers. Numbers have the shortest form that reads back to the same bits.

use std::io::{Result, Write};

/// Columns `row`, `cluster` and, if given, `confidence`. `rows` are the 1-based input rows; `None` means 1, 2, 3, …
pub fn labels_csv(
    out: &mut impl Write,
    rows: Option<&[usize]>,
    clusters: &[u32],
    confidence: Option<&[f64]>,
) -> Result<()> {
    out.write_all(if confidence.is_some() { b"row,cluster,confidence\n" } else { b"row,cluster\n" })?;
    for (i, cluster) in clusters.iter().enumerate() {
        let row = rows.and_then(|r| r.get(i).copied()).unwrap_or(i + 1);
        match confidence.and_then(|c| c.get(i)) {
            Some(c) => writeln!(out, "{row},{cluster},{c}")?,
            None => writeln!(out, "{row},{cluster}")?,
        }
    }
    Ok(())
}

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
