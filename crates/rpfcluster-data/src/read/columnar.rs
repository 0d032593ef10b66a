//! Columns of a Parquet, Arrow or JSON file → [`Frame`], batch by batch. The readers pass every cell as a number or as text,
//! so this file depends on no format. `guarded` turns a panic of a reader into an error.
//!
//! A list of numbers of one length in all rows, such as an embedding, is one column for each element ([`Layout`]).

use crate::error::{DataError, Result, format};
use crate::frame::{FOREIGN, Frame, Lines, TextColumn};
use crate::memory::Budget;
use crate::table::Values;

/// The column of an element of a list, counted from 1.
pub(crate) fn element_name(list: &str, element: usize) -> String {
    format!("{list}[{element}]")
}

/// Where the fields of a file are among the columns of its frame.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) struct Layout {
    /// The first column of each field.
    pub first: Vec<usize>,
    /// The columns.
    pub names: Vec<String>,
}

#[cfg(any(feature = "arrow", feature = "parquet"))]
impl Layout {
    /// Of fields with these names, and for a list of numbers its length.
    pub fn new(source: &str, fields: Vec<(String, Option<usize>)>, budget: &Budget) -> Result<Self> {
        /// Bytes of a column, here and in a collector, besides those of its name: two strings and the number of an element
        /// as the allocator rounds them, and what text it holds.
        const COLUMN: usize = 2 * (size_of::<String>() + 32) + size_of::<Option<TextColumn>>();
        let mut layout = Layout { first: Vec::with_capacity(fields.len()), names: Vec::new() };
        for (name, length) in fields {
            layout.first.push(layout.names.len());
            let taken = COLUMN + 2 * name.len();
            let Some(length) = length else {
                budget.spend(taken)?;
                layout.names.push(name);
                continue;
            };
            if length > super::MAX_WIDTH {
                let limit = super::MAX_WIDTH;
                let name = crate::error::excerpt(&name);
                let problem = format!("lists of {length} numbers in \"{name}\" exceed the limit of {limit}");
                return Err(format(source, problem));
            }
            budget.spend_items(length, taken)?;
            layout.names.reserve_exact(length);
            layout.names.extend((1..=length).map(|element| element_name(&name, element)));
        }
        Ok(layout)
    }
}

/// What a part of a file holds.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) enum Lists {
    /// All lists have the length of the first.
    Even(Frame),
    /// Those of this field do not.
    Ragged(usize),
}

/// Reads a file again as long as a field turns out to hold lists of different lengths, which are no columns. `read` is
/// told these fields.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) fn with_even_lists(budget: &Budget, read: impl Fn(&[usize]) -> Result<Lists>) -> Result<Frame> {
    let mut ragged = Vec::new();
    let spent = budget.spent();
    loop {
        match read(&ragged)? {
            Lists::Even(frame) => return Ok(frame),
            Lists::Ragged(field) => ragged.push(field),
        }
        budget.rewind(spent);
    }
}

/// What becomes of a list that has another length than the first of its column.
#[cfg(any(feature = "arrow", feature = "parquet"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ragged {
    /// The reading stops: the column holds no numbers.
    Stop,
    /// Its row has text in the first of its columns, which is refused where that is a feature.
    Mark,
}

/// What a column of lists that are no columns holds, in messages.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) const NESTED: &str = "list, map or struct";

/// A frame in the making. Rows are counted from the start of the batch at hand.
pub(crate) struct Collector<'a> {
    source: &'a str,
    budget: &'a Budget,
    names: Vec<String>,
    values: Values,
    text: Vec<Option<TextColumn>>,
    /// Rows of the batches before this one.
    n: usize,
    /// Bytes of text that are not spent yet.
    taken: usize,
    /// Why the text is not kept any more.
    refused: Option<DataError>,
}

/// Bytes of text that are kept before the budget is asked.
const UNASKED: usize = 1 << 18;

impl<'a> Collector<'a> {
    /// For a file with these columns; `single` keeps the numbers in single precision.
    pub fn new(source: &'a str, names: Vec<String>, single: bool, budget: &'a Budget) -> Result<Self> {
        if names.is_empty() {
            return Err(format(source, "there are no columns"));
        }
        let values = if single { Values::F32(Vec::new()) } else { Values::F64(Vec::new()) };
        let text = vec![None; names.len()];
        Ok(Collector { source, budget, text, names, values, n: 0, taken: 0, refused: None })
    }

    /// Makes space for a batch of rows, all cells missing. The row count of a damaged file may be absurd.
    pub fn begin(&mut self, rows: usize) -> Result<()> {
        /// Enlarges by a quarter at least, so that a file of many batches is not copied for every one.
        fn extend<T: Copy>(values: &mut Vec<T>, by: usize, gap: T, budget: &Budget) -> Result<()> {
            if values.capacity() - values.len() < by {
                let more = by.max(values.len() / 4);
                budget.reserve(values, more).or_else(|_| budget.reserve(values, by))?;
            }
            values.resize(values.len() + by, gap);
            Ok(())
        }
        let cells = rows.saturating_mul(self.names.len());
        match &mut self.values {
            Values::F32(v) => extend(v, cells, f32::NAN, self.budget),
            Values::F64(v) => extend(v, cells, f64::NAN, self.budget),
            // Not made by `new`.
            Values::F16(_) | Values::I8(_) | Values::U8(_) => Ok(()),
        }
    }

    /// Sets a cell of the batch to a number.
    #[inline]
    pub fn number(&mut self, row: usize, column: usize, x: f64) {
        self.values.set((self.n + row) * self.names.len() + column, x);
    }

    /// Sets a cell of the batch to text, unless there is no memory for it: then [`end`](Self::end) fails. Rows of a column
    /// come in order.
    pub fn text(&mut self, row: usize, column: usize, text: &str) {
        if self.refused.is_some() {
            return;
        }
        // New text is copied twice.
        if text.len() > UNASKED {
            self.refused = self.budget.probe(self.taken.saturating_add(2 * text.len())).err();
            if self.refused.is_some() {
                return;
            }
        }
        self.taken += self.text[column].get_or_insert_default().put(self.n + row, text);
        if self.taken > UNASKED {
            self.refused = self.budget.spend(std::mem::take(&mut self.taken)).err();
        }
    }

    /// Sets a cell of the batch to a value that is neither number nor text, such as a date. It reads as text that names
    /// its type, so that the column is refused by name unless the user drops it.
    pub fn other(&mut self, row: usize, column: usize, kind: &str) {
        self.text(row, column, &format!("{FOREIGN}{kind}"));
        self.text[column].get_or_insert_default().is_foreign = true;
    }

    /// Marks a list that has another length than those above.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub fn list_of_other_length(&mut self, row: usize, column: usize, length: usize) {
        self.number(row, column, f64::NAN);
        self.other(row, column, &format!("list of {length} numbers, unlike those above"));
    }

    /// Ends a batch.
    pub fn end(&mut self, rows: usize) -> Result<()> {
        self.n += rows;
        match self.refused.take() {
            Some(refused) => Err(refused),
            None => self.budget.spend(std::mem::take(&mut self.taken)),
        }
    }

    /// Number of rows so far.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub fn n(&self) -> usize {
        self.n
    }

    /// The frame of all batches.
    pub fn finish(self) -> Result<Frame> {
        if self.n == 0 {
            return Err(format(self.source, "there are columns but no rows"));
        }
        Ok(Frame {
            source: self.source.to_string(),
            names: self.names,
            has_header: true,
            dialect: None,
            before: 0,
            n: self.n,
            values: self.values,
            text: self.text,
            lines: Lines { first: 1, gaps: Vec::new() },
        })
    }
}

/// Runs a reader of another crate. A panic in it means that the file is damaged.
#[cfg(any(feature = "arrow", feature = "excel", feature = "parquet"))]
pub(crate) fn guarded<T>(source: &str, kind: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(format(source, format!("the {kind} data is damaged"))))
}
