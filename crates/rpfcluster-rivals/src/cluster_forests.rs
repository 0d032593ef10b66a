//! Cluster Forests, CF (Yan, Chen and Jordan 2013): the paper's third rival, an ensemble of clusterings on features
//! found by pursuit.
//!
//! T pursuits ([`crate::Instance`]), their co-cluster indicators averaged, thresholded at beta1, exponentiated with
//! bandwidth beta2, then the spectral step. CF's authors do not fix beta2; here, where it is left open, the clustering
//! most agreed-with over a small grid is taken, which needs no labels. Beyond
//! [`DENSE_LIMIT`](crate::DENSE_LIMIT) rows the pursuits and the spectral step work on landmarks, every other row
//! joins the cluster of landmarks it is most often with, and the result says so.

use rayon::prelude::*;
use rpfcluster::kmeans::relabel_by_first_appearance;
use rpfcluster::observe::{Observer, Stage, check};
use rpfcluster::random::sample_rows;
use rpfcluster::spectral::{EmbedOptions, Method, SpectralParams, embed, label};
use rpfcluster::sweep::most_agreed;
use rpfcluster::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::co_cluster::CoCluster;
use crate::pursuit::Instance;
use crate::{DENSE_LIMIT, parameter, rows_of};

/// Bandwidths looked at where none is given.
const BANDWIDTHS: [f64; 8] = [0.05, 0.1, 0.2, 0.4, 0.8, 2.0, 10.0, 50.0];

/// Parameters of Cluster Forests.
///
/// ```
/// use rpfcluster_rivals::ClusterForests;
/// // Two groups on the first column; the second says nothing.
/// let rows: Vec<f64> = (0..80).flat_map(|i| [if i < 40 { 0.0 } else { 9.0 } + (i % 7) as f64 * 0.1, (i % 5) as f64]).collect();
/// let fit = ClusterForests { k: 2, instances: 20, ..Default::default() }.fit(&rows, 2, &rpfcluster::Silent)?;
/// assert!(fit.labels[..40].iter().all(|l| *l == 0) && fit.labels[40..].iter().all(|l| *l == 1));
/// # Ok::<(), rpfcluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterForests {
    /// Number of clusters.
    pub k: usize,
    /// T, the number of pursuits.
    pub instances: usize,
    /// Features a pursuit starts with.
    pub start_features: usize,
    /// Features added in one step.
    pub step_features: usize,
    /// Sets of further features tried in one step.
    pub candidates: usize,
    /// Steps in vain after which a pursuit ends.
    pub patience: usize,
    /// Restarts of each k-means.
    pub restarts: usize,
    /// Most iterations of each k-means.
    pub max_iterations: usize,
    /// Pairs together in a smaller share of the clusterings are pruned.
    pub beta1: f64,
    /// The bandwidth; `None`: the most agreed-with of a small grid.
    pub beta2: Option<f64>,
    /// How labels are made from eigenvectors.
    pub method: Method,
    /// Rows that stand for all where there are many.
    pub landmarks: usize,
    /// Rows up to which everything is exact.
    pub dense_limit: usize,
    /// Everything random follows from it.
    pub seed: u64,
}

impl Default for ClusterForests {
    fn default() -> Self {
        ClusterForests {
            k: 2,
            instances: 100,
            start_features: 2,
            step_features: 1,
            candidates: 5,
            patience: 3,
            restarts: 3,
            max_iterations: 50,
            beta1: 0.4,
            beta2: None,
            method: Method::Kway,
            landmarks: 2000,
            dense_limit: DENSE_LIMIT,
            seed: 0,
        }
    }
}

/// What Cluster Forests found.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterForestsFit {
    /// One label a row, numbered by first appearance.
    pub labels: Vec<u32>,
    /// The bandwidth used.
    pub beta2: f64,
    /// The pursuits.
    pub instances: Vec<Instance>,
    /// How many landmarks stood for all rows; `None` when the answer is exact.
    pub landmarks: Option<usize>,
}

impl ClusterForests {
    /// Refuses values that cannot be meant.
    pub fn validate(&self) -> Result<()> {
        let counts = [
            ("instances", self.instances),
            ("start_features", self.start_features),
            ("step_features", self.step_features),
            ("candidates", self.candidates),
            ("patience", self.patience),
            ("restarts", self.restarts),
            ("max_iterations", self.max_iterations),
        ];
        for (name, value) in counts {
            if value < 1 || value > usize::from(u16::MAX) {
                return Err(parameter(name, value, format!("from 1 to {}", u16::MAX)));
            }
        }
        if self.k > usize::from(u16::MAX) {
            return Err(parameter("k", self.k, format!("at most {}", u16::MAX)));
        }
        if !(0.0..=1.0).contains(&self.beta1) {
            return Err(parameter("beta1", self.beta1, "from 0 to 1"));
        }
        if let Some(beta2) = self.beta2.filter(|b| !(b.is_finite() && *b > 0.0)) {
            return Err(parameter("beta2", beta2, "above 0"));
        }
        if self.landmarks < self.k {
            return Err(parameter("landmarks", self.landmarks, format!("at least k, which is {}", self.k)));
        }
        self.spectral().validate()
    }

    fn spectral(&self) -> SpectralParams {
        SpectralParams {
            k: self.k,
            method: self.method,
            tolerance: 1e-6,
            max_iterations: 1000,
            seed: self.seed,
            ..Default::default()
        }
    }

    /// Clusters the rows of `data`, each `d` numbers.
    pub fn fit(&self, data: &[f64], d: usize, observer: &dyn Observer) -> Result<ClusterForestsFit> {
        self.validate()?;
        let n = rows_of(data, d)?;
        if self.k > n {
            return Err(Error::TooManyClusters { k: self.k, distinct: n });
        }
        let useful: Vec<usize> =
            (0..d).filter(|f| data.iter().skip(*f).step_by(d).any(|v| *v != data[*f])).collect();
        if useful.is_empty() {
            return Err(Error::TooManyClusters { k: self.k, distinct: 1 });
        }
        let landmarks = if n > self.dense_limit { self.landmarks.min(n) } else { n };
        let rows = sample_rows(self.seed, n, landmarks);
        let sample: Vec<f64> =
            rows.iter().flat_map(|i| data[*i as usize * d..][..d].iter().copied()).collect();
        observer.begin(Stage::Tune, self.instances as u64);
        let instances: Result<Vec<Instance>> = (0..self.instances as u64)
            .into_par_iter()
            .map(|number| {
                let instance = self.pursue(&sample, d, &useful, number, observer);
                observer.advance(Stage::Tune, 1);
                instance
            })
            .collect();
        observer.end(Stage::Tune);
        let instances = instances?;
        let codes: Result<Vec<Vec<u16>>> =
            instances.par_iter().map(|instance| assigned(instance, data, d, observer)).collect();
        let together = CoCluster { n, codes: codes? };
        let part = together.of_rows(&rows);
        let (labels, beta2) = self.choose(&part, observer)?;
        let mut labels = if landmarks < n {
            together.extend((&rows, &labels), self.k, (self.beta1, beta2), observer)?
        } else {
            labels
        };
        relabel_by_first_appearance(&mut labels);
        Ok(ClusterForestsFit { labels, beta2, instances, landmarks: (landmarks < n).then_some(landmarks) })
    }

    /// Labels at the given bandwidth, or the most agreed-with over the grid.
    fn choose(&self, together: &CoCluster, observer: &dyn Observer) -> Result<(Vec<u32>, f64)> {
        let one = [self.beta2.unwrap_or_default()];
        let grid: &[f64] = if self.beta2.is_some() { &one } else { &BANDWIDTHS };
        let mut affinity = together.affinity(self.beta1, grid[0], observer)?;
        let params = self.spectral();
        let (mut found, mut used) = (Vec::new(), Vec::new());
        let mut start = None;
        let mut problem = None;
        for beta2 in grid {
            check(observer)?;
            affinity = affinity.at_bandwidth(*beta2)?;
            let options = EmbedOptions { start: start.as_ref(), ..EmbedOptions::default() };
            let solved = embed(&affinity, &params, &options, observer).and_then(|embedding| {
                let labels = label(&affinity, &embedding, &params, observer)?;
                Ok((labels, embedding))
            });
            match solved {
                Ok((labels, embedding)) => {
                    found.push(labels);
                    used.push(*beta2);
                    start = Some(embedding);
                }
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(why) => problem = Some(why),
            }
        }
        if let (true, Some(why)) = (found.is_empty(), problem) {
            return Err(why);
        }
        let at = most_agreed(&found, &vec![1; found.len()], found.len(), observer)?;
        Ok((found.swap_remove(at), used[at]))
    }
}

/// The cluster of every row in one instance.
fn assigned(instance: &Instance, data: &[f64], d: usize, observer: &dyn Observer) -> Result<Vec<u16>> {
    const ROWS: usize = 4096;
    let mut codes = Vec::with_capacity(data.len() / d);
    for rows in data.chunks(ROWS * d) {
        check(observer)?;
        codes.extend(rows.chunks_exact(d).map(|row| instance.assign(row) as u16));
    }
    Ok(codes)
}
