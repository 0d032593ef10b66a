//! Excel workbooks (.xlsx, .xlsm). calamine reads the cells of one sheet, one after another.
//!
//! calamine keeps shared texts, styles and names of sheets in memory, with copies of what they refer to, and believes the
//! number of texts that a file states. The parts of the archive are therefore unpacked and measured first, and what they can
//! become comes from the budget.

use std::io::{Cursor, Read};

use calamine::{DataRef, Reader, SheetType, SheetVisible, Xlsx, XlsxError};
use memchr::{memchr_iter, memmem};

use super::columnar::guarded;
use super::text_rows::Rows;
use crate::error::{DataError, Result, excerpt, format, shortened};
use crate::memory::Budget;

/// The sheet as text, and what follows the name of the file in messages: empty for the only sheet. `sheet` is a name or a number
/// from 1; by default it is the first that is visible.
pub(super) fn text(
    bytes: &[u8],
    sheet: Option<&str>,
    source: &str,
    budget: &Budget,
) -> Result<(Vec<u8>, String)> {
    let spent = measured(bytes, source, budget)?;
    let found = guarded(source, "workbook", || {
        let mut book = Xlsx::new(Cursor::new(bytes)).map_err(|e| damaged(source, &e))?;
        let (name, place) = chosen(&book, sheet, source)?;
        let text = cells(&mut book, &name, source, budget)?;
        Ok((text, place))
    })?;
    budget.release(spent);
    Ok(found)
}

fn damaged(source: &str, error: &XlsxError) -> DataError {
    format(source, format!("is not a readable workbook: {}", shortened(error)))
}

/// The name of the sheet, and ` sheet "name" (1 of 2)` where there are several.
fn chosen(book: &Xlsx<Cursor<&[u8]>>, sheet: Option<&str>, source: &str) -> Result<(String, String)> {
    let all = book.sheets_metadata();
    let tables: Vec<_> = all.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet).collect();
    let at = match sheet {
        None => tables.iter().position(|sheet| sheet.visible == SheetVisible::Visible).unwrap_or(0),
        Some(asked) => {
            let number = asked.parse::<usize>().ok().filter(|at| (1..=tables.len()).contains(at));
            let by_name = tables.iter().position(|sheet| sheet.name == asked);
            by_name.or(number.map(|at| at - 1)).ok_or_else(|| {
                let names: Vec<_> =
                    tables.iter().take(20).map(|s| format!("\"{}\"", excerpt(&s.name))).collect();
                let more = if tables.len() > 20 { ", …" } else { "" };
                let names = names.join(", ");
                format(source, format!("has no sheet \"{}\"; there are {names}{more}", excerpt(asked)))
            })?
        }
    };
    let Some(sheet) = tables.get(at) else {
        return Err(format(source, "has no sheet with cells"));
    };
    let place = match tables.len() {
        1 => String::new(),
        many => format!(", sheet \"{}\" ({} of {many})", excerpt(&sheet.name), at + 1),
    };
    Ok((sheet.name.clone(), place))
}

/// The cells from the first column that has any. Rows above the first cell are blank lines, so that lines count as the rows of
/// the sheet do.
fn cells(book: &mut Xlsx<Cursor<&[u8]>>, name: &str, source: &str, budget: &Budget) -> Result<Vec<u8>> {
    let left = first_column(book, name, source)?;
    let mut reader = book.worksheet_cells_reader(name).map_err(|e| damaged(source, &e))?;
    let mut rows = Rows::new(budget);
    while let Some(cell) = reader.next_cell().map_err(|e| damaged(source, &e))? {
        let (row, column) = cell.get_position();
        let value = cell.get_value();
        if matches!(value, DataRef::Empty) {
            continue;
        }
        let (row, column) = (row as usize, column as usize - left);
        if row < rows.ended() || (row == rows.ended() && column < rows.cells()) {
            let problem =
                format!("row {} of the sheet comes too late or has a cell twice; save it again", row + 1);
            return Err(format(source, problem));
        }
        while rows.ended() < row {
            rows.end()?;
        }
        while rows.cells() < column {
            rows.missing()?;
        }
        match value {
            DataRef::Int(x) => rows.integer(*x)?,
            DataRef::Float(x) => rows.number(*x)?,
            DataRef::Bool(x) => rows.integer(i64::from(*x))?,
            DataRef::String(text) => rows.text(text)?,
            DataRef::SharedString(text) => rows.text(text)?,
            DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => rows.text(text)?,
            DataRef::DateTime(at) if at.is_datetime() => {
                let (year, month, day, hour, minute, second, _) = at.to_ymd_hms_milli();
                let time = match (hour, minute, second) {
                    (0, 0, 0) => String::new(),
                    _ => format!(" {hour:02}:{minute:02}:{second:02}"),
                };
                rows.text(&format!("{year:04}-{month:02}-{day:02}{time}"))?;
            }
            // A duration, in days as Excel counts.
            DataRef::DateTime(length) => rows.number(length.as_f64())?,
            // #N/A, #DIV/0! and their like.
            DataRef::Error(_) | DataRef::Empty => rows.missing()?,
        }
    }
    rows.finish()
}

/// The first column that has a cell with a value.
fn first_column(book: &mut Xlsx<Cursor<&[u8]>>, name: &str, source: &str) -> Result<usize> {
    let mut reader = book.worksheet_cells_reader(name).map_err(|e| damaged(source, &e))?;
    let mut first = u32::MAX;
    while let Some(cell) = reader.next_cell().map_err(|e| damaged(source, &e))? {
        if !matches!(cell.get_value(), DataRef::Empty) {
            first = first.min(cell.get_position().1);
        }
        if first == 0 {
            break;
        }
    }
    match first {
        u32::MAX => Err(format(source, "the sheet is empty")),
        first => Ok(first as usize),
    }
}

/// Unpacks the parts of the workbook that are read, and takes from the budget what they can become in memory; returns how much.
fn measured(bytes: &[u8], source: &str, budget: &Budget) -> Result<usize> {
    /// A shared text besides its characters, in a vector that grows.
    const TEXT: usize = 80;
    /// A style besides its texts.
    const STYLE: usize = 1024;
    /// Texts of a style, and what the text of any other part becomes.
    const COPIES: usize = 8;
    let of_zip =
        |e: &dyn std::fmt::Display| format(source, format!("is not a readable workbook: {}", shortened(&e)));
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| of_zip(&e))?;
    let (mut needed, mut sheets, mut longest_path) = (0usize, 0usize, 0usize);
    for at in 0..archive.len() {
        let mut part = archive.by_index(at).map_err(|e| of_zip(&e))?;
        let name = part.name().map_err(|e| of_zip(&e))?.to_ascii_lowercase();
        if name.contains("/worksheets/") && name.ends_with(".xml") {
            // One tag or text is in memory at a time; it can be all of the part.
            budget.probe(unpacked(&mut part, budget)?.map_err(|e| of_zip(&e))?)?;
            continue;
        }
        if !(name.ends_with(".xml") || name.ends_with(".rels")) {
            continue;
        }
        let xml = budget.read_to_end(&mut part, 0)?.map_err(|e| of_zip(&e))?;
        if xml.iter().take(1 << 10).any(|byte| *byte == 0) {
            return Err(format(source, "is not a readable workbook: its parts are not UTF-8"));
        }
        let longest = longest_piece(&xml);
        let more = if name.ends_with("sharedstrings.xml") {
            let texts = memmem::find_iter(&xml, b"si").count().max(stated(&xml));
            xml.len().saturating_add(texts.saturating_mul(TEXT))
        } else if name.ends_with("styles.xml") {
            memmem::find_iter(&xml, b"xf").count().saturating_mul(STYLE + COPIES * longest)
        } else {
            sheets = sheets.saturating_add(memmem::find_iter(&xml, b"sheet").count());
            // A sheet has a copy of its path.
            longest_path = if name.ends_with(".rels") { longest_path.max(longest) } else { longest_path };
            COPIES.saturating_mul(xml.len())
        };
        budget.release(xml.capacity());
        drop(xml);
        budget.spend(more)?;
        needed = needed.saturating_add(more);
    }
    let paths = sheets.saturating_mul(longest_path);
    budget.spend(paths)?;
    Ok(needed.saturating_add(paths))
}

/// The length of a part, which the archive only claims.
fn unpacked(part: &mut impl Read, budget: &Budget) -> Result<std::io::Result<usize>> {
    let mut buffer = vec![0; 1 << 16];
    let mut length = 0;
    loop {
        match part.read(&mut buffer) {
            Ok(0) => return Ok(Ok(length)),
            Ok(many) => length += many,
            Err(e) => return Ok(Err(e)),
        }
        budget.probe(length)?;
    }
}

/// The longest piece from one tag to the next: it bounds every attribute and text.
fn longest_piece(xml: &[u8]) -> usize {
    let mut before = 0;
    let ends = memchr_iter(b'<', xml).chain([xml.len()]);
    ends.map(|at| at - std::mem::replace(&mut before, at)).max().unwrap_or(0)
}

/// The largest number of texts that the part states, which calamine makes room for.
fn stated(xml: &[u8]) -> usize {
    let numbers = memmem::find_iter(xml, b"uniqueCount").map(|at| {
        let rest = &xml[at + b"uniqueCount".len()..];
        let start = rest.iter().position(u8::is_ascii_digit).unwrap_or(rest.len());
        let digits = rest[start..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0usize, |n, digit| n.saturating_mul(10).saturating_add(usize::from(digit - b'0')))
    });
    numbers.max().unwrap_or(0)
}
