//! Why columns cannot be features as they are, and the options that help: text, numbers with a few texts between them,
//! dates and other values that are neither, and columns without a value.

use crate::categories::can_be_levels;
use crate::error::{DataError, counted, excerpt, format};
use crate::frame::{Frame, NO_TEXT, boolean};
use crate::read::{Cell, Decimal, NUMBERS, cell, likely_delimiter};

/// Columns whose titles are listed.
const TITLES: usize = 40;
/// Columns that an option names one by one; more are written as ranges of numbers.
const NAMES: usize = 12;

/// A feature that holds something besides numbers.
struct Found<'a> {
    column: usize,
    /// The first row with text, and the text.
    row: usize,
    text: &'a str,
    /// What the cells are that are neither numbers nor text.
    foreign: Option<String>,
    /// Number of text cells, in a column that holds numbers nearly everywhere ([`NUMBERS`] times as many).
    between: Option<usize>,
}

impl<'a> Found<'a> {
    fn of(frame: &'a Frame, column: usize) -> Option<Self> {
        let texts = frame.text.get(column)?.as_ref()?;
        // The texts are in order of first appearance. Booleans do not say why the column is refused.
        let name = texts.names.iter().position(|name| boolean(name).is_none())?;
        let row = texts.codes.iter().position(|code| *code as usize == name)?;
        let many = texts.codes.iter().filter(|code| **code != NO_TEXT).count();
        let numbers = (0..frame.n).filter(|row| !frame.number(*row, column).is_nan()).count();
        let foreign = frame.foreign(column);
        let between = (foreign.is_none() && numbers >= NUMBERS * many).then_some(many);
        Some(Found { column, row, text: &texts.names[name], foreign, between })
    }

    /// Whether the column can be categorical: not one that names the rows, and not one of numbers or dates.
    fn has_levels(&self, frame: &Frame) -> bool {
        let distinct = frame.text[self.column].as_ref().map_or(0, |texts| texts.names.len());
        self.foreign.is_none() && self.between.is_none() && can_be_levels(distinct, frame.n)
    }

    fn cell(&self, frame: &Frame) -> String {
        format!("\"{}\" in {}", excerpt(self.text), frame.place(self.row))
    }

    /// The column in a list of several.
    fn title(&self, frame: &Frame) -> String {
        let title = frame.column_title(self.column);
        match (&self.foreign, self.between) {
            (Some(kind), _) => format!("{title} ({kind})"),
            (None, Some(_)) => format!("{title} (numbers except {})", self.cell(frame)),
            (None, None) => title,
        }
    }
}

/// The error that names every feature that holds text, and the options that help. There are `others` features besides the
/// `chosen`, and a model that `is_fitted` takes only numbers.
pub(crate) fn text_error(
    frame: &Frame,
    chosen: &[usize],
    others: usize,
    is_fitted: bool,
) -> Option<DataError> {
    let found: Vec<Found<'_>> = chosen.iter().filter_map(|c| Found::of(frame, *c)).collect();
    let first = found.first()?;
    let is_text = frame.dialect.is_some();
    // The cells of a workbook or database have a type, which no option changes.
    let is_typed = frame.dialect.is_some_and(|dialect| dialect.is_converted);
    let comma = |found: &Found<'_>| matches!(cell(found.text.as_bytes(), Decimal::Comma), Cell::Number(_));
    let commas = is_text && found.iter().all(comma);
    if is_fitted {
        let what = first.foreign.clone().unwrap_or_else(|| format!("text ({})", first.cell(frame)));
        let remedy = match (commas, is_typed) {
            (true, true) => "; make its cells numbers in the file",
            (true, false) => "; read commas as decimal points with --decimal ,",
            (false, _) => "",
        };
        let problem = format!("holds {what}, but the model was fitted on numbers{remedy}");
        return Some(frame.column_error(first.column, problem));
    }
    // What the options leave.
    let alone = others == 0 && found.len() == chosen.len();
    if let ([only], 1, true) = (&found[..], frame.width(), is_text && !is_typed && first.between.is_none()) {
        let names = frame.text[only.column].as_ref().map_or(&[][..], |texts| &texts.names);
        if let Some(delimiter) = likely_delimiter(names) {
            let problem = format!(
                "is the only one and holds text ({}); name the character between its cells with --delimiter {}",
                only.cell(frame),
                in_quotes(delimiter)
            );
            return Some(frame.column_error(only.column, problem));
        }
    }
    let columns: Vec<usize> = found.iter().map(|f| f.column).collect();
    let all = ranges(&columns, &options_of(frame, &columns));
    let levels: Vec<usize> = found.iter().filter(|f| f.has_levels(frame)).map(|f| f.column).collect();
    let of_levels = ranges(&levels, &options_of(frame, &levels));
    let one = found.len() == 1;
    let (it, them) = if one { ("it", "the column") } else { ("them", "the columns") };
    let mut remedies = Vec::new();
    if !levels.is_empty() {
        let those = if levels.len() == found.len() { it } else { "those with few values" };
        remedies.push(format!("use {those} as categories with --categorical {of_levels}"));
    }
    let is_between = found.iter().all(|f| f.between.is_some());
    let is_foreign = found.iter().all(|f| f.foreign.is_some());
    if is_between {
        remedies.push("make such cells empty and choose --missing native".into());
    }
    if !alone {
        remedies.push(format!("drop {} with --drop {all}", if is_between { them } else { it }));
    }
    if is_foreign {
        let dates = found.iter().any(|f| f.foreign.as_deref().is_some_and(is_time));
        let (number, example) = (
            if one { "a number" } else { "numbers" },
            if dates { ", such as days since a date" } else { "" },
        );
        remedies.push(format!("turn {it} into {number}{example}"));
    } else if commas && !is_between {
        remedies.push(match is_typed {
            true => format!("make {it} numbers in the file"),
            false => "read commas as decimal points with --decimal ,".into(),
        });
    } else if one && !alone && !is_between {
        remedies.push(format!("use it as labels with --label {all}"));
    }
    let mut remedy = either(&remedies);
    if remedies.is_empty() {
        remedy = "add columns of numbers".into();
    }
    if is_text && !frame.has_header && (0..frame.width()).all(|c| frame.text(0, c).is_some()) {
        remedy += "; if the first line names the columns, add --header yes";
    }
    if one {
        let problem = match (&first.foreign, first.between) {
            (Some(kind), _) => format!("holds {kind}; {remedy}"),
            (None, Some(many)) => {
                let (rows, cell) = (frame.n, first.cell(frame));
                format!("holds numbers except in {many} of {rows} rows, the first {cell}; {remedy}")
            }
            (None, None) => format!("holds text ({}); {remedy}", first.cell(frame)),
        };
        return Some(frame.column_error(first.column, problem));
    }
    let titles: Vec<String> = found.iter().take(TITLES).map(|f| f.title(frame)).collect();
    let more =
        if found.len() > TITLES { format!(" and {} more", found.len() - TITLES) } else { String::new() };
    let plain = found.iter().find(|f| f.foreign.is_none() && f.between.is_none());
    let what = match (is_between, is_foreign, plain) {
        (true, ..) => "hold numbers except in a few rows",
        (_, true, _) => "hold neither numbers nor text",
        _ if found.iter().any(|f| f.foreign.is_some()) => "hold text or values that are not numbers",
        _ => "hold text",
    };
    let example = plain.map_or(String::new(), |f| format!(" ({})", f.cell(frame)));
    let problem = format!("{} columns {what}: {}{more}{example}; {remedy}", found.len(), titles.join(", "));
    Some(format(&frame.source, problem))
}

/// The error of a column of dates or other values that are neither numbers nor text where names are needed: categories or
/// labels. The `remedy` is named beside that of using other cells.
pub(crate) fn foreign_error(frame: &Frame, column: usize, remedy: &str) -> Option<DataError> {
    let kind = frame.foreign(column)?;
    let problem = format!("holds {kind}, which are not read as names; {remedy} or store it as text");
    Some(frame.column_error(column, problem))
}

/// The error that names the features without any value, in a table of more than one row.
pub(crate) fn empty_error(frame: &Frame, features: &[usize]) -> Option<DataError> {
    let is_empty = |c: &usize| {
        let has_text = frame.text.get(*c).is_some_and(Option::is_some);
        !has_text && (0..frame.n).all(|row| frame.number(row, *c).is_nan())
    };
    let empty: Vec<usize> = features.iter().copied().filter(is_empty).collect();
    let (&first, rest) = empty.split_first().filter(|_| frame.n > 1)?;
    if empty.len() == features.len() {
        return Some(format(&frame.source, "no column has a value; there is nothing to cluster"));
    }
    let all = ranges(&empty, &options_of(frame, &empty));
    if rest.is_empty() {
        let problem = format!("is empty in every row; leave it out with --drop {all}");
        return Some(frame.column_error(first, problem));
    }
    let titles: Vec<String> = empty.iter().take(TITLES).map(|c| frame.column_title(*c)).collect();
    let more =
        if empty.len() > TITLES { format!(" and {} more", empty.len() - TITLES) } else { String::new() };
    let problem = format!(
        "{} are empty in every row: {}{more}; leave them out with --drop {all}",
        counted(empty.len(), "column"),
        titles.join(", ")
    );
    Some(format(&frame.source, problem))
}

/// Whether these are dates, timestamps or the like.
fn is_time(kind: &str) -> bool {
    ["dates", "timestamps"].contains(&kind)
}

/// `a`, `a or b`, `a, b or c`.
fn either(choices: &[String]) -> String {
    match choices {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// A character as the value of an option, in quotes where a shell would interpret it.
fn in_quotes(character: char) -> String {
    match character {
        ':' | '/' | '@' | '%' | '=' | ',' => character.to_string(),
        '!' | '$' | '`' | '\\' => format!("'{character}'"),
        _ => format!("\"{character}\""),
    }
}

/// Each column as the value of an option.
fn options_of(frame: &Frame, columns: &[usize]) -> Vec<String> {
    columns.iter().map(|c| frame.column_option(*c)).collect()
}

/// Columns as the value of an option: names, or, where they are many, ranges of numbers.
fn ranges(columns: &[usize], names: &[String]) -> String {
    if columns.len() <= NAMES {
        return names.join(",");
    }
    let mut sorted = columns.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => (one + 1).to_string(),
        [first, .., last] => format!("{}-{}", first + 1, last + 1),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(",")
}
