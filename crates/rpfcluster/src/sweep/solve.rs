//! One stretch of bandwidths at one threshold, each started from the one before.

use super::{SAME, Solved, Sweep};
use crate::affinity::SparseAffinity;
use crate::error::Result;
use crate::observe::{Observer, Quiet, Stage, check};
use crate::spectral::{Embedding, Hints, SpectralParams, embed, label};

/// Fewer points than this are solved densely: the block method would not be faster even from a good start.
const DENSE: usize = 64;

/// Up to this many points a setting the block method did not finish (a tiny bandwidth, eigenvalues crowded to within
/// 1e-7 and less) is solved densely after all.
const DENSE_RESCUE: usize = 600;

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
fn first_columns(mut wide: Embedding, k: usize) -> (Embedding, f64) {
    let have = wide.k();
    if have <= k {
        return (wide, 0.0);
    }
    let gap = wide.eigenvalues[k - 1] - wide.eigenvalues[k];
    wide.vectors = wide.vectors.chunks_exact(have).flat_map(|row| row[..k].iter().copied()).collect();
    wide.eigenvalues.truncate(k);
    wide.columns = vec![(0..k).collect()];
    (wide, gap)
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

    /// All methods on consecutive bandwidths. `number` is the threshold's, `first` the first bandwidth's place.
    pub(super) fn solve_stretch(
        &self,
        base: &SparseAffinity,
        number: usize,
        first: usize,
        bandwidths: &[f64],
        observer: &dyn Observer,
    ) -> Result<Vec<Solved>> {
        let quiet = Quiet(observer);
        let mut affinity = base.clone();
        let mut last: Option<(f64, Embedding)> = None;
        let mut found: Vec<Solved> = Vec::with_capacity(bandwidths.len() * self.methods.len());
        let n = base.indptr().len() - 1;
        let columns = if n > self.k + 1 { self.k + 1 } else { self.k };
        for (offset, beta2) in bandwidths.iter().enumerate() {
            check(observer)?;
            let at = |method| (number, first + offset, method);
            if last.as_ref().is_some_and(|(solved, _)| moved(*solved, *beta2) < SAME) {
                let from = found.len() - self.methods.len();
                for method in 0..self.methods.len() {
                    let old = &found[from + method];
                    let again = Solved {
                        at: at(method),
                        labels: old.labels.clone(),
                        eigengap: old.eigengap,
                        converged: old.converged,
                        reused: true,
                    };
                    found.push(again);
                }
            } else {
                affinity = affinity.at_bandwidth(*beta2)?;
                let start = last.take();
                let hints = Hints { start: start.as_ref().map(|(_, e)| e), similarity: None };
                let mut dense_below = DENSE;
                let mut wide = embed(&affinity, &self.spectral(columns, 0), &hints, &quiet);
                if n <= DENSE_RESCUE && wide.as_ref().is_ok_and(|e| !e.converged) {
                    // The parts of recursive cuts are as crowded as the whole.
                    dense_below = DENSE_RESCUE;
                    let params = SpectralParams { dense_below, ..self.spectral(columns, 0) };
                    wide = embed(&affinity, &params, &Hints::default(), &quiet);
                }
                match wide {
                    Ok(wide) => {
                        let (embedding, eigengap) = first_columns(wide.clone(), self.k);
                        for method in 0..self.methods.len() {
                            let params = SpectralParams { dense_below, ..self.spectral(self.k, method) };
                            found.push(Solved {
                                at: at(method),
                                labels: label(&affinity, &embedding, &params, &quiet),
                                eigengap,
                                converged: embedding.converged,
                                reused: false,
                            });
                        }
                        last = Some((*beta2, wide));
                    }
                    Err(problem) => {
                        for method in 0..self.methods.len() {
                            found.push(Solved {
                                at: at(method),
                                labels: Err(problem.clone()),
                                eigengap: 0.0,
                                converged: false,
                                reused: false,
                            });
                        }
                    }
                }
            }
            observer.advance(Stage::Tune, 1);
        }
        Ok(found)
    }
}
