//! The one gate for long calls: the GIL is released, the work runs on a thread of its own, and the calling thread looks
//! for Ctrl-C and reports progress until it is done.
//!
//! Python only runs signal handlers on its main thread and only when asked, so the thread that called us is the one
//! that must ask. A handler that raises sets a flag; the work sees it at its next check and gives up.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rpfcluster::{Error, Observer, Stage};

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// A progress callback: `callback(event, stage, units)` with the events "begin" (units: the total), "at" and "end".
pub type Progress = Option<Py<PyAny>>;

/// What happened, in which stage, and the units that go with it.
type Event = (&'static str, Stage, u64);

/// What the work tells and is asked.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    done: AtomicU64,
    /// Beginnings and ends not yet reported; kept only when somebody listens.
    events: Option<Mutex<Vec<Event>>>,
}

impl Watch {
    fn new(listening: bool) -> Self {
        Watch { events: listening.then(Mutex::default), ..Watch::default() }
    }

    fn note(&self, event: &'static str, stage: Stage, units: u64) {
        if let Some(events) = &self.events
            && let Ok(mut events) = events.lock()
        {
            events.push((event, stage, units));
        }
    }

    /// Calls the callback with everything since the last time, and with how far the current stage is.
    fn report(&self, py: Python<'_>, progress: &Progress, now: &mut Option<Stage>) -> PyResult<()> {
        let (Some(progress), Some(events)) = (progress, &self.events) else { return Ok(()) };
        let news = events.lock().map(|mut e| std::mem::take(&mut *e)).unwrap_or_default();
        for (event, stage, units) in news {
            *now = (event == "begin").then_some(stage);
            progress.call1(py, (event, stage.name(), units))?;
        }
        if let Some(stage) = now {
            progress.call1(py, ("at", stage.name(), self.done.load(Ordering::Relaxed)))?;
        }
        Ok(())
    }
}

impl Observer for Watch {
    fn begin(&self, stage: Stage, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.note("begin", stage, total);
    }
    fn advance(&self, _: Stage, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }
    fn end(&self, stage: Stage) {
        self.note("end", stage, self.done.load(Ordering::Relaxed));
    }
    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs `work` with the GIL released.
pub fn gate<T: Send>(
    py: Python<'_>,
    progress: Progress,
    work: impl FnOnce(&dyn Observer) -> rpfcluster::Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::new(progress.is_some());
    let mut now = None;
    let (result, interrupt) = py.detach(|| {
        std::thread::scope(|scope| {
            let (send, receive) = sync_channel(1);
            let watch = &watch;
            let task = move || {
                // The receiver waits until this is sent or dropped, so sending cannot fail.
                let _ = send.send(catch_unwind(AssertUnwindSafe(|| work(watch))));
            };
            let started = std::thread::Builder::new().name("rpf-call".into()).spawn_scoped(scope, task);
            if let Err(e) = started {
                let what = "starting a thread".to_string();
                return (Ok(Err(Error::System { what, problem: e.to_string() })), None);
            }
            let mut interrupt: Option<PyErr> = None;
            loop {
                match receive.recv_timeout(LOOK) {
                    Ok(result) => return (result, interrupt),
                    Err(RecvTimeoutError::Disconnected) => return (Ok(Err(Error::Cancelled)), interrupt),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let heard = Python::attach(|py| {
                    py.check_signals()?;
                    watch.report(py, &progress, &mut now)
                });
                if let Err(e) = heard {
                    watch.stop.store(true, Ordering::Relaxed);
                    interrupt.get_or_insert(e);
                }
            }
        })
    });
    if let Some(interrupt) = interrupt {
        return Err(interrupt);
    }
    match result {
        Ok(result) => {
            watch.report(py, &progress, &mut now)?;
            result.map_err(to_python)
        }
        Err(panic) => {
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
            let said = said.unwrap_or_default();
            Err(PyRuntimeError::new_err(format!("internal error, please report it: {said}")))
        }
    }
}

/// The library's error as the exception a Python user would look for, with Python's names of the parameters.
pub fn to_python(error: Error) -> PyErr {
    match error {
        Error::System { .. } => PyOSError::new_err(error.to_string()),
        Error::Memory { .. } => {
            PyMemoryError::new_err(error.to_string().replace("min_node", python_name("min_node")))
        }
        Error::Numerical { .. } => PyRuntimeError::new_err(error.to_string()),
        Error::Cancelled => PyKeyboardInterrupt::new_err(()),
        Error::TooManyClusters { k, distinct } => PyValueError::new_err(format!(
            "n_clusters is {k}, but there are only {distinct} distinct samples"
        )),
        Error::Parameter { name, value, expected } => {
            let expected = expected.replace("k, which is", "n_clusters, which is");
            PyValueError::new_err(format!("{} is {value}, but must be {expected}", python_name(name)))
        }
        other => PyValueError::new_err(other.to_string()),
    }
}

fn python_name(name: &str) -> &str {
    match name {
        "k" => "n_clusters",
        "trees" => "n_estimators",
        "min_node" => "min_samples_split",
        "candidates" => "n_candidates",
        "top" => "n_neighbors",
        "landmarks" => "n_landmarks",
        "threads" => "n_jobs",
        "neighbor" => "n_neighbors",
        "sigma" => "bandwidth",
        "restarts" => "n_init",
        "max_iterations" => "kmeans_max_iter",
        "instances" => "n_estimators",
        other => other,
    }
}
