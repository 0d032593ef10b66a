//! Label files: the output of `rpf cluster` (`row,cluster`), a column of any table, or one label per line. A column
//! `row` gives the input row of each label; a missing label or a repeated row is an error.

use std::collections::HashMap;
use std::path::Path;

use super::as_text::{self, Converted};
use super::encoding::decoded;
use super::input::Input;
use super::number::{Cell, Decimal, cell};
use super::{Format, ReadOptions, name, parse_frame, text};
use crate::column_ref::ColumnRef;
use crate::error::{DataError, Place, Result, excerpt, format};
use crate::frame::Frame;
use crate::memory::Budget;
use crate::refusal::foreign_error;
use crate::table::Labels;

/// Labels and, where the file gives them, the 1-based input rows they belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowLabels {
    /// The labels.
    pub labels: Labels,
    /// The row of each; `None` means 1, 2, 3, …
    pub rows: Option<Vec<usize>>,
}

/// First lines, upper or lower case, that are a header and not a label.
const TITLES: [&str; 5] = ["cluster", "label", "labels", "class", "species"];

/// Reads labels from a file (`-` is standard input): the given column, else the column `cluster`, else the only column.
pub fn read_labels(
    path: impl AsRef<Path>,
    column: Option<&ColumnRef>,
    options: &ReadOptions,
) -> Result<RowLabels> {
    let path = path.as_ref();
    let source = name(path);
    let budget = Budget::new(&source, options.memory);
    match as_text::convert(Input::open(path)?, &options.of_path(path), &budget)? {
        Ok(Converted { text, source, options }) if column.is_none() && is_one_a_line(&text) => {
            let bare = ReadOptions { header: Some(false), ..options };
            let frame = text::read(text, &source, &bare, &budget)?;
            one_a_line(&lines(&frame), &source, options.header, &budget)
        }
        Ok(Converted { text, source, options }) => {
            of_frame(text::read(text, &source, &options, &budget)?, &source, column)
        }
        Err(input) => parse(input.read_all(&budget)?, &source, column, &options.of_path(path), &budget),
    }
}

/// Reads labels from bytes that are not gzipped; `source` is their name in messages.
pub fn read_labels_bytes(
    bytes: Vec<u8>,
    source: &str,
    column: Option<&ColumnRef>,
    options: &ReadOptions,
) -> Result<RowLabels> {
    let budget = Budget::new(source, options.memory);
    budget.spend(bytes.len())?;
    parse(bytes, source, column, options, &budget)
}

fn parse(
    bytes: Vec<u8>,
    source: &str,
    column: Option<&ColumnRef>,
    options: &ReadOptions,
    budget: &Budget,
) -> Result<RowLabels> {
    let kind = options.format.unwrap_or_else(|| Format::from_bytes(&bytes));
    let single = kind == Format::Text && column.is_none() && is_one_a_line(&bytes);
    if single {
        return one_a_line(&bytes, source, options.header, budget);
    }
    let frame = parse_frame(bytes, source, &ReadOptions { format: Some(kind), ..options.clone() }, budget)?;
    of_frame(frame, source, column)
}

fn of_frame(frame: Frame, source: &str, column: Option<&ColumnRef>) -> Result<RowLabels> {
    let by_name = |name: &str| frame.names.iter().position(|n| frame.has_header && n == name);
    let cluster = ColumnRef::from("cluster");
    let chosen = match column {
        Some(column) => column.resolve_one(&frame)?,
        None => match by_name("cluster") {
            // Resolved as a reference, which refuses a name that occurs twice.
            Some(_) => cluster.resolve_one(&frame)?,
            None if frame.width() == 1 => 0,
            None => {
                let problem = format!(
                    "there are {} columns and none is called \"cluster\"; name the one that holds the labels",
                    frame.width()
                );
                return Err(format(source, problem));
            }
        },
    };
    if let Some(error) = foreign_error(&frame, chosen, "take another column") {
        return Err(error);
    }
    let (labels, gaps) = frame.labels(chosen);
    if let Some(&row) = gaps.first() {
        return Err(frame.cell_error(row, chosen, "the label is missing"));
    }
    let rows = by_name("row").filter(|c| *c != chosen).map(|c| row_numbers(&frame, c)).transpose()?;
    Ok(RowLabels { labels, rows })
}

/// Whether the first non-empty line is a single label: it has no comma, semicolon, tab, quote or zero byte. Blanks
/// belong to the label.
fn is_one_a_line(bytes: &[u8]) -> bool {
    let first = bytes.split(|b| *b == b'\n').find(|l| !l.trim_ascii().is_empty()).unwrap_or_default();
    !first.trim_ascii().iter().any(|b| b",;\t\"".contains(b) || *b == 0)
}

/// The cells of the only column of a table without a header, one a line.
fn lines(frame: &Frame) -> Vec<u8> {
    let cell = |row: usize| match (frame.text(row, 0), frame.number(row, 0)) {
        (Some(text), _) => text.to_string(),
        (None, x) if x.is_nan() => "NA".to_string(),
        (None, x) => x.to_string(),
    };
    (0..frame.n()).flat_map(|row| format!("{}\n", cell(row)).into_bytes()).collect()
}

fn one_a_line(bytes: &[u8], source: &str, header: Option<bool>, budget: &Budget) -> Result<RowLabels> {
    /// Bytes of a label besides its text: the string, its allocation and its code.
    const LABEL: usize = 64;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut names: Vec<String> = Vec::new();
    let (mut skipped, mut blank) = (0, 0);
    let mut text_first = false;
    for (at, line) in bytes.split(|b| *b == b'\n').enumerate() {
        let line = line.trim_ascii();
        let known = || TITLES.iter().any(|t| line.eq_ignore_ascii_case(t.as_bytes()));
        let title = names.is_empty() && skipped == blank && header.unwrap_or_else(known);
        blank += usize::from(line.is_empty());
        if line.is_empty() || title {
            skipped += 1;
            continue;
        }
        budget.spend(LABEL + line.len())?;
        names.push(match cell(line, Decimal::Point) {
            Cell::Number(x) => (x + 0.0).to_string(),
            Cell::Text(text) => {
                text_first |= names.is_empty();
                decoded(text).into_owned()
            }
            Cell::Missing => {
                let row = Place { row: at + 1 - skipped, line: at + 1 };
                let problem = "the label is missing".to_string();
                return Err(DataError::Row { path: source.to_string(), row, problem });
            }
        });
    }
    if names.is_empty() {
        return Err(format(source, "there are no labels"));
    }
    if header.is_none() && skipped == blank && text_first && is_header(&names) {
        names.remove(0);
    }
    Ok(RowLabels { labels: Labels::from_names(&names), rows: None })
}

/// Whether the first of these labels is the name of the column: it does not recur, and every other label does.
fn is_header(names: &[String]) -> bool {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    names.len() > 2 && names.iter().enumerate().all(|(at, name)| (counts[&name[..]] == 1) == (at == 0))
}

/// A column of row numbers: whole, from 1, each once.
fn row_numbers(frame: &Frame, column: usize) -> Result<Vec<usize>> {
    let mut seen = std::collections::HashSet::with_capacity(frame.n());
    (0..frame.n())
        .map(|row| {
            let x = frame.number(row, column);
            if !(x >= 1.0 && x.fract() == 0.0 && x < 9e15) {
                let shown = frame.text(row, column).map_or_else(|| x.to_string(), excerpt);
                return Err(frame.cell_error(
                    row,
                    column,
                    format!("{shown} is not a row number (1, 2, 3, …)"),
                ));
            }
            if !seen.insert(x as usize) {
                return Err(frame.cell_error(row, column, format!("row {x} occurs twice")));
            }
            Ok(x as usize)
        })
        .collect()
}
