//! Dense eigen-decomposition: small affinities in full, and the projected problems of the iterative solvers.
//!
//! Exact up to rounding; O(n³) time, O(n²) memory.

use rayon::prelude::*;

use super::Eigenpairs;
use super::operator::NormalizedAffinity;
use super::tridiagonal;
use crate::error::{Error, Result};
use crate::observe::{Observer, check};

/// Eigenpairs of a symmetric matrix, the largest first.
pub(crate) struct SymmetricEigen {
    /// All eigenvalues.
    pub values: Vec<f64>,
    /// The eigenvectors of the first `keep` of them: the columns of a row-major n x keep matrix.
    pub vectors: Vec<f64>,
}

/// The eigenvalues of a symmetric n x n matrix and its first `keep` eigenvectors.
pub(crate) fn symmetric(
    matrix: &[f64],
    n: usize,
    keep: usize,
    observer: &dyn Observer,
) -> Result<SymmetricEigen> {
    if let Some(at) = matrix.iter().position(|v| !v.is_finite()) {
        return Err(Error::Numerical {
            what: "dense eigen-decomposition",
            problem: format!("entry {}, {} is {}", at / n + 1, at % n + 1, matrix[at]),
        });
    }
    let (values, vectors) = tridiagonal::eigenpairs(matrix, n, keep, observer)?;
    Ok(SymmetricEigen { values, vectors })
}

/// The `m` largest eigenpairs of the normalised affinity.
pub(crate) fn largest(
    operator: &NormalizedAffinity,
    m: usize,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    let n = operator.n();
    let matrix = operator.matrix(observer)?;
    let SymmetricEigen { mut values, vectors } = symmetric(&matrix, n, m, observer)?;
    values.truncate(m);
    // `N u - λ u` row by row; the squares of a column are added in row order.
    let mut residuals = vec![0.0; n * m];
    residuals.par_chunks_mut(m).zip(matrix.par_chunks(n)).enumerate().try_for_each(|(i, (out, line))| {
        check(observer)?;
        for (a, row) in line.iter().zip(vectors.chunks_exact(m)) {
            out.iter_mut().zip(row).for_each(|(o, v)| *o += a * v);
        }
        for ((o, v), value) in out.iter_mut().zip(&vectors[i * m..]).zip(&values) {
            *o -= value * v;
        }
        Ok(())
    })?;
    let mut squares = vec![0.0; m];
    for row in residuals.chunks_exact(m) {
        squares.iter_mut().zip(row).for_each(|(s, r)| *s += r * r);
    }
    let residual = squares.iter().fold(0.0f64, |most, s| most.max(s.sqrt()));
    Ok(Eigenpairs { values, vectors, residual, converged: true, iterations: 1, uncovered: 0.0 })
}
