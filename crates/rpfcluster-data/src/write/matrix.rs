//! Matrices in the formats of NumPy (.npy, dense), SciPy (.npz, CSR) and Matrix Market (.mtx, the lower triangle of a
//! symmetric matrix). Every writer streams its input and makes no copy of it.

use std::io::{Result, Seek, Write};

/// A borrowed sparse matrix in CSR form.
#[derive(Debug, Clone, Copy)]
pub struct Csr<'a> {
    /// Number of columns.
    pub columns: usize,
    /// Where each row begins; rows + 1 numbers.
    pub indptr: &'a [usize],
    /// Column of each entry, ascending within a row.
    pub indices: &'a [u32],
    /// Each entry.
    pub data: &'a [f64],
}

impl Csr<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.indptr.len().saturating_sub(1)
    }

    /// (row, column, value) of every entry, in order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, u32, f64)> + '_ {
        self.indptr
            .windows(2)
            .enumerate()
            .flat_map(|(i, w)| (w[0]..w[1]).map(move |at| (i, at)))
            .filter_map(|(i, at)| Some((i, *self.indices.get(at)?, *self.data.get(at)?)))
    }
}

/// The header of a .npy file of at least so many bytes, padded so that the elements begin at a multiple of 64 bytes.
pub(super) fn header(out: &mut impl Write, descr: &str, shape: &[usize], least: usize) -> Result<()> {
    let mut sizes: String = shape.iter().map(|s| format!("{s}, ")).collect();
    if shape.len() > 1 {
        sizes.truncate(sizes.len() - 2);
    } else if shape.len() == 1 {
        sizes.truncate(sizes.len() - 1);
    }
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    while !(text.len() + 11).is_multiple_of(64) || text.len() + 11 < least {
        text.push(' ');
    }
    text.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(text.len() as u16).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

/// A dense array, row-major.
pub fn npy(out: &mut impl Write, values: &[f64], shape: &[usize]) -> Result<()> {
    header(out, "<f8", shape, 0)?;
    values.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
}

/// A sparse matrix as `scipy.sparse.load_npz` reads it.
pub fn csr_npz(out: impl Write + Seek, matrix: &Csr<'_>) -> Result<()> {
    let mut zip = zip::ZipWriter::new(out);
    // Level 1: the indices of a kernel compress well at any level, and higher levels are much slower.
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(1))
        .large_file(true);
    let wide = matrix.data.len() > i32::MAX as usize || matrix.columns > i32::MAX as usize;
    let descr = if wide { "<i8" } else { "<i4" };
    let index = |out: &mut zip::ZipWriter<_>, i: usize| {
        if wide { out.write_all(&(i as i64).to_le_bytes()) } else { out.write_all(&(i as i32).to_le_bytes()) }
    };
    zip.start_file("indices.npy", options)?;
    header(&mut zip, descr, &[matrix.indices.len()], 0)?;
    matrix.indices.iter().try_for_each(|i| index(&mut zip, *i as usize))?;
    zip.start_file("indptr.npy", options)?;
    header(&mut zip, descr, &[matrix.indptr.len()], 0)?;
    matrix.indptr.iter().try_for_each(|i| index(&mut zip, *i))?;
    zip.start_file("format.npy", options)?;
    header(&mut zip, "|S3", &[], 0)?;
    zip.write_all(b"csr")?;
    zip.start_file("shape.npy", options)?;
    header(&mut zip, "<i8", &[2], 0)?;
    for size in [matrix.rows(), matrix.columns] {
        zip.write_all(&(size as i64).to_le_bytes())?;
    }
    zip.start_file("data.npy", options)?;
    npy(&mut zip, matrix.data, &[matrix.data.len()])?;
    zip.finish()?.flush()
}

/// A symmetric sparse matrix in Matrix Market form: the lower triangle, rows and columns from 1.
pub fn csr_mtx(out: &mut impl Write, matrix: &Csr<'_>) -> Result<()> {
    let lower = || matrix.entries().filter(|(i, j, _)| *j as usize <= *i);
    writeln!(out, "%%MatrixMarket matrix coordinate real symmetric")?;
    writeln!(out, "{} {} {}", matrix.rows(), matrix.columns, lower().count())?;
    for (i, j, s) in lower() {
        writeln!(out, "{} {} {s}", i + 1, j + 1)?;
    }
    Ok(())
}
