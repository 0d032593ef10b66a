//! k-way spectral clustering (Ng, Jordan and Weiss, NIPS 14, 2002): k-means on the rows of K eigenvectors, scaled to
//! unit length, within each connected component. A component gets as many clusters as it has columns.

use crate::eigen::{Embedding, SpectralParams};
use crate::error::{Error, Result};
use crate::kmeans::{KMeans, relabel_by_first_appearance};
use crate::observe::{Observer, Stage, StageGuard};

/// Labels by k-means on the unit rows, row i counted `copies[i]` times.
pub(super) fn label(
    embedding: &Embedding,
    copies: Option<&[u32]>,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let total = (params.restarts * embedding.columns.len()) as u64;
    let _stage = StageGuard::begin(observer, Stage::Label, total);
    let mut labels = vec![0u32; embedding.n()];
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); embedding.columns.len()];
    for (i, component) in embedding.component_of.iter().enumerate() {
        let times = copies.map_or(1, |copies| copies[i] as usize);
        rows[*component as usize].extend(std::iter::repeat_n(i as u32, times));
    }
    let mut next = 0;
    for (own, columns) in rows.iter().zip(&embedding.columns) {
        let found = label_component(embedding, own, columns, params, observer)?;
        for (row, label) in own.iter().zip(found) {
            labels[*row as usize] = next + label;
        }
        next += columns.len() as u32;
    }
    relabel_by_first_appearance(&mut labels);
    Ok(labels)
}

fn label_component(
    embedding: &Embedding,
    rows: &[u32],
    columns: &[usize],
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let k = columns.len();
    if k == 1 {
        return Ok(vec![0; rows.len()]);
    }
    let mut data = vec![0.0; rows.len() * k];
    for (unit, row) in data.chunks_exact_mut(k).zip(rows) {
        let whole = embedding.row(*row as usize);
        for (u, column) in unit.iter_mut().zip(columns) {
            *u = whole[*column];
        }
        to_unit(unit);
    }
    let kmeans = KMeans { k, restarts: params.restarts, seed: params.seed, ..KMeans::default() };
    match kmeans.fit(&data, k, observer) {
        Ok(fit) => Ok(fit.labels),
        // The message counts the clusters and points of all components.
        Err(Error::TooManyClusters { distinct, .. }) => {
            Err(Error::TooManyClusters { k: embedding.k(), distinct: embedding.k() - k + distinct })
        }
        Err(other) => Err(other),
    }
}

/// Scales a row to unit length. A row of zeros has no direction and is not scaled.
pub(crate) fn to_unit(row: &mut [f64]) {
    let length = row.iter().fold(0.0, |s, v| s + v * v).sqrt();
    if length > 0.0 {
        row.iter_mut().for_each(|v| *v /= length);
    }
}
