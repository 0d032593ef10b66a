//! NJW: spectral clustering with the Gaussian kernel (Ng, Jordan and Weiss, On spectral clustering: analysis and an
//! algorithm, NIPS 14, 2002).
//!
//! The paper ran `specc()` of the R package kernlab with an automatic bandwidth. [`Bandwidth`] has both rules of
//! kernlab and two others. Exact up to [`DENSE_LIMIT`](super::DENSE_LIMIT) rows, with n² memory; above, Nystrom's
//! approximation on landmarks, and [`NjwFit::landmarks`] says so.

use rpfcluster::affinity::{Affinity, SimilarityOperator};
use rpfcluster::observe::{Observer, Quiet, Stage, StageGuard, check};
use rpfcluster::spectral::{EmbedOptions, Embedding, Method, Solver, SpectralParams, embed, label};
use rpfcluster::{Error, Result};
use serde::{Deserialize, Serialize};

use super::bandwidth::{Bandwidth, KERNLAB_NEIGHBOR};
use super::gaussian::Gaussian;
use super::{DENSE_LIMIT, rows_of, squared_distance};

/// Parameters of NJW.
///
/// ```
/// use rpfcluster_paper::rivals::Njw;
/// let rows: Vec<f64> = (0..60).map(|i| if i < 30 { i as f64 * 0.1 } else { 10.0 + i as f64 * 0.1 }).collect();
/// let fit = Njw { k: 2, ..Default::default() }.fit(&rows, 1, &rpfcluster::Silent)?;
/// assert!(fit.labels[..30].iter().all(|l| *l == 0) && fit.labels[30..].iter().all(|l| *l == 1));
/// assert_eq!(fit.landmarks, None);
/// # Ok::<(), rpfcluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Njw {
    /// Number of clusters.
    pub k: usize,
    /// The rule for the bandwidth.
    pub bandwidth: Bandwidth,
    /// How eigenvectors become labels: NJW's k-means, or recursive normalised cuts of the same kernel.
    pub method: Method,
    /// Restarts of k-means in the embedding.
    pub restarts: usize,
    /// Landmarks of Nystrom's approximation, used above `dense_limit` rows.
    pub landmarks: usize,
    /// Largest number of rows that are solved exactly.
    pub dense_limit: usize,
    /// Seed of start vectors, landmarks and k-means.
    pub seed: u64,
}

impl Default for Njw {
    fn default() -> Self {
        Njw {
            k: 2,
            bandwidth: Bandwidth::Local { neighbor: 7 },
            method: Method::Kway,
            restarts: 10,
            landmarks: 500,
            dense_limit: DENSE_LIMIT,
            seed: 0,
        }
    }
}

/// The result of NJW.
#[derive(Debug, Clone, PartialEq)]
pub struct NjwFit {
    /// One label per row, numbered by first appearance.
    pub labels: Vec<u32>,
    /// The bandwidth; `None` with local scaling.
    pub sigma: Option<f64>,
    /// The K largest eigenvalues.
    pub eigenvalues: Vec<f64>,
    /// Mean squared distance of the unit-length rows of the embedding to the mean of their cluster.
    pub distortion: f64,
    /// The number of landmarks; `None` when the eigenvectors are exact.
    pub landmarks: Option<usize>,
}

impl Njw {
    /// Refuses values outside their range.
    pub fn validate(&self) -> Result<()> {
        self.bandwidth.validate()?;
        self.spectral(Solver::Nystrom).validate()
    }

    fn spectral(&self, solver: Solver) -> SpectralParams {
        SpectralParams {
            k: self.k,
            solver,
            method: self.method,
            landmarks: self.landmarks,
            restarts: self.restarts,
            tolerance: 1e-6,
            max_iterations: 2000,
            seed: self.seed,
            ..Default::default()
        }
    }

    /// Clusters the rows of `data`, each `d` numbers.
    pub fn fit(&self, data: &[f64], d: usize, observer: &dyn Observer) -> Result<NjwFit> {
        self.validate()?;
        let n = rows_of(data, d)?;
        if self.k > n {
            return Err(Error::TooManyClusters { k: self.k, distinct: n });
        }
        match self.bandwidth {
            Bandwidth::Fixed { sigma } => self.solve(&Gaussian::new(data, d, sigma)?, Some(sigma), observer),
            Bandwidth::Local { neighbor } => {
                self.solve(&local(data, d, neighbor, n, observer)?, None, observer)
            }
            Bandwidth::KernlabLocal => {
                let kernel = local(data, d, KERNLAB_NEIGHBOR, n, observer)?.with_unit_diagonal();
                self.solve(&kernel, None, observer)
            }
            Bandwidth::KernlabAutomatic | Bandwidth::Search { .. } => {
                let sigma = self.search(data, d, observer)?;
                self.solve(&Gaussian::new(data, d, sigma)?, Some(sigma), observer)
            }
        }
    }

    /// The bandwidth of least distortion on a sample: the smallest of equals for kernlab's rule, else the largest.
    fn search(&self, data: &[f64], d: usize, observer: &dyn Observer) -> Result<f64> {
        let (sample, grid) = self.bandwidth.candidates(data, d, self.k, self.seed)?;
        let last_of_equals = matches!(self.bandwidth, Bandwidth::Search { .. });
        let mut best: Option<(f64, f64)> = None;
        let mut problem = None;
        let stage = StageGuard::begin(observer, Stage::Tune, grid.len() as u64);
        for sigma in grid.iter().copied() {
            check(observer)?;
            observer.advance(Stage::Tune, 1);
            let kernel = Gaussian::new(&sample, d, sigma)?;
            if self.bandwidth == Bandwidth::KernlabAutomatic && !kernel.is_even(observer)? {
                continue;
            }
            let better = |distortion: f64| match best {
                Some((least, _)) => distortion < least || (last_of_equals && distortion == least),
                None => true,
            };
            match self.solve(&kernel, Some(sigma), &Quiet(observer)) {
                Ok(fit) if better(fit.distortion) => best = Some((fit.distortion, sigma)),
                Ok(_) => {}
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(why) => problem = Some(why),
            }
        }
        drop(stage);
        match (best, problem) {
            (Some((_, sigma)), _) => Ok(sigma),
            (None, Some(why)) => Err(why),
            (None, None) => {
                Err(Error::Numerical { what: "search for a bandwidth", problem: uneven(grid.len()) })
            }
        }
    }

    fn solve(&self, kernel: &Gaussian, sigma: Option<f64>, observer: &dyn Observer) -> Result<NjwFit> {
        if kernel.n() <= self.dense_limit {
            return self.cut(&kernel.dense(observer)?, Solver::Auto, sigma, observer);
        }
        self.cut(&kernel.clone().with_unit_diagonal(), Solver::Nystrom, sigma, observer)
    }

    fn cut(
        &self,
        similarity: &dyn SimilarityOperator,
        solver: Solver,
        sigma: Option<f64>,
        observer: &dyn Observer,
    ) -> Result<NjwFit> {
        let params = self.spectral(solver);
        let affinity = Affinity::operator(similarity);
        let embedding = embed(&affinity, &params, &EmbedOptions::default(), observer)?;
        let labels = label(&affinity, &embedding, &params, observer)?;
        Ok(NjwFit {
            distortion: distortion(&embedding, &labels),
            labels,
            sigma,
            eigenvalues: embedding.eigenvalues,
            landmarks: (solver == Solver::Nystrom).then_some(self.landmarks),
        })
    }
}

/// Why kernlab's rule takes none of the bandwidths it tries.
fn uneven(tried: usize) -> String {
    format!(
        "each of the {tried} bandwidths leaves a row without neighbours; use `local` or a bandwidth of your own"
    )
}

fn local<'a>(
    data: &'a [f64],
    d: usize,
    neighbor: usize,
    n: usize,
    observer: &dyn Observer,
) -> Result<Gaussian<'a>> {
    Gaussian::local(data, d, neighbor.min(n.saturating_sub(1)), observer)
}

/// See [`NjwFit::distortion`].
fn distortion(embedding: &Embedding, labels: &[u32]) -> f64 {
    let k = embedding.k();
    let unit = |i: usize| -> Vec<f64> {
        let row = embedding.row(i);
        let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        row.iter().map(|v| if length > 0.0 { v / length } else { 0.0 }).collect()
    };
    let clusters = labels.iter().max().map_or(0, |m| *m as usize + 1);
    let mut centers = vec![0.0; clusters * k];
    let mut sizes = vec![0.0f64; clusters];
    for (i, label) in labels.iter().enumerate() {
        sizes[*label as usize] += 1.0;
        centers[*label as usize * k..][..k].iter_mut().zip(unit(i)).for_each(|(c, u)| *c += u);
    }
    for (center, size) in centers.chunks_exact_mut(k).zip(&sizes) {
        center.iter_mut().for_each(|c| *c /= size.max(1.0));
    }
    let sum: f64 = labels
        .iter()
        .enumerate()
        .map(|(i, label)| squared_distance(&unit(i), &centers[*label as usize * k..][..k]))
        .sum();
    sum / labels.len().max(1) as f64
}
