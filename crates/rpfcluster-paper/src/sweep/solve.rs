//! The bandwidths of one threshold, solved in descending order with warm starts.
//!
//! Large bandwidths converge in a few products; small ones are hard, because their eigenvalues crowd together. The path
//! therefore descends, and each bandwidth starts from the eigenvectors of the one above. `solve_range` solves a range
//! and reuses labels between bandwidths of nearly equal affinity; `solve_refined` also bisects only where labels
//! differ.

use super::grid::nearest_to_coarse;
use super::{REUSE, Solved, Sweep};
use rpfcluster::Result;
use rpfcluster::affinity::SparseAffinity;
use rpfcluster::observe::{Observer, Quiet, Stage, check};
use rpfcluster::spectral::{EmbedOptions, Embedding, SpectralParams, embed, label};

/// Tables of fewer rows are solved densely; the block solver is not faster there even from a warm start.
const DENSE: usize = 64;

/// Largest number of rows at which a setting whose block solver does not converge is solved densely instead. This
/// happens at tiny bandwidths, whose eigenvalues differ by 1e-7 and less.
const DENSE_RESCUE: usize = 600;

/// Labels agree when at most one row in this many differs; below this many rows all must be equal.
const AGREE: usize = 500;

/// The distance of two bandwidths as affinities, as a share of the constant: the larger of the changes of the strength
/// and of the shape of the weights. A common factor is divided out, since normalised cuts do not depend on it.
fn distance(from: f64, to: f64) -> f64 {
    // Weights over the constant are 1 + strength * shape(s), shape from 0 to 1.
    let strength = |b: f64| (1.0 / b).exp_m1();
    let shape = |b: f64, s: f64| (s / b).exp_m1() / strength(b);
    let bend = (1..10)
        .map(|i| f64::from(i) / 10.0)
        .map(|s| (shape(from, s) - shape(to, s)).abs())
        .fold(0.0, f64::max);
    bend.max((strength(from) - strength(to)).abs())
}

/// The first `k` columns of an embedding of a connected graph, and the eigengap after them.
fn first_columns(wide: &Embedding, k: usize) -> (Embedding, f64) {
    if wide.k() <= k {
        return (wide.clone(), 0.0);
    }
    let gap = wide.eigenvalues[k - 1] - wide.eigenvalues[k];
    (wide.first(k), gap)
}

/// Whether two bandwidths have the same labels by every method, except for one row in [`AGREE`].
fn agree(one: &[Solved], other: &[Solved]) -> bool {
    one.iter().zip(other).all(|(a, b)| match (&a.labels, &b.labels) {
        (Ok(a), Ok(b)) => a.iter().zip(b).filter(|(x, y)| x != y).count() <= a.len() / AGREE,
        (Err(_), Err(_)) => true,
        _ => false,
    })
}

/// The affinity of one threshold at a changing bandwidth, and what is solved so far.
pub(super) struct BandwidthPath<'a> {
    sweep: &'a Sweep,
    affinity: SparseAffinity,
    /// Index of the threshold.
    threshold: usize,
    observer: &'a dyn Observer,
    /// The settings of each bandwidth, by its index; empty before it is solved.
    found: Vec<Vec<Solved>>,
}

impl<'a> BandwidthPath<'a> {
    pub(super) fn new(
        sweep: &'a Sweep,
        affinity: SparseAffinity,
        threshold: usize,
        observer: &'a dyn Observer,
    ) -> Self {
        let found = sweep.beta2.iter().map(|_| Vec::new()).collect();
        BandwidthPath { sweep, affinity, threshold, observer, found }
    }

    /// All methods on the bandwidths `first..end`; a bandwidth within [`REUSE`] of the last solved one reuses its
    /// labels.
    pub(super) fn solve_range(mut self, first: usize, end: usize) -> Result<Vec<Solved>> {
        let mut last: Option<(usize, Embedding)> = None;
        for at in (first..end).rev() {
            match &last {
                Some((solved, _)) if distance(self.sweep.beta2[*solved], self.sweep.beta2[at]) < REUSE => {
                    self.reuse(*solved, at..at + 1);
                }
                _ => last = self.solve(at, last.as_ref().map(|(_, e)| e))?.map(|e| (at, e)),
            }
        }
        Ok(self.found.into_iter().flatten().collect())
    }

    /// All methods on all bandwidths: a coarse selection first, then bisection between two whose labels differ. Below
    /// the first bandwidth that does not converge none is solved, since smaller ones are harder.
    pub(super) fn solve_refined(mut self) -> Result<Vec<Solved>> {
        let mut above: Option<(usize, Embedding)> = None;
        for at in nearest_to_coarse(&self.sweep.beta2).into_iter().rev() {
            let embedding = self.solve(at, above.as_ref().map(|(_, e)| e))?;
            let high = above.as_ref().map_or(at, |(high, _)| *high);
            match (embedding.filter(|e| e.converged), &above) {
                (None, _) => {
                    self.reuse(at, at + 1..high);
                    self.reuse(at, 0..at);
                    break;
                }
                (Some(own), Some((_, start))) => {
                    self.bisect(at, high, start)?;
                    above = Some((at, own));
                }
                (Some(own), None) => above = Some((at, own)),
            }
        }
        Ok(self.found.into_iter().flatten().collect())
    }

    /// The bandwidths between two solved ones; `start` belongs to the upper one.
    fn bisect(&mut self, low: usize, high: usize, start: &Embedding) -> Result<()> {
        if high - low < 2 {
            return Ok(());
        }
        let close = distance(self.sweep.beta2[low], self.sweep.beta2[high]) < REUSE;
        if close || agree(&self.found[low], &self.found[high]) {
            self.reuse(low, low + 1..high);
            return Ok(());
        }
        let middle = low.midpoint(high);
        let embedding = self.solve(middle, Some(start))?;
        self.bisect(middle, high, start)?;
        self.bisect(low, middle, embedding.as_ref().unwrap_or(start))
    }

    /// Gives the bandwidths `to` the settings of bandwidth `from`.
    fn reuse(&mut self, from: usize, to: std::ops::Range<usize>) {
        self.observer.advance(Stage::Tune, to.len() as u64);
        for at in to {
            let again = |old: &Solved| Solved { bandwidth: at, reused: true, ..old.clone() };
            self.found[at] = self.found[from].iter().map(again).collect();
        }
    }

    /// Solves all methods at one bandwidth. Returns its eigenvectors, unless the solver failed.
    fn solve(&mut self, at: usize, start: Option<&Embedding>) -> Result<Option<Embedding>> {
        check(self.observer)?;
        let (sweep, quiet) = (self.sweep, Quiet(self.observer));
        self.affinity.set_bandwidth(sweep.beta2[at])?;
        let affinity = &self.affinity;
        let n = affinity.indptr().len() - 1;
        let columns = if n > sweep.k + 1 { sweep.k + 1 } else { sweep.k };
        let hints = EmbedOptions { start, ..EmbedOptions::default() };
        let mut dense_below = DENSE;
        let mut wide = embed(affinity, &sweep.spectral(columns, 0), &hints, &quiet);
        if n <= DENSE_RESCUE && wide.as_ref().is_ok_and(|e| !e.converged) {
            // The eigenvalues of the parts of recursive cuts are as crowded as those of the whole.
            dense_below = DENSE_RESCUE;
            let params = SpectralParams { dense_below, ..sweep.spectral(columns, 0) };
            wide = embed(affinity, &params, &EmbedOptions::default(), &quiet);
        }
        let narrow = wide.as_ref().map(|wide| first_columns(wide, sweep.k));
        let solved = |method| {
            let (labels, eigengap, converged) = match &narrow {
                Ok((embedding, eigengap)) => {
                    let params = SpectralParams { dense_below, ..sweep.spectral(sweep.k, method) };
                    (label(affinity, embedding, &params, &quiet), *eigengap, embedding.converged)
                }
                Err(problem) => (Err((*problem).clone()), 0.0, false),
            };
            let threshold = self.threshold;
            Solved { threshold, bandwidth: at, method, labels, eigengap, converged, reused: false }
        };
        self.found[at] = (0..sweep.methods.len()).map(solved).collect();
        self.observer.advance(Stage::Tune, 1);
        Ok(wide.ok())
    }
}

impl Sweep {
    /// The parameters of the spectral step for `k` columns and one of the methods.
    pub(super) fn spectral(&self, k: usize, method: usize) -> SpectralParams {
        SpectralParams {
            k,
            method: self.methods.get(method).copied().unwrap_or_default(),
            dense_below: DENSE,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            restarts: self.restarts,
            seed: self.seed,
            ..Default::default()
        }
    }
}
