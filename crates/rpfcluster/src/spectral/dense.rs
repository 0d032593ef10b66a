//! Small problems in full: every eigenpair from faer's self-adjoint decomposition, the largest kept.
//!
//! Also the small projected problems inside the iterative solver and Nystrom.

use faer::{Mat, Side};

use super::Pairs;
use super::operator::Operator;
use crate::error::{Error, Result};

/// All eigenpairs of a symmetric n x n matrix, the largest first: values, and vectors as the columns of a
/// row-major n x n matrix.
pub(crate) fn symmetric(matrix: &[f64], n: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    if let Some(at) = matrix.iter().position(|v| !v.is_finite()) {
        return Err(Error::Numerical {
            what: "dense eigen-decomposition",
            problem: format!("entry {}, {} is {}", at / n + 1, at % n + 1, matrix[at]),
        });
    }
    // Both triangles averaged: rounding must not decide which one counts.
    let full = Mat::from_fn(n, n, |i, j| 0.5 * (matrix[i * n + j] + matrix[j * n + i]));
    let evd = full.self_adjoint_eigen(Side::Lower).map_err(|e| Error::Numerical {
        what: "dense eigen-decomposition",
        problem: format!("{e:?} on a matrix of {n} rows"),
    })?;
    let ascending = evd.S().column_vector();
    let values: Vec<f64> = (0..n).rev().map(|j| ascending[j]).collect();
    let u = evd.U();
    let mut vectors = vec![0.0; n * n];
    for (i, row) in vectors.chunks_exact_mut(n).enumerate() {
        for (j, v) in row.iter_mut().enumerate() {
            *v = u[(i, n - 1 - j)];
        }
    }
    Ok((values, vectors))
}

/// The `m` largest eigenpairs of the operator.
pub(crate) fn largest(operator: &Operator, m: usize) -> Result<Pairs> {
    let n = operator.n();
    let matrix = operator.matrix();
    let (mut values, all) = symmetric(&matrix, n)?;
    values.truncate(m);
    let mut vectors = vec![0.0; n * m];
    for (row, from) in vectors.chunks_exact_mut(m).zip(all.chunks_exact(n)) {
        row.copy_from_slice(&from[..m]);
    }
    let mut residual: f64 = 0.0;
    for (j, value) in values.iter().enumerate() {
        let mut sum = 0.0;
        for (i, line) in matrix.chunks_exact(n).enumerate() {
            let product: f64 = line.iter().enumerate().map(|(c, a)| a * vectors[c * m + j]).sum();
            let r = product - value * vectors[i * m + j];
            sum += r * r;
        }
        residual = residual.max(sum.sqrt());
    }
    Ok(Pairs { values, vectors, residual, converged: true, iterations: 1, uncovered: 0.0 })
}
