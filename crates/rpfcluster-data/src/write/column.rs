//! `--append`: copies a text table with one column added. Comments above the table and blank lines are dropped; a row
//! without a label gets an empty cell (`NA` if blanks separate the cells).
//!
//! The whole file is read and decompressed a second time. Keeping its text during the whole fit would cost about as
//! much memory as the numbers.

use std::io::{Error, Result, Write};
use std::path::Path;

use crate::error::format;
use crate::memory::Budget;
use crate::read::{Delimiter, Format, is_blank, layout, load, name as name_of, record_len};

/// Copies a text table and adds a column: `name` to the header, if there is one, and `value(row)` (row from 0) to
/// every row; a row without a value gets an empty cell, or `NA` where blanks separate the cells. An error of `out` is
/// returned as it is; one of the input names it. The input may take `memory` bytes, by default what is free.
pub fn append_column(
    out: &mut impl Write,
    input: impl AsRef<Path>,
    memory: Option<u64>,
    name: &str,
    value: impl Fn(usize) -> Option<String>,
) -> Result<()> {
    let input = input.as_ref();
    let source = name_of(input);
    let mut bytes = load(input, &Budget::new(&source, memory)).map_err(Error::other)?;
    if Format::from_path(input).unwrap_or(Format::Text) != Format::Text {
        let problem = "a column can be added to text tables only; write the labels to a file of their own";
        return Err(Error::other(format(&source, problem)));
    }
    let found = layout(&mut bytes, &source, None).map_err(Error::other)?;
    let (separator, gap) = match found.delimiter {
        Delimiter::Byte(b) => (char::from(b), ""),
        Delimiter::Blanks => (' ', "NA"),
    };
    let mut add = |record: &[u8], cell: &str| -> Result<()> {
        let body = record.strip_suffix(b"\n").unwrap_or(record);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        let end = if record.ends_with(b"\r\n") { "\r\n" } else { "\n" };
        out.write_all(body)?;
        write!(out, "{separator}{cell}{end}")
    };
    if found.has_header {
        add(&bytes[found.header_start..found.start], name)?;
    }
    let mut rest = &bytes[found.start..];
    let mut row = 0;
    while !rest.is_empty() {
        let (record, tail) = rest.split_at(record_len(rest));
        rest = tail;
        if is_blank(record.strip_suffix(b"\n").unwrap_or(record), found.delimiter) {
            continue;
        }
        add(record, &value(row).unwrap_or_else(|| gap.to_string()))?;
        row += 1;
    }
    Ok(())
}
