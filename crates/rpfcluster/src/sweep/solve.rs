//! The bandwidths of one threshold, each started from the one above it.
//!
//! Large bandwidths are easy (a few products) and small ones hard (eigenvalues crowd together), so the way goes down:
//! the hard ones begin where their neighbour ended. `stretch` solves every bandwidth; `refined` looks between two of
//! them only where their labels differ.

use super::grid::nearest_to_coarse;
use super::{SAME, Solved, Sweep};
use crate::affinity::SparseAffinity;
use crate::eigen::{EmbedOptions, Embedding, SpectralParams, embed};
use crate::error::Result;
use crate::label::label;
use crate::observe::{Observer, Quiet, Stage, check};

/// Fewer points than this are solved densely: the block method would not be faster even from a good start.
const DENSE: usize = 64;

/// Up to this many points a setting the block method did not finish (a tiny bandwidth, eigenvalues crowded to within
/// 1e-7 and less) is solved densely after all.
const DENSE_RESCUE: usize = 600;

/// Labels agree when at most one row in this many differs: fewer than this many rows must have the same labels.
const AGREE: usize = 500;

/// How far two bandwidths are apart as affinities: the largest change of any weight relative to the constant, after
/// the change of scale that no normalised cut sees is taken out.
fn moved(from: f64, to: f64) -> f64 {
    // Weights over the constant are 1 + strength * shape(s), shape from 0 to 1.
    let strength = |b: f64| (1.0 / b).exp_m1();
    let shape = |b: f64, s: f64| (s / b).exp_m1() / strength(b);
    let bend = (1..10)
        .map(|i| f64::from(i) / 10.0)
        .map(|s| (shape(from, s) - shape(to, s)).abs())
        .fold(0.0, f64::max);
    bend.max((strength(from) - strength(to)).abs())
}

/// The first `k` columns of an embedding of a connected graph, and the gap behind them.
fn first_columns(wide: &Embedding, k: usize) -> (Embedding, f64) {
    if wide.k() <= k {
        return (wide.clone(), 0.0);
    }
    let gap = wide.eigenvalues[k - 1] - wide.eigenvalues[k];
    (wide.first(k), gap)
}

/// Whether two bandwidths gave the same labels, by every method, but for a row in [`AGREE`].
fn agree(one: &[Solved], other: &[Solved]) -> bool {
    one.iter().zip(other).all(|(a, b)| match (&a.labels, &b.labels) {
        (Ok(a), Ok(b)) => a.iter().zip(b).filter(|(x, y)| x != y).count() <= a.len() / AGREE,
        (Err(_), Err(_)) => true,
        _ => false,
    })
}

/// One bandwidth's settings under another bandwidth's number.
fn taken_over(from: &[Solved], at: usize) -> Vec<Solved> {
    let again = |(method, old): (usize, &Solved)| Solved {
        at: (old.at.0, at, method),
        labels: old.labels.clone(),
        eigengap: old.eigengap,
        converged: old.converged,
        reused: true,
    };
    from.iter().enumerate().map(again).collect()
}

/// One threshold's pairs on their way along the bandwidths.
pub(super) struct Walk<'a> {
    sweep: &'a Sweep,
    affinity: SparseAffinity,
    /// The threshold's number.
    number: usize,
    observer: &'a dyn Observer,
    /// What each bandwidth gave, by its number.
    found: Vec<Vec<Solved>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        sweep: &'a Sweep,
        affinity: SparseAffinity,
        number: usize,
        observer: &'a dyn Observer,
    ) -> Self {
        let found = sweep.beta2.iter().map(|_| Vec::new()).collect();
        Walk { sweep, affinity, number, observer, found }
    }

    /// All methods on the consecutive bandwidths from number `first` to before `end`, each solved unless its affinity
    /// hardly differs from the last.
    pub(super) fn stretch(mut self, first: usize, end: usize) -> Result<Vec<Solved>> {
        let mut last: Option<(usize, Embedding)> = None;
        for at in (first..end).rev() {
            match &last {
                Some((solved, _)) if moved(self.sweep.beta2[*solved], self.sweep.beta2[at]) < SAME => {
                    self.take_over(*solved, at..at + 1);
                }
                _ => last = self.solve(at, last.as_ref().map(|(_, e)| e))?.map(|e| (at, e)),
            }
        }
        Ok(self.found.into_iter().flatten().collect())
    }

    /// All methods on all bandwidths: a coarse choice of them first, then those between two whose labels differ, by
    /// halves. Below the first bandwidth whose eigenvectors are not found none is tried: they only get harder.
    pub(super) fn refined(mut self) -> Result<Vec<Solved>> {
        let mut above: Option<(usize, Embedding)> = None;
        for at in nearest_to_coarse(&self.sweep.beta2).into_iter().rev() {
            let embedding = self.solve(at, above.as_ref().map(|(_, e)| e))?;
            let high = above.as_ref().map_or(at, |(high, _)| *high);
            match (embedding.filter(|e| e.converged), &above) {
                (None, _) => {
                    self.take_over(at, at + 1..high);
                    self.take_over(at, 0..at);
                    break;
                }
                (Some(own), Some((_, start))) => {
                    self.between(at, high, start)?;
                    above = Some((at, own));
                }
                (Some(own), None) => above = Some((at, own)),
            }
        }
        Ok(self.found.into_iter().flatten().collect())
    }

    /// The bandwidths between two that are solved; `start` belongs to the upper one.
    fn between(&mut self, low: usize, high: usize, start: &Embedding) -> Result<()> {
        if high - low < 2 {
            return Ok(());
        }
        let close = moved(self.sweep.beta2[low], self.sweep.beta2[high]) < SAME;
        if close || agree(&self.found[low], &self.found[high]) {
            self.take_over(low, low + 1..high);
            return Ok(());
        }
        let middle = low.midpoint(high);
        let embedding = self.solve(middle, Some(start))?;
        self.between(middle, high, start)?;
        self.between(low, middle, embedding.as_ref().unwrap_or(start))
    }

    fn take_over(&mut self, from: usize, to: std::ops::Range<usize>) {
        self.observer.advance(Stage::Tune, to.len() as u64);
        for at in to {
            self.found[at] = taken_over(&self.found[from], at);
        }
    }

    /// All methods at one bandwidth. Returns its eigenvectors, when there are any.
    fn solve(&mut self, at: usize, start: Option<&Embedding>) -> Result<Option<Embedding>> {
        check(self.observer)?;
        let (sweep, quiet) = (self.sweep, Quiet(self.observer));
        self.affinity.set_bandwidth(sweep.beta2[at])?;
        let affinity = &self.affinity;
        let n = affinity.indptr().len() - 1;
        let columns = if n > sweep.k + 1 { sweep.k + 1 } else { sweep.k };
        let options = EmbedOptions { start, ..EmbedOptions::default() };
        let mut dense_below = DENSE;
        let mut wide = embed(affinity, &sweep.spectral(columns, 0), &options, &quiet);
        if n <= DENSE_RESCUE && wide.as_ref().is_ok_and(|e| !e.converged) {
            // The parts of recursive cuts are as crowded as the whole.
            dense_below = DENSE_RESCUE;
            let params = SpectralParams { dense_below, ..sweep.spectral(columns, 0) };
            wide = embed(affinity, &params, &EmbedOptions::default(), &quiet);
        }
        let name = |method| (self.number, at, method);
        let methods = 0..sweep.methods.len();
        self.found[at] = match &wide {
            Ok(wide) => {
                let (embedding, eigengap) = first_columns(wide, sweep.k);
                let one = |method| Solved {
                    at: name(method),
                    labels: label(
                        affinity,
                        &embedding,
                        &SpectralParams { dense_below, ..sweep.spectral(sweep.k, method) },
                        &quiet,
                    ),
                    eigengap,
                    converged: embedding.converged,
                    reused: false,
                };
                methods.map(one).collect()
            }
            Err(problem) => {
                let one = |method| Solved {
                    at: name(method),
                    labels: Err(problem.clone()),
                    eigengap: 0.0,
                    converged: false,
                    reused: false,
                };
                methods.map(one).collect()
            }
        };
        self.observer.advance(Stage::Tune, 1);
        Ok(wide.ok())
    }
}

impl Sweep {
    /// The spectral step's parameters for `k` columns and one of the methods.
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
