//! One instance of Cluster Forests: features chosen at random, kept when they sharpen the clusters.
//!
//! The measure is `kappa`, the within-cluster over the between-cluster sum of squares on the chosen features. Starting
//! from a few, several random sets of further features are tried at each step; the one that lowers kappa most is
//! kept, and the pursuit ends when some steps in a row found none (Yan, Chen and Jordan 2013).

use rpfcluster::kmeans::KMeans;
use rpfcluster::observe::{Observer, Quiet, check};
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{Error, Result};

use super::cluster_forests::ClusterForests;
use super::squared_distance;

/// Draws of a start that k-means cannot cluster (fewer different rows than clusters) before all features are taken.
const DRAWS: usize = 50;

/// kappa, centers and labels of one k-means.
type Clustered = (f64, Vec<f64>, Vec<u32>);

/// Where one pursuit ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// The features, in the order in which they came.
    pub features: Vec<usize>,
    /// kappa after the start and after each set of features kept; never rises.
    pub kappas: Vec<f64>,
    /// The clusters' centers on those features, k x features by rows.
    pub centers: Vec<f64>,
    /// The label of each row the pursuit looked at.
    pub labels: Vec<u32>,
}

/// Within-cluster over between-cluster sum of squares; infinite when all centers are one.
///
/// ```
/// // Two clusters, each 1 wide, 10 apart: 4 · 0.25 over 4 · 25.
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

/// `count` of `from`, drawn without repeats.
fn draw(from: &[usize], count: usize, stream: &mut Stream) -> Vec<usize> {
    let mut rest = from.to_vec();
    (0..count.min(from.len())).map(|_| rest.swap_remove(stream.below(rest.len() as u64) as usize)).collect()
}

impl ClusterForests {
    /// k-means on some features: kappa, centers, labels; `None` when they hold fewer different rows than clusters.
    fn attempt(
        &self,
        (rows, d): (&[f64], usize),
        features: &[usize],
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Option<Clustered>> {
        let part = columns_of(rows, d, features);
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
                Ok(kappa.is_finite().then_some((kappa, fit.centers, fit.labels)))
            }
            Err(Error::TooManyClusters { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Instance `number` on these rows; `useful` are the columns that are not constant.
    pub(crate) fn pursue(
        &self,
        rows: &[f64],
        d: usize,
        useful: &[usize],
        number: u64,
        observer: &dyn Observer,
    ) -> Result<Instance> {
        let mut stream = Stream::new(self.seed, Purpose::Features, number, 0);
        let mut start = None;
        for attempt in 0..DRAWS {
            check(observer)?;
            // A start too poor for k clusters grows by one feature each time it is drawn again.
            let features = draw(useful, self.start_features + attempt / 5, &mut stream);
            if let Some(found) = self.attempt((rows, d), &features, stream.bits(), observer)? {
                start = Some((features, found));
                break;
            }
        }
        let (features, (kappa, centers, labels)) = match start {
            Some(found) => found,
            None => match self.attempt((rows, d), useful, stream.bits(), observer)? {
                Some(found) => (useful.to_vec(), found),
                None => return Err(Error::TooManyClusters { k: self.k, distinct: 1 }),
            },
        };
        let mut best = Instance { features, kappas: vec![kappa], centers, labels };
        let mut in_vain = 0;
        while in_vain < self.patience {
            check(observer)?;
            let rest: Vec<usize> = useful.iter().copied().filter(|f| !best.features.contains(f)).collect();
            if rest.is_empty() {
                break;
            }
            let mut chosen = None;
            let mut least = best.kappas.last().copied().unwrap_or(f64::INFINITY);
            for _ in 0..self.candidates {
                let mut features = best.features.clone();
                features.extend(draw(&rest, self.step_features, &mut stream));
                if let Some((kappa, centers, labels)) =
                    self.attempt((rows, d), &features, stream.bits(), observer)?
                    && kappa < least
                {
                    least = kappa;
                    chosen = Some((features, centers, labels));
                }
            }
            match chosen {
                Some((features, centers, labels)) => {
                    best.kappas.push(least);
                    best.features = features;
                    best.centers = centers;
                    best.labels = labels;
                    in_vain = 0;
                }
                None => in_vain += 1,
            }
        }
        Ok(best)
    }
}

impl Instance {
    /// The cluster of any row: the nearest center on the instance's features.
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
