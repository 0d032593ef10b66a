//! Labels files: writes `row,cluster`, or the input with columns added, as CSV, Parquet, Arrow or .npy; reads classes by
//! row.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::path::Path;

use rpfcluster_data::write::{self, AddedColumn, Cells, Column};
use rpfcluster_data::{Format, Labels, RowLabels};

use crate::exit::Result;
use crate::load::Input;
use crate::output;
use crate::resolve;
use crate::transaction::Transaction;

/// The columns that `--append` adds.
const CLUSTER: &str = "cluster";
const CONFIDENCE: &str = "confidence";

/// Rows shown on a terminal instead of all.
const SHOWN: usize = 10;

/// Labels of the rows of a table and their destination.
pub struct LabelsFile<'a> {
    /// The file; standard output when `None` or `-`.
    pub target: Option<&'a Path>,
    /// The table to copy, with `--append`.
    pub append_to: Option<&'a Input<'a>>,
    /// The input row of each label, counted from 1; `None` when every row has a label.
    pub rows: Option<&'a [usize]>,
    /// The cluster of each row.
    pub labels: &'a [u32],
    /// The confidence of each label, from 0 to 1.
    pub confidence: Option<&'a [f64]>,
}

impl<'a> LabelsFile<'a> {
    /// Stages the file, or the first rows where standard output is a terminal and nobody asked for it by name.
    pub fn save(self, transaction: &mut Transaction<'a>) -> Result {
        let format = resolve::labels_format(self.target)?;
        if self.target.is_none() && output::is_terminal() {
            transaction.print(self.first_rows());
            return Ok(());
        }
        match self.append_to {
            Some(input) if format == Format::Text && input.is_text()? => {
                self.append_lines(transaction, input)
            }
            Some(input) => {
                let frame = input.frame()?;
                self.write_table(transaction, format, move |labels, write| {
                    let mut columns = frame.columns(frame.earlier_labels()).map_err(io::Error::other)?;
                    columns.extend(labels.added(frame.n()));
                    write(&columns)
                })
            }
            // Without row numbers, its place says which row a label belongs to.
            None if format == Format::Npy => {
                let last = self.rows.and_then(|rows| rows.last().copied()).unwrap_or(self.labels.len());
                self.write_table(transaction, format, move |labels, write| {
                    let mut columns = labels.added(last);
                    if let Some(Column { cells: Cells::Integers(cells), .. }) = columns.first_mut() {
                        cells.iter_mut().for_each(|cell| *cell = cell.or(Some(-1)));
                    }
                    write(&columns)
                })
            }
            None => self.write_table(transaction, format, |labels, write| write(&labels.with_rows())),
        }
    }

    /// Copies the lines of a text table.
    fn append_lines(self, transaction: &mut Transaction<'a>, input: &'a Input<'a>) -> Result {
        let bytes = input.bytes()?;
        let replaced = input.frame()?.earlier_labels();
        transaction.deliver(self.target, move |mut out| {
            let cluster = |row| Some(self.labels[self.place(row)?].to_string());
            let mut added = vec![AddedColumn { name: CLUSTER, cell: Box::new(cluster) }];
            if let Some(confidence) = self.confidence {
                let cell = Box::new(|row| Some(confidence[self.place(row)?].to_string()));
                added.push(AddedColumn { name: CONFIDENCE, cell });
            }
            write::append_columns(&mut out, bytes, &input.source(), input.options(), replaced, &added)
        })
    }

    /// Stages a table of columns, which `columns` hands to its second argument.
    fn write_table(
        self,
        transaction: &mut Transaction<'a>,
        format: Format,
        columns: impl FnOnce(&Self, &mut dyn FnMut(&[Column<'_>]) -> io::Result<()>) -> io::Result<()> + 'a,
    ) -> Result {
        match self.target {
            Some(path) if format != Format::Text => transaction
                .file(path, move |out| columns(&self, &mut |columns| write::table(out, format, columns))),
            target => transaction.deliver(target, move |mut out| {
                columns(&self, &mut |columns| write::table_csv(&mut out, columns))
            }),
        }
    }

    /// The columns `row`, `cluster` and perhaps `confidence`.
    fn with_rows(&self) -> Vec<Column<'static>> {
        let row = |i: usize| self.rows.map_or(i + 1, |rows| rows[i]) as i64;
        let rows = Cells::Integers((0..self.labels.len()).map(|i| Some(row(i))).collect());
        let clusters = Cells::Integers(self.labels.iter().map(|label| Some(i64::from(*label))).collect());
        let mut columns = vec![column("row", rows), column(CLUSTER, clusters)];
        if let Some(confidence) = self.confidence {
            columns.push(column(CONFIDENCE, Cells::Doubles(confidence.to_vec())));
        }
        columns
    }

    /// The columns that are added to a table of `n` rows.
    fn added(&self, n: usize) -> Vec<Column<'static>> {
        let cluster = |row| self.place(row).map(|at| i64::from(self.labels[at]));
        let mut columns = vec![column(CLUSTER, Cells::Integers((0..n).map(cluster).collect()))];
        if let Some(confidence) = self.confidence {
            let cell = |row| self.place(row).map_or(f64::NAN, |at| confidence[at]);
            columns.push(column(CONFIDENCE, Cells::Doubles((0..n).map(cell).collect())));
        }
        columns
    }

    /// The place of the label of an input row, counted from 0; `None` for a row that was left out.
    fn place(&self, row: usize) -> Option<usize> {
        let at = match self.rows {
            Some(rows) => rows.binary_search(&(row + 1)).ok()?,
            None => row,
        };
        (at < self.labels.len()).then_some(at)
    }

    /// What a terminal shows in place of all rows.
    fn first_rows(&self) -> String {
        let n = self.labels.len();
        let mut names = vec!["row".to_string(), CLUSTER.to_string()];
        names.extend(self.confidence.map(|_| CONFIDENCE.to_string()));
        let row = |i: usize| {
            let mut cells =
                vec![self.rows.map_or(i + 1, |rows| rows[i]).to_string(), self.labels[i].to_string()];
            cells.extend(self.confidence.map(|c| format!("{:.3}", c[i])));
            cells
        };
        let rows: Vec<Vec<String>> = std::iter::once(names).chain((0..n.min(SHOWN)).map(row)).collect();
        let mut text = output::columns(&rows);
        if n > SHOWN {
            text += &format!("{} more rows; -o FILE writes all, -o - prints them\n", n - SHOWN);
        }
        text + "\n"
    }
}

fn column(name: &'static str, cells: Cells<'static>) -> Column<'static> {
    Column { name: Cow::Borrowed(name), cells }
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
