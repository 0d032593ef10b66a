//! A file as read: every column, numbers and text, missing cells included.
//!
//! Numbers are stored row-major over all columns, so that columns in ascending order are selected in place and the
//! numbers of a large file are never held twice. A cell without a number is NaN; the text of a text cell is in the
//! [`TextColumn`] of its column. A frame also codes a column as labels, appends the rows of another frame and maps rows
//! to line numbers for error messages.

use std::collections::HashMap;

use crate::error::{DataError, Place, Result, excerpt};
use crate::read::Dialect;
use crate::table::{Labels, Values};

/// The code of a cell that is not text: a number or a missing value.
pub(crate) const NO_TEXT: u32 = u32::MAX;

/// What the text of a value begins with that is neither number nor text; its type follows.
pub(crate) const FOREIGN: &str = "a value of type ";

/// Characters that keep their meaning between the double quotes of a shell, and the comma between columns.
const HARD_TO_TYPE: [char; 6] = ['"', ',', '$', '`', '\\', '!'];
/// Characters besides letters and digits that need no quotes.
const PLAIN: [char; 9] = ['_', '-', '.', ':', '/', '@', '%', '+', '='];

/// Bytes of a distinct text besides its letters: two strings, their allocations, and the entry of the hash table.
const DISTINCT_TEXT: usize = 160;

/// The text cells of one column.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TextColumn {
    /// One code per row up to the last text cell; [`NO_TEXT`] where the cell is a number or missing.
    pub codes: Vec<u32>,
    /// The distinct texts.
    pub names: Vec<String>,
    /// Whether the texts only name a type that is neither number nor text, such as a date.
    pub is_foreign: bool,
    index: HashMap<String, u32>,
}

impl TextColumn {
    /// Sets the text of `row` and returns about how many bytes of memory that took. Rows come in order; those skipped
    /// hold no text.
    pub fn put(&mut self, row: usize, text: &str) -> usize {
        let mut taken = 0;
        let code = match self.index.get(text) {
            Some(&code) => code,
            None => {
                let code = self.names.len() as u32;
                self.index.insert(text.to_string(), code);
                self.names.push(text.to_string());
                taken += DISTINCT_TEXT + 2 * text.len();
                code
            }
        };
        let before = self.codes.capacity();
        self.codes.resize(row, NO_TEXT);
        self.codes.push(code);
        taken + (self.codes.capacity() - before) * size_of::<u32>()
    }

    /// Appends the cells of a later part of the file, which began at `row`; returns the bytes of memory that took.
    pub fn append(&mut self, row: usize, part: &TextColumn) -> usize {
        let cells = part.codes.iter().enumerate().filter(|(_, c)| **c != NO_TEXT);
        cells.map(|(i, &code)| self.put(row + i, &part.names[code as usize])).sum()
    }

    /// What the values are that are neither numbers nor text, in the plural; `None` where there are none.
    fn foreign(&self) -> Option<String> {
        let named =
            self.names.iter().filter(|_| self.is_foreign).find_map(|name| name.strip_prefix(FOREIGN))?;
        Some(in_plural(named))
    }

    fn get(&self, row: usize) -> Option<&str> {
        self.codes.get(row).and_then(|&c| self.names.get(c as usize)).map(String::as_str)
    }
}

/// Values of a type, as readers of columnar formats and of JSON name it, in the words of a message.
fn in_plural(kind: &str) -> String {
    // The first that the type begins with decides.
    const WORDS: [(&[&str], &str); 11] = [
        (&["Date"], "dates"),
        (&["Timestamp"], "timestamps"),
        (&["Time"], "times of day"),
        (&["Duration"], "durations"),
        (&["Interval"], "intervals of time"),
        (&["Binary", "LargeBinary", "FixedSizeBinary", "BinaryView"], "binary values"),
        (&["Struct", "Map", "Union"], "structs or maps"),
        (&["object"], "objects"),
        (&["list, map or struct"], "lists, maps or structs"),
        (&["list", "List", "LargeList", "FixedSizeList"], "lists"),
        (&["Decimal of", "Decimal256"], "decimals of over 38 digits"),
    ];
    let known = WORDS.iter().find(|(starts, _)| starts.iter().any(|start| kind.starts_with(start)));
    known.map_or_else(|| format!("values of type {}", excerpt(kind)), |(_, words)| (*words).to_string())
}

/// The number that a text stands for in a feature: 1 for `true` and 0 for `false`, in any case.
pub(crate) fn boolean(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("true") {
        return Some(1.0);
    }
    text.eq_ignore_ascii_case("false").then_some(0.0)
}

/// Maps rows to the lines of a text file: the line of the first row, and the lines without data after it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Lines {
    /// Line of the first row, from 1.
    pub first: usize,
    /// (row, lines skipped before it since the first), ascending.
    pub gaps: Vec<(usize, usize)>,
}

/// The rows of a file, or a batch of them, all columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub(crate) source: String,
    pub(crate) names: Vec<String>,
    pub(crate) has_header: bool,
    pub(crate) dialect: Option<Dialect>,
    /// Rows of the file before these.
    pub(crate) before: usize,
    pub(crate) n: usize,
    pub(crate) values: Values,
    pub(crate) text: Vec<Option<TextColumn>>,
    pub(crate) lines: Lines,
}

impl Frame {
    /// A frame of numbers only. Without `names` the columns are called `c1`, `c2`, …
    pub(crate) fn from_values(
        source: &str,
        names: Option<Vec<String>>,
        values: Values,
        width: usize,
    ) -> Result<Frame> {
        let has_header = names.is_some();
        let names = names.unwrap_or_else(|| numbered_names(width));
        if width == 0 || names.len() != width || values.is_empty() || !values.len().is_multiple_of(width) {
            return Err(crate::error::format(source, "there are no rows of numbers"));
        }
        let n = values.len() / width;
        let lines = Lines { first: 1, gaps: Vec::new() };
        let source = source.to_string();
        Ok(Frame {
            source,
            names,
            has_header,
            dialect: None,
            before: 0,
            n,
            values,
            text: vec![None; width],
            lines,
        })
    }

    /// Names of all columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the file names its columns.
    pub fn has_header(&self) -> bool {
        self.has_header
    }

    /// How the text of the file was read; `None` for other formats.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// Number of rows of the file before these: 0 unless they are a batch ([`Batches`](crate::Batches)).
    pub fn before(&self) -> usize {
        self.before
    }

    /// The same rows as a batch that follows so many others; for formats without lines.
    pub(crate) fn after(self, before: usize) -> Frame {
        Frame { before, lines: Lines { first: before + 1, gaps: Vec::new() }, ..self }
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns, text included.
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// The number of the row in the file and its line, both from 1.
    pub fn place(&self, row: usize) -> Place {
        let skipped = self.lines.gaps.iter().take_while(|(r, _)| *r <= row).last().map_or(0, |g| g.1);
        Place { row: self.before + row + 1, line: self.lines.first + row + skipped }
    }

    /// The name of a column in messages: `3 "species"`, or `3` when the file names no columns.
    pub(crate) fn column_title(&self, column: usize) -> String {
        match self.names.get(column) {
            Some(name) if self.has_header => format!("{} \"{}\"", column + 1, excerpt(name)),
            _ => (column + 1).to_string(),
        }
    }

    /// The column as the value of an option, in quotes where a shell would split or interpret it: its name, or its number
    /// where the name is long, repeated or hard to type.
    pub(crate) fn column_option(&self, column: usize) -> String {
        let number = (column + 1).to_string();
        let Some(name) = self.names.get(column).filter(|_| self.has_header) else { return number };
        let unique = self.names.iter().filter(|n| *n == name).count() == 1;
        let hard = name.trim().len() < name.len() || name.starts_with('-') || name.contains(HARD_TO_TYPE);
        if name.is_empty() || excerpt(name) != *name || !unique || hard {
            return number;
        }
        let plain = name.chars().all(|c| c.is_alphanumeric() || PLAIN.contains(&c));
        if plain { name.clone() } else { format!("\"{name}\"") }
    }

    /// The number in a cell; NaN where it is missing or text.
    pub fn number(&self, row: usize, column: usize) -> f64 {
        self.values.get(row * self.width() + column)
    }

    /// The text in a cell; `None` where the cell is a number or missing.
    pub fn text(&self, row: usize, column: usize) -> Option<&str> {
        self.text.get(column).and_then(Option::as_ref).and_then(|t| t.get(row))
    }

    /// The first row of a column that holds text.
    pub(crate) fn first_text(&self, column: usize) -> Option<(usize, &str)> {
        let text = self.text.get(column)?.as_ref()?;
        let row = text.codes.iter().position(|&c| c != NO_TEXT)?;
        Some((row, text.get(row)?))
    }

    /// What a column holds that is neither numbers nor text, in the plural: `dates`.
    pub(crate) fn foreign(&self, column: usize) -> Option<String> {
        self.text.get(column)?.as_ref()?.foreign()
    }

    /// Turns the text of a column into numbers where all of it is [`boolean`], one cell at a time: a batch of rows with one of
    /// the two values gets the numbers that the whole table gets.
    pub(crate) fn read_booleans(&mut self, column: usize) {
        let width = self.width();
        let Some(slot) = self.text.get_mut(column) else { return };
        let numbers = |text: &TextColumn| text.names.iter().map(|n| boolean(n)).collect::<Option<Vec<f64>>>();
        let Some(numbers) = slot.as_ref().and_then(numbers) else { return };
        let codes = slot.take().map_or_else(Vec::new, |text| text.codes);
        for (row, code) in codes.into_iter().enumerate() {
            if let Some(x) = numbers.get(code as usize) {
                self.values.set(row * width + column, *x);
            }
        }
    }

    /// A cell as a label: its text, or its number in shortest form; `None` where it is missing.
    fn label(&self, row: usize, column: usize) -> Option<String> {
        if let Some(text) = self.text(row, column) {
            return Some(text.to_string());
        }
        let x = self.number(row, column);
        // Adding zero turns -0 into 0, which is the same class.
        (!x.is_nan()).then(|| (x + 0.0).to_string())
    }

    /// A column as labels, and the rows whose label is missing, which get code 0.
    pub(crate) fn labels(&self, column: usize) -> (Labels, Vec<usize>) {
        let mut gaps = Vec::new();
        let mut by_number: HashMap<u64, u32> = HashMap::new();
        let mut index: HashMap<String, u32> = HashMap::new();
        let mut labels = Labels { codes: Vec::with_capacity(self.n), names: Vec::new() };
        for row in 0..self.n {
            let bits = (self.number(row, column) + 0.0).to_bits();
            let is_number = self.text(row, column).is_none();
            if is_number && let Some(&code) = by_number.get(&bits) {
                labels.codes.push(code);
                continue;
            }
            let Some(name) = self.label(row, column) else {
                gaps.push(row);
                labels.codes.push(0);
                continue;
            };
            let code = *index.entry(name).or_insert_with_key(|name| {
                labels.names.push(name.clone());
                labels.names.len() as u32 - 1
            });
            if is_number {
                by_number.insert(bits, code);
            }
            labels.codes.push(code);
        }
        (labels, gaps)
    }

    /// An error about one cell.
    pub(crate) fn cell_error(&self, row: usize, column: usize, problem: impl Into<String>) -> DataError {
        DataError::Cell {
            path: self.source.clone(),
            row: self.place(row),
            column: self.column_title(column),
            problem: problem.into(),
        }
    }

    /// An error about one column.
    pub(crate) fn column_error(&self, column: usize, problem: impl Into<String>) -> DataError {
        DataError::Column {
            path: self.source.clone(),
            column: self.column_title(column),
            problem: problem.into(),
        }
    }

    /// Appends the rows of `other`, in double precision. Column counts must agree.
    pub(crate) fn stack(mut self, other: &Frame) -> Result<Frame> {
        if self.width() != other.width() {
            let problem = format!("has {} columns, {} has {}", other.width(), self.source, self.width());
            return Err(crate::error::format(&other.source, problem));
        }
        let mut values = self.values.to_f64().into_owned();
        values.extend_from_slice(&other.values.to_f64());
        self.values = Values::F64(values);
        for (column, part) in other.text.iter().enumerate() {
            if let Some(part) = part {
                self.text[column].get_or_insert_default().append(self.n, part);
            }
        }
        self.n += other.n;
        Ok(self)
    }
}

/// `c1`, `c2`, … for columns without names.
pub(crate) fn numbered_names(width: usize) -> Vec<String> {
    (1..=width).map(|i| format!("c{i}")).collect()
}
