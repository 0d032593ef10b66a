//! `--append`: copies the lines of a text table with columns added. Comments above the table and blank lines are dropped; a
//! row without a value gets an empty cell (`NA` if blanks separate the cells). The last columns can be replaced.

use std::io::{Result, Write};

use crate::read::{Decimal, Delimiter, Dialect, is_blank, record_len};

/// A column to be added to copied lines.
pub struct AddedColumn<'a> {
    /// Its name in the header, if there is one.
    pub name: &'a str,
    /// The cell of a row, counted from 0; `None` where the row has none.
    pub cell: Box<dyn Fn(usize) -> Option<String> + 'a>,
}

/// How lines are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopiedLines {
    /// How the table is read.
    pub dialect: Dialect,
    /// How many of its last columns, whose cells have no quotes, are left out.
    pub replaced: usize,
}

impl CopiedLines {
    /// Copies the line that names the columns; does nothing where it is empty.
    pub fn header(&self, out: &mut impl Write, line: &[u8], added: &[AddedColumn<'_>]) -> Result<()> {
        match line {
            [] => Ok(()),
            line => self.line(out, line, added, |column| column.name.to_string()),
        }
    }

    /// Copies whole records, the text of a [`Batch`](crate::Batch).
    pub fn rows(&self, out: &mut impl Write, text: &[u8], added: &[AddedColumn<'_>]) -> Result<()> {
        let delimiter = self.dialect.delimiter;
        let gap = if delimiter == Delimiter::Blanks { "NA" } else { "" };
        let (mut rest, mut row) = (text, 0);
        while !rest.is_empty() {
            let (record, tail) = rest.split_at(record_len(rest, Some(delimiter)));
            rest = tail;
            if is_blank(record.strip_suffix(b"\n").unwrap_or(record), delimiter) {
                continue;
            }
            self.line(out, record, added, |column| {
                let cell = (column.cell)(row).unwrap_or_else(|| gap.to_string());
                if self.dialect.decimal == Decimal::Comma { cell.replace('.', ",") } else { cell }
            })?;
            row += 1;
        }
        Ok(())
    }

    fn line(
        &self,
        out: &mut impl Write,
        record: &[u8],
        added: &[AddedColumn<'_>],
        cell: impl Fn(&AddedColumn<'_>) -> String,
    ) -> Result<()> {
        let separator = match self.dialect.delimiter {
            Delimiter::Byte(b) => char::from(b),
            Delimiter::Blanks => ' ',
        };
        let body = record.strip_suffix(b"\n").unwrap_or(record);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        let end = if record.ends_with(b"\r\n") { "\r\n" } else { "\n" };
        out.write_all(without_last(body, self.dialect.delimiter, self.replaced))?;
        for column in added {
            write!(out, "{separator}{}", cell(column))?;
        }
        out.write_all(end.as_bytes())
    }
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
