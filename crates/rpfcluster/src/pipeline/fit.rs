//! From the leaves of a forest to labels: LeafMatrix → affinity → eigenvectors → labels.
//!
//! Every fit runs through [`spectral_labels`]. Surplus connected components merge by their
//! similarity in the unpruned kernel, large graphs are embedded in the leaf order of a tree (neighbours are then close
//! in memory), the labels of neighbour graphs are refined, and rows that share their leaf in every tree get one label.
//! [`check_distinct`] rejects a K above the number of distinct rows where that is likely to happen.

use std::sync::Arc;
use std::time::Instant;

use crate::affinity::{Affinity, LinearAffinity, SparseAffinity};
use crate::distinct::DistinctRows;
use crate::eigen::{EmbedOptions, Embedding, Method, Solver, SpectralParams, embed, fix_signs};
use crate::error::{Error, Result};
use crate::graph::Components;
use crate::kernel::LeafMatrix;
use crate::kmeans::relabel_by_first_appearance;
use crate::label::{AtK, Groups, graph_of, label_copies, leiden_labels, refine};
use crate::observe::{Observer, check};
use crate::params::AffinityParams;

/// Seconds spent in each step of a fit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Seconds {
    /// Growing the forest.
    pub grow: f64,
    /// Counting pairs and building the affinity.
    pub kernel: f64,
    /// Eigenvectors.
    pub spectral: f64,
    /// k-means or recursive cuts.
    pub label: f64,
    /// Selecting parameters.
    pub tune: f64,
    /// Assessing the clusters: the verdict.
    pub assess: f64,
}

/// Labels and the eigenvectors they were made from; `leiden` has none.
#[derive(Debug, Clone)]
pub(crate) struct Labelling {
    /// The cluster of each row, numbered by first appearance.
    pub labels: Vec<u32>,
    pub embedding: Embedding,
    /// Whether the labels come from over-segmentation and merging; the embedding alone then does not give them.
    pub refined: bool,
    /// `leiden`: the resolution.
    pub resolution: Option<ResolutionChoice>,
}

/// The resolution of `leiden` and the number of communities it gives.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ResolutionChoice {
    /// The resolution; 0 where the clusters are connected components of the graph.
    pub resolution: f64,
    /// The number of communities at that resolution; the surplus over the number of clusters was merged.
    pub communities: usize,
}

impl AffinityParams {
    /// Counts the pairs of these leaves and builds the affinity.
    pub fn build(&self, leaves: &Arc<LeafMatrix>, observer: &dyn Observer) -> Result<Affinity<'static>> {
        Ok(match *self {
            AffinityParams::Linear => LinearAffinity::new(leaves.clone()).into(),
            AffinityParams::Paper { beta1, beta2, diagonal } => {
                SparseAffinity::paper(&leaves.sparse(beta1, observer)?, beta2, diagonal, observer)?.into()
            }
            AffinityParams::TopK { top, power } => {
                SparseAffinity::top_k(&leaves.top_k(top, observer)?, top, power, observer)?.into()
            }
        })
    }
}

impl Labelling {
    /// The labels and eigenvectors of all rows, from those of the distinct ones.
    pub fn expanded(self, rows: &DistinctRows) -> Self {
        Labelling {
            labels: rows.expand(&self.labels),
            embedding: self.embedding.expanded(&rows.group_of, &rows.copies),
            ..self
        }
    }
}

/// Eigenvectors and labels of an affinity over these leaves. Row i counts `copies[i]` times; the refinement counts it
/// once.
pub(crate) fn spectral_labels(
    leaves: &LeafMatrix,
    affinity: &Affinity,
    copies: Option<&[u32]>,
    spectral: &SpectralParams,
    seconds: &mut Seconds,
    observer: &dyn Observer,
) -> Result<Labelling> {
    if spectral.method == Method::Leiden {
        return leiden_labelling(leaves, affinity, copies, spectral, seconds, observer);
    }
    let mut clock = Instant::now();
    // More components than clusters: merge those that the kernel itself, without pruning, finds most similar.
    let weighted = match (affinity, copies) {
        (Affinity::Graph(graph), Some(copies)) => Some(Affinity::from(graph.weighted(copies))),
        _ => None,
    };
    let counted = weighted.as_ref().unwrap_or(affinity);
    let components = affinity.components(observer)?;
    let between = match components.as_ref().filter(|found| found.count() > spectral.k) {
        Some(found) => Some(ComponentSimilarity::new(leaves, found, observer)?),
        None => None,
    };
    let look_up = |a: usize, b: usize| between.as_ref().map_or(0.0, |m| m.get(a, b));
    let similarity = between.as_ref().map(|_| &look_up as &dyn Fn(usize, usize) -> f64);
    let connected = components.as_ref().is_none_or(|found| found.count() == 1);
    let known = components.as_ref().filter(|_| !connected);
    // Component similarities refer to the original row numbers.
    let order = &leaves.tree_leaves()[0].members[..];
    let order = (similarity.is_none() && counted.n() >= CACHE_ROWS).then_some(order);
    let groups = Groups::of_affinity(counted, copies, order, spectral, observer)?;
    let (embedding, labels) = match &groups {
        Some(groups) => {
            // Points are numbered by their first rows, so the components keep their numbers or are searched again.
            let options = EmbedOptions { start: None, similarity, connected, components: None };
            let embedding = embed(&groups.graph, spectral, &options, observer)?;
            seconds.spectral += clock.elapsed().as_secs_f64();
            clock = Instant::now();
            let labels = groups.labels(&embedding, spectral, observer)?;
            let mut embedding = groups.expand_embedding(&embedding);
            fix_signs(&mut embedding.vectors, spectral.k);
            (embedding, labels)
        }
        None => {
            let options = EmbedOptions { start: None, similarity, connected, components: known };
            let embedding = embed_in_leaf_order(leaves, counted, spectral, &options, observer)?;
            seconds.spectral += clock.elapsed().as_secs_f64();
            clock = Instant::now();
            let labels = label_copies(counted, &embedding, copies, spectral, observer)?;
            (embedding, labels)
        }
    };
    drop(weighted);
    let refined = refine::refined(affinity, groups.as_ref(), &labels, spectral, observer)?;
    let is_refined = refined.is_some();
    let mut labels = refined.unwrap_or(labels);
    unite_equal_leaves(leaves, &mut labels, spectral.k, observer)?;
    seconds.label += clock.elapsed().as_secs_f64();
    Ok(Labelling { labels, embedding, refined: is_refined, resolution: None })
}

/// The communities of a graph over these leaves. A large graph is clustered in leaf order, as it is embedded.
fn leiden_labelling(
    leaves: &LeafMatrix,
    affinity: &Affinity,
    copies: Option<&[u32]>,
    spectral: &SpectralParams,
    seconds: &mut Seconds,
    observer: &dyn Observer,
) -> Result<Labelling> {
    let clock = Instant::now();
    let graph = graph_of(affinity)?;
    let weighted = copies.map(|copies| graph.weighted(copies));
    let graph = weighted.as_ref().unwrap_or(graph);
    let order = (graph.n() >= CACHE_ROWS).then(|| &leaves.tree_leaves()[0].members[..]);
    let in_rows = |labels: &[u32]| match order {
        Some(order) => {
            let mut rows = vec![0; labels.len()];
            order.iter().zip(labels).for_each(|(row, label)| rows[*row as usize] = *label);
            rows
        }
        None => labels.to_vec(),
    };
    // More components than clusters merge by the kernel itself, without pruning, as for eigenvectors.
    let merge = |found: &Components| {
        if found.count() > MAX_COMPONENTS {
            return Ok(found.merge_into_largest(spectral.k));
        }
        let of_rows = Components { of: in_rows(&found.of), sizes: found.sizes.clone() };
        let between = ComponentSimilarity::new(leaves, &of_rows, observer)?;
        Ok(found.merge_to(spectral.k, |a, b| between.get(a, b)))
    };
    let AtK { mut labels, resolution, found } = match order {
        Some(order) => {
            let ordered = graph.principal_submatrix(order, observer)?;
            let copies: Option<Vec<u32>> =
                copies.map(|copies| order.iter().map(|row| copies[*row as usize]).collect());
            leiden_labels(&ordered, copies.as_deref(), Some(&merge), spectral, observer)?
        }
        None => leiden_labels(graph, copies, Some(&merge), spectral, observer)?,
    };
    labels = in_rows(&labels);
    let k = relabel_by_first_appearance(&mut labels).len();
    unite_equal_leaves(leaves, &mut labels, k, observer)?;
    seconds.label += clock.elapsed().as_secs_f64();
    let resolution = Some(ResolutionChoice { resolution, communities: found });
    Ok(Labelling { labels, embedding: Embedding::without_vectors(leaves.n()), refined: false, resolution })
}

/// Smallest number of rows at which a block of vectors exceeds the cache.
const CACHE_ROWS: usize = 50_000;

/// Computes the eigenvectors. Those of a large graph are computed in the leaf order of the first tree: neighbours are
/// then close in memory, and a product takes half the time.
fn embed_in_leaf_order(
    leaves: &LeafMatrix,
    affinity: &Affinity,
    spectral: &SpectralParams,
    options: &EmbedOptions,
    observer: &dyn Observer,
) -> Result<Embedding> {
    let order = &leaves.tree_leaves()[0].members;
    // Component similarities and landmarks refer to the original row numbers.
    let reorders = options.similarity.is_none() && spectral.solver != Solver::Nystrom;
    if reorders
        && affinity.n() >= CACHE_ROWS
        && let Affinity::Graph(graph) = affinity
    {
        let start = options.start.map(|start| start.reordered(order));
        // Components are numbered by first appearance, so they are found again in the new order.
        let options = EmbedOptions { start: start.as_ref(), components: None, ..*options };
        let ordered = graph.principal_submatrix(order, observer)?;
        return Ok(embed(&ordered, spectral, &options, observer)?.permuted(order));
    }
    embed(affinity, spectral, options, observer)
}

/// Mean similarity of the components of a graph, by shared leaves.
struct ComponentSimilarity {
    components: usize,
    /// components x components; empty above [`MAX_COMPONENTS`].
    mean: Vec<f64>,
}

/// Largest number of components whose similarities are tabulated (128 MB). Above it, surplus components join the
/// largest.
const MAX_COMPONENTS: usize = 4000;

impl ComponentSimilarity {
    fn new(leaves: &LeafMatrix, components: &Components, observer: &dyn Observer) -> Result<Self> {
        let count = components.count();
        if count > MAX_COMPONENTS {
            return Ok(ComponentSimilarity { components: count, mean: Vec::new() });
        }
        let mut shared = vec![0.0; count * count];
        let mut here: Vec<(usize, f64)> = Vec::new();
        for tree in leaves.tree_leaves() {
            check(observer)?;
            for leaf in 0..tree.count() as u32 {
                here.clear();
                for &i in tree.leaf(leaf) {
                    let component = components.of[i as usize] as usize;
                    match here.iter_mut().find(|(c, _)| *c == component) {
                        Some((_, rows)) => *rows += 1.0,
                        None => here.push((component, 1.0)),
                    }
                }
                for &(a, rows_a) in &here {
                    for &(b, rows_b) in &here {
                        shared[a * count + b] += rows_a * rows_b;
                    }
                }
            }
        }
        for a in 0..count {
            for b in 0..count {
                shared[a * count + b] /= components.sizes[a] as f64 * components.sizes[b] as f64;
            }
        }
        Ok(ComponentSimilarity { components: count, mean: shared })
    }

    fn get(&self, a: usize, b: usize) -> f64 {
        self.mean.get(a * self.components + b).copied().unwrap_or(0.0)
    }
}

/// Gives rows that share their leaf in every tree one label, that of the first of them. A cluster that vanishes, since it
/// held only a part of such rows, is replaced: the largest set of inseparable rows leaves the cluster with the most sets.
/// Labels stay as they are only where the forest separates fewer than K sets.
pub(crate) fn unite_equal_leaves(
    leaves: &LeafMatrix,
    labels: &mut [u32],
    k: usize,
    observer: &dyn Observer,
) -> Result<()> {
    let order = rows_by_signature(leaves, observer)?;
    let mut united = labels.to_vec();
    for equal in order.chunk_by(|a, b| a.0 == b.0) {
        for &(_, row) in equal {
            united[row as usize] = labels[equal[0].1 as usize];
        }
    }
    let mut kept = relabel_by_first_appearance(&mut united).len();
    if kept < k {
        let mut sets: Vec<&[(u64, u32)]> = order.chunk_by(|a, b| a.0 == b.0).collect();
        // The largest first; of equal ones the one with the first row.
        sets.sort_by_key(|rows| (std::cmp::Reverse(rows.len()), rows[0].1));
        while kept < k {
            let label = |rows: &[(u64, u32)]| united[rows[0].1 as usize] as usize;
            let mut count = vec![0usize; kept];
            sets.iter().for_each(|rows| count[label(rows)] += 1);
            let most = (0..kept).max_by_key(|at| (count[*at], std::cmp::Reverse(*at))).unwrap_or(0);
            if count[most] < 2 {
                return Ok(());
            }
            let Some(leaving) = sets.iter().find(|rows| label(rows) == most) else { return Ok(()) };
            leaving.iter().for_each(|&(_, row)| united[row as usize] = kept as u32);
            kept += 1;
        }
        relabel_by_first_appearance(&mut united);
    }
    labels.copy_from_slice(&united);
    Ok(())
}

/// The training rows with their leaf signatures, sorted by both.
pub(crate) fn rows_by_signature(leaves: &LeafMatrix, observer: &dyn Observer) -> Result<Vec<(u64, u32)>> {
    use rayon::prelude::*;
    let mut order: Vec<(u64, u32)> = leaves.signatures(observer)?.iter().copied().zip(0..).collect();
    order.par_sort_unstable();
    Ok(order)
}

/// Largest number of rows for which distinct rows are always counted. Beyond it, they are counted only for K above 64.
const ALWAYS_COUNT_DISTINCT: usize = 4096;

/// Returns an error when there are fewer distinct rows than clusters. Rows that no tree separates count as one. With
/// more than 4096 rows and K up to 64 the distinct rows are not counted, since so large a table rarely has so few.
pub fn check_distinct(leaves: &LeafMatrix, k: usize, observer: &dyn Observer) -> Result<()> {
    let n = leaves.n();
    if k > n {
        return Err(Error::TooManyClusters { k, distinct: n });
    }
    if k > 64.min(n / 2) || n <= ALWAYS_COUNT_DISTINCT {
        let mut signatures = leaves.signatures(observer)?.to_vec();
        signatures.sort_unstable();
        signatures.dedup();
        if k > signatures.len() {
            return Err(Error::Inseparable { k, groups: signatures.len() });
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
    fn row_order_does_not_change_eigenvectors() {
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
