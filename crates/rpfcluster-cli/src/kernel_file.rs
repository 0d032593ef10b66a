//! A kernel on disk, in the format its name asks for.

use std::io::{self, Write};
use std::path::Path;

use rpfcluster::SparseKernel;
use rpfcluster_data::write;

use crate::exit::{Failure, Outcome};
use crate::output;

/// The formats of `rpf kernel`, by extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelFormat {
    /// SciPy's compressed rows.
    Npz,
    /// Matrix Market, the lower triangle.
    Mtx,
    /// NumPy, every pair.
    Npy,
    /// Columns i, j and s.
    Parquet,
}

impl KernelFormat {
    /// What the name of the file says.
    pub fn of(path: &Path) -> Outcome<Self> {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("npz") => Ok(KernelFormat::Npz),
            Some("mtx") => Ok(KernelFormat::Mtx),
            Some("npy") => Ok(KernelFormat::Npy),
            Some("parquet") => Ok(KernelFormat::Parquet),
            _ => Err(Failure::usage(format!(
                "--output {} does not end in a format that holds a kernel; take .npz, .mtx, .npy or .parquet",
                path.display()
            ))),
        }
    }
}

/// Writes a kernel of n rows and n columns.
pub fn save(path: &Path, format: KernelFormat, kernel: &SparseKernel) -> Outcome {
    if format == KernelFormat::Npy {
        return output::to_file(path, |out| dense(out, kernel));
    }
    let trees = kernel.trees as f64;
    let data: Vec<f64> = kernel.counts.iter().map(|&count| f64::from(count) / trees).collect();
    let matrix =
        write::Csr { columns: kernel.columns, indptr: &kernel.starts, indices: &kernel.indices, data: &data };
    output::to_file(path, |out| match format {
        KernelFormat::Npz => write::csr_npz(out, &matrix),
        KernelFormat::Mtx => write::csr_mtx(out, &matrix),
        _ => write::csr_parquet(out, &matrix),
    })
}

/// Row after row, so that the matrix is never in memory.
fn dense(out: &mut impl Write, kernel: &SparseKernel) -> io::Result<()> {
    write::npy::<f64>(out, &[], &[kernel.rows, kernel.columns])?;
    let mut row = vec![0u8; kernel.columns * 8];
    for i in 0..kernel.rows {
        row.fill(0);
        let (columns, counts) = kernel.row(i);
        for (&j, &count) in columns.iter().zip(counts) {
            let s = f64::from(count) / kernel.trees as f64;
            row[j as usize * 8..j as usize * 8 + 8].copy_from_slice(&s.to_le_bytes());
        }
        out.write_all(&row)?;
    }
    Ok(())
}
