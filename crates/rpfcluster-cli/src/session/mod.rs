//! The state of a run: verbosity, progress and cancellation, times, the thread pool, the memory limit, and the members
//! common to all JSON objects.

pub mod clock;
pub mod progress;

use rpfcluster::thread_pool;
use rpfcluster_data::{MemoryLimit, ReadOptions, byte_size, memory_limit};
use serde_json::{Map, Value};

use self::clock::{Clock, peak_bytes};
use self::progress::{Progress, RowCount};
use crate::args::RunArgs;
use crate::exit::{Failure, Result};
use crate::output;

/// The size of a problem.
#[derive(Debug, Clone, Copy)]
pub struct ProblemSize {
    /// Number of rows.
    pub n: usize,
    /// Number of features.
    pub d: usize,
    /// Number of clusters, where it is a parameter.
    pub k: Option<usize>,
}

/// One run of a command.
pub struct Session {
    quiet: bool,
    verbose: bool,
    threads: Option<usize>,
    limit: Option<u64>,
    /// Progress and Ctrl-C.
    pub progress: Progress,
    /// Seconds of each stage.
    pub clock: Clock,
}

impl Session {
    /// Applies the run options.
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

    /// Runs `work` in a pool of `--threads` threads. The library uses the same pool when its own `threads` is `None`.
    pub fn on_threads<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        thread_pool::in_pool(self.threads, work)?
    }

    /// The progress of work on rows that come in batches.
    pub fn row_count(&self) -> RowCount {
        RowCount::new(self.quiet, self.verbose)
    }

    /// The value of `--threads`; `None` is one per core.
    pub fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// The text of a summary; with `--quiet` it is empty, and `text` is not called.
    pub fn summary(&self, text: impl FnOnce() -> Result<String>) -> Result<String> {
        if self.quiet { Ok(String::new()) } else { text() }
    }

    /// A note or hint on standard error; silent with `--quiet`.
    pub fn note(&self, sentence: &str) {
        if !self.quiet {
            output::message(sentence);
        }
    }

    /// A note for `--verbose` only.
    pub fn detail(&self, sentence: &str) {
        if self.verbose {
            output::message(sentence);
        }
    }

    /// Tables for `--verbose` only.
    pub fn details(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            output::summary(&text());
        }
    }

    /// The value of `--memory-limit`.
    pub fn memory_limit(&self) -> Option<u64> {
        self.limit
    }

    /// Reading within `--memory-limit`; format and header are detected.
    pub fn reading(&self) -> ReadOptions {
        ReadOptions { memory: self.limit, ..ReadOptions::default() }
    }

    /// Refuses work that needs more memory than `--memory-limit`, or than the machine, the control group or `ulimit`
    /// leave. `remedy` names what else the user can do.
    pub fn check_memory(&self, what: &str, needed: u64, remedy: &str) -> Result {
        let Some(MemoryLimit { bytes, whose }) = memory_limit(self.limit) else { return Ok(()) };
        if needed <= bytes {
            return Ok(());
        }
        // The option takes precedence over what the machine has free, not over the limits of the process.
        let raise = if whose.contains("leaves") { "" } else { ", or raise --memory-limit" };
        Err(Failure::data(format!(
            "{what} needs about {} of memory, but {whose} {}; {remedy}{raise}",
            byte_size(needed),
            byte_size(bytes)
        )))
    }

    /// The first members of a `--json` object.
    pub fn head(&self, command: &str, size: ProblemSize, seed: u64, params: Value) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("command".into(), command.into());
        object.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        object.insert("n".into(), size.n.into());
        object.insert("d".into(), size.d.into());
        if let Some(k) = size.k {
            object.insert("k".into(), k.into());
        }
        object.insert("seed".into(), seed.into());
        object.insert("params".into(), params);
        object
    }

    /// A `--json` object with times and memory added.
    pub fn finished(&self, mut object: Map<String, Value>) -> Value {
        object.insert("seconds".into(), self.clock.seconds());
        object.insert("peak_bytes".into(), peak_bytes().into());
        Value::Object(object)
    }
}
