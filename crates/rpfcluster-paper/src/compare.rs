//! All methods of the paper's section 5 on one table, scored the same way.
//!
//! rpfCluster runs in two forms. `rpf_label_free` chooses everything without the classes, as its rivals do.
//! `rpf_best_by_labels` is the paper's protocol: the best setting of a grid by the known classes, which a user without
//! classes cannot repeat. [`Comparison::run`] runs one method and returns labels, scores, seconds and a note.

use std::sync::Arc;
use std::time::Instant;

use crate::sweep::{Sweep, SweepResult};
use rayon::prelude::*;
use rpfcluster::metrics::Scores;
use rpfcluster::observe::{Observer, Quiet};
use rpfcluster::{Forest, ForestParams, Points, Result, RpfCluster};
use serde::{Deserialize, Serialize};

use crate::parameter;
use crate::rivals::{ClusterForests, HartiganWong, Njw};

/// A method of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparedMethod {
    /// K-means by Hartigan and Wong.
    #[serde(rename = "kmeans")]
    KMeans,
    /// Spectral clustering with the Gaussian kernel.
    Njw,
    /// Cluster Forests.
    Cf,
    /// rpfCluster with its own choice of parameters.
    RpfLabelFree,
    /// rpfCluster by the paper's protocol, tuned by the classes.
    RpfBestByLabels,
}

impl ComparedMethod {
    /// All of them, in the order of the tables.
    pub const ALL: [ComparedMethod; 5] = [
        ComparedMethod::KMeans,
        ComparedMethod::Njw,
        ComparedMethod::Cf,
        ComparedMethod::RpfLabelFree,
        ComparedMethod::RpfBestByLabels,
    ];

    /// The name in results.json and in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            ComparedMethod::KMeans => "kmeans",
            ComparedMethod::Njw => "njw",
            ComparedMethod::Cf => "cf",
            ComparedMethod::RpfLabelFree => "rpf_label_free",
            ComparedMethod::RpfBestByLabels => "rpf_best_by_labels",
        }
    }

    /// The name in tables and figures.
    pub fn title(self) -> &'static str {
        match self {
            ComparedMethod::KMeans => "K-means",
            ComparedMethod::Njw => "NJW",
            ComparedMethod::Cf => "CF",
            ComparedMethod::RpfLabelFree => "rpfCluster, label-free",
            ComparedMethod::RpfBestByLabels => "rpfCluster, best by labels",
        }
    }
}

/// The parameters of every method. `k` and `seed` override those of the single methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// K-means.
    pub kmeans: HartiganWong,
    /// NJW.
    pub njw: Njw,
    /// Cluster Forests.
    pub cf: ClusterForests,
    /// rpfCluster, label-free.
    pub rpf: RpfCluster,
    /// The grid of the paper's protocol.
    pub sweep: Sweep,
    /// The numbers of trees of the paper's protocol, all taken from one forest.
    pub trees: Vec<usize>,
    /// n_s of the paper's protocol: smaller nodes are not split.
    pub min_node: usize,
    /// Number of clusters.
    pub k: usize,
    /// Seed of every method.
    pub seed: u64,
}

impl Default for Comparison {
    fn default() -> Self {
        Comparison {
            kmeans: HartiganWong::default(),
            njw: Njw::default(),
            cf: ClusterForests::default(),
            rpf: RpfCluster::default(),
            sweep: Sweep::default(),
            trees: vec![200],
            min_node: 30,
            k: 2,
            seed: 0,
        }
    }
}

/// The result of one method.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The method.
    pub method: ComparedMethod,
    /// One label per row.
    pub labels: Vec<u32>,
    /// Scores against the known classes.
    pub scores: Scores,
    /// Seconds of wall-clock time.
    pub seconds: f64,
    /// Landmarks used or setting chosen; often empty.
    pub note: String,
}

impl Comparison {
    /// Runs one method on rows of `d` numbers with known classes, in the current thread pool.
    pub fn run(
        &self,
        method: ComparedMethod,
        data: &[f64],
        d: usize,
        classes: &[u32],
        observer: &dyn Observer,
    ) -> Result<Answer> {
        let clock = Instant::now();
        let (k, seed) = (self.k, self.seed);
        let landmarks = |used: Option<usize>| used.map_or(String::new(), |m| format!("{m} landmarks"));
        let (labels, note) = match method {
            ComparedMethod::KMeans => {
                let fit = HartiganWong { k, seed, ..self.kmeans.clone() }.fit(data, d, observer)?;
                (fit.labels, String::new())
            }
            ComparedMethod::Njw => {
                let fit = Njw { k, seed, ..self.njw.clone() }.fit(data, d, observer)?;
                (fit.labels, landmarks(fit.landmarks))
            }
            ComparedMethod::Cf => {
                let fit = ClusterForests { k, seed, ..self.cf.clone() }.fit(data, d, observer)?;
                (fit.labels, landmarks(fit.landmarks))
            }
            ComparedMethod::RpfLabelFree => {
                let points = Points::new(data, data.len().checked_div(d).unwrap_or(0), d)?;
                // The time is that of the labels, without the verdict.
                let params = RpfCluster { k, seed, assess: false, ..self.rpf.clone() };
                let fitted = params.fit(points.observed(observer))?;
                (fitted.labels().to_vec(), String::new())
            }
            ComparedMethod::RpfBestByLabels => self.best_by_labels(data, d, classes, observer)?,
        };
        let scores = Scores::new(&labels, classes)?;
        Ok(Answer { method, labels, scores, seconds: clock.elapsed().as_secs_f64(), note })
    }

    /// The paper's protocol: the best rho_c over the grid and the numbers of trees.
    fn best_by_labels(
        &self,
        data: &[f64],
        d: usize,
        classes: &[u32],
        observer: &dyn Observer,
    ) -> Result<(Vec<u32>, String)> {
        let points = Points::new(data, data.len().checked_div(d).unwrap_or(0), d)?;
        let most = self.trees.iter().copied().max().unwrap_or(0);
        let params = ForestParams {
            trees: most,
            min_node: self.min_node,
            split: self.rpf.split,
            direction: self.rpf.direction,
            candidates: self.rpf.candidates,
            seed: self.seed,
        };
        let forest = Forest::grow(points.observed(observer), &params)?;
        let sweep = Sweep { k: self.k, seed: self.seed, ..self.sweep.clone() };
        // One forest for all numbers of trees: a smaller one takes the first trees.
        let quiet = Quiet(observer);
        let searched: Result<Vec<Option<BestByLabels>>> = self
            .trees
            .par_iter()
            .map(|trees| {
                let leaves = Arc::new(forest.leaves_of_trees(0..*trees, self.min_node)?);
                Ok(found(*trees, &sweep.run(&leaves, Some(classes), &quiet)?))
            })
            .collect();
        let best = searched?.into_iter().flatten().reduce(|best, next| {
            let key = |f: &BestByLabels| (f.scores.rho_c, f.scores.ari);
            if key(&next) > key(&best) { next } else { best }
        });
        best.map(|best| (best.labels, best.note))
            .ok_or_else(|| parameter("trees", "none", "at least one number"))
    }
}

/// The best setting by the known classes for one number of trees.
struct BestByLabels {
    scores: Scores,
    labels: Vec<u32>,
    note: String,
}

fn found(trees: usize, result: &SweepResult) -> Option<BestByLabels> {
    let at = result.best_by_labels?;
    let entry = &result.entries[at];
    let way = if entry.method == rpfcluster::spectral::Method::Ncut { "ncut" } else { "kway" };
    let mut note = format!("T {trees}, beta1 {}, beta2 {}, {way}", entry.beta1, entry.beta2);
    if !result.left_out.is_empty() {
        let left: Vec<String> = result.left_out.iter().map(f64::to_string).collect();
        note.push_str(&format!("; beta1 {} left out for memory", left.join(", ")));
    }
    Some(BestByLabels { scores: *result.scores_of(at)?, labels: result.labels_of(at).to_vec(), note })
}
