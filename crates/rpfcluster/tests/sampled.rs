//! Forests grown on a sample of the rows: the sample is the definition's, all rows are routed and count for `min_node`,
//! and everything that holds for a forest of all rows holds for them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Csr, grow, integers, kinds, leaf_lists, normals, to_f32};
use rpfcluster::metrics::Scores;
use rpfcluster::random::{RowHash, sample_limit, sample_rows};
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{
    AffinityKind, Components, Forest, ForestParams, Metric, Points, RpfCluster, Silent, column_means,
};

const SAMPLE: usize = 120;

fn sampled(params: &ForestParams, most: usize) -> ForestParams {
    ForestParams { max_samples: Some(most), ..params.clone() }
}

/// Three clouds of `d` columns, and the cloud of each row.
fn clouds(n: usize, d: usize) -> (Vec<f64>, Vec<u32>) {
    let mut values = normals(n, d, 5);
    for (i, row) in values.chunks_exact_mut(d).enumerate() {
        row.iter_mut().enumerate().for_each(|(j, x)| *x += 9.0 * f64::from(u8::from(i % 3 == j % 3)));
    }
    (values, (0..n as u32).map(|i| i % 3).collect())
}

#[test]
fn the_sample_has_the_smallest_hashes() {
    let (hash, rows) = (RowHash::new(7), sample_rows(7, 500, 60));
    let largest = rows.iter().map(|row| hash.of(u64::from(*row))).max().unwrap();
    let expected: Vec<u32> = (0..500).filter(|row| hash.of(u64::from(*row)) <= largest).collect();
    assert_eq!(rows, expected);
    assert_eq!(sample_limit(7, 500, 60), largest);
    for (n, m) in [(1, 1), (10, 3), (5000, 2), (5000, 4999)] {
        let limit = sample_limit(9, n, m);
        assert_eq!((0..n).filter(|row| RowHash::new(9).of(*row) <= limit).count() as u64, m, "{m} of {n}");
    }
    assert_eq!((sample_limit(9, 5, 5), sample_limit(9, 5, 0)), (u64::MAX, 0));
    assert!(sample_rows(7, 500, 30).iter().all(|row| rows.contains(row)), "smaller samples are subsets");
    assert_ne!(hash.of(1), hash.of(1 + (1 << 32)), "64 bits of the number count");
}

#[test]
fn a_sample_of_all_rows_changes_nothing() {
    let values = normals(300, 4, 1);
    for params in kinds(5, 12, 3) {
        let plain = leaf_lists(&grow(&values, 300, 4, &params).leaves());
        for most in [300, 1000] {
            assert_eq!(leaf_lists(&grow(&values, 300, 4, &sampled(&params, most)).leaves()), plain);
        }
        assert_ne!(leaf_lists(&grow(&values, 300, 4, &sampled(&params, 30)).leaves()), plain);
    }
}

/// The leaf of each row by the definition: the first node of its path that has fewer than `min_node` of all rows.
fn defined(grown_to_rows: &Forest, all: &Points<f64>, tree: usize, min_node: usize) -> Vec<u32> {
    let ids = grown_to_rows.route(all).unwrap();
    let paths: Vec<Vec<u32>> =
        ids.tree(tree).iter().map(|leaf| grown_to_rows.path(tree, *leaf).unwrap()).collect();
    let size = |node: u32| paths.iter().filter(|path| path.contains(&node)).count();
    let leaf = |path: &Vec<u32>| {
        path.iter().copied().find(|node| size(*node) < min_node).unwrap_or(*path.last().unwrap())
    };
    paths.iter().map(leaf).collect()
}

#[test]
fn leaves_are_those_of_the_definition() {
    let (n, d, min_node) = (400, 3, 14);
    for values in [normals(n, d, 1), integers(n, d, 4, 2)] {
        let points = Points::new(&values, n, d).unwrap();
        for params in kinds(3, min_node, 9) {
            let rows = sample_rows(params.seed, n, SAMPLE);
            let copied: Vec<f64> =
                rows.iter().flat_map(|row| values[*row as usize * d..][..d].to_vec()).collect();
            let grown = grow(&copied, rows.len(), d, &ForestParams { min_node: 2, ..params.clone() });
            let leaves = grow(&values, n, d, &sampled(&params, SAMPLE)).leaves();
            for tree in 0..params.trees {
                let expected = defined(&grown, &points, tree, min_node);
                let found = leaves.leaf_ids().tree(tree).to_vec();
                for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
                    assert_eq!(
                        found[i] == found[j],
                        expected[i] == expected[j],
                        "rows {i} and {j}, {params:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_larger_min_node_merges_leaves_as_it_grows_them() {
    for values in [normals(400, 5, 1), integers(400, 5, 3, 1)] {
        for params in kinds(3, 5, 4) {
            let grown = grow(&values, 400, 5, &sampled(&params, SAMPLE));
            let larger = ForestParams { min_node: 40, ..sampled(&params, SAMPLE) };
            let fresh = grow(&values, 400, 5, &larger);
            assert_eq!(leaf_lists(&grown.leaves_at(40).unwrap()), leaf_lists(&fresh.leaves()), "{params:?}");
        }
    }
}

#[test]
fn rows_reach_their_leaves_and_models_keep_them() {
    let check = |forest: &Forest, ids: rpfcluster::LeafIds| {
        assert_eq!(&ids, forest.leaves().leaf_ids());
        let back = Forest::from_bytes(&forest.to_bytes().unwrap()).unwrap();
        assert_eq!(&back, forest);
        assert_eq!(back.params().max_samples, Some(SAMPLE));
    };
    let (n, d) = (500, 6);
    let values = normals(n, d, 3);
    let huge: Vec<f64> = values.iter().map(|v| v * 1e300).collect();
    let holes: Vec<f64> =
        values.iter().zip(0u64..).map(|(x, at)| if at % 7 == 3 { f64::NAN } else { *x }).collect();
    let means = column_means(&holes, d).unwrap();
    for params in kinds(4, 10, 3) {
        let params = sampled(&params, SAMPLE);
        for values in [&values, &huge] {
            let forest = grow(values, n, d, &params);
            check(&forest, forest.route(&Points::new(values, n, d).unwrap()).unwrap());
        }
        let narrow = to_f32(&values);
        let forest = grow(&narrow, n, d, &params);
        check(&forest, forest.route(&Points::new(&narrow, n, d).unwrap()).unwrap());
        let gaps = Points::with_gaps(&holes, n, d, &means).unwrap();
        let forest = Forest::grow(&gaps, &params).unwrap();
        check(&forest, forest.route(&gaps).unwrap());
        let sparse = Csr::of(&values, n, d);
        let of_sparse = Forest::grow(&sparse.points(), &params).unwrap();
        assert_eq!(leaf_lists(&of_sparse.leaves()), leaf_lists(&grow(&values, n, d, &params).leaves()));
    }
}

#[test]
fn threads_change_nothing_below_and_above_every_size_threshold() {
    for (n, d, most) in [(300, 3, 50), (9000, 3, 700), (20_000, 8, 9000)] {
        let values = to_f32(&normals(n, d, 2));
        let params = ForestParams { trees: 5, max_samples: Some(most), ..Default::default() };
        let of =
            |threads| in_pool(Some(threads), || leaf_lists(&grow(&values, n, d, &params).leaves())).unwrap();
        assert_eq!(of(1), of(3), "{n} x {d}");
    }
}

#[test]
fn a_clustering_of_a_sampled_forest_is_right_and_refits() {
    let (values, classes) = clouds(3000, 6);
    let points = Points::new(&values, 3000, 6).unwrap();
    for affinity in [AffinityKind::TopK, AffinityKind::Linear] {
        let params = RpfCluster {
            k: 3,
            trees: Some(60),
            max_samples: Some(300),
            affinity: Some(affinity),
            ..Default::default()
        };
        let fitted = params.fit(&points).unwrap();
        assert!(Scores::new(fitted.labels(), &classes).unwrap().ari > 0.99, "{affinity:?}");
        assert_eq!(fitted.predict(&points).unwrap(), fitted.labels());
        assert_eq!(fitted.params().max_samples, Some(300));
        let fewer = RpfCluster { k: 2, ..params.clone() };
        let fixed = |params: &RpfCluster| RpfCluster { tune: false, assess: false, ..params.clone() };
        let other = fixed(&params).fit(&points).unwrap().refit(&fixed(&fewer), &Silent).unwrap();
        assert_eq!(other.labels(), fixed(&fewer).fit(&points).unwrap().labels());
        assert_eq!(other.params().max_samples, Some(300));
    }
}

#[test]
fn copies_at_the_end_of_a_table_do_not_change_the_sample() {
    let (mut values, _) = clouds(900, 4);
    let params = RpfCluster {
        k: 3,
        trees: Some(20),
        max_samples: Some(100),
        tune: false,
        assess: false,
        ..Default::default()
    };
    let distinct = params.fit(&Points::new(&values, 900, 4).unwrap()).unwrap();
    for _ in 0..9 {
        values.extend_from_within(..200);
    }
    let copied = params.fit(&Points::new(&values, values.len() / 4, 4).unwrap()).unwrap();
    assert_eq!(copied.distinct(), Some(900));
    assert_eq!(copied.forest(), distinct.forest());
}

#[test]
fn components_and_unit_rows_are_those_of_all_rows() {
    let (values, classes) = clouds(800, 60);
    let points = Points::new(&values, 800, 60).unwrap();
    let params = RpfCluster { k: 3, trees: Some(50), tune: false, ..Default::default() };
    let sampled = RpfCluster { max_samples: Some(150), ..params.clone() };
    let (all, some) = (params.fit(&points).unwrap(), sampled.fit(&points).unwrap());
    assert_eq!(all.components().unwrap().axes, some.components().unwrap().axes);
    assert!(Scores::new(some.labels(), &classes).unwrap().ari > 0.99);
    let cosine = RpfCluster { metric: Metric::Cosine, components: Components::Count(4), ..sampled };
    assert!(Scores::new(cosine.fit(&points).unwrap().labels(), &classes).unwrap().ari > 0.99);
}

#[test]
fn samples_below_two_rows_are_refused() {
    for max_samples in [Some(0), Some(1)] {
        let refused = RpfCluster { max_samples, ..Default::default() }.validate().unwrap_err().to_string();
        assert!(refused.starts_with("max_samples is ") && refused.contains("from 2 to"), "{refused}");
    }
}

#[test]
fn the_memory_estimate_counts_the_trees_of_the_sample() {
    let (n, affinity, trees) = (1 << 20, Some(AffinityKind::Linear), Some(1000));
    let needed = |max_samples| {
        RpfCluster { max_samples, affinity, trees, ..Default::default() }.memory_needed(n, 8, 4)
    };
    assert!(needed(Some(n - 1)) > needed(Some(n / 2)) && needed(Some(n / 2)) > needed(None));
    assert_eq!(needed(Some(n)), needed(None));
}
