//! A second look at clusters that are not clearly apart: the graph is cut finer, parts are merged by how similar their rows
//! are on average, and whichever partition is better separated is kept.
//!
//! The normalised cut weighs clusters by volume. On S^power, where dense regions have many times the weight of others, it
//! rather halves a dense cluster, or gives one of the K to a few outliers that share the same shallow leaves, than tell
//! two loose clusters apart; which of it happens changes with the seed. Parts of a finer cut are pure all the same, and
//! the average similarity, which counts pairs instead of weight, puts them together as they belong.

use super::label;
use crate::affinity::Affinity;
use crate::eigen::{Hints, Method, SpectralParams, embed};
use crate::error::{Error, Result};
use crate::graph::Between;
use crate::kmeans::relabel_by_first_appearance;
use crate::observe::Observer;

/// Clusters separated by this much on average are clear: there is nothing to gain, and nothing is paid.
const CLEAR: f64 = 0.98;
/// Parts for each cluster of the finer cut, and most parts beyond K: eigenvectors are what it costs.
const FINER: usize = 3;
const MOST_MORE: usize = 100;
/// Parts need not be exact, and far down a spectrum the last decades are the dearest.
const TOLERANCE: f64 = 1e-4;
const ITERATIONS: usize = 400;
/// Rows there must be for each part: averages over the pairs of fewer are too rough to merge by.
const ROWS_A_PART: usize = 50;

/// Parts of the finer cut for k clusters.
pub(crate) fn parts(k: usize) -> usize {
    (FINER * k).min(k + MOST_MORE)
}

/// Other labels when these clusters are not clearly apart and those of the finer cut are better separated.
pub(crate) fn regrouped(
    affinity: &dyn Affinity,
    labels: &[u32],
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Option<Vec<u32>>> {
    let k = params.k;
    if params.method != Method::Kway || k < 2 || parts(k) * ROWS_A_PART > affinity.n() {
        return Ok(None);
    }
    better_separated(affinity, labels, params, observer)
}

/// The same, whatever the number of rows.
fn better_separated(
    affinity: &dyn Affinity,
    labels: &[u32],
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Option<Vec<u32>>> {
    let Some(graph) = affinity.neighbor_graph() else { return Ok(None) };
    let k = params.k;
    let m = parts(k);
    let separated = |labels: &[u32]| Ok(separation(&graph.between(labels, k)?.plain, &sizes(labels, k)));
    let before = separated(labels)?;
    if before >= CLEAR {
        return Ok(None);
    }
    let finer = SpectralParams {
        k: m,
        tolerance: params.tolerance.max(TOLERANCE),
        max_iterations: params.max_iterations.min(ITERATIONS),
        ..params.clone()
    };
    let found = embed(affinity, &finer, &Hints::default(), observer)
        .and_then(|embedding| label(affinity, &embedding, &finer, observer));
    let mut fine = match found {
        Ok(fine) => fine,
        // Fewer different rows than parts: the cut there is must do.
        Err(Error::TooManyClusters { .. }) => return Ok(None),
        Err(other) => return Err(other),
    };
    let group_of = merge(graph.between(&fine, m)?.squared, sizes(&fine, m), k);
    fine.iter_mut().for_each(|part| *part = group_of[*part as usize]);
    relabel_by_first_appearance(&mut fine);
    Ok((separated(&fine)? > before).then_some(fine))
}

/// Rows of each of `k` clusters.
fn sizes(labels: &[u32], k: usize) -> Vec<f64> {
    let mut sizes = vec![0.0; k];
    labels.iter().for_each(|label| sizes[*label as usize] += 1.0);
    sizes
}

/// The average similarity of the rows of `a` and `b`. A row is no neighbour of itself, so a cluster of one has none.
fn average(between: &Between, sizes: &[f64], a: usize, b: usize) -> f64 {
    let pairs = sizes[a] * sizes[b];
    if pairs > 0.0 { between.get(a, b) / pairs } else { 0.0 }
}

/// How far clusters are apart, from -1 to 1: the silhouette, of clusters and similarities instead of rows and distances. For
/// each the average similarity inside minus that to the nearest other cluster, over the larger of the two; the mean.
fn separation(between: &Between, sizes: &[f64]) -> f64 {
    let k = between.k;
    let of = |a: usize| {
        let inside = average(between, sizes, a, a);
        let nearest = (0..k).filter(|b| *b != a).map(|b| average(between, sizes, a, b)).fold(0.0, f64::max);
        let larger = inside.max(nearest);
        if larger > 0.0 { (inside - nearest) / larger } else { 0.0 }
    };
    (0..k).map(of).sum::<f64>() / k as f64
}

/// The group, below `k`, of each part: time and again the two that are most similar on average become one. The first of
/// equals.
fn merge(mut between: Between, mut sizes: Vec<f64>, k: usize) -> Vec<u32> {
    let m = between.k;
    let mut live: Vec<usize> = (0..m).collect();
    let mut group_of: Vec<u32> = (0..m as u32).collect();
    while live.len() > k {
        let mut best: Option<(f64, usize, usize)> = None;
        for (at, &a) in live.iter().enumerate() {
            for &b in &live[at + 1..] {
                let similar = average(&between, &sizes, a, b);
                if best.is_none_or(|(most, _, _)| similar > most) {
                    best = Some((similar, a, b));
                }
            }
        }
        let Some((_, a, b)) = best else { break };
        between.join(a, b);
        sizes[a] += sizes[b];
        live.retain(|&c| c != b);
        group_of.iter_mut().filter(|g| **g == b as u32).for_each(|g| *g = a as u32);
    }
    relabel_by_first_appearance(&mut group_of);
    group_of
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

    /// Three groups of 100, the second and third near each other, and twelve rows that are very similar to one another
    /// and to `outside` others each. Counts of 200 trees, raised to the fourth power.
    fn three_and_a_few(outside: u32) -> SparseAffinity {
        let mut edges = Vec::new();
        let mut stream = Stream::new(1, Purpose::Shapes, 0, 0);
        for group in 0..3 {
            for i in 0..GROUP {
                // Six partners anywhere in the group: it has no parts of its own.
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
        SparseAffinity::new(0.0, indptr, indices, Weights::Table { counts, table }).unwrap().with_neighbors()
    }

    #[test]
    fn outliers_give_their_cluster_back_and_a_small_cluster_keeps_it() {
        let params = SpectralParams { k: 3, ..Default::default() };
        for (outside, outliers) in [(16, true), (1, false)] {
            let graph = three_and_a_few(outside);
            let (labels, _) = cluster(&graph, &params, &Silent).unwrap();
            let few = &labels[3 * GROUP as usize..];
            assert_eq!(
                few, [2; SMALL as usize],
                "the few are a cluster of their own, the near groups are one"
            );
            let found = better_separated(&graph, &labels, &params, &Silent).unwrap();
            assert_eq!(found.is_some(), outliers, "{outside} edges to others");
            if let Some(found) = found {
                let groups: Vec<u32> = (0..3 * GROUP).map(|i| i / GROUP).collect();
                assert_eq!(found[..groups.len()], groups);
            }
            let few_rows = regrouped(&graph, &labels, &params, &Silent).unwrap();
            assert_eq!(few_rows, None, "too few rows to be sure");
        }
    }

    fn between(k: usize, weights: &[f64]) -> Between {
        Between { k, weights: weights.to_vec() }
    }

    #[test]
    fn clusters_are_as_separate_as_inside_and_nearest_differ() {
        let sizes = [10.0, 20.0];
        let apart = between(2, &[50.0, 0.0, 0.0, 100.0]);
        assert_eq!(separation(&apart, &sizes), 1.0);
        // Averages .5 and .25 inside, .1 between: (.4 / .5 + .15 / .25) / 2.
        let near = between(2, &[50.0, 20.0, 20.0, 100.0]);
        assert!((separation(&near, &sizes) - 0.7).abs() < 1e-12);
        let mixed = between(2, &[1.0, 200.0, 200.0, 4.0]);
        assert!(separation(&mixed, &sizes) < -0.9);
        assert_eq!(separation(&between(2, &[0.0; 4]), &[1.0, 1.0]), 0.0, "nothing is known");
    }

    #[test]
    fn parts_merge_by_the_average_of_their_pairs() {
        // 0 and 1 are halves of a small cluster, 2 and 3 of a large one that has more weight between them, but less a pair.
        let four =
            between(4, &[9.0, 4.0, 0.0, 1.0, 4.0, 9.0, 0.0, 0.0, 0.0, 0.0, 80.0, 6.0, 1.0, 0.0, 6.0, 80.0]);
        let sizes = vec![5.0, 5.0, 10.0, 10.0];
        assert_eq!(merge(four.clone(), sizes.clone(), 3), [0, 0, 1, 2]);
        assert_eq!(merge(four.clone(), sizes.clone(), 2), [0, 0, 1, 1]);
        assert_eq!(merge(four, sizes, 4), [0, 1, 2, 3], "nothing to merge");
    }
}
