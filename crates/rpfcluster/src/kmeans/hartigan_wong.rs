//! Hartigan-Wong k-means, algorithm AS 136 (Applied Statistics 28, 1979): a baseline of the paper.
//!
//! Moving a row from cluster a (n_a rows) to b changes the sum of squares by `n_b |x-b|²/(n_b+1) - n_a |x-a|²/(n_a-1)`,
//! the change of the centers included. The optimal-transfer stage compares every row with every cluster of the live set
//! (those changed since the row was last visited); the quick-transfer stage only swaps a row between its closest and second
//! closest cluster. Each run starts at the end of Lloyd's algorithm and never raises its inertia. The result is a local
//! minimum under single transfers, which a fixed point of Lloyd's algorithm need not be.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::lloyd::{CANCEL_CHECK_ROWS, inertia};
use super::{DataMatrix, KMeans, KMeansFit, best, init, lloyd, squared_distance};
use crate::error::{Error, Result};
use crate::observe::{Observer, Silent, Stage, check};

/// Parameters of Hartigan-Wong k-means; the defaults are those of the paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HartiganWong {
    /// Number of clusters.
    pub k: usize,
    /// Number of starts; the smallest inertia wins.
    pub restarts: usize,
    /// Largest number of rounds of both stages in one run.
    pub max_iterations: usize,
    /// Seed of the starts.
    pub seed: u64,
}

impl Default for HartiganWong {
    fn default() -> Self {
        HartiganWong { k: 2, restarts: 100, max_iterations: 1000, seed: 0 }
    }
}

impl HartiganWong {
    /// The preceding run of Lloyd's algorithm, without tolerance.
    fn lloyd(&self) -> KMeans {
        KMeans {
            k: self.k,
            restarts: self.restarts,
            max_iterations: self.max_iterations,
            tolerance: 0.0,
            seed: self.seed,
        }
    }

    /// An error for the first value out of range.
    pub fn validate(&self) -> Result<()> {
        self.lloyd().validate()
    }

    /// Clusters the rows of `data`, which have `d` columns.
    pub fn fit(&self, data: &[f64], d: usize, observer: &dyn Observer) -> Result<KMeansFit> {
        self.validate()?;
        let rows = DataMatrix::new(data, d)?;
        rows.check_k(self.k, observer)?;
        let fits: Result<Vec<KMeansFit>> = (0..self.restarts as u64)
            .into_par_iter()
            .map(|restart| {
                check(observer)?;
                let start = init::plus_plus(rows, self.k, self.seed, restart, observer)?;
                let lloyd = lloyd::run(rows, start, &self.lloyd(), observer)?;
                let fit = self.finish(rows, lloyd, observer)?;
                observer.advance(Stage::Label, 1);
                Ok(fit)
            })
            .collect();
        let mut found = best(fits?);
        found.relabel(d);
        Ok(found)
    }

    /// One run from the given centers, k x d row-major.
    pub fn fit_from(&self, data: &[f64], d: usize, centers: &[f64]) -> Result<KMeansFit> {
        self.validate()?;
        let rows = DataMatrix::new(data, d)?;
        rows.check_k(self.k, &Silent)?;
        if centers.len() != self.k * d {
            return Err(Error::Shape { len: centers.len(), n: self.k, d });
        }
        let lloyd = lloyd::run(rows, centers.to_vec(), &self.lloyd(), &Silent)?;
        let mut fit = self.finish(rows, lloyd, &Silent)?;
        fit.relabel(d);
        Ok(fit)
    }

    /// AS 136 from the result of Lloyd's algorithm.
    fn finish(&self, rows: DataMatrix, lloyd: KMeansFit, observer: &dyn Observer) -> Result<KMeansFit> {
        if self.k < 2 {
            return Ok(lloyd);
        }
        let mut state = State::new(rows, &lloyd, self.k);
        let mut rounds = 0;
        while rounds < self.max_iterations {
            rounds += 1;
            if state.optimal_transfer(observer)? {
                break;
            }
            state.quick_transfer(observer)?;
            if self.k == 2 {
                // With two clusters the quick-transfer stage covers every possible transfer.
                break;
            }
        }
        let centers = state.exact_centers();
        let inertia = inertia(rows, &centers, &state.own);
        if inertia > lloyd.inertia {
            // Possible by rounding only: transfers never raise the sum of squares.
            return Ok(lloyd);
        }
        Ok(KMeansFit { labels: state.own, centers, inertia, iterations: lloyd.iterations + rounds })
    }
}

/// The variables of AS 136, with the original names in parentheses.
struct State<'a> {
    rows: DataMatrix<'a>,
    k: usize,
    centers: Vec<f64>,
    counts: Vec<usize>,
    /// Closest and second closest cluster of each row (IC1, IC2).
    own: Vec<u32>,
    second: Vec<u32>,
    /// The decrease of the sum of squares when the row leaves its cluster (D).
    saving: Vec<f64>,
    /// Row up to which a cluster is in the live set, counted across stages (LIVE).
    live: Vec<usize>,
    /// Whether the cluster was changed in the last quick-transfer stage (ITRAN).
    touched: Vec<bool>,
    /// The step of the last change of a cluster within the current stage (NCP); `None` before any.
    changed_at: Vec<Option<usize>>,
    /// Rows visited since the last transfer (INDX).
    quiet: usize,
}

impl<'a> State<'a> {
    fn new(rows: DataMatrix<'a>, start: &KMeansFit, k: usize) -> Self {
        let (n, d) = (rows.n(), rows.d);
        let mut counts = vec![0; k];
        for label in &start.labels {
            counts[*label as usize] += 1;
        }
        let second = (0..n)
            .map(|i| {
                let own = start.labels[i] as usize;
                let mut best = (f64::INFINITY, 0);
                for c in (0..k).filter(|c| *c != own) {
                    let distance = squared_distance(rows.row(i), &start.centers[c * d..][..d]);
                    if distance < best.0 {
                        best = (distance, c as u32);
                    } else if best.0.is_infinite() {
                        best.1 = c as u32;
                    }
                }
                best.1
            })
            .collect();
        State {
            rows,
            k,
            centers: start.centers.clone(),
            counts,
            own: start.labels.clone(),
            second,
            saving: vec![0.0; n],
            live: vec![n; k],
            touched: vec![true; k],
            // Every saving is still to be computed.
            changed_at: vec![Some(0); k],
            quiet: 0,
        }
    }

    fn distance(&self, i: usize, c: usize) -> f64 {
        squared_distance(self.rows.row(i), &self.centers[c * self.rows.d..][..self.rows.d])
    }

    /// n/(n-1): the factor of the squared distance when a row leaves.
    fn leave(&self, c: usize) -> f64 {
        let n = self.counts[c] as f64;
        if n > 1.0 { n / (n - 1.0) } else { f64::INFINITY }
    }

    /// n/(n+1): the factor when a row joins.
    fn join(&self, c: usize) -> f64 {
        let n = self.counts[c] as f64;
        n / (n + 1.0)
    }

    /// Moves row `i` to cluster `to`; its previous cluster becomes its second.
    fn transfer(&mut self, i: usize, to: usize) {
        let (d, from) = (self.rows.d, self.own[i] as usize);
        let (n_from, n_to) = (self.counts[from] as f64, self.counts[to] as f64);
        for (j, x) in self.rows.row(i).iter().enumerate() {
            let a = &mut self.centers[from * d + j];
            *a = (*a * n_from - x) / (n_from - 1.0);
            let b = &mut self.centers[to * d + j];
            *b = (*b * n_to + x) / (n_to + 1.0);
        }
        self.counts[from] -= 1;
        self.counts[to] += 1;
        self.own[i] = to as u32;
        self.second[i] = from as u32;
        self.quiet = 0;
    }

    /// One pass over all rows against the live set; true when no row has moved for n rows.
    fn optimal_transfer(&mut self, observer: &dyn Observer) -> Result<bool> {
        let n = self.rows.n();
        for c in 0..self.k {
            // A cluster changed by the quick-transfer stage is live for the whole pass.
            if self.touched[c] {
                self.live[c] = n;
            }
        }
        for i in 0..n {
            if i.is_multiple_of(CANCEL_CHECK_ROWS) {
                check(observer)?;
            }
            self.quiet += 1;
            let from = self.own[i] as usize;
            if self.counts[from] > 1 {
                if self.changed_at[from].is_some() {
                    self.saving[i] = self.distance(i, from) * self.leave(from);
                }
                let earlier = self.second[i] as usize;
                let mut target = earlier;
                let mut cost = self.distance(i, earlier) * self.join(earlier);
                for c in (0..self.k).filter(|c| *c != from && *c != earlier) {
                    // Neither cluster has changed since the last visit of this row.
                    if i >= self.live[from] && i >= self.live[c] {
                        continue;
                    }
                    let candidate = self.distance(i, c) * self.join(c);
                    if candidate < cost {
                        cost = candidate;
                        target = c;
                    }
                }
                if better(cost, self.saving[i]) {
                    for c in [from, target] {
                        self.live[c] = n + i;
                        self.changed_at[c] = Some(i);
                    }
                    self.transfer(i, target);
                } else {
                    self.second[i] = target as u32;
                }
            }
            if self.quiet == n {
                return Ok(true);
            }
        }
        for c in 0..self.k {
            self.touched[c] = false;
            self.live[c] = self.live[c].saturating_sub(n);
        }
        Ok(false)
    }

    /// Swaps rows between their closest and second closest clusters until n consecutive rows stay.
    fn quick_transfer(&mut self, observer: &dyn Observer) -> Result<()> {
        let n = self.rows.n();
        // Bounds the number of steps: ties must not cause an endless loop.
        let max_steps = n.saturating_mul(50);
        let (mut step, mut quiet) = (0, 0);
        // A cluster counts as changed until this step, one round after its last change. Changes of the optimal-transfer
        // stage count for the first round, up to their own row.
        let mut until: Vec<usize> = self.changed_at.iter().map(|at| at.map_or(0, |row| row + 1)).collect();
        'rounds: loop {
            for i in 0..n {
                if i.is_multiple_of(CANCEL_CHECK_ROWS) {
                    check(observer)?;
                }
                quiet += 1;
                step += 1;
                if step >= max_steps {
                    break 'rounds;
                }
                let (from, to) = (self.own[i] as usize, self.second[i] as usize);
                if self.counts[from] > 1 {
                    if step <= until[from] {
                        self.saving[i] = self.distance(i, from) * self.leave(from);
                    }
                    if step <= until[from] || step <= until[to] {
                        let cost = self.distance(i, to) * self.join(to);
                        if better(cost, self.saving[i]) {
                            quiet = 0;
                            for c in [from, to] {
                                self.touched[c] = true;
                                until[c] = step + n;
                            }
                            self.transfer(i, to);
                        }
                    }
                }
                if quiet == n {
                    break 'rounds;
                }
            }
        }
        // The savings of rows whose cluster changed after their last visit are stale.
        for (at, end) in self.changed_at.iter_mut().zip(until) {
            *at = if end > 0 { Some(0) } else { None };
        }
        Ok(())
    }

    /// The means of the final clusters, without the rounding of incremental updates.
    fn exact_centers(&self) -> Vec<f64> {
        let d = self.rows.d;
        let mut sums = vec![0.0; self.k * d];
        for (i, label) in self.own.iter().enumerate() {
            for (s, v) in sums[*label as usize * d..][..d].iter_mut().zip(self.rows.row(i)) {
                *s += v;
            }
        }
        for (c, count) in self.counts.iter().enumerate() {
            for s in &mut sums[c * d..][..d] {
                *s /= *count as f64;
            }
        }
        sums
    }
}

/// Whether a transfer decreases the sum of squares by more than rounding.
fn better(cost: f64, saving: f64) -> bool {
    cost < saving * (1.0 - 1e-12)
}
