//! Where the block solver begins on the kernel S of many rows: at the eigenvectors of a sample of them.
//!
//! S is the same function of two points whichever rows are looked at, so the rows of a hashed sample, in the same
//! leaves, have nearly the eigenvectors of all. A product with them costs their share, and one half of a product with
//! the whole carries the vectors to every row: the walk from a row into the sample.

use std::sync::Arc;

use rayon::prelude::*;

use super::block_krylov::{self, Begun, Wanted};
use super::operator::Operator;
use super::tall_skinny::{CHUNK, scale_rows};
use crate::affinity::{Affinity, LinearAffinity};
use crate::error::Result;
use crate::forest::LeafIds;
use crate::kernel::LeafMatrix;
use crate::observe::Observer;
use crate::random::sample_rows;

/// Rows from which on it is worth it.
const FROM: usize = 20_000;
/// One of so many rows is in the sample.
const SHARE: usize = 16;
/// Residuals on the sample as a share of the spread of the block's eigenvalues: below what it differs from the whole.
const ROUGH: f64 = 1e-2;

/// Start vectors; `None` for fewer rows.
pub(super) fn start(
    leaves: &LeafMatrix,
    operator: &Operator,
    wanted: &Wanted,
    observer: &dyn Observer,
) -> Result<Option<Begun>> {
    let n = operator.n();
    let width = wanted.width();
    if n < FROM || !wanted.fits(n / SHARE) {
        return Ok(None);
    }
    let codes = leaves.prepare_leaf_ids(observer)?;
    let rows = sample_rows(wanted.seed, n, n / SHARE);
    let picked: Vec<u32> = (0..leaves.trees())
        .into_par_iter()
        .flat_map_iter(|t| {
            let tree = codes.tree(t);
            rows.iter().map(|row| tree[*row as usize])
        })
        .collect();
    let part = leaves.of_rows(LeafIds::new(rows.len(), leaves.trees(), picked), observer)?;
    let part = LinearAffinity::new(Arc::new(part));
    // Leaves that the sample leaves empty may let it fall apart: several vectors of eigenvalue 1 are no start then.
    if part.components().is_some() {
        return Ok(None);
    }
    let watched = part.watched(observer);
    let sampled = Operator::new(watched.as_deref().unwrap_or(&part))?;
    let rough = Wanted { tolerance: 1.0, resolved: ROUGH, start: None, ..*wanted };
    let found = block_krylov::whole_block(&sampled, &rough, observer)?;
    let mut z = found.vectors;
    scale_rows(&mut z, width, |i| sampled.inverse_root(i));
    let mut start = vec![0.0; n * width];
    part.leaves().apply_to(codes, &z, &mut start, width, observer)?;
    // The first vector of the walk is the same everywhere, so its product is the degree towards the sample.
    let rows = start.par_chunks_mut(CHUNK * width).zip(operator.degrees().par_chunks(CHUNK));
    rows.for_each(|(rows, degrees)| {
        for (row, degree) in rows.chunks_exact_mut(width).zip(degrees) {
            let scale = if row[0] == 0.0 { 0.0 } else { degree.sqrt() / row[0] };
            row.iter_mut().for_each(|v| *v *= scale);
        }
    });
    // Half a product, rounded up.
    Ok(Some(Begun { vectors: start, columns: width, products: 1, converged: None }))
}
