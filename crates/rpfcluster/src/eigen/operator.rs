//! The normalised affinity `N = D^-1/2 A D^-1/2`, whose largest eigenpairs are wanted.
//!
//! The iterative solvers work in the variables `z = D^-1/2 v` of the random walk `P = D^-1 A`, which has the same
//! eigenvalues: a polynomial in N is `D^1/2 p(P) D^-1/2`, so the square roots are applied once for each polynomial
//! instead of once for each product.

use rayon::prelude::*;

use super::tall_skinny::CHUNK;
use crate::affinity::SimilarityOperator;
use crate::error::{Error, Result};
use crate::observe::{Observer, check};

/// `D^-1/2 A D^-1/2`. Points without any similarity have a zero row.
pub(crate) struct NormalizedAffinity<'a> {
    affinity: &'a dyn SimilarityOperator,
    degrees: Vec<f64>,
}

impl<'a> NormalizedAffinity<'a> {
    /// Computes the degrees. An error when one is not finite or negative.
    pub fn new(affinity: &'a dyn SimilarityOperator, observer: &dyn Observer) -> Result<Self> {
        let degrees = affinity.degrees(observer)?;
        if let Some(row) = degrees.iter().position(|d| !d.is_finite() || *d < 0.0) {
            return Err(Error::Similarity {
                problem: format!("has row {} summing to {}; row sums must be finite", row + 1, degrees[row]),
            });
        }
        Ok(NormalizedAffinity { affinity, degrees })
    }

    /// Number of points.
    pub fn n(&self) -> usize {
        self.degrees.len()
    }

    /// Row sums of the affinity.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// The row sums, moved out.
    pub fn into_degrees(self) -> Vec<f64> {
        self.degrees
    }

    /// `1 / sqrt(d)`, or 0 for a point without similarity.
    pub fn inverse_root(&self, i: usize) -> f64 {
        let d = self.degrees[i];
        if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }
    }

    /// A lower bound of the spectrum, below 1.
    pub fn lower_bound(&self, observer: &dyn Observer) -> Result<f64> {
        Ok((self.affinity.lower_bound(observer)? - 1e-12).clamp(-1.0, 1.0 - 1e-9))
    }

    /// The known eigenvector of eigenvalue 1, `D^1/2 1` scaled to unit length.
    pub fn first_vector(&self) -> Vec<f64> {
        let total: f64 = self.degrees.iter().sum();
        if total > 0.0 {
            self.degrees.iter().map(|d| (d / total).sqrt()).collect()
        } else {
            let even = 1.0 / (self.degrees.len() as f64).sqrt();
            vec![even; self.degrees.len()]
        }
    }

    /// `y = P z = D^-1 A z` for `b` vectors, row-major.
    pub fn walk(&self, z: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) -> Result<()> {
        self.affinity.apply(z, y, b, observer)?;
        y.par_chunks_mut(CHUNK * b).zip(self.degrees.par_chunks(CHUNK)).for_each(|(rows, degrees)| {
            for (row, d) in rows.chunks_exact_mut(b).zip(degrees) {
                let inverse = if *d > 0.0 { 1.0 / d } else { 0.0 };
                for v in row {
                    *v *= inverse;
                }
            }
        });
        Ok(())
    }

    /// The whole matrix, n x n.
    pub fn matrix(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        let n = self.n();
        let mut matrix = vec![0.0; n * n];
        matrix.par_chunks_mut(n).enumerate().try_for_each(|(j, column)| {
            check(observer)?;
            self.affinity.column(j, column, observer)?;
            let scale = self.inverse_root(j);
            for (i, v) in column.iter_mut().enumerate() {
                *v *= scale * self.inverse_root(i);
            }
            Ok(())
        })?;
        Ok(matrix)
    }
}
