//! How settings are chosen: by agreement, or by stability between halves of the forest where agreement is chance.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::normals;
use rpfcluster::metrics::Scores;
use rpfcluster::select::Choice;
use rpfcluster::{Components, Fitted, Points, RpfCluster, Silent};

/// Two groups that differ by `apart` in the first `telling` columns; the noise in the other columns hides it.
fn hidden(n: usize, d: usize, telling: usize, apart: f64) -> (Vec<f64>, Vec<u32>) {
    let mut values = normals(n, d, 3);
    let truth: Vec<u32> = (0..n as u32).map(|row| row % 2).collect();
    for (row, label) in values.chunks_exact_mut(d).zip(&truth) {
        row[..telling].iter_mut().for_each(|x| *x += f64::from(*label) * apart);
    }
    (values, truth)
}

fn choice(fitted: &Fitted) -> &Choice {
    fitted.evidence().settings.as_ref().unwrap()
}

#[test]
fn stability_decides_where_agreement_is_chance() {
    let (n, d) = (1000, 200);
    let (values, truth) = hidden(n, d, 10, 1.2);
    let points = Points::new(&values, n, d).unwrap();
    let ari = |fitted: &Fitted| Scores::new(fitted.labels(), &truth).unwrap().ari;
    // Principal components would find the groups.
    let open = RpfCluster { k: 2, components: Components::None, ..Default::default() };
    for seed in 0..3 {
        let fitted = RpfCluster { seed, ..open.clone() }.fit(&points).unwrap();
        let choice = choice(&fitted);
        assert!(choice.by_stability(), "{choice:?}");
        let stability: Vec<f64> = choice.candidates.iter().map(|c| c.stability.unwrap()).collect();
        assert!(stability[1..].iter().all(|other| *other <= stability[0]), "{stability:?}");
        let agreed = choice.candidates.iter().max_by(|a, b| a.agreement.total_cmp(&b.agreement)).unwrap();
        let given = RpfCluster { seed, tune: false, min_node: Some(agreed.min_node), ..open.clone() };
        let given = match agreed.affinity {
            rpfcluster::AffinityParams::TopK { top, power } => {
                RpfCluster { top: Some(top), power: Some(power), ..given }
            }
            other => panic!("{other:?}"),
        };
        let by_agreement = ari(&fitted.refit(&given, &Silent).unwrap());
        assert!(ari(&fitted) > 0.2 && ari(&fitted) > by_agreement, "{} {by_agreement}", ari(&fitted));
    }
}

#[test]
fn agreement_decides_where_partitions_are_stable() {
    let (values, truth) = hidden(600, 4, 2, 6.0);
    let points = Points::new(&values, 600, 4).unwrap();
    let fitted = RpfCluster { k: 2, ..Default::default() }.fit(&points).unwrap();
    let choice = choice(&fitted);
    assert!(!choice.by_stability());
    assert!(choice.candidates[0].stability.unwrap() > 0.9);
    assert!(choice.candidates[1..].iter().all(|c| c.stability.is_none()));
    assert_eq!(Scores::new(fitted.labels(), &truth).unwrap().ari, 1.0);
}

#[test]
fn fewer_clusters_than_groups_split_no_group() {
    // Nine distant groups on a square grid, two clusters: halves of the forest merge the groups differently.
    let n = 900;
    let mut values = normals(n, 2, 8);
    for (at, row) in values.chunks_exact_mut(2).enumerate() {
        row[0] += (at % 3) as f64 * 100.0;
        row[1] += (at / 3 % 3) as f64 * 100.0;
    }
    let points = Points::new(&values, n, 2).unwrap();
    for seed in 0..4 {
        let fitted = RpfCluster { k: 2, seed, ..Default::default() }.fit(&points).unwrap();
        assert!((0..n).all(|row| fitted.labels()[row] == fitted.labels()[row % 9]), "seed {seed}");
    }
}
