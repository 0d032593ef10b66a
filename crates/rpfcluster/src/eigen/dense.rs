//! Dense eigen-decomposition by faer: small affinities in full, and the projected problems of the iterative solvers.
//!
//! Exact up to rounding; O(n³) time on one thread, O(n²) memory.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use faer::{Mat, Side};
use rayon::prelude::*;

use super::Eigenpairs;
use super::operator::NormalizedAffinity;
use crate::error::{Error, Result};
use crate::observe::{Observer, check};

/// Rows above which a decomposition runs on a detached thread. Smaller ones end within a few [`POLL_INTERVAL`]s.
const DETACHED_ROWS: usize = 400;
/// Time between two checks for cancellation while a detached decomposition runs.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// All eigenpairs of a symmetric matrix, the largest first; the vectors are the columns of a row-major n x n matrix.
pub(crate) struct SymmetricEigen {
    pub values: Vec<f64>,
    pub vectors: Vec<f64>,
}

/// The eigen-decomposition of a symmetric n x n matrix. faer cannot be interrupted: a large decomposition runs on a
/// detached thread that owns its input and is abandoned on cancellation.
pub(crate) fn symmetric(
    matrix: impl Into<Arc<Vec<f64>>>,
    n: usize,
    observer: &dyn Observer,
) -> Result<SymmetricEigen> {
    check(observer)?;
    let matrix = matrix.into();
    if n <= DETACHED_ROWS {
        return decompose(&matrix, n);
    }
    let (send, receive) = sync_channel(1);
    let input = matrix.clone();
    let task = move || {
        // Fails only when the receiver was dropped on cancellation.
        let _ = send.send(decompose(&input, n));
    };
    if std::thread::Builder::new().name("rpf-dense".into()).spawn(task).is_err() {
        return decompose(&matrix, n);
    }
    loop {
        match receive.recv_timeout(POLL_INTERVAL) {
            Ok(found) => return found,
            Err(RecvTimeoutError::Timeout) => check(observer)?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::Numerical {
                    what: "dense eigen-decomposition",
                    problem: format!("its thread ended early on a matrix of {n} rows"),
                });
            }
        }
    }
}

fn decompose(matrix: &[f64], n: usize) -> Result<SymmetricEigen> {
    if let Some(at) = matrix.iter().position(|v| !v.is_finite()) {
        return Err(Error::Numerical {
            what: "dense eigen-decomposition",
            problem: format!("entry {}, {} is {}", at / n + 1, at % n + 1, matrix[at]),
        });
    }
    // The mean of both triangles is exactly symmetric.
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
    Ok(SymmetricEigen { values, vectors })
}

/// The `m` largest eigenpairs of the normalised affinity.
pub(crate) fn largest(
    operator: &NormalizedAffinity,
    m: usize,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    let n = operator.n();
    let matrix = Arc::new(operator.matrix(observer)?);
    let SymmetricEigen { mut values, vectors: all } = symmetric(matrix.clone(), n, observer)?;
    values.truncate(m);
    let mut vectors = vec![0.0; n * m];
    for (row, from) in vectors.chunks_exact_mut(m).zip(all.chunks_exact(n)) {
        row.copy_from_slice(&from[..m]);
    }
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
