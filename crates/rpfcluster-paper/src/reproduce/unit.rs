//! One experiment on one prepared data set with one seed, and the file that holds its result. A file of another version,
//! effort, protocol or state of the sources is ignored, and the unit is run again.

use std::path::Path;

use crate::compare::{ComparedMethod, Experiment};
use rpfcluster::metrics::Scores;
use rpfcluster::observe::Observer;
use rpfcluster_data::Table;
use rpfcluster_data::catalog::Entry;
use serde::{Deserialize, Serialize};

use super::effort::Effort;

/// A run to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// The data set's short name.
    pub dataset: String,
    /// `raw`, `standardized` or `paper`.
    pub preparation: &'static str,
    /// What is computed.
    pub experiment: Experiment,
    /// The seed.
    pub seed: u64,
    /// Expected seconds, a rough estimate.
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
    pub experiment: Experiment,
    /// The seed.
    pub seed: u64,
    /// The result of each of its methods.
    pub columns: Vec<Column>,
    /// Seconds of wall-clock time, of all methods together.
    pub seconds: f64,
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
    pub preparation: &'static str,
    data: Vec<f64>,
    d: usize,
    classes: Vec<u32>,
}

impl Prepared {
    pub fn new(preparation: &'static str, table: Table) -> Self {
        let d = table.d();
        let classes = table.labels.map(|l| l.codes).unwrap_or_default();
        Prepared { preparation, data: table.values.to_f64().into_owned(), d, classes }
    }
}

impl Unit {
    /// The name of the file of its result.
    pub fn file_name(&self, effort: &Effort) -> String {
        let (set, how, seed) = (&self.dataset, self.preparation, self.seed);
        format!("{}-{set}-{how}-{}-{seed}.json", effort.name(), self.experiment.name())
    }

    /// Runs the unit in a thread pool of its own.
    pub(super) fn run(
        &self,
        entry: &Entry,
        table: &Prepared,
        effort: &Effort,
        protocol: &str,
        observer: &dyn Observer,
    ) -> rpfcluster::Result<Run> {
        let comparison = effort.comparison(entry, self.seed);
        let answers = rpfcluster::thread_pool::in_pool(effort.threads, || {
            comparison.run(self.experiment, &table.data, table.d, &table.classes, observer)
        })??;
        Ok(Run {
            version: env!("CARGO_PKG_VERSION").to_string(),
            effort: effort.name().to_string(),
            protocol: protocol.to_string(),
            dataset: self.dataset.clone(),
            preparation: self.preparation.to_string(),
            experiment: self.experiment,
            seed: self.seed,
            seconds: answers.first().map_or(0.0, |answer| answer.seconds),
            columns: answers
                .into_iter()
                .map(|answer| Column { method: answer.method, scores: answer.scores, note: answer.note })
                .collect(),
        })
    }
}

/// The result of a finished unit; `None` unless the file is complete and of this version, protocol and unit.
pub(super) fn read(path: &Path, unit: &Unit, effort: &Effort, protocol: &str) -> Option<Run> {
    let run: Run = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let same = run.version == env!("CARGO_PKG_VERSION")
        && run.effort == effort.name()
        && run.protocol == protocol
        && run.dataset == unit.dataset
        && run.preparation == unit.preparation
        && run.experiment == unit.experiment
        && run.seed == unit.seed;
    same.then_some(run)
}
