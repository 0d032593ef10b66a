//! Grid search over threshold beta1 and bandwidth beta2, with both ways of labelling, on one forest: the paper's
//! tuning.
//!
//! The paper's grid has 5 thresholds and 2,090 bandwidths, 10,450 spectral clusterings of one kernel. Most of the work
//! is shared. The pairs above a threshold are counted once, a bandwidth only changes a table of T + 1 weights, and
//! the eigenvectors of one bandwidth are warm starts for the next. A bandwidth whose affinity differs from the last
//! solved one by less than [`REUSE`] of the constant reuses its labels; at the far end of the grid, where the step is
//! 0.1 in 200, most do. [`Sweep::refine`] also skips bandwidths between two that have the same labels. Many settings
//! give the same labels, so each distinct partition is scored once. The result lists every setting, the one selected
//! without classes (`agreement`) and, with classes, the best by labels.
//!
//! Results do not depend on the number of threads: warm starts stay inside fixed ranges of the grid.

mod agreement;
mod grid;
mod solve;

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use rpfcluster::affinity::{Diagonal, LinearAffinity, SparseAffinity};
use rpfcluster::{Error, Result};

use crate::parameter;
use rpfcluster::LeafMatrix;
use rpfcluster::metrics::{Scores, cluster_sizes};
use rpfcluster::observe::{Observer, Quiet, Stage, StageGuard, check};
use rpfcluster::spectral::{Method, ncut_value};

pub use agreement::most_agreed;
use grid::bandwidth_weights;
pub use grid::{coarse_bandwidths, medium_bandwidths, paper_bandwidths, paper_thresholds};
use solve::BandwidthPath;

/// Bandwidths of one chain of warm starts. Fixed, so that results do not depend on the number of threads.
const CHAIN: usize = 48;
/// Largest change of an affinity, as a share of its constant, at which a bandwidth reuses the labels of another.
pub const REUSE: f64 = 1e-4;
/// Largest number of distinct partitions that the label-free rule compares, those of the most settings first. The cost
/// grows with its square.
const COMPARED: usize = 150;

/// A search over thresholds and bandwidths.
///
/// ```
/// use rpfcluster_paper::sweep::Sweep;
/// use rpfcluster::{Forest, ForestParams, Points};
/// let values: Vec<f64> = (0..120).map(|i| if i < 60 { i as f64 * 0.01 } else { 9.0 + i as f64 * 0.01 }).collect();
/// let points = Points::new(&values, 120, 1)?;
/// let forest = Forest::grow(&points, &ForestParams { trees: 40, ..Default::default() })?;
/// let classes: Vec<u32> = (0..120).map(|i| u32::from(i >= 60)).collect();
/// let found = Sweep { k: 2, ..Default::default() }.run(&forest.leaves().into(), Some(&classes), &rpfcluster::Silent)?;
/// assert_eq!(found.entries.len(), 5 * 18 * 2);
/// let best = found.best_by_labels.map(|at| found.scores_of(at)).flatten();
/// assert_eq!(best.map(|s| s.rho_c), Some(100.0));
/// # Ok::<(), rpfcluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sweep {
    /// Number of clusters.
    pub k: usize,
    /// Thresholds beta1: similarities below count as zero. The paper's are 0, 0.1, …, 0.4.
    pub beta1: Vec<f64>,
    /// Bandwidths beta2 of `exp((s - 1) / beta2)`, ascending.
    pub beta2: Vec<f64>,
    /// Ways of labelling.
    pub methods: Vec<Method>,
    /// Whether a point is similar to itself; the paper keeps the diagonal.
    pub diagonal: Diagonal,
    /// Restarts of k-means in each setting.
    pub restarts: usize,
    /// Largest residual of the eigenvectors; labels do not need the last digits.
    pub tolerance: f64,
    /// Largest number of matrix products of the eigensolver in one setting.
    pub max_iterations: usize,
    /// Thresholds that could keep more pairs than this, by [`Sweep::pair_bound`], are left out.
    pub most_pairs: usize,
    /// Solve about eighteen bandwidths of the range, then bisect between two of them where their labels differ in more
    /// than one row in 500; the others reuse the labels of a neighbour. Bandwidths below the first whose eigenvectors
    /// do not converge are not solved. Much faster on a fine grid, with nearly the same result.
    pub refine: bool,
    /// Seed of start vectors and k-means.
    pub seed: u64,
}

impl Default for Sweep {
    fn default() -> Self {
        Sweep {
            k: 2,
            beta1: paper_thresholds(),
            beta2: coarse_bandwidths(),
            methods: vec![Method::Ncut, Method::Kway],
            diagonal: Diagonal::Keep,
            restarts: 5,
            tolerance: 1e-5,
            max_iterations: 400,
            most_pairs: 100_000_000,
            refine: false,
            seed: 0,
        }
    }
}

/// The result of one setting of the grid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GridEntry {
    /// The threshold.
    pub beta1: f64,
    /// The bandwidth.
    pub beta2: f64,
    /// How the labels were made.
    pub method: Method,
    /// Rows of each cluster.
    pub sizes: Vec<usize>,
    /// Ncut of the partition on the kernel S itself, so that settings are comparable.
    pub ncut: f64,
    /// Eigenvalue K minus eigenvalue K + 1 of this setting's affinity.
    pub eigengap: f64,
    /// Whether the eigenvectors reached the tolerance.
    pub converged: bool,
    /// Whether the labels are those of a neighbouring bandwidth.
    pub reused: bool,
    /// Index into [`SweepResult::partitions`].
    pub partition: usize,
}

/// The results of the whole grid.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepResult {
    /// Every setting, by threshold, then bandwidth, then method.
    pub entries: Vec<GridEntry>,
    /// The distinct partitions, labels numbered by first appearance.
    pub partitions: Vec<Vec<u32>>,
    /// Scores of each partition, when classes were given.
    pub scores: Option<Vec<Scores>>,
    /// The entry selected without classes: the first with the partition of the highest mean adjusted Rand index to those
    /// of all settings with a bandwidth up to 1, each bandwidth counted by its share of the logarithmic scale. Settings
    /// that did not converge are left out.
    pub label_free: usize,
    /// The entry of the highest rho_c, then the highest ARI, when classes were given: the paper's protocol. Settings
    /// that did not converge are left out: a selection by classes among random labels would find a lucky one.
    pub best_by_labels: Option<usize>,
    /// Thresholds left out because they could keep too many pairs.
    pub left_out: Vec<f64>,
    /// The settings that could not be solved, if any.
    pub failed: Option<Failures>,
}

/// Settings that could not be solved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failures {
    /// How many.
    pub settings: usize,
    /// The reason of the first.
    pub first: String,
}

impl SweepResult {
    /// The labels of an entry.
    pub fn labels_of(&self, entry: usize) -> &[u32] {
        self.entries.get(entry).and_then(|e| self.partitions.get(e.partition)).map_or(&[], Vec::as_slice)
    }

    /// The entry of the highest rho_c, then the highest ARI, among those of one way of labelling, when classes were
    /// given. As in [`SweepResult::best_by_labels`], settings that did not converge are left out.
    pub fn best_of(&self, method: Method) -> Option<usize> {
        best(&self.entries, self.scores.as_deref()?, |entry| entry.method == method)
    }

    /// The scores of an entry, when classes were given.
    pub fn scores_of(&self, entry: usize) -> Option<&Scores> {
        self.entries.get(entry).and_then(|e| self.scores.as_ref()?.get(e.partition))
    }
}

/// One solved setting, before equal partitions are merged.
#[derive(Clone)]
struct Solved {
    /// Index of the threshold among those that are solved.
    threshold: usize,
    /// Index into [`Sweep::beta2`].
    bandwidth: usize,
    /// Index into [`Sweep::methods`].
    method: usize,
    labels: Result<Vec<u32>>,
    eigengap: f64,
    converged: bool,
    reused: bool,
}

/// The first entry of the highest rho_c, then ARI, among those that count and have converged, or that count if none of
/// the grid has converged.
fn best(entries: &[GridEntry], scores: &[Scores], counts: impl Fn(&GridEntry) -> bool) -> Option<usize> {
    let any_converged = entries.iter().any(|e| e.converged);
    let eligible = |entry: &GridEntry| counts(entry) && (entry.converged || !any_converged);
    let key = |at: usize| {
        let score = &scores[entries[at].partition];
        (score.rho_c, score.ari)
    };
    let places = (0..entries.len()).filter(|at| eligible(&entries[*at]));
    places.reduce(|best, at| if key(at) > key(best) { at } else { best })
}

impl Sweep {
    /// Refuses values outside their range.
    pub fn validate(&self) -> Result<()> {
        if self.beta1.is_empty() || self.beta2.is_empty() || self.methods.is_empty() {
            return Err(parameter("grid", "empty", "at least one beta1, one beta2 and one method"));
        }
        if let Some(b) = self.beta1.iter().find(|b| !(0.0..=1.0).contains(*b)) {
            return Err(parameter("beta1", b, "from 0 to 1"));
        }
        if let Some(b) = self.beta2.iter().find(|b| !(b.is_finite() && **b > 0.0)) {
            return Err(parameter("beta2", b, "above 0"));
        }
        self.spectral(self.k, 0).validate()
    }

    /// Runs the grid on the leaves of one forest, in the current thread pool. `classes` are only used to score.
    pub fn run(
        &self,
        leaves: &Arc<LeafMatrix>,
        classes: Option<&[u32]>,
        observer: &dyn Observer,
    ) -> Result<SweepResult> {
        self.validate()?;
        rpfcluster::check_distinct(leaves, self.k, observer)?;
        if let Some(given) = classes.map(<[u32]>::len).filter(|len| *len != leaves.n()) {
            return Err(Error::Length { what: "classes", got: given, expected: leaves.n() });
        }
        let (thresholds, left_out) = self.affordable(leaves);
        let settings = thresholds.len() * self.beta2.len();
        let stage = StageGuard::begin(observer, Stage::Tune, settings as u64);
        let solved = if self.refine {
            self.solve_refined(leaves, &thresholds, observer)?
        } else {
            self.solve_all(leaves, &thresholds, observer)?
        };
        drop(stage);
        self.collect(leaves, &thresholds, left_out, solved, classes, observer)
    }

    /// Solves every bandwidth, threshold after threshold: one set of pairs in memory, chains in parallel.
    fn solve_all(
        &self,
        leaves: &LeafMatrix,
        thresholds: &[f64],
        observer: &dyn Observer,
    ) -> Result<Vec<Solved>> {
        let mut solved = Vec::with_capacity(thresholds.len() * self.beta2.len() * self.methods.len());
        for (number, beta1) in thresholds.iter().enumerate() {
            check(observer)?;
            let kernel = leaves.sparse(*beta1, &Quiet(observer))?;
            let base = SparseAffinity::paper(&kernel, self.beta2[0], self.diagonal, observer)?;
            drop(kernel);
            let starts: Vec<usize> = (0..self.beta2.len()).step_by(CHAIN).collect();
            let path = |base, first: usize| {
                let end = (first + CHAIN).min(self.beta2.len());
                BandwidthPath::new(self, base, number, observer).solve_range(first, end)
            };
            // A copy of the pairs takes up to a second, in which nothing checks for cancellation.
            let chains: Result<Vec<Vec<Solved>>> = match starts[..] {
                [first] => path(base, first).map(|chain| vec![chain]),
                _ => starts.par_iter().map(|first| path(base.clone(), *first)).collect(),
            };
            solved.extend(chains?.into_iter().flatten());
        }
        Ok(solved)
    }

    /// Solves the bandwidths of [`Sweep::refine`], thresholds in parallel; pairs are counted once for all of them.
    fn solve_refined(
        &self,
        leaves: &LeafMatrix,
        thresholds: &[f64],
        observer: &dyn Observer,
    ) -> Result<Vec<Solved>> {
        let least = thresholds.iter().copied().fold(1.0, f64::min);
        let kernel = leaves.sparse(least, &Quiet(observer))?;
        let paths: Result<Vec<Vec<Solved>>> = thresholds
            .par_iter()
            .enumerate()
            .map(|(number, beta1)| {
                check(observer)?;
                let own = kernel.at_least(*beta1)?;
                let base = SparseAffinity::paper(&own, self.beta2[0], self.diagonal, observer)?;
                drop(own);
                BandwidthPath::new(self, base, number, observer).solve_refined()
            })
            .collect();
        Ok(paths?.into_iter().flatten().collect())
    }

    /// The most pairs that a threshold can keep: n · leaf size / beta1.
    pub fn pair_bound(leaves: &LeafMatrix, beta1: f64) -> f64 {
        let n = leaves.n() as f64;
        n * n.min(leaves.mean_leaf() / beta1.max(1.0 / leaves.trees() as f64))
    }

    /// The thresholds within [`Sweep::most_pairs`], and those left out. The largest always stays.
    pub fn affordable(&self, leaves: &LeafMatrix) -> (Vec<f64>, Vec<f64>) {
        let (largest, most) = (self.beta1.iter().copied().fold(0.0, f64::max), self.most_pairs as f64);
        self.beta1.iter().partition(|b| **b == largest || Self::pair_bound(leaves, **b) <= most)
    }

    /// Merges equal partitions, scores each once, and selects.
    fn collect(
        &self,
        leaves: &Arc<LeafMatrix>,
        thresholds: &[f64],
        left_out: Vec<f64>,
        solved: Vec<Solved>,
        classes: Option<&[u32]>,
        observer: &dyn Observer,
    ) -> Result<SweepResult> {
        let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut entries = Vec::with_capacity(solved.len());
        let mut failed: Option<Failures> = None;
        for one in solved {
            check(observer)?;
            let labels = match one.labels {
                Ok(labels) => labels,
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(problem) => {
                    let none = || Failures { settings: 0, first: problem.to_string() };
                    failed.get_or_insert_with(none).settings += 1;
                    continue;
                }
            };
            let sizes = cluster_sizes(&labels, self.k);
            let fresh = known.len();
            let partition = *known.entry(labels).or_insert(fresh);
            entries.push(GridEntry {
                beta1: thresholds[one.threshold],
                beta2: self.beta2[one.bandwidth],
                method: self.methods[one.method],
                sizes,
                ncut: 0.0,
                eigengap: one.eigengap,
                converged: one.converged,
                reused: one.reused,
                partition,
            });
        }
        let mut partitions = vec![Vec::new(); known.len()];
        for (labels, at) in known {
            partitions[at] = labels;
        }
        if entries.is_empty() {
            let problem = failed.map_or_else(|| "the grid is empty".to_string(), |f| f.first);
            return Err(Error::Numerical { what: "search over all settings", problem });
        }
        let linear = LinearAffinity::new(leaves.clone());
        let ncut = |p: &Vec<u32>| ncut_value(&linear, p, self.k, observer);
        let ncuts: Result<Vec<f64>> = partitions.par_iter().map(ncut).collect();
        check(observer)?;
        let ncuts = ncuts?;
        let score = |p: &Vec<u32>, c| check(observer).and_then(|()| Scores::new(p, c));
        let scores: Option<Result<Vec<Scores>>> =
            classes.map(|c| partitions.par_iter().map(|p| score(p, c)).collect());
        let scores = scores.transpose()?;
        // Labels from eigenvectors that did not converge are random: listed, but only selected when none converged.
        let any_converged = entries.iter().any(|e| e.converged);
        entries.iter_mut().for_each(|entry| entry.ncut = ncuts[entry.partition]);
        let eligible = |at: &usize| entries[*at].converged || !any_converged;
        // Where small bandwidths did not converge, those that did count the same.
        let solved: Vec<f64> = (0..entries.len()).filter(eligible).map(|at| entries[at].beta2).collect();
        let of_bandwidth = bandwidth_weights(&self.beta2, &solved);
        let mut weights = vec![0.0; partitions.len()];
        for (at, weight) in (0..entries.len()).filter(eligible).zip(of_bandwidth) {
            weights[entries[at].partition] += weight;
        }
        let agreed = most_agreed(&partitions, &weights, COMPARED, observer)?;
        let label_free =
            (0..entries.len()).filter(eligible).find(|at| entries[*at].partition == agreed).unwrap_or(0);
        let best_by_labels = scores.as_deref().and_then(|scores| best(&entries, scores, |_| true));
        Ok(SweepResult { entries, partitions, scores, label_free, best_by_labels, left_out, failed })
    }
}
