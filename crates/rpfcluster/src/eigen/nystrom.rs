//! The Nyström approximation: eigenvectors from the similarities to m landmarks (Fowlkes, Belongie, Chung and Malik,
//! PAMI 26(2), 2004, one-shot method).
//!
//! Let C be the n × m matrix of similarities to the landmarks and W its m × m block of landmark rows. The similarity
//! matrix is approximated by `C W⁺ Cᵀ`; its row sums are `C W⁺ (Cᵀ 1)`, where `Cᵀ 1` are the degrees of the landmarks.
//! Every entry of C is divided by the square roots of the degrees of its row and its landmark; then
//! `W^-1/2 Cᵀ C W^-1/2 = U Λ Uᵀ` gives the orthonormal vectors `C W^-1/2 U Λ^-1/2`. Eigenvectors of W whose
//! eigenvalue is below a given fraction of the largest are discarded. Landmarks are a uniform sample of the rows. Exact
//! when every point is a landmark and the similarity is positive semi-definite. O(n m²) time, O(n m) memory.

use rayon::prelude::*;

use super::dense::{SymmetricEigen, symmetric};
use super::tall_skinny::{Block, CHUNK, gram};
use super::{Eigenpairs, SpectralParams};
use crate::affinity::SimilarityOperator;
use crate::error::{Error, Result};
use crate::observe::{Observer, check};
use crate::random::sample_rows;

/// Largest memory of the similarities to the landmarks, in bytes: 500 landmarks of 2 million rows.
const LIMIT: u64 = 8 << 30;

/// The `m` largest eigenpairs of the approximation and its row sums.
pub(super) fn largest(
    affinity: &dyn SimilarityOperator,
    exact_degrees: Vec<f64>,
    m: usize,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<(Eigenpairs, Vec<f64>)> {
    let n = affinity.n();
    let landmarks = sample_rows(params.seed, n, params.landmarks.min(n));
    let width = landmarks.len();
    let needed = (n as u64).saturating_mul(width as u64).saturating_mul(8);
    if needed > LIMIT {
        return Err(Error::Memory {
            what: "the table of similarities to the landmarks",
            needed,
            limit: LIMIT,
            remedy: "use fewer landmarks or the block solver".to_string(),
        });
    }
    let mut c = similarities(affinity, &landmarks, observer)?;
    let floor = affinity.constant() * (1.0 + 1e-9);
    let uncovered_rows: usize = c
        .par_chunks(width)
        .zip(0..n as u32)
        .filter(|(row, i)| landmarks.binary_search(i).is_err() && row.iter().all(|v| *v <= floor))
        .count();

    let SymmetricEigen { values, vectors } =
        symmetric(&landmark_rows(&c, &landmarks), width, width, observer)?;
    let landmark_degrees: Vec<f64> = landmarks.iter().map(|l| exact_degrees[*l as usize]).collect();
    let weights = solve(&values, &vectors, params.rank_cut, &landmark_degrees);
    let mut degrees: Vec<f64> = c
        .par_chunks(width)
        .map(|row| row.iter().zip(&weights).map(|(a, w)| a * w).sum::<f64>().max(0.0))
        .collect();
    for landmark in &landmarks {
        degrees[*landmark as usize] = exact_degrees[*landmark as usize];
    }

    let inverse_root = |i: usize| if degrees[i] > 0.0 { 1.0 / degrees[i].sqrt() } else { 0.0 };
    let column_scale: Vec<f64> = landmarks.iter().map(|l| inverse_root(*l as usize)).collect();
    c.par_chunks_mut(width).enumerate().for_each(|(i, row)| {
        let own = inverse_root(i);
        for (v, other) in row.iter_mut().zip(&column_scale) {
            *v *= own * other;
        }
    });
    check(observer)?;
    let SymmetricEigen { values, vectors } =
        symmetric(&landmark_rows(&c, &landmarks), width, width, observer)?;
    let rank = values.iter().filter(|v| kept(**v, values[0], params.rank_cut)).count();
    if rank < m {
        return Err(Error::Numerical {
            what: "Nyström approximation",
            problem: format!(
                "{width} landmarks have rank {rank}, but {m} eigenvectors are wanted; use more landmarks"
            ),
        });
    }
    // F = V Λ^-1/2 of W on the kept eigenvectors: width x rank.
    let mut factor = vec![0.0; width * rank];
    for (row, from) in factor.chunks_exact_mut(rank).zip(vectors.chunks_exact(width)) {
        for (j, f) in row.iter_mut().enumerate() {
            *f = from[j] / values[j].sqrt();
        }
    }
    let square = gram(Block::new(&c, width, width), Block::new(&c, width, width), observer)?;
    let projected = congruence(&square, width, &factor, rank, observer)?;
    let SymmetricEigen { values: mut top, vectors: rotation } = symmetric(&projected, rank, rank, observer)?;
    top.truncate(m);
    // F U Λ^-1/2 maps the similarities of a row to its entries of the eigenvectors: width x m.
    let mut map = vec![0.0; width * m];
    for (row, f) in map.chunks_exact_mut(m).zip(factor.chunks_exact(rank)) {
        for (j, v) in row.iter_mut().enumerate() {
            let sum: f64 = f.iter().zip(rotation.chunks_exact(rank)).map(|(a, u)| a * u[j]).sum();
            *v = if top[j] > 0.0 { sum / top[j].sqrt() } else { 0.0 };
        }
    }
    let mut out = vec![0.0; n * m];
    out.par_chunks_mut(CHUNK * m).zip(c.par_chunks(CHUNK * width)).try_for_each(|(rows, from)| {
        check(observer)?;
        for (row, similarity) in rows.chunks_exact_mut(m).zip(from.chunks_exact(width)) {
            for (s, line) in similarity.iter().zip(map.chunks_exact(m)) {
                for (o, v) in row.iter_mut().zip(line) {
                    *o += s * v;
                }
            }
        }
        Ok(())
    })?;
    let uncovered = uncovered_rows as f64 / n as f64;
    let pairs =
        Eigenpairs { values: top, vectors: out, residual: 0.0, converged: true, iterations: 1, uncovered };
    Ok((pairs, degrees))
}

/// The similarities of all points to the landmarks, n x m by rows.
fn similarities(
    affinity: &dyn SimilarityOperator,
    landmarks: &[u32],
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    /// Columns computed before they are transposed into rows.
    const BATCH: usize = 32;
    let (n, width) = (affinity.n(), landmarks.len());
    let mut table = vec![0.0; n * width];
    for (batch, group) in landmarks.chunks(BATCH).enumerate() {
        check(observer)?;
        let columns: Result<Vec<Vec<f64>>> = group
            .par_iter()
            .map(|landmark| {
                let mut column = vec![0.0; n];
                affinity.column(*landmark as usize, &mut column, observer)?;
                Ok(column)
            })
            .collect();
        let columns = columns?;
        table.par_chunks_mut(width).enumerate().for_each(|(i, row)| {
            for (to, column) in row[batch * BATCH..].iter_mut().zip(&columns) {
                *to = column[i];
            }
        });
    }
    Ok(table)
}

/// The rows of the landmarks.
fn landmark_rows(table: &[f64], landmarks: &[u32]) -> Vec<f64> {
    let width = landmarks.len();
    landmarks.iter().flat_map(|l| table[*l as usize * width..][..width].iter().copied()).collect()
}

/// Whether an eigenvector of W is kept.
fn kept(value: f64, largest: f64, rank_cut: f64) -> bool {
    value > 0.0 && value > rank_cut * largest
}

/// `V Λ⁻¹ Vᵀ x` over the kept eigenvectors.
fn solve(values: &[f64], vectors: &[f64], rank_cut: f64, x: &[f64]) -> Vec<f64> {
    let m = values.len();
    let mut out = vec![0.0; m];
    for (j, value) in values.iter().enumerate().filter(|(_, v)| kept(**v, values[0], rank_cut)) {
        let inner: f64 = x.iter().enumerate().map(|(i, v)| v * vectors[i * m + j]).sum();
        let scaled = inner / value;
        for (i, o) in out.iter_mut().enumerate() {
            *o += scaled * vectors[i * m + j];
        }
    }
    out
}

/// `Fᵀ G F` for a symmetric width x width matrix G and a width x rank matrix F.
fn congruence(g: &[f64], width: usize, f: &[f64], rank: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
    let mut product = vec![0.0; width * rank];
    product.par_chunks_mut(rank).zip(g.par_chunks(width)).try_for_each(|(row, line)| {
        check(observer)?;
        for (a, from) in line.iter().zip(f.chunks_exact(rank)) {
            for (o, v) in row.iter_mut().zip(from) {
                *o += a * v;
            }
        }
        Ok(())
    })?;
    gram(Block::new(f, rank, rank), Block::new(&product, rank, rank), observer)
}
