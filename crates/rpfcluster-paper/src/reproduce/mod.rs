//! The paper's section 5, run again: eleven public data sets and Iris, five methods, tables, figures, a report.
//!
//! Work is cut into units (data set, preparation, method, seed), each written to the output folder as soon as it is
//! done: an interrupted run goes on where it stopped, and one set that fails loses nothing else. Everything shown is
//! made from the units at the end. `effort` what each method is told, `unit` one run, `pace` the time left, `results` means and spreads,
//! `tables` CSV, `charts` the bars, `illustrate` the two small examples, `report` the page, `markdown` the
//! comparison with what the paper states.

mod charts;
mod effort;
mod illustrations;
mod markdown;
mod pace;
mod report;
mod results;
mod tables;
mod unit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::compare::Method;
use rpfcluster::observe::Observer;
use rpfcluster_data::catalog::{Entry, Scaling, entries, find};
use rpfcluster_data::write::to_file;
use rpfcluster_report::figures::bars;

use pace::Pace;

pub use charts::{Metric, chart, colour};
pub use effort::Effort;
pub use illustrations::{Illustrations, IrisExample, NinePoints, nine_points};
pub use markdown::paper_results;
pub use results::{Cell, DataSet, Results, Statistic};
pub use unit::{Run, Unit};

/// What can go wrong with a whole reproduction; a single set's trouble is in [`Results::failed`] instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output folder or a file in it.
    #[error("{path}: {problem}")]
    File {
        /// Which.
        path: String,
        /// The system's words.
        problem: String,
    },
    /// A data set that is not known, or a file that cannot be written.
    #[error(transparent)]
    Data(#[from] rpfcluster_data::DataError),
    /// From the library (cancellation among them).
    #[error(transparent)]
    Library(#[from] rpfcluster::Error),
    /// A figure could not be made.
    #[error(transparent)]
    Figure(#[from] rpfcluster_report::Error),
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Where a run stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<'a> {
    /// What is being worked on.
    pub stage: &'a str,
    /// Units done.
    pub done: usize,
    /// Units in all.
    pub total: usize,
    /// Seconds left, guessed from the units done; `None` at first.
    pub seconds_left: Option<f64>,
}

/// What a run tells its caller.
pub trait Progress: Observer {
    /// Before each unit and at the end.
    fn step(&self, step: &Step<'_>) {
        let _ = step;
    }
}

impl Progress for rpfcluster::Silent {}

/// A reproduction of the paper's experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct Reproduction {
    /// The folder of the data sets.
    pub data: PathBuf,
    /// The folder results go to; made when it is not there.
    pub out: PathBuf,
    /// A coarse run of minutes instead of the paper's whole search.
    pub quick: bool,
    /// Only these data sets, by name; empty means all.
    pub only: Vec<String>,
    /// Seeds 0, 1, …; `None`: 5; in a quick run 3, and 1 on sets of more than 1,000 rows.
    pub seeds: Option<usize>,
    /// Threads; `None` is one per core.
    pub threads: Option<usize>,
}

impl Default for Reproduction {
    fn default() -> Self {
        Reproduction {
            data: PathBuf::from("data"),
            out: PathBuf::from("reproduction"),
            quick: false,
            only: Vec::new(),
            seeds: None,
            threads: None,
        }
    }
}

impl Reproduction {
    /// The data sets asked for, in the paper's order.
    pub fn sets(&self) -> Result<Vec<&'static Entry>> {
        if self.only.is_empty() {
            return Ok(entries().iter().filter(|e| e.paper_min_node.is_some()).collect());
        }
        let wanted: Vec<&Entry> =
            self.only.iter().map(|name| find(name)).collect::<rpfcluster_data::Result<_>>()?;
        Ok(entries().iter().filter(|e| wanted.iter().any(|w| w.name == e.name)).collect())
    }

    fn effort(&self) -> Effort {
        let mut effort = if self.quick { Effort::quick() } else { Effort::full() };
        if let Some(seeds) = self.seeds {
            effort.seeds = seeds.max(1);
            effort.large_seeds = effort.seeds;
        }
        effort.threads = self.threads;
        effort
    }

    /// Runs what is not yet done, writes everything, and returns the results.
    pub fn run(&self, progress: &dyn Progress) -> Result<Results> {
        let sets = self.sets()?;
        let effort = self.effort();
        let folder = self.out.join("units");
        std::fs::create_dir_all(&folder).map_err(|e| failed(&folder, &e))?;
        let planned: Vec<Unit> = sets.iter().flat_map(|e| effort.units(e)).collect();
        let mut clock = Pace::new(planned);
        let mut results = Results::new(&effort);
        for entry in sets {
            let mut tables = BTreeMap::new();
            let mut trouble: Option<String> = None;
            for unit in effort.units(entry) {
                rpfcluster::observe::check(progress)?;
                let name = format!(
                    "{}, {}, {}, seed {}",
                    entry.title,
                    unit.method.title(),
                    unit.preparation,
                    unit.seed
                );
                progress.step(&clock.step(&name));
                let path = folder.join(unit.file_name(&effort));
                let protocol = effort.protocol(entry, &unit);
                let run = match (unit::read(&path, &unit, &effort, &protocol), &trouble) {
                    (Some(done), _) => Ok(done),
                    (None, Some(problem)) => Err(problem.clone()),
                    (None, None) => match self.table(entry, &unit, &mut tables) {
                        Err(problem) => {
                            trouble = Some(problem.clone());
                            Err(problem)
                        }
                        Ok(table) => match unit.run(entry, table, &effort, &protocol, progress) {
                            Ok(run) => {
                                write_json(&path, &run)?;
                                Ok(run)
                            }
                            Err(rpfcluster::Error::Cancelled) => {
                                return Err(rpfcluster::Error::Cancelled.into());
                            }
                            Err(problem) => Err(format!("{}: {problem}", unit.method.title())),
                        },
                    },
                };
                clock.done(run.as_ref().ok().map(|run| run.seconds));
                match run {
                    Ok(run) => results.add(entry, &run, effort.bandwidths(entry.n).len()),
                    Err(problem) => results.fail(entry, &problem),
                }
            }
        }
        results.finish();
        progress.step(&clock.step("writing tables, figures and the report"));
        self.write(&results)?;
        Ok(results)
    }

    /// The prepared table of a unit, read once for all units that share it.
    fn table<'t>(
        &self,
        entry: &Entry,
        unit: &Unit,
        tables: &'t mut BTreeMap<&'static str, unit::Prepared>,
    ) -> std::result::Result<&'t unit::Prepared, String> {
        if !tables.contains_key(unit.preparation) {
            let scaling =
                Scaling::ALL.iter().find(|(name, _)| *name == unit.preparation).map_or(Scaling::Raw, |s| s.1);
            let table = entry.load(&self.data, scaling).map_err(|e| e.to_string())?;
            // One preparation at a time is enough in memory.
            tables.clear();
            tables.insert(unit.preparation, unit::Prepared::from(table));
        }
        tables.get(unit.preparation).ok_or_else(|| "the table was not read".to_string())
    }

    /// Everything that is made from the results.
    fn write(&self, results: &Results) -> Result<()> {
        let illustrations = Illustrations::make()?;
        write_json(&self.out.join("results.json"), results)?;
        for (name, text) in tables::all(results) {
            write_text(&self.out.join(name), &text)?;
        }
        let mut figures = vec![
            ("rho_c.svg", bars(&chart(results, Metric::RhoC))),
            ("rho_r.svg", bars(&chart(results, Metric::RhoR))),
        ];
        figures.extend(illustrations.figures());
        for (name, text) in &figures {
            write_text(&self.out.join(name), text)?;
        }
        write_json(&self.out.join("examples.json"), &illustrations)?;
        write_text(&self.out.join("paper-results.md"), &paper_results(results, Some(&illustrations)))?;
        write_text(&self.out.join("report.html"), &report::page(results, &illustrations, &figures))
    }
}

fn failed(path: &Path, problem: &std::io::Error) -> Error {
    Error::File { path: path.display().to_string(), problem: problem.to_string() }
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    Ok(to_file(path, |out| std::io::Write::write_all(out, text.as_bytes()))?)
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|e| Error::File { path: path.display().to_string(), problem: e.to_string() })?;
    text.push('\n');
    write_text(path, &text)
}

/// The methods in the order of the tables.
pub const METHODS: [Method; 5] = Method::ALL;
