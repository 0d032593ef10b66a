//! Progress and cancellation, passed in by the caller.
//!
//! The library never prints and never looks at signals. Long work announces its stages here and asks, between
//! pieces of work, whether it should stop. The command draws bars from it, Python checks for Ctrl-C.

use crate::error::{Error, Result};
use crate::points::Points;

/// The stages of the walk, in the order in which a row of data meets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Growing the trees; units are trees.
    Grow,
    /// Sending points down grown trees; units are trees.
    Route,
    /// Counting co-leaf pairs; units are rows.
    Kernel,
    /// Eigenvectors; units are iterations (the total is the cap, usually not reached).
    Spectral,
    /// k-means or recursive cuts; units are restarts or cuts.
    Label,
    /// Trying settings; units are settings.
    Tune,
}

impl Stage {
    /// A word for people.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Grow => "growing trees",
            Stage::Route => "routing rows",
            Stage::Kernel => "counting pairs",
            Stage::Spectral => "eigenvectors",
            Stage::Label => "labelling",
            Stage::Tune => "trying settings",
        }
    }
}

/// What long work tells, and asks, its caller. Called from many threads at once.
pub trait Observer: Sync {
    /// A stage begins that will have `total` units.
    fn begin(&self, stage: Stage, total: u64) {
        let _ = (stage, total);
    }
    /// `units` more of the stage are done.
    fn advance(&self, stage: Stage, units: u64) {
        let _ = (stage, units);
    }
    /// The stage is over.
    fn end(&self, stage: Stage) {
        let _ = stage;
    }
    /// True when the work should stop; it then returns [`Error::Cancelled`].
    fn cancelled(&self) -> bool {
        false
    }
}

/// Says nothing, never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Points, and the observer of the work that is done on them. Made by [`Points::observed`]; plain `&Points` will do where
/// nobody watches.
#[derive(Clone, Copy)]
pub struct Observed<'a, R> {
    pub(crate) points: Points<'a, R>,
    pub(crate) observer: &'a dyn Observer,
}

impl<'a, R: Copy> From<&Points<'a, R>> for Observed<'a, R> {
    fn from(points: &Points<'a, R>) -> Self {
        Observed { points: *points, observer: &Silent }
    }
}

impl<'a, R: Copy> Points<'a, R> {
    /// These points with an observer: `params.fit(points.observed(&progress))`.
    pub fn observed(&self, observer: &'a dyn Observer) -> Observed<'a, R> {
        Observed { points: *self, observer }
    }
}

/// Passes on the wish to stop and nothing else: for work inside a stage that would announce stages of its own.
#[derive(Clone, Copy)]
pub struct Quiet<'a>(pub &'a dyn Observer);

impl Observer for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// `Err(Cancelled)` when the observer wants the work to stop.
pub fn check(observer: &dyn Observer) -> Result<()> {
    if observer.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}
