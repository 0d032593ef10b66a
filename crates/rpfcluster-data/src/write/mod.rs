//! Writers for labels and numbers (CSV), a column appended to an input file, arrays (.npy) and CSR matrices (SciPy
//! .npz, Matrix Market, Parquet).
//!
//! Each one writes to a [`Write`]; .npz also needs `Seek` and Parquet `Send`. [`to_file`] replaces a file atomically:
//! it writes a temporary file in the same folder and renames it.

mod column;
mod matrix;
mod text;

#[cfg(feature = "parquet")]
mod parquet;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::error::{Result, file};

pub use column::append_column;
pub use matrix::{Csr, Element, csr_mtx, csr_npz, npy};
pub use text::{labels_csv, numbers_csv};

#[cfg(feature = "parquet")]
pub use parquet::csr_parquet;

/// Refuses: this build does not write Parquet.
#[cfg(not(feature = "parquet"))]
pub fn csr_parquet<T: Element>(_: impl Write + Send, _: &Csr<'_, T>) -> std::io::Result<()> {
    Err(std::io::Error::other("this build does not write Parquet; build with the cargo feature `parquet`"))
}

/// What [`to_file`] hands to a writer: buffered, and seekable for the formats that need it.
pub type Output<'a> = BufWriter<&'a mut File>;

/// Writes a file atomically: to a temporary file in the same folder, renamed at the end. After an error an existing file
/// is unchanged and no temporary file is left. Devices and pipes are written directly.
pub fn to_file(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut Output<'_>) -> std::io::Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    let failed = |e: std::io::Error| file(path, &e);
    // A symbolic link stays; its target is replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if std::fs::metadata(&target).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let mut device = std::fs::OpenOptions::new().write(true).open(&target).map_err(failed)?;
        return filled(&mut device, write).map_err(failed);
    }
    if target.is_dir() {
        return Err(failed(std::io::Error::other("is a folder, not a file")));
    }
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rpf-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of a new file (umask applies); by default a temporary file is private.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut temporary = builder.tempfile_in(folder).map_err(failed)?;
    filled(temporary.as_file_mut(), write).map_err(failed)?;
    temporary.persist(&target).map_err(|e| failed(e.error))?;
    Ok(())
}

fn filled(
    file: &mut File,
    write: impl FnOnce(&mut Output<'_>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut output = BufWriter::with_capacity(1 << 18, file);
    write(&mut output)?;
    output.flush()
}
