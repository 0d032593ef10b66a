//! Degenerate data: one row, equal rows, values at the limits of the floating-point range, trees deeper than 64 levels.
//! Nothing panics or hangs, and equal rows share every leaf.
#![allow(clippy::unwrap_used)]

mod common;

use common::{grow, integers, kinds, normals, to_f32};
use rpfcluster::{ForestParams, Points, Real, Silent};

/// Grows every kind of forest and asserts what holds for any data.
fn check_invariants<R: Real>(values: &[R], n: usize, d: usize, min_node: usize) {
    for params in kinds(4, min_node, 9) {
        let forest = grow(values, n, d, &params);
        forest.check(&Silent).unwrap();
        let leaves = forest.leaves();
        assert_eq!(
            &forest.route(&Points::new(values, n, d).unwrap()).unwrap(),
            leaves.leaf_ids(),
            "{params:?}"
        );
        for t in 0..4 {
            let count = leaves.first_column(t + 1) - leaves.first_column(t);
            let mut all: Vec<u32> = (0..count).flat_map(|l| leaves.members(t, l as u32).to_vec()).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..n as u32));
        }
        let rows: Vec<&[R]> = values.chunks_exact(d).collect();
        for i in 0..n.min(50) {
            for j in 0..n.min(50) {
                if rows[i] == rows[j] {
                    assert_eq!(leaves.pair(i, j), 1.0, "equal rows {i} and {j}, {params:?}");
                }
            }
        }
        assert_eq!(leaves.sparse(1.0, &Silent).unwrap().rows, n);
        assert_eq!(leaves.top_k(3, &Silent).unwrap().n(), n);
        leaves.top_k_of(leaves.leaf_ids(), 3, &Silent).unwrap();
    }
}

/// The number of leaves per tree.
fn leaf_count<R: Real>(values: &[R], n: usize, d: usize, params: &ForestParams) -> usize {
    grow(values, n, d, params).leaves().columns() / params.trees
}

#[test]
fn one_row_is_one_leaf() {
    check_invariants(&[3.0, -1.0], 1, 2, 2);
    let leaves = grow(&[1.0f32], 1, 1, &ForestParams { trees: 3, ..Default::default() }).leaves();
    assert_eq!((leaves.columns(), leaves.dense()), (3, vec![1.0]));
    assert_eq!(leaves.top_k(5, &Silent).unwrap().row(0).0, [0u32; 0]);
    assert_eq!(leaves.sparse(1.0, &Silent).unwrap().row(0), (&[0u32][..], &[3u16][..]));
    assert_eq!(leaves.degrees(&Silent).unwrap(), [1.0]);
}

#[test]
fn two_rows_are_separated_only_at_min_node_two() {
    for params in kinds(5, 2, 1) {
        for values in [[0.0, 1.0], [1e300, -1e300], [5e-324, 0.0], [f64::MAX, f64::MIN]] {
            assert_eq!(leaf_count(&values, 2, 1, &params), 2, "{values:?}, {params:?}");
            assert_eq!(leaf_count(&values, 2, 1, &ForestParams { min_node: 3, ..params.clone() }), 1);
        }
        for values in [[0.0f32, 1.0], [1e38, -1e38], [1e-45, 0.0], [f32::MAX, f32::MIN]] {
            assert_eq!(leaf_count(&values, 2, 1, &params), 2, "{values:?}, {params:?}");
        }
    }
}

#[test]
fn fewer_rows_than_min_node_are_one_leaf() {
    let values = normals(29, 4, 1);
    let leaves = grow(&values, 29, 4, &ForestParams { trees: 7, ..Default::default() }).leaves();
    assert_eq!(leaves.columns(), 7);
    assert!(leaves.dense().iter().all(|&s| s == 1.0));
    // 30 rows are not fewer than 30.
    let values = normals(30, 4, 1);
    let leaves = grow(&values, 30, 4, &ForestParams { trees: 7, ..Default::default() }).leaves();
    assert_eq!(leaves.columns(), 14);
}

#[test]
fn equal_rows_are_one_leaf() {
    for d in [1, 3, 16, 19] {
        for value in [0.0, 0.1, -7.25, 1e300, 1e-300, f64::MAX] {
            let values = vec![value; 100 * d];
            check_invariants(&values, 100, d, 2);
            for params in kinds(3, 2, 4) {
                assert_eq!(leaf_count(&values, 100, d, &params), 1);
            }
        }
    }
}

#[test]
fn one_varying_column_among_constant_ones_separates_rows() {
    // One of 30 columns varies. A Gaussian direction contains it; sparse directions with 6 of 30 columns all miss it in
    // four draws with probability 0.8^4 = 0.41, and the node becomes a leaf.
    let (n, d) = (200, 30);
    let mut values = vec![0.3; n * d];
    for (i, row) in values.chunks_exact_mut(d).enumerate() {
        row[17] = i as f64;
    }
    check_invariants(&values, n, d, 5);
    check_invariants(&to_f32(&values), n, d, 5);
    let params = ForestParams { trees: 10, min_node: 2, ..Default::default() };
    assert_eq!(leaf_count(&values, n, d, &params), n);
}

#[test]
fn scaling_by_a_power_of_two_changes_no_leaf() {
    let base = normals(150, 3, 2);
    let plain = grow(&base, 150, 3, &ForestParams { trees: 4, min_node: 4, ..Default::default() });
    for exponent in [1020, 900, 60, -60, -900, -1000] {
        let scaled: Vec<f64> = base.iter().map(|v| v * 2f64.powi(exponent)).collect();
        check_invariants(&scaled, 150, 3, 4);
        let forest = grow(&scaled, 150, 3, &ForestParams { trees: 4, min_node: 4, ..Default::default() });
        assert_eq!(forest.leaves().leaf_ids(), plain.leaves().leaf_ids(), "2^{exponent}");
    }
    let narrow = to_f32(&base);
    for factor in [1e37f32, 1e30, 1e-30, 1e-37] {
        let scaled: Vec<f32> = narrow.iter().map(|v| v * factor).collect();
        check_invariants(&scaled, 150, 3, 4);
        // Nearly all rows are still separated.
        let params = ForestParams { trees: 4, min_node: 2, ..Default::default() };
        assert!(leaf_count(&scaled, 150, 3, &params) > 145, "{factor}");
    }
}

#[test]
fn invariants_hold_on_columns_of_very_different_scale() {
    let (n, d) = (120, 4);
    let scales = [1e300, 1.0, 1e-300, f64::MIN_POSITIVE];
    let mut values = normals(n, d, 3);
    values.chunks_exact_mut(d).for_each(|row| row.iter_mut().zip(scales).for_each(|(v, s)| *v *= s));
    check_invariants(&values, n, d, 3);
    let scales = [1e38f32 / 5.0, 1.0, 1e-38, 1e-44];
    let mut values = to_f32(&normals(n, d, 3));
    values.chunks_exact_mut(d).for_each(|row| row.iter_mut().zip(scales).for_each(|(v, s)| *v *= s));
    check_invariants(&values, n, d, 3);
    let extremes = [f64::MAX, f64::MIN, 0.0, -0.0, 5e-324, -5e-324, 1.0, 1e300, f64::MIN_POSITIVE];
    let values: Vec<f64> = (0..400).map(|i| extremes[(i * i + i / 7) % extremes.len()]).collect();
    for d in [1, 2, 5, 20] {
        check_invariants(&values, 400 / d, d, 2);
    }
    let extremes = [f32::MAX, f32::MIN, 0.0, -0.0, 1e-45, -1e-45, 1.0, 1e30, f32::MIN_POSITIVE];
    let values: Vec<f32> = (0..400).map(|i| extremes[(i * i + i / 7) % extremes.len()]).collect();
    for d in [1, 2, 5, 20] {
        check_invariants(&values, 400 / d, d, 2);
    }
}

#[test]
fn ten_thousand_copies_of_a_row_share_every_leaf() {
    for d in [2, 20] {
        let n = 10_005;
        let mut values = vec![0.7; n * d];
        let others = normals(5, d, 1);
        // The other rows are spread among the copies.
        for (i, other) in others.chunks_exact(d).enumerate() {
            values[i * 2000 * d..(i * 2000 + 1) * d].copy_from_slice(other);
        }
        for params in kinds(6, 2, 2) {
            let leaves = grow(&values, n, d, &params).leaves();
            let kernel = leaves.row(1);
            let copies = kernel.iter().filter(|&&s| s == 1.0).count();
            assert_eq!(copies, 10_000, "{params:?}");
            let least = kernel.iter().cloned().fold(1.0, f64::min);
            assert!(least < 1.0);
        }
    }
}

#[test]
fn outlier_shares_no_leaf() {
    let (n, d) = (300, 3);
    let mut values = normals(n, d, 5);
    values[..d].fill(1e9);
    check_invariants(&values, n, d, 10);
    // All but 1 in 10^8 uniform cuts fall between the outlier and the rest.
    let leaves =
        grow(&values, n, d, &ForestParams { trees: 20, min_node: 10, ..Default::default() }).leaves();
    assert!((1..n).all(|j| leaves.pair(0, j) == 0.0));
    // The other rows are still separated.
    assert!(leaves.columns() / 20 > 30);
}

#[test]
fn minus_zero_and_zero_share_every_leaf() {
    let (n, d) = (60, 3);
    for d in [d, 18] {
        let mut values = integers(n, d, 3, 1);
        // Row i + 30 is row i with the signs of its zeros inverted.
        for at in 0..30 * d {
            values[at + 30 * d] = if values[at] == 0.0 { -0.0 } else { values[at] };
        }
        let narrow = to_f32(&values);
        for params in kinds(8, 2, 3) {
            let (wide, narrow) =
                (grow(&values, n, d, &params).leaves(), grow(&narrow, n, d, &params).leaves());
            assert!((0..30).all(|i| wide.pair(i, i + 30) == 1.0 && narrow.pair(i, i + 30) == 1.0));
        }
    }
}

#[test]
fn invariants_hold_on_integer_data() {
    check_invariants(&integers(400, 6, 5, 2), 400, 6, 8);
    check_invariants(&to_f32(&integers(400, 17, 2, 2)), 400, 17, 8);
    let wide: Vec<f64> = (0..300).map(|i| f64::from(i * i * i)).collect();
    check_invariants(&wide, 300, 1, 2);
}

#[test]
fn invariants_hold_on_two_thousand_columns() {
    let (n, d) = (60, 2000);
    check_invariants(&normals(n, d, 1), n, d, 5);
    check_invariants(&to_f32(&normals(n, d, 1)), n, d, 5);
}

#[test]
fn trees_may_be_deeper_than_sixty_four_levels() {
    // Rows at 2^0 to 2^999: a uniform cut separates one or two of the largest.
    let values: Vec<f64> = (0..1000).map(|i| 2f64.powi(i)).collect();
    check_invariants(&values, 1000, 1, 2);
    let params = ForestParams { trees: 10, min_node: 2, ..Default::default() };
    let forest = grow(&values, 1000, 1, &params);
    assert!(forest.depths().iter().all(|&depth| depth > 300), "{:?}", forest.depths());
    assert_eq!(forest.leaves().columns(), 10_000);
    let bytes = forest.to_bytes().unwrap();
    assert_eq!(rpfcluster::Forest::from_bytes(&bytes).unwrap(), forest);
    // Merged leaves of a deep tree.
    let fresh = grow(&values, 1000, 1, &ForestParams { min_node: 40, ..params });
    assert_eq!(forest.leaves_at(40).unwrap().leaf_ids(), fresh.leaves().leaf_ids());
}

#[test]
fn rows_far_outside_the_training_range_are_routed_alone_as_among_others() {
    fn check<R: Real>(mut rows: Vec<R>, far: [R; 8], params: &ForestParams) {
        let (n, d) = (rows.len() / 4, 4);
        let forest = grow(&rows, n, d, params);
        rows.extend(far);
        let together = forest.route(&Points::new(&rows, n + 2, d).unwrap()).unwrap();
        for i in n..n + 2 {
            let alone = forest.route(&Points::new(&rows[i * d..][..d], 1, d).unwrap()).unwrap();
            for t in 0..params.trees {
                assert_eq!(alone.get(0, t), together.get(i, t), "row {i}, tree {t}, {params:?}");
            }
        }
    }
    let values = normals(200, 4, 1);
    for params in kinds(5, 5, 1) {
        let far = [f64::MAX, f64::MIN, -0.0, 5e-324, 1e300, f64::MAX, f64::MAX, f64::MIN];
        check(values.clone(), far, &params);
        let far = [f32::MAX, f32::MIN, -0.0, 1e-45, 1e30, f32::MAX, f32::MAX, f32::MIN];
        check(to_f32(&values), far, &params);
    }
}
