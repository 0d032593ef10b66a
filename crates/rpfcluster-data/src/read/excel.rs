//! Excel workbooks (.xlsx, .xlsm). calamine reads the cells of one sheet, one after another.
//!
//! calamine keeps shared texts, styles and names of sheets in memory, with copies of what they refer to, and believes the
//! number of texts that a file states. The parts of the archive are therefore unpacked and measured first, and what they can
//! become comes from the budget.

use std::fmt::Display;
use std::io::{Cursor, Read};

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, SheetVisible, Xlsx, XlsxError};
use memchr::{memchr_iter, memchr2_iter, memmem};

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
        let text = cells(&mut book, &name, &format!("{source}{place}"), budget)?;
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
            DataRef::DateTime(at) if at.is_datetime() && (0.0..END_OF_TIME).contains(&at.as_f64()) => {
                rows.text(&date(at))?;
            }
            // A duration, in days as Excel counts, or a number that is no date.
            DataRef::DateTime(length) => rows.number(length.as_f64())?,
            // #N/A, #DIV/0! and their like.
            DataRef::Error(_) | DataRef::Empty => rows.missing()?,
        }
    }
    rows.finish()
}

/// Days from the epoch of Excel to the end of the year 9999.
const END_OF_TIME: f64 = 2_958_466.0;

/// `2024-02-29`, `2024-02-29 13:05:09.5` or, of a time without a day, `13:05:09`.
fn date(at: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, milli) = at.to_ymd_hms_milli();
    let date = match at.as_f64() < 1.0 {
        true => String::new(),
        false => format!("{year:04}-{month:02}-{day:02}"),
    };
    let fraction = match milli {
        0 => String::new(),
        milli => format!(".{milli:03}"),
    };
    match (hour, minute, second, milli) {
        (0, 0, 0, 0) if !date.is_empty() => date,
        _ => format!("{date} {hour:02}:{minute:02}:{second:02}{fraction}").trim_start().to_string(),
    }
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
        u32::MAX => Err(format(source, "the sheet is empty; choose another with --sheet")),
        first => Ok(first as usize),
    }
}

/// Unpacks the parts of the workbook, and takes from the budget what they can become in memory; returns how much. Relations decide
/// which part is what, so that every part is measured as if it were any.
fn measured(bytes: &[u8], source: &str, budget: &Budget) -> Result<usize> {
    /// A shared text besides its characters, in a vector that grows.
    const TEXT: usize = 80;
    /// A style besides its texts, and those texts.
    const STYLE: (usize, usize) = (1024, 8);
    /// A name, relation, font, fill or border besides its characters.
    const ENTRY: usize = 512;
    /// Copies of one text while it is read.
    const COPIES: usize = 3;
    let of_zip = |e: &dyn Display| format(source, format!("is not a readable workbook: {}", shortened(&e)));
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| of_zip(&e))?;
    let (mut needed, mut sheets, mut longest_path, mut longest) = (0usize, 0usize, 0, 0);
    for at in 0..archive.len() {
        let mut part = archive.by_index(at).map_err(|e| of_zip(&e))?;
        let found = Contents::of(&mut part, budget)?.map_err(|e| of_zip(&e))?;
        if found.is_wide {
            return Err(format(source, "is not a readable workbook: its parts are not UTF-8"));
        }
        let (style, texts) = STYLE;
        let more = [
            found.texts.max(found.stated).saturating_mul(TEXT),
            found.styles.saturating_mul(style.saturating_add(texts.saturating_mul(found.longest))),
            found.entries.saturating_mul(ENTRY),
            // The cells of a sheet are read one after another; of the other parts the characters are kept.
            match (found.styles, found.entries, found.texts, found.stated) {
                (0, 0, 0, 0) => 0,
                _ => found.length,
            },
        ];
        let more = more.into_iter().fold(0, usize::saturating_add);
        budget.spend(more)?;
        needed = needed.saturating_add(more);
        sheets = found.sheets.saturating_add(sheets);
        longest = found.longest.max(longest);
        // A sheet has a copy of its path.
        longest_path = if found.entries > 0 { found.longest.max(longest_path) } else { longest_path };
    }
    let copies = sheets.saturating_mul(longest_path).saturating_add(COPIES.saturating_mul(longest));
    budget.spend(copies)?;
    Ok(needed.saturating_add(copies))
}

/// What a part of the archive holds. Words are counted wherever they are, so that each number is a bound.
#[derive(Default)]
struct Contents {
    length: usize,
    /// Shared texts, and the number of them that the part states, which calamine makes room for.
    texts: usize,
    stated: usize,
    styles: usize,
    sheets: usize,
    /// Names, relations, and what styles refer to.
    entries: usize,
    /// The longest piece from one tag to the next: it bounds every attribute and text.
    longest: usize,
    /// Whether characters have two bytes, in which no word would be found.
    is_wide: bool,
}

impl Contents {
    fn of(part: &mut impl Read, budget: &Budget) -> Result<std::io::Result<Self>> {
        const CHUNK: usize = 1 << 16;
        const ENTRIES: [&[u8]; 6] = [b"definedName", b"Relationship", b"numFmt", b"font", b"fill", b"border"];
        /// Bytes that are looked at again with what follows: a word, and the number after it.
        const AGAIN: usize = 64;
        let mut found = Contents::default();
        let mut buffer = Vec::with_capacity(CHUNK + AGAIN);
        // Where the last tag begins.
        let mut tag = 0;
        loop {
            let kept = buffer.len();
            match part.take(CHUNK as u64).read_to_end(&mut buffer) {
                Ok(read) => found.length += read,
                Err(e) => return Ok(Err(e)),
            }
            let is_end = buffer.len() == kept;
            let before = found.length - buffer.len();
            if before == 0 {
                let marks: [&[u8]; 4] = [&[0xff, 0xfe], &[0xfe, 0xff], b"<\0", b"\0<"];
                found.is_wide |= marks.iter().any(|mark| buffer.starts_with(mark));
            }
            let done = if is_end { buffer.len() } else { buffer.len().saturating_sub(AGAIN) };
            for at in memchr_iter(b'<', &buffer[..done]) {
                found.longest = found.longest.max(before + at - tag);
                tag = before + at;
            }
            found.longest = found.longest.max(before + done - tag);
            // A name may have a prefix.
            for at in memchr2_iter(b'<', b':', &buffer[..done]) {
                let name = &buffer[at + 1..];
                let begins = |names: &[&[u8]]| names.iter().any(|known| name.starts_with(known));
                found.texts += usize::from(begins(&[b"si"]));
                found.styles += usize::from(begins(&[b"xf"]));
                found.sheets += usize::from(begins(&[b"sheet"]));
                found.entries += usize::from(begins(&ENTRIES));
            }
            for at in memmem::find_iter(&buffer, b"uniqueCount").take_while(|at| *at < done) {
                found.stated = found.stated.max(number(&buffer[at..]));
            }
            if is_end {
                return Ok(Ok(found));
            }
            buffer.drain(..done);
            budget.probe(found.longest)?;
        }
    }
}

/// The first number in the text; the largest there is where none follows soon.
fn number(text: &[u8]) -> usize {
    let Some(start) = text.iter().take(32).position(u8::is_ascii_digit) else { return usize::MAX };
    let digits = text[start..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0usize, |n, digit| n.saturating_mul(10).saturating_add(usize::from(digit - b'0')))
}
