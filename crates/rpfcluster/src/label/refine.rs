//! Over-segmentation and merging on neighbour graphs: clusters that are not well separated are cut again into more
//! segments, which merge by average linkage of squared similarities; the better separated partition is kept.
//!
//! The normalised cut weighs clusters by volume. On S^power, where dense regions have many times the weight of others,
//! it may halve a dense cluster, or spend one of the K clusters on a few outliers in the same shallow leaves, rather
//! than separate two sparse clusters; which of these happens depends on the seed. The segments of a finer cut rarely
//! mix clusters, and average linkage (UPGMA; Sokal and Michener 1958), which counts pairs instead of weight, joins
//! them. Costs one embedding with up to 3 K columns and O(m³) for m segments, and only where the separation is below
//! [`CLEAR_SEPARATION`]. Measurements: docs/notes/2026-11-over-segmentation.md.

use super::{Groups, label};
use crate::affinity::Affinity;
use crate::eigen::{EmbedOptions, Method, SpectralParams, embed};
use crate::error::{Error, Result};
use crate::graph::{ClusterWeights, SparseAffinity};
use crate::kmeans::relabel_by_first_appearance;
use crate::metrics::cluster_sizes;
use crate::observe::Observer;

/// At this separation or more, clusters are not cut again: merged segments may then be better separated, yet wrong.
const CLEAR_SEPARATION: f64 = 0.98;
/// Segments for each cluster; two are too few, four no better.
const SEGMENTS_PER_CLUSTER: usize = 3;
/// Largest number of segments beyond K, which bounds the cost of the eigenvectors.
const MAX_EXTRA_SEGMENTS: usize = 100;
/// Residual tolerance of the finer embedding. Segments need not be exact, and eigenvectors far down the spectrum
/// converge slowly.
const TOLERANCE: f64 = 1e-4;
/// Largest number of products of the finer embedding.
const MAX_ITERATIONS: usize = 400;
/// Restarts of k-means for the segments. They need not be the best ones, and in as many dimensions as there are segments a
/// restart costs nine times one of the K clusters.
const SEGMENT_RESTARTS: usize = 2;
/// Smallest average number of rows of a segment. Averages over fewer pairs are too noisy to merge by. On design tables with 50
/// to 200 rows a segment the rule loses as often as it gains, but it saves tables such as wisc from clusters of a few rows
/// (docs/notes/2026-11-families.md).
const ROWS_PER_SEGMENT: usize = 50;

/// The number of segments for `k` clusters.
pub(crate) fn segments(k: usize) -> usize {
    (SEGMENTS_PER_CLUSTER * k).min(k + MAX_EXTRA_SEGMENTS)
}

/// Better separated labels of a neighbour graph; `None` when `labels` are kept. `groups` are its isolated groups.
pub(crate) fn refined(
    affinity: &Affinity,
    groups: Option<&Groups>,
    labels: &[u32],
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Option<Vec<u32>>> {
    let k = params.k;
    if params.method != Method::Kway || k < 2 || segments(k) * ROWS_PER_SEGMENT > affinity.n() {
        return Ok(None);
    }
    match affinity {
        Affinity::Graph(graph) if graph.is_neighbor_graph() => {
            better_separated(graph, groups, labels, params, observer)
        }
        _ => Ok(None),
    }
}

/// [`refined`] for any number of rows.
fn better_separated(
    graph: &SparseAffinity,
    groups: Option<&Groups>,
    labels: &[u32],
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Option<Vec<u32>>> {
    let k = params.k;
    let m = segments(k);
    let separated = |labels: &[u32]| -> Result<f64> {
        Ok(separation(&graph.cluster_moments(labels, k, observer)?.first, &cluster_sizes(labels, k)))
    };
    let before = separated(labels)?;
    if before >= CLEAR_SEPARATION {
        return Ok(None);
    }
    let finer = SpectralParams {
        k: m,
        tolerance: params.tolerance.max(TOLERANCE),
        max_iterations: params.max_iterations.min(MAX_ITERATIONS),
        restarts: params.restarts.min(SEGMENT_RESTARTS),
        ..params.clone()
    };
    let found = match groups {
        Some(groups) => embed(&groups.graph, &finer, &EmbedOptions::default(), observer)
            .and_then(|embedding| groups.labels(&embedding, &finer, observer)),
        None => embed(graph, &finer, &EmbedOptions::default(), observer)
            .and_then(|embedding| label(graph, &embedding, &finer, observer)),
    };
    let mut fine = match found {
        Ok(fine) => fine,
        // Fewer distinct rows than segments.
        Err(Error::TooManyClusters { .. }) => return Ok(None),
        Err(other) => return Err(other),
    };
    let weights = graph.cluster_moments(&fine, m, observer)?.second;
    let cluster_of = merge(weights, cluster_sizes(&fine, m), k);
    fine.iter_mut().for_each(|segment| *segment = cluster_of[*segment as usize]);
    relabel_by_first_appearance(&mut fine);
    Ok((separated(&fine)? > before).then_some(fine))
}

/// The average similarity of the rows of `a` and `b`. A row is no neighbour of itself, so a cluster of one row has 0.
fn average(weights: &ClusterWeights, sizes: &[usize], a: usize, b: usize) -> f64 {
    let pairs = sizes[a] as f64 * sizes[b] as f64;
    if pairs > 0.0 { weights.get(a, b) / pairs } else { 0.0 }
}

/// The separation of clusters, from -1 to 1: a silhouette (Rousseeuw 1987) of clusters and similarities instead of rows
/// and distances. For each cluster, the average similarity inside minus that to the nearest other cluster, divided by
/// the larger of the two; the mean over the clusters.
fn separation(weights: &ClusterWeights, sizes: &[usize]) -> f64 {
    let k = weights.k;
    let of = |a: usize| {
        let inside = average(weights, sizes, a, a);
        let nearest = (0..k).filter(|b| *b != a).map(|b| average(weights, sizes, a, b)).fold(0.0, f64::max);
        let larger = inside.max(nearest);
        if larger > 0.0 { (inside - nearest) / larger } else { 0.0 }
    };
    (0..k).map(of).sum::<f64>() / k as f64
}

/// Agglomerative clustering of the segments by average linkage: the cluster, below `k`, of each segment. Among equally
/// similar pairs the first one merges. O(m³) for m segments.
fn merge(mut weights: ClusterWeights, mut sizes: Vec<usize>, k: usize) -> Vec<u32> {
    let m = weights.k;
    let mut live: Vec<usize> = (0..m).collect();
    let mut cluster_of: Vec<u32> = (0..m as u32).collect();
    while live.len() > k {
        let mut best: Option<(f64, usize, usize)> = None;
        for (at, &a) in live.iter().enumerate() {
            for &b in &live[at + 1..] {
                let similar = average(&weights, &sizes, a, b);
                if best.is_none_or(|(most, _, _)| similar > most) {
                    best = Some((similar, a, b));
                }
            }
        }
        let Some((_, a, b)) = best else { break };
        weights.merge(a, b);
        sizes[a] += sizes[b];
        live.retain(|&c| c != b);
        cluster_of.iter_mut().filter(|g| **g == b as u32).for_each(|g| *g = a as u32);
    }
    relabel_by_first_appearance(&mut cluster_of);
    cluster_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::{SparseAffinity, Weights};
    use crate::label::cluster;
    use crate::observe::Silent;
    use crate::random::{Purpose, Stream};

    const GROUP: u32 = 100;
    const SMALL: u32 = 12;

    /// Three groups of 100 rows, the second and third close to each other, and twelve rows that are very similar to one
    /// another, each with `outside` edges to other rows. Counts of 200 trees, raised to the fourth power.
    fn three_groups_and_twelve_rows(outside: u32) -> SparseAffinity {
        let mut edges = Vec::new();
        let mut stream = Stream::new(1, Purpose::Shapes, 0, 0);
        for group in 0..3 {
            for i in 0..GROUP {
                // Six random partners within the group: it has no substructure.
                for _ in 0..6 {
                    let step = 1 + (stream.uniform() * f64::from(GROUP - 1)) as u32;
                    edges.push((group * GROUP + i, group * GROUP + (i + step) % GROUP, 40));
                }
            }
        }
        edges.extend((0..10).map(|i| (i * 9, GROUP + i * 9, 40)));
        edges.extend((0..80).map(|i| (GROUP + i, 2 * GROUP + i * 37 % GROUP, 40)));
        let first = 3 * GROUP;
        for a in 0..SMALL {
            edges.extend((a + 1..SMALL).map(|b| (first + a, first + b, 100)));
            edges.extend((0..outside).map(|e| (first + a, (a * outside + e) * 7 % first, 40)));
        }
        let mut rows = vec![Vec::new(); (first + SMALL) as usize];
        for (i, j, count) in edges {
            rows[i as usize].push((j, count));
            rows[j as usize].push((i, count));
        }
        let (mut indptr, mut indices, mut counts) = (vec![0], Vec::new(), Vec::new());
        for mut row in rows {
            row.sort_unstable();
            row.dedup_by_key(|(j, _)| *j);
            indices.extend(row.iter().map(|(j, _)| *j));
            counts.extend(row.iter().map(|(_, count)| *count));
            indptr.push(indices.len());
        }
        let table = (0..=200).map(|count| (f64::from(count) / 200.0).powi(4)).collect();
        SparseAffinity::new(0.0, indptr, indices, Weights::Table { counts, table })
            .unwrap()
            .into_neighbor_graph()
    }

    #[test]
    fn outliers_lose_their_cluster_and_a_small_cluster_keeps_it() {
        let params = SpectralParams { k: 3, ..Default::default() };
        for (outside, outliers) in [(16, true), (1, false)] {
            let graph = three_groups_and_twelve_rows(outside);
            let (labels, _) = cluster(&graph, &params, &Silent).unwrap();
            let few = &labels[3 * GROUP as usize..];
            assert_eq!(few, [2; SMALL as usize], "the twelve rows are a cluster, the close groups are one");
            let found = better_separated(&graph, None, &labels, &params, &Silent).unwrap();
            assert_eq!(found.is_some(), outliers, "{outside} edges to others");
            if let Some(found) = found {
                let groups: Vec<u32> = (0..3 * GROUP).map(|i| i / GROUP).collect();
                assert_eq!(found[..groups.len()], groups);
            }
            let few_rows = refined(&Affinity::from(&graph), None, &labels, &params, &Silent).unwrap();
            assert_eq!(few_rows, None, "too few rows for each segment");
        }
    }

    fn weights(k: usize, weights: &[f64]) -> ClusterWeights {
        ClusterWeights { k, weights: weights.to_vec() }
    }

    #[test]
    fn separation_compares_the_average_inside_with_the_nearest_cluster() {
        let sizes = [10, 20];
        let apart = weights(2, &[50.0, 0.0, 0.0, 100.0]);
        assert_eq!(separation(&apart, &sizes), 1.0);
        // Averages .5 and .25 inside, .1 between: (.4 / .5 + .15 / .25) / 2.
        let near = weights(2, &[50.0, 20.0, 20.0, 100.0]);
        assert!((separation(&near, &sizes) - 0.7).abs() < 1e-12);
        let mixed = weights(2, &[1.0, 200.0, 200.0, 4.0]);
        assert!(separation(&mixed, &sizes) < -0.9);
        assert_eq!(separation(&weights(2, &[0.0; 4]), &[1, 1]), 0.0, "no similarities");
    }

    #[test]
    fn segments_merge_by_average_linkage() {
        // 0 and 1 are halves of a small cluster, 2 and 3 of a large one with more weight in total, but less on average.
        let four =
            weights(4, &[9.0, 4.0, 0.0, 1.0, 4.0, 9.0, 0.0, 0.0, 0.0, 0.0, 80.0, 6.0, 1.0, 0.0, 6.0, 80.0]);
        let sizes = vec![5, 5, 10, 10];
        assert_eq!(merge(four.clone(), sizes.clone(), 3), [0, 0, 1, 2]);
        assert_eq!(merge(four.clone(), sizes.clone(), 2), [0, 0, 1, 1]);
        assert_eq!(merge(four, sizes, 4), [0, 1, 2, 3], "nothing to merge");
    }
}
