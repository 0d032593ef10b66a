//! Labels files: writes `row,cluster`, or the input with columns added, as CSV, Parquet, Arrow or .npy, batch by batch; reads
//! classes by row.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use rpfcluster_data::write::{
    AddedColumn, Cells, Column, CopiedColumns, CopiedLines, EarlierLabels, TableWriter,
};
use rpfcluster_data::{Batch, Batches, Delimiter, Format, Frame, Labels, RowLabels};

use crate::exit::{Failure, Result};
use crate::files::table::TableFormat;
use crate::load::Input;
use crate::output;
use crate::transaction::{Sink, Transaction};

/// The columns that `--append` adds.
const CLUSTER: &str = "cluster";
const CONFIDENCE: &str = "confidence";

/// Rows shown on a terminal instead of all.
const SHOWN: usize = 10;

/// Rows of a table that is copied: small enough to stay in memory, and many enough to be read in parallel.
const BATCH: usize = 1 << 16;

/// Labels of rows of a table that follow each other.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRows<'a> {
    /// Rows of the table before these.
    pub before: usize,
    /// Number of rows, those without a label included.
    pub n: usize,
    /// The row of the table of each label, counted from 1; `None` when every row has a label.
    pub rows: Option<&'a [usize]>,
    /// The cluster of each labelled row.
    pub labels: &'a [u32],
    /// The confidence of each label, from 0 to 1.
    pub confidence: Option<&'a [f64]>,
}

impl<'a> LabelledRows<'a> {
    /// The rows of a batch of the table.
    fn part(&self, before: usize, n: usize) -> LabelledRows<'a> {
        let place = |row: usize| match self.rows {
            Some(rows) => rows.partition_point(|labelled| *labelled <= row),
            None => row.min(self.labels.len()),
        };
        let range = place(before)..place(before + n);
        LabelledRows {
            before,
            n,
            rows: self.rows.map(|rows| &rows[range.clone()]),
            labels: &self.labels[range.clone()],
            confidence: self.confidence.map(|confidence| &confidence[range]),
        }
    }

    fn row(&self, i: usize) -> usize {
        self.rows.map_or(self.before + i + 1, |rows| rows[i])
    }

    /// The place of the label of a row of these, counted from 0; `None` for a row that was left out.
    fn place(&self, row: usize) -> Option<usize> {
        let at = match self.rows {
            Some(rows) => rows.binary_search(&(self.before + row + 1)).ok()?,
            None => row,
        };
        (at < self.labels.len()).then_some(at)
    }

    /// The columns `row`, `cluster` and perhaps `confidence`.
    fn with_rows(&self) -> Vec<Column<'static>> {
        let rows = Cells::Integers((0..self.labels.len()).map(|i| Some(self.row(i) as i64)).collect());
        let clusters = Cells::Integers(self.labels.iter().map(|label| Some(i64::from(*label))).collect());
        let mut columns = vec![column("row", rows), column(CLUSTER, clusters)];
        if let Some(confidence) = self.confidence {
            columns.push(column(CONFIDENCE, Cells::Doubles(confidence.to_vec())));
        }
        columns
    }

    /// The columns that are added to the first `n` of these rows.
    fn added(&self, n: usize) -> Vec<Column<'static>> {
        let cluster = |row| self.place(row).map(|at| i64::from(self.labels[at]));
        let mut columns = vec![column(CLUSTER, Cells::Integers((0..n).map(cluster).collect()))];
        if let Some(confidence) = self.confidence {
            let cell = |row| self.place(row).map_or(f64::NAN, |at| confidence[at]);
            columns.push(column(CONFIDENCE, Cells::Doubles((0..n).map(cell).collect())));
        }
        columns
    }

    /// The columns that are added to copied lines.
    fn added_cells(&self) -> Vec<AddedColumn<'_>> {
        let cluster = |row| Some(self.labels[self.place(row)?].to_string());
        let mut added = vec![AddedColumn { name: CLUSTER, cell: Box::new(cluster) }];
        if let Some(confidence) = self.confidence {
            let cell = Box::new(|row| Some(confidence[self.place(row)?].to_string()));
            added.push(AddedColumn { name: CONFIDENCE, cell });
        }
        added
    }
}

fn column(name: &'static str, cells: Cells<'static>) -> Column<'static> {
    Column { name: Cow::Borrowed(name), cells }
}

/// What a labels file holds besides the labels: nothing, or the table that they are added to.
enum Copied {
    Nothing,
    Lines { lines: CopiedLines, header: Vec<u8> },
    Columns { columns: CopiedColumns, left_out: usize },
}

/// What is copied of a batch.
pub enum CopiedRows {
    /// Nothing.
    Nothing,
    /// Its lines.
    Lines(Vec<u8>),
    /// Its columns.
    Columns(Box<Frame>),
}

/// How labels are written: found from the name of the file and, with `--append`, from the table.
pub struct LabelsPlan {
    format: TableFormat,
    copied: Copied,
    /// With `--append`, the labels of an earlier run in a table that can be read once, as far as it was read.
    earlier: Option<EarlierLabels>,
}

impl LabelsPlan {
    /// For this file, or standard output. Reads the table to append to, where it can be read again, for the types of its
    /// columns and the labels of an earlier run.
    pub fn new(target: Option<&Path>, append_to: Option<&Input<'_>>) -> Result<Self> {
        let format = TableFormat::of(target)?;
        let mut plan = LabelsPlan { format, copied: Copied::Nothing, earlier: None };
        let Some(input) = append_to else { return Ok(plan) };
        if !input.can_be_read_again() {
            plan.earlier = Some(EarlierLabels::default());
            return Ok(plan);
        }
        let mut batches = input.batches(BATCH)?;
        let (mut columns, mut earlier) = (CopiedColumns::default(), EarlierLabels::default());
        let lines = plan.copies_lines(&batches);
        while let Some(batch) = batches.next().transpose()? {
            earlier.look(&batch.frame);
            if !lines {
                columns.look(&batch.frame);
            } else if !earlier.is_open() {
                break;
            }
        }
        plan.copy(&batches, columns, earlier.count());
        Ok(plan)
    }

    fn copies_lines(&self, batches: &Batches) -> bool {
        // A table of another delimiter is read and written as its columns.
        let as_input =
            |delimiter| self.format.delimiter == b',' || delimiter == Delimiter::Byte(self.format.delimiter);
        self.format.format == Format::Text
            && batches.dialect().is_some_and(|dialect| as_input(dialect.delimiter))
    }

    fn copy(&mut self, batches: &Batches, columns: CopiedColumns, left_out: usize) {
        self.copied = match batches.dialect().filter(|_| self.copies_lines(batches)) {
            Some(dialect) => Copied::Lines {
                lines: CopiedLines { dialect, replaced: left_out },
                header: batches.header().to_vec(),
            },
            None => Copied::Columns { columns, left_out },
        };
    }

    /// Takes what is copied of a batch, before its numbers are used.
    pub fn take(&mut self, batches: &Batches, batch: &mut Batch) -> Result<CopiedRows> {
        if let Some(mut earlier) = self.earlier.take() {
            let before = earlier.count();
            earlier.look(&batch.frame);
            if let Copied::Nothing = self.copied {
                self.copy(batches, CopiedColumns::default(), earlier.count());
            } else if earlier.count() < before {
                return Err(Failure::data(format!(
                    "{}: the last columns hold the labels of an earlier run up to row {}, and others below; rename them, or \
                     read the table from a file",
                    batches.source(),
                    batch.frame.before()
                )));
            }
            if let Copied::Columns { columns, .. } = &mut self.copied {
                columns.look(&batch.frame);
            }
            self.earlier = Some(earlier);
        }
        Ok(match self.copied {
            Copied::Nothing => CopiedRows::Nothing,
            Copied::Lines { .. } => CopiedRows::Lines(std::mem::take(&mut batch.text)),
            Copied::Columns { .. } => CopiedRows::Columns(Box::new(batch.frame.clone())),
        })
    }

    /// A writer to this output.
    pub fn writer<'a>(self, out: Sink<'a>) -> LabelsWriter<'a> {
        LabelsWriter { plan: self, out: Some(out), to: None, gaps: 0 }
    }
}

/// Where the rows go.
enum To<'a> {
    Table(Box<dyn TableWriter + 'a>),
    Lines(Box<dyn Write + 'a>),
}

/// Writes a labels file, or the input with columns added, batch by batch.
pub struct LabelsWriter<'a> {
    /// How.
    pub plan: LabelsPlan,
    /// The output before the first rows.
    out: Option<Sink<'a>>,
    to: Option<To<'a>>,
    /// Rows without a label that are not written yet: in a .npy file its place says which row a label belongs to.
    gaps: usize,
}

impl LabelsWriter<'_> {
    /// Writes the next rows.
    pub fn put(&mut self, labelled: &LabelledRows<'_>, copied: &CopiedRows) -> io::Result<()> {
        if let Some(out) = self.out.take() {
            self.to = Some(match (&self.plan.copied, self.plan.format, out) {
                (Copied::Lines { lines, header }, _, out) => {
                    let mut out = out.into_write();
                    lines.header(&mut out, header, &labelled.added_cells())?;
                    To::Lines(out)
                }
                (_, format, out) => To::Table(format.writer(out)?),
            });
        }
        match (&self.plan.copied, copied, &mut self.to) {
            (Copied::Lines { lines, .. }, CopiedRows::Lines(text), Some(To::Lines(out))) => {
                lines.rows(out, text, &labelled.added_cells())
            }
            (Copied::Columns { columns, left_out }, CopiedRows::Columns(frame), Some(To::Table(table))) => {
                let mut columns = columns.columns(frame, *left_out).map_err(io::Error::other)?;
                columns.extend(labelled.added(frame.n()));
                table.write(&columns)
            }
            (Copied::Nothing, _, Some(To::Table(table))) if self.plan.format.format == Format::Npy => {
                write_places(table.as_mut(), &mut self.gaps, labelled)
            }
            (_, _, Some(To::Table(table))) => table.write(&labelled.with_rows()),
            _ => Ok(()),
        }
    }

    /// Completes the file.
    pub fn finish(self) -> io::Result<()> {
        match self.to {
            Some(To::Table(table)) => table.finish(),
            Some(To::Lines(mut out)) => out.flush(),
            None => Ok(()),
        }
    }
}

/// Writes labels by their places; rows without a label have cluster -1, up to the last one with a label.
fn write_places(
    table: &mut dyn TableWriter,
    gaps: &mut usize,
    labelled: &LabelledRows<'_>,
) -> io::Result<()> {
    let last = labelled.rows.map_or(labelled.n, |rows| rows.last().map_or(0, |row| row - labelled.before));
    let write = |table: &mut dyn TableWriter, mut columns: Vec<Column<'static>>| {
        if let Some(Column { cells: Cells::Integers(cells), .. }) = columns.first_mut() {
            cells.iter_mut().for_each(|cell| *cell = cell.or(Some(-1)));
        }
        table.write(&columns)
    };
    if last > 0 {
        let none =
            LabelledRows { labels: &[], confidence: labelled.confidence.map(|_| &[][..]), ..*labelled };
        while *gaps > 0 {
            let many = (*gaps).min(BATCH);
            write(table, none.added(many))?;
            *gaps -= many;
        }
        write(table, labelled.added(last))?;
    }
    *gaps += labelled.n - last;
    Ok(())
}

/// Labels of all rows of a table and their destination.
pub struct LabelsFile<'a> {
    /// The file; standard output when `None` or `-`.
    pub target: Option<&'a Path>,
    /// The table to copy, with `--append`.
    pub append_to: Option<&'a Input<'a>>,
    /// The labels.
    pub labelled: LabelledRows<'a>,
}

impl<'a> LabelsFile<'a> {
    /// Stages the file, or the first rows where standard output is a terminal and nobody asked for it by name.
    pub fn save(self, transaction: &mut Transaction<'a>) -> Result {
        if is_shown(self.target) {
            let mut rows = FirstRows::default();
            rows.put(&self.labelled);
            transaction.print(rows.text());
            return Ok(());
        }
        let plan = LabelsPlan::new(self.target, self.append_to)?;
        transaction.deliver(self.target, move |out| {
            let mut writer = plan.writer(out);
            let Some(input) = self.append_to else {
                writer.put(&self.labelled, &CopiedRows::Nothing)?;
                return writer.finish();
            };
            let mut batches = input.batches(BATCH).map_err(io::Error::other)?;
            while let Some(mut batch) = batches.next().transpose().map_err(io::Error::other)? {
                let part = self.labelled.part(batch.frame.before(), batch.frame.n());
                let copied = writer.plan.take(&batches, &mut batch).map_err(Failure::into_io)?;
                writer.put(&part, &copied)?;
            }
            writer.finish()
        })
    }
}

/// Whether a terminal shows the first rows in place of all.
pub fn is_shown(target: Option<&Path>) -> bool {
    target.is_none() && output::is_terminal()
}

/// What a terminal shows in place of all rows.
#[derive(Default)]
pub struct FirstRows {
    rows: Vec<Vec<String>>,
    n: usize,
}

impl FirstRows {
    /// Takes the next rows.
    pub fn put(&mut self, labelled: &LabelledRows<'_>) {
        if self.rows.is_empty() {
            let mut names = vec!["row".to_string(), CLUSTER.to_string()];
            names.extend(labelled.confidence.map(|_| CONFIDENCE.to_string()));
            self.rows.push(names);
        }
        for i in 0..labelled.labels.len().min(SHOWN.saturating_sub(self.n)) {
            let mut cells = vec![labelled.row(i).to_string(), labelled.labels[i].to_string()];
            cells.extend(labelled.confidence.map(|c| format!("{:.3}", c[i])));
            self.rows.push(cells);
        }
        self.n += labelled.labels.len();
    }

    /// The rows as text.
    pub fn text(&self) -> String {
        let mut text = output::columns(&self.rows);
        if self.n > SHOWN {
            text += &format!("{} more rows; -o FILE writes all, -o - prints them\n", self.n - SHOWN);
        }
        text + "\n"
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
