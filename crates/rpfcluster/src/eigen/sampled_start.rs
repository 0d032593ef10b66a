//! Start vectors for the kernel S of many rows: the eigenvectors of a sample of rows, extended to all rows by the
//! Nyström formula (Williams and Seeger, NIPS 2000).
//!
//! S is the same function of two points for any set of rows, so a hashed sample of rows in the same leaves has nearly
//! the same eigenvectors. A product with the sample costs the sampled fraction of a product with S, and half a
//! product with S extends the vectors to every row.

use std::sync::Arc;

use rayon::prelude::*;

use super::block_krylov::{self, EigenRequest, InitialBlock};
use super::operator::NormalizedAffinity;
use super::tall_skinny::{CHUNK, scale_rows};
use crate::affinity::{LinearAffinity, SimilarityOperator};
use crate::error::Result;
use crate::forest::LeafIds;
use crate::kernel::LeafMatrix;
use crate::observe::Observer;
use crate::random::sample_rows;

/// Smallest number of rows for which a sample saves time.
const MIN_ROWS: usize = 20_000;
/// Rows for each row of the sample; 8 and 32 take as long.
const SAMPLING_RATIO: usize = 16;
/// [`EigenRequest::spread_fraction`] on the sample: below its difference from the whole.
const SAMPLE_SPREAD_FRACTION: f64 = 1e-2;

/// The start block; `None` for fewer rows or a sample that is not connected.
pub(super) fn initial_block(
    leaves: &LeafMatrix,
    operator: &NormalizedAffinity,
    request: &EigenRequest,
    observer: &dyn Observer,
) -> Result<Option<InitialBlock>> {
    let n = operator.n();
    let width = request.width();
    if n < MIN_ROWS || !request.fits(n / SAMPLING_RATIO) {
        return Ok(None);
    }
    let ids = leaves.prepare_leaf_ids(observer)?;
    let rows = sample_rows(request.seed, n, n / SAMPLING_RATIO);
    let picked: Vec<u32> = (0..leaves.trees())
        .into_par_iter()
        .flat_map_iter(|t| {
            let tree = ids.tree(t);
            rows.iter().map(|row| tree[*row as usize])
        })
        .collect();
    let part = leaves.of_rows(LeafIds::new(rows.len(), leaves.trees(), picked), observer)?;
    let part = LinearAffinity::new(Arc::new(part));
    // A sample may be disconnected where S is not; its vectors of eigenvalue 1 are no start then.
    if part.components(observer)?.is_some() {
        return Ok(None);
    }
    let sampled = NormalizedAffinity::new(&part, observer)?;
    let rough =
        EigenRequest { tolerance: 1.0, spread_fraction: SAMPLE_SPREAD_FRACTION, start: None, ..*request };
    let found = block_krylov::whole_block(&sampled, &rough, observer)?;
    let mut z = found.vectors;
    scale_rows(&mut z, width, |i| sampled.inverse_root(i));
    let mut start = vec![0.0; n * width];
    part.leaves().apply_to(ids, &z, &mut start, width, observer)?;
    // The first vector of the random walk is constant, so its product is the degree towards the sample.
    let rows = start.par_chunks_mut(CHUNK * width).zip(operator.degrees().par_chunks(CHUNK));
    rows.for_each(|(rows, degrees)| {
        for (row, degree) in rows.chunks_exact_mut(width).zip(degrees) {
            let scale = if row[0] == 0.0 { 0.0 } else { degree.sqrt() / row[0] };
            row.iter_mut().for_each(|v| *v *= scale);
        }
    });
    // Half a product, rounded up.
    Ok(Some(InitialBlock { vectors: start, columns: width, products: 1, converged: None }))
}
