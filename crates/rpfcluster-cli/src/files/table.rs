//! Tables of results: the format by the name of the output, and a writer for it.

use std::io;
use std::path::Path;

use rpfcluster_data::Format;
use rpfcluster_data::write::{Column, TableWriter, table_writer, text_writer};

use crate::exit::{Failure, Result};
use crate::output;
use crate::transaction::Sink;

/// Lines of a table that are in memory as columns at once.
const BATCH: usize = 1 << 16;

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableFormat {
    /// Text, .npy, Parquet or Arrow.
    pub format: Format,
    /// What separates the cells of text.
    pub delimiter: u8,
}

impl TableFormat {
    /// The format by the name of the output; CSV where it has none, or an unknown extension. An extension of what is not
    /// written (.gz, .xlsx, .xls, .ods, .npz, .mtx, JSON) is an error.
    pub fn of(output: Option<&Path>) -> Result<Self> {
        let csv = TableFormat { format: Format::Text, delimiter: b',' };
        let Some(path) = output.filter(|path| !output::is_standard(path)) else { return Ok(csv) };
        let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match (extension.as_deref(), Format::from_path(path)) {
            (Some("gz" | "xls" | "ods"), _)
            | (_, Some(Format::Npz | Format::Mtx | Format::Json | Format::Excel | Format::Sqlite)) => {
                Err(Failure::usage(format!(
                    "--output {} does not name a supported format; use .csv, .tsv, .parquet, .arrow or .npy",
                    path.display()
                )))
            }
            (Some("tsv" | "tab"), _) => Ok(TableFormat { delimiter: b'\t', ..csv }),
            (_, format) => Ok(TableFormat { format: format.unwrap_or(Format::Text), ..csv }),
        }
    }

    /// A writer to this output; standard output gets text.
    pub fn writer<'a>(self, out: Sink<'a>) -> io::Result<Box<dyn TableWriter + 'a>> {
        match (self.format, out) {
            (Format::Text, out) => Ok(text_writer(out.into_write(), self.delimiter)),
            (format, Sink::File(out)) => table_writer(out, format),
            (_, Sink::Stream(out)) => Ok(text_writer(out, self.delimiter)),
        }
    }

    /// Writes `n` rows of `lines` lines each. `columns` is called with one range of rows after another and returns the columns of
    /// their lines.
    pub fn write<'c>(
        self,
        out: Sink<'_>,
        (n, lines): (usize, usize),
        columns: impl Fn(std::ops::Range<usize>) -> Vec<Column<'c>>,
    ) -> io::Result<()> {
        let mut table = self.writer(out)?;
        let rows = (BATCH / lines.max(1)).max(1);
        for start in (0..n).step_by(rows) {
            table.write(&columns(start..n.min(start + rows)))?;
        }
        table.finish()
    }
}
