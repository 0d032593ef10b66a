//! Progress bars and Ctrl-C.
//!
//! Bars are drawn on standard error if it is a terminal and not with `--quiet`; `--verbose` prints a line per finished
//! stage. `Steps` is one bar with the time left for a run of many steps (`rpf reproduce`).
//!
//! Ctrl-C sets a flag that the library checks between units of work, and the run unwinds. If no stage is running, or
//! after [`GRACE`], the program exits at once: the temporary files are removed first, so that nothing is left, whatever
//! the program waits for (a disk, a pipe without a reader).

use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rpfcluster::{Observer, Stage};
use rpfcluster_paper::reproduce::{Plan, Step};

use crate::exit::{Failure, INTERRUPTED, Result};
use crate::output;
use crate::transaction::{self, Transaction};

static CANCELLED: AtomicBool = AtomicBool::new(false);
static STAGES: AtomicUsize = AtomicUsize::new(0);
/// Time in which a stage may notice Ctrl-C by itself. Most notice within 50 ms; a second is what users bear.
const GRACE: Duration = Duration::from_millis(400);

/// Installs the handler for Ctrl-C.
pub fn catch_interrupts() -> Result {
    let set = ctrlc::set_handler(|| {
        let again = CANCELLED.swap(true, Ordering::SeqCst);
        if !again && STAGES.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(GRACE);
        }
        transaction::abandon(|| {
            if STAGES.load(Ordering::SeqCst) > 0 && std::io::stderr().is_terminal() {
                // Below the bar.
                output::summary("\n");
            }
            output::interrupted();
            std::process::exit(i32::from(INTERRUPTED))
        });
    });
    set.map_err(|e| Failure::data(format!("the handler for Ctrl-C cannot be installed: {e}")))
}

/// Whether the user pressed Ctrl-C.
pub fn interrupted() -> bool {
    CANCELLED.load(Ordering::SeqCst)
}

/// The observer that commands pass to the library.
pub struct Progress {
    bars: bool,
    lines: bool,
    running: Mutex<HashMap<Stage, Running>>,
}

struct Running {
    bar: Option<ProgressBar>,
    total: u64,
    done: u64,
    since: Instant,
}

impl Progress {
    /// Bars on a terminal unless `--quiet`, lines with `--verbose`.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Progress { bars: terminal && !quiet, lines: verbose, running: Mutex::new(HashMap::new()) }
    }
}

impl Observer for Progress {
    fn begin(&self, stage: Stage, total: u64) {
        STAGES.fetch_add(1, Ordering::SeqCst);
        let bar = self.bars.then(|| {
            // How many iterations eigenvectors take is not known before; the total is a limit that is hardly ever reached.
            let (length, template) = match stage {
                Stage::Spectral => (None, "{msg:16} {pos} iterations, {elapsed}"),
                _ => (Some(total), "{msg:16} {wide_bar} {pos}/{len} {eta}"),
            };
            let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_message(stage.name());
            bar
        });
        if let Ok(mut running) = self.running.lock() {
            running.insert(stage, Running { bar, total, done: 0, since: Instant::now() });
        }
    }

    fn advance(&self, stage: Stage, units: u64) {
        // Nothing to show: avoid the lock.
        if !self.bars && !self.lines {
            return;
        }
        if let Ok(mut running) = self.running.lock()
            && let Some(stage) = running.get_mut(&stage)
        {
            stage.done += units;
            stage.bar.iter().for_each(|bar| bar.inc(units));
        }
    }

    fn end(&self, stage: Stage) {
        STAGES.fetch_sub(1, Ordering::SeqCst);
        let ended = self.running.lock().ok().and_then(|mut running| running.remove(&stage));
        let Some(Running { bar, total, done, since }) = ended else { return };
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        if self.lines && !interrupted() {
            let seconds = since.elapsed().as_secs_f64();
            let units = match stage {
                Stage::Spectral => format!("{done} iterations"),
                _ => total.to_string(),
            };
            output::message(&format!("{}: {units} in {seconds:.2} s", stage.name()));
        }
    }

    fn cancelled(&self) -> bool {
        interrupted()
    }
}

/// The observer of work on rows that come in batches, whose number nobody knows: a count of the rows.
pub struct RowCount {
    bar: Option<ProgressBar>,
    lines: bool,
    rows: u64,
    since: Instant,
}

impl RowCount {
    /// A count on a terminal unless `--quiet`, a line at the end with `--verbose`.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        STAGES.fetch_add(1, Ordering::SeqCst);
        let bar = (std::io::stderr().is_terminal() && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("labelling rows   {pos} rows, {elapsed}") {
                bar.set_style(style);
            }
            bar
        });
        RowCount { bar, lines: verbose, rows: 0, since: Instant::now() }
    }

    /// Counts rows that are done; an error after Ctrl-C.
    pub fn advance(&mut self, rows: usize) -> Result {
        self.rows += rows as u64;
        self.bar.iter().for_each(|bar| bar.inc(rows as u64));
        if interrupted() { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

impl Drop for RowCount {
    fn drop(&mut self) {
        STAGES.fetch_sub(1, Ordering::SeqCst);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.lines && !interrupted() {
            let seconds = self.since.elapsed().as_secs_f64();
            output::message(&format!("labelling rows: {} in {seconds:.2} s", self.rows));
        }
    }
}

impl Observer for RowCount {
    fn cancelled(&self) -> bool {
        interrupted()
    }
}

/// The observer of `rpf reproduce`: one bar for all steps, with the time left.
pub struct Steps {
    bar: Option<ProgressBar>,
    lines: bool,
    quiet: bool,
}

/// Data sets named in the plan of a run.
const LONGEST: usize = 4;

impl Steps {
    /// A bar on a terminal unless `--quiet`, lines with `--verbose`.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        STAGES.fetch_add(1, Ordering::SeqCst);
        let bar = (std::io::stderr().is_terminal() && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {wide_msg}") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        });
        Steps { bar, lines: verbose, quiet }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        STAGES.fetch_sub(1, Ordering::SeqCst);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Steps {
    fn cancelled(&self) -> bool {
        interrupted()
    }
}

impl rpfcluster_paper::reproduce::RunObserver for Steps {
    fn save(&self, files: &[(PathBuf, Vec<u8>)]) -> rpfcluster_paper::reproduce::Result<()> {
        use rpfcluster_paper::reproduce::Error;
        let mut transaction = Transaction::default();
        let staged =
            files.iter().try_for_each(|(path, bytes)| transaction.file(path, |out| out.write_all(bytes)));
        staged.and_then(|()| transaction.commit_part()).map_err(|failure| match failure {
            Failure::Data(sentence) => Error::Output(sentence),
            _ => Error::Library(rpfcluster::Error::Cancelled),
        })
    }

    fn plan(&self, plan: &Plan) {
        if self.quiet || plan.finished == plan.units {
            return;
        }
        let longest: Vec<String> = plan
            .sets
            .iter()
            .take(LONGEST)
            .map(|(set, seconds)| format!("{set} {}", span(*seconds)))
            .collect();
        let finished =
            if plan.finished > 0 { format!(" ({} are done)", plan.finished) } else { String::new() };
        output::message(&format!(
            "{} units{finished}, about {} on this machine; longest: {}",
            plan.units,
            span(plan.seconds),
            longest.join(", ")
        ));
    }

    fn step(&self, step: &Step<'_>) {
        let left = format!(", {} left", span(step.seconds_left));
        if let Some(bar) = &self.bar {
            bar.set_length(step.total as u64);
            bar.set_position(step.done as u64);
            bar.set_message(output::shown(&format!("{}{left}", step.stage)));
        }
        if self.lines {
            output::message(&format!("{} of {} done{left}: {}", step.done, step.total, step.stage));
        }
    }
}

/// A duration with a unit.
fn span(seconds: f64) -> String {
    match seconds.round() as u64 {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min", s.div_ceil(60)),
        s => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
    }
}
