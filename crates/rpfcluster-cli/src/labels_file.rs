//! Labels as a file: `row,cluster`, or the input's own lines with a column more.

use std::io;
use std::path::Path;

use rpfcluster_data::{Table, write};

use crate::exit::Outcome;
use crate::output;

/// The column that `--append` adds.
pub const COLUMN: &str = "cluster";

/// Labels of the rows of a table, and where they go.
pub struct LabelsFile<'a> {
    /// File, or standard output when there is none or it is `-`.
    pub target: Option<&'a Path>,
    /// The text file to copy, with `--append`.
    pub append_to: Option<&'a Path>,
    /// Input rows from 1; `None` when there is a label for each.
    pub rows: Option<&'a [usize]>,
    /// A cluster for each row.
    pub labels: &'a [u32],
    /// How sure each label is, from 0 to 1; for `row,cluster` only.
    pub confidence: Option<&'a [f64]>,
}

impl<'a> LabelsFile<'a> {
    /// The labels of a table's rows.
    pub fn of_table(table: &'a Table, labels: &'a [u32], target: Option<&'a Path>) -> Self {
        LabelsFile { target, append_to: None, rows: table.rows.as_deref(), labels, confidence: None }
    }

    /// Writes them.
    pub fn save(&self) -> Outcome {
        output::deliver(self.target, |mut out| match self.append_to {
            None => write::labels_csv(&mut out, self.rows, self.labels, self.confidence),
            Some(input) => write::append_column(&mut out, input, COLUMN, |row| {
                self.label_of(row + 1).map(|label| label.to_string())
            })
            .map_err(|e| io::Error::other(e.to_string())),
        })
    }

    /// The label of an input row; a row that was left out has none.
    fn label_of(&self, row: usize) -> Option<u32> {
        let at = match self.rows {
            Some(rows) => rows.binary_search(&row).ok()?,
            None => row - 1,
        };
        self.labels.get(at).copied()
    }
}
