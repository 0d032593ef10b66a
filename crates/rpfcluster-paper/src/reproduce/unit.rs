//! One run of one method on one prepared data set with one seed, and the file that remembers it.

use std::path::Path;

use crate::compare::Method;
use rpfcluster::metrics::Scores;
use rpfcluster::observe::Observer;
use rpfcluster_data::Table;
use rpfcluster_data::catalog::Entry;
use serde::{Deserialize, Serialize};

use super::effort::Effort;

/// What is to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// The data set's short name.
    pub dataset: String,
    /// `raw`, `standardized` or `paper`.
    pub preparation: &'static str,
    /// Which method.
    pub method: Method,
    /// The seed.
    pub seed: u64,
    /// Very roughly, seconds.
    pub cost: f64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The program's version; another version runs again.
    pub version: String,
    /// `quick` or `full`.
    pub effort: String,
    /// Digest of everything the method was told; a unit run under another protocol runs again.
    pub protocol: String,
    /// The data set's short name.
    pub dataset: String,
    /// `raw`, `standardized` or `paper`.
    pub preparation: String,
    /// Which method.
    pub method: Method,
    /// The seed.
    pub seed: u64,
    /// Against the known classes.
    pub scores: Scores,
    /// How long it took.
    pub seconds: f64,
    /// Landmarks used, setting chosen.
    pub note: String,
}

/// A data set in memory, as all methods want it.
pub(crate) struct Prepared {
    data: Vec<f64>,
    d: usize,
    classes: Vec<u32>,
}

impl From<Table> for Prepared {
    fn from(table: Table) -> Self {
        let d = table.d();
        let classes = table.labels.map(|l| l.codes).unwrap_or_default();
        Prepared { data: table.values.to_f64().into_owned(), d, classes }
    }
}

impl Unit {
    /// The file that remembers it.
    pub fn file_name(&self, effort: &Effort) -> String {
        let (set, how, seed) = (&self.dataset, self.preparation, self.seed);
        format!("{}-{set}-{how}-{}-{seed}.json", effort.name(), self.method.name())
    }

    /// Runs it in a pool of its own.
    pub(crate) fn run(
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

/// A finished run, when the file is there, whole, and of this version, protocol and unit.
pub(crate) fn read(path: &Path, unit: &Unit, effort: &Effort, protocol: &str) -> Option<Run> {
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
