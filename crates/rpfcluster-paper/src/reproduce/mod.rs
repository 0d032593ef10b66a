//! The paper's section 5, repeated: eleven public data sets and Iris, seven columns, tables, figures, a report.
//!
//! A run consists of units: one data set, preparation, task and seed. Each unit is written to the output folder as
//! soon as it is done, so an interrupted run resumes where it stopped, and a data set that fails does not affect the
//! others. All tables, figures and sentences are made from the units at the end.
//!
//! | file | contents |
//! |---|---|
//! | `effort` | the parameters of every method, full or quick |
//! | `unit`, `origin` | one run and its file; commit, machine and date |
//! | `pace` | the estimate of the time, before a run and during it |
//! | `results` | means and standard deviations, `results.json` |
//! | `variants`, `bounds` | numbers of trees and ways of cutting; the bounds of section 3 by Monte Carlo |
//! | `illustrations`, `contrast` | the paper's two small examples; two kernels compared by number |
//! | `statements`, `ranks` | the statements of the paper, each with a verdict computed from the results |
//! | `sentences` | the summary and the sentences of both pages |
//! | `tables`, `charts` | CSV tables, bar charts |
//! | `report`, `markdown` | `report.html`, `paper-results.md` |

mod bounds;
mod charts;
mod contrast;
mod effort;
mod illustrations;
mod markdown;
mod origin;
mod pace;
mod ranks;
mod report;
mod results;
mod sentences;
mod statements;
mod tables;
mod unit;
mod variants;

use std::io::Write;
use std::path::{Path, PathBuf};

use rpfcluster::atomic_file::{self, Staged, Target};
use rpfcluster::observe::Observer;
use rpfcluster_data::catalog::{Entry, Scaling, entries, find};
use rpfcluster_report::figures::bars;

use effort::Effort;
use origin::Origin;
use pace::Pace;

pub use bounds::Bounds;
pub use charts::{Metric, chart};
pub use contrast::Contrast;
pub use illustrations::{Illustrations, IrisExample, NinePoints, ScoreRange, nine_points};
pub use markdown::paper_results;
pub use origin::Share;
pub use results::{DataSet, MethodResult, Place, Results, Statistic, Used, VariantResult};
pub use statements::{Outcome, Statement, statements};

/// An error that ends the whole reproduction. The failure of one data set is in [`Results::failed`] instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output folder, or a file in it, cannot be written.
    #[error("{path}: {problem}")]
    File {
        /// The folder or file.
        path: String,
        /// The message of the operating system.
        problem: String,
    },
    /// [`RunObserver::save`] failed; the sentence says why.
    #[error("{0}")]
    Output(String),
    /// An unknown data set.
    #[error(transparent)]
    Data(#[from] rpfcluster_data::DataError),
    /// An error of the library, cancellation included.
    #[error(transparent)]
    Library(#[from] rpfcluster::Error),
    /// A figure cannot be drawn.
    #[error(transparent)]
    Figure(#[from] rpfcluster_report::Error),
}

/// The result type of this module.
pub type Result<T> = std::result::Result<T, Error>;

/// The state of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<'a> {
    /// The current unit.
    pub stage: &'a str,
    /// Units done.
    pub done: usize,
    /// Units in all.
    pub total: usize,
    /// Estimated seconds left.
    pub seconds_left: f64,
}

/// The expected time of a run, before it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Units in all.
    pub units: usize,
    /// Units of an earlier run that are reused.
    pub finished: usize,
    /// Expected seconds of the others on this machine.
    pub seconds: f64,
    /// Expected seconds of each data set with units left, by short name, the longest first.
    pub sets: Vec<(String, f64)>,
}

/// An observer that also receives the state of the run and its files.
pub trait RunObserver: Observer {
    /// Called once before the first unit.
    fn plan(&self, plan: &Plan) {
        let _ = plan;
    }

    /// Called before each unit and at the end.
    fn step(&self, step: &Step<'_>) {
        let _ = step;
    }

    /// Writes files that belong together: the result of a unit, or all tables, figures and pages. The default replaces
    /// all of them or, after an error, none.
    fn save(&self, files: &[(PathBuf, Vec<u8>)]) -> Result<()> {
        let mut staged = Vec::with_capacity(files.len());
        for (path, bytes) in files {
            let stage = || match atomic_file::target(path)? {
                Target::Stream(path) => {
                    atomic_file::write_stream(&path, |out| out.write_all(bytes)).map(|()| None)
                }
                Target::File(target) => {
                    let mut file = Staged::create(&target)?;
                    file.write(|out| out.write_all(bytes)).map(|()| Some(file))
                }
            };
            staged.extend(stage().map_err(|e| failed(path, &e))?);
        }
        atomic_file::commit(staged).map_err(|(path, e)| failed(&path, &e))
    }
}

impl RunObserver for rpfcluster::Silent {}

/// A reproduction of the paper's experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct Reproduction {
    /// The folder of the data sets.
    pub data: PathBuf,
    /// The folder for results; created when missing.
    pub out: PathBuf,
    /// A coarse search of minutes instead of the paper's.
    pub quick: bool,
    /// Names of the data sets; empty means all.
    pub only: Vec<String>,
    /// The number of seeds, 0, 1, …. `None` means 5; in a quick run 3, and 1 on data sets of more than 1,000 rows.
    pub seeds: Option<usize>,
    /// The number of threads; `None` means one per core.
    pub threads: Option<usize>,
    /// The commit of the sources, for the pages and the stored results.
    pub commit: Option<String>,
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
            commit: None,
        }
    }
}

impl Reproduction {
    /// The selected data sets, in the paper's order.
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

    /// Runs the units without a file, writes all tables and figures, and returns the results.
    pub fn run(&self, progress: &dyn RunObserver) -> Result<Results> {
        let sets = self.sets()?;
        let effort = self.effort();
        let folder = self.out.join("units");
        std::fs::create_dir_all(&folder).map_err(|e| failed(&folder, &e))?;
        let mut stored = Vec::new();
        let mut planned = Vec::new();
        for entry in sets {
            for unit in effort.units(entry) {
                let run = unit.read(&folder, entry, &effort);
                if run.is_none() {
                    planned.push(unit.clone());
                }
                stored.push((entry, unit, run));
            }
        }
        let finished = stored.len() - planned.len();
        let probe = if planned.is_empty() { 0.0 } else { pace::probe(self.threads)? };
        let mut clock = Pace::new(planned, probe);
        stored.iter().filter_map(|(_, unit, run)| Some((unit, run.as_ref()?))).for_each(|(unit, run)| {
            clock.known(unit, run.seconds);
        });
        progress.plan(&clock.plan(finished));
        let origin = Origin::here(self.commit.as_deref());
        let mut results = Results::new(&effort);
        let mut table = None;
        let mut unreadable: Option<(&str, String)> = None;
        for (entry, unit, run) in stored {
            rpfcluster::observe::check(progress)?;
            if let Some(run) = run {
                results.add(entry, &run, &effort);
                continue;
            }
            let name =
                format!("{}, {}, {}, seed {}", entry.title, unit.task.title(), unit.preparation, unit.seed);
            progress.step(&clock.step(&name, finished));
            let run = match &unreadable {
                Some((set, problem)) if *set == entry.name => Err(problem.clone()),
                _ => match self.prepared(entry, unit.preparation, &mut table) {
                    Err(problem) => {
                        unreadable = Some((entry.name, problem.clone()));
                        Err(problem)
                    }
                    Ok(table) => match unit.run(entry, table, &effort, &origin, probe, progress) {
                        Ok(run) => {
                            let path = folder.join(unit.file_name(&effort));
                            progress.save(&[(path.clone(), json(&path, &run)?)])?;
                            Ok(run)
                        }
                        Err(rpfcluster::Error::Cancelled) => return Err(rpfcluster::Error::Cancelled.into()),
                        Err(problem) => Err(format!("{}: {problem}", unit.task.title())),
                    },
                },
            };
            clock.done(run.as_ref().ok().map(|run| run.seconds));
            match run {
                Ok(run) => results.add(entry, &run, &effort),
                Err(problem) => results.fail(entry, &problem),
            }
        }
        results.finish();
        progress.step(&clock.step("writing tables, figures and the report", finished));
        progress.save(&self.files(&results)?)?;
        Ok(results)
    }

    /// The data set in one preparation. `last` keeps it for the next units, one preparation at a time.
    fn prepared<'t>(
        &self,
        entry: &'static Entry,
        preparation: &'static str,
        last: &'t mut Option<unit::Prepared>,
    ) -> std::result::Result<&'t unit::Prepared, String> {
        let same = |table: &unit::Prepared| (table.set, table.preparation) == (entry.name, preparation);
        let table = match last.take().filter(same) {
            Some(table) => table,
            None => {
                let named = Scaling::ALL.iter().find(|(name, _)| *name == preparation);
                let scaling = named.map_or(Scaling::Raw, |(_, scaling)| *scaling);
                let table = entry.load(&self.data, scaling).map_err(|e| e.to_string())?;
                unit::Prepared::new(entry.name, preparation, table)
            }
        };
        Ok(last.insert(table))
    }

    /// Everything that is made from the results.
    fn files(&self, results: &Results) -> Result<Vec<(PathBuf, Vec<u8>)>> {
        let illustrations = Illustrations::make(self.quick)?;
        let mut figures = vec![
            ("rho_c.svg", bars(&chart(results, Metric::RhoC))),
            ("rho_r.svg", bars(&chart(results, Metric::RhoR))),
        ];
        figures.extend(illustrations.figures());
        let pages = [
            ("paper-results.md", paper_results(results, Some(&illustrations))),
            ("report.html", report::page(results, &illustrations, &figures)),
        ];
        let mut files = Vec::new();
        for (name, bytes) in [
            ("results.json", json(Path::new("results.json"), results)?),
            ("examples.json", json(Path::new("examples.json"), &illustrations)?),
            ("statements.json", json(Path::new("statements.json"), &statements(results, &illustrations))?),
        ] {
            files.push((self.out.join(name), bytes));
        }
        for (name, text) in tables::all(results) {
            files.push((self.out.join(name), text.into_bytes()));
        }
        for (name, text) in figures.into_iter().chain(pages) {
            files.push((self.out.join(name), text.into_bytes()));
        }
        Ok(files)
    }
}

fn failed(path: &Path, problem: &std::io::Error) -> Error {
    Error::File { path: path.display().to_string(), problem: problem.to_string() }
}

fn json(path: &Path, value: &impl serde::Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)
        .map_err(|e| Error::File { path: path.display().to_string(), problem: e.to_string() })?;
    text.push(b'\n');
    Ok(text)
}
