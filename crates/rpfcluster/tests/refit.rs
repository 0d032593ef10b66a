//! A refit with other settings on the same forest gives the result of a new fit; impossible refits are refused.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::normals;
use rpfcluster::spectral::Method;
use rpfcluster::{AffinityKind, Error, Fitted, Points, RpfCluster, Silent};

const ROWS: usize = 600;

fn first(params: RpfCluster) -> (Vec<f64>, Fitted) {
    let mut values = normals(ROWS, 3, 5);
    values.iter_mut().enumerate().for_each(|(at, x)| *x += (at / 3 % 3) as f64 * 3.0);
    let fitted = params.fit(&Points::new(&values, ROWS, 3).unwrap()).unwrap();
    (values, fitted)
}

#[test]
fn refit_labels_equal_those_of_a_new_fit() {
    let (values, fitted) = first(RpfCluster { k: 3, seed: 9, trees: Some(60), ..Default::default() });
    let points = Points::new(&values, ROWS, 3).unwrap();
    let base = RpfCluster { k: 3, seed: 9, trees: Some(60), tune: false, ..Default::default() };
    for params in [
        RpfCluster { k: 5, tune: true, ..base.clone() },
        RpfCluster { k: 1, tune: true, ..base.clone() },
        RpfCluster { power: Some(8.0), top: Some(20), min_node: Some(24), ..base.clone() },
        RpfCluster { affinity: Some(AffinityKind::Linear), min_node: Some(50), ..base.clone() },
        RpfCluster { beta1: Some(0.1), beta2: Some(0.3), method: Some(Method::Ncut), ..base.clone() },
        base,
    ] {
        let (again, anew) = (fitted.refit(&params, &Silent).unwrap(), params.fit(&points).unwrap());
        assert_eq!(again.labels(), anew.labels(), "{params:?}");
        assert_eq!(again.embedding().vectors, anew.embedding().vectors, "{params:?}");
        assert_eq!((again.min_node(), again.affinity()), (anew.min_node(), anew.affinity()));
        // A refit keeps the setting of the fit; it does not compare settings again.
        assert!(
            again.evidence().settings.is_none()
                && anew.evidence().settings.is_some() == (params.tune && params.k > 1)
        );
        assert_eq!(again.predict(&points).unwrap(), again.labels());
    }
}

#[test]
fn forest_parameters_of_a_refit_are_ignored() {
    let (_, fitted) = first(RpfCluster { k: 3, seed: 9, trees: Some(60), ..Default::default() });
    let other = RpfCluster { k: 3, seed: 1, trees: Some(10), max_trees: Some(100), ..Default::default() };
    let again = fitted.refit(&other, &Silent).unwrap();
    assert_eq!(again.labels(), fitted.labels());
    assert_eq!((again.params().seed, again.params().trees), (9, Some(60)));
    assert_eq!(again.forest(), fitted.forest());
}

#[test]
fn impossible_refits_are_refused() {
    let (_, fitted) =
        first(RpfCluster { k: 3, affinity: Some(AffinityKind::Linear), tune: false, ..Default::default() });
    assert_eq!(fitted.min_node(), 30);
    let refused = |params: RpfCluster| fitted.refit(&params, &Silent).unwrap_err();
    let smaller = refused(RpfCluster { k: 3, tune: false, min_node: Some(10), ..Default::default() });
    assert!(smaller.to_string().contains("at least 30, the value the forest was grown with"), "{smaller}");
    assert!(matches!(
        refused(RpfCluster { max_k: Some(5), ..Default::default() }),
        Error::Parameter { name: "max_k", .. }
    ));
    assert!(matches!(
        refused(RpfCluster { k: ROWS + 1, ..Default::default() }),
        Error::TooManyClusters { .. }
    ));
    assert!(matches!(
        refused(RpfCluster { memory_limit: Some(1), ..Default::default() }),
        Error::Memory { .. }
    ));
}
