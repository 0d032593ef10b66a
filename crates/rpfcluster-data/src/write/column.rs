//! `--append`: copies a text table with columns added. Comments above the table and blank lines are dropped; a row
//! without a value gets an empty cell (`NA` if blanks separate the cells). The last columns can be replaced.

use std::io::{Error, Result, Write};

use crate::read::{Delimiter, ReadOptions, is_blank, layout, record_len};

/// A column to be added to a copied table.
pub struct AddedColumn<'a> {
    /// Its name in the header, if there is one.
    pub name: &'a str,
    /// The cell of a row, counted from 0; `None` where the row has none.
    pub cell: Box<dyn Fn(usize) -> Option<String> + 'a>,
}

/// Copies a text table, not gzipped, and adds columns. The last `replaced` columns of the table, whose cells have no
/// quotes, are left out. `source` is the name of the table in messages. An error of `out` is returned as it is; one of
/// the table names it.
pub fn append_columns(
    out: &mut impl Write,
    mut table: Vec<u8>,
    source: &str,
    options: &ReadOptions,
    replaced: usize,
    added: &[AddedColumn<'_>],
) -> Result<()> {
    let found = layout(&mut table, source, options).map_err(Error::other)?;
    let delimiter = found.dialect.delimiter;
    let (separator, gap) = match delimiter {
        Delimiter::Byte(b) => (char::from(b), ""),
        Delimiter::Blanks => (' ', "NA"),
    };
    let mut add = |record: &[u8], cell: &dyn Fn(&AddedColumn<'_>) -> String| -> Result<()> {
        let body = record.strip_suffix(b"\n").unwrap_or(record);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        let end = if record.ends_with(b"\r\n") { "\r\n" } else { "\n" };
        out.write_all(without_last(body, delimiter, replaced))?;
        for column in added {
            write!(out, "{separator}{}", cell(column))?;
        }
        out.write_all(end.as_bytes())
    };
    if found.dialect.header {
        add(&table[found.header_start..found.start], &|column| column.name.to_string())?;
    }
    let mut rest = &table[found.start..];
    let mut row = 0;
    while !rest.is_empty() {
        let (record, tail) = rest.split_at(record_len(rest, Some(delimiter)));
        rest = tail;
        if is_blank(record.strip_suffix(b"\n").unwrap_or(record), delimiter) {
            continue;
        }
        add(record, &|column| (column.cell)(row).unwrap_or_else(|| gap.to_string()))?;
        row += 1;
    }
    Ok(())
}

/// A record without its last cells, none of which is quoted.
fn without_last(record: &[u8], delimiter: Delimiter, cells: usize) -> &[u8] {
    let mut record = record;
    for _ in 0..cells {
        if delimiter == Delimiter::Blanks {
            record = record.trim_ascii_end();
        }
        let Some(end) = record.iter().rposition(|b| delimiter.separates(*b)) else { return record };
        record = &record[..end];
    }
    record
}
