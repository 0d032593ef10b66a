//! Delimited text → [`Frame`], in parallel. Delimiter, header and first row are detected first; comments above the table
//! are skipped. The first pass counts the rows of each chunk, the second parses each chunk straight into its part of the
//! matrix. Cells that are not numbers are kept as text; a row of the wrong length is an error. Memory: the text once and
//! the numbers once. Text that contains quotes is left to `quoted_text`.

use rayon::prelude::*;

use super::encoding::decoded;
use super::number::{Cell, Decimal, cell, short_decimal};
use super::sniff::{self, Delimiter};
use super::{MAX_WIDTH, ReadOptions, quoted_text};
use crate::error::{DataError, Place, Result, counted, format};
use crate::frame::{Frame, Lines, TextColumn, numbered_names};
use crate::memory::Budget;
use crate::table::Values;

/// Bytes of text per task.
const CHUNK: usize = 1 << 20;

/// Bytes of a column besides its cells: its name and the head of its text.
const COLUMN: usize = size_of::<String>() + 16 + size_of::<Option<TextColumn>>();

/// Bytes of text cells that a task may hold before it reports them to the budget, which all tasks share.
const UNREPORTED: usize = 1 << 16;

/// How a text file was read: told by the caller or detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// What separates two cells.
    pub delimiter: Delimiter,
    /// What separates the fraction of a number.
    pub decimal: Decimal,
    /// Whether the first line names the columns.
    pub header: bool,
    /// Whether a point was taken for the decimal character where it might separate thousands: a file with semicolons between
    /// cells such as 1.234, and none such as 1.5.
    pub ambiguous_point: bool,
    /// Whether some text is not UTF-8 and was read as Windows-1252.
    pub windows_1252: bool,
    /// Whether the text was made of a workbook or a database, so that only the header is an assumption.
    pub is_converted: bool,
}

impl Dialect {
    /// The same, of a text that was made of a workbook or a database.
    pub(super) fn of_converted(self) -> Self {
        Dialect { is_converted: true, ..self }
    }
}

impl std::fmt::Display for Dialect {
    /// `cells separated by ";", decimal comma, header`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_converted {
            return f.write_str(if self.header {
                "a table with a header"
            } else {
                "a table without a header"
            });
        }
        match self.delimiter {
            Delimiter::Blanks => f.write_str("cells separated by blanks")?,
            Delimiter::Byte(b'\t') => f.write_str("cells separated by tabs")?,
            Delimiter::Byte(byte) => write!(f, "cells separated by \"{}\"", char::from(byte))?,
        }
        f.write_str(match self.decimal {
            Decimal::Comma => ", decimal comma",
            Decimal::Point if self.ambiguous_point => ", decimal point",
            Decimal::Point => "",
        })?;
        f.write_str(if self.header { ", header" } else { ", no header" })?;
        f.write_str(if self.windows_1252 { ", Windows-1252" } else { "" })
    }
}

/// The layout of a text file, detected before its rows are read.
pub(crate) struct Layout {
    pub dialect: Dialect,
    pub names: Vec<String>,
    /// Byte offset of the first row.
    pub start: usize,
    /// Line of the first row, from 1.
    pub first_line: usize,
    /// Byte offset of the header; `start` when there is none.
    pub header_start: usize,
}

/// Reads a table of text.
pub(crate) fn read(
    mut bytes: Vec<u8>,
    source: &str,
    options: &ReadOptions,
    budget: &Budget,
) -> Result<Frame> {
    let layout = layout(&mut bytes, source, options)?;
    let at = Place { row: 1, line: layout.first_line };
    rows(&bytes[layout.start..], source, &layout, at, budget)?.ok_or_else(|| no_row(source))
}

/// The error of a file without rows.
pub(crate) fn no_row(source: &str) -> DataError {
    format(source, "there is a header but no row of data")
}

/// Parses whole records, the first of which is the row and the line `at`; `None` where all of them are blank.
pub(crate) fn rows(
    body: &[u8],
    source: &str,
    layout: &Layout,
    at: Place,
    budget: &Budget,
) -> Result<Option<Frame>> {
    budget.spend_items(layout.names.len(), COLUMN)?;
    let parsed = if memchr::memchr(b'"', body).is_some() {
        quoted_text::parse(body, source, layout, at, budget)?
    } else {
        parse(body, source, layout, at, budget)?
    };
    Ok((parsed.n > 0).then(|| Frame {
        source: source.to_string(),
        names: layout.names.clone(),
        has_header: layout.dialect.header,
        dialect: Some(layout.dialect),
        before: at.row - 1,
        n: parsed.n,
        values: Values::F64(parsed.values),
        text: parsed.text,
        lines: parsed.lines,
    }))
}

/// The rows of a text file.
pub(crate) struct Parsed {
    pub n: usize,
    pub values: Vec<f64>,
    pub text: Vec<Option<TextColumn>>,
    pub lines: Lines,
}

/// Detects the delimiter, the decimal character, the header and the first row, as far as `options` leave them open. A byte order
/// mark, blank lines and comments (`#`, `%`, `;;`) above the table are skipped. In a text without line feeds, carriage returns
/// become line feeds. A first line `sep=;`, as Excel reads it, tells the delimiter unless `options` do.
pub(crate) fn layout(bytes: &mut [u8], source: &str, options: &ReadOptions) -> Result<Layout> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(format(source, "is UTF-16 text; save it as UTF-8"));
    }
    if memchr::memchr(0, &bytes[..bytes.len().min(1 << 16)]).is_some() {
        return Err(format(source, "is not text (it contains zero bytes); give its format with --format"));
    }
    if memchr::memchr(b'\n', bytes).is_none() {
        bytes.iter_mut().filter(|b| **b == b'\r').for_each(|b| *b = b'\n');
    }
    let Preamble { start, line_number, told } = preamble(bytes);
    let body = bytes.get(start..).unwrap_or_default();
    if body.is_empty() {
        return Err(format(source, "the file is empty"));
    }
    let told = options.delimiter.or(told);
    let sample = sniff::sample(body, told);
    let delimiter = told.unwrap_or_else(|| sniff::delimiter(&sample));
    let wide =
        sample.iter().map(|line| sniff::cells(line, delimiter).count()).find(|width| *width > MAX_WIDTH);
    if let Some(width) = wide {
        return Err(format(source, format!("{width} columns are more than the limit of {MAX_WIDTH}")));
    }
    let rows: Vec<Vec<&[u8]>> =
        sample.iter().map(|line| sniff::cells(line, delimiter).map(sniff::unquoted).collect()).collect();
    let Some((first, rest)) = rows.split_first() else {
        return Err(format(source, "the file is empty"));
    };
    let decimal = options.decimal.unwrap_or_else(|| sniff::decimal(&rows));
    let header = options.header.unwrap_or_else(|| sniff::has_header(first, rest, decimal));
    let windows_1252 = std::str::from_utf8(body).is_err();
    let ambiguous_point = options.decimal.is_none()
        && delimiter == Delimiter::Byte(b';')
        && decimal == Decimal::Point
        && sniff::has_ambiguous_points(&rows);
    let is_converted = false;
    let dialect = Dialect { delimiter, decimal, header, ambiguous_point, windows_1252, is_converted };
    let width = if header { rest.first().map_or(first.len(), Vec::len) } else { first.len() };
    let header_start = start;
    if !header {
        return Ok(Layout {
            dialect,
            names: numbered_names(width),
            start,
            first_line: line_number,
            header_start,
        });
    }
    let mut names: Vec<String> = first.iter().map(|name| text_of(name)).collect();
    if sniff::ends_empty(first, rest) {
        names.push(String::new());
    } else if names.len() + 1 == width {
        names.insert(0, "row".to_string());
    }
    if names.len() != width {
        let problem = format!(
            "the header names {}, but the first row has {}",
            counted(names.len(), "column"),
            counted(width, "cell")
        );
        return Err(format(source, problem));
    }
    let header_len = sniff::record_len(body, Some(delimiter));
    let first_line = line_number + memchr::memchr_iter(b'\n', &body[..header_len]).count();
    Ok(Layout { dialect, names, start: start + header_len, first_line, header_start })
}

/// What is above the table.
struct Preamble {
    /// Its length.
    start: usize,
    /// The number of the line that follows it.
    line_number: usize,
    /// The delimiter that it tells.
    told: Option<Delimiter>,
}

/// Finds what is above the table: a byte order mark, a line `sep=;`, blank lines and comments.
fn preamble(bytes: &[u8]) -> Preamble {
    let mut above = Preamble { start: 0, line_number: 1, told: None };
    if bytes.starts_with(b"\xef\xbb\xbf") {
        above.start = 3;
    }
    if let Some(line) = first_line(&bytes[above.start..]) {
        above.told = told_delimiter(line);
        if above.told.is_some() {
            above.start += line.len() + 1;
            above.line_number += 1;
        }
    }
    while let Some(line) = bytes.get(above.start..).and_then(first_line) {
        let trimmed = line.trim_ascii();
        let comment = trimmed.starts_with(b"#") || trimmed.starts_with(b"%") || trimmed.starts_with(b";;");
        if !(trimmed.is_empty() || comment) {
            break;
        }
        above.start += line.len() + 1;
        above.line_number += 1;
    }
    above
}

/// The delimiter of a line `sep=;`, perhaps in quotes.
fn told_delimiter(line: &[u8]) -> Option<Delimiter> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix(b"\"").and_then(|l| l.strip_suffix(b"\"")).unwrap_or(line);
    let (name, told) = line.split_at_checked(4)?;
    // A character, or a tab as `\t`; a word would be a name of a column.
    let is_one = told.len() == 1 || told == b"\\t";
    let told = std::str::from_utf8(told).ok().filter(|_| is_one && name.eq_ignore_ascii_case(b"sep="))?;
    told.parse().ok()
}

/// Whether the first bytes of a text decide its layout, whatever follows them.
pub(crate) fn is_decided(bytes: &[u8], delimiter: Option<Delimiter>) -> bool {
    let above = preamble(bytes);
    let body = bytes.get(above.start..).unwrap_or_default();
    sniff::is_enough(body, delimiter.or(above.told))
}

/// The bytes up to the first line end; `None` at the end of the text.
fn first_line(bytes: &[u8]) -> Option<&[u8]> {
    (!bytes.is_empty()).then(|| &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())])
}

/// The text between the quotes of a cell.
fn text_of(cell: &[u8]) -> String {
    decoded(cell).replace("\"\"", "\"")
}

/// The result of the first pass over a chunk: rows, lines, and the positions of blank lines.
struct Count {
    rows: usize,
    lines: usize,
    gaps: Vec<(usize, usize)>,
}

fn parse(body: &[u8], source: &str, layout: &Layout, at: Place, budget: &Budget) -> Result<Parsed> {
    let width = layout.names.len();
    let delimiter = layout.dialect.delimiter;
    let chunks = chunks(body, width);
    let counts: Vec<Count> = chunks.par_iter().map(|chunk| count(chunk, delimiter)).collect();
    let n: usize = counts.iter().map(|c| c.rows).sum();
    let mut lines = Lines { first: at.line, gaps: Vec::new() };
    budget.spend_items(counts.iter().map(|c| c.gaps.len()).sum(), 2 * size_of::<(usize, usize)>())?;
    let mut starts = Vec::with_capacity(chunks.len());
    let (mut rows_before, mut lines_before) = (0, 0);
    for count in &counts {
        starts.push(rows_before);
        lines.gaps.extend(count.gaps.iter().map(|(r, g)| (r + rows_before, g + lines_before - rows_before)));
        rows_before += count.rows;
        lines_before += count.lines;
    }
    let place = |row: usize| {
        let skipped = lines.gaps.iter().take_while(|(r, _)| *r <= row).last().map_or(0, |g| g.1);
        Place { row: at.row + row, line: lines.first + row + skipped }
    };
    let ragged = |row: usize, got: usize| DataError::Row {
        path: source.to_string(),
        row: place(row),
        problem: crate::error::ragged(got, width),
    };
    // A row of `width` cells takes at least `width` bytes. With fewer bytes some row is too short, and nothing is
    // allocated.
    if n.checked_mul(width).is_none_or(|cells| cells > body.len() + 1) {
        let rows = body.split(|b| *b == b'\n').filter(|line| !is_blank(line, delimiter));
        let mut counted = rows.map(|line| sniff::cells(line, delimiter).count()).enumerate();
        if let Some((row, got)) = counted.find(|(_, got)| *got != width) {
            return Err(ragged(row, got));
        }
    }
    let mut values = Vec::new();
    budget.reserve(&mut values, n * width)?;
    values.resize(n * width, f64::NAN);
    let mut slices = Vec::with_capacity(chunks.len());
    let mut left = values.as_mut_slice();
    for count in &counts {
        let (head, tail) = left.split_at_mut(count.rows * width);
        slices.push(head);
        left = tail;
    }
    let parts: Vec<ChunkText> = chunks
        .par_iter()
        .zip(slices)
        .map(|(chunk, out)| match delimiter {
            Delimiter::Byte(d) => parse_chunk(chunk, out, layout, budget, |b| b == d),
            Delimiter::Blanks => parse_chunk(chunk, out, layout, budget, |b| b == b' ' || b == b'\t'),
        })
        .collect();
    let mut text: Vec<Option<TextColumn>> = vec![None; width];
    for (part, start) in parts.into_iter().zip(starts) {
        let (part, spent) = part.map_err(|stopped| match stopped {
            Stopped::Ragged(row, got) => ragged(start + row, got),
            Stopped::Memory(error) => error,
        })?;
        budget.probe(spent)?;
        for (column, part) in part.into_iter().enumerate() {
            if let Some(part) = part {
                budget.spend(text[column].get_or_insert_default().append(start, &part))?;
            }
        }
        budget.release(spent);
    }
    Ok(Parsed { n, values, text, lines })
}

/// Splits the text at line ends into chunks of about [`CHUNK`] bytes, or more when the table is wide: every chunk holds
/// an entry per column for its text.
fn chunks(body: &[u8], width: usize) -> Vec<&[u8]> {
    let least = CHUNK.max(width.saturating_mul(size_of::<Option<TextColumn>>()));
    let mut chunks = Vec::new();
    let mut rest = body;
    while rest.len() > least {
        let end = memchr::memchr(b'\n', &rest[least..]).map_or(rest.len(), |i| least + i + 1);
        let (head, tail) = rest.split_at(end);
        chunks.push(head);
        rest = tail;
    }
    if !rest.is_empty() {
        chunks.push(rest);
    }
    chunks
}

/// Whether a line has no cells. In a tab-separated file a line of tabs is a row of missing cells.
pub(crate) fn is_blank(line: &[u8], delimiter: Delimiter) -> bool {
    line.iter().all(|&b| b == b' ' || b == b'\r' || (b == b'\t' && delimiter != Delimiter::Byte(b'\t')))
}

fn count(chunk: &[u8], delimiter: Delimiter) -> Count {
    let mut count = Count { rows: 0, lines: 0, gaps: Vec::new() };
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', chunk).chain((!chunk.ends_with(b"\n")).then_some(chunk.len()));
    for end in ends {
        if is_blank(&chunk[start..end], delimiter) {
            let skipped = count.lines + 1 - count.rows;
            match count.gaps.last_mut() {
                Some(last) if last.0 == count.rows => last.1 = skipped,
                _ => count.gaps.push((count.rows, skipped)),
            }
        } else {
            count.rows += 1;
        }
        count.lines += 1;
        start = end + 1;
    }
    count
}

/// The text cells of a chunk by column and their memory, or why there are none.
type ChunkText = std::result::Result<(Vec<Option<TextColumn>>, usize), Stopped>;

/// Why a chunk was not parsed to its end.
enum Stopped {
    /// A ragged row: its number within the chunk, and its number of cells.
    Ragged(usize, usize),
    /// The text takes too much memory.
    Memory(DataError),
}

/// Parses a chunk into its part of the matrix.
fn parse_chunk(
    chunk: &[u8],
    out: &mut [f64],
    layout: &Layout,
    budget: &Budget,
    separates: impl Fn(u8) -> bool + Copy,
) -> ChunkText {
    let width = layout.names.len();
    let Dialect { delimiter, decimal, .. } = layout.dialect;
    let mut text: Vec<Option<TextColumn>> = vec![None; width];
    // Memory of the text cells, and the part of it that the budget knows.
    let (mut taken, mut spent) = (0, 0);
    let mut rows = out.chunks_exact_mut(width);
    let mut row = 0;
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', chunk).chain((!chunk.ends_with(b"\n")).then_some(chunk.len()));
    for end in ends {
        let line = &chunk[start..end];
        start = end + 1;
        if is_blank(line, delimiter) {
            continue;
        }
        let Some(values) = rows.next() else { break };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if delimiter == Delimiter::Blanks { line.trim_ascii() } else { line };
        let mut at = 0;
        let mut column = 0;
        loop {
            let rest = &line[at..];
            // The usual case: a short decimal right up to the next delimiter.
            let (content, used) = match short_decimal(rest, decimal.byte()) {
                Some((x, used)) if rest.get(used).is_none_or(|b| separates(*b)) => (Cell::Number(x), used),
                _ => {
                    let used = rest.iter().position(|b| separates(*b)).unwrap_or(rest.len());
                    (cell(&rest[..used], decimal), used)
                }
            };
            match (content, values.get_mut(column)) {
                (Cell::Number(x), Some(slot)) => *slot = x,
                (Cell::Text(t), Some(_)) => {
                    if t.len() > UNREPORTED {
                        budget.probe(2 * t.len()).map_err(Stopped::Memory)?;
                    }
                    taken += text[column].get_or_insert_default().put(row, &decoded(t));
                }
                _ => {}
            }
            column += 1;
            at += used;
            if at >= line.len() {
                break;
            }
            at += 1;
            if delimiter == Delimiter::Blanks {
                while line.get(at).is_some_and(|b| separates(*b)) {
                    at += 1;
                }
            }
        }
        if column != width {
            return Err(Stopped::Ragged(row, column));
        }
        if taken - spent > UNREPORTED {
            budget.spend(taken - spent).map_err(Stopped::Memory)?;
            spent = taken;
        }
        row += 1;
    }
    budget.spend(taken - spent).map_err(Stopped::Memory)?;
    Ok((text, taken))
}
