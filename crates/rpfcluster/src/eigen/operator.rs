//! The operator whose largest eigenpairs are wanted: `N = D^-1/2 A D^-1/2`.
//!
//! The iterative solver works on it in the variables `z = D^-1/2 v` of the random walk `P = D^-1 A`, which has the
//! same eigenvalues: a polynomial in N is then `D^1/2 p(P) D^-1/2`, and the square roots are paid once, not once
//! a product.

use rayon::prelude::*;

use super::tall_skinny::CHUNK;
use crate::affinity::Affinity;
use crate::error::{Error, Result};

/// The normalised operator of an affinity. Points without any similarity have a zero row.
pub struct Operator<'a> {
    affinity: &'a dyn Affinity,
    degrees: Vec<f64>,
}

impl<'a> Operator<'a> {
    /// Asks the affinity for its degrees once.
    pub fn new(affinity: &'a dyn Affinity) -> Result<Self> {
        let degrees = affinity.degrees();
        if let Some(row) = degrees.iter().position(|d| !d.is_finite() || *d < 0.0) {
            return Err(Error::Similarity {
                problem: format!("has row {} summing to {}; row sums must be finite", row + 1, degrees[row]),
            });
        }
        Ok(Operator { affinity, degrees })
    }

    /// Number of points.
    pub fn n(&self) -> usize {
        self.degrees.len()
    }

    /// Row sums of the affinity.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// Hands the degrees over.
    pub fn into_degrees(self) -> Vec<f64> {
        self.degrees
    }

    /// `1 / sqrt(d)`, or 0 for a point without similarity.
    pub fn inverse_root(&self, i: usize) -> f64 {
        let d = self.degrees[i];
        if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }
    }

    /// A lower bound of the spectrum, a little below 1 at most.
    pub fn lower_bound(&self) -> f64 {
        (self.affinity.lower_bound() - 1e-12).clamp(-1.0, 1.0 - 1e-9)
    }

    /// The eigenvector of eigenvalue 1 that is known beforehand, `D^1/2 1` to unit length.
    pub fn first_vector(&self) -> Vec<f64> {
        let total: f64 = self.degrees.iter().sum();
        if total > 0.0 {
            self.degrees.iter().map(|d| (d / total).sqrt()).collect()
        } else {
            let even = 1.0 / (self.degrees.len() as f64).sqrt();
            vec![even; self.degrees.len()]
        }
    }

    /// `y = D^-1 A z` for `b` vectors, row-major.
    pub fn walk(&self, z: &[f64], y: &mut [f64], b: usize) {
        self.affinity.apply(z, y, b);
        y.par_chunks_mut(CHUNK * b).zip(self.degrees.par_chunks(CHUNK)).for_each(|(rows, degrees)| {
            for (row, d) in rows.chunks_exact_mut(b).zip(degrees) {
                let inverse = if *d > 0.0 { 1.0 / d } else { 0.0 };
                for v in row {
                    *v *= inverse;
                }
            }
        });
    }

    /// The whole operator, n x n.
    pub fn matrix(&self) -> Vec<f64> {
        let n = self.n();
        let mut matrix = vec![0.0; n * n];
        matrix.par_chunks_mut(n).enumerate().for_each(|(j, column)| {
            self.affinity.column(j, column);
            let scale = self.inverse_root(j);
            for (i, v) in column.iter_mut().enumerate() {
                *v *= scale * self.inverse_root(i);
            }
        });
        matrix
    }
}
