//! Progress and cancellation, passed in by the caller.
//!
//! The library neither prints nor handles signals. Long work reports its stages to an [`Observer`] and asks it at
//! regular intervals whether to stop; cancelled work returns [`Error::Cancelled`]. The command draws progress bars
//! from it, the Python package checks for Ctrl-C.

use crate::error::{Error, Result};
use crate::points::Points;

/// The stages that long work reports. A fit selects parameters first ([`Stage::Tune`]), then grows, counts, computes
/// eigenvectors and labels; [`Stage::Route`] belongs to prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Growing trees; the unit is a tree.
    Grow,
    /// Routing rows down grown trees; the unit is a tree.
    Route,
    /// Counting co-leaf pairs; the unit is a row.
    Kernel,
    /// Computing eigenvectors; the unit is an iteration (the total is the limit, usually not reached).
    Spectral,
    /// k-means or recursive cuts; the unit is a restart or a cut.
    Label,
    /// Trying candidate parameters; the unit is a candidate.
    Tune,
}

impl Stage {
    /// A short description for progress bars.
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

/// Receives progress and decides on cancellation. Called from many threads at once.
pub trait Observer: Sync {
    /// A stage of `total` units begins.
    fn begin(&self, stage: Stage, total: u64) {
        let _ = (stage, total);
    }
    /// `units` more units of the stage are done.
    fn advance(&self, stage: Stage, units: u64) {
        let _ = (stage, units);
    }
    /// The stage is over, finished or not.
    fn end(&self, stage: Stage) {
        let _ = stage;
    }
    /// True when the work should stop; it then returns [`Error::Cancelled`].
    fn cancelled(&self) -> bool {
        false
    }
}

/// An observer that ignores progress and never cancels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Points together with the observer of the work on them. Made by [`Points::observed`]; functions that take
/// `impl Into<Observed>` also take `&Points`, which is not observed.
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
    /// Attaches an observer to these points: `params.fit(points.observed(&progress))`.
    pub fn observed(&self, observer: &'a dyn Observer) -> Observed<'a, R> {
        Observed { points: *self, observer }
    }
}

/// Forwards cancellation only. For work inside a stage whose own stages must not be reported.
#[derive(Clone, Copy)]
pub struct Quiet<'a>(pub &'a dyn Observer);

impl Observer for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// `Err(Cancelled)` when the observer cancels.
pub fn check(observer: &dyn Observer) -> Result<()> {
    if observer.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

/// A running stage. Dropping it ends the stage, also when an error leaves the scope.
pub struct StageGuard<'a> {
    observer: &'a dyn Observer,
    stage: Stage,
}

impl<'a> StageGuard<'a> {
    /// Begins a stage of `total` units.
    pub fn begin(observer: &'a dyn Observer, stage: Stage, total: u64) -> Self {
        observer.begin(stage, total);
        StageGuard { observer, stage }
    }

    /// Reports `units` more units.
    pub fn advance(&self, units: u64) {
        self.observer.advance(self.stage, units);
    }

    /// `Err(Cancelled)` when the observer cancels.
    pub fn check(&self) -> Result<()> {
        check(self.observer)
    }
}

impl Drop for StageGuard<'_> {
    fn drop(&mut self) {
        self.observer.end(self.stage);
    }
}
