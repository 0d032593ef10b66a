//! The Gaussian kernel of NJW (Ng, Jordan and Weiss 2002), with one bandwidth or with local scaling.
//!
//! One bandwidth: `A_ij = exp(-|x_i - x_j|² / (2 σ²))`, `A_ii = 0`. Local scaling (Zelnik-Manor and Perona, Self-tuning
//! spectral clustering, 2004): `A_ij = exp(-|x_i - x_j|² / (σ_i σ_j))`, σ_i the distance from row i to its seventh
//! neighbour. Both have the form `exp(-|x_i - x_j|² g_i g_j)`; only the factors g are stored, O(n) memory, and every
//! entry is computed when it is needed. [`Gaussian::dense`] computes the n x n matrix once.

use rayon::prelude::*;
use rpfcluster::affinity::{Affinity, Components, SimilarityOperator, Submatrix};
use rpfcluster::observe::{Observer, check};
use rpfcluster::{Error, Result};

use super::dense::Dense;
use super::{rows_of, squared_distance};
use crate::parameter;

/// The kernel over borrowed rows.
///
/// ```
/// use rpfcluster::Silent;
/// use rpfcluster::affinity::SimilarityOperator;
/// use rpfcluster_paper::rivals::Gaussian;
/// let kernel = Gaussian::new(&[0.0, 2.0], 1, 1.0)?;
/// let mut column = [0.0; 2];
/// kernel.column(0, &mut column, &Silent)?;
/// assert!(column[0] == 0.0 && (column[1] - (-2.0f64).exp()).abs() < 1e-15);
/// # Ok::<(), rpfcluster::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gaussian<'a> {
    data: &'a [f64],
    n: usize,
    d: usize,
    /// One factor per row; the squared distance of a pair is multiplied by both.
    factors: Vec<f64>,
    /// A row's similarity to itself.
    own: f64,
}

impl<'a> Gaussian<'a> {
    /// One bandwidth for all rows.
    pub fn new(data: &'a [f64], d: usize, sigma: f64) -> Result<Self> {
        let n = rows_of(data, d)?;
        if !(sigma.is_finite() && sigma > 0.0) {
            return Err(parameter("sigma", sigma, "above 0"));
        }
        Ok(Gaussian { data, n, d, factors: vec![1.0 / (sigma * std::f64::consts::SQRT_2); n], own: 0.0 })
    }

    /// Local scaling: the bandwidth of a row is the distance to its `neighbor`-th nearest row. A row with more than
    /// `neighbor` duplicates takes the distance to the nearest row that differs. Computes all n² distances.
    pub fn local(data: &'a [f64], d: usize, neighbor: usize, observer: &dyn Observer) -> Result<Self> {
        let n = rows_of(data, d)?;
        if neighbor == 0 || neighbor >= n {
            return Err(parameter("neighbor", neighbor, format!("from 1 to {}", n.saturating_sub(1))));
        }
        let row = |i: usize| &data[i * d..][..d];
        let scales: Result<Vec<f64>> = (0..n)
            .into_par_iter()
            .map_init(
                || vec![0.0; n],
                |distances, i| {
                    check(observer)?;
                    for (j, to) in distances.iter_mut().enumerate() {
                        *to = squared_distance(row(i), row(j));
                    }
                    let nearest_other =
                        distances.iter().copied().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
                    // The row itself is the zeroth neighbour.
                    let (_, at, _) = distances.select_nth_unstable_by(neighbor, f64::total_cmp);
                    Ok(if *at > 0.0 { at.sqrt() } else { nearest_other.sqrt() })
                },
            )
            .collect();
        let scales = scales?;
        if scales.iter().any(|s| !s.is_finite()) {
            return Err(Error::TooManyClusters { k: 2, distinct: 1 });
        }
        Ok(Gaussian { data, n, d, factors: scales.into_iter().map(|s| 1.0 / s).collect(), own: 0.0 })
    }

    /// With `A_ii = 1`. Nystrom's approximation needs a positive semi-definite matrix, which a kernel with NJW's zero
    /// diagonal is not; among thousands of rows the weight of a row with itself does not matter.
    pub fn with_unit_diagonal(mut self) -> Self {
        self.own = 1.0;
        self
    }

    #[inline]
    fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.d..][..self.d]
    }

    #[inline]
    fn weight(&self, i: usize, j: usize) -> f64 {
        if i == j {
            self.own
        } else {
            (-squared_distance(self.row(i), self.row(j)) * self.factors[i] * self.factors[j]).exp()
        }
    }

    /// Whether every row has a positive degree, and no two differ by 10,000 or more in its inverse square root: kernlab
    /// passes over the bandwidths for which this does not hold.
    pub(super) fn is_even(&self, observer: &dyn Observer) -> Result<bool> {
        const WIDEST: f64 = 1e4;
        let scales: Vec<f64> =
            self.degrees(observer)?.into_iter().map(|degree| degree.sqrt().recip()).collect();
        let ends = scales.iter().fold((f64::INFINITY, 0.0f64), |(low, high), s| (low.min(*s), high.max(*s)));
        Ok(ends.1.is_finite() && ends.1 - ends.0 < WIDEST)
    }

    /// The n x n matrix.
    pub fn dense(&self, observer: &dyn Observer) -> Result<Dense> {
        Dense::from_rows(self.n, observer, |i, row| {
            row.iter_mut().enumerate().for_each(|(j, v)| *v = self.weight(i, j));
        })
    }

    /// Row `i` of `A x`.
    fn row_product(&self, i: usize, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (j, from) in x.chunks_exact(out.len()).enumerate() {
            let w = self.weight(i, j);
            for (o, v) in out.iter_mut().zip(from) {
                *o += w * v;
            }
        }
    }

    fn degree(&self, i: usize) -> f64 {
        (0..self.n).map(|j| self.weight(i, j)).sum()
    }
}

impl SimilarityOperator for Gaussian<'_> {
    fn n(&self) -> usize {
        self.n
    }

    fn degrees(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        (0..self.n).into_par_iter().map(|i| check(observer).map(|()| self.degree(i))).collect()
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) -> Result<()> {
        y.par_chunks_mut(b).enumerate().try_for_each(|(i, out)| {
            check(observer)?;
            self.row_product(i, x, out);
            Ok(())
        })
    }

    fn column(&self, j: usize, out: &mut [f64], observer: &dyn Observer) -> Result<()> {
        check(observer)?;
        for (i, o) in out.iter_mut().enumerate() {
            *o = self.weight(i, j);
        }
        Ok(())
    }

    /// One component: in exact arithmetic every weight is positive. Rows whose weights all underflow to zero are few.
    fn components(&self, _observer: &dyn Observer) -> Result<Option<Components>> {
        Ok(None)
    }

    fn submatrix(&self, rows: &[u32], _observer: &dyn Observer) -> Result<Affinity<'_>> {
        Ok(Affinity::operator(Submatrix::new(self, rows)))
    }
}
