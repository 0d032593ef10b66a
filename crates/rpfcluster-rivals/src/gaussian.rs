//! The Gaussian kernel, `A_ij = exp(-|x_i - x_j|² / (2 σ²))` with `A_ii = 0`, by one bandwidth or one for each row.
//!
//! With a bandwidth of its own for each row (Zelnik-Manor and Perona 2004) the weight is
//! `exp(-|x_i - x_j|² / (σ_i σ_j))`, σ_i the distance to the seventh neighbour. Both are `exp(-|x_i - x_j|² g_i g_j)`,
//! which is what is stored. Nothing n x n is held: [`Gaussian::dense`] makes the matrix where it fits.

use rayon::prelude::*;
use rpfcluster::affinity::{Affinity, Components, SimilarityOperator, Submatrix};
use rpfcluster::observe::{Observer, Silent, check};
use rpfcluster::{Error, Result};

use crate::dense::Dense;
use crate::{parameter, rows_of, squared_distance};

/// The kernel over rows that stay where they are.
///
/// ```
/// use rpfcluster::Silent;
/// use rpfcluster::affinity::SimilarityOperator;
/// use rpfcluster_rivals::Gaussian;
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
    /// One factor a row; a pair's squared distance is multiplied by both.
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

    /// For each row the distance to its `neighbor`-th nearest row as bandwidth. Rows with more twins than that take
    /// the distance to the nearest row that is not one.
    pub fn local(data: &'a [f64], d: usize, neighbor: usize) -> Result<Self> {
        Self::local_observed(data, d, neighbor, &Silent)
    }

    /// As [`Gaussian::local`]; all pairs are looked at, so `observer` is asked at each row whether to go on.
    pub fn local_observed(
        data: &'a [f64],
        d: usize,
        neighbor: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
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

    /// With `A_ii = 1`, as a kernel is: Nystrom's approximation needs a positive semi-definite matrix, and NJW's zeros on
    /// the diagonal would spoil it. Among thousands of rows a row's own weight does not matter.
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

    /// The whole matrix.
    pub fn dense(&self) -> Dense {
        Dense::from_rows(self.n, |i, row| self.fill(i, row))
    }

    /// As [`Gaussian::dense`], asking `observer` at each row whether to go on.
    pub fn dense_observed(&self, observer: &dyn Observer) -> Result<Dense> {
        let matrix = Dense::from_rows(self.n, |i, row| {
            if !observer.cancelled() {
                self.fill(i, row);
            }
        });
        check(observer).map(|()| matrix)
    }

    fn fill(&self, i: usize, row: &mut [f64]) {
        row.iter_mut().enumerate().for_each(|(j, v)| *v = self.weight(i, j));
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

/// The numbers a search over bandwidths looks at, ascending: `count` values evenly by ratio from the median distance
/// to the nearest neighbour up to the median distance of all pairs, of at most 500 rows.
pub fn bandwidths(data: &[f64], d: usize, count: usize) -> Result<Vec<f64>> {
    let n = rows_of(data, d)?;
    let picked = rpfcluster::random::sample_rows(0, n, 500.min(n));
    let row = |i: u32| &data[i as usize * d..][..d];
    let (mut nearest, mut all) = (Vec::new(), Vec::new());
    for i in 0..n as u32 {
        if picked.binary_search(&i).is_err() {
            continue;
        }
        let closest = (0..n as u32)
            .map(|j| squared_distance(row(i), row(j)))
            .filter(|v| *v > 0.0)
            .fold(f64::INFINITY, f64::min);
        nearest.push(closest.sqrt());
        all.extend(picked.iter().filter(|j| **j > i).map(|j| squared_distance(row(i), row(*j)).sqrt()));
    }
    nearest.retain(|v| v.is_finite());
    all.retain(|v| *v > 0.0);
    nearest.sort_by(f64::total_cmp);
    all.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (nearest.get(nearest.len() / 2), all.get(all.len() / 2)) else {
        return Err(Error::TooManyClusters { k: 2, distinct: 1 });
    };
    let ratio = (high / low).max(1.0);
    let steps = count.saturating_sub(1).max(1) as f64;
    Ok((0..count).map(|i| low * ratio.powf(i as f64 / steps)).collect())
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

    /// Positive everywhere in exact arithmetic; rows whose weights all underflow are few and stand alone.
    fn components(&self, _observer: &dyn Observer) -> Result<Option<Components>> {
        Ok(None)
    }

    fn submatrix(&self, rows: &[u32], _observer: &dyn Observer) -> Result<Affinity<'_>> {
        Ok(Affinity::operator(Submatrix::new(self, rows)))
    }
}
