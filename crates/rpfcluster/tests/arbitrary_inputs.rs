//! Arbitrary small data and parameters never cause a panic: the library returns a result or an error.
#![allow(clippy::unwrap_used)]

mod common;

use proptest::prelude::*;
use rpfcluster::{Direction, Forest, ForestParams, Points, Real, Silent, Split};

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -3.0..3.0f64,
        3 => (-2i32..3).prop_map(f64::from),
        1 => Just(f64::MAX),
        1 => Just(f64::MIN),
        1 => Just(5e-324),
        1 => Just(-0.0),
        1 => any::<f64>(),
    ]
}

fn parameters() -> impl Strategy<Value = ForestParams> {
    let max_samples = proptest::option::of(0usize..40);
    (0usize..8, 0usize..14, any::<bool>(), any::<bool>(), 0usize..6, max_samples, any::<u64>()).prop_map(
        |(trees, min_node, median, sparse, candidates, max_samples, seed)| ForestParams {
            trees,
            min_node,
            split: if median { Split::Median } else { Split::Uniform },
            direction: if sparse { Direction::Sparse } else { Direction::Gaussian },
            candidates,
            max_samples,
            seed,
        },
    )
}

fn check_all<R: Real>(values: &[R], d: usize, params: &ForestParams, min_node: usize, k: usize, beta1: f64) {
    let n = values.len() / d;
    let Ok(points) = Points::new(&values[..n * d], n, d) else {
        assert!(n == 0 || values[..n * d].iter().any(|v| !v.is_finite()));
        return;
    };
    let Ok(forest) = Forest::grow(&points, params) else {
        assert!(params.validate().is_err());
        return;
    };
    forest.check(&Silent).unwrap();
    let routed = forest.route(&points).unwrap();
    assert_eq!(&routed, forest.leaves().leaf_ids());
    assert_eq!(Forest::from_bytes(&forest.to_bytes().unwrap()).unwrap(), forest);
    let Ok(leaves) = forest.leaves_at(min_node) else {
        assert!(min_node < params.min_node);
        return;
    };
    let ids = leaves.adapt(routed);
    assert_eq!(&ids, leaves.leaf_ids());
    assert_eq!(leaves.top_k(k, &Silent).is_ok(), k > 0);
    assert_eq!(leaves.top_k_of(&ids, k, &Silent).is_ok(), k > 0);
    assert_eq!(leaves.sparse(beta1, &Silent).is_ok(), (0.0..=1.0).contains(&beta1));
    assert!(leaves.degrees(&Silent).unwrap().iter().all(|&degree| degree >= 1.0 && degree <= n as f64));
    let x = vec![1.0; n * 2];
    let mut y = vec![0.0; n * 2];
    leaves.apply(&x, &mut y, 2, &Silent).unwrap();
    leaves.features(&ids);
    forest.depths();
    forest.bytes();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn arbitrary_small_inputs_do_not_panic(
        values in proptest::collection::vec(number(), 1..80),
        d in 1usize..20,
        params in parameters(),
        min_node in 0usize..30,
        k in 0usize..12,
        beta1 in prop_oneof![0.0..1.0f64, any::<f64>()],
    ) {
        check_all(&values, d, &params, min_node, k, beta1);
        // Larger values would become infinite and be refused.
        let largest = f64::from(f32::MAX);
        let clamped: Vec<f64> = values.iter().map(|v| v.clamp(-largest, largest)).collect();
        check_all(&common::to_f32(&clamped), d, &params, min_node, k, beta1);
    }
}
