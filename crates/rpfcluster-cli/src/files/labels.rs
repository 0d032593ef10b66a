//! Labels files: writes `row,cluster`, or the lines of the input with a column added; reads classes by row.

use std::collections::HashMap;
use std::path::Path;

use rpfcluster_data::{Labels, RowLabels, write};

use crate::exit::Result;
use crate::transaction::Transaction;

/// The column that `--append` adds.
pub const COLUMN: &str = "cluster";

/// Labels of the rows of a table and their destination.
pub struct LabelsFile<'a> {
    /// The file; standard output when `None` or `-`.
    pub target: Option<&'a Path>,
    /// The text file to copy, with `--append`.
    pub append_to: Option<&'a Path>,
    /// Bytes of memory that reading this file may take; `None` is what is free.
    pub memory: Option<u64>,
    /// The input row of each label, counted from 1; `None` when every row has a label.
    pub rows: Option<&'a [usize]>,
    /// The cluster of each row.
    pub labels: &'a [u32],
    /// The confidence of each label, from 0 to 1; not with `append_to`.
    pub confidence: Option<&'a [f64]>,
}

impl<'a> LabelsFile<'a> {
    /// Stages the file.
    pub fn save(self, transaction: &mut Transaction<'a>) -> Result {
        transaction.deliver(self.target, move |mut out| match self.append_to {
            None => write::labels_csv(&mut out, self.rows, self.labels, self.confidence),
            Some(input) => write::append_column(&mut out, input, self.memory, COLUMN, |row| {
                self.label_of(row + 1).map(|label| label.to_string())
            }),
        })
    }

    /// The label of an input row; `None` for a row that was left out.
    fn label_of(&self, row: usize) -> Option<u32> {
        let at = match self.rows {
            Some(rows) => rows.binary_search(&row).ok()?,
            None => row - 1,
        };
        self.labels.get(at).copied()
    }
}

/// The classes of these input rows, counted from 1; `Err` is the first row that has none.
pub fn classes_of(classes: &RowLabels, rows: impl Iterator<Item = usize>) -> Result<Labels, usize> {
    let places: Option<HashMap<usize, usize>> =
        classes.rows.as_ref().map(|rows| rows.iter().enumerate().map(|(at, row)| (*row, at)).collect());
    let place = |row: usize| match &places {
        Some(places) => places.get(&row).copied(),
        None => (row <= classes.labels.codes.len()).then(|| row - 1),
    };
    let names: Result<Vec<&str>, usize> =
        rows.map(|row| place(row).map(|at| classes.labels.name(at)).ok_or(row)).collect();
    Ok(Labels::from_names(names?))
}
