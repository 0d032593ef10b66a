//! Delimited text with quoted cells (RFC 4180), parsed by the csv crate in one thread. Slower than the parser of plain
//! text, but delimiters and line ends inside quotes belong to the cell.

use super::number::{Cell, cell};
use super::sniff::Delimiter;
use super::text::{Layout, Parsed};
use crate::error::{DataError, Place, Result, format};
use crate::frame::{Lines, TextColumn};
use crate::memory::Budget;

/// Parses the rows of a text that contains quotes.
pub(crate) fn parse(body: &[u8], source: &str, layout: &Layout, budget: &Budget) -> Result<Parsed> {
    let width = layout.names.len();
    let delimiter = match layout.dialect.delimiter {
        Delimiter::Byte(b) => b,
        Delimiter::Blanks => b' ',
    };
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(body);
    let mut record = csv::ByteRecord::new();
    let mut values = Vec::new();
    let mut text: Vec<Option<TextColumn>> = vec![None; width];
    let mut lines = Lines { first: layout.first_line, gaps: Vec::new() };
    let mut n = 0;
    let mut skipped = 0;
    while reader.read_byte_record(&mut record).map_err(|e| format(source, e.to_string()))? {
        // Between consecutive blanks there is no cell.
        let blanks = layout.dialect.delimiter == Delimiter::Blanks;
        let cells = record.iter().filter(|c| !(blanks && c.is_empty()));
        let got = cells.clone().count();
        if got <= 1 && width > 1 && record.iter().all(|c| c.trim_ascii().is_empty()) {
            continue;
        }
        let line = layout.first_line + record.position().map_or(n, |p| (p.line() as usize).saturating_sub(1));
        if line > lines.first + n + skipped {
            skipped = line - lines.first - n;
            lines.gaps.push((n, skipped));
        }
        if got != width {
            return Err(DataError::Row {
                path: source.to_string(),
                row: Place { row: n + 1, line },
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
                    budget.probe(2 * t.len())?;
                    let column = text[column].get_or_insert_default();
                    budget.spend(column.put(n, &String::from_utf8_lossy(t)))?;
                    f64::NAN
                }
            });
        }
        n += 1;
    }
    Ok(Parsed { n, values, text, lines })
}
