//! Small problems in full: every eigenpair from faer's self-adjoint decomposition, the largest kept.
//!
//! Also the small projected problems inside the iterative solver and Nystrom.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use faer::{Mat, Side};
use rayon::prelude::*;

use super::Pairs;
use super::operator::Operator;
use crate::error::{Error, Result};
use crate::observe::{Observer, check};

/// Matrices with more rows are decomposed where the caller need not wait for the end.
const LONG: usize = 400;
/// How often it is then asked whether to go on.
const LOOK: Duration = Duration::from_millis(20);

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

/// As [`symmetric`], given up when the observer wants to stop. The decomposition itself cannot be asked to, so a large
/// one runs on a thread of its own, which owns what it needs and is left to end alone.
pub(crate) fn symmetric_observed(
    matrix: Arc<Vec<f64>>,
    n: usize,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, Vec<f64>)> {
    check(observer)?;
    if n <= LONG {
        return symmetric(&matrix, n);
    }
    let (send, receive) = sync_channel(1);
    let own = matrix.clone();
    let task = move || {
        // Nobody listens any more when the work was given up.
        let _ = send.send(symmetric(&own, n));
    };
    if std::thread::Builder::new().name("rpf-dense".into()).spawn(task).is_err() {
        return symmetric(&matrix, n);
    }
    loop {
        match receive.recv_timeout(LOOK) {
            Ok(found) => return found,
            Err(RecvTimeoutError::Timeout) => check(observer)?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::Numerical {
                    what: "dense eigen-decomposition",
                    problem: format!("it ended early on a matrix of {n} rows"),
                });
            }
        }
    }
}

/// The `m` largest eigenpairs of the operator.
pub(crate) fn largest(operator: &Operator, m: usize, observer: &dyn Observer) -> Result<Pairs> {
    let n = operator.n();
    let matrix = Arc::new(operator.matrix());
    let (mut values, all) = symmetric_observed(matrix.clone(), n, observer)?;
    values.truncate(m);
    let mut vectors = vec![0.0; n * m];
    for (row, from) in vectors.chunks_exact_mut(m).zip(all.chunks_exact(n)) {
        row.copy_from_slice(&from[..m]);
    }
    // `N u - λ u`, row by row; the squares of a column are added in the order of the rows.
    let mut rests = vec![0.0; n * m];
    rests.par_chunks_mut(m).zip(matrix.par_chunks(n)).enumerate().for_each(|(i, (out, line))| {
        if observer.cancelled() {
            return;
        }
        for (a, row) in line.iter().zip(vectors.chunks_exact(m)) {
            out.iter_mut().zip(row).for_each(|(o, v)| *o += a * v);
        }
        for ((o, v), value) in out.iter_mut().zip(&vectors[i * m..]).zip(&values) {
            *o -= value * v;
        }
    });
    check(observer)?;
    let mut sums = vec![0.0; m];
    for row in rests.chunks_exact(m) {
        sums.iter_mut().zip(row).for_each(|(s, r)| *s += r * r);
    }
    let residual = sums.iter().fold(0.0f64, |most, s| most.max(s.sqrt()));
    Ok(Pairs { values, vectors, residual, converged: true, iterations: 1, uncovered: 0.0 })
}
