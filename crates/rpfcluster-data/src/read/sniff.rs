//! Detects the delimiter and the header of a text file from its first records. Splits a record into cells and finds its
//! end; delimiters and line ends inside quotes do not count.

use super::number::{Cell, cell};

/// What separates two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// This byte.
    Byte(u8),
    /// One blank or more (spaces and tabs), also at the ends of a line.
    Blanks,
}

/// Records examined: enough to outvote a few odd ones, at no noticeable cost.
const SAMPLE: usize = 64;

/// Bytes examined, at least two records: records of a million cells are not read 64 times.
const SAMPLE_BYTES: usize = 1 << 20;

/// The candidate that splits the most lines into the same number of cells, more than one. A tie goes to the rarer
/// character: a semicolon file may contain decimal commas, any file may contain blanks.
pub(crate) fn delimiter(sample: &[&[u8]]) -> Delimiter {
    let candidates =
        [Delimiter::Byte(b'\t'), Delimiter::Byte(b';'), Delimiter::Byte(b','), Delimiter::Blanks];
    let mut best = (0, Delimiter::Byte(b','));
    for candidate in candidates {
        let mut counts: Vec<usize> = sample.iter().map(|line| cells(line, candidate).count()).collect();
        counts.sort_unstable();
        let agreeing =
            counts.chunk_by(|a, b| a == b).filter(|same| same[0] > 1).map(<[usize]>::len).max().unwrap_or(0);
        // More than half must agree: an occasional blank in a name does not make a column.
        if agreeing > best.0 && 2 * agreeing > sample.len() {
            best = (agreeing, candidate);
        }
    }
    best.1
}

/// A record's cells, quotes respected but not removed. A quote opens at the start of a cell only, as in the csv crate.
pub(crate) fn cells(record: &[u8], delimiter: Delimiter) -> impl Iterator<Item = &[u8]> {
    let record = record.strip_suffix(b"\r").unwrap_or(record);
    let mut quoted = false;
    let mut before = None;
    let split = move |b: &u8| {
        let separates = match delimiter {
            Delimiter::Byte(d) => *b == d,
            Delimiter::Blanks => *b == b' ' || *b == b'\t',
        };
        if *b == b'"' && (quoted || opens(before)) {
            quoted = !quoted;
        }
        before = Some(*b);
        separates && !quoted
    };
    record.split(split).filter(move |cell| delimiter != Delimiter::Blanks || !cell.is_empty())
}

/// A cell without its quotes.
pub(crate) fn unquoted(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    cell.strip_prefix(b"\"").and_then(|c| c.strip_suffix(b"\"")).unwrap_or(cell)
}

/// Length of the first record, its line end included; a line end inside quotes does not end it.
pub(crate) fn record_len(bytes: &[u8]) -> usize {
    let mut quoted = false;
    for at in memchr::memchr2_iter(b'"', b'\n', bytes) {
        if bytes[at] == b'\n' && !quoted {
            return at + 1;
        }
        if bytes[at] == b'"' && (quoted || opens(at.checked_sub(1).map(|i| bytes[i]))) {
            quoted = !quoted;
        }
    }
    bytes.len()
}

/// Whether a quote after this byte opens a quoted cell; after a closing quote it is an escaped quote.
fn opens(before: Option<u8>) -> bool {
    before.is_none_or(|b| b",;\t \n\"".contains(&b))
}

/// The first records that are not empty, without their line ends.
pub(crate) fn sample(body: &[u8]) -> Vec<&[u8]> {
    let mut sample = Vec::new();
    let mut rest = body;
    let enough = |sample: &Vec<&[u8]>, rest: &[u8]| {
        sample.len() >= SAMPLE || (sample.len() >= 2 && body.len() - rest.len() >= SAMPLE_BYTES)
    };
    while !rest.is_empty() && !enough(&sample, rest) {
        let (record, tail) = rest.split_at(record_len(rest));
        rest = tail;
        if !record.trim_ascii().is_empty() {
            sample.push(record.strip_suffix(b"\n").unwrap_or(record));
        }
    }
    sample
}

/// A header is a first line with text over a column of numbers; a line of text with one cell fewer than every line
/// below (R does not name the row names); or, alone in the file, a line without a number.
pub(crate) fn has_header(first: &[&[u8]], rest: &[Vec<&[u8]>]) -> bool {
    let is_text = |s: &&[u8]| matches!(cell(s), Cell::Text(_));
    let is_number = |s: &&[u8]| matches!(cell(s), Cell::Number(_));
    if rest.is_empty() {
        return !first.iter().any(is_number);
    }
    // R names one column fewer than it writes: the first holds row names.
    let shift = usize::from(rest.iter().all(|row| row.len() == first.len() + 1));
    let over_numbers = |column: usize| {
        let mut below = rest.iter().filter_map(|row| row.get(column + shift)).peekable();
        below.peek().is_some() && below.clone().any(is_number) && !below.any(is_text)
    };
    if first.iter().enumerate().any(|(column, name)| is_text(name) && over_numbers(column)) {
        return true;
    }
    shift == 1 && first.iter().all(is_text)
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
        ] {
            let rows = rows(text);
            assert_eq!(has_header(&rows[0], &rows[1..]), expected, "{text}");
        }
    }
}
