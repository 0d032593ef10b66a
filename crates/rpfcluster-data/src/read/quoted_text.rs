//! Delimited text with quoted cells (RFC 4180), parsed by the csv crate in one thread. Slower than the parser of plain
//! text, but delimiters and line ends inside quotes belong to the cell. A cell that is never closed holds the rest of
//! the file: the budget is asked while a long record grows.

use std::cell::Cell as Shared;
use std::io::Read;

use super::encoding::decoded;
use super::number::{Cell, cell};
use super::sniff::Delimiter;
use super::text::{Layout, Parsed};
use crate::error::{DataError, Place, Result, format};
use crate::frame::{Lines, TextColumn};
use crate::memory::Budget;

/// Bytes of a record below which the budget is not asked.
const SHORT: usize = 1 << 16;

/// Bytes that the csv crate holds for a byte of a record: its buffer doubles, and is copied meanwhile.
const HELD: usize = 3;

/// The csv crate keeps three copies of its first record, whatever it is called: a short line takes its place.
const PREFIX: &[u8] = b"-\n";

/// The text, handed to the csv crate in pieces.
struct Pieces<'a> {
    rest: &'a [u8],
    budget: &'a Budget,
    /// Bytes handed over since the last record ended.
    record: &'a Shared<usize>,
    /// Why no more is handed over.
    refused: &'a Shared<Option<DataError>>,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let length = self.record.get();
        if length > SHORT
            && let Err(error) = self.budget.probe(length.saturating_mul(HELD))
        {
            self.refused.set(Some(error));
            return Err(std::io::Error::other("memory"));
        }
        let read = self.rest.read(out)?;
        self.record.set(length + read);
        Ok(read)
    }
}

/// Parses the rows of a text that contains quotes; the first is the row and the line `at`.
pub(crate) fn parse(
    body: &[u8],
    source: &str,
    layout: &Layout,
    at: Place,
    budget: &Budget,
) -> Result<Parsed> {
    let width = layout.names.len();
    let delimiter = match layout.dialect.delimiter {
        Delimiter::Byte(b) => b,
        Delimiter::Blanks => b' ',
    };
    let (length, refused) = (Shared::new(0), Shared::new(None));
    let pieces = Pieces { rest: body, budget, record: &length, refused: &refused };
    let input = PREFIX.chain(pieces);
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(input);
    let mut record = csv::ByteRecord::new();
    let mut next = |record: &mut csv::ByteRecord| {
        length.set(0);
        let read = reader.read_byte_record(record);
        read.map_err(|e| refused.take().unwrap_or_else(|| format(source, e.to_string())))
    };
    next(&mut record)?;
    let mut values = Vec::new();
    let mut text: Vec<Option<TextColumn>> = vec![None; width];
    let mut lines = Lines { first: at.line, gaps: Vec::new() };
    let mut n = 0;
    let mut skipped = 0;
    // The line of the record, and the bytes before it.
    let (mut line, mut counted) = (at.line, 0);
    while next(&mut record)? {
        // Between consecutive blanks there is no cell.
        let blanks = layout.dialect.delimiter == Delimiter::Blanks;
        let cells = record.iter().filter(|c| !(blanks && c.is_empty()));
        let got = cells.clone().count();
        if got <= 1 && width > 1 && record.iter().all(|c| c.trim_ascii().is_empty()) {
            continue;
        }
        // The csv crate counts a line end of two characters, and blank lines, with the record that follows them.
        let mut start =
            record.position().map_or(counted, |p| (p.byte() as usize).saturating_sub(PREFIX.len()));
        start += body[start..].iter().take_while(|b| matches!(b, b'\n' | b'\r')).count();
        line += memchr::memchr_iter(b'\n', &body[counted..start]).count();
        counted = start;
        if line > lines.first + n + skipped {
            skipped = line - lines.first - n;
            lines.gaps.push((n, skipped));
        }
        if got != width {
            return Err(DataError::Row {
                path: source.to_string(),
                row: Place { row: at.row + n, line },
                problem: crate::error::ragged(got, width),
            });
        }
        if values.capacity() - values.len() < width {
            let more = width.max(values.len() / 4);
            budget.reserve(&mut values, more)?;
        }
        for (column, bytes) in cells.enumerate() {
            values.push(match cell(bytes, layout.dialect.decimal) {
                Cell::Number(x) => x,
                Cell::Missing => f64::NAN,
                Cell::Text(t) => {
                    if t.len() > SHORT {
                        budget.probe(2 * t.len() + 2 * record.as_slice().len())?;
                    }
                    let column = text[column].get_or_insert_default();
                    budget.spend(column.put(n, &decoded(t)))?;
                    f64::NAN
                }
            });
        }
        n += 1;
    }
    Ok(Parsed { n, values, text, lines })
}
