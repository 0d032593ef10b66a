//! Delimited text → [`Frame`], in parallel. Delimiter, header and first row are detected first; comments above the table
//! are skipped. The first pass counts the rows of each chunk, the second parses each chunk straight into its part of the
//! matrix. Cells that are not numbers are kept as text; a row of the wrong length is an error. Memory: the text once and
//! the numbers once. Text that contains quotes is left to `quoted_text`.

use rayon::prelude::*;

use super::number::{Cell, cell, short_decimal};
use super::sniff::{self, Delimiter};
use super::{MAX_WIDTH, quoted_text};
use crate::error::{DataError, Place, Result, format};
use crate::frame::{Frame, Lines, TextColumn, numbered_names};
use crate::table::Values;

/// Bytes of text per task.
const CHUNK: usize = 1 << 20;

/// The layout of a text file, detected before its rows are read.
pub(crate) struct Dialect {
    pub delimiter: Delimiter,
    pub has_header: bool,
    pub names: Vec<String>,
    /// Byte offset of the first row.
    pub start: usize,
    /// Line of the first row, from 1.
    pub first_line: usize,
    /// Byte offset of the header; `start` when there is none.
    pub header_start: usize,
}

/// Reads a table of text.
pub(crate) fn read(mut bytes: Vec<u8>, source: &str, header: Option<bool>) -> Result<Frame> {
    let layout = layout(&mut bytes, source, header)?;
    let body = &bytes[layout.start..];
    let parsed = if memchr::memchr(b'"', body).is_some() {
        quoted_text::parse(body, source, &layout)?
    } else {
        parse(body, source, &layout)?
    };
    if parsed.n == 0 {
        return Err(format(source, "there is a header but no row of data"));
    }
    Ok(Frame {
        source: source.to_string(),
        names: layout.names,
        has_header: layout.has_header,
        n: parsed.n,
        values: Values::F64(parsed.values),
        text: parsed.text,
        lines: parsed.lines,
    })
}

/// The rows of a text file.
pub(crate) struct Parsed {
    pub n: usize,
    pub values: Vec<f64>,
    pub text: Vec<Option<TextColumn>>,
    pub lines: Lines,
}

/// Detects the delimiter, the header and the first row. A byte order mark, blank lines and comments (`#`, `%`, `;;`)
/// above the table are skipped. In a text without line feeds, carriage returns become line feeds.
pub(crate) fn layout(bytes: &mut [u8], source: &str, header: Option<bool>) -> Result<Dialect> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(format(source, "is UTF-16 text; save it as UTF-8"));
    }
    if memchr::memchr(0, &bytes[..bytes.len().min(1 << 16)]).is_some() {
        return Err(format(source, "is not text (it contains zero bytes); give its format with --format"));
    }
    if memchr::memchr(b'\n', bytes).is_none() {
        bytes.iter_mut().filter(|b| **b == b'\r').for_each(|b| *b = b'\n');
    }
    let mut start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut line_number = 1;
    while let Some(line) = first_line(&bytes[start..]) {
        let trimmed = line.trim_ascii();
        let comment = trimmed.starts_with(b"#") || trimmed.starts_with(b"%") || trimmed.starts_with(b";;");
        if !(trimmed.is_empty() || comment) {
            break;
        }
        start += line.len() + 1;
        line_number += 1;
        if start >= bytes.len() {
            return Err(format(source, "the file is empty"));
        }
    }
    let body = bytes.get(start..).unwrap_or_default();
    if body.is_empty() {
        return Err(format(source, "the file is empty"));
    }
    let sample = sniff::sample(body);
    let delimiter = sniff::delimiter(&sample);
    let rows: Vec<Vec<String>> =
        sample.iter().map(|line| sniff::cells(line, delimiter).into_iter().map(unquote).collect()).collect();
    let Some((first, rest)) = rows.split_first() else {
        return Err(format(source, "the file is empty"));
    };
    let has_header = header.unwrap_or_else(|| sniff::has_header(first, rest));
    let width = if has_header { rest.first().map_or(first.len(), Vec::len) } else { first.len() };
    if width > MAX_WIDTH {
        return Err(format(source, format!("{width} columns are more than the limit of {MAX_WIDTH}")));
    }
    let header_start = start;
    if !has_header {
        return Ok(Dialect {
            delimiter,
            has_header,
            names: numbered_names(width),
            start,
            first_line: line_number,
            header_start,
        });
    }
    let mut names = first.clone();
    if names.len() + 1 == width {
        names.insert(0, "row".to_string());
    }
    if names.len() != width {
        let problem =
            format!("the header names {} columns, but the first row has {width} cells", names.len());
        return Err(format(source, problem));
    }
    let header_len = sniff::record_len(body);
    let first_line = line_number + memchr::memchr_iter(b'\n', &body[..header_len]).count();
    Ok(Dialect { delimiter, has_header, names, start: start + header_len, first_line, header_start })
}

/// The bytes up to the first line end; `None` at the end of the text.
fn first_line(bytes: &[u8]) -> Option<&[u8]> {
    (!bytes.is_empty()).then(|| &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())])
}

/// A cell without its quotes, as text.
fn unquote(cell: &[u8]) -> String {
    let cell = cell.trim_ascii();
    let inner = cell.strip_prefix(b"\"").and_then(|c| c.strip_suffix(b"\"")).unwrap_or(cell);
    String::from_utf8_lossy(inner).replace("\"\"", "\"")
}

/// The result of the first pass over a chunk: rows, lines, and the positions of blank lines.
struct Count {
    rows: usize,
    lines: usize,
    gaps: Vec<(usize, usize)>,
}

fn parse(body: &[u8], source: &str, layout: &Dialect) -> Result<Parsed> {
    let width = layout.names.len();
    let chunks = chunks(body);
    let counts: Vec<Count> = chunks.par_iter().map(|chunk| count(chunk, layout.delimiter)).collect();
    let n: usize = counts.iter().map(|c| c.rows).sum();
    let mut lines = Lines { first: layout.first_line, gaps: Vec::new() };
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
        Place { row: row + 1, line: lines.first + row + skipped }
    };
    let ragged = |row: usize, got: usize| DataError::Row {
        path: source.to_string(),
        row: place(row),
        problem: crate::error::ragged(got, width),
    };
    // A row of `width` cells takes at least `width` bytes. With fewer bytes some row is too short, and nothing is
    // allocated.
    if n.checked_mul(width).is_none_or(|cells| cells > body.len() + 1) {
        let rows = body.split(|b| *b == b'\n').filter(|line| !is_blank(line, layout.delimiter));
        let mut counted = rows.map(|line| sniff::cells(line, layout.delimiter).len()).enumerate();
        if let Some((row, got)) = counted.find(|(_, got)| *got != width) {
            return Err(ragged(row, got));
        }
    }
    let mut values = vec![f64::NAN; n * width];
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
        .map(|(chunk, out)| match layout.delimiter {
            Delimiter::Byte(d) => parse_chunk(chunk, out, width, layout.delimiter, |b| b == d),
            Delimiter::Blanks => {
                parse_chunk(chunk, out, width, layout.delimiter, |b| b == b' ' || b == b'\t')
            }
        })
        .collect();
    let mut text: Vec<Option<TextColumn>> = vec![None; width];
    for (part, start) in parts.into_iter().zip(starts) {
        let part = part.map_err(|(row, got)| ragged(start + row, got))?;
        for (column, part) in part.into_iter().enumerate() {
            if let Some(part) = part {
                text[column].get_or_insert_default().append(start, &part);
            }
        }
    }
    Ok(Parsed { n, values, text, lines })
}

/// Splits the text at line ends into chunks of about [`CHUNK`] bytes.
fn chunks(body: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    let mut rest = body;
    while rest.len() > CHUNK {
        let end = memchr::memchr(b'\n', &rest[CHUNK..]).map_or(rest.len(), |i| CHUNK + i + 1);
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
            count.gaps.push((count.rows, count.lines + 1 - count.rows));
        } else {
            count.rows += 1;
        }
        count.lines += 1;
        start = end + 1;
    }
    count
}

/// The text cells of a chunk by column, or the first ragged row: (row within the chunk, its number of cells).
type ChunkText = std::result::Result<Vec<Option<TextColumn>>, (usize, usize)>;

/// Parses a chunk into its part of the matrix.
fn parse_chunk(
    chunk: &[u8],
    out: &mut [f64],
    width: usize,
    delimiter: Delimiter,
    separates: impl Fn(u8) -> bool + Copy,
) -> ChunkText {
    let mut text: Vec<Option<TextColumn>> = vec![None; width];
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
            let (content, used) = match short_decimal(rest) {
                Some((x, used)) if rest.get(used).is_none_or(|b| separates(*b)) => (Cell::Number(x), used),
                _ => {
                    let used = rest.iter().position(|b| separates(*b)).unwrap_or(rest.len());
                    (cell(&rest[..used]), used)
                }
            };
            match (content, values.get_mut(column)) {
                (Cell::Number(x), Some(slot)) => *slot = x,
                (Cell::Text(t), Some(_)) => {
                    text[column].get_or_insert_default().put(row, &String::from_utf8_lossy(t));
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
            return Err((row, column));
        }
        row += 1;
    }
    Ok(text)
}
