//! Rows of one or two bytes a value against the same rows in single and double precision: everything is equal, to the bit.
#![allow(clippy::unwrap_used)]

use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{
    CompactValues, Components, Error, Fitted, Forest, ForestParams, Metric, Points, Real, RpfCluster, Silent,
    f16, rerank,
};

/// Three groups of rows, some of them twice.
fn numbers(n: usize, d: usize) -> Vec<f64> {
    let mut stream = Stream::new(5, Purpose::Shapes, 0, 0);
    let mut values: Vec<f64> = (0..n * d)
        .map(|at| {
            let group = (at / d % 3) as f64;
            (40.0 + 25.0 * group * f64::from((at % d).is_multiple_of(2)) + 6.0 * stream.normal()).round()
        })
        .collect();
    values.copy_within(0..n / 8 * d, n / 2 * d);
    values
}

/// Calls `check` with the rows as each compact type and what they hold.
fn for_each_type(n: usize, d: usize, check: impl Fn(CompactValues, &[f32])) {
    let numbers = numbers(n, d);
    let halves: Vec<f16> = numbers.iter().map(|x| f16::from_f64(x / 16.0 - 1.0)).collect();
    check(CompactValues::F16(&halves), &halves.iter().map(|x| x.to_f32()).collect::<Vec<_>>());
    let signed: Vec<i8> = numbers.iter().map(|x| (x - 60.0) as i8).collect();
    check(CompactValues::I8(&signed), &signed.iter().map(|x| f32::from(*x)).collect::<Vec<_>>());
    let unsigned: Vec<u8> = numbers.iter().map(|x| *x as u8).collect();
    check(CompactValues::U8(&unsigned), &unsigned.iter().map(|x| f32::from(*x)).collect::<Vec<_>>());
}

fn bytes_of(fitted: &Fitted) -> Vec<u8> {
    let mut bytes = Vec::new();
    fitted.write_with(&mut bytes, &[], &Silent).unwrap();
    bytes
}

/// Checks forest, neighbours, clusters and predictions of the two tables.
fn same_results<R: Real>(compact: &Points<R>, wide: &Points<R>, params: &RpfCluster) {
    let of_forest = ForestParams { trees: 12, ..ForestParams::default() };
    let (forest, expected) =
        (Forest::grow(compact, &of_forest).unwrap(), Forest::grow(wide, &of_forest).unwrap());
    assert_eq!(forest, expected);
    assert_eq!(forest.route(compact).unwrap(), *expected.leaves().leaf_ids());
    let found = expected.leaves().top_k(8, &Silent).unwrap();
    assert_eq!(
        rerank(compact, compact, &found, 4, &Silent).unwrap().neighbors,
        rerank(wide, wide, &found, 4, &Silent).unwrap().neighbors
    );
    let (fitted, expected) = (params.fit(compact).unwrap(), params.fit(wide).unwrap());
    assert_eq!(fitted.labels(), expected.labels());
    assert_eq!(fitted.embedding().vectors, expected.embedding().vectors);
    assert_eq!(bytes_of(&fitted), bytes_of(&expected));
    assert_eq!(
        fitted.predict_with_confidence(compact).unwrap(),
        expected.predict_with_confidence(wide).unwrap()
    );
    // A table in several parts, and with another precision.
    assert_eq!(expected.predict(compact).unwrap(), expected.predict(wide).unwrap());
}

#[test]
fn compact_rows_give_the_bits_of_wide_rows() {
    let cases = [
        // Padded rows, wide rows, principal components from the covariance matrix, and by random projection.
        (600, 3, Metric::Auto),
        (300, 20, Metric::Cosine),
        (300, 70, Metric::Auto),
        (200, 70, Metric::Euclidean),
        (120, 1010, Metric::Cosine),
    ];
    for (n, d, metric) in cases {
        let assess = metric == Metric::Auto;
        let params = RpfCluster { k: 3, metric, seed: 4, assess, ..RpfCluster::default() };
        for_each_type(n, d, |compact, single| {
            let double: Vec<f64> = single.iter().map(|x| f64::from(*x)).collect();
            let (of_single, of_double) =
                (Points::new(single, n, d).unwrap(), Points::new(&double, n, d).unwrap());
            same_results(&Points::<f32>::compact(compact, n, d).unwrap(), &of_single, &params);
            same_results(&Points::<f64>::compact(compact, n, d).unwrap(), &of_double, &params);
        });
    }
}

#[test]
fn a_model_of_wide_rows_labels_compact_ones() {
    let (n, d) = (300, 60);
    for components in [Components::Auto, Components::None] {
        let params = RpfCluster { k: 3, components, ..RpfCluster::default() };
        for_each_type(n, d, |compact, single| {
            let double: Vec<f64> = single.iter().map(|x| f64::from(*x)).collect();
            let fitted = params.fit(&Points::new(&double, n, d).unwrap()).unwrap();
            let expected = fitted.predict(&Points::new(single, n, d).unwrap()).unwrap();
            assert_eq!(fitted.predict(&Points::<f32>::compact(compact, n, d).unwrap()).unwrap(), expected);
        });
    }
}

#[test]
fn wrong_compact_tables_are_refused() {
    let shape = Points::<f32>::compact(CompactValues::U8(&[1, 2, 3]), 2, 2).unwrap_err();
    assert_eq!(shape, Error::Shape { len: 3, n: 2, d: 2 });
    assert_eq!(
        Points::<f64>::compact(CompactValues::I8(&[]), 0, 2).unwrap_err(),
        Error::Empty { n: 0, d: 2 }
    );
    let (n, d) = (50, 7);
    for at in [0, 6, 63, 64, 65, n * d - 1] {
        for wrong in [f16::INFINITY, f16::NEG_INFINITY, f16::NAN] {
            let mut values = vec![f16::ONE; n * d];
            values[at] = wrong;
            match Points::<f32>::compact(CompactValues::F16(&values), n, d).unwrap_err() {
                Error::NotFinite { row, column, .. } => assert_eq!((row, column), (at / d + 1, at % d + 1)),
                other => panic!("{other:?}"),
            }
        }
    }
    let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).filter(|x| x.is_finite()).collect();
    assert!(Points::<f32>::compact(CompactValues::F16(&all), all.len(), 1).is_ok());
}
