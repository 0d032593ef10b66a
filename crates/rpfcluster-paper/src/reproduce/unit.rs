//! One run of one method on one prepared data set with one seed, and the file that holds its result. A file of another
//! version, effort or protocol is ignored, and the unit is run again.

use std::path::Path;

use crate::compare::ComparedMethod;
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
    /// The method.
    pub method: ComparedMethod,
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
    /// Digest of the method's parameters; a unit of another protocol is run again.
    pub protocol: String,
    /// The data set's short name.
    pub dataset: String,
    /// `raw`, `standardized` or `paper`.
    pub preparation: String,
    /// The method.
    pub method: ComparedMethod,
    /// The seed.
    pub seed: u64,
    /// Scores against the known classes.
    pub scores: Scores,
    /// Seconds of wall-clock time.
    pub seconds: f64,
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
        format!("{}-{set}-{how}-{}-{seed}.json", effort.name(), self.method.name())
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
        let answer = rpfcluster::thread_pool::in_pool(effort.threads, || {
            comparison.run(self.method, &table.data, table.d, &table.classes, observer)
        })??;
        Ok(Run {
            version: env!("CARGO_PKG_VERSION").to_string(),
            effort: effort.name().to_string(),
            protocol: protocol.to_string(),
            dataset: self.dataset.clone(),
            preparation: self.preparation.to_string(),
            method: self.method,
            seed: self.seed,
            scores: answer.scores,
            seconds: answer.seconds,
            note: answer.note,
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
        && run.method == unit.method
        && run.seed == unit.seed;
    same.then_some(run)
}
