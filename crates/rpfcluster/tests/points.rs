//! Input validation: shapes, non-finite values and CSR arrays.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use rpfcluster::{Error, Forest, ForestParams, Points};

#[test]
fn wrong_shapes_are_refused() {
    let message = Points::new(&[1.0, 2.0, 3.0], 2, 2).unwrap_err();
    assert_eq!(message, Error::Shape { len: 3, n: 2, d: 2 });
    assert_eq!(message.to_string(), "3 values do not make 2 rows of 2 columns");
    for (n, d) in [(0, 0), (0, 3), (3, 0)] {
        assert_eq!(Points::<f64>::new(&[], n, d).unwrap_err(), Error::Empty { n, d });
        assert_eq!(Points::<f32>::sparse(&[0], &[], &[], n, d).unwrap_err(), Error::Empty { n, d });
    }
    // n * d does not fit a machine word.
    assert!(Points::new(&[1.0f32; 4], 1 << 31, 1 << 60).is_err());
    assert!(matches!(Points::new(&[1.0f32; 4], usize::MAX, 1), Err(Error::TooManyRows { .. })));
}

#[test]
fn non_finite_values_are_reported_by_row_and_column() {
    // Positions around the boundaries of the blocks of 4,096 values that are checked at once.
    for (n, d) in [(1, 1), (7, 3), (3000, 5)] {
        for at in [0, 1, d, n * d / 2, 4095, 4096, 4097, n * d - 1] {
            if at >= n * d {
                continue;
            }
            for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut values = vec![1.5; n * d];
                values[at] = wrong;
                // A later one does not hide the first.
                values[n * d - 1] = wrong;
                let place = (at / d + 1, at % d + 1);
                for result in [
                    Points::new(&values, n, d).map(|_| ()),
                    Points::new(&values.iter().map(|&v| v as f32).collect::<Vec<_>>(), n, d).map(|_| ()),
                ] {
                    match result.unwrap_err() {
                        Error::NotFinite { row, column, value } => {
                            assert_eq!((row, column), place);
                            assert!(value == wrong || value.is_nan() && wrong.is_nan());
                        }
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
    }
    let message = Points::new(&[1.0, f64::NAN, 1.0, 1.0], 2, 2).unwrap_err().to_string();
    assert_eq!(message, "row 1, column 2 is NaN; every value must be finite");
    // Infinities of both signs do not cancel.
    assert!(Points::new(&[f64::INFINITY, f64::NEG_INFINITY], 1, 2).is_err());
    // The largest finite numbers are finite.
    assert!(Points::new(&[f64::MAX, f64::MIN, 5e-324, -0.0], 2, 2).is_ok());
}

#[test]
fn non_finite_sparse_values_are_reported_by_row_and_column() {
    // Rows 1 and 3 are empty; row 2 holds columns 2 and 5, row 4 column 1.
    let (starts, columns) = ([0, 0, 2, 2, 3], [1, 4, 0]);
    for (at, row, column) in [(0, 2, 2), (1, 2, 5), (2, 4, 1)] {
        let mut values = [1.0, 2.0, 3.0];
        values[at] = f64::INFINITY;
        match Points::sparse(&starts, &columns, &values, 4, 5).unwrap_err() {
            Error::NotFinite { row: r, column: c, .. } => assert_eq!((r, c), (row, column)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn invalid_csr_arrays_are_refused() {
    let values = [1.0, 2.0, 3.0];
    let good: ([usize; 3], [u32; 3]) = ([0, 2, 3], [0, 3, 1]);
    assert!(Points::sparse(&good.0, &good.1, &values, 2, 4).is_ok());
    let wrong: [(&[usize], &[u32]); 12] = [
        (&[0, 2], &[0, 3, 1]),
        (&[0, 2, 3, 3], &[0, 3, 1]),
        (&[], &[0, 3, 1]),
        (&[0, 2, 2], &[0, 3, 1]),
        (&[0, 2, 4], &[0, 3, 1]),
        (&[1, 2, 3], &[0, 3, 1]),
        (&[0, 9, 3], &[0, 3, 1]),
        (&[0, usize::MAX, 3], &[0, 3, 1]),
        (&[0, 2, 3], &[3, 0, 1]),
        (&[0, 2, 3], &[3, 3, 1]),
        (&[0, 2, 3], &[0, 4, 1]),
        (&[0, 2, 3], &[0, 3]),
    ];
    for (starts, columns) in wrong {
        assert!(Points::sparse(starts, columns, &values, 2, 4).is_err(), "{starts:?} {columns:?}");
    }
    // More columns than 32-bit indices address.
    assert!(Points::sparse(&[0, 0], &[], &[0.0f32; 0], 1, usize::MAX).is_err());
    assert!(Points::sparse(&[0, 0], &[], &[0.0f32; 0], 1, 1 << 40).is_err());
}

/// Whether the table is accepted. A forest on an accepted table must route every row to its own leaves.
fn is_accepted(starts: &[usize], columns: &[u32], values: &[f64], n: usize, d: usize) -> bool {
    let Ok(points) = Points::sparse(starts, columns, values, n, d) else { return false };
    let params = ForestParams { trees: 2, min_node: 2, ..Default::default() };
    let forest = Forest::grow(&points, &params).unwrap();
    assert_eq!(&forest.route(&points).unwrap(), forest.leaves().leaf_ids());
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn valid_sparse_tables_are_accepted_and_changed_ones_do_not_panic(
        (d, cells) in (1usize..6, 1usize..6).prop_flat_map(|(n, d)| {
            let cell = proptest::option::of(prop_oneof![-2.0..2.0f64, Just(0.0)]);
            (Just(d), proptest::collection::vec(cell, n * d))
        }),
        // The array to change, the place, and the new value.
        change in proptest::option::of((
            0usize..3,
            any::<usize>(),
            prop_oneof![0usize..12, Just(usize::MAX)],
        )),
    ) {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in cells.chunks_exact(d) {
            for (j, cell) in row.iter().enumerate() {
                if let Some(value) = cell {
                    columns.push(j as u32);
                    values.push(*value);
                }
            }
            starts.push(columns.len());
        }
        let (bounds, stored) = (starts.len(), columns.len());
        match change {
            Some((0, at, to)) => starts[at % bounds] = to,
            Some((1, at, to)) if stored > 0 => columns[at % stored] = to as u32,
            Some((2, at, _)) if stored > 0 => values[at % stored] = f64::NAN,
            _ => {}
        }
        let accepted = is_accepted(&starts, &columns, &values, cells.len() / d, d);
        prop_assert!(accepted || change.is_some());
        prop_assert!(!accepted || values.iter().all(|v| v.is_finite()));
    }

    #[test]
    fn arbitrary_arrays_are_accepted_or_refused_without_panic(
        starts in proptest::collection::vec(prop_oneof![0usize..12, Just(usize::MAX)], 0..6),
        columns in proptest::collection::vec(prop_oneof![0u32..6, Just(u32::MAX)], 0..12),
        values in proptest::collection::vec(prop_oneof![-2.0..2.0, Just(f64::NAN), Just(0.0)], 0..12),
        (n, d) in (0usize..6, 0usize..6),
        sorted in any::<bool>(),
    ) {
        let mut starts = starts;
        if sorted {
            starts.sort_unstable();
        }
        is_accepted(&starts, &columns, &values, n, d);
        if let Ok(points) = Points::new(&values, n, d) {
            prop_assert_eq!((points.n(), points.d()), (n, d));
        }
    }
}
