//! Knots: small groups that only the sharpened graph takes for clusters, and how they are untied.
//!
//! `top-k` cuts S^power. Some forty outliers that share the same shallow leaves have weights a hundred times those of
//! everybody else; the normalised cut measures by volume, so a cut round them looks as balanced as one between two
//! large clusters, and one of the K clusters is theirs. The plain similarity tells them from a true small cluster:
//! on the same edges weighted by S, much of a knot's weight leaves it, while a true cluster keeps its own.
//!
//! A partition without knots is left as it is. Otherwise the graph is cut finer, into about 3K parts, what was
//! a knot and knots among the parts join the part each leaks to most, and parts are merged down to K, each time the two whose union lowers
//! the normalised cut of the sharpened graph most.

use super::{Embedding, Hints, Method, SpectralParams, embed, label};
use crate::affinity::{Affinity, Between};
use crate::error::{Error, Result};
use crate::kmeans::relabel_by_first_appearance;
use crate::observe::Observer;

/// The share of a cluster's plain weight that must leave it to call it a knot.
const LEAKY: f64 = 1.0 / 3.0;
/// Parts for each cluster of the finer cut, and most parts beyond K: eigenvectors are what it costs.
const FINER: usize = 3;
const MOST_MORE: usize = 100;
/// Rows there must be for each part.
const ROWS_A_PART: usize = 5;

/// Parts of the finer cut for k clusters.
pub(crate) fn parts(k: usize) -> usize {
    (FINER * k).min(k + MOST_MORE)
}

/// Other labels when some of these clusters are knots; `None` when none is, or the finer cut cannot be had.
pub(crate) fn untied(
    affinity: &dyn Affinity,
    labels: &[u32],
    embedding: &Embedding,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Option<Vec<u32>>> {
    let k = params.k;
    let m = parts(k);
    let Some(graph) = affinity.sharpened() else { return Ok(None) };
    if params.method != Method::Kway || k < 2 || m * ROWS_A_PART > graph.n() {
        return Ok(None);
    }
    let (sharp, plain) = graph.between(labels, k)?;
    let tied = knots(&sharp, &plain);
    if tied.is_empty() {
        return Ok(None);
    }
    let finer = SpectralParams { k: m, ..params.clone() };
    let hints = Hints { start: Some(embedding), similarity: None };
    let found = embed(affinity, &finer, &hints, observer)
        .and_then(|embedding| label(affinity, &embedding, &finer, observer));
    let mut fine = match found {
        Ok(fine) => fine,
        // Fewer different rows than parts: the cut there is must do.
        Err(Error::TooManyClusters { .. }) => return Ok(None),
        Err(other) => return Err(other),
    };
    let (sharp, plain) = graph.between(&fine, m)?;
    // Parts of a large cluster may leak as much as a knot; a part of a knot is one all the same.
    let mut known = of_these(labels, &tied, &fine, m);
    for part in knots(&sharp, &plain) {
        if !known.contains(&part) {
            known.push(part);
        }
    }
    let group_of = merge(&sharp, &known, k);
    fine.iter_mut().for_each(|part| *part = group_of[*part as usize]);
    relabel_by_first_appearance(&mut fine);
    Ok(Some(fine))
}

/// Clusters that leak less than most on the sharpened graph, and more than most and than a third on the plain one;
/// the leakiest first.
fn knots(sharp: &Between, plain: &Between) -> Vec<usize> {
    let (sharp, plain) = (leaks(sharp), leaks(plain));
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (usual_sharp, usual_plain) = (mean(&sharp), mean(&plain));
    let mut found: Vec<usize> = (0..sharp.len())
        .filter(|&c| sharp[c] < usual_sharp && plain[c] > usual_plain && plain[c] > LEAKY)
        .collect();
    found.sort_by(|a, b| plain[*b].total_cmp(&plain[*a]).then(a.cmp(b)));
    found
}

/// The parts, of `m`, most of whose rows are in `clusters`.
fn of_these(labels: &[u32], clusters: &[usize], fine: &[u32], m: usize) -> Vec<usize> {
    let mut rows = vec![(0usize, 0usize); m];
    for (label, part) in labels.iter().zip(fine) {
        let (inside, all) = &mut rows[*part as usize];
        *all += 1;
        *inside += usize::from(clusters.contains(&(*label as usize)));
    }
    (0..m).filter(|&part| 2 * rows[part].0 > rows[part].1).collect()
}

/// The share of each cluster's weight that goes to others.
fn leaks(between: &Between) -> Vec<f64> {
    (0..between.k)
        .map(|c| {
            let volume = between.volume(c);
            if volume > 0.0 { 1.0 - between.get(c, c) / volume } else { 0.0 }
        })
        .collect()
}

/// The group, below `k`, of each part: first every one of `knots`, as far as there are parts to spare, with the part
/// it leaks to most; then the two whose union lowers the normalised cut most, until `k` are left.
fn merge(between: &Between, knots: &[usize], k: usize) -> Vec<u32> {
    let m = between.k;
    let mut weights = between.clone();
    let mut live: Vec<usize> = (0..m).collect();
    let mut group_of: Vec<usize> = (0..m).collect();
    let mut knots = knots[..knots.len().min(m.saturating_sub(k))].to_vec();
    while live.len() > k {
        let volume: Vec<f64> = (0..m).map(|c| weights.volume(c)).collect();
        let share = |inside: f64, volume: f64| if volume > 0.0 { inside / volume } else { 1.0 };
        let gain = |a: usize, b: usize| {
            let (aa, ab, bb) = (weights.get(a, a), weights.get(a, b), weights.get(b, b));
            if knots.is_empty() {
                share(aa + 2.0 * ab + bb, volume[a] + volume[b]) - share(aa, volume[a]) - share(bb, volume[b])
            } else {
                share(ab, volume[a].min(volume[b]))
            }
        };
        let mut best: Option<(f64, usize, usize)> = None;
        for (at, &a) in live.iter().enumerate() {
            for &b in &live[at + 1..] {
                if !knots.is_empty() && !knots.contains(&a) && !knots.contains(&b) {
                    continue;
                }
                let gained = gain(a, b);
                if best.is_none_or(|(most, _, _)| gained > most) {
                    best = Some((gained, a, b));
                }
            }
        }
        let Some((_, a, b)) = best else { break };
        knots.retain(|&c| c != a && c != b);
        weights.join(a, b);
        live.retain(|&c| c != b);
        group_of.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
    }
    let mut groups: Vec<u32> = group_of.iter().map(|&g| g as u32).collect();
    relabel_by_first_appearance(&mut groups);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::{SparseAffinity, Weights};
    use crate::observe::Silent;
    use crate::rng::{Purpose, Stream};
    use crate::spectral::cluster;

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
        SparseAffinity::new(0.0, indptr, indices, Weights::Table { counts, table }).unwrap().raised_to(4.0)
    }

    #[test]
    fn a_knot_gives_its_cluster_back_and_a_small_cluster_keeps_it() {
        let params = SpectralParams { k: 3, ..Default::default() };
        for (outside, knot) in [(16, true), (1, false)] {
            let graph = three_and_a_few(outside);
            let (labels, embedding) = cluster(&graph, &params, &Silent).unwrap();
            let few = &labels[3 * GROUP as usize..];
            assert_eq!(
                few, [2; SMALL as usize],
                "the few are a cluster of their own, the near groups are one"
            );
            let found = untied(&graph, &labels, &embedding, &params, &Silent).unwrap();
            assert_eq!(found.is_some(), knot, "{outside} edges to others");
            if let Some(found) = found {
                let groups: Vec<u32> = (0..3 * GROUP).map(|i| i / GROUP).collect();
                assert_eq!(found[..groups.len()], groups);
            }
            let plain = graph.at_power(1.0).unwrap();
            let (labels, embedding) = cluster(&plain, &params, &Silent).unwrap();
            assert_eq!(untied(&plain, &labels, &embedding, &params, &Silent).unwrap(), None);
        }
    }

    fn between(k: usize, weights: &[f64]) -> Between {
        Between { k, weights: weights.to_vec() }
    }

    #[test]
    fn a_knot_is_tight_on_the_sharpened_graph_only() {
        let sharp = between(3, &[90.0, 5.0, 1.0, 5.0, 90.0, 1.0, 1.0, 1.0, 98.0]);
        let leaky = between(3, &[90.0, 5.0, 5.0, 5.0, 90.0, 5.0, 5.0, 5.0, 10.0]);
        let closed = between(3, &[90.0, 5.0, 0.5, 5.0, 90.0, 0.5, 0.5, 0.5, 10.0]);
        assert_eq!(knots(&sharp, &leaky), [2]);
        assert!(knots(&sharp, &closed).is_empty(), "a small cluster that keeps its own is a cluster");
        assert!(knots(&leaky, &leaky).is_empty(), "nothing was sharpened");
    }

    #[test]
    fn knots_join_first_and_then_the_normalised_cut_decides() {
        // 0 and 1 are halves of one cluster, 3 is a knot near 2.
        let four = between(
            4,
            &[50.0, 20.0, 1.0, 0.0, 20.0, 50.0, 1.0, 0.1, 1.0, 1.0, 80.0, 0.5, 0.0, 0.1, 0.5, 40.0],
        );
        assert_eq!(merge(&four, &[3], 2), [0, 0, 1, 1]);
        assert_eq!(merge(&four, &[3], 3), [0, 1, 2, 2], "the knot before the halves");
        assert_eq!(merge(&four, &[], 3), [0, 0, 1, 2]);
        assert_eq!(merge(&four, &[3], 4), [0, 1, 2, 3], "nothing to spare");
    }
}
