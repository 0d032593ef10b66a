//! The Leiden algorithm: known answers, its guarantees, K asked is K returned, and the clustering built on it.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use rpfcluster::affinity::{SparseAffinity, Weights};
use rpfcluster::leiden::{
    Quality, communities, communities_at_k, geometric_resolutions, partition_quality, resolution_profile,
};
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::spectral::{Method, SpectralParams, cluster};
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{AffinityKind, Error, Fitted, Points, RpfCluster, Silent};

/// A graph of `n` points from weighted edges; the last of two equal ones counts.
fn graph(n: usize, edges: &[(u32, u32, f64)]) -> SparseAffinity {
    let mut rows = vec![std::collections::BTreeMap::new(); n];
    for &(i, j, weight) in edges {
        rows[i as usize].insert(j, weight);
        rows[j as usize].insert(i, weight);
    }
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        indices.extend(row.keys());
        values.extend(row.values());
        indptr.push(indices.len());
    }
    SparseAffinity::new(0.0, indptr, indices, Weights::Values(values)).unwrap()
}

/// `count` cliques of `size` points, each with one edge to the next; a ring where `closed`.
fn cliques(count: u32, size: u32, closed: bool) -> SparseAffinity {
    let mut edges = Vec::new();
    for c in 0..count {
        for i in 0..size {
            edges.extend((0..i).map(|j| (c * size + i, c * size + j, 1.0)));
        }
        if closed || c + 1 < count {
            edges.push((c * size, (c + 1) % count * size + 1, 1.0));
        }
    }
    graph((count * size) as usize, &edges)
}

/// Zachary's karate club (1977), 34 points and 78 edges.
fn karate() -> SparseAffinity {
    const EDGES: &str = "1 2,1 3,1 4,1 5,1 6,1 7,1 8,1 9,1 11,1 12,1 13,1 14,1 18,1 20,1 22,1 32,2 3,2 4,2 8,2 14,2 18,\
        2 20,2 22,2 31,3 4,3 8,3 9,3 10,3 14,3 28,3 29,3 33,4 8,4 13,4 14,5 7,5 11,6 7,6 11,6 17,7 17,9 31,9 33,9 34,\
        10 34,14 34,15 33,15 34,16 33,16 34,19 33,19 34,20 34,21 33,21 34,23 33,23 34,24 26,24 28,24 30,24 33,24 34,\
        25 26,25 28,25 32,26 32,27 30,27 34,28 34,29 32,29 34,30 33,30 34,31 33,31 34,32 33,32 34,33 34";
    let number = |word: &str| word.trim().parse::<u32>().unwrap() - 1;
    let pair = |edge: &str| {
        let (i, j) = edge.trim().split_once(' ').unwrap();
        (number(i), number(j), 1.0)
    };
    graph(34, &EDGES.split(',').map(pair).collect::<Vec<_>>())
}

/// A graph of `n` points in `groups` planted groups: `inside` random edges per point within, `outside` anywhere.
fn planted(n: u32, groups: u32, inside: u32, outside: u32, seed: u64) -> SparseAffinity {
    let mut stream = Stream::new(seed, Purpose::Shapes, 0, 0);
    let mut edges = Vec::new();
    for i in 0..n {
        for _ in 0..inside {
            let j = stream.below(u64::from(n / groups)) as u32 * groups + i % groups;
            edges.push((i, j % n, 0.2 + stream.uniform()));
        }
        for _ in 0..outside {
            edges.push((i, stream.below(u64::from(n)) as u32, 0.2 + stream.uniform()));
        }
    }
    edges.retain(|(i, j, _)| i != j);
    graph(n as usize, &edges)
}

fn number(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |most| *most as usize + 1)
}

fn is_connected(graph: &SparseAffinity, labels: &[u32]) -> bool {
    let found = rpfcluster::affinity::Components::by_search(graph.n(), |point, visit| {
        for e in graph.indptr()[point]..graph.indptr()[point + 1] {
            let other = graph.indices()[e] as usize;
            if labels[other] == labels[point] && graph.weights().get(e) > 0.0 {
                visit(other);
            }
        }
        Ok(())
    });
    found.unwrap().count() == number(labels)
}

/// Modularity by its definition over all pairs.
fn modularity(graph: &SparseAffinity, labels: &[u32], resolution: f64) -> f64 {
    let n = graph.n();
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        for e in graph.indptr()[i]..graph.indptr()[i + 1] {
            matrix[i * n + graph.indices()[e] as usize] = graph.weights().get(e);
        }
    }
    let degree: Vec<f64> = matrix.chunks(n).map(|row| row.iter().sum()).collect();
    let total: f64 = degree.iter().sum();
    let mut sum = 0.0;
    for i in 0..n {
        for j in 0..n {
            if labels[i] == labels[j] {
                sum += matrix[i * n + j] - resolution * degree[i] * degree[j] / total;
            }
        }
    }
    sum / total
}

/// Local moving alone, to a fixed point, from single points: what Louvain does on its first level, by brute force.
fn local_moving_alone(graph: &SparseAffinity, resolution: f64) -> Vec<u32> {
    let n = graph.n();
    let mut labels: Vec<u32> = (0..n as u32).collect();
    loop {
        let mut moved = false;
        for i in 0..n {
            let mut best = (modularity(graph, &labels, resolution) + 1e-9, labels[i]);
            let own = labels[i];
            for e in graph.indptr()[i]..graph.indptr()[i + 1] {
                labels[i] = labels[graph.indices()[e] as usize];
                let found = modularity(graph, &labels, resolution);
                if found > best.0 {
                    best = (found, labels[i]);
                }
                labels[i] = own;
            }
            moved |= best.1 != own;
            labels[i] = best.1;
        }
        if !moved {
            return labels;
        }
    }
}

#[test]
fn two_cliques_with_a_bridge_are_two_communities() {
    let graph = cliques(2, 6, false);
    let expected: Vec<u32> = (0..12).map(|i| i / 6).collect();
    for (quality, resolution) in [(Quality::Modularity, 1.0), (Quality::Cpm, 0.5)] {
        assert_eq!(communities(&graph, quality, resolution, 0, &Silent).unwrap(), expected);
        assert_eq!(communities_at_k(&graph, quality, 2, 0, &Silent).unwrap().0, expected);
    }
}

#[test]
fn modularity_merges_small_cliques_of_a_ring_and_cpm_does_not() {
    // 30 cliques of 5 points: pairs of cliques have the higher modularity (Fortunato and Barthélemy 2007).
    let graph = cliques(30, 5, true);
    let single: Vec<u32> = (0..150).map(|i| i / 5).collect();
    let pairs: Vec<u32> = (0..150).map(|i| i / 10).collect();
    let of = |labels: &[u32]| partition_quality(&graph, Quality::Modularity, labels, 1.0, &Silent).unwrap();
    assert!(of(&pairs) > of(&single));
    let found = communities(&graph, Quality::Modularity, 1.0, 0, &Silent).unwrap();
    assert!(number(&found) < 20, "{} communities", number(&found));
    assert!(of(&found) >= of(&pairs) - 1e-3);
    assert_eq!(communities(&graph, Quality::Cpm, 0.3, 0, &Silent).unwrap(), single);
    assert_eq!(communities_at_k(&graph, Quality::Modularity, 30, 0, &Silent).unwrap().0, single);
    assert_eq!(communities_at_k(&graph, Quality::Cpm, 30, 0, &Silent).unwrap().0, single);
}

#[test]
fn karate_club_has_the_known_modularity() {
    let graph = karate();
    assert_eq!(graph.indices().len(), 2 * 78);
    let best = (0..5)
        .map(|seed| {
            let labels = communities(&graph, Quality::Modularity, 1.0, seed, &Silent).unwrap();
            partition_quality(&graph, Quality::Modularity, &labels, 1.0, &Silent).unwrap()
        })
        .fold(0.0, f64::max);
    assert!((best - 0.4198).abs() < 5e-4, "{best}");
}

#[test]
fn quality_agrees_with_its_definition_over_all_pairs() {
    let graph = planted(60, 4, 4, 2, 3);
    let labels = communities(&graph, Quality::Modularity, 1.3, 0, &Silent).unwrap();
    let found = partition_quality(&graph, Quality::Modularity, &labels, 1.3, &Silent).unwrap();
    assert!((found - modularity(&graph, &labels, 1.3)).abs() < 1e-12);
    let mut sum = 0.0;
    for i in 0..60 {
        for e in graph.indptr()[i]..graph.indptr()[i + 1] {
            let j = graph.indices()[e] as usize;
            sum += if i < j && labels[i] == labels[j] { graph.weights().get(e) } else { 0.0 };
        }
        sum -= (0..i).filter(|j| labels[*j] == labels[i]).count() as f64 * 0.1;
    }
    let found = partition_quality(&graph, Quality::Cpm, &labels, 0.1, &Silent).unwrap();
    assert!((found - sum).abs() < 1e-9, "{found} {sum}");
}

#[test]
fn quality_is_never_below_that_of_local_moving_alone() {
    for seed in 0..6 {
        let graph = planted(80, 5, 3, 2, seed);
        for resolution in [0.5, 1.0, 2.0] {
            let labels = communities(&graph, Quality::Modularity, resolution, seed, &Silent).unwrap();
            let alone = local_moving_alone(&graph, resolution);
            let (found, alone) =
                (modularity(&graph, &labels, resolution), modularity(&graph, &alone, resolution));
            assert!(found >= alone - 1e-9, "seed {seed}, resolution {resolution}: {found} {alone}");
        }
    }
}

#[test]
fn planted_groups_are_found_at_k() {
    let graph = planted(2000, 8, 8, 2, 1);
    for quality in [Quality::Modularity, Quality::Cpm] {
        let (labels, resolution) = communities_at_k(&graph, quality, 8, 0, &Silent).unwrap();
        let expected: Vec<u32> = (0..2000).map(|i| i % 8).collect();
        let scores = rpfcluster::metrics::Scores::new(&labels, &expected).unwrap();
        assert!(scores.ari > 0.98, "{quality:?} at {resolution}: {}", scores.ari);
        let again = communities(&graph, quality, resolution, 0, &Silent).unwrap();
        assert!(number(&again).abs_diff(8) <= 1, "{} communities at {resolution}", number(&again));
    }
}

#[test]
fn complete_graph_without_structure_is_split_into_k_all_the_same() {
    // At every resolution all points are together, or none: only merging gives three.
    let edges: Vec<(u32, u32, f64)> = (0..30).flat_map(|i| (0..i).map(move |j| (i, j, 1.0))).collect();
    let graph = graph(30, &edges);
    for quality in [Quality::Modularity, Quality::Cpm] {
        let (labels, _) = communities_at_k(&graph, quality, 3, 0, &Silent).unwrap();
        assert_eq!(number(&labels), 3);
    }
}

#[test]
fn more_components_than_k_are_merged() {
    let mut edges = Vec::new();
    for c in 0..6 {
        edges.extend([(3 * c, 3 * c + 1, 1.0), (3 * c, 3 * c + 2, 1.0), (3 * c + 1, 3 * c + 2, 1.0)]);
    }
    let graph = graph(18, &edges);
    let (labels, resolution) = communities_at_k(&graph, Quality::Modularity, 4, 0, &Silent).unwrap();
    assert_eq!((number(&labels), resolution), (4, 0.0));
    let (six, _) = communities_at_k(&graph, Quality::Modularity, 6, 0, &Silent).unwrap();
    assert_eq!(six, (0..18).map(|i| i / 3).collect::<Vec<u32>>());
}

#[test]
fn profile_counts_more_communities_at_higher_resolutions() {
    let graph = planted(1000, 5, 8, 1, 2);
    let grid = geometric_resolutions(0.05, 20.0, 9).unwrap();
    assert!((grid[0] - 0.05).abs() < 1e-12 && (grid[8] - 20.0).abs() < 1e-9);
    let profile = resolution_profile(&graph, Quality::Modularity, &grid, 0, &Silent).unwrap();
    assert_eq!(profile.len(), 9);
    for (level, resolution) in profile.iter().zip(&grid) {
        assert_eq!(level.resolution, *resolution);
        let alone = communities(&graph, Quality::Modularity, *resolution, 0, &Silent).unwrap();
        let quality = partition_quality(&graph, Quality::Modularity, &alone, *resolution, &Silent).unwrap();
        assert!(level.quality >= quality - 0.01, "{level:?} against {quality}");
    }
    assert!(profile.windows(2).all(|pair| pair[0].communities <= pair[1].communities + 2), "{profile:?}");
    assert!(profile.iter().filter(|level| level.communities == 5).count() >= 2, "{profile:?}");
}

#[test]
fn wrong_resolutions_and_lengths_are_refused() {
    let graph = cliques(2, 3, false);
    for resolution in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = communities(&graph, Quality::Modularity, resolution, 0, &Silent).unwrap_err();
        assert!(refused.to_string().ends_with("but must be above 0"), "{refused}");
    }
    let k = |k| communities_at_k(&graph, Quality::Modularity, k, 0, &Silent).unwrap_err().to_string();
    assert_eq!(k(0), "k is 0, but must be at least 1");
    assert_eq!(k(7), "k is 7, but there are only 6 distinct points");
    let short = partition_quality(&graph, Quality::Cpm, &[0], 1.0, &Silent).unwrap_err();
    assert_eq!(short.to_string(), "labels: 1 given, 6 needed");
    let far = partition_quality(&graph, Quality::Cpm, &[0, 0, 0, 0, 0, 6], 1.0, &Silent).unwrap_err();
    assert_eq!(far.to_string(), "label is 6, but must be below the number of points, which is 6");
    assert!(geometric_resolutions(2.0, 1.0, 3).is_err());
}

#[test]
fn precomputed_similarities_are_clustered_without_eigenvectors() {
    let graph = cliques(3, 5, false);
    let params = SpectralParams { k: 3, method: Method::Leiden, ..Default::default() };
    let (labels, embedding) = cluster(&graph, &params, &Silent).unwrap();
    assert_eq!(labels, (0..15).map(|i| i / 5).collect::<Vec<u32>>());
    assert_eq!((embedding.n(), embedding.k(), embedding.converged), (15, 0, true));
    let params = SpectralParams { resolution: Some(40.0), ..params };
    assert_eq!(number(&cluster(&graph, &params, &Silent).unwrap().0), 15, "every point alone");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn k_asked_is_k_returned(n in 2u32..120, groups in 1u32..6, inside in 0u32..4, outside in 0u32..3,
                             seed in 0u64..1000, share in 0.0f64..1.0, cpm: bool) {
        let graph = planted(n, groups.min(n), inside, outside, seed);
        let k = 1 + (share * f64::from(n - 1)) as usize;
        let quality = if cpm { Quality::Cpm } else { Quality::Modularity };
        let (labels, _) = communities_at_k(&graph, quality, k, seed, &Silent).unwrap();
        prop_assert_eq!(number(&labels), k);
        let mut seen = 0;
        for label in labels {
            prop_assert!(label <= seen, "numbered by first appearance");
            seen = seen.max(label + 1);
        }
    }

    #[test]
    fn every_community_is_connected(n in 2u32..150, groups in 1u32..6, inside in 0u32..5, outside in 0u32..3,
                                    seed in 0u64..1000, log in -3.0f64..3.0, cpm: bool) {
        let graph = planted(n, groups.min(n), inside, outside, seed);
        let quality = if cpm { Quality::Cpm } else { Quality::Modularity };
        let labels = communities(&graph, quality, log.exp(), seed, &Silent).unwrap();
        prop_assert!(is_connected(&graph, &labels));
    }
}

/// Four groups in three dimensions, some rows more than once.
fn table(n: usize) -> Vec<f64> {
    let mut stream = Stream::new(5, Purpose::Shapes, 0, 0);
    let rows = (0..n).flat_map(|i| {
        let group = i % 4;
        [0, 1, 2].map(|d| if group == d + 1 { 6.0 } else { 0.0 } + stream.normal())
    });
    let mut values: Vec<f64> = rows.collect();
    for copy in 0..n / 10 {
        values.copy_within(copy * 12..copy * 12 + 3, (n - 1 - copy) * 3);
    }
    values
}

fn leiden(affinity: AffinityKind) -> RpfCluster {
    RpfCluster {
        k: 4,
        method: Some(Method::Leiden),
        affinity: Some(affinity),
        tune: false,
        trees: Some(80),
        ..Default::default()
    }
}

#[test]
fn rows_are_clustered_on_every_graph_and_predicted_by_votes() {
    let values = table(600);
    let points = Points::new(&values, 600, 3).unwrap();
    let truth: Vec<u32> = (0..600).map(|i| i % 4).collect();
    for affinity in [AffinityKind::TopK, AffinityKind::Paper] {
        for quality in [Quality::Modularity, Quality::Cpm] {
            let params = RpfCluster { quality, ..leiden(affinity) };
            let fitted = params.fit(&points).unwrap();
            assert_eq!((fitted.k(), number(fitted.labels()), fitted.embedding().k()), (4, 4, 0));
            let kept = 540; // the copies at the end have groups of their own
            let scores = rpfcluster::metrics::Scores::new(&fitted.labels()[..kept], &truth[..kept]).unwrap();
            assert!(scores.ari > 0.9, "{affinity:?} {quality:?}: {}", scores.ari);
            assert_eq!(fitted.predict(&points).unwrap(), fitted.labels(), "training rows keep their labels");
            let found = fitted.evidence().resolution.unwrap();
            assert_eq!(Some(found.resolution), fitted.resolution());
            // New rows near the middle of each group.
            let centers = [0.1, 0.2, -0.1, 6.1, 0.1, 0.2, -0.2, 5.9, 0.1, 0.1, 0.2, 6.2];
            let predicted = fitted.predict(&Points::new(&centers, 4, 3).unwrap()).unwrap();
            assert_eq!(predicted, fitted.labels()[..4]);
        }
    }
}

#[test]
fn given_resolution_decides_the_number_of_clusters() {
    let values = table(600);
    let points = Points::new(&values, 600, 3).unwrap();
    let at = |resolution: f64| {
        let params = RpfCluster { resolution: Some(resolution), tune: true, ..leiden(AffinityKind::TopK) };
        params.fit(&points).unwrap()
    };
    let (coarse, fine) = (at(0.2), at(5.0));
    assert!(coarse.k() < fine.k(), "{} {}", coarse.k(), fine.k());
    for fitted in [coarse, fine] {
        assert_eq!(fitted.k(), number(fitted.labels()));
        assert_eq!((fitted.params().k, fitted.evidence().resolution), (fitted.k(), None));
        assert!(fitted.verdict().is_some());
        let same = fitted.refit(fitted.params(), &Silent).unwrap();
        assert_eq!(same.labels(), fitted.labels());
    }
}

#[test]
fn eigenvectors_are_computed_when_they_are_asked_for() {
    let values = table(400);
    let points = Points::new(&values, 400, 3).unwrap();
    let fitted = leiden(AffinityKind::TopK).fit(&points).unwrap();
    let embedding = fitted.spectral_embedding(&Silent).unwrap();
    assert_eq!((embedding.n(), embedding.k()), (400, 4));
    let power = Some(RpfCluster::LEIDEN_POWER);
    let same = RpfCluster { method: Some(Method::Kway), power, ..leiden(AffinityKind::TopK) };
    let spectral = same.fit(&points).unwrap();
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(close(&embedding.eigenvalues, &spectral.embedding().eigenvalues));
    let transformed = fitted.transform(&points).unwrap();
    // Rows that no tree separates share the embedding of the first of them.
    let own = (0..400).filter(|i| close(&transformed[i * 4..][..4], embedding.row(*i))).count();
    assert!(own > 360, "{own} training rows get their own embedding");
}

#[test]
fn model_file_keeps_communities_and_resolution() {
    let values = table(500);
    let points = Points::new(&values, 500, 3).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.rpf");
    for affinity in [AffinityKind::TopK, AffinityKind::Paper] {
        let fitted = leiden(affinity).fit(&points).unwrap();
        fitted.save(&path).unwrap();
        let loaded = Fitted::load(&path).unwrap();
        assert_eq!(loaded.labels(), fitted.labels());
        assert_eq!((loaded.method(), loaded.resolution()), (Method::Leiden, fitted.resolution()));
        let new: Vec<f64> = values.iter().map(|v| v + 0.01).collect();
        let new = Points::new(&new, 500, 3).unwrap();
        assert_eq!(loaded.predict(&new).unwrap(), fitted.predict(&new).unwrap());
        assert_eq!(loaded.transform(&new).unwrap(), fitted.transform(&new).unwrap());
    }
}

#[test]
fn labels_do_not_depend_on_thread_count() {
    let values = table(3000);
    let points = Points::new(&values, 3000, 3).unwrap();
    let graph = planted(60_000, 12, 5, 2, 4);
    let mut seen: Option<(Vec<u32>, Vec<u32>, u64)> = None;
    for threads in [1, 2, 8] {
        let params = RpfCluster { threads: Some(threads), ..leiden(AffinityKind::TopK) };
        let fitted = params.fit(&points).unwrap();
        let (labels, resolution) =
            in_pool(Some(threads), || communities_at_k(&graph, Quality::Modularity, 12, 0, &Silent))
                .unwrap()
                .unwrap();
        let found = (fitted.labels().to_vec(), labels, resolution.to_bits());
        assert_eq!(*seen.get_or_insert_with(|| found.clone()), found, "{threads} threads");
    }
}

#[test]
fn large_graphs_are_clustered_in_leaf_order() {
    let n = 52_000;
    let values = table(n);
    let points = Points::new(&values, n, 3).unwrap();
    let params = RpfCluster { trees: Some(20), assess: false, ..leiden(AffinityKind::TopK) };
    let fitted = params.fit(&points).unwrap();
    let truth: Vec<u32> = (0..n as u32).map(|i| i % 4).collect();
    let kept = n - n / 10;
    let scores = rpfcluster::metrics::Scores::new(&fitted.labels()[..kept], &truth[..kept]).unwrap();
    assert!(scores.ari > 0.9, "{}", scores.ari);
    assert_eq!(number(fitted.labels()), 4);
}

#[test]
fn linear_kernel_has_no_pairs_to_find_communities_of() {
    let values = table(60);
    let points = Points::new(&values, 60, 3).unwrap();
    let refused = leiden(AffinityKind::Linear).fit(&points).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "method leiden applies only to affinity paper or top-k, but the affinity is linear"
    );
    let forest = rpfcluster::Forest::grow(&points, &Default::default()).unwrap();
    let kernel = rpfcluster::affinity::LinearAffinity::new(forest.leaves().into());
    let params = SpectralParams { method: Method::Leiden, ..Default::default() };
    assert!(matches!(cluster(&kernel, &params, &Silent), Err(Error::DoesNotApply { .. })));
}

#[test]
fn settings_are_chosen_for_communities_too() {
    let values = table(400);
    let points = Points::new(&values, 400, 3).unwrap();
    let params =
        RpfCluster { k: 4, method: Some(Method::Leiden), trees: Some(60), tune: true, ..Default::default() };
    let fitted = params.fit(&points).unwrap();
    let choice = fitted.evidence().settings.as_ref().unwrap();
    assert_eq!(choice.candidates.len(), 2);
    assert!(choice.candidates.iter().all(|c| c.affinity.kind() != AffinityKind::Linear));
    assert_eq!((fitted.method(), number(fitted.labels())), (Method::Leiden, 4));
    let chosen = RpfCluster { max_k: Some(6), ..params }.fit(&points).unwrap();
    assert_eq!(chosen.k(), number(chosen.labels()));
}
