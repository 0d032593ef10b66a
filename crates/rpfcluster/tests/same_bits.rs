//! A tree is a function of data, parameters, seed and tree number: threads do not change it, each parameter does, and
//! merged leaves equal those of a forest grown with the larger `min_node`.
#![allow(clippy::unwrap_used)]

mod common;

use common::{grow, integers, kinds, leaf_lists, normals, to_f32};
use proptest::prelude::*;
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Direction, Forest, ForestParams, Points, Silent, Split};

#[test]
fn forest_and_kernel_do_not_depend_on_thread_count() {
    let (n, d) = (3000, 20);
    let values = normals(n, d, 1);
    let narrow = to_f32(&values);
    let x = normals(n, 3, 2);
    for params in kinds(12, 15, 3) {
        let run = |threads| {
            in_pool(Some(threads), || {
                let points = Points::new(&values, n, d).unwrap();
                let forest = Forest::grow(&points, &params).unwrap();
                let float = grow(&narrow, n, d, &params);
                let routed = forest.route(&points).unwrap();
                let leaves = forest.leaves();
                let sparse = leaves.sparse(0.2, &Silent).unwrap();
                let top = leaves.top_k(5, &Silent).unwrap();
                let top_of = leaves.top_k_of(&routed, 5, &Silent).unwrap();
                let mut y = vec![0.0; n * 3];
                leaves.apply(&x, &mut y, 3, &Silent).unwrap();
                let y: Vec<u64> = y.iter().map(|v| v.to_bits()).collect();
                (forest, float, routed, (sparse, top, top_of), y, leaves.degrees(&Silent).unwrap())
            })
            .unwrap()
        };
        let one = run(1);
        for threads in [2, 8] {
            let many = run(threads);
            assert_eq!(one.0.to_bytes().unwrap(), many.0.to_bytes().unwrap());
            assert_eq!(one.1.to_bytes().unwrap(), many.1.to_bytes().unwrap());
            assert!(one == many, "{threads} threads, {params:?}");
        }
    }
}

#[test]
fn every_parameter_changes_the_leaves() {
    let (n, d) = (500, 10);
    let values = normals(n, d, 4);
    let base = ForestParams { trees: 10, min_node: 10, ..Default::default() };
    let lists = leaf_lists(&grow(&values, n, d, &base).leaves());
    assert_eq!(lists, leaf_lists(&grow(&values, n, d, &base).leaves()));
    let changed = [
        ForestParams { trees: 11, ..base.clone() },
        ForestParams { min_node: 11, ..base.clone() },
        ForestParams { split: Split::Median, ..base.clone() },
        ForestParams { direction: Direction::Sparse, ..base.clone() },
        ForestParams { candidates: 2, ..base.clone() },
        ForestParams { seed: 1, ..base.clone() },
    ];
    for params in changed {
        assert_ne!(lists, leaf_lists(&grow(&values, n, d, &params).leaves()), "{params:?}");
    }
}

#[test]
fn a_tree_does_not_depend_on_the_number_of_trees() {
    let (n, d) = (400, 6);
    let values = normals(n, d, 5);
    for params in kinds(9, 8, 2) {
        let nine = leaf_lists(&grow(&values, n, d, &params).leaves());
        let four = leaf_lists(&grow(&values, n, d, &ForestParams { trees: 4, ..params.clone() }).leaves());
        assert_eq!(nine[..4], four[..]);
        assert!((1..9).all(|t| nine[t] != nine[0]), "two trees are the same: {params:?}");
    }
}

#[test]
fn leaves_are_below_min_node_and_median_trees_are_balanced() {
    let (n, d) = (1024, 8);
    let values = normals(n, d, 6);
    for params in kinds(10, 16, 0) {
        let forest = grow(&values, n, d, &params);
        // Distinct rows: every leaf is below min_node.
        for tree in leaf_lists(&forest.leaves()) {
            assert!(tree.iter().all(|leaf| (1..16).contains(&leaf.len())));
        }
        if params.split == Split::Median {
            // 1,024 rows halved 7 times are 8, below 16.
            assert!(forest.depths().iter().all(|&depth| depth == 7), "{:?}", forest.depths());
        }
    }
}

#[test]
fn more_candidates_cut_along_the_wide_column() {
    // One column is a hundred times wider than the others; the widest of many directions contains it.
    let (n, d) = (200, 10);
    let mut values = normals(n, d, 7);
    values.chunks_exact_mut(d).for_each(|row| row[0] *= 100.0);
    let order = |params: &ForestParams| {
        let leaves = grow(&values, n, d, params).leaves();
        // How well the root of each tree separates the wide column at its median.
        let mut columns: Vec<f64> = values.chunks_exact(d).map(|row| row[0]).collect();
        columns.sort_by(f64::total_cmp);
        let median = columns[n / 2];
        let mut sum = 0.0;
        for t in 0..leaves.trees() {
            let right = leaves.members(t, 1);
            let above = right.iter().filter(|&&i| values[i as usize * d] > median).count();
            sum += (2.0 * above as f64 / right.len() as f64 - 1.0).abs();
        }
        sum / leaves.trees() as f64
    };
    let base = ForestParams {
        trees: 200,
        min_node: n,
        split: Split::Median,
        direction: Direction::Sparse,
        ..Default::default()
    };
    // A sparse direction has 4 of 10 columns: one draw contains the wide column with probability 0.4, ten draws with
    // 0.994.
    let (one, ten) = (order(&base), order(&ForestParams { candidates: 10, ..base.clone() }));
    assert!(one < 0.6 && ten > 0.95, "one {one}, ten {ten}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn merged_leaves_equal_those_of_a_forest_grown_with_the_larger_min_node(
        (n, d, seed) in (1usize..300, 1usize..24, any::<u64>()),
        distinct in prop_oneof![Just(0u64), 2u64..6],
        small in 2usize..20,
        more in 0usize..60,
    ) {
        let values = if distinct == 0 { normals(n, d, seed) } else { integers(n, d, distinct, seed) };
        for params in kinds(3, small, seed) {
            let grown = grow(&values, n, d, &params);
            let merged = grown.leaves_at(small + more).unwrap();
            let fresh = grow(&values, n, d, &ForestParams { min_node: small + more, ..params.clone() });
            let fresh_leaves = fresh.leaves();
            prop_assert_eq!(leaf_lists(&merged), leaf_lists(&fresh_leaves));
            prop_assert_eq!(merged.leaf_ids(), fresh_leaves.leaf_ids());
            let unseen = normals(20, d, seed ^ 1);
            let unseen = Points::new(&unseen, 20, d).unwrap();
            prop_assert_eq!(merged.adapt(grown.route(&unseen).unwrap()), fresh.route(&unseen).unwrap());
        }
    }

    #[test]
    fn a_range_of_trees_has_the_leaves_of_those_trees(
        (n, d, seed) in (1usize..120, 1usize..6, any::<u64>()),
        (from, count) in (0usize..5, 1usize..4),
        more in 0usize..20,
    ) {
        let values = normals(n, d, seed);
        let unseen = normals(15, d, seed ^ 1);
        let unseen = Points::new(&unseen, 15, d).unwrap();
        for params in kinds(8, 3, seed) {
            let forest = grow(&values, n, d, &params);
            let whole = forest.leaves_at(3 + more).unwrap();
            let part = forest.leaves_of_trees(from..from + count, 3 + more).unwrap();
            prop_assert_eq!(part.trees(), count);
            let (all, own) = (leaf_lists(&whole), leaf_lists(&part));
            prop_assert_eq!(&all[from..from + count], &own[..]);
            // Leaf ids are taken from the trees of the range, not from the first ones.
            let routed = forest.route(&unseen).unwrap();
            let (of_whole, of_part) = (whole.adapt(routed.clone()), part.adapt(routed));
            prop_assert_eq!(of_part.trees(), count);
            for t in 0..count {
                prop_assert_eq!(of_part.tree(t), of_whole.tree(from + t));
            }
        }
    }
}

#[test]
fn smaller_min_node_missing_trees_and_wrong_parameters_are_refused() {
    let values = normals(100, 3, 1);
    let forest = grow(&values, 100, 3, &ForestParams { trees: 4, min_node: 10, ..Default::default() });
    let message = forest.leaves_at(9).unwrap_err().to_string();
    assert!(message.contains('9') && message.contains("at least 10"), "{message}");
    #[allow(clippy::reversed_empty_ranges)] // the point of the test
    for trees in [0..0, 3..2, 2..5, 4..4] {
        assert!(forest.leaves_of_trees(trees, 10).is_err());
    }
    for wrong in [
        ForestParams { trees: 0, ..Default::default() },
        ForestParams { trees: 65_536, ..Default::default() },
        ForestParams { min_node: 1, ..Default::default() },
        ForestParams { candidates: 0, ..Default::default() },
        ForestParams { candidates: 1001, ..Default::default() },
    ] {
        assert!(Forest::grow(&Points::new(&values, 100, 3).unwrap(), &wrong).is_err(), "{wrong:?}");
    }
}
