//! K-means by Hartigan and Wong, algorithm AS 136 (Applied Statistics 28(1), 1979): the algorithm of R's `kmeans()`.
//!
//! Moving a row from cluster a (n_a rows) to b changes the sum of squares by `n_b |x-b|²/(n_b+1) - n_a |x-a|²/(n_a-1)`,
//! the change of the centers included. The optimal-transfer stage tests every row against every cluster of the live
//! set, the clusters changed since the row was last tested. The quick-transfer stage only swaps a row between its
//! closest and second closest cluster.
//!
//! [`Start`] says where a run begins: at random distinct rows, as in R, or at the end of Lloyd's iteration from
//! k-means++ (Arthur and Vassilvitskii, SODA 2007), which R does not offer. Unless a limit of iterations ends it first,
//! the result is a local minimum under single transfers, which a fixed point of Lloyd's iteration need not be. One pass
//! costs at most n k distances.

use std::cmp::Ordering;

use rayon::prelude::*;
use rpfcluster::kmeans::{KMeans, KMeansFit, relabel_by_first_appearance};
use rpfcluster::observe::{Observer, Silent, Stage, check};
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{Error, Result};
use serde::{Deserialize, Serialize};

use super::rows_of;
use crate::parameter;

/// Rows between two checks for cancellation.
const ASK: usize = 128;
/// Rows of one partial sum of the inertia: the chunk of the library's Lloyd iteration, so that equal clusterings have
/// equal inertia to the last bit.
const CHUNK: usize = 2048;

/// Where a run of AS 136 begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// At k distinct rows drawn at random: R's `kmeans()` with several starts.
    #[default]
    RandomRows,
    /// Where Lloyd's iteration ends from k-means++.
    Lloyd,
}

/// Parameters of Hartigan and Wong's k-means (AS 136); the defaults are those of the paper, R's `kmeans()` with at most
/// 1,000 iterations and 100 restarts.
///
/// ```
/// use rpfcluster_paper::rivals::HartiganWong;
/// let rows = [0.0, 0.1, 5.0, 5.1, 9.0, 9.1];
/// let fit = HartiganWong { k: 3, ..Default::default() }.fit(&rows, 1, &rpfcluster::Silent)?;
/// assert_eq!(fit.labels, [0, 0, 1, 1, 2, 2]);
/// # Ok::<(), rpfcluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HartiganWong {
    /// Number of clusters.
    pub k: usize,
    /// Where a run begins.
    pub start: Start,
    /// Number of runs; the smallest inertia wins.
    pub restarts: usize,
    /// Largest number of rounds of both stages in one run, and of Lloyd iterations before them.
    pub max_iterations: usize,
    /// Seed of the starts.
    pub seed: u64,
}

impl Default for HartiganWong {
    fn default() -> Self {
        HartiganWong { k: 2, start: Start::default(), restarts: 100, max_iterations: 1000, seed: 0 }
    }
}

impl HartiganWong {
    /// Lloyd's iteration to its fixed point.
    fn lloyd(&self) -> KMeans {
        KMeans {
            k: self.k,
            restarts: self.restarts,
            max_iterations: self.max_iterations,
            tolerance: 0.0,
            seed: self.seed,
        }
    }

    /// Refuses values outside their range.
    pub fn validate(&self) -> Result<()> {
        self.lloyd().validate()
    }

    /// Clusters the rows of `data`, each `d` numbers.
    pub fn fit(&self, data: &[f64], d: usize, observer: &dyn Observer) -> Result<KMeansFit> {
        self.validate()?;
        rows_of(data, d)?;
        let rows = Rows { data, d };
        let distinct = if self.start == Start::RandomRows { rows.distinct() } else { Vec::new() };
        if self.start == Start::RandomRows && distinct.len() < self.k {
            return Err(Error::TooManyClusters { k: self.k, distinct: distinct.len() });
        }
        let lloyd = self.lloyd();
        let fits: Result<Vec<KMeansFit>> = (0..self.restarts as u64)
            .into_par_iter()
            .map(|restart| {
                check(observer)?;
                let centers = match self.start {
                    Start::Lloyd => lloyd.initial_centers(data, d, restart, observer)?,
                    Start::RandomRows => rows.drawn(&distinct, self.k, self.seed, restart),
                };
                let fit = self.run(rows, centers, observer)?;
                observer.advance(Stage::Label, 1);
                Ok(fit)
            })
            .collect();
        // Among equals the earlier one.
        let best = fits?.into_iter().reduce(|best, fit| if fit.inertia < best.inertia { fit } else { best });
        let best = best.ok_or_else(|| parameter("restarts", self.restarts, "at least 1"))?;
        Ok(relabelled(best, d))
    }

    /// One run from the given centers (k x d by rows); [`Start::Lloyd`] runs Lloyd's iteration from them first.
    pub fn fit_from(&self, data: &[f64], d: usize, centers: &[f64]) -> Result<KMeansFit> {
        self.validate()?;
        rows_of(data, d)?;
        if centers.len() != self.k * d {
            return Err(parameter("centers", centers.len(), format!("k times d numbers, {}", self.k * d)));
        }
        Ok(relabelled(self.run(Rows { data, d }, centers.to_vec(), &Silent)?, d))
    }

    /// One run from these centers.
    fn run(&self, rows: Rows, centers: Vec<f64>, observer: &dyn Observer) -> Result<KMeansFit> {
        let near = (self.start == Start::RandomRows && self.k > 1)
            .then(|| State::at_centers(rows, &centers, self.k));
        // A center without rows, from centers that are equal or nearly so, is for Lloyd's iteration to move.
        let (mut state, before) = match near.flatten() {
            Some(state) => (state, 0),
            None => {
                let lloyd = self.lloyd().iterate(rows.data, rows.d, centers, observer)?;
                if self.k < 2 {
                    return Ok(lloyd);
                }
                let second = second_closest(rows, &lloyd.centers, &lloyd.labels, self.k);
                (State::new(rows, lloyd.centers, lloyd.labels, second, self.k), lloyd.iterations)
            }
        };
        let mut rounds = 0;
        while rounds < self.max_iterations {
            rounds += 1;
            if state.optimal_transfer(observer)? {
                break;
            }
            state.quick_transfer(observer)?;
            if self.k == 2 {
                // With two clusters the quick-transfer stage has tested every possible transfer.
                break;
            }
        }
        let centers = state.exact_centers();
        let inertia = inertia(rows, &centers, &state.own);
        Ok(KMeansFit { labels: state.own, centers, inertia, iterations: before + rounds })
    }
}

/// A row-major table, checked by [`rows_of`].
#[derive(Clone, Copy)]
struct Rows<'a> {
    data: &'a [f64],
    d: usize,
}

impl<'a> Rows<'a> {
    fn n(&self) -> usize {
        self.data.len() / self.d
    }

    #[inline]
    fn row(&self, i: usize) -> &'a [f64] {
        &self.data[i * self.d..][..self.d]
    }

    /// The first of each group of equal rows, in the order of their values.
    fn distinct(&self) -> Vec<usize> {
        let compare = |a: usize, b: usize| {
            let pairs = self.row(a).iter().zip(self.row(b));
            pairs.map(|(x, y)| (x + 0.0).total_cmp(&(y + 0.0))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        };
        let mut order: Vec<usize> = (0..self.n()).collect();
        order.sort_by(|a, b| compare(*a, *b));
        order.dedup_by(|later, earlier| compare(*later, *earlier).is_eq());
        order
    }

    /// `k` of these rows, drawn without replacement.
    fn drawn(&self, from: &[usize], k: usize, seed: u64, restart: u64) -> Vec<f64> {
        let mut stream = Stream::new(seed, Purpose::KMeans, restart, 0);
        let mut rest = from.to_vec();
        let mut draw = || rest.swap_remove(stream.below(rest.len() as u64) as usize);
        (0..k).flat_map(|_| self.row(draw())).copied().collect()
    }
}

#[inline]
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Sum of squared distances of rows to the center of their cluster.
fn inertia(rows: Rows, centers: &[f64], labels: &[u32]) -> f64 {
    let d = rows.d;
    let partial: Vec<f64> = labels
        .par_chunks(CHUNK)
        .zip(rows.data.par_chunks(CHUNK * d))
        .map(|(labels, data)| {
            let pairs = labels.iter().zip(data.chunks_exact(d));
            pairs.map(|(c, row)| squared_distance(row, &centers[*c as usize * d..][..d])).sum()
        })
        .collect();
    partial.iter().sum()
}

/// The same clusters with labels numbered by first appearance and the centers in that order.
fn relabelled(mut fit: KMeansFit, d: usize) -> KMeansFit {
    let old = std::mem::take(&mut fit.centers);
    for number in relabel_by_first_appearance(&mut fit.labels) {
        fit.centers.extend_from_slice(&old[number as usize * d..][..d]);
    }
    fit
}

/// The variables of AS 136; its own names stand in parentheses.
struct State<'a> {
    rows: Rows<'a>,
    k: usize,
    centers: Vec<f64>,
    counts: Vec<usize>,
    /// Closest and second closest cluster of each row (IC1, IC2).
    own: Vec<u32>,
    second: Vec<u32>,
    /// Decrease of the sum of squares when the row leaves its cluster (D).
    saving: Vec<f64>,
    /// Row number, counted on through stages, up to which a cluster is in the live set (LIVE).
    live: Vec<usize>,
    /// Whether the last quick-transfer stage changed the cluster (ITRAN).
    touched: Vec<bool>,
    /// The step of the last change of a cluster in the current stage (NCP); `None` before the first.
    changed_at: Vec<Option<usize>>,
    /// Rows tested since the last transfer (INDX).
    unmoved: usize,
}

/// The closest cluster of each row other than its own.
fn second_closest(rows: Rows, centers: &[f64], own: &[u32], k: usize) -> Vec<u32> {
    let closest = |(i, own): (usize, &u32)| {
        let others = (0..k as u32).filter(|c| c != own);
        let distance = |c: &u32| squared_distance(rows.row(i), &centers[*c as usize * rows.d..][..rows.d]);
        others.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    };
    own.iter().enumerate().map(closest).collect()
}

impl<'a> State<'a> {
    /// Every row in the cluster of its closest center, the centers moved to the means; `None` if a cluster is empty.
    fn at_centers(rows: Rows<'a>, centers: &[f64], k: usize) -> Option<Self> {
        let distance =
            |i: usize, c: u32| squared_distance(rows.row(i), &centers[c as usize * rows.d..][..rows.d]);
        let closest =
            |i: usize| (0..k as u32).min_by(|a, b| distance(i, *a).total_cmp(&distance(i, *b))).unwrap_or(0);
        let own: Vec<u32> = (0..rows.n()).map(closest).collect();
        let second = second_closest(rows, centers, &own, k);
        let mut state = State::new(rows, centers.to_vec(), own, second, k);
        if state.counts.contains(&0) {
            return None;
        }
        state.centers = state.exact_centers();
        Some(state)
    }

    fn new(rows: Rows<'a>, centers: Vec<f64>, own: Vec<u32>, second: Vec<u32>, k: usize) -> Self {
        let n = rows.n();
        let mut counts = vec![0; k];
        for label in &own {
            counts[*label as usize] += 1;
        }
        State {
            rows,
            k,
            centers,
            counts,
            own,
            second,
            saving: vec![0.0; n],
            live: vec![n; k],
            touched: vec![true; k],
            // Every saving is still to be computed.
            changed_at: vec![Some(0); k],
            unmoved: 0,
        }
    }

    fn distance(&self, i: usize, c: usize) -> f64 {
        squared_distance(self.rows.row(i), &self.centers[c * self.rows.d..][..self.rows.d])
    }

    /// n/(n-1), the weight of a row's squared distance when it leaves.
    fn leave(&self, c: usize) -> f64 {
        let n = self.counts[c] as f64;
        if n > 1.0 { n / (n - 1.0) } else { f64::INFINITY }
    }

    /// n/(n+1), the weight of a row's squared distance when it joins.
    fn join(&self, c: usize) -> f64 {
        let n = self.counts[c] as f64;
        n / (n + 1.0)
    }

    /// Moves row i from its cluster to `to`; the former cluster becomes its second.
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
        self.unmoved = 0;
    }

    /// One pass over all rows against the live set; true when no row moved during n consecutive tests.
    fn optimal_transfer(&mut self, observer: &dyn Observer) -> Result<bool> {
        let n = self.rows.n();
        for c in 0..self.k {
            // A cluster changed by the quick-transfer stage is live for the whole pass.
            if self.touched[c] {
                self.live[c] = n;
            }
        }
        for i in 0..n {
            if i.is_multiple_of(ASK) {
                check(observer)?;
            }
            self.unmoved += 1;
            let from = self.own[i] as usize;
            if self.counts[from] > 1 {
                if self.changed_at[from].is_some() {
                    self.saving[i] = self.distance(i, from) * self.leave(from);
                }
                let earlier = self.second[i] as usize;
                let mut target = earlier;
                let mut cost = self.distance(i, earlier) * self.join(earlier);
                for c in (0..self.k).filter(|c| *c != from && *c != earlier) {
                    // Neither cluster has changed since this row was last tested, so neither has the result.
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
            if self.unmoved == n {
                return Ok(true);
            }
        }
        for c in 0..self.k {
            self.touched[c] = false;
            self.live[c] = self.live[c].saturating_sub(n);
        }
        Ok(false)
    }

    /// Swaps rows between their closest and second closest clusters until n consecutive tests move none.
    fn quick_transfer(&mut self, observer: &dyn Observer) -> Result<()> {
        let n = self.rows.n();
        // R's limit of 50 n steps. Rounding could otherwise make two equal clusterings alternate forever.
        let cap = n.saturating_mul(50);
        let (mut step, mut unmoved) = (0, 0);
        // A cluster counts as changed until this step, one round after its last change. Changes of the
        // optimal-transfer stage hold for the first round, up to their own row.
        let mut until: Vec<usize> = self.changed_at.iter().map(|at| at.map_or(0, |row| row + 1)).collect();
        'rounds: loop {
            for i in 0..n {
                if i.is_multiple_of(ASK) {
                    check(observer)?;
                }
                unmoved += 1;
                step += 1;
                if step >= cap {
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
                            unmoved = 0;
                            for c in [from, to] {
                                self.touched[c] = true;
                                until[c] = step + n;
                            }
                            self.transfer(i, to);
                        }
                    }
                }
                if unmoved == n {
                    break 'rounds;
                }
            }
        }
        // Savings of rows whose cluster changed after their last visit are stale.
        for (at, end) in self.changed_at.iter_mut().zip(until) {
            *at = if end > 0 { Some(0) } else { None };
        }
        Ok(())
    }

    /// The means of the final clusters, without the rounding errors of the incremental updates.
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

/// Whether a transfer lowers the sum of squares by more than rounding.
fn better(cost: f64, saving: f64) -> bool {
    cost < saving * (1.0 - 1e-12)
}
