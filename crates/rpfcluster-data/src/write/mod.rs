//! Writers for tables of typed columns (CSV, .npy, Parquet, Arrow), batch by batch; columns added to a copied table, numbers (CSV),
//! arrays (.npy) and CSR matrices (SciPy .npz, Matrix Market, Parquet).
//!
//! Each one writes to a [`Write`](std::io::Write); .npz also needs `Seek` and Parquet `Send`. [`to_file`] replaces a file atomically:
//! it writes a temporary file in the same folder and renames it.

#[cfg(feature = "arrow")]
mod arrow;
mod column;
mod copied;
mod matrix;
mod table;

#[cfg(feature = "parquet")]
mod parquet;

use std::path::Path;

use rpfcluster::atomic_file;

use crate::error::{Result, file};

pub use column::{AddedColumn, CopiedLines};
pub use copied::{CopiedColumns, EarlierLabels};
pub use matrix::{Csr, csr_mtx, csr_npz, npy};
pub use table::{Cells, Column, TableWriter, table_writer, text_writer};

#[cfg(feature = "parquet")]
pub use parquet::csr_parquet;

/// Returns an error: this build does not write Parquet.
#[cfg(not(feature = "parquet"))]
pub fn csr_parquet(_: impl std::io::Write + Send, _: &Csr<'_>) -> std::io::Result<()> {
    Err(std::io::Error::other("this build does not write Parquet; build with the cargo feature `parquet`"))
}

/// What [`to_file`] hands to a writer: buffered, and seekable for the formats that need it.
pub use atomic_file::Output;

/// Writes a file atomically: to a temporary file in the same folder, renamed at the end. After an error an existing
/// file is unchanged and no temporary file is left. Devices and pipes are written directly.
pub fn to_file(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut Output<'_>) -> std::io::Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    atomic_file::replace(path, write).map_err(|e| file(path, &e))
}
