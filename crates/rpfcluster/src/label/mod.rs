//! From eigenvectors to labels.
//!
//! Two methods: [`Method::Kway`] (Ng, Jordan and Weiss 2002), the default, and [`Method::Ncut`], the paper's recursive
//! bipartition (Shi and Malik 2000).

mod kway;
mod ncut;
pub(crate) mod refine;

use crate::affinity::Affinity;
use crate::eigen::{Embedding, Hints, Method, SpectralParams, embed};
use crate::error::{Error, Result};
use crate::observe::{Observer, check};
use crate::random::{Purpose, Stream};

pub use ncut::ncut_value;

/// Eigenvalues from which on a vector says nothing about the graph.
const SILENT: f64 = 1e-8;

/// K labels, numbered by first appearance, from an embedding made with the same parameters.
pub fn label(
    affinity: &dyn Affinity,
    embedding: &Embedding,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    params.validate()?;
    if embedding.n() != affinity.n() {
        return Err(Error::Length {
            what: "rows of the embedding",
            got: embedding.n(),
            expected: affinity.n(),
        });
    }
    if embedding.k() != params.k {
        return Err(Error::Length {
            what: "columns of the embedding",
            got: embedding.k(),
            expected: params.k,
        });
    }
    let watched = affinity.watched(observer);
    let affinity = watched.as_deref().unwrap_or(affinity);
    // Fewer different rows than clusters have a rank below k, and vectors that mean nothing.
    if params.k > 1 && embedding.eigenvalues.last().is_some_and(|last| *last <= SILENT) {
        let distinct = distinct_rows(affinity);
        check(observer)?;
        if distinct < params.k {
            return Err(Error::TooManyClusters { k: params.k, distinct });
        }
    }
    let labels = match params.method {
        Method::Kway => kway::label(embedding, params, observer),
        Method::Ncut => ncut::label(affinity, embedding, params, observer),
    };
    check(observer)?;
    labels
}

/// [`embed`] and [`label`] in one call.
pub fn cluster(
    affinity: &dyn Affinity,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<(Vec<u32>, Embedding)> {
    let embedding = embed(affinity, params, &Hints::default(), observer)?;
    let labels = label(affinity, &embedding, params, observer)?;
    Ok((labels, embedding))
}

/// How many different rows the affinity has: equal rows have equal products with random vectors.
fn distinct_rows(affinity: &dyn Affinity) -> usize {
    let n = affinity.n();
    let mut probe = vec![0.0; n * 2];
    let mut stream = Stream::new(0, Purpose::Eigen, u64::MAX, 0);
    for v in &mut probe {
        *v = 1.0 + stream.uniform();
    }
    let mut product = vec![0.0; n * 2];
    affinity.apply(&probe, &mut product, 2);
    let mut seen: Vec<[f64; 2]> = product.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
    seen.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    seen.dedup_by(|a, b| close(a[0], b[0]) && close(a[1], b[1]));
    seen.len()
}
