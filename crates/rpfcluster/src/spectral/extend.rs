//! Eigenvectors for unseen rows: u(x) = Σ_j a(x, j) u_j / (λ sqrt(d(x) d_j)), the Nystrom extension through the same
//! affinity. A training row gets its own entry of the eigenvector back.

use rayon::prelude::*;

use super::Embedding;
use crate::kernel::{LeafCodes, LeafMatrix};

/// Eigenvalues below this carry nothing that could be extended.
const SMALLEST: f64 = 1e-12;

/// `u_j / (λ sqrt(d_j))`, n x k: what a row's affinities are multiplied with.
pub(crate) fn loadings(embedding: &Embedding) -> Vec<f64> {
    let k = embedding.k();
    let mut out = embedding.vectors.clone();
    out.par_chunks_mut(k).zip(&embedding.degrees).for_each(|(row, &degree)| {
        for (v, &lambda) in row.iter_mut().zip(&embedding.eigenvalues) {
            *v = if lambda.abs() > SMALLEST && degree > 0.0 { *v / (lambda * degree.sqrt()) } else { 0.0 };
        }
    });
    out
}

/// The embedding of rows given by their leaf numbers under the `linear` affinity.
pub(crate) fn linear(leaves: &LeafMatrix, codes: &LeafCodes, loadings: &[f64], k: usize) -> Vec<f64> {
    let mut out = vec![0.0; codes.n() * k];
    leaves.apply_to(codes, loadings, &mut out, k);
    let trees = leaves.trees();
    out.par_chunks_mut(k).enumerate().for_each(|(row, out)| {
        let degree: f64 = (0..trees).map(|t| leaves.members(t, codes.get(row, t)).len() as f64).sum::<f64>();
        let scale = 1.0 / (degree / trees as f64).sqrt();
        out.iter_mut().for_each(|v| *v *= scale);
    });
    out
}

/// The embedding of one row from its weights to some training rows, on top of `constant` to all of them.
pub(crate) fn sparse(
    neighbours: impl Iterator<Item = (u32, f64)>,
    constant: f64,
    (loadings, total, n): (&[f64], &[f64], usize),
    out: &mut [f64],
) {
    let k = out.len();
    let mut degree = constant * n as f64;
    for (o, t) in out.iter_mut().zip(total) {
        *o = constant * t;
    }
    for (j, weight) in neighbours {
        degree += weight;
        for (o, l) in out.iter_mut().zip(&loadings[j as usize * k..][..k]) {
            *o += weight * l;
        }
    }
    if degree > 0.0 {
        let scale = 1.0 / degree.sqrt();
        out.iter_mut().for_each(|v| *v *= scale);
    }
}

/// Column sums of the loadings, in a fixed order: what a constant affinity to everybody adds.
pub(crate) fn column_sums(loadings: &[f64], k: usize) -> Vec<f64> {
    let partial: Vec<Vec<f64>> = loadings
        .par_chunks(4096 * k)
        .map(|chunk| {
            let mut sum = vec![0.0; k];
            for row in chunk.chunks_exact(k) {
                sum.iter_mut().zip(row).for_each(|(s, v)| *s += v);
            }
            sum
        })
        .collect();
    let mut total = vec![0.0; k];
    for part in partial {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
    }
    total
}
