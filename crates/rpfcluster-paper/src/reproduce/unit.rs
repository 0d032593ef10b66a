//! One task on one prepared data set with one seed, and the file that holds its result. A file of another version, effort,
//! protocol or state of the sources is ignored, and the unit is run again.

use std::path::Path;
use std::time::Instant;

use crate::compare::{Answer, ComparedMethod, Experiment};
use rpfcluster::metrics::Scores;
use rpfcluster::observe::Observer;
use rpfcluster_data::Table;
use rpfcluster_data::catalog::Entry;
use serde::{Deserialize, Serialize};

use super::effort::Effort;
use super::origin::Origin;
use super::variants::{self, Variant};

/// What a unit computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Columns of the tables.
    Columns(Experiment),
    /// Numbers of trees and ways of cutting.
    Variants,
}

impl Task {
    /// The name in file names.
    pub fn name(self) -> &'static str {
        match self {
            Task::Columns(experiment) => experiment.name(),
            Task::Variants => "variants",
        }
    }

    /// The name in messages.
    pub fn title(self) -> &'static str {
        match self {
            Task::Columns(experiment) => experiment.title(),
            Task::Variants => "numbers of trees and cuts",
        }
    }
}

/// A run to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// The data set's short name.
    pub dataset: String,
    /// `raw`, `standardized` or `paper`.
    pub preparation: &'static str,
    /// What is computed.
    pub task: Task,
    /// The seed.
    pub seed: u64,
    /// Expected seconds on the reference machine.
    pub cost: f64,
}

/// The result of a unit, as its file holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The version of the program; a unit of another version is run again.
    pub version: String,
    /// `quick` or `full`.
    pub effort: String,
    /// Digest of the parameters and of the sources of the program; a unit of another protocol is run again.
    pub protocol: String,
    /// The data set's short name.
    pub dataset: String,
    /// `raw`, `standardized` or `paper`.
    pub preparation: String,
    /// What was computed.
    pub task: Task,
    /// The seed.
    pub seed: u64,
    /// Where and when it was computed.
    pub origin: Origin,
    /// The result of each method.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Column>,
    /// Numbers of trees and ways of cutting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// Seconds of wall-clock time, of all methods together.
    pub seconds: f64,
    /// Seconds of the computation by which the pace of machines is compared, before the run.
    pub probe: f64,
}

/// The result of one method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The method.
    pub method: ComparedMethod,
    /// Scores against the known classes.
    pub scores: Scores,
    /// Landmarks used or setting chosen; often empty.
    pub note: String,
}

/// A data set in memory, in one preparation.
pub(super) struct Prepared {
    pub set: &'static str,
    pub preparation: &'static str,
    data: Vec<f64>,
    d: usize,
    classes: Vec<u32>,
}

impl Prepared {
    pub fn new(set: &'static str, preparation: &'static str, table: Table) -> Self {
        let d = table.d();
        let classes = table.labels.map(|l| l.codes).unwrap_or_default();
        Prepared { set, preparation, data: table.values.to_f64().into_owned(), d, classes }
    }
}

impl Unit {
    /// The name of the file of its result.
    pub fn file_name(&self, effort: &Effort) -> String {
        let (set, how, seed) = (&self.dataset, self.preparation, self.seed);
        format!("{}-{set}-{how}-{}-{seed}.json", effort.name(), self.task.name())
    }

    /// Runs the unit in a thread pool of its own.
    pub(super) fn run(
        &self,
        entry: &Entry,
        table: &Prepared,
        effort: &Effort,
        origin: &Origin,
        probe: f64,
        observer: &dyn Observer,
    ) -> rpfcluster::Result<Run> {
        let comparison = effort.comparison(entry, self.seed);
        let (data, d, classes) = (&table.data, table.d, &table.classes);
        let clock = Instant::now();
        let (columns, variants, timed) =
            rpfcluster::thread_pool::in_pool(effort.threads, || match self.task {
                Task::Columns(experiment) => {
                    let answers = comparison.run(experiment, data, d, classes, observer)?;
                    let seconds = answers.first().map(|answer| answer.seconds);
                    Ok((answers.into_iter().map(Column::from).collect(), Vec::new(), seconds))
                }
                Task::Variants => {
                    Ok((Vec::new(), variants::run(&comparison, data, d, classes, observer)?, None))
                }
            })??;
        Ok(Run {
            version: env!("CARGO_PKG_VERSION").to_string(),
            effort: effort.name().to_string(),
            protocol: effort.protocol(entry, self),
            dataset: self.dataset.clone(),
            preparation: self.preparation.to_string(),
            task: self.task,
            seed: self.seed,
            origin: origin.clone(),
            columns,
            variants,
            seconds: timed.unwrap_or_else(|| clock.elapsed().as_secs_f64()),
            probe,
        })
    }

    /// The result in its file; `None` unless the file is complete and of this version, protocol and unit.
    pub(super) fn read(&self, folder: &Path, entry: &Entry, effort: &Effort) -> Option<Run> {
        let run: Run =
            serde_json::from_slice(&std::fs::read(folder.join(self.file_name(effort))).ok()?).ok()?;
        let same = run.version == env!("CARGO_PKG_VERSION")
            && run.effort == effort.name()
            && run.protocol == effort.protocol(entry, self)
            && run.dataset == self.dataset
            && run.preparation == self.preparation
            && run.task == self.task
            && run.seed == self.seed;
        same.then_some(run)
    }
}

impl From<Answer> for Column {
    fn from(answer: Answer) -> Self {
        Column { method: answer.method, scores: answer.scores, note: answer.note }
    }
}
