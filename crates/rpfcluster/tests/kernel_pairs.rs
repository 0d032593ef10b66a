//! The kernel against brute force: factored products against the dense matrix, thresholded rows and neighbours against
//! counting every pair, for training rows and for unseen rows.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Csr, brute_counts, brute_top, grow, integers, kinds, normals, to_f32};
use proptest::prelude::*;
use rpfcluster::{Forest, ForestParams, LeafIds, LeafMatrix, Points, Silent, SparseKernel};

const THRESHOLDS: [f64; 12] = [0.0, 1e-9, 0.05, 0.1, 0.3, 1.0 / 3.0, 0.5, 0.6, 0.7, 0.9, 0.999, 1.0];

/// Leaf matrices and unseen rows: every kind of forest, with grown and with merged leaves.
fn cases(trees: usize) -> Vec<(LeafMatrix, LeafIds)> {
    let (n, d, m) = (230, 5, 60);
    let mut values = normals(n, d, 1);
    // Some equal rows and some ties.
    values.copy_within(0..20 * d, 40 * d);
    let unseen = normals(m, d, 2);
    let unseen = Points::new(&unseen, m, d).unwrap();
    let mut all = Vec::new();
    for params in kinds(trees, 7, 3) {
        let forest = grow(&values, n, d, &params);
        let routed = forest.route(&unseen).unwrap();
        let merged = forest.leaves_at(25).unwrap();
        let adapted = merged.adapt(routed.clone());
        all.push((forest.leaves(), routed));
        all.push((merged, adapted));
    }
    all
}

fn assert_sparse(found: &SparseKernel, counts: &[Vec<usize>], threshold: f64, trees: usize) {
    assert_eq!((found.rows, found.columns, found.trees), (counts.len(), counts[0].len(), trees));
    assert_eq!(found.pairs(), found.starts[found.rows]);
    for (i, counts) in counts.iter().enumerate() {
        let expected: Vec<(u32, u16)> = counts
            .iter()
            .enumerate()
            .filter(|&(_, &c)| c > 0 && c as f64 / trees as f64 >= threshold)
            .map(|(j, &c)| (j as u32, c as u16))
            .collect();
        let (indices, kept) = found.row(i);
        let row: Vec<(u32, u16)> = indices.iter().copied().zip(kept.iter().copied()).collect();
        assert_eq!(row, expected, "row {i}, threshold {threshold}, {trees} trees");
    }
}

#[test]
fn at_least_equals_counting_with_the_higher_threshold() {
    for (leaves, _) in cases(11).into_iter().take(2) {
        let all = leaves.sparse(0.0, &Silent).unwrap();
        for threshold in THRESHOLDS {
            assert_eq!(
                all.at_least(threshold).unwrap(),
                leaves.sparse(threshold, &Silent).unwrap(),
                "{threshold}"
            );
        }
        assert!(all.at_least(1.5).is_err());
    }
}

#[test]
fn pair_row_dense_and_feature_map_agree_with_counting() {
    for (leaves, unseen) in cases(11) {
        let (n, trees) = (leaves.n(), leaves.trees() as f64);
        let counts = brute_counts(leaves.leaf_ids(), leaves.leaf_ids());
        let dense = leaves.dense();
        let features = leaves.features(leaves.leaf_ids());
        assert_eq!((features.n, features.columns), (n, leaves.columns()));
        for i in 0..n {
            assert_eq!(leaves.row(i), dense[i * n..(i + 1) * n]);
            let own = &features.indices[i * 11..(i + 1) * 11];
            assert!(own.windows(2).all(|w| w[0] < w[1]) && own[10] < features.columns as u64);
            for j in 0..n {
                assert_eq!(dense[i * n + j], counts[i][j] as f64 / trees);
                assert_eq!(leaves.pair(i, j), dense[i * n + j]);
                let other = &features.indices[j * 11..(j + 1) * 11];
                let shared = own.iter().zip(other).filter(|(a, b)| a == b).count();
                let product = shared as f64 * features.value * features.value;
                assert!((product - dense[i * n + j]).abs() < 1e-14);
            }
        }
        let counts = brute_counts(&unseen, leaves.leaf_ids());
        let dense = leaves.dense_of(&unseen);
        let theirs = leaves.features(&unseen);
        for i in 0..unseen.n() {
            assert_eq!(leaves.row_of(&unseen, i), dense[i * n..(i + 1) * n]);
            for j in 0..n {
                assert_eq!(dense[i * n + j], counts[i][j] as f64 / trees);
                assert_eq!(unseen.shared(i, leaves.leaf_ids(), j), counts[i][j]);
                let columns = &features.indices[j * 11..(j + 1) * 11];
                let own = &theirs.indices[i * 11..(i + 1) * 11];
                assert_eq!(own.iter().filter(|c| columns.contains(c)).count(), counts[i][j]);
            }
        }
    }
}

#[test]
fn factored_products_equal_those_of_the_dense_matrix() {
    // 11 trees are more than one group of 8; 20 vectors are more than one block of 16.
    for (leaves, unseen) in cases(11) {
        let n = leaves.n();
        let (dense, dense_of) = (leaves.dense(), leaves.dense_of(&unseen));
        let compare = |dense: &[f64], x: &[f64], y: &[f64], b: usize| {
            for (row, y) in dense.chunks_exact(n).zip(y.chunks_exact(b)) {
                for (c, &found) in y.iter().enumerate() {
                    let expected: f64 = (0..n).map(|j| row[j] * x[j * b + c]).sum();
                    // n terms of at most 1: rounding below n · eps · sum|x|.
                    assert!((found - expected).abs() < 1e-11, "b {b}: {found} against {expected}");
                }
            }
        };
        for b in 1..=20 {
            let x = normals(n, b, b as u64);
            let mut y = vec![f64::NAN; n * b];
            leaves.apply(&x, &mut y, b, &Silent).unwrap();
            compare(&dense, &x, &y, b);
            let mut y = vec![f64::NAN; unseen.n() * b];
            leaves.apply_to(&unseen, &x, &mut y, b, &Silent).unwrap();
            compare(&dense_of, &x, &y, b);
        }
        leaves.apply(&[], &mut [], 0, &Silent).unwrap();
        for (row, degree) in dense.chunks_exact(n).zip(leaves.degrees(&Silent).unwrap()) {
            assert!((row.iter().sum::<f64>() - degree).abs() < 1e-11);
        }
        // Integer vectors: exact up to the one division.
        let ones = vec![1.0; n];
        let mut y = vec![0.0; n];
        leaves.apply(&ones, &mut y, 1, &Silent).unwrap();
        assert_eq!(y, leaves.degrees(&Silent).unwrap());
    }
}

#[test]
fn products_of_several_row_tasks_equal_those_of_kernel_rows() {
    let (n, d) = (20_000, 3);
    let values = normals(n, d, 3);
    let leaves = grow(&values, n, d, &ForestParams { trees: 9, min_node: 40, ..Default::default() }).leaves();
    let x = normals(n, 2, 4);
    let mut y = vec![0.0; n * 2];
    leaves.apply(&x, &mut y, 2, &Silent).unwrap();
    let degrees = leaves.degrees(&Silent).unwrap();
    for i in (0..n).step_by(997).chain([8191, 8192, 16_383, 16_384, n - 1]) {
        let row = leaves.row(i);
        assert!((row.iter().sum::<f64>() - degrees[i]).abs() < 1e-9);
        for c in 0..2 {
            let expected: f64 = row.iter().zip(x.chunks_exact(2)).map(|(s, x)| s * x[c]).sum();
            assert!((y[i * 2 + c] - expected).abs() < 1e-9);
        }
    }
    let mean: f64 = degrees.iter().sum::<f64>() / n as f64;
    assert!((leaves.mean_leaf() - mean).abs() < 1e-9 * mean);
}

#[test]
fn sparse_kernel_holds_every_pair_of_at_least_the_threshold() {
    // 7, 10 and 11 trees: 0.1 · 10, 0.3 · 10 and 0.7 · 10 are not integers in binary.
    for trees in [1, 7, 10, 11] {
        for threshold in THRESHOLDS {
            // New matrices for each threshold: the first count must not find leaf ids computed before.
            for (leaves, unseen) in cases(trees).into_iter().step_by(3) {
                let from_lists = leaves.sparse(threshold, &Silent).unwrap();
                let counts = brute_counts(leaves.leaf_ids(), leaves.leaf_ids());
                assert_sparse(&from_lists, &counts, threshold, trees);
                assert_eq!(leaves.sparse(threshold, &Silent).unwrap(), from_lists);
                let counts = brute_counts(&unseen, leaves.leaf_ids());
                let found = leaves.sparse_of(&unseen, threshold, &Silent).unwrap();
                assert_sparse(&found, &counts, threshold, trees);
            }
        }
    }
}

#[test]
fn every_multiple_of_one_over_t_is_an_exact_threshold() {
    // Counts of all sizes. beta1 = c / T keeps count c and not c - 1.
    let values = normals(60, 1, 8);
    for trees in [3, 10, 49, 100, 200, 333] {
        let leaves =
            grow(&values, 60, 1, &ForestParams { trees, min_node: 8, ..Default::default() }).leaves();
        for c in 1..=trees {
            let kept = leaves.sparse(c as f64 / trees as f64, &Silent).unwrap();
            assert!(kept.counts.iter().all(|&count| usize::from(count) >= c));
            let all = leaves.sparse(0.0, &Silent).unwrap();
            assert_eq!(kept.pairs(), all.counts.iter().filter(|&&count| usize::from(count) >= c).count());
        }
    }
}

#[test]
fn thresholds_outside_zero_to_one_and_zero_neighbors_are_refused() {
    let leaves = grow(&normals(20, 2, 1), 20, 2, &ForestParams { trees: 3, ..Default::default() }).leaves();
    for threshold in [-0.1, 1.0000001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let message = leaves.sparse(threshold, &Silent).unwrap_err().to_string();
        assert!(message.contains("beta1") && message.contains("from 0 to 1"), "{message}");
        assert!(leaves.sparse_of(leaves.leaf_ids(), threshold, &Silent).is_err());
    }
    assert!(leaves.top_k(0, &Silent).is_err());
    assert!(leaves.top_k_of(leaves.leaf_ids(), 0, &Silent).is_err());
}

#[test]
fn top_k_equals_the_first_k_of_the_sorted_row() {
    // Few trees and equal rows: many ties, resolved by the lowest index.
    for trees in [1, 2, 5, 11] {
        for (leaves, unseen) in cases(trees).into_iter().step_by(3) {
            let n = leaves.n();
            for k in [1, 2, 5, 20, n - 1, n, n + 10] {
                let found = leaves.top_k(k, &Silent).unwrap();
                let counts = brute_counts(leaves.leaf_ids(), leaves.leaf_ids());
                assert_eq!((found.n(), found.trees()), (n, trees));
                for (i, counts) in counts.iter().enumerate() {
                    let row: Vec<_> =
                        std::iter::zip(found.row(i).0.to_vec(), found.row(i).1.to_vec()).collect();
                    assert_eq!(row, brute_top(counts, Some(i), k), "row {i}, k {k}, {trees} trees");
                }
                let found = leaves.top_k_of(&unseen, k, &Silent).unwrap();
                for (i, counts) in brute_counts(&unseen, leaves.leaf_ids()).iter().enumerate() {
                    let row: Vec<_> =
                        std::iter::zip(found.row(i).0.to_vec(), found.row(i).1.to_vec()).collect();
                    assert_eq!(row, brute_top(counts, None, k), "unseen row {i}, k {k}, {trees} trees");
                }
            }
        }
    }
}

#[test]
fn counting_in_windows_equals_counting_all_rows() {
    // Above 65,536 rows leaf ids are computed window by window unless the matrix holds them.
    for n in [65_536, 70_000, 140_001] {
        let values = normals(n, 2, 9);
        let forest = grow(&values, n, 2, &ForestParams { trees: 5, min_node: 12, ..Default::default() });
        let (windowed, whole) = (forest.leaves(), forest.leaves());
        whole.leaf_ids();
        assert_eq!(windowed.sparse(0.4, &Silent).unwrap(), whole.sparse(0.4, &Silent).unwrap());
        let top = windowed.top_k(4, &Silent).unwrap();
        assert_eq!(top, whole.top_k(4, &Silent).unwrap());
        // Some rows by brute force, the last one included.
        for i in (0..n).step_by(n / 40).chain([n - 1]) {
            let counts: Vec<usize> = whole.row(i).iter().map(|s| (s * 5.0).round() as usize).collect();
            let row: Vec<_> = std::iter::zip(top.row(i).0.to_vec(), top.row(i).1.to_vec()).collect();
            assert_eq!(row, brute_top(&counts, Some(i), 4));
        }
    }
}

#[test]
fn training_rows_are_routed_to_their_own_leaves() {
    for d in [1, 4, 11, 16, 40] {
        for values in [normals(300, d, d as u64), integers(300, d, 4, d as u64)] {
            let narrow = to_f32(&values);
            for params in kinds(6, 5, d as u64) {
                let points = Points::new(&values, 300, d).unwrap();
                let forest = Forest::grow(&points, &params).unwrap();
                assert_eq!(
                    &forest.route(&points).unwrap(),
                    forest.leaves().leaf_ids(),
                    "f64, d {d}, {params:?}"
                );
                let csr = Csr::of(&values, 300, d);
                assert_eq!(&forest.route(&csr.points()).unwrap(), forest.leaves().leaf_ids());
                let points = Points::new(&narrow, 300, d).unwrap();
                let forest = Forest::grow(&points, &params).unwrap();
                assert_eq!(
                    &forest.route(&points).unwrap(),
                    forest.leaves().leaf_ids(),
                    "f32, d {d}, {params:?}"
                );
                // The f64 rows round to the f32 rows the forest was grown on.
                let wide = Points::new(&values, 300, d).unwrap();
                assert_eq!(&forest.route(&wide).unwrap(), forest.leaves().leaf_ids());
                // A single row is routed as in the batch.
                for i in [0, 17, 299] {
                    let row = Points::new(&narrow[i * d..(i + 1) * d], 1, d).unwrap();
                    let alone = forest.route(&row).unwrap();
                    assert!((0..6).all(|t| alone.get(0, t) == forest.leaves().leaf_ids().get(i, t)));
                }
            }
        }
    }
}

#[test]
fn rows_with_another_number_of_columns_or_beyond_f32_are_refused() {
    let forest = grow(&normals(50, 4, 1), 50, 4, &ForestParams { trees: 2, ..Default::default() });
    let other = normals(50, 3, 1);
    let message = forest.route(&Points::new(&other, 50, 3).unwrap()).unwrap_err().to_string();
    assert_eq!(message, "the data has 3 columns, but the model was fitted on 4");
    // A value beyond the range of f32.
    let forest = grow(&to_f32(&normals(50, 4, 1)), 50, 4, &ForestParams { trees: 2, ..Default::default() });
    let huge = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e300, 0.0];
    let message = forest.route(&Points::new(&huge, 2, 4).unwrap()).unwrap_err().to_string();
    assert!(message.starts_with("row 2, column 3 is inf"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn kernel_is_symmetric_positive_semidefinite_with_unit_diagonal(
        (n, d, seed) in (1usize..40, 1usize..8, any::<u64>()),
        distinct in prop_oneof![Just(0u64), 2u64..4],
        (trees, min_node) in (1usize..30, 2usize..12),
        kind in 0usize..8,
    ) {
        let values = if distinct == 0 { normals(n, d, seed) } else { integers(n, d, distinct, seed) };
        let params = kinds(trees, min_node, seed).swap_remove(kind);
        let leaves = grow(&values, n, d, &params).leaves();
        let s = leaves.dense();
        for i in 0..n {
            prop_assert_eq!(s[i * n + i], 1.0);
            for j in 0..n {
                let value = s[i * n + j];
                prop_assert_eq!(value, s[j * n + i]);
                prop_assert!((0.0..=1.0).contains(&value));
                let count = (value * trees as f64).round();
                prop_assert_eq!(value, count / trees as f64);
                if values[i * d..(i + 1) * d] == values[j * d..(j + 1) * d] {
                    prop_assert_eq!(value, 1.0);
                }
            }
        }
        // All pivots of S + 1e-9 I are positive: no eigenvalue of S is below -1e-9 (Sylvester's law of inertia).
        let mut rest = s.clone();
        (0..n).for_each(|i| rest[i * n + i] += 1e-9);
        for k in 0..n {
            let pivot = rest[k * n + k];
            prop_assert!(pivot > 0.0, "pivot {pivot} of row {k}");
            for i in k + 1..n {
                let factor = rest[i * n + k] / pivot;
                (k..n).for_each(|j| rest[i * n + j] -= factor * rest[k * n + j]);
            }
        }
    }
}
