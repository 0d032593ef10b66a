//! From a grown forest to labels: the one place that knows the chain LeafMatrix → Affinity → Embedding → Labels.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use super::params::AffinityParams;
use crate::affinity::{Affinity, LinearAffinity, SparseAffinity};
use crate::eigen::{EmbedOptions, Embedding, Solver, SpectralParams, embed};
use crate::error::{Error, Result};
use crate::graph::Components;
use crate::kernel::{LeafMatrix, Neighbors, SparseKernel};
use crate::kmeans::relabel_by_first_appearance;
use crate::label::{label, refine};
use crate::observe::{Observer, check};
use crate::random::mix;

/// Seconds of each step of a fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Seconds {
    /// Growing the forest.
    pub grow: f64,
    /// Counting pairs, building the affinity.
    pub kernel: f64,
    /// Eigenvectors.
    pub spectral: f64,
    /// k-means or cuts.
    pub label: f64,
    /// Trying settings.
    pub tune: f64,
}

/// Labels and eigenvectors of one setting.
#[derive(Debug, Clone)]
pub struct Cut {
    /// The cluster of each row, numbered by first appearance.
    pub labels: Vec<u32>,
    /// What they were made from.
    pub embedding: Embedding,
    /// Whether merged parts of a finer cut are the clusters, being better separated: then the embedding alone does not
    /// give the labels.
    pub regrouped: bool,
}

/// What an affinity is built from; kept when several affinities are built from the same leaves.
pub(crate) enum Pairs {
    None,
    Sparse(SparseKernel),
    Top(Neighbors),
}

/// The counts the affinity needs.
pub(crate) fn pairs(leaves: &LeafMatrix, params: &AffinityParams, observer: &dyn Observer) -> Result<Pairs> {
    Ok(match *params {
        AffinityParams::Linear => Pairs::None,
        AffinityParams::Paper { beta1, .. } => Pairs::Sparse(leaves.sparse(beta1, observer)?),
        AffinityParams::TopK { top, .. } => Pairs::Top(leaves.top_k(top, observer)?),
    })
}

/// The affinity of these leaves.
pub(crate) fn affinity(
    leaves: &Arc<LeafMatrix>,
    pairs: &Pairs,
    params: &AffinityParams,
    observer: &dyn Observer,
) -> Result<Affinity<'static>> {
    Ok(match (*params, pairs) {
        (AffinityParams::Paper { beta2, diagonal, .. }, Pairs::Sparse(kernel)) => {
            SparseAffinity::paper(kernel, beta2, diagonal, observer)?.into()
        }
        (AffinityParams::TopK { top, power }, Pairs::Top(neighbors)) => {
            SparseAffinity::top_k(neighbors, top, power, observer)?.into()
        }
        _ => LinearAffinity::new(leaves.clone()).into(),
    })
}

/// Eigenvectors and labels of an affinity over these leaves.
pub(crate) fn cut(
    leaves: &LeafMatrix,
    affinity: &Affinity,
    spectral: &SpectralParams,
    start: Option<&Embedding>,
    seconds: &mut Seconds,
    observer: &dyn Observer,
) -> Result<Cut> {
    let clock = Instant::now();
    // Pieces of a graph beyond K are joined where the kernel itself, unpruned, sees them together.
    let pieces = affinity.components(observer)?;
    let between = match pieces.as_ref().filter(|pieces| pieces.count() > spectral.k) {
        Some(pieces) => Some(piece_similarity(leaves, pieces, observer)?),
        None => None,
    };
    let look_up = |a: usize, b: usize| between.as_ref().map_or(0.0, |m| m.get(a, b));
    let similarity = between.as_ref().map(|_| &look_up as &dyn Fn(usize, usize) -> f64);
    let options =
        EmbedOptions { start, similarity, connected: pieces.is_none_or(|pieces| pieces.count() == 1) };
    let embedding = embedded(leaves, affinity, spectral, &options, observer)?;
    seconds.spectral += clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let mut labels = label(affinity, &embedding, spectral, observer)?;
    let finer = refine::refined(affinity, &labels, spectral, observer)?;
    let regrouped = finer.is_some();
    if let Some(finer) = finer {
        labels = finer;
    }
    unite_twins(leaves, &mut labels, spectral.k, observer)?;
    seconds.label += clock.elapsed().as_secs_f64();
    Ok(Cut { labels, embedding, regrouped })
}

/// Rows from which on a block of vectors is larger than the cache.
const LARGE: usize = 50_000;

/// The eigenvectors. Those of a large graph are found in the order of one tree's leaves: neighbours then lie near each
/// other in memory, and a product takes half the time.
fn embedded(
    leaves: &LeafMatrix,
    affinity: &Affinity,
    spectral: &SpectralParams,
    options: &EmbedOptions,
    observer: &dyn Observer,
) -> Result<Embedding> {
    let order = &leaves.tree_leaves()[0].members;
    // What is known beforehand is known of the rows as they are, and landmarks are chosen by their numbers.
    let free = options.start.is_none() && options.similarity.is_none() && spectral.solver != Solver::Nystrom;
    if free
        && affinity.n() >= LARGE
        && let Affinity::Graph(graph) = affinity
    {
        let ordered = graph.principal_submatrix(order, observer)?;
        return Ok(embed(&ordered, spectral, options, observer)?.permuted(order));
    }
    embed(affinity, spectral, options, observer)
}

/// How similar the pieces of a graph are on average, by shared leaves.
struct PieceSimilarity {
    pieces: usize,
    mean: Vec<f64>,
}

impl PieceSimilarity {
    fn get(&self, a: usize, b: usize) -> f64 {
        self.mean.get(a * self.pieces + b).copied().unwrap_or(0.0)
    }
}

/// Above this many pieces the table would be larger than it is worth; they join the largest piece instead.
const MOST_PIECES: usize = 4000;

fn piece_similarity(
    leaves: &LeafMatrix,
    pieces: &Components,
    observer: &dyn Observer,
) -> Result<PieceSimilarity> {
    let count = pieces.count();
    if count > MOST_PIECES {
        return Ok(PieceSimilarity { pieces: count, mean: Vec::new() });
    }
    let mut shared = vec![0.0; count * count];
    let mut here: Vec<(usize, f64)> = Vec::new();
    for tree in leaves.tree_leaves() {
        check(observer)?;
        for leaf in 0..tree.count() as u32 {
            here.clear();
            for &i in tree.leaf(leaf) {
                let piece = pieces.of[i as usize] as usize;
                match here.iter_mut().find(|(p, _)| *p == piece) {
                    Some((_, m)) => *m += 1.0,
                    None => here.push((piece, 1.0)),
                }
            }
            for &(a, m) in &here {
                for &(b, l) in &here {
                    shared[a * count + b] += m * l;
                }
            }
        }
    }
    for a in 0..count {
        for b in 0..count {
            shared[a * count + b] /= pieces.sizes[a] as f64 * pieces.sizes[b] as f64;
        }
    }
    Ok(PieceSimilarity { pieces: count, mean: shared })
}

/// What a row's fingerprint is made from: no tree yet.
const FIRST_PRINT: u64 = 0x243f_6a88_85a3_08d3;

/// A number for each row that is equal for rows with the same leaf in every tree.
pub(crate) fn fingerprints(codes: &crate::forest::LeafIds, observer: &dyn Observer) -> Result<Vec<u64>> {
    use rayon::prelude::*;
    let mut prints = vec![FIRST_PRINT; codes.n()];
    prints.par_chunks_mut(4096).enumerate().for_each(|(chunk, prints)| {
        if observer.cancelled() {
            return;
        }
        for t in 0..codes.trees() {
            for (print, &leaf) in prints.iter_mut().zip(&codes.tree(t)[chunk * 4096..]) {
                *print = mix(*print ^ u64::from(leaf));
            }
        }
    });
    check(observer).map(|()| prints)
}

/// The same for the training rows, straight from the leaves' lists: their leaf numbers, 4 bytes a row and tree, need
/// not be laid out for it.
pub(crate) fn training_fingerprints(leaves: &LeafMatrix, observer: &dyn Observer) -> Result<Vec<u64>> {
    use rayon::prelude::*;
    if leaves.has_leaf_ids() {
        return fingerprints(leaves.leaf_ids(), observer);
    }
    let prints: Vec<AtomicU64> = (0..leaves.n()).map(|_| AtomicU64::new(FIRST_PRINT)).collect();
    for tree in leaves.tree_leaves() {
        check(observer)?;
        // Every row is in one leaf: no two tasks meet.
        (0..tree.count() as u32).into_par_iter().with_min_len(256).for_each(|leaf| {
            for &row in tree.leaf(leaf) {
                let print = &prints[row as usize];
                print.store(mix(print.load(Relaxed) ^ u64::from(leaf)), Relaxed);
            }
        });
    }
    Ok(prints.into_iter().map(AtomicU64::into_inner).collect())
}

/// Rows that no tree tells apart belong together: all get the label of the first. Left alone if a cluster would
/// vanish.
pub(crate) fn unite_twins(
    leaves: &LeafMatrix,
    labels: &mut [u32],
    k: usize,
    observer: &dyn Observer,
) -> Result<()> {
    let order = by_fingerprint(leaves, observer)?;
    let mut united = labels.to_vec();
    for twins in order.chunk_by(|a, b| a.0 == b.0) {
        for &(_, row) in twins {
            united[row as usize] = labels[twins[0].1 as usize];
        }
    }
    let kept = relabel_by_first_appearance(&mut united).len();
    if kept == k {
        labels.copy_from_slice(&united);
    }
    Ok(())
}

/// The training rows with their fingerprints, in the order of both.
pub(crate) fn by_fingerprint(leaves: &LeafMatrix, observer: &dyn Observer) -> Result<Vec<(u64, u32)>> {
    use rayon::prelude::*;
    let mut order: Vec<(u64, u32)> = training_fingerprints(leaves, observer)?.into_iter().zip(0..).collect();
    order.par_sort_unstable();
    Ok(order)
}

/// An error that says why, when there are fewer different rows than clusters.
pub(crate) fn check_distinct(leaves: &LeafMatrix, k: usize, observer: &dyn Observer) -> Result<()> {
    if k > leaves.n() {
        return Err(Error::TooManyClusters { k, distinct: leaves.n() });
    }
    // Counting is only worth it when it could matter.
    if k > 64.min(leaves.n() / 2) || leaves.n() <= 4096 {
        let mut prints = training_fingerprints(leaves, observer)?;
        prints.sort_unstable();
        prints.dedup();
        if k > prints.len() {
            return Err(Error::TooManyClusters { k, distinct: prints.len() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forest::{Forest, ForestParams};
    use crate::observe::Silent;
    use crate::points::Points;
    use crate::random::{Purpose, Stream};

    #[test]
    fn the_order_of_the_rows_changes_no_eigenvector() {
        let (n, d) = (900, 3);
        let mut stream = Stream::new(3, Purpose::Shapes, 0, 0);
        let values: Vec<f64> = (0..n * d).map(|i| stream.normal() + (i / d % 3) as f64).collect();
        let params = ForestParams { trees: 40, min_node: 20, ..Default::default() };
        let leaves = Forest::grow(&Points::new(&values, n, d).unwrap(), &params).unwrap().leaves();
        let graph = SparseAffinity::top_k(&leaves.top_k(10, &Silent).unwrap(), 10, 2.0, &Silent).unwrap();
        let spectral = SpectralParams { k: 3, dense_below: 0, ..Default::default() };
        let order = &leaves.tree_leaves()[0].members;
        assert!(order.windows(2).any(|pair| pair[0] > pair[1]), "an order of its own");
        let plain = embed(&graph, &spectral, &EmbedOptions::default(), &Silent).unwrap();
        let ordered = graph.principal_submatrix(order, &Silent).unwrap();
        let other = embed(&ordered, &spectral, &EmbedOptions::default(), &Silent).unwrap().permuted(order);
        let close = |a: &[f64], b: &[f64], by: f64| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < by)
        };
        assert!(close(&plain.degrees, &other.degrees, 1e-12));
        assert!(close(&plain.eigenvalues, &other.eigenvalues, 1e-9));
        assert!(close(&plain.vectors, &other.vectors, 1e-4));
        assert_eq!(plain.component_of, other.component_of);
    }
}
