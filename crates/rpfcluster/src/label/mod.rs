//! Labels from a spectral embedding; [`cluster`] embeds and labels in one call.
//!
//! [`Method::Kway`] (Ng, Jordan and Weiss 2002) is the default: it uses all K eigenvectors at once and errs less often
//! with more than two clusters. [`Method::Ncut`] is the paper's recursive bipartition (Shi and Malik 2000).
//! [`Method::Leiden`] finds communities of the graph and needs no embedding (`leiden`). More clusters than distinct rows of the affinity are an error. `refine` improves the k-way labels of neighbour graphs in
//! the pipeline.

mod groups;
mod kway;
pub mod leiden;
mod ncut;
pub(crate) mod refine;

use crate::affinity::Affinity;
use crate::eigen::{EmbedOptions, Embedding, Method, SpectralParams, embed};
use crate::error::{Error, Result};
use crate::graph::SparseAffinity;
use crate::observe::{Observer, Stage, StageGuard};
use crate::random::{Purpose, Stream};

pub(crate) use groups::Groups;
pub(crate) use kway::to_unit;
pub(crate) use leiden::{AtK, Leiden, MergeComponents};
pub use ncut::ncut_value;

/// Eigenvalues at or below this count as zero: the affinity may have fewer distinct rows than clusters.
const ZERO_EIGENVALUE: f64 = 1e-8;

/// K labels, numbered by first appearance, from an embedding made with the same parameters.
pub fn label<'a>(
    affinity: impl Into<Affinity<'a>>,
    embedding: &Embedding,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    label_copies(&affinity.into(), embedding, None, params, observer)
}

/// [`label`] for rows that occur more than once: k-means counts row i `copies[i]` times.
pub(crate) fn label_copies(
    affinity: &Affinity,
    embedding: &Embedding,
    copies: Option<&[u32]>,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    params.validate()?;
    if params.method == Method::Leiden {
        return Ok(leiden_labels(graph_of(affinity)?, copies, None, params, observer)?.labels);
    }
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
    // With fewer distinct rows than clusters the rank is below k, and the last vectors are arbitrary.
    if params.k > 1 && embedding.eigenvalues.last().is_some_and(|last| *last <= ZERO_EIGENVALUE) {
        let distinct = distinct_rows(affinity, observer)?;
        if distinct < params.k {
            return Err(Error::TooManyClusters { k: params.k, distinct });
        }
    }
    match params.method {
        Method::Kway => kway::label(embedding, copies, params, observer),
        Method::Ncut | Method::Leiden => ncut::label(affinity, embedding, params, observer),
    }
}

/// The pairs of a graph; an error for a similarity that has none stored.
pub(crate) fn graph_of<'a>(affinity: &'a Affinity) -> Result<&'a SparseAffinity> {
    match affinity {
        Affinity::Graph(graph) => Ok(graph),
        Affinity::Kernel(_) | Affinity::Operator(_) => Err(Error::DoesNotApply {
            name: "method leiden",
            parameter: "affinity",
            needs: "paper or top-k",
            value: "linear",
        }),
    }
}

/// The communities of a graph whose weights count the copies of each row: K of them, or those of a given resolution.
pub(crate) fn leiden_labels(
    graph: &SparseAffinity,
    copies: Option<&[u32]>,
    merge: Option<&MergeComponents>,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<AtK> {
    let _stage = StageGuard::begin(observer, Stage::Label, 1);
    let leiden = Leiden::new(graph, copies, params.quality, params.seed, observer)?;
    match params.resolution {
        Some(resolution) => {
            let labels = leiden.communities(resolution, observer)?;
            let found = labels.iter().max().map_or(0, |most| *most as usize + 1);
            Ok(AtK { labels, resolution, found })
        }
        None => leiden.at_k(params.k, merge, observer),
    }
}

/// [`embed`] and [`label`] in one call. [`Method::Leiden`] computes no eigenvectors: its embedding has no columns.
pub fn cluster<'a>(
    affinity: impl Into<Affinity<'a>>,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<(Vec<u32>, Embedding)> {
    let affinity = affinity.into();
    if params.method == Method::Leiden {
        let embedding = Embedding::without_vectors(affinity.n());
        return Ok((label(&affinity, &embedding, params, observer)?, embedding));
    }
    let embedding = embed(&affinity, params, &EmbedOptions::default(), observer)?;
    let labels = label(&affinity, &embedding, params, observer)?;
    Ok((labels, embedding))
}

/// The number of distinct rows of the affinity: equal rows have equal products with random vectors.
fn distinct_rows(affinity: &Affinity, observer: &dyn Observer) -> Result<usize> {
    let n = affinity.n();
    let mut probe = vec![0.0; n * 2];
    let mut stream = Stream::new(0, Purpose::Eigen, u64::MAX, 0);
    for v in &mut probe {
        *v = 1.0 + stream.uniform();
    }
    let mut product = vec![0.0; n * 2];
    affinity.apply(&probe, &mut product, 2, observer)?;
    let mut seen: Vec<[f64; 2]> = product.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
    seen.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    seen.dedup_by(|a, b| close(a[0], b[0]) && close(a[1], b[1]));
    Ok(seen.len())
}
