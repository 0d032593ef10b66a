//! Cluster Forests, CF (Yan, Chen and Jordan, Comput. Stat. Data Anal. 66, 2013): an ensemble of k-means clusterings on
//! random feature subsets.
//!
//! CF grows T clustering instances ([`super::Instance`]), averages their co-cluster indicators into a co-association
//! matrix (Fred and Jain 2005), sets entries below beta1 to zero, applies `exp((s - 1) / beta2)` and cuts the result
//! spectrally. When beta2 is `None`, a grid of eight bandwidths is solved and the partition
//! with the highest mean adjusted Rand index to the others is taken, which needs no classes.
//!
//! Cost: T searches of a few dozen k-means runs, and n² T comparisons for the co-association matrix. Above
//! [`DENSE_LIMIT`](super::DENSE_LIMIT) rows the instances and the spectral step use a sample of landmarks; every other
//! row joins the cluster of landmarks to which it is most similar, and [`ClusterForestsFit::landmarks`] says so.

use crate::sweep::most_agreed;
use rayon::prelude::*;
use rpfcluster::kmeans::relabel_by_first_appearance;
use rpfcluster::observe::{Observer, Stage, StageGuard, check};
use rpfcluster::random::sample_rows;
use rpfcluster::spectral::{EmbedOptions, Method, SpectralParams, embed, label};
use rpfcluster::{Error, Result};
use serde::{Deserialize, Serialize};

use super::co_association::CoAssociation;
use super::instance::Instance;
use super::{DENSE_LIMIT, rows_of};
use crate::parameter;

/// Bandwidths solved when none is given: a factor of two apart below 1, where labels change most.
const BANDWIDTHS: [f64; 8] = [0.05, 0.1, 0.2, 0.4, 0.8, 2.0, 10.0, 50.0];

/// Parameters of Cluster Forests.
///
/// ```
/// use rpfcluster_paper::rivals::ClusterForests;
/// // Two groups in the first column; the second column is noise.
/// let rows: Vec<f64> = (0..80)
///     .flat_map(|i| [if i < 40 { 0.0 } else { 9.0 } + (i % 7) as f64 * 0.1, (i % 5) as f64])
///     .collect();
/// let fit = ClusterForests { k: 2, instances: 20, ..Default::default() }.fit(&rows, 2, &rpfcluster::Silent)?;
/// assert!(fit.labels[..40].iter().all(|l| *l == 0) && fit.labels[40..].iter().all(|l| *l == 1));
/// # Ok::<(), rpfcluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterForests {
    /// Number of clusters.
    pub k: usize,
    /// T, the number of clustering instances.
    pub instances: usize,
    /// Features an instance starts with.
    pub start_features: usize,
    /// Sets of start features that compete by kappa. One, the default, means no competition at the start.
    pub start_candidates: usize,
    /// Features added in one step.
    pub step_features: usize,
    /// Feature sets that compete in one step; the smallest kappa wins.
    pub candidates: usize,
    /// Consecutive steps without improvement after which an instance stops growing.
    pub patience: usize,
    /// k-means++ restarts of each k-means run.
    pub restarts: usize,
    /// Largest number of Lloyd iterations of one k-means run.
    pub max_iterations: usize,
    /// Co-association below this share of the instances counts as zero.
    pub beta1: f64,
    /// Bandwidth of `exp((s - 1) / beta2)`; `None` selects one from a grid without classes.
    pub beta2: Option<f64>,
    /// How eigenvectors become labels.
    pub method: Method,
    /// Landmarks sampled above `dense_limit` rows.
    pub landmarks: usize,
    /// Largest number of rows that are clustered without landmarks.
    pub dense_limit: usize,
    /// Seed of feature draws, landmarks, start vectors and k-means.
    pub seed: u64,
}

impl Default for ClusterForests {
    fn default() -> Self {
        ClusterForests {
            k: 2,
            instances: 100,
            start_features: 2,
            start_candidates: 1,
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

/// The result of Cluster Forests.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterForestsFit {
    /// One label per row, numbered by first appearance.
    pub labels: Vec<u32>,
    /// The bandwidth used.
    pub beta2: f64,
    /// The clustering instances.
    pub instances: Vec<Instance>,
    /// The number of landmarks; `None` when every row took part.
    pub landmarks: Option<usize>,
}

impl ClusterForests {
    /// Refuses values outside their range.
    pub fn validate(&self) -> Result<()> {
        let counts = [
            ("instances", self.instances),
            ("start_features", self.start_features),
            ("start_candidates", self.start_candidates),
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
        let stage = StageGuard::begin(observer, Stage::Tune, self.instances as u64);
        let instances: Result<Vec<Instance>> = (0..self.instances as u64)
            .into_par_iter()
            .map(|number| {
                let instance = self.grow(&sample, d, &useful, number, observer);
                observer.advance(Stage::Tune, 1);
                instance
            })
            .collect();
        drop(stage);
        let instances = instances?;
        let codes: Result<Vec<Vec<u16>>> =
            instances.par_iter().map(|instance| assigned(instance, data, d, observer)).collect();
        let together = CoAssociation { n, codes: codes? };
        let (labels, beta2) = self.choose(&together.of_rows(&rows), observer)?;
        let mut labels = if landmarks < n {
            together.extend(&rows, &labels, self.k, self.beta1, beta2, observer)?
        } else {
            labels
        };
        relabel_by_first_appearance(&mut labels);
        Ok(ClusterForestsFit { labels, beta2, instances, landmarks: (landmarks < n).then_some(landmarks) })
    }

    /// Labels and bandwidth: the given bandwidth, or the one of the grid whose labels agree most with the others.
    fn choose(&self, together: &CoAssociation, observer: &dyn Observer) -> Result<(Vec<u32>, f64)> {
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
        let at = most_agreed(&found, &vec![1.0; found.len()], found.len(), observer)?;
        Ok((found.swap_remove(at), used[at]))
    }
}

/// The cluster of every row in one instance.
fn assigned(instance: &Instance, data: &[f64], d: usize, observer: &dyn Observer) -> Result<Vec<u16>> {
    /// Rows between two checks for cancellation.
    const ROWS: usize = 4096;
    let mut codes = Vec::with_capacity(data.len() / d);
    for rows in data.chunks(ROWS * d) {
        check(observer)?;
        codes.extend(rows.chunks_exact(d).map(|row| instance.assign(row) as u16));
    }
    Ok(codes)
}
