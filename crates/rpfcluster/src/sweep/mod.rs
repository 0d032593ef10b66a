//! The paper's search: every pair (beta1, beta2) of a grid, both ways of labelling, one forest.
//!
//! The paper looks at 5 thresholds and 2,090 bandwidths, 10,450 spectral clusterings of one kernel. They share nearly
//! everything: the pairs above a threshold are counted once, a bandwidth only changes a table of T + 1 weights, and
//! the eigenvectors of one bandwidth are the best start for the next. A bandwidth whose affinity differs from the last
//! one solved by less than [`SAME`] of the constant takes over its labels; at the far end of the grid, where the
//! step is 0.1 in 200, most do. `refine` goes further: between two bandwidths with the same labels none is
//! solved. Many settings give the same labels, so scores are taken once for each distinct
//! partition.
//!
//! Results are the same for any number of threads: warm starts stay inside fixed stretches of the grid.

mod grid;
mod pick;
mod solve;

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::affinity::{Diagonal, LinearAffinity, SparseAffinity};
use crate::eigen::Method;
use crate::error::{Error, Result, parameter};
use crate::kernel::LeafMatrix;
use crate::label::ncut_value;
use crate::metrics::Scores;
use crate::observe::{Observer, Quiet, Stage, check};

pub use grid::{coarse_bandwidths, medium_bandwidths, paper_bandwidths, paper_thresholds};
pub use pick::most_agreed;
use solve::Walk;

/// Bandwidths whose warm starts follow each other; fixed, so that the number of threads changes nothing.
const STRETCH: usize = 48;
/// A setting is solved anew when its affinity moved by more than this share of the constant.
pub const SAME: f64 = 1e-4;
/// Distinct partitions the label-free rule compares: those with the most settings behind them.
const COMPARED: usize = 150;

/// A search over thresholds and bandwidths.
///
/// ```
/// use rpfcluster::sweep::Sweep;
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
    /// Thresholds; the paper's are 0, 0.1, …, 0.4.
    pub beta1: Vec<f64>,
    /// Bandwidths, ascending.
    pub beta2: Vec<f64>,
    /// Ways to make labels.
    pub methods: Vec<Method>,
    /// Whether a point is similar to itself; the paper keeps it.
    pub diagonal: Diagonal,
    /// Restarts of k-means in each setting.
    pub restarts: usize,
    /// Largest residual of the eigenvectors. Labels do not need the last digits.
    pub tolerance: f64,
    /// Most products of the eigen-solver in one setting.
    pub max_iterations: usize,
    /// Thresholds that would keep more pairs than this (by the bound n · leaf size / beta1) are left out.
    pub most_pairs: usize,
    /// Solve about eighteen bandwidths of the range and those between two of them only where the labels of the two
    /// differ by more than a row in 500, by halves; the others take over the labels of a neighbour. Below the first
    /// bandwidth whose eigenvectors are not found none is tried. Much faster on a fine grid, and nearly the same.
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

/// One setting of the grid and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Threshold.
    pub beta1: f64,
    /// Bandwidth.
    pub beta2: f64,
    /// How the labels were made.
    pub method: Method,
    /// Rows of each cluster.
    pub sizes: Vec<usize>,
    /// Ncut of the partition measured on S itself, so that settings can be compared.
    pub ncut: f64,
    /// Eigenvalue K less eigenvalue K + 1 of this setting's own affinity.
    pub eigengap: f64,
    /// Whether the eigenvectors reached the tolerance.
    pub converged: bool,
    /// Whether the labels were taken over from a bandwidth close by.
    pub reused: bool,
    /// Which of [`SweepResult::partitions`] it is.
    pub partition: usize,
}

/// The whole grid.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepResult {
    /// Every setting, by threshold, then bandwidth, then method.
    pub entries: Vec<Entry>,
    /// The distinct partitions, labels numbered by first appearance.
    pub partitions: Vec<Vec<u32>>,
    /// Scores of each partition, when classes were given.
    pub scores: Option<Vec<Scores>>,
    /// The entry the label-free rule picks: the partition with the highest mean adjusted Rand index to those of all
    /// other settings (the first entry that has it). Settings that did not converge take no part.
    pub label_free: usize,
    /// The entry of the highest rho_c (then the highest ARI), when classes were given: the paper's protocol.
    /// Settings that did not converge take no part: among random answers the labels would find a lucky one.
    pub best_by_labels: Option<usize>,
    /// Thresholds left out because they would have kept too many pairs.
    pub left_out: Vec<f64>,
    /// Settings that could not be solved, with the reason of the first.
    pub failed: Option<(usize, String)>,
}

impl SweepResult {
    /// The labels of an entry.
    pub fn labels_of(&self, entry: usize) -> &[u32] {
        self.entries.get(entry).and_then(|e| self.partitions.get(e.partition)).map_or(&[], Vec::as_slice)
    }

    /// The scores of an entry, when classes were given.
    pub fn scores_of(&self, entry: usize) -> Option<&Scores> {
        self.entries.get(entry).and_then(|e| self.scores.as_ref()?.get(e.partition))
    }
}

/// What one setting gave, before partitions are told apart.
struct Solved {
    at: (usize, usize, usize),
    labels: Result<Vec<u32>>,
    eigengap: f64,
    converged: bool,
    reused: bool,
}

impl Sweep {
    /// Refuses values that cannot be meant.
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

    /// Runs the grid over the leaves of one forest, in the current thread pool. `classes` are only used to score.
    pub fn run(
        &self,
        leaves: &Arc<LeafMatrix>,
        classes: Option<&[u32]>,
        observer: &dyn Observer,
    ) -> Result<SweepResult> {
        self.validate()?;
        crate::pipeline::fit::check_distinct(leaves, self.k, observer)?;
        if let Some(given) = classes.map(<[u32]>::len).filter(|len| *len != leaves.n()) {
            return Err(Error::Length { what: "classes", got: given, expected: leaves.n() });
        }
        let (thresholds, left_out) = self.affordable(leaves);
        let settings = thresholds.len() * self.beta2.len();
        observer.begin(Stage::Tune, settings as u64);
        let solved = if self.refine {
            self.refine(leaves, &thresholds, observer)?
        } else {
            self.whole(leaves, &thresholds, observer)?
        };
        observer.end(Stage::Tune);
        self.collect(leaves, (&thresholds, left_out), solved, classes, observer)
    }

    /// Every bandwidth, threshold after threshold: one set of pairs in memory, stretches side by side.
    fn whole(&self, leaves: &LeafMatrix, thresholds: &[f64], observer: &dyn Observer) -> Result<Vec<Solved>> {
        let mut solved = Vec::with_capacity(thresholds.len() * self.beta2.len() * self.methods.len());
        for (number, beta1) in thresholds.iter().enumerate() {
            check(observer)?;
            let kernel = leaves.sparse(*beta1, &Quiet(observer))?;
            let base = SparseAffinity::paper(&kernel, self.beta2[0], self.diagonal, observer)?;
            drop(kernel);
            let starts: Vec<usize> = (0..self.beta2.len()).step_by(STRETCH).collect();
            let stretches: Result<Vec<Vec<Solved>>> = starts
                .par_iter()
                .map(|first| {
                    let end = (first + STRETCH).min(self.beta2.len());
                    Walk::new(self, base.clone(), number, observer).stretch(*first, end)
                })
                .collect();
            solved.extend(stretches?.into_iter().flatten());
        }
        Ok(solved)
    }

    /// The bandwidths that matter, thresholds side by side: pairs are counted once and each threshold keeps its own.
    fn refine(
        &self,
        leaves: &LeafMatrix,
        thresholds: &[f64],
        observer: &dyn Observer,
    ) -> Result<Vec<Solved>> {
        let least = thresholds.iter().copied().fold(1.0, f64::min);
        let kernel = leaves.sparse(least, &Quiet(observer))?;
        let walks: Result<Vec<Vec<Solved>>> = thresholds
            .par_iter()
            .enumerate()
            .map(|(number, beta1)| {
                check(observer)?;
                let own = kernel.at_least(*beta1)?;
                let base = SparseAffinity::paper(&own, self.beta2[0], self.diagonal, observer)?;
                drop(own);
                Walk::new(self, base, number, observer).refined()
            })
            .collect();
        Ok(walks?.into_iter().flatten().collect())
    }

    /// The thresholds whose pairs fit, and those left out. The largest always stays.
    fn affordable(&self, leaves: &LeafMatrix) -> (Vec<f64>, Vec<f64>) {
        let (n, leaf) = (leaves.n() as f64, leaves.mean_leaf());
        let largest = self.beta1.iter().copied().fold(0.0, f64::max);
        let bound = |beta1: f64| n * n.min(leaf / beta1.max(1.0 / leaves.trees() as f64));
        self.beta1.iter().partition(|b| **b == largest || bound(**b) <= self.most_pairs as f64)
    }

    /// Tells partitions apart, measures each once, and picks.
    fn collect(
        &self,
        leaves: &Arc<LeafMatrix>,
        (thresholds, left_out): (&[f64], Vec<f64>),
        solved: Vec<Solved>,
        classes: Option<&[u32]>,
        observer: &dyn Observer,
    ) -> Result<SweepResult> {
        let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut entries = Vec::with_capacity(solved.len());
        let mut failed: Option<(usize, String)> = None;
        for one in solved {
            check(observer)?;
            let labels = match one.labels {
                Ok(labels) => labels,
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(problem) => {
                    let (count, _) = failed.get_or_insert_with(|| (0, problem.to_string()));
                    *count += 1;
                    continue;
                }
            };
            let mut sizes = vec![0; self.k];
            labels.iter().for_each(|l| sizes[*l as usize] += 1);
            let fresh = known.len();
            let partition = *known.entry(labels).or_insert(fresh);
            let (b1, b2, m) = one.at;
            entries.push(Entry {
                beta1: thresholds[b1],
                beta2: self.beta2[b2],
                method: self.methods[m],
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
            let problem = failed.map_or_else(|| "there was none".to_string(), |f| f.1);
            return Err(Error::Numerical { what: "search over all settings", problem });
        }
        let linear = LinearAffinity::new(leaves.clone());
        let ncut = |p: &Vec<u32>| ncut_value(&linear, p, self.k, observer);
        let ncuts: Result<Vec<f64>> = partitions.par_iter().map(ncut).collect();
        let ncuts = ncuts?;
        let score = |p: &Vec<u32>, c| check(observer).and_then(|()| Scores::new(p, c));
        let scores: Option<Result<Vec<Scores>>> =
            classes.map(|c| partitions.par_iter().map(|p| score(p, c)).collect());
        let scores = scores.transpose()?;
        let mut weights = vec![0usize; partitions.len()];
        // An unfinished eigenvector is a random one as far as labels go: listed, never picked unless all are.
        let finished = entries.iter().any(|e| e.converged);
        for entry in &mut entries {
            entry.ncut = ncuts[entry.partition];
            weights[entry.partition] += usize::from(entry.converged || !finished);
        }
        let eligible = |at: &usize| entries[*at].converged || !finished;
        let agreed = most_agreed(&partitions, &weights, COMPARED, observer)?;
        let label_free =
            (0..entries.len()).filter(eligible).find(|at| entries[*at].partition == agreed).unwrap_or(0);
        let best_by_labels = scores.as_ref().and_then(|s| {
            let key = |at: &usize| s[entries[*at].partition];
            (0..entries.len()).filter(eligible).reduce(|best, at| {
                let (a, b) = (key(&best), key(&at));
                if (b.rho_c, b.ari) > (a.rho_c, a.ari) { at } else { best }
            })
        });
        Ok(SweepResult { entries, partitions, scores, label_free, best_by_labels, left_out, failed })
    }
}
