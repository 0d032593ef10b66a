//! Writes a kernel in the format of its file extension: .npz and .mtx (CSR), .npy (dense) or .parquet (i, j, s).

use std::io::{self, Write};
use std::path::Path;

use rpfcluster::SparseKernel;
use rpfcluster_data::write;

use crate::exit::{Failure, Result};
use crate::transaction::Transaction;

/// The formats of `rpf kernel`, by extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelFormat {
    /// SciPy CSR.
    Npz,
    /// Matrix Market, the lower triangle.
    Mtx,
    /// NumPy, dense.
    Npy,
    /// Columns i, j and s.
    Parquet,
}

impl KernelFormat {
    /// The format of a file extension.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("npz") => Ok(KernelFormat::Npz),
            Some("mtx") => Ok(KernelFormat::Mtx),
            Some("npy") => Ok(KernelFormat::Npy),
            Some("parquet") => Ok(KernelFormat::Parquet),
            _ => Err(Failure::usage(format!(
                "--output {} does not name a supported format; use .npz, .mtx, .npy or .parquet",
                path.display()
            ))),
        }
    }
}

/// Stages an n x n kernel.
pub fn save<'a>(
    transaction: &mut Transaction<'a>,
    path: &Path,
    format: KernelFormat,
    kernel: &'a SparseKernel,
) -> Result {
    if format == KernelFormat::Npy {
        return transaction.file(path, |out| dense(out, kernel));
    }
    transaction.file(path, move |out| {
        let trees = kernel.trees as f64;
        let data: Vec<f64> = kernel.counts.iter().map(|&count| f64::from(count) / trees).collect();
        let SparseKernel { columns, starts, indices, .. } = kernel;
        let matrix = write::Csr { columns: *columns, indptr: starts, indices, data: &data };
        match format {
            KernelFormat::Npz => write::csr_npz(out, &matrix),
            KernelFormat::Mtx => write::csr_mtx(out, &matrix),
            _ => write::csr_parquet(out, &matrix),
        }
    })
}

/// Writes row by row, so that the dense matrix is never in memory.
fn dense(out: &mut impl Write, kernel: &SparseKernel) -> io::Result<()> {
    write::npy(out, &[], &[kernel.rows, kernel.columns])?;
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
