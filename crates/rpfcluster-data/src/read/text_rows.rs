//! Rows that are written as comma-separated text in memory.

use std::io::Write;

use crate::error::Result;
use crate::memory::Budget;

/// Rows that become text, all of the width of the widest.
pub(super) struct Rows<'b> {
    budget: &'b Budget,
    text: Vec<u8>,
    /// Where each row ends, and its cells. A row without cells is a blank line.
    ends: Vec<(usize, usize)>,
    /// Cells of the row that is not ended yet.
    cells: usize,
}

/// Bytes of a number, at most, and its comma.
const NUMBER: usize = 32;

impl<'b> Rows<'b> {
    pub fn new(budget: &'b Budget) -> Self {
        Rows { budget, text: Vec::new(), ends: Vec::new(), cells: 0 }
    }

    /// Number of rows that are ended.
    pub fn ended(&self) -> usize {
        self.ends.len()
    }

    /// Number of cells of the row at hand.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// Appends a number, or a missing value for NaN.
    pub fn number(&mut self, x: f64) -> Result<()> {
        /// Whole numbers up to this, 2^53, are written without a fraction.
        const WHOLE: f64 = 9_007_199_254_740_992.0;
        self.begin(NUMBER)?;
        // Writing to a vector does not fail.
        let _ = match x {
            _ if x.is_nan() => Ok(()),
            _ if x.fract() == 0.0 && x.abs() <= WHOLE => write!(self.text, "{x}"),
            _ => write!(self.text, "{x:?}"),
        };
        Ok(())
    }

    /// Appends an integer.
    pub fn integer(&mut self, x: i64) -> Result<()> {
        self.begin(NUMBER)?;
        let _ = write!(self.text, "{x}");
        Ok(())
    }

    /// Appends a missing value.
    pub fn missing(&mut self) -> Result<()> {
        self.begin(1)
    }

    /// Appends a text. A line end in it becomes a blank, so that a line is a row.
    pub fn text(&mut self, text: &str) -> Result<()> {
        self.begin(2 * text.len() + 3)?;
        if text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.text.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        self.text.push(b'"');
        for byte in text.bytes() {
            match byte {
                b'"' => self.text.extend_from_slice(b"\"\""),
                b'\n' | b'\r' | 0 => self.text.push(b' '),
                _ => self.text.push(byte),
            }
        }
        self.text.push(b'"');
        Ok(())
    }

    /// Ends the row.
    pub fn end(&mut self) -> Result<()> {
        let start = self.ends.last().map_or(0, |(end, _)| *end);
        if self.cells == 1 && self.text.len() == start {
            // A missing value, which alone would make a blank line.
            self.make_room(3)?;
            self.text.extend_from_slice(b"\"\"");
        }
        if self.ends.len() == self.ends.capacity() {
            let more = 64.max(self.ends.len() / 4);
            self.budget.reserve(&mut self.ends, more)?;
        }
        self.make_room(1)?;
        self.text.push(b'\n');
        self.ends.push((self.text.len(), self.cells));
        self.cells = 0;
        Ok(())
    }

    /// The text, in which rows shorter than the widest end with missing values.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        if self.cells > 0 {
            self.end()?;
        }
        let width = self.ends.iter().map(|(_, cells)| *cells).max().unwrap_or(0);
        let lacking = |cells: usize| if cells == 0 { 0 } else { width - cells };
        let more = self.ends.iter().fold(0usize, |sum, (_, cells)| sum.saturating_add(lacking(*cells)));
        self.budget.reserve(&mut self.text, more)?;
        let mut to = self.text.len() + more;
        self.text.resize(to, b',');
        // From the last row to the first, each to its place.
        for at in (0..self.ends.len()).rev() {
            let (end, cells) = self.ends[at];
            let start = at.checked_sub(1).map_or(0, |before| self.ends[before].0);
            let commas = lacking(cells);
            self.text[to - 1] = b'\n';
            self.text[to - 1 - commas..to - 1].fill(b',');
            let body = end - 1 - start;
            to -= 1 + commas + body;
            self.text.copy_within(start..end - 1, to);
        }
        self.budget.release(self.ends.capacity() * size_of::<(usize, usize)>());
        Ok(self.text)
    }

    fn begin(&mut self, most: usize) -> Result<()> {
        self.make_room(most + 1)?;
        if self.cells > 0 {
            self.text.push(b',');
        }
        self.cells += 1;
        Ok(())
    }

    fn make_room(&mut self, bytes: usize) -> Result<()> {
        /// By a quarter, as a file that is read.
        const STEP: usize = 1 << 16;
        if self.text.capacity() - self.text.len() < bytes {
            let more = bytes.max(STEP).max(self.text.len() / 4);
            self.budget.reserve(&mut self.text, more)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_are_filled_and_blank_rows_stay_blank_lines() {
        let budget = Budget::new("t", None);
        let mut rows = Rows::new(&budget);
        rows.text("a").unwrap();
        rows.end().unwrap();
        rows.end().unwrap();
        rows.missing().unwrap();
        rows.number(1.5e300).unwrap();
        rows.text("say \"1,5\"\nor not").unwrap();
        rows.end().unwrap();
        rows.integer(-7).unwrap();
        rows.number(f64::NAN).unwrap();
        rows.number(2019.0).unwrap();
        rows.end().unwrap();
        rows.missing().unwrap();
        rows.end().unwrap();
        rows.number(-0.0).unwrap();
        rows.number(1e17).unwrap();
        rows.number(0.1).unwrap();
        let text = String::from_utf8(rows.finish().unwrap()).unwrap();
        assert_eq!(text, "a,,\n\n,1.5e300,\"say \"\"1,5\"\" or not\"\n-7,,2019\n\"\",,\n-0,1e17,0.1\n");
        assert!(Rows::new(&budget).finish().unwrap().is_empty());
    }
}
