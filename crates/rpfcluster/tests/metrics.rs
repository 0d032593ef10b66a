//! Scores against hand-computed values and brute force, and on sizes that could overflow.

use proptest::prelude::*;
use rpfcluster::Error;
use rpfcluster::metrics::{Contingency, Scores, assign_max, best_matching, cluster_sizes};
use rpfcluster::random::{Purpose, Stream};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn rho_r_of_the_papers_gaussian_iris_is_the_rand_index() {
    let table = Contingency::from_counts(&[50, 0, 0, 0, 48, 2, 0, 10, 40], 3).unwrap();
    let s = Scores::of(&table).unwrap();
    assert!(close(s.rho_c, 92.0));
    // 11175 pairs; together in both 1225 + 1128 + 1 + 45 + 780 = 3179, in clusters 3675, in classes
    // 1225 + 1653 + 861 = 3739: agreements 11175 + 2·3179 - 3675 - 3739 = 10119.
    assert!(close(s.rho_r, 100.0 * 10119.0 / 11175.0));
    assert_eq!(format!("{:.2}", s.rho_r), "90.55");
    let expected = 3675.0 * 3739.0 / 11175.0;
    assert!(close(s.ari, (3179.0 - expected) / (3707.0 - expected)));
    assert!(close(s.majority, 100.0 * 58.0 / 150.0));
}

#[test]
fn scores_of_small_tables_equal_hand_computation() {
    let same = Scores::new(&[5, 5, 9, 9], &[1, 1, 0, 0]).unwrap();
    assert!(
        close(same.rho_c, 100.0) && close(same.rho_r, 100.0) && close(same.ari, 1.0) && close(same.nmi, 1.0)
    );
    // Independent halves: no information, ARI below zero.
    let none = Scores::new(&[0, 0, 1, 1], &[0, 1, 0, 1]).unwrap();
    assert!(
        close(none.rho_c, 50.0)
            && close(none.rho_r, 100.0 / 3.0)
            && close(none.ari, -0.5)
            && close(none.nmi, 0.0)
    );
    // {2 | 1,1}: mutual information ln 2, entropies ln 2 and 1.5 ln 2.
    let finer = Scores::new(&[0, 0, 1, 1], &[0, 0, 1, 2]).unwrap();
    assert!(close(finer.nmi, 1.0 / 1.25) && close(finer.rho_c, 75.0));
    let one = Scores::new(&[3], &[8]).unwrap();
    assert!(close(one.rho_c, 100.0) && close(one.ari, 1.0) && close(one.nmi, 1.0) && close(one.rho_r, 100.0));
    assert!(matches!(Scores::new(&[1], &[1, 2]), Err(Error::Length { .. })));
    assert!(matches!(Scores::new(&[], &[]), Err(Error::Empty { .. })));
}

#[test]
fn scores_of_ten_million_rows_do_not_overflow() {
    let n = 10_000_000u32;
    let labels: Vec<u32> = (0..n).map(|i| i % 10).collect();
    let classes: Vec<u32> = (0..n).map(|i| if i % 1000 == 0 { (i + 1) % 10 } else { i % 10 }).collect();
    let s = Scores::new(&labels, &classes).unwrap();
    assert!(close(s.rho_c, 99.9) && s.ari > 0.99 && s.ari < 1.0);
    let single = Scores::new(&vec![0; n as usize], &labels).unwrap();
    assert!(close(single.rho_c, 10.0) && close(single.ari, 0.0) && close(single.nmi, 0.0));
}

#[test]
fn large_label_values_are_counted_and_too_many_are_refused() {
    let mut s = Stream::new(1, Purpose::Shapes, 0, 0);
    let a: Vec<u32> = (0..5000).map(|_| s.bits() as u32 & !3).collect();
    let t = Contingency::new(&a, &a).unwrap();
    assert_eq!(t.n(), 5000);
    assert!(close(Scores::of(&t).unwrap().ari, 1.0));
    let many: Vec<u32> = (0..100_000).collect();
    assert!(matches!(Scores::new(&many, &many), Err(Error::Memory { .. })));
}

#[test]
fn tables_hold_their_cells_and_margins_in_order() {
    // Labels above and below the length of the lookup array, named by first appearance.
    for far in [7, 1 << 22, u32::MAX] {
        let table = Contingency::new(&[far, 2, far, 2, 2], &[4, far, 4, 4, far]).unwrap();
        assert_eq!(table.cells(), [(0, 0, 2), (1, 0, 1), (1, 1, 2)]);
        assert_eq!((table.row_sums(), table.column_sums()), (&[2, 3][..], &[3, 2][..]));
        assert_eq!(table, Contingency::from_counts(&[2, 0, 1, 2], 2).unwrap());
    }
    // More cells than are counted densely.
    let labels: Vec<u32> = (0..3000).rev().collect();
    let table = Contingency::new(&labels, &labels).unwrap();
    assert!(table.cells().iter().zip(0..).all(|(cell, i)| *cell == (i, i, 1)));
}

#[test]
fn clusters_and_classes_without_rows_change_no_score() {
    let without = Scores::of(&Contingency::from_counts(&[30, 5, 2, 20], 2).unwrap()).unwrap();
    let with = Scores::of(&Contingency::from_counts(&[30, 0, 5, 0, 0, 0, 2, 0, 20], 3).unwrap()).unwrap();
    assert_eq!(with, without);
}

#[test]
fn wrong_shapes_and_tables_that_are_too_large_are_refused() {
    let counts = Contingency::from_counts;
    assert_eq!(counts(&[1, 2, 3], 2).unwrap_err(), Error::Shape { len: 3, n: 1, d: 2 });
    assert_eq!(counts(&[1, 2, 3], 0).unwrap_err(), Error::Shape { len: 3, n: 0, d: 0 });
    assert_eq!(counts(&[0, 0], 2).unwrap_err(), Error::Empty { n: 0, d: 2 });
    assert_eq!(assign_max(&[1, 2, 3], 2, 2).unwrap_err(), Error::Shape { len: 3, n: 2, d: 2 });
    let labels: Vec<u32> = (0..10_000).collect();
    let error = best_matching(&Contingency::new(&labels, &labels).unwrap()).unwrap_err();
    let Error::Memory { needed, limit, .. } = &error else { panic!("{error}") };
    assert_eq!((*needed, *limit), (800_000_000, 512 << 20));
    assert!(error.to_string().contains("10000 clusters and 10000 classes"), "{error}");
}

#[test]
fn sizes_count_the_labels_below_k() {
    assert_eq!(cluster_sizes(&[1, 0, 1, 3, 2, 1], 3), [1, 3, 1]);
    assert_eq!(cluster_sizes(&[], 2), [0, 0]);
}

/// The best sum over all ways to match.
fn brute(values: &[i64], rows: usize, columns: usize, row: usize, used: &mut Vec<bool>, left: usize) -> i64 {
    if row == rows {
        return 0;
    }
    let mut best = i64::MIN;
    if rows - row > left {
        best = brute(values, rows, columns, row + 1, used, left);
    }
    for c in 0..columns {
        if !used[c] {
            used[c] = true;
            let rest = brute(values, rows, columns, row + 1, used, left - 1);
            best = best.max(values[row * columns + c].saturating_add(rest));
            used[c] = false;
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn hungarian_equals_brute_force(rows in 1..6usize, columns in 1..6usize, seed in any::<u64>()) {
        let mut s = Stream::new(seed, Purpose::Shapes, 0, 0);
        let values: Vec<i64> = (0..rows * columns).map(|_| s.below(20) as i64 - 5).collect();
        let found = assign_max(&values, rows, columns).unwrap();
        let mut taken: Vec<usize> = found.iter().flatten().copied().collect();
        prop_assert_eq!(taken.len(), rows.min(columns));
        taken.sort_unstable();
        taken.dedup();
        prop_assert_eq!(taken.len(), rows.min(columns));
        let sum: i64 = found.iter().enumerate().filter_map(|(i, j)| j.map(|j| values[i * columns + j])).sum();
        prop_assert_eq!(sum, brute(&values, rows, columns, 0, &mut vec![false; columns], columns));
    }

    #[test]
    fn rand_and_ari_equal_pair_counting(
        pairs in prop::collection::vec((0..5u32, 0..4u32), 2..60)
    ) {
        let (a, b): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        let s = Scores::new(&a, &b).unwrap();
        let (mut both, mut in_a, mut in_b, mut all, mut agree) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for i in 0..a.len() {
            for j in 0..i {
                let (x, y) = (a[i] == a[j], b[i] == b[j]);
                all += 1.0;
                if x == y { agree += 1.0 }
                if x { in_a += 1.0 }
                if y { in_b += 1.0 }
                if x && y { both += 1.0 }
            }
        }
        prop_assert!(close(s.rho_r, 100.0 * agree / all));
        let expected = in_a * in_b / all;
        let most = (in_a + in_b) / 2.0;
        let ari = if most == expected { 1.0 } else { (both - expected) / (most - expected) };
        prop_assert!(close(s.ari, ari));
        let (swapped, n) = (Scores::new(&b, &a).unwrap(), a.len() as f64);
        prop_assert!(close(s.nmi, swapped.nmi) && close(s.rho_c, swapped.rho_c) && s.rho_c >= 100.0 / n - 1e-9);
    }
}
