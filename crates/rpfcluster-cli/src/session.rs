//! What every command carries through its run: how much it says, whom it asks to stop, where the time went, how many
//! threads and how much memory it may use.

use rpfcluster::{ForestParams, thread_pool};
use serde_json::{Map, Value, json};

use crate::args::RunArgs;
use crate::clock::{Clock, available_bytes, peak_bytes};
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::progress::Progress;

/// One run of a command.
pub struct Session {
    quiet: bool,
    verbose: bool,
    threads: Option<usize>,
    limit: Option<u64>,
    /// Bars, lines and Ctrl-C.
    pub progress: Progress,
    /// Seconds of each stage.
    pub clock: Clock,
}

impl Session {
    /// As the run options have it.
    pub fn new(run: &RunArgs) -> Self {
        Session {
            quiet: run.quiet,
            verbose: run.verbose,
            threads: run.threads,
            limit: run.memory_limit.map(|size| size.0),
            progress: Progress::new(run.quiet, run.verbose),
            clock: Clock::new(),
        }
    }

    /// Does the work on the threads asked for.
    pub fn on_threads<T: Send>(&self, work: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
        thread_pool::in_pool(self.threads, work)?
    }

    /// Threads asked for; `None` is one per core.
    pub fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// Lines that sum up what came out; silent with `--quiet`.
    pub fn summary(&self, text: &str) {
        if !self.quiet {
            output::summary(text);
        }
    }

    /// What the user may like to know; silent with `--quiet`.
    pub fn note(&self, sentence: &str) {
        if !self.quiet {
            output::note(sentence);
        }
    }

    /// Of interest with `--verbose` only.
    pub fn detail(&self, sentence: &str) {
        if self.verbose {
            output::note(sentence);
        }
    }

    /// Tables of interest with `--verbose` only, as they are.
    pub fn details(&self, text: &str) {
        if self.verbose {
            output::summary(text);
        }
    }

    /// Refuses what would not fit: `--memory-limit`, or what the machine has free.
    pub fn check_memory(&self, what: &str, needed: u64, remedy: &str) -> Outcome {
        let (limit, whose) = match (self.limit, available_bytes()) {
            (Some(limit), _) => (limit, "--memory-limit allows"),
            (None, Some(free)) => (free, "the machine has free"),
            (None, None) => return Ok(()),
        };
        if needed <= limit {
            return Ok(());
        }
        Err(Failure::data(format!(
            "{what} would take about {}, and {whose} {}; {remedy}",
            output::size(needed),
            output::size(limit)
        )))
    }

    /// The head of every `--json` object.
    pub fn head(&self, command: &str, n: usize, d: usize, params: &ForestParams) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("command".into(), command.into());
        object.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        object.insert("n".into(), n.into());
        object.insert("d".into(), d.into());
        object.insert("seed".into(), params.seed.into());
        object.insert("params".into(), json!(params));
        object
    }

    /// The head of a clustering of rows into `k` that is not a [`crate::clustered::Clustered`].
    pub fn head_of(
        &self,
        command: &str,
        size: (usize, usize, usize),
        seed: u64,
        params: Value,
    ) -> Map<String, Value> {
        let (n, d, k) = size;
        let mut object = Map::new();
        object.insert("command".into(), command.into());
        object.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        object.insert("n".into(), n.into());
        object.insert("d".into(), d.into());
        object.insert("k".into(), k.into());
        object.insert("seed".into(), seed.into());
        object.insert("params".into(), params);
        object
    }

    /// The tail of every `--json` object; prints it.
    pub fn finish_json(&self, mut object: Map<String, Value>) -> Outcome {
        object.insert("seconds".into(), self.clock.seconds());
        object.insert("peak_bytes".into(), peak_bytes().into());
        output::print_json(&Value::Object(object))
    }
}
