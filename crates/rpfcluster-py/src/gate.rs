//! Long calls: the GIL released, Ctrl-C handled, progress reported.
//!
//! Every call that can take long passes through [`gate`]. The work runs on a thread of its own while the calling thread
//! polls for signals and reports progress: CPython runs signal handlers on its main thread only, and only when asked.
//! When a handler or the progress callback raises, the observer is cancelled, the work ends at its next check, and the
//! exception propagates. A panic becomes a `RuntimeError`. A call costs one thread and wakes every [`POLL_INTERVAL`].
//!
//! Parallel work must run in [`in_pool`](rpfcluster::thread_pool::in_pool), whose threads end with the call. rayon's
//! global pool would have no threads in a forked process, which would wait for them for ever.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rpfcluster::{Error, Observer, Stage};

use crate::errors::to_python;

/// Time between two checks for signals. 50 ms is not noticed by a user who presses Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A progress callback, `callback(event, stage, units)`. The event is "begin" (units: the total), "at" or "end".
pub type ProgressCallback = Option<Py<PyAny>>;

/// The beginning or the end of a stage.
struct Event {
    name: &'static str,
    stage: Stage,
    units: u64,
}

/// The observer passed to the library: collects progress and carries the cancellation flag.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    done: AtomicU64,
    /// Events not yet reported; `None` without a callback.
    events: Option<Mutex<Vec<Event>>>,
}

impl Watch {
    fn new(with_events: bool) -> Self {
        Watch { events: with_events.then(Mutex::default), ..Watch::default() }
    }

    fn push(&self, name: &'static str, stage: Stage, units: u64) {
        if let Some(events) = &self.events
            && let Ok(mut events) = events.lock()
        {
            events.push(Event { name, stage, units });
        }
    }

    /// Calls the callback with the events since the last call and the position in the current stage.
    fn report(
        &self,
        py: Python<'_>,
        progress: &ProgressCallback,
        current: &mut Option<Stage>,
    ) -> PyResult<()> {
        let (Some(progress), Some(events)) = (progress, &self.events) else { return Ok(()) };
        let pending = events.lock().map(|mut e| std::mem::take(&mut *e)).unwrap_or_default();
        for Event { name, stage, units } in pending {
            *current = (name == "begin").then_some(stage);
            progress.call1(py, (name, stage.name(), units))?;
        }
        if let Some(stage) = current {
            progress.call1(py, ("at", stage.name(), self.done.load(Ordering::Relaxed)))?;
        }
        Ok(())
    }
}

impl Observer for Watch {
    fn begin(&self, stage: Stage, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.push("begin", stage, total);
    }
    fn advance(&self, _: Stage, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }
    fn end(&self, stage: Stage) {
        self.push("end", stage, self.done.load(Ordering::Relaxed));
    }
    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs `work` with the GIL released and an observer that reports to `progress`.
pub fn gate<T: Send>(
    py: Python<'_>,
    progress: ProgressCallback,
    work: impl FnOnce(&dyn Observer) -> rpfcluster::Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::new(progress.is_some());
    let mut current = None;
    let (result, interrupt) = py.detach(|| {
        std::thread::scope(|scope| {
            let (send, receive) = sync_channel(1);
            let watch = &watch;
            let task = move || {
                // The receiver lives until this is sent or dropped, so sending cannot fail.
                let _ = send.send(catch_unwind(AssertUnwindSafe(|| work(watch))));
            };
            let started = std::thread::Builder::new().name("rpf-call".into()).spawn_scoped(scope, task);
            if let Err(e) = started {
                let what = "starting a thread".to_string();
                return (Ok(Err(Error::System { what, problem: e.to_string() })), None);
            }
            let mut interrupt: Option<PyErr> = None;
            loop {
                match receive.recv_timeout(POLL_INTERVAL) {
                    Ok(result) => return (result, interrupt),
                    Err(RecvTimeoutError::Disconnected) => return (Ok(Err(Error::Cancelled)), interrupt),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let polled = Python::attach(|py| {
                    py.check_signals()?;
                    watch.report(py, &progress, &mut current)
                });
                if let Err(e) = polled {
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
            watch.report(py, &progress, &mut current)?;
            result.map_err(to_python)
        }
        Err(panic) => {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
            let message = message.unwrap_or_default();
            Err(PyRuntimeError::new_err(format!("internal error, please report it: {message}")))
        }
    }
}
