//! `rpf predict`: labels new rows by a saved clustering, writes the labels and scores them where classes are known. The rows are
//! read, labelled and written batch by batch, so that a table of any length takes the memory of a batch.

use std::collections::HashMap;

use rpfcluster::Fitted;
use rpfcluster::metrics::{Contingency, Scores, cluster_sizes};
use rpfcluster_data::{Batch, Batches, Preparation, Selection, Table};
use serde_json::json;

use crate::args::{DataArgs, PredictArgs};
use crate::exit::{Failure, Result};
use crate::files::command_line::quoted;
use crate::files::labels::{FirstRows, LabelledRows, LabelsPlan, LabelsWriter, is_shown};
use crate::files::model;
use crate::files::table::TableFormat;
use crate::load::Input;
use crate::session::progress::RowCount;
use crate::session::{ProblemSize, Session};
use crate::transaction::Transaction;
use crate::{library, load, output, output_paths, summary};

/// Rows labelled at a time, or as many as the training rows where these are more: a batch costs a pass over the training rows.
/// The leaf ids of a batch take 4 bytes per row and tree.
const BATCH: usize = 1 << 16;

/// Loads the model, labels the rows and writes the labels.
pub fn run(args: &PredictArgs) -> Result {
    let model = quoted(&args.model.to_string_lossy());
    label(args).map_err(|failure| failure.piped_into(&format!("rpf predict {model} -")))
}

fn label(args: &PredictArgs) -> Result {
    let session = Session::new(&args.run);
    let format = TableFormat::of(args.output.as_deref())?;
    output_paths::check(
        &[("MODEL", Some(&args.model)), ("DATA", Some(&args.data)), ("--config", args.run.config.as_deref())],
        &[(output_paths::OUTPUT, args.output.as_deref())],
    )?;
    session.on_threads(|| {
        let loaded = session.clock.time("model", || model::load(&args.model, session.memory_limit()))?;
        let (fitted, meta) = loaded.into_clustering(&args.model)?;
        let data = DataArgs {
            data: args.data.clone(),
            label: args.label.clone(),
            drop: args.drop.clone(),
            columns: args.columns.clone(),
            read: args.read.clone(),
            ..DataArgs::default()
        };
        // The types of all columns come before the first row of such files, so that the table is read twice.
        let input = match args.append && format.format != rpfcluster_data::Format::Text {
            true => Input::to_append_to(&session, &data)?,
            false => load::input(&session, &data),
        };
        let to_file = args.output.as_ref().filter(|path| !output::is_standard(path));
        let mut transaction = Transaction::default();
        let mut run = Labelling::new(&session, &fitted, &meta.preparation, &data, args.confidence);
        if args.json && to_file.is_none() {
            run.all(&input, |_| {})?;
        } else if is_shown(args.output.as_deref()) {
            let mut rows = FirstRows::default();
            run.all(&input, |labelled| rows.put(labelled))?;
            transaction.print(rows.text());
        } else {
            let plan = LabelsPlan::new(args.output.as_deref(), args.append.then_some(&input))?;
            transaction.stream(args.output.as_deref(), |out| run.write(&input, plan.writer(out)))?;
        }
        let hints: Vec<String> = run.far_hint().into_iter().collect();
        run.notes();
        hints.iter().for_each(|sentence| session.note(sentence));
        let scores = run.scores()?;
        if args.json {
            let params = fitted.forest().params();
            let size = ProblemSize { n: run.labelled, d: run.preparation.table_columns().len(), k: None };
            let mut object = session.head("predict", size, params.seed, json!(params));
            object.insert("k".into(), fitted.k().into());
            object.insert("hints".into(), json!(hints));
            object.insert("cluster_sizes".into(), json!(run.sizes));
            if let Some(scores) = scores {
                object.insert("scores".into(), json!(scores));
            }
            transaction.print_json(session.finished(object));
            return transaction.commit();
        }
        transaction.commit()?;
        if let Some(s) = scores {
            session.note(&summary::scores_in_words(&s));
        }
        if let Some(path) = to_file {
            session.note(&format!("wrote {}: labels of {} rows", path.display(), run.labelled));
        }
        Ok(())
    })
}

/// The labels of a batch.
struct Labelled {
    before: usize,
    n: usize,
    rows: Option<Vec<usize>>,
    labels: Vec<u32>,
    confidence: Option<Vec<f64>>,
}

impl Labelled {
    fn rows(&self) -> LabelledRows<'_> {
        LabelledRows {
            before: self.before,
            n: self.n,
            rows: self.rows.as_deref(),
            labels: &self.labels,
            confidence: self.confidence.as_deref(),
        }
    }
}

/// The labelling of a table, and what is said about all of its rows.
struct Labelling<'a> {
    session: &'a Session,
    fitted: &'a Fitted,
    preparation: &'a Preparation,
    selection: Selection,
    confidence: bool,
    source: String,
    unknown: Vec<String>,
    /// Rows read and rows labelled.
    read: usize,
    labelled: usize,
    sizes: Vec<usize>,
    /// Rows far outside those of the model, and the first of them.
    far: usize,
    first_far: usize,
    classes: Option<Classes>,
}

impl<'a> Labelling<'a> {
    fn new(
        session: &'a Session,
        fitted: &'a Fitted,
        preparation: &'a Preparation,
        data: &DataArgs,
        confidence: bool,
    ) -> Self {
        Labelling {
            session,
            fitted,
            preparation,
            selection: load::selection(data),
            confidence,
            source: String::new(),
            unknown: Vec::new(),
            read: 0,
            labelled: 0,
            sizes: vec![0; fitted.k()],
            far: 0,
            first_far: 0,
            classes: None,
        }
    }

    /// Labels all rows and passes them on.
    fn all(&mut self, input: &Input<'_>, mut put: impl FnMut(&LabelledRows<'_>)) -> Result {
        let (mut batches, mut count) = (self.open(input)?, self.session.row_count());
        while let Some(((), labelled)) = self.next(&mut batches, &mut count, |_, _| Ok(()))? {
            put(&labelled.rows());
        }
        Ok(())
    }

    /// Labels all rows and writes them; the inner result is that of the writing.
    fn write(&mut self, input: &Input<'_>, mut writer: LabelsWriter<'_>) -> Result<std::io::Result<()>> {
        let (mut batches, mut count) = (self.open(input)?, self.session.row_count());
        while let Some((copied, labelled)) =
            self.next(&mut batches, &mut count, |batches, batch| writer.plan.take(batches, batch))?
        {
            let written = self.session.clock.time("write", || writer.put(&labelled.rows(), &copied));
            if written.is_err() {
                return Ok(written);
            }
        }
        Ok(self.session.clock.time("write", || writer.finish()))
    }

    fn open(&self, input: &Input<'_>) -> Result<Batches> {
        Ok(self.session.clock.time("read", || input.batches(BATCH.max(self.fitted.n())))?)
    }

    /// The labels of the next batch; `take` takes what else is needed of it.
    fn next<T>(
        &mut self,
        batches: &mut Batches,
        count: &mut RowCount,
        mut take: impl FnMut(&Batches, &mut Batch) -> Result<T>,
    ) -> Result<Option<(T, Labelled)>> {
        let clock = &self.session.clock;
        let Some(mut batch) = clock.time("read", || batches.next()).transpose()? else {
            self.source = batches.source().to_string();
            if self.labelled == 0 {
                let problem = "every row has a missing value; no row is left";
                return Err(Failure::data(format!("{}: {problem}", self.source)));
            }
            return Ok(None);
        };
        let taken = take(batches, &mut batch)?;
        let (before, n) = (batch.frame.before(), batch.frame.n());
        let (mut table, unknown) =
            clock.time("read", || self.preparation.apply_to_batch(batch.frame, &self.selection))?;
        if before == 0 {
            self.unknown = unknown;
        }
        let (mut labels, mut confidence) = (Vec::new(), self.confidence.then(Vec::new));
        if table.n > 0 {
            (labels, confidence) =
                library::predict(self.session, self.fitted, &table, self.confidence, &*count)?;
            self.note(&table, &labels)?;
        }
        self.read += n;
        count.advance(n)?;
        Ok(Some((taken, Labelled { before, n, rows: table.rows.take(), labels, confidence })))
    }

    /// Counts what is said about all rows.
    fn note(&mut self, table: &Table, labels: &[u32]) -> Result {
        let far = library::far_rows(self.fitted, table)?;
        if let (0, Some(first)) = (self.far, far.first()) {
            self.first_far = table.input_row(*first);
        }
        self.far += far.len();
        self.labelled += labels.len();
        let sizes = cluster_sizes(labels, self.sizes.len());
        self.sizes.iter_mut().zip(sizes).for_each(|(sum, size)| *sum += size);
        if let Some(classes) = &table.labels {
            let names = classes.codes.iter().map(|code| classes.names[*code as usize].as_str());
            self.classes.get_or_insert_default().add(labels, names);
        }
        Ok(())
    }

    /// Notes columns that were ignored and rows that were left out.
    fn notes(&self) {
        load::note_unknown(self.session, &self.source, &self.unknown);
        let d = self.preparation.table_columns().len();
        load::note_size(self.session, &self.source, self.read, self.labelled, d);
    }

    /// Names rows whose labels are extrapolations.
    fn far_hint(&self) -> Option<String> {
        let (many, first) = (self.far, self.first_far);
        let (rows, lie) = if many == 1 { ("row", "lies") } else { ("rows", "lie") };
        (many > 0).then(|| {
            format!(
                "hint: {many} {rows} {lie} far outside the rows of the model (the first is row {first}); the cluster is a \
                 guess there"
            )
        })
    }

    fn scores(&self) -> Result<Option<Scores>> {
        self.classes.as_ref().map(Classes::scores).transpose()
    }
}

/// How often each cluster and each class meet.
#[derive(Default)]
struct Classes {
    /// The numbers of clusters and classes, by first appearance.
    clusters: HashMap<u32, usize>,
    classes: HashMap<String, usize>,
    counts: HashMap<(usize, usize), u64>,
}

impl Classes {
    fn add<'n>(&mut self, labels: &[u32], names: impl Iterator<Item = &'n str>) {
        for (label, name) in labels.iter().zip(names) {
            let next = self.clusters.len();
            let cluster = *self.clusters.entry(*label).or_insert(next);
            let class = match self.classes.get(name) {
                Some(class) => *class,
                None => {
                    let next = self.classes.len();
                    self.classes.insert(name.to_string(), next);
                    next
                }
            };
            *self.counts.entry((cluster, class)).or_default() += 1;
        }
    }

    fn scores(&self) -> Result<Scores> {
        let width = self.classes.len();
        let mut counts = vec![0; self.clusters.len() * width];
        self.counts.iter().for_each(|((cluster, class), count)| counts[cluster * width + class] = *count);
        Ok(Scores::of(&Contingency::from_counts(&counts, width)?)?)
    }
}
