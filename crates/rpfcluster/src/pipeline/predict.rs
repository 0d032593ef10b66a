//! Eigenvectors for unseen rows: u(x) = Σ_j a(x, j) u_j / (λ sqrt(d(x) d_j)), the Nystrom extension through the same
//! affinity. A training row gets its own entry of the eigenvector back.

use rayon::prelude::*;

use crate::eigen::Embedding;
use crate::error::Result;
use crate::forest::LeafIds;
use crate::kernel::LeafMatrix;
use crate::observe::Observer;

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
pub(crate) fn linear(
    leaves: &LeafMatrix,
    codes: &LeafIds,
    loadings: &[f64],
    k: usize,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    // A column of ones beside the loadings: its product is the degree.
    let wide = k + 1;
    let mut with_ones = vec![1.0; leaves.n() * wide];
    with_ones.par_chunks_mut(wide).zip(loadings.par_chunks(k)).for_each(|(to, from)| {
        to[..k].copy_from_slice(from);
    });
    let mut sums = vec![0.0; codes.n() * wide];
    leaves.apply_to(codes, &with_ones, &mut sums, wide, observer)?;
    let mut out = vec![0.0; codes.n() * k];
    out.par_chunks_mut(k).zip(sums.par_chunks(wide)).for_each(|(out, sums)| {
        let scale = 1.0 / sums[k].sqrt();
        out.iter_mut().zip(sums).for_each(|(o, s)| *o = s * scale);
    });
    Ok(out)
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
