//! Detects the delimiter, the decimal character and the header of a text file from its first records. Splits a record
//! into cells and finds its end; delimiters and line ends inside quotes do not count.

use super::number::{Cell, Decimal, cell, is_grouped};
use crate::error::{DataError, excerpt};

/// What separates two cells of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// This byte.
    Byte(u8),
    /// One blank or more (spaces and tabs), also at the ends of a line.
    Blanks,
}

/// The delimiters that are looked for, the rarer ones first.
const CANDIDATES: [Delimiter; 5] = [
    Delimiter::Byte(b'\t'),
    Delimiter::Byte(b';'),
    Delimiter::Byte(b'|'),
    Delimiter::Byte(b','),
    Delimiter::Blanks,
];

impl Delimiter {
    /// Whether this byte separates cells.
    #[inline]
    pub(crate) fn separates(self, byte: u8) -> bool {
        match self {
            Delimiter::Byte(b) => byte == b,
            Delimiter::Blanks => byte == b' ' || byte == b'\t',
        }
    }
}

/// Whether a character that is told can stand between cells.
fn can_separate(byte: u8) -> bool {
    byte.is_ascii_punctuation() && !b"\"'.+-_".contains(&byte)
}

/// The character that all of these cells of a table of one column contain equally often: it may stand between cells, though
/// it is not looked for. Of several it is the one that leaves the most numbers, then the one that comes first.
pub(crate) fn likely_delimiter(cells: &[String]) -> Option<char> {
    /// More texts do not make it more likely.
    const LOOKED_AT: usize = 1000;
    let cells = &cells[..cells.len().min(LOOKED_AT)];
    let first = cells.first()?;
    let times = |cell: &str, byte: u8| cell.bytes().filter(|b| *b == byte).count();
    let mut best: Option<(usize, u8)> = None;
    for (at, byte) in first.bytes().enumerate().filter(|(_, b)| can_separate(*b)) {
        let many = times(first, byte);
        if first.as_bytes()[..at].contains(&byte) || cells.iter().any(|cell| times(cell, byte) != many) {
            continue;
        }
        let is_number = |part: &&[u8]| matches!(cell(part, Decimal::Point), Cell::Number(_));
        let parts = cells.iter().flat_map(|cell| cell.as_bytes().split(|b| *b == byte));
        let numbers = parts.filter(is_number).count();
        if best.is_none_or(|(most, _)| numbers > most) {
            best = Some((numbers, byte));
        }
    }
    best.map(|(_, byte)| char::from(byte))
}

impl std::str::FromStr for Delimiter {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        match (name, name.as_bytes()) {
            ("tab" | "\t" | "\\t", _) => Ok(Delimiter::Byte(b'\t')),
            ("blanks" | "space" | " ", _) => Ok(Delimiter::Blanks),
            ("comma", _) => Ok(Delimiter::Byte(b',')),
            ("semicolon", _) => Ok(Delimiter::Byte(b';')),
            ("pipe", _) => Ok(Delimiter::Byte(b'|')),
            (_, &[byte]) if can_separate(byte) => Ok(Delimiter::Byte(byte)),
            _ => Err(DataError::Option {
                name: format!("delimiter \"{}\"", excerpt(name)),
                problem:
                    "is not one character that can stand between cells; use a character such as ; or |, or \
                          comma, semicolon, pipe, tab, space or blanks"
                        .into(),
            }),
        }
    }
}

impl std::fmt::Display for Delimiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Delimiter::Byte(b',') => f.write_str("comma"),
            Delimiter::Byte(b';') => f.write_str("semicolon"),
            Delimiter::Byte(b'\t') => f.write_str("tab"),
            Delimiter::Byte(byte) => write!(f, "{}", char::from(*byte)),
            Delimiter::Blanks => f.write_str("blanks"),
        }
    }
}

/// A column is one of numbers if at least this many times as many cells are numbers as are text.
pub(crate) const NUMBERS: usize = 9;

/// Records examined: enough to outvote a few odd ones, at no noticeable cost.
const SAMPLE: usize = 64;

/// Bytes examined, at least two records: records of a million cells are not read 64 times.
const SAMPLE_BYTES: usize = 1 << 20;

/// The candidate that splits the most lines into the same number of cells, more than one. A tie goes to the one that
/// leaves the larger share of numbers (1,5 is one here), then to the rarer character: a semicolon file may contain decimal
/// commas, any file may contain blanks.
pub(crate) fn delimiter(sample: &[&[u8]]) -> Delimiter {
    let mut best = (0, 0.0, Delimiter::Byte(b','));
    for candidate in CANDIDATES {
        let mut counts: Vec<usize> = sample.iter().map(|line| cells(line, candidate).count()).collect();
        counts.sort_unstable();
        let agreeing =
            counts.chunk_by(|a, b| a == b).filter(|same| same[0] > 1).map(<[usize]>::len).max().unwrap_or(0);
        // More than half must agree: an occasional blank in a name does not make a column.
        if agreeing < best.0 || 2 * agreeing <= sample.len() {
            continue;
        }
        let share = numbers(sample, candidate);
        if agreeing > best.0 || share > best.1 {
            best = (agreeing, share, candidate);
        }
    }
    best.2
}

/// The share of cells that are numbers, with a decimal point or comma.
fn numbers(sample: &[&[u8]], delimiter: Delimiter) -> f64 {
    let is_number =
        |s: &[u8]| [Decimal::Point, Decimal::Comma].iter().any(|d| matches!(cell(s, *d), Cell::Number(_)));
    let (mut all, mut found) = (0usize, 0usize);
    for cell in sample.iter().flat_map(|line| cells(line, delimiter)) {
        all += 1;
        found += usize::from(is_number(unquoted(cell)));
    }
    found as f64 / all.max(1) as f64
}

/// The decimal character. A comma, where cells are numbers only with a comma and at least one of them cannot be a whole
/// number with separators of thousands (1,234), and no cell is a number only with a point.
pub(crate) fn decimal(rows: &[Vec<&[u8]>]) -> Decimal {
    let is_number = |s: &[u8], d: Decimal| matches!(cell(s, d), Cell::Number(_));
    let mut comma = false;
    for &cell in rows.iter().flatten() {
        let point = is_number(cell, Decimal::Point);
        if is_number(cell, Decimal::Comma) {
            comma |= !point && !is_grouped(cell.trim_ascii(), b',');
        } else if point && cell.contains(&b'.') {
            return Decimal::Point;
        }
    }
    if comma { Decimal::Comma } else { Decimal::Point }
}

/// A record's cells, quotes respected but not removed. A quote opens at the start of a cell only, as in the csv crate.
pub(crate) fn cells(record: &[u8], delimiter: Delimiter) -> impl Iterator<Item = &[u8]> {
    let record = record.strip_suffix(b"\r").unwrap_or(record);
    let mut quoted = false;
    let mut before = None;
    let split = move |b: &u8| {
        if *b == b'"' && (quoted || opens(before, Some(delimiter))) {
            quoted = !quoted;
        }
        before = Some(*b);
        delimiter.separates(*b) && !quoted
    };
    record.split(split).filter(move |cell| delimiter != Delimiter::Blanks || !cell.is_empty())
}

/// A cell without its quotes.
pub(crate) fn unquoted(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    cell.strip_prefix(b"\"").and_then(|c| c.strip_suffix(b"\"")).unwrap_or(cell)
}

/// Length of the first record, its line end included; a line end inside quotes does not end it. Without a delimiter every
/// candidate may precede an opening quote.
pub(crate) fn record_len(bytes: &[u8], delimiter: Option<Delimiter>) -> usize {
    let mut quoted = false;
    for at in memchr::memchr2_iter(b'"', b'\n', bytes) {
        if bytes[at] == b'\n' && !quoted {
            return at + 1;
        }
        if bytes[at] == b'"' && (quoted || opens(at.checked_sub(1).map(|i| bytes[i]), delimiter)) {
            quoted = !quoted;
        }
    }
    bytes.len()
}

/// Where the records of a growing text end: a scan that goes on where it stopped.
#[derive(Debug, Default)]
pub(crate) struct RecordEnds {
    scanned: usize,
    quoted: bool,
    /// Number of records found.
    pub found: usize,
    /// Where the last of them ends.
    pub end: usize,
}

impl RecordEnds {
    /// Goes on until `most` records are found or `bytes` end; `bytes` begin with those of the earlier calls.
    pub fn scan(&mut self, bytes: &[u8], delimiter: Delimiter, most: usize) {
        let from = self.scanned;
        for at in memchr::memchr2_iter(b'"', b'\n', &bytes[from..]).map(|at| from + at) {
            if bytes[at] == b'\n' && !self.quoted {
                (self.found, self.end) = (self.found + 1, at + 1);
                if self.found == most {
                    self.scanned = at + 1;
                    return;
                }
            } else if bytes[at] == b'"'
                && (self.quoted || opens(at.checked_sub(1).map(|i| bytes[i]), Some(delimiter)))
            {
                self.quoted = !self.quoted;
            }
        }
        self.scanned = bytes.len();
    }
}

/// Whether a quote after this byte opens a quoted cell; after a closing quote it is an escaped quote.
fn opens(before: Option<u8>, delimiter: Option<Delimiter>) -> bool {
    before.is_none_or(|b| b",;|\t \n\"".contains(&b) || delimiter.is_some_and(|d| d.separates(b)))
}

/// The first records that are not empty, without their line ends.
pub(crate) fn sample(body: &[u8], delimiter: Option<Delimiter>) -> Vec<&[u8]> {
    sample_and_rest(body, delimiter).0
}

/// Whether the sample ends before the text: it is then the same, whatever follows.
pub(crate) fn is_enough(body: &[u8], delimiter: Option<Delimiter>) -> bool {
    !sample_and_rest(body, delimiter).1.is_empty()
}

fn sample_and_rest(body: &[u8], delimiter: Option<Delimiter>) -> (Vec<&[u8]>, &[u8]) {
    let mut sample = Vec::new();
    let mut rest = body;
    let enough = |sample: &Vec<&[u8]>, rest: &[u8]| {
        sample.len() >= SAMPLE || (sample.len() >= 2 && body.len() - rest.len() >= SAMPLE_BYTES)
    };
    while !rest.is_empty() && !enough(&sample, rest) {
        let (record, tail) = rest.split_at(record_len(rest, delimiter));
        rest = tail;
        if !record.trim_ascii().is_empty() {
            sample.push(record.strip_suffix(b"\n").unwrap_or(record));
        }
    }
    (sample, rest)
}

/// Whether numbers with a point, all of them, might be whole numbers with separators of thousands (1.234), and there are some.
pub(crate) fn has_ambiguous_points(rows: &[Vec<&[u8]>]) -> bool {
    let is_number = |s: &&&[u8]| s.contains(&b'.') && matches!(cell(s, Decimal::Point), Cell::Number(_));
    let mut with_point = rows.iter().flatten().filter(is_number).peekable();
    with_point.peek().is_some() && with_point.all(|s| is_grouped(s.trim_ascii(), b'.'))
}

/// Whether every row but the header ends with a delimiter, after which nothing follows.
pub(crate) fn ends_empty(first: &[&[u8]], rest: &[Vec<&[u8]>]) -> bool {
    let is_longer = |row: &Vec<&[u8]>| row.len() == first.len() + 1;
    !rest.is_empty() && rest.iter().all(|row| is_longer(row) && row.last().is_some_and(|s| s.is_empty()))
}

/// A header is a first line with text over a column of numbers or of booleans; a line of text with one cell fewer than every line
/// below (R does not name the row names); numbers that count years or columns ([`counts`]); in a table of text
/// alone, a line whose cells do not recur, while every column below repeats one of its own; or, alone in the file, a line
/// without a number.
pub(crate) fn has_header(first: &[&[u8]], rest: &[Vec<&[u8]>], decimal: Decimal) -> bool {
    let is_boolean = |s: &[u8]| s.eq_ignore_ascii_case(b"true") || s.eq_ignore_ascii_case(b"false");
    let is_text = |s: &&[u8]| matches!(cell(s, decimal), Cell::Text(text) if !is_boolean(text));
    let is_number = |s: &&[u8]| match cell(s, decimal) {
        Cell::Number(_) => true,
        Cell::Text(text) => is_boolean(text),
        Cell::Missing => false,
    };
    if rest.is_empty() {
        return !first.iter().any(is_number);
    }
    // R names one column fewer than it writes: the first holds row names.
    let shift = rest.iter().all(|row| row.len() == first.len() + 1) && !ends_empty(first, rest);
    let shift = usize::from(shift);
    // A few texts may be spellings of gaps, such as `-`.
    let over_numbers = |column: usize| {
        let below = || rest.iter().filter_map(|row| row.get(column + shift));
        let numbers = below().filter(|s| is_number(s)).count();
        numbers > 0 && numbers >= NUMBERS * below().filter(|s| is_text(s)).count()
    };
    if first.iter().enumerate().any(|(column, name)| is_text(name) && over_numbers(column)) {
        return true;
    }
    (shift == 1 && first.iter().all(is_text))
        || counts(first, rest, decimal)
        || (!rest.iter().flatten().any(is_number)
            && (0..first.len()).all(|column| is_title(first, rest, column)))
}

/// Whether the first cell of a column does not recur in it, while another does.
fn is_title(first: &[&[u8]], rest: &[Vec<&[u8]>], column: usize) -> bool {
    let title = first[column].trim_ascii();
    let mut below: Vec<&[u8]> =
        rest.iter().filter_map(|row| row.get(column)).map(|s| s.trim_ascii()).collect();
    below.retain(|s| !s.is_empty());
    below.sort_unstable();
    !title.is_empty()
        && below.binary_search(&title).is_err()
        && below.windows(2).any(|pair| pair[0] == pair[1])
}

/// Whether the numbers of the first line are years (2019, 2020, 2021) in equal steps, and those of no line below are; or
/// whether three or more count the columns from 0 or 1, as pandas writes a table without names, over columns that all hold
/// fractions.
fn counts(first: &[&[u8]], rest: &[Vec<&[u8]>], decimal: Decimal) -> bool {
    let whole = |s: &&[u8]| match cell(s, decimal) {
        Cell::Number(x) if x.fract() == 0.0 && s.trim_ascii().iter().all(u8::is_ascii_digit) => Some(x),
        _ => None,
    };
    let is_number = |s: &&&[u8]| matches!(cell(s, decimal), Cell::Number(_));
    let steps = |row: &[&[u8]]| -> Option<(f64, f64, usize)> {
        let numbers: Option<Vec<f64>> = row.iter().filter(is_number).map(whole).collect();
        let numbers = numbers.filter(|numbers| numbers.len() > 1)?;
        let step = numbers[1] - numbers[0];
        let even = step != 0.0 && numbers.windows(2).all(|w| w[1] - w[0] == step);
        even.then_some((numbers[0], step, numbers.len()))
    };
    let is_year = |x: f64| (1000.0..=2999.0).contains(&x);
    let years = |row: &[&[u8]]| {
        steps(row).is_some() && row.iter().filter(is_number).all(|s| whole(s).is_some_and(is_year))
    };
    if years(first) {
        return !rest.iter().any(|row| years(row));
    }
    let fractions = |column: usize| {
        let mut below = rest.iter().filter_map(|row| row.get(column));
        below.any(|s| matches!(cell(s, decimal), Cell::Number(x) if x.fract() != 0.0))
    };
    let counted = matches!(steps(first), Some((start, step, many)) if many > 2 && step == 1.0 && (start == 0.0 || start == 1.0));
    counted && first.iter().enumerate().filter(|(_, s)| is_number(s)).all(|(column, _)| fractions(column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiter_is_the_one_most_lines_agree_on() {
        let sniff = |text: &str| delimiter(&text.lines().map(str::as_bytes).collect::<Vec<_>>());
        assert_eq!(sniff("1.0, 2.0\n3.0, 4.0"), Delimiter::Byte(b','));
        assert_eq!(sniff("1,5;2,5;3,5\n1,5;2,5;3,5"), Delimiter::Byte(b';'));
        assert_eq!(sniff("  1.0e0   2.0\n  3.0  -4.0 "), Delimiter::Blanks);
        assert_eq!(sniff("a b\tc\n1\t2\n3\t4"), Delimiter::Byte(b'\t'));
        assert_eq!(sniff("sepal length\n1\n2\n3"), Delimiter::Byte(b','));
        assert_eq!(sniff("5\" pipe,1\n3\" pipe,2"), Delimiter::Byte(b','));
        assert_eq!(sniff("\"a,b\",c\n\"d\",e"), Delimiter::Byte(b','));
        assert_eq!(sniff("a|b|c\n1|2,5|3\n4|5,5|6"), Delimiter::Byte(b'|'));
        assert_eq!(sniff("1,5 2,5\n3,5 4,5"), Delimiter::Blanks);
        assert_eq!(sniff("\"x;y\"|2\n\"z;w\"|3"), Delimiter::Byte(b'|'));
    }

    #[test]
    fn header_is_text_above_numbers() {
        fn rows(text: &str) -> Vec<Vec<&[u8]>> {
            text.lines().map(|l| l.split(',').map(str::as_bytes).collect()).collect()
        }
        for (text, expected) in [
            ("a,b\n1,2", true),
            ("1,2\n3,4", false),
            ("1,x\n2,y", false),
            ("id,x\n2,y", true),
            ("a,b", true),
            ("a,1", false),
            ("x,y\n1,2,3\n4,5,6", true),
            ("NA,1\n2,3", false),
            ("2019,2020,2021\n1.5,2.5,3\n4,5,6", true),
            ("2019,2020,2021\n2020,2021,2022\n2018,2019,2020", false),
            ("country,2019,2020\nchad,1,2\nmali,3,4", true),
            ("2021,2017,2013\n5,6,7", true),
            ("2019,1870,2021\n1.5,2.5,3", false),
            ("0,1,2\n0.5,1.5,2.5\n0.1,0.2,0.3", true),
            (",0,1,2\n0,1.5,2.5,3.5\n1,0.2,0.3,0.4", true),
            ("0,1\n0.5,1.5\n0.1,0.2", false),
            ("0,1,2\n1,1,0\n2,0,1", false),
            ("1,2,3\n0.5,1,2\n7,8.5,9", false),
            ("color,size\nred,s\nblue,l\nred,l", true),
            ("red,s\nblue,l\nred,l", false),
            ("color,id\nred,s\nblue,l\nred,m", false),
            ("color,size\nred,\n,l\nred,l", true),
            ("is_new,x\ntrue,a\nFALSE,b", true),
            ("true,a\nFALSE,b", false),
        ] {
            let rows = rows(text);
            assert_eq!(has_header(&rows[0], &rows[1..], Decimal::Point), expected, "{text}");
        }
    }

    #[test]
    fn a_decimal_comma_needs_a_cell_that_is_no_number_otherwise() {
        fn sniff(text: &str) -> Decimal {
            decimal(&text.lines().map(|l| l.split(';').map(str::as_bytes).collect()).collect::<Vec<_>>())
        }
        assert_eq!(sniff("a;b\n1,5;2\n1.234,5;3"), Decimal::Comma);
        assert_eq!(sniff("1.5;2,5"), Decimal::Point, "a point that separates no thousands");
        assert_eq!(sniff("1,234;2"), Decimal::Point, "may be thousands");
        assert_eq!(sniff("1,234;0,5"), Decimal::Comma);
        assert_eq!(sniff("1;2\nx;y"), Decimal::Point);
    }
}
