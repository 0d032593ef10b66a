//! How settings are chosen: the default, unless halves of the rows reproduce another family far better.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::normals;
use rpfcluster::metrics::Scores;
use rpfcluster::select::Choice;
use rpfcluster::{AffinityParams, Fitted, Points, RpfCluster};

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
fn default_is_kept_where_halves_reproduce_it() {
    let (values, truth) = hidden(600, 4, 2, 6.0);
    let points = Points::new(&values, 600, 4).unwrap();
    let fitted = RpfCluster { k: 2, tune: true, ..Default::default() }.fit(&points).unwrap();
    let choice = choice(&fitted);
    assert_eq!(choice.affinity, AffinityParams::TopK { top: RpfCluster::TOP, power: RpfCluster::POWER });
    assert!(choice.candidates[0].strength.unwrap() > 0.9);
    assert!(choice.candidates[1..].iter().all(|c| c.strength.is_none()), "nothing could exceed it");
    assert_eq!(Scores::new(fitted.labels(), &truth).unwrap().ari, 1.0);
}

#[test]
fn another_family_is_chosen_only_by_its_margin() {
    // Eight overlapping clouds of different width in four columns: halves of the rows reproduce the soft graph better.
    let (n, d, k) = (900, 4, 8);
    let mut others = 0;
    for (seed, apart) in (0..20).map(|i| (i, [1.6, 2.0, 2.4, 2.8][i as usize % 4])) {
        let mut values = normals(n, d, 50 + seed);
        let centers = normals(k, d, 100 + seed);
        for (at, row) in values.chunks_exact_mut(d).enumerate() {
            let group = at % k;
            let width = 0.5 + group as f64 / k as f64;
            row.iter_mut().zip(&centers[group * d..]).for_each(|(x, c)| *x = *x * width + apart * c);
        }
        let params = RpfCluster { k, seed, assess: false, tune: true, ..Default::default() };
        let fitted = params.fit(&Points::new(&values, n, d).unwrap()).unwrap();
        let choice = choice(&fitted);
        let default = choice.candidates[0].strength.unwrap();
        let selected = choice.selected().unwrap().strength.unwrap();
        if choice.affinity == choice.candidates[0].affinity {
            let soft = choice.candidates[1].strength;
            assert!(soft.is_none_or(|soft| soft < default + 0.1), "{choice:?}");
        } else {
            assert!(selected >= default + 0.1, "{choice:?}");
            others += 1;
        }
    }
    assert!(others > 0, "the default was kept on every table");
}

#[test]
fn choice_does_not_depend_on_threads() {
    let (values, _) = hidden(900, 5, 2, 2.5);
    let points = Points::new(&values, 900, 5).unwrap();
    let of = |threads| {
        let params = RpfCluster { k: 2, threads: Some(threads), tune: true, ..Default::default() };
        choice(&params.fit(&points).unwrap()).clone()
    };
    let one = of(1);
    assert!(one.candidates.iter().any(|c| c.strength.is_some()));
    assert_eq!(one, of(3));
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
        let fitted = RpfCluster { k: 2, seed, tune: true, ..Default::default() }.fit(&points).unwrap();
        assert!((0..n).all(|row| fitted.labels()[row] == fitted.labels()[row % 9]), "seed {seed}");
    }
}
