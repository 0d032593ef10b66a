//! Means and standard deviations of all runs: the contents of `results.json`, from which every table and figure is
//! made.

use std::collections::BTreeMap;

use crate::compare::ComparedMethod;
use rpfcluster_data::catalog::{Entry, NOT_PUBLIC, entries};
use serde::{Deserialize, Serialize};

use super::effort::Effort;
use super::origin::{Share, count};
use super::unit::Run;
use rpfcluster::Split;

/// Data sets whose largest class is so large that a single cluster scores a high rho_c.
pub(super) const SKEWED: [&str; 3] = ["musk", "naval", "spect"];

/// The methods that rpfCluster is compared with.
pub(super) const RIVALS: [ComparedMethod; 3] =
    [ComparedMethod::KMeans, ComparedMethod::Njw, ComparedMethod::Cf];

/// Largest difference of two means that are the same: rounding of sums.
const TIE: f64 = 1e-9;

/// One score over several seeds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Statistic {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation (divisor n - 1), 0 for a single run.
    pub sd: f64,
    /// The number of runs.
    pub runs: usize,
    /// The score of each run, by seed.
    pub values: Vec<f64>,
}

impl Statistic {
    pub(super) fn add(&mut self, value: f64) {
        self.values.push(value);
        self.runs = self.values.len();
        let n = self.runs as f64;
        self.mean = self.values.iter().sum::<f64>() / n;
        let squares: f64 = self.values.iter().map(|v| (v - self.mean) * (v - self.mean)).sum();
        self.sd = if self.runs > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
    }
}

/// One method on one preparation of one data set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MethodResult {
    /// Clustering accuracy, percent.
    pub rho_c: Statistic,
    /// Co-cluster accuracy (Rand index), percent.
    pub rho_r: Statistic,
    /// Adjusted Rand index.
    pub ari: Statistic,
    /// Normalised mutual information.
    pub nmi: Statistic,
    /// Mean seconds of a run.
    pub seconds: f64,
    /// Seconds of each run, by seed. The columns that one search fills all have its seconds.
    #[serde(default)]
    pub seconds_each: Vec<f64>,
    /// Landmarks used and settings chosen, one for each run that has a note.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// What the methods use on a data set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Used {
    /// The numbers of trees of Algorithm 3.
    pub trees: Vec<usize>,
    /// n_s of Algorithm 3.
    pub min_node: usize,
    /// Starts of K-means.
    pub kmeans_restarts: usize,
    /// Landmarks of NJW; none if it is exact.
    pub njw_landmarks: Option<usize>,
    /// Clustering instances of CF.
    pub cf_instances: usize,
    /// Landmarks of CF; none if every row takes part.
    pub cf_landmarks: Option<usize>,
}

/// Algorithm 3 with another number of trees or way of cutting: normalised cuts, best by labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantResult {
    /// Where nodes are cut.
    pub split: Split,
    /// The number of trees.
    pub trees: usize,
    /// Clustering accuracy, percent.
    pub rho_c: Statistic,
    /// Rand index, percent.
    pub rho_r: Statistic,
}

/// One data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataSet {
    /// The name in tables.
    pub title: String,
    /// Rows.
    pub n: usize,
    /// Features.
    pub d: usize,
    /// Classes.
    pub k: usize,
    /// The share of the largest class, percent: the rho_c of a single cluster.
    pub majority: f64,
    /// Bandwidths of the best-by-labels search; 0 in results of versions that did not record it.
    #[serde(default)]
    pub bandwidths: usize,
    /// What the methods use.
    #[serde(default)]
    pub used: Used,
    /// Numbers of trees and ways of cutting, on sets of at most 600 rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantResult>,
    /// Cells by name of the method, then by preparation.
    pub methods: BTreeMap<String, BTreeMap<String, MethodResult>>,
}

impl DataSet {
    /// The cell of one method and preparation.
    pub fn cell(&self, method: ComparedMethod, preparation: &str) -> Option<&MethodResult> {
        self.methods.get(method.name())?.get(preparation)
    }
}

/// The results of a reproduction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The version of the program.
    pub version: String,
    /// `quick` or `full`.
    pub effort: String,
    /// Seeds of each method.
    pub seeds: usize,
    /// Commit, sources, machine and dates of the units.
    #[serde(default)]
    pub origins: Vec<Share>,
    /// Data sets by short name.
    pub datasets: BTreeMap<String, DataSet>,
    /// Failures by short name: a missing or altered file, a method that failed.
    pub failed: BTreeMap<String, Vec<String>>,
    /// Data sets of the paper that are not public, and why.
    pub not_public: BTreeMap<String, String>,
}

impl Results {
    pub(super) fn new(effort: &Effort) -> Self {
        Results {
            version: env!("CARGO_PKG_VERSION").to_string(),
            effort: effort.name().to_string(),
            seeds: effort.seeds,
            origins: Vec::new(),
            datasets: BTreeMap::new(),
            failed: BTreeMap::new(),
            not_public: NOT_PUBLIC
                .iter()
                .map(|(_, title, why)| (title.to_string(), why.to_string()))
                .collect(),
        }
    }

    pub(super) fn add(&mut self, entry: &Entry, run: &Run, effort: &Effort) {
        count(&mut self.origins, &run.origin, run.seconds);
        let set = self.datasets.entry(entry.name.to_string()).or_insert_with(|| DataSet {
            title: entry.title.to_string(),
            n: entry.n,
            d: entry.d,
            k: entry.k,
            majority: run.columns.first().map_or(0.0, |column| column.scores.majority),
            bandwidths: effort.bandwidths(entry.n).len(),
            used: effort.used(entry),
            variants: Vec::new(),
            methods: BTreeMap::new(),
        });
        for variant in &run.variants {
            let same = |v: &&mut VariantResult| (v.split, v.trees) == (variant.split, variant.trees);
            let (rho_c, rho_r) = (variant.scores.rho_c, variant.scores.rho_r);
            if let Some(known) = set.variants.iter_mut().find(same) {
                known.rho_c.add(rho_c);
                known.rho_r.add(rho_r);
                continue;
            }
            let mut new = VariantResult {
                split: variant.split,
                trees: variant.trees,
                rho_c: Statistic::default(),
                rho_r: Statistic::default(),
            };
            new.rho_c.add(rho_c);
            new.rho_r.add(rho_r);
            set.variants.push(new);
        }
        for column in &run.columns {
            let cell = set
                .methods
                .entry(column.method.name().to_string())
                .or_default()
                .entry(run.preparation.clone())
                .or_default();
            let before = cell.rho_c.runs as f64;
            cell.rho_c.add(column.scores.rho_c);
            cell.rho_r.add(column.scores.rho_r);
            cell.ari.add(column.scores.ari);
            cell.nmi.add(column.scores.nmi);
            cell.seconds = (cell.seconds * before + run.seconds) / (before + 1.0);
            cell.seconds_each.push(run.seconds);
            if !column.note.is_empty() {
                cell.notes.push(column.note.clone());
            }
        }
    }

    pub(super) fn fail(&mut self, entry: &Entry, problem: &str) {
        let list = self.failed.entry(entry.name.to_string()).or_default();
        if !list.iter().any(|p| p == problem) {
            list.push(problem.to_string());
        }
    }

    /// Where the paper standardises nothing, its preparation is the raw data.
    pub(super) fn finish(&mut self) {
        for set in self.datasets.values_mut() {
            for preparations in set.methods.values_mut() {
                if let (false, Some(raw)) = (preparations.contains_key("paper"), preparations.get("raw")) {
                    let same = raw.clone();
                    preparations.insert("paper".to_string(), same);
                }
            }
        }
    }

    /// The data sets in the paper's order, with their short names.
    pub fn in_order(&self) -> Vec<(&str, &DataSet)> {
        entries().iter().filter_map(|e| self.datasets.get(e.name).map(|set| (e.name, set))).collect()
    }

    /// The place by `score` of one column among itself and the three rivals on one data set.
    pub fn place(
        set: &DataSet,
        own: ComparedMethod,
        preparation: &str,
        score: impl Fn(&MethodResult) -> f64,
    ) -> Option<Place> {
        Self::place_among(set, own, &RIVALS, preparation, score)
    }

    /// The place by `score` of a column among itself and some others.
    pub(super) fn place_among(
        set: &DataSet,
        own: ComparedMethod,
        others: &[ComparedMethod],
        preparation: &str,
        score: impl Fn(&MethodResult) -> f64,
    ) -> Option<Place> {
        let mine = score(set.cell(own, preparation)?);
        let cells = others.iter().filter(|m| **m != own).filter_map(|m| set.cell(*m, preparation));
        let mut place = Place { better: 0, tied: false };
        for by in cells.map(|cell| score(cell) - mine) {
            place.better += usize::from(by > TIE);
            place.tied |= by.abs() <= TIE;
        }
        Some(place)
    }
}

/// The place of a column among the rivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Rivals with a higher score.
    pub better: usize,
    /// Whether a rival has the same score.
    pub tied: bool,
}
