//! All methods of the paper's section 5 on one table, scored the same way.
//!
//! rpfCluster has four columns. The paper's protocol is Algorithm 3 with normalised cuts, the best setting of a grid by
//! the known classes, which a user without classes cannot repeat; the same with k-way labels; a setting of the same grid
//! that is selected without classes; and `auto`, the default of this program, which is not Algorithm 3. One search of the
//! grid gives the first three. [`Comparison::run`] runs one experiment and returns the answers of its methods.

use std::sync::Arc;
use std::time::Instant;

use crate::sweep::{Sweep, SweepResult};
use rayon::prelude::*;
use rpfcluster::metrics::Scores;
use rpfcluster::observe::{Observer, Quiet};
use rpfcluster::spectral::Method;
use rpfcluster::{ColumnKey, Forest, ForestParams, Points, Result, RpfCluster};
use serde::{Deserialize, Serialize};

use crate::parameter;
use crate::rivals::{ClusterForests, HartiganWong, Njw};

/// A column of the comparison.
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
    /// Algorithm 3 with normalised cuts, tuned by the classes: the paper's protocol.
    #[serde(rename = "algorithm3_ncut_best")]
    NcutBest,
    /// Algorithm 3 with k-way labels, tuned by the classes.
    #[serde(rename = "algorithm3_kway_best")]
    KwayBest,
    /// Algorithm 3, the setting selected without classes.
    #[serde(rename = "algorithm3_label_free")]
    LabelFree,
    /// The default of this program, without classes.
    Auto,
}

impl ComparedMethod {
    /// All of them, in the order of the tables.
    pub const ALL: [ComparedMethod; 7] = [
        ComparedMethod::KMeans,
        ComparedMethod::Njw,
        ComparedMethod::Cf,
        ComparedMethod::NcutBest,
        ComparedMethod::KwayBest,
        ComparedMethod::LabelFree,
        ComparedMethod::Auto,
    ];

    /// The columns of rpfCluster.
    pub const OWN: [ComparedMethod; 4] =
        [ComparedMethod::NcutBest, ComparedMethod::KwayBest, ComparedMethod::LabelFree, ComparedMethod::Auto];

    /// The name in results.json and in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            ComparedMethod::KMeans => "kmeans",
            ComparedMethod::Njw => "njw",
            ComparedMethod::Cf => "cf",
            ComparedMethod::NcutBest => "algorithm3_ncut_best",
            ComparedMethod::KwayBest => "algorithm3_kway_best",
            ComparedMethod::LabelFree => "algorithm3_label_free",
            ComparedMethod::Auto => "auto",
        }
    }

    /// The name in tables and figures.
    pub fn title(self) -> &'static str {
        match self {
            ComparedMethod::KMeans => "K-means",
            ComparedMethod::Njw => "NJW",
            ComparedMethod::Cf => "CF",
            ComparedMethod::NcutBest => "Algorithm 3, ncut, best by labels",
            ComparedMethod::KwayBest => "Algorithm 3, kway, best by labels",
            ComparedMethod::LabelFree => "Algorithm 3, chosen without labels",
            ComparedMethod::Auto => "rpfCluster, default",
        }
    }
}

/// One computation, whose result fills one column or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    /// K-means by Hartigan and Wong.
    #[serde(rename = "kmeans")]
    KMeans,
    /// Spectral clustering with the Gaussian kernel.
    Njw,
    /// Cluster Forests.
    Cf,
    /// The search of the paper's grid: three columns.
    #[serde(rename = "algorithm3")]
    Algorithm3,
    /// The default of this program.
    Auto,
}

impl Experiment {
    /// All of them, in the order of the tables.
    pub const ALL: [Experiment; 5] =
        [Experiment::KMeans, Experiment::Njw, Experiment::Cf, Experiment::Algorithm3, Experiment::Auto];

    /// The name in file names.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::KMeans => "kmeans",
            Experiment::Njw => "njw",
            Experiment::Cf => "cf",
            Experiment::Algorithm3 => "algorithm3",
            Experiment::Auto => "auto",
        }
    }

    /// The name in messages.
    pub fn title(self) -> &'static str {
        match self {
            Experiment::Algorithm3 => "Algorithm 3",
            _ => self.methods()[0].title(),
        }
    }

    /// The columns that it fills.
    pub fn methods(self) -> &'static [ComparedMethod] {
        match self {
            Experiment::KMeans => &[ComparedMethod::KMeans],
            Experiment::Njw => &[ComparedMethod::Njw],
            Experiment::Cf => &[ComparedMethod::Cf],
            Experiment::Algorithm3 => {
                &[ComparedMethod::NcutBest, ComparedMethod::KwayBest, ComparedMethod::LabelFree]
            }
            Experiment::Auto => &[ComparedMethod::Auto],
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
    /// The default of this program.
    pub rpf: RpfCluster,
    /// What the columns stand for; empty without categories.
    pub keys: Vec<ColumnKey>,
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
            keys: Vec::new(),
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
    /// Runs one experiment on rows of `d` numbers with known classes, in the current thread pool. An answer for each
    /// method of [`Experiment::methods`]; all of them have the seconds of the whole experiment.
    pub fn run(
        &self,
        experiment: Experiment,
        data: &[f64],
        d: usize,
        classes: &[u32],
        observer: &dyn Observer,
    ) -> Result<Vec<Answer>> {
        let clock = Instant::now();
        let (k, seed) = (self.k, self.seed);
        let landmarks = |used: Option<usize>| used.map_or(String::new(), |m| format!("{m} landmarks"));
        let found = match experiment {
            Experiment::KMeans => {
                let fit = HartiganWong { k, seed, ..self.kmeans.clone() }.fit(data, d, observer)?;
                vec![(fit.labels, String::new())]
            }
            Experiment::Njw => {
                let fit = Njw { k, seed, ..self.njw.clone() }.fit(data, d, observer)?;
                vec![(fit.labels, landmarks(fit.landmarks))]
            }
            Experiment::Cf => {
                let fit = ClusterForests { k, seed, ..self.cf.clone() }.fit(data, d, observer)?;
                vec![(fit.labels, landmarks(fit.landmarks))]
            }
            Experiment::Algorithm3 => self.algorithm3(data, d, classes, observer)?,
            Experiment::Auto => {
                let points = self.points(data, d)?;
                // The time is that of the labels, without the verdict.
                let params = RpfCluster { k, seed, assess: false, ..self.rpf.clone() };
                let fitted = params.fit(points.observed(observer))?;
                vec![(fitted.labels().to_vec(), String::new())]
            }
        };
        let seconds = clock.elapsed().as_secs_f64();
        let answer = |(method, (labels, note)): (&ComparedMethod, (Vec<u32>, String))| {
            let scores = Scores::new(&labels, classes)?;
            Ok(Answer { method: *method, labels, scores, seconds, note })
        };
        experiment.methods().iter().zip(found).map(answer).collect()
    }

    fn points<'a>(&'a self, data: &'a [f64], d: usize) -> Result<Points<'a, f64>> {
        Points::new(data, data.len().checked_div(d).unwrap_or(0), d)?.with_keys(&self.keys)
    }

    /// Algorithm 3 on the grid: the best rho_c over settings and numbers of trees for either way of labelling, and the
    /// setting selected without classes on the most trees.
    fn algorithm3(
        &self,
        data: &[f64],
        d: usize,
        classes: &[u32],
        observer: &dyn Observer,
    ) -> Result<Vec<(Vec<u32>, String)>> {
        let points = self.points(data, d)?;
        let most = self.trees.iter().copied().max().unwrap_or(0);
        let params = ForestParams {
            trees: most,
            min_node: self.min_node,
            split: self.rpf.split,
            direction: self.rpf.direction,
            candidates: self.rpf.candidates,
            max_samples: self.rpf.max_samples,
            seed: self.seed,
        };
        let forest = Forest::grow(points.observed(observer), &params)?;
        let sweep = Sweep { k: self.k, seed: self.seed, ..self.sweep.clone() };
        // One forest for all numbers of trees: a smaller one takes the first trees.
        let quiet = Quiet(observer);
        let searched: Result<Vec<(usize, SweepResult)>> = self
            .trees
            .par_iter()
            .map(|trees| {
                let leaves = Arc::new(forest.leaves_of_trees(0..*trees, self.min_node)?);
                Ok((*trees, sweep.run(&leaves, Some(classes), &quiet)?))
            })
            .collect();
        let searched = searched?;
        let none = || parameter("trees", "none", "at least one number");
        let best = |method: Method| {
            let found = searched.iter().filter_map(|(trees, result)| {
                let at = result.best_of(method)?;
                Some((*result.scores_of(at)?, picked(*trees, result, at)))
            });
            let best = found.reduce(|best, next| {
                let key = |of: &(Scores, (Vec<u32>, String))| (of.0.rho_c, of.0.ari);
                if key(&next) > key(&best) { next } else { best }
            });
            best.map(|(_, picked)| picked).ok_or_else(none)
        };
        let (trees, whole) = searched.iter().max_by_key(|(trees, _)| *trees).ok_or_else(none)?;
        Ok(vec![best(Method::Ncut)?, best(Method::Kway)?, picked(*trees, whole, whole.label_free)])
    }
}

/// The labels of one setting, and the setting in words.
fn picked(trees: usize, result: &SweepResult, at: usize) -> (Vec<u32>, String) {
    let entry = &result.entries[at];
    let way = if entry.method == Method::Ncut { "ncut" } else { "kway" };
    let mut note = format!("T {trees}, beta1 {}, beta2 {}, {way}", entry.beta1, entry.beta2);
    if !result.left_out.is_empty() {
        let left: Vec<String> = result.left_out.iter().map(f64::to_string).collect();
        note.push_str(&format!("; beta1 {} left out for memory", left.join(", ")));
    }
    (result.labels_of(at).to_vec(), note)
}
