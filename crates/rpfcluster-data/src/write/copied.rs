//! What is known about a table that is copied with columns added, from all of its rows: the type of each column, and how many
//! of the last columns are the labels of an earlier run.

use std::borrow::Cow;

use super::table::{Cells, Column};
use crate::error::DataError;
use crate::frame::Frame;
use crate::table::Values;

/// The largest whole number up to which doubles hold every one.
const EXACT: f64 = (1u64 << 53) as f64;

/// Whole numbers of this size are told from others as floats.
const LARGEST: f64 = 2.0 * (1u64 << 63) as f64;

/// The last columns of a table as the labels of an earlier run: `cluster`, perhaps followed by `confidence`. As we write them,
/// clusters are whole numbers from 0 in order of first appearance; a column of that name with other contents is somebody
/// else's.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EarlierLabels {
    /// How many columns have such names; `None` before the first rows.
    named: Option<usize>,
    /// The next cluster to appear.
    next: f64,
    differs: bool,
}

impl EarlierLabels {
    /// Looks at the next rows.
    pub fn look(&mut self, frame: &Frame) {
        let width = frame.width();
        let is = |back: usize, name: &str| {
            width.checked_sub(back).is_some_and(|at| frame.has_header() && frame.names()[at] == name)
        };
        let named =
            *self.named.get_or_insert(match (is(1, "cluster"), is(1, "confidence") && is(2, "cluster")) {
                (true, _) => 1,
                (_, true) => 2,
                _ => 0,
            });
        if named == 0 || self.differs {
            return;
        }
        let numbers = |column: usize| (0..frame.n()).map(move |row| frame.number(row, column));
        let is_share = |x: f64| x.is_nan() || (0.0..=1.0).contains(&x);
        let clusters = width - named;
        let known = numbers(clusters).filter(|x| !x.is_nan()).all(|x| {
            let known = x >= 0.0 && x.fract() == 0.0 && x <= self.next;
            self.next += f64::from(u8::from(x == self.next));
            known
        });
        let text = (clusters..width).any(|column| frame.first_text(column).is_some());
        self.differs = !known || text || (named == 2 && !numbers(width - 1).all(is_share));
    }

    /// Whether the next rows can tell whether there are such labels.
    pub fn is_open(&self) -> bool {
        self.named != Some(0) && !self.differs
    }

    /// How many of the last columns hold such labels, by the rows so far.
    pub fn count(&self) -> usize {
        if self.differs || self.next == 0.0 { 0 } else { self.named.unwrap_or(0) }
    }
}

/// The cells of a column so far.
#[derive(Debug, Clone, PartialEq, Default)]
struct Seen {
    has_text: bool,
    /// A value that is only named, such as a date.
    foreign: Option<String>,
    has_number: bool,
    has_fraction: bool,
    is_inexact: bool,
}

/// The types of the columns of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CopiedColumns {
    seen: Vec<Seen>,
}

impl CopiedColumns {
    /// Looks at the next rows.
    pub fn look(&mut self, frame: &Frame) {
        self.seen.resize(frame.width(), Seen::default());
        for (column, seen) in self.seen.iter_mut().enumerate() {
            if let Some(text) = frame.text.get(column).and_then(Option::as_ref) {
                seen.has_text = true;
                if text.is_foreign {
                    seen.foreign.get_or_insert_with(|| text.names.first().cloned().unwrap_or_default());
                }
            }
            for x in (0..frame.n()).map(|row| frame.number(row, column)).filter(|x| !x.is_nan()) {
                seen.has_number = true;
                seen.has_fraction |= x.fract() != 0.0 || x.abs() >= LARGEST;
                seen.is_inexact |= x.abs() >= EXACT;
            }
        }
    }

    /// The columns of rows that were looked at, except the last `left_out`; an error for a column that a frame does not hold
    /// exactly.
    pub fn columns<'a>(&self, frame: &'a Frame, left_out: usize) -> Result<Vec<Column<'a>>, DataError> {
        let kept = self.seen.len().min(frame.width().saturating_sub(left_out));
        let column = |c: usize| {
            let cells = cells(frame, c, &self.seen[c])?;
            Ok(Column { name: Cow::Borrowed(frame.names[c].as_str()), cells })
        };
        (0..kept).map(column).collect()
    }
}

fn cells<'a>(frame: &'a Frame, column: usize, seen: &Seen) -> Result<Cells<'a>, DataError> {
    let refuse = |what: &str| {
        let problem = format!(
            "holds {what}, which cannot be copied exactly; leave out --append, which writes row and cluster"
        );
        Err(frame.column_error(column, problem))
    };
    let numbers = || (0..frame.n).map(|row| frame.number(row, column));
    if let Some(foreign) = &seen.foreign {
        return refuse(foreign);
    }
    if seen.has_text {
        let cell = |row| match frame.text(row, column) {
            Some(text) => Some(Cow::Borrowed(text)),
            None => Some(frame.number(row, column)).filter(|x| !x.is_nan()).map(|x| x.to_string().into()),
        };
        return Ok(Cells::Text((0..frame.n).map(cell).collect()));
    }
    if seen.has_number && !seen.has_fraction {
        if seen.is_inexact {
            return refuse("whole numbers of 2^53 and more");
        }
        return Ok(Cells::Integers(numbers().map(|x| (!x.is_nan()).then_some(x as i64)).collect()));
    }
    Ok(match frame.values {
        Values::F64(_) => Cells::Doubles(numbers().collect()),
        _ => Cells::Singles(numbers().map(|x| x as f32).collect()),
    })
}

impl Frame {
    /// How many of the last columns hold the labels of an earlier run ([`EarlierLabels`]).
    pub fn earlier_labels(&self) -> usize {
        let mut earlier = EarlierLabels::default();
        earlier.look(self);
        earlier.count()
    }

    /// The columns except the last `left_out`; an error for one that the frame does not hold exactly.
    pub fn columns(&self, left_out: usize) -> Result<Vec<Column<'_>>, DataError> {
        let mut copied = CopiedColumns::default();
        copied.look(self);
        copied.columns(self, left_out)
    }
}
