//! Readers for tables, label files and similarity matrices.
//!
//! A file is read whole, or in batches of rows ([`Batches`]), and decompressed if gzipped. The format comes from the caller,
//! the file extension or the magic number, in this order, and the module of that format parses the bytes. The `_bytes`
//! functions take bytes that are not gzipped. Tables become a [`Frame`]. A [`Budget`] bounds the memory that a file can claim.

mod as_text;
mod batches;
mod columnar;
mod encoding;
mod foreign;
mod input;
mod json;
mod labels;
mod mtx;
mod npy;
mod npz;
mod number;
mod quoted_text;
mod similarity;
mod sniff;
mod text;
mod text_stream;

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_limits;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod compression;
#[cfg(feature = "excel")]
mod excel;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_columns;
#[cfg(feature = "parquet")]
mod parquet_limits;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "excel", feature = "sqlite"))]
mod text_rows;

use std::path::Path;
use std::str::FromStr;

use self::as_text::Converted;
use self::input::Input;
use crate::error::{DataError, Result, format};
use crate::frame::Frame;
use crate::memory::Budget;

pub use batches::{Batch, Batches, read_batches, read_batches_bytes};
pub use labels::{RowLabels, read_labels, read_labels_bytes};
pub use number::Decimal;
pub(crate) use number::{Cell, cell};
pub use similarity::{Similarity, read_similarity, read_similarity_bytes};
pub use sniff::Delimiter;
pub(crate) use sniff::{NUMBERS, likely_delimiter, record_len};
pub use text::Dialect;
pub(crate) use text::is_blank;

/// The largest number of columns of a text or .npy file. A file with more is not a table of features.
pub(crate) const MAX_WIDTH: usize = 10_000_000;

/// A file format. Files of any format may be gzipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Cells separated by commas, tabs, semicolons, vertical bars or blanks.
    Text,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC file or stream; Feather version 2 is the former.
    Arrow,
    /// One NumPy array.
    Npy,
    /// A SciPy sparse matrix.
    Npz,
    /// Matrix Market.
    Mtx,
    /// JSON objects, one per line or in an array.
    Json,
    /// A workbook of Excel.
    Excel,
    /// An SQLite database.
    Sqlite,
}

impl FromStr for Format {
    type Err = DataError;

    /// A name as `--format` takes it; file extensions are such names.
    fn from_str(name: &str) -> Result<Format> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "csv" | "tsv" | "txt" | "text" | "dat" | "data" | "tab" => Format::Text,
            "parquet" | "pq" => Format::Parquet,
            "arrow" | "feather" | "ipc" | "arrows" => Format::Arrow,
            "npy" => Format::Npy,
            "npz" => Format::Npz,
            "mtx" | "mm" => Format::Mtx,
            "jsonl" | "ndjson" | "json" => Format::Json,
            "xlsx" | "xlsm" => Format::Excel,
            "sqlite" | "sqlite3" => Format::Sqlite,
            _ => {
                return Err(DataError::Option {
                    name: format!("format \"{name}\""),
                    problem:
                        "is not known; use csv, tsv, txt, parquet, arrow, feather, jsonl, xlsx, sqlite, npy, npz or mtx"
                            .into(),
                });
            }
        })
    }
}

impl Format {
    /// The format by the file extension, ignoring `.gz`; `None` when it is not known.
    pub fn from_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?;
        let lower = name.to_ascii_lowercase();
        let stem = lower.strip_suffix(".gz").unwrap_or(&lower);
        stem.rsplit_once('.')?.1.parse().ok()
    }

    /// The format by the magic number; text when there is none.
    fn from_bytes(bytes: &[u8]) -> Format {
        if bytes.starts_with(b"PAR1") {
            Format::Parquet
        } else if bytes.starts_with(b"ARROW1") || bytes.starts_with(&[0xff, 0xff, 0xff, 0xff]) {
            Format::Arrow
        } else if bytes.starts_with(b"\x93NUMPY") {
            Format::Npy
        } else if is_workbook(bytes) {
            Format::Excel
        } else if bytes.starts_with(b"SQLite format 3\0") {
            Format::Sqlite
        } else if bytes.starts_with(b"PK\x03\x04") {
            Format::Npz
        } else if bytes.starts_with(b"%%MatrixMarket") {
            Format::Mtx
        } else if is_json(bytes) {
            Format::Json
        } else {
            Format::Text
        }
    }
}

/// Whether an archive is a workbook whose parts are XML. Some programs write the properties or the list of parts first, where
/// the beginning does not tell a workbook from another document. A document of another kind may be embedded in a workbook.
fn is_workbook(bytes: &[u8]) -> bool {
    let holds = |names: &[&[u8]]| names.iter().any(|name| memchr::memmem::find(bytes, name).is_some());
    bytes.starts_with(b"PK\x03\x04")
        && (holds(&[b"xl/workbook.xml"])
            || holds(&[b"[Content_Types].xml", b"docProps/"])
                && !holds(&[b"xl/workbook.bin", b"word/", b"ppt/"]))
}

/// Whether text begins like a JSON object, or like an array of them.
fn is_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let inside = bytes.strip_prefix(b"[").unwrap_or(bytes).trim_ascii_start();
    let object = inside.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    object.is_some_and(|object| matches!(object.first(), Some(b'"' | b'}')))
}

/// What is known about a file beyond its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format. By default it is taken from the extension, then from the contents.
    pub format: Option<Format>,
    /// Whether the first line of a text file names the columns. Detected by default.
    pub header: Option<bool>,
    /// What separates the cells of a text file. Detected by default: tab, semicolon, vertical bar, comma or blanks.
    pub delimiter: Option<Delimiter>,
    /// What separates the fraction of a number in a text file. Detected by default.
    pub decimal: Option<Decimal>,
    /// The sheet of a workbook, by its name or by its number from 1. The first visible one by default.
    pub sheet: Option<String>,
    /// The query whose rows are read from an SQLite database. All rows of the only table by default.
    pub query: Option<String>,
    /// Bytes of memory that reading may take, the file included; a file that needs more is refused. By default what is
    /// free; see [`memory_limit`](crate::memory_limit).
    pub memory: Option<u64>,
}

/// Reads a table from a file, or from standard input when the path is `-`.
pub fn read_frame(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Frame> {
    let path = path.as_ref();
    let source = name(path);
    let budget = Budget::new(&source, options.memory);
    let options = options.of_path(path);
    let input = Input::open(path)?;
    parse_input(input, &options, &budget)
}

/// Reads a table from bytes that are not gzipped; `source` is their name in messages.
pub fn read_frame_bytes(bytes: Vec<u8>, source: &str, options: &ReadOptions) -> Result<Frame> {
    let budget = Budget::new(source, options.memory);
    budget.spend(bytes.len())?;
    parse_frame(bytes, source, options, &budget)
}

impl ReadOptions {
    /// With the format that the extension tells, where no other is given.
    fn of_path(&self, path: &Path) -> Self {
        ReadOptions { format: self.format.or_else(|| Format::from_path(path)), ..self.clone() }
    }
}

fn parse_input(input: Input, options: &ReadOptions, budget: &Budget) -> Result<Frame> {
    match as_text::convert(input, options, budget)? {
        Ok(Converted { text, source, options }) => {
            let frame = text::read(text, &source, &options, budget)?;
            Ok(Frame { dialect: frame.dialect.map(Dialect::of_converted), ..frame })
        }
        Err(input) => {
            let source = input.source().to_string();
            parse_plain(input.read_all(budget)?, &source, options, budget)
        }
    }
}

fn parse_frame(bytes: Vec<u8>, source: &str, options: &ReadOptions, budget: &Budget) -> Result<Frame> {
    match options.format.unwrap_or_else(|| Format::from_bytes(&bytes)) {
        found @ (Format::Excel | Format::Sqlite) => {
            // The beginning that an input looks at may not tell.
            let options = ReadOptions { format: Some(found), ..options.clone() };
            parse_input(Input::of_bytes(bytes.into(), source), &options, budget)
        }
        _ => parse_plain(bytes, source, options, budget),
    }
}

/// Parses what is neither a workbook nor a database.
fn parse_plain(mut bytes: Vec<u8>, source: &str, options: &ReadOptions, budget: &Budget) -> Result<Frame> {
    if let Some(problem) = foreign::remedy(&bytes, options.format, source) {
        return Err(format(source, problem));
    }
    match options.format.unwrap_or_else(|| Format::from_bytes(&bytes)) {
        Format::Text => text::read(bytes, source, options, budget),
        Format::Npy => npy::read(&bytes, source)?.into_frame(budget),
        Format::Json => json::read(&mut bytes, source, budget),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(bytes, source, budget),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            Err(format(source, "this build does not read Parquet; build with the cargo feature `parquet`"))
        }
        #[cfg(feature = "arrow")]
        Format::Arrow => arrow::read(&bytes, source, budget),
        #[cfg(not(feature = "arrow"))]
        Format::Arrow => {
            Err(format(source, "this build does not read Arrow; build with the cargo feature `arrow`"))
        }
        // A build that reads them does not come here.
        Format::Excel => Err(format(source, "is not a workbook of Excel")),
        Format::Sqlite => Err(format(source, "is not an SQLite database")),
        Format::Npz | Format::Mtx => Err(format(
            source,
            "holds a matrix, not a table of features; use --precomputed if it holds similarities",
        )),
    }
}

/// The bytes of a file, decompressed; the path `-` is standard input. `memory` is as in [`ReadOptions`].
pub fn read_bytes(path: impl AsRef<Path>, memory: Option<u64>) -> Result<Vec<u8>> {
    let path = path.as_ref();
    load(path, &Budget::new(&name(path), memory))
}

/// The name of a file in messages. The path `-` is standard input.
pub(crate) fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_string() } else { path.display().to_string() }
}

/// The bytes of a file, decompressed. The path `-` is standard input.
pub(crate) fn load(path: &Path, budget: &Budget) -> Result<Vec<u8>> {
    Input::open(path)?.read_all(budget)
}
