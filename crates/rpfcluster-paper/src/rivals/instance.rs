//! One clustering instance of Cluster Forests: k-means on a feature subset grown at random (Yan, Chen and Jordan 2013).
//!
//! The quality measure is `kappa`, the within-cluster over the between-cluster sum of squares on the chosen features.
//! Growth starts from a few random features: the best of `start_candidates` sets, by default one. In each step several random sets of further features compete; the one with
//! the smallest kappa is kept if it lowers kappa. Growth stops after `patience` steps without improvement, or when no
//! feature is left. A grown instance assigns any row to its nearest center.

use rpfcluster::kmeans::KMeans;
use rpfcluster::observe::{Observer, Quiet, check};
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{Error, Result};

use super::cluster_forests::ClusterForests;
use super::squared_distance;

/// Draws of start features before all features are taken instead. A draw fails when the rows have fewer distinct values
/// on its features than there are clusters.
const DRAWS: usize = 50;

/// A feature subset and the k-means clustering on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// The features, in the order in which they were added.
    pub features: Vec<usize>,
    /// kappa of the start and after each set of features added; strictly decreasing.
    pub kappas: Vec<f64>,
    /// The cluster centers on those features, k x features by rows.
    pub centers: Vec<f64>,
    /// The label of each row the instance was grown on.
    pub labels: Vec<u32>,
}

/// Within-cluster over between-cluster sum of squares; infinite when all centers are equal.
///
/// ```
/// // Two clusters of width 1, 10 apart: 4 · 0.25 over 4 · 25.
/// let rows = [0.0, 1.0, 10.0, 11.0];
/// assert_eq!(rpfcluster_paper::rivals::kappa(&rows, 1, &[0, 0, 1, 1], &[0.5, 10.5]), 0.01);
/// ```
pub fn kappa(rows: &[f64], d: usize, labels: &[u32], centers: &[f64]) -> f64 {
    let n = labels.len().max(1) as f64;
    let mut mean = vec![0.0; d];
    for row in rows.chunks_exact(d) {
        mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n);
    }
    let center = |label: u32| &centers[label as usize * d..][..d];
    let (mut within, mut between) = (0.0, 0.0);
    for (row, label) in rows.chunks_exact(d).zip(labels) {
        within += squared_distance(row, center(*label));
        between += squared_distance(center(*label), &mean);
    }
    if between > 0.0 { within / between } else { f64::INFINITY }
}

/// Some columns of a table.
fn columns_of(rows: &[f64], d: usize, features: &[usize]) -> Vec<f64> {
    rows.chunks_exact(d).flat_map(|row| features.iter().map(|f| row[*f])).collect()
}

/// `count` elements of `from`, drawn without replacement.
fn draw(from: &[usize], count: usize, stream: &mut Stream) -> Vec<usize> {
    let mut rest = from.to_vec();
    (0..count.min(from.len())).map(|_| rest.swap_remove(stream.below(rest.len() as u64) as usize)).collect()
}

impl ClusterForests {
    /// k-means on some features; `None` when the rows have fewer distinct values on them than clusters.
    fn candidate(
        &self,
        rows: &[f64],
        d: usize,
        features: Vec<usize>,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Option<Instance>> {
        let part = columns_of(rows, d, &features);
        let kmeans = KMeans {
            k: self.k,
            restarts: self.restarts,
            max_iterations: self.max_iterations,
            tolerance: 1e-4,
            seed,
        };
        match kmeans.fit(&part, features.len(), &Quiet(observer)) {
            Ok(fit) => {
                let kappa = kappa(&part, features.len(), &fit.labels, &fit.centers);
                let (centers, labels) = (fit.centers, fit.labels);
                let found = Instance { features, kappas: vec![kappa], centers, labels };
                Ok(kappa.is_finite().then_some(found))
            }
            Err(Error::TooManyClusters { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Grows instance `number` on these rows; `useful` are the columns that are not constant.
    pub(super) fn grow(
        &self,
        rows: &[f64],
        d: usize,
        useful: &[usize],
        number: u64,
        observer: &dyn Observer,
    ) -> Result<Instance> {
        let mut stream = Stream::new(self.seed, Purpose::Features, number, 0);
        let mut start: Option<Instance> = None;
        for attempt in 0..DRAWS {
            check(observer)?;
            for _ in 0..self.start_candidates {
                // Every fifth failed draw takes one feature more, for columns too coarse for k clusters.
                let features = draw(useful, self.start_features + attempt / 5, &mut stream);
                let least = start.as_ref().map_or(f64::INFINITY, |best| best.kappas[0]);
                let found = self.candidate(rows, d, features, stream.bits(), observer)?;
                start = found.filter(|c| c.kappas[0] < least).or(start);
            }
            if start.is_some() {
                break;
            }
        }
        if start.is_none() {
            start = self.candidate(rows, d, useful.to_vec(), stream.bits(), observer)?;
        }
        let Some(mut best) = start else {
            return Err(Error::TooManyClusters { k: self.k, distinct: 1 });
        };
        let mut kappas = best.kappas.clone();
        let mut failures = 0;
        while failures < self.patience {
            check(observer)?;
            let rest: Vec<usize> = useful.iter().copied().filter(|f| !best.features.contains(f)).collect();
            if rest.is_empty() {
                break;
            }
            let mut winner: Option<Instance> = None;
            for _ in 0..self.candidates {
                let mut features = best.features.clone();
                features.extend(draw(&rest, self.step_features, &mut stream));
                let least = winner.as_ref().unwrap_or(&best).kappas[0];
                winner = self
                    .candidate(rows, d, features, stream.bits(), observer)?
                    .filter(|c| c.kappas[0] < least)
                    .or(winner);
            }
            match winner {
                Some(winner) => {
                    kappas.push(winner.kappas[0]);
                    best = winner;
                    failures = 0;
                }
                None => failures += 1,
            }
        }
        Ok(Instance { kappas, ..best })
    }
}

impl Instance {
    /// The cluster of a row: the nearest center on the instance's features.
    pub fn assign(&self, row: &[f64]) -> u32 {
        let width = self.features.len();
        let distance = |center: &[f64]| -> f64 {
            self.features.iter().zip(center).map(|(f, c)| (row[*f] - c) * (row[*f] - c)).sum()
        };
        let mut best = (f64::INFINITY, 0);
        for (number, center) in self.centers.chunks_exact(width).enumerate() {
            let here = distance(center);
            if here < best.0 {
                best = (here, number as u32);
            }
        }
        best.1
    }
}
