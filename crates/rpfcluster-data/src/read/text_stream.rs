//! Delimited text in batches of whole records, of any length in constant memory.
//!
//! Delimiter, decimal character and header come from the first records, as for a text in memory. A batch is parsed as `text`
//! parses a whole file. A record that never ends, and a text without line feeds, are read to the end within the budget.

use super::input::Input;
use super::sniff::RecordEnds;
use super::text::{Layout, is_decided, layout, no_row, rows};
use super::{Dialect, ReadOptions};
use crate::error::{Place, Result};
use crate::frame::Frame;
use crate::memory::Budget;

/// Bytes read at a time.
const STEP: usize = 1 << 20;
/// Bytes of a batch at which it ends, however few its rows.
const MOST: usize = 32 << 20;

/// A text whose rows are read as they are asked for.
pub(crate) struct TextStream {
    input: Input,
    layout: Layout,
    /// What was read and belongs to no batch yet, from the start of a record.
    pending: Vec<u8>,
    /// The next row and its line.
    at: Place,
    ended: bool,
    header: Vec<u8>,
}

impl TextStream {
    /// Reads as far as the layout needs.
    pub fn new(mut input: Input, options: &ReadOptions, budget: &Budget) -> Result<Self> {
        let mut pending = Vec::new();
        let mut ended = false;
        while !ended && !is_decided(&pending, options.delimiter) {
            // Doubling: what was read is looked at again.
            let step = STEP.max(pending.len());
            ended = input.read_some(&mut pending, step, budget)? < step;
        }
        let source = input.source().to_string();
        let layout = layout(&mut pending, &source, options)?;
        let header = pending[layout.header_start..layout.start].to_vec();
        pending.drain(..layout.start);
        let at = Place { row: 1, line: layout.first_line };
        Ok(TextStream { input, layout, pending, at, ended, header })
    }

    /// The same, of a text that was made of a workbook or a database.
    pub fn of_converted(mut self) -> Self {
        self.layout.dialect = self.layout.dialect.of_converted();
        self
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.layout.names.len()
    }

    /// How the text is read.
    pub fn dialect(&self) -> Dialect {
        self.layout.dialect
    }

    /// The line that names the columns; empty without one.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// The next rows, at most `most`, and their text; an error where the text has no row at all.
    pub fn next(&mut self, most: usize, budget: &Budget) -> Result<Option<(Frame, Vec<u8>)>> {
        loop {
            budget.rewind(self.pending.capacity() as u64);
            let block = self.block(most, budget)?;
            if block.is_empty() {
                return if self.at.row == 1 { Err(no_row(self.input.source())) } else { Ok(None) };
            }
            let found = rows(&block, self.input.source(), &self.layout, self.at, budget)?;
            self.at.line += memchr::memchr_iter(b'\n', &block).count();
            if let Some(frame) = found {
                self.at.row += frame.n();
                return Ok(Some((frame, block)));
            }
        }
    }

    /// The next whole records; all that is left at the end of the text.
    fn block(&mut self, most: usize, budget: &Budget) -> Result<Vec<u8>> {
        let mut ends = RecordEnds::default();
        loop {
            ends.scan(&self.pending, self.layout.dialect.delimiter, most);
            if ends.found == most || (ends.found > 0 && ends.end >= MOST) {
                let rest = self.pending.split_off(ends.end);
                return Ok(std::mem::replace(&mut self.pending, rest));
            }
            if self.ended {
                return Ok(std::mem::take(&mut self.pending));
            }
            let step = STEP.max(self.pending.len() / 4);
            self.ended = self.input.read_some(&mut self.pending, step, budget)? < step;
        }
    }
}
