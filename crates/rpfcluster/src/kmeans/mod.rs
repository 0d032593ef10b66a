//! k-means: the last step of k-way spectral clustering.
//!
//! [`KMeans`] is Lloyd's algorithm (1982) with Hamerly's bounds (2010) from k-means++ starts (Arthur and Vassilvitskii
//! 2007); the bits do not depend on the number of threads.

mod init;
mod lloyd;

use rayon::prelude::*;

use crate::error::{Error, Result, parameter};
use crate::observe::{Observer, Silent, Stage, check};
use crate::random::sample_rows;

/// Rows above which the restarts run on a sample.
const SAMPLED_ABOVE: usize = 40_000;
/// Rows of that sample.
const SAMPLE_ROWS: usize = 20_000;
/// Best solutions of the sample that are continued on all rows.
const CONTINUED: usize = 2;

/// Lloyd's k-means.
///
/// Up to 40,000 rows every restart runs on all of them. Beyond, the restarts run on a hashed sample of 20,000 rows and
/// the two best continue on all rows: restarts choose between basins of attraction, for which a sample is enough.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct KMeans {
    /// Number of clusters.
    pub k: usize,
    /// Number of starts; the smallest inertia wins.
    pub restarts: usize,
    /// Largest number of iterations of one run.
    pub max_iterations: usize,
    /// A run ends when the squared shifts of the centers sum to at most this share of the mean column variance, or when
    /// no label changes.
    pub tolerance: f64,
    /// Seed of the starts.
    pub seed: u64,
}

impl Default for KMeans {
    fn default() -> Self {
        KMeans { k: 2, restarts: 10, max_iterations: 300, tolerance: 1e-8, seed: 0 }
    }
}

/// The result of k-means.
#[derive(Debug, Clone, PartialEq)]
pub struct KMeansFit {
    /// The label of each row, numbered by first appearance.
    pub labels: Vec<u32>,
    /// The centers, k x d row-major, in the order of the labels.
    pub centers: Vec<f64>,
    /// Sum of squared distances to the centers.
    pub inertia: f64,
    /// Iterations of the winning run.
    pub iterations: usize,
}

/// A row-major n x d matrix of finite values.
#[derive(Clone, Copy)]
pub(crate) struct DataMatrix<'a> {
    pub data: &'a [f64],
    pub d: usize,
}

impl<'a> DataMatrix<'a> {
    fn new(data: &'a [f64], d: usize) -> Result<Self> {
        if d == 0 || data.is_empty() {
            return Err(Error::Empty { n: data.len().checked_div(d).unwrap_or(0), d });
        }
        if !data.len().is_multiple_of(d) {
            return Err(Error::Shape { len: data.len(), n: data.len() / d, d });
        }
        if let Some(at) = data.iter().position(|v| !v.is_finite()) {
            return Err(Error::NotFinite { row: at / d + 1, column: at % d + 1, value: data[at] });
        }
        Ok(DataMatrix { data, d })
    }

    pub fn n(&self) -> usize {
        self.data.len() / self.d
    }

    #[inline]
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.data[i * self.d..][..self.d]
    }

    /// The number of distinct rows, counted up to `enough`.
    fn distinct(&self, enough: usize, observer: &dyn Observer) -> Result<usize> {
        let mut found: Vec<&[f64]> = Vec::new();
        for (i, row) in self.data.chunks_exact(self.d).enumerate() {
            if found.len() == enough {
                break;
            }
            if i.is_multiple_of(lloyd::CANCEL_CHECK_ROWS) {
                check(observer)?;
            }
            if !found.contains(&row) {
                found.push(row);
            }
        }
        Ok(found.len())
    }

    fn check_k(&self, k: usize, observer: &dyn Observer) -> Result<()> {
        let distinct = self.distinct(k, observer)?;
        if distinct < k { Err(Error::TooManyClusters { k, distinct }) } else { Ok(()) }
    }
}

/// Squared Euclidean distance.
#[inline]
pub(crate) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

impl KMeans {
    /// An error for the first value out of range.
    pub fn validate(&self) -> Result<()> {
        if self.k < 1 {
            return Err(parameter("k", self.k, "at least 1"));
        }
        if self.restarts < 1 {
            return Err(parameter("restarts", self.restarts, "at least 1"));
        }
        if self.max_iterations < 1 {
            return Err(parameter("max_iterations", self.max_iterations, "at least 1"));
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(parameter("tolerance", self.tolerance, "zero or a positive number"));
        }
        Ok(())
    }

    /// Clusters the rows of `data`, which have `d` columns.
    pub fn fit(&self, data: &[f64], d: usize, observer: &dyn Observer) -> Result<KMeansFit> {
        self.validate()?;
        let rows = DataMatrix::new(data, d)?;
        rows.check_k(self.k, observer)?;
        let n = rows.n();
        if self.k == n {
            // Every row is a cluster; restarts would take n³ steps to find that out.
            let (labels, centers) = ((0..n as u32).collect(), data.to_vec());
            return Ok(KMeansFit { labels, centers, inertia: 0.0, iterations: 0 });
        }
        if n > SAMPLED_ABOVE {
            let picked = sample_rows(self.seed, n, SAMPLE_ROWS);
            let part: Vec<f64> = picked.iter().flat_map(|i| rows.row(*i as usize).iter().copied()).collect();
            let sample = DataMatrix { data: &part, d };
            if sample.distinct(self.k, observer)? == self.k {
                let mut tried = self.restarts_on(sample, observer)?;
                tried.truncate(CONTINUED);
                let continued: Result<Vec<KMeansFit>> =
                    tried.into_iter().map(|fit| lloyd::run(rows, fit.centers, self, observer)).collect();
                let mut fit = best(continued?);
                fit.relabel(d);
                return Ok(fit);
            }
        }
        Ok(best(self.restarts_on(rows, observer)?))
    }

    /// One run from the given centers, k x d row-major.
    pub fn fit_from(&self, data: &[f64], d: usize, centers: &[f64]) -> Result<KMeansFit> {
        let mut fit = self.iterate(data, d, centers.to_vec(), &Silent)?;
        fit.relabel(d);
        Ok(fit)
    }

    /// The k-means++ centers (k x d by rows) from which restart number `restart` begins.
    pub fn initial_centers(
        &self,
        data: &[f64],
        d: usize,
        restart: u64,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>> {
        self.validate()?;
        let rows = DataMatrix::new(data, d)?;
        rows.check_k(self.k, observer)?;
        init::plus_plus(rows, self.k, self.seed, restart, observer)
    }

    /// Lloyd's iteration from the given centers (k x d by rows), once; labels keep the numbers of the centers.
    pub fn iterate(
        &self,
        data: &[f64],
        d: usize,
        centers: Vec<f64>,
        observer: &dyn Observer,
    ) -> Result<KMeansFit> {
        self.validate()?;
        let rows = DataMatrix::new(data, d)?;
        rows.check_k(self.k, observer)?;
        if centers.len() != self.k * d {
            return Err(Error::Shape { len: centers.len(), n: self.k, d });
        }
        lloyd::run(rows, centers, self, observer)
    }

    /// All restarts, the smallest inertia first (ties: the earlier one).
    fn restarts_on(&self, rows: DataMatrix, observer: &dyn Observer) -> Result<Vec<KMeansFit>> {
        let fits: Result<Vec<KMeansFit>> = (0..self.restarts as u64)
            .into_par_iter()
            .map(|restart| {
                check(observer)?;
                let start = init::plus_plus(rows, self.k, self.seed, restart, observer)?;
                let fit = lloyd::run(rows, start, self, observer)?;
                observer.advance(Stage::Label, 1);
                Ok(fit)
            })
            .collect();
        let mut fits = fits?;
        fits.sort_by(|a, b| a.inertia.total_cmp(&b.inertia));
        for fit in &mut fits {
            fit.relabel(rows.d);
        }
        Ok(fits)
    }
}

impl KMeansFit {
    /// Numbers the labels by first appearance and reorders the centers.
    fn relabel(&mut self, d: usize) {
        let old = std::mem::take(&mut self.centers);
        for number in relabel_by_first_appearance(&mut self.labels) {
            self.centers.extend_from_slice(&old[number as usize * d..][..d]);
        }
    }
}

/// The fit of smallest inertia (ties: the earlier one). `fits` is not empty.
fn best(fits: Vec<KMeansFit>) -> KMeansFit {
    let none = KMeansFit { labels: Vec::new(), centers: Vec::new(), inertia: f64::INFINITY, iterations: 0 };
    fits.into_iter().min_by(|a, b| a.inertia.total_cmp(&b.inertia)).unwrap_or(none)
}

/// Renumbers labels 0, 1, 2, … by first appearance; returns the old label of each new one.
pub fn relabel_by_first_appearance(labels: &mut [u32]) -> Vec<u32> {
    let mut new_label = std::collections::HashMap::new();
    let mut old_labels = Vec::new();
    let mut last = None;
    for label in labels {
        // Runs of equal labels are common and need no lookup.
        let new = match last {
            Some((old, known)) if old == *label => known,
            _ => *new_label.entry(*label).or_insert_with(|| {
                old_labels.push(*label);
                old_labels.len() as u32 - 1
            }),
        };
        last = Some((*label, new));
        *label = new;
    }
    old_labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_clusters_as_rows_are_the_rows() {
        let data = [3.0, 1.0, 0.0, 2.0, 5.0, 5.0];
        let fit = KMeans { k: 3, ..KMeans::default() }.fit(&data, 2, &Silent).unwrap();
        assert_eq!((fit.labels, fit.centers, fit.inertia), (vec![0, 1, 2], data.to_vec(), 0.0));
    }

    #[test]
    fn sampled_fit_numbers_labels_and_centers_by_first_appearance() {
        let (n, k) = (SAMPLED_ABOVE + 1, 16);
        let data: Vec<f64> = (0..n).map(|i| (i % k) as f64).collect();
        let fit = KMeans { k, ..KMeans::default() }.fit(&data, 1, &Silent).unwrap();
        assert!(fit.labels.iter().zip(0..).all(|(label, i)| *label == i % k as u32));
        assert_eq!(fit.centers, data[..k]);
    }
}
