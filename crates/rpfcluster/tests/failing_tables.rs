//! Ordinary tables that a forest of all rows, or leaves of two rows, gets wrong: copies of a row, tiny tables, columns
//! of another scale; and the verdict on what is found.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use rpfcluster::AffinityKind;
use rpfcluster::metrics::Scores;
use rpfcluster::model_file::Container;
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{Duplicates, Fitted, Points, RpfCluster, Silent, VerdictWord};

fn ari(a: &[u32], b: &[u32]) -> f64 {
    Scores::new(a, b).unwrap().ari
}

/// Two clouds of whole numbers that touch; the commonest row of the first occurs `copies` times more.
fn whole_numbers(seed: u64, copies: usize, jitter: f64) -> (Vec<f64>, Vec<u32>) {
    let mut stream = Stream::new(seed, Purpose::Shapes, 1, 0);
    let (mut values, mut truth) = (Vec::new(), Vec::new());
    for i in 0..300 {
        let group = i % 2;
        truth.push(group);
        for _ in 0..4 {
            values.push((stream.normal() * 1.5 + 2.0 + 5.0 * f64::from(group)).round().clamp(1.0, 10.0));
        }
    }
    truth.resize(truth.len() + copies, 0);
    values.resize(values.len() + 4 * copies, 2.0);
    values.iter_mut().for_each(|v| *v += jitter * stream.uniform());
    (values, truth)
}

#[test]
fn copies_of_a_row_are_no_island() {
    for seed in 0..5 {
        for jitter in [0.0, 1e-7] {
            let (values, truth) = whole_numbers(seed, 120, jitter);
            let points = Points::new(&values, truth.len(), 4).unwrap();
            let params = RpfCluster { k: 2, seed, ..Default::default() };
            let fitted = params.fit(&points).unwrap();
            assert!(fitted.distinct().unwrap() < truth.len() - 100);
            let found = ari(fitted.labels(), &truth);
            assert!(found > 0.8, "seed {seed}, jitter {jitter}: {found}");
            // Copies have one label, and predict and transform give every row its own back.
            assert!(fitted.labels()[300..].iter().all(|label| *label == fitted.labels()[300]));
            assert_eq!(fitted.predict(&points).unwrap(), fitted.labels());
            assert_eq!(fitted.transform(&points).unwrap(), fitted.embedding().vectors);
            assert_eq!(fitted.leaves().n(), truth.len());
        }
        let (values, truth) = whole_numbers(seed, 120, 0.0);
        let points = Points::new(&values, truth.len(), 4).unwrap();
        let kept = RpfCluster { k: 2, seed, duplicates: Duplicates::Keep, ..Default::default() };
        let kept = kept.fit(&points).unwrap();
        assert_eq!((kept.distinct(), kept.forest().n()), (None, truth.len()), "Algorithm 1 as printed");
    }
}

/// Weights are copies: with the forest of the distinct rows, each row once or all of them, the eigenvalues of the
/// weighted graph are those of the graph of all rows.
#[test]
fn embedding_of_all_rows_is_orthonormal_and_copies_share_it() {
    let (values, truth) = whole_numbers(3, 60, 0.0);
    let points = Points::new(&values, truth.len(), 4).unwrap();
    for affinity in [AffinityKind::TopK, AffinityKind::Linear, AffinityKind::Paper] {
        let params = RpfCluster { k: 3, tune: false, affinity: Some(affinity), ..Default::default() };
        let fitted = params.fit(&points).unwrap();
        let e = fitted.embedding();
        for a in 0..3 {
            for b in 0..=a {
                let dot: f64 = (0..e.n()).map(|i| e.row(i)[a] * e.row(i)[b]).sum();
                assert!((dot - f64::from(u8::from(a == b))).abs() < 1e-6, "{affinity:?}: {a} {b} {dot}");
            }
        }
        for copy in 301..truth.len() {
            for (x, y) in e.row(copy).iter().zip(e.row(300)) {
                assert!((x - y).abs() < 1e-6, "{affinity:?}");
            }
        }
        let mut bytes = Vec::new();
        fitted.write_with(&mut bytes, &[], &Silent).unwrap();
        let loaded = Fitted::from_container(&Container::parse(&bytes, &Silent).unwrap(), &Silent).unwrap();
        assert_eq!(loaded.labels(), fitted.labels());
        assert_eq!(loaded.predict(&points).unwrap(), fitted.labels());
        assert_eq!((loaded.verdict(), loaded.distinct()), (fitted.verdict(), fitted.distinct()));
        assert_eq!(fitted.refit(&params, &Silent).unwrap().labels(), fitted.labels());
        let three = fitted.partitions(&[3], &Silent).unwrap();
        assert_eq!(three[0].labels.len(), truth.len());
    }
}

#[test]
fn wisconsin_breast_cancer_is_two_groups() {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("RPF_DATA").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(folder.join("battery/real/wisc.csv")) else {
        assert!(std::env::var_os("CI").is_none(), "the data is not there");
        return;
    };
    let (mut values, mut truth, d) = (Vec::new(), Vec::new(), 9);
    for line in text.lines().skip(1) {
        let (numbers, class) = line.rsplit_once(',').unwrap();
        values.extend(numbers.split(',').map(|v| v.parse::<f64>().unwrap()));
        truth.push(u32::from(class == "malignant"));
    }
    let points = Points::new(&values, truth.len(), d).unwrap();
    for seed in 0..5 {
        let params = RpfCluster { k: 2, seed, ..Default::default() };
        let found = ari(params.fit(&points).unwrap().labels(), &truth);
        assert!(found > 0.8, "seed {seed}: {found}");
    }
    let kept = RpfCluster { k: 2, duplicates: Duplicates::Keep, ..Default::default() };
    assert!(ari(kept.fit(&points).unwrap().labels(), &truth) < 0.1, "an island, as the docs say");
}

#[test]
fn six_points_of_two_groups_are_told_apart() {
    let six = [1.0, 2.0, 1.0, 4.0, 1.0, 0.0, 10.0, 2.0, 10.0, 4.0, 10.0, 0.0];
    for seed in 0..20 {
        let fitted = RpfCluster { k: 2, seed, ..Default::default() }.fit(&Points::new(&six, 6, 2).unwrap());
        let fitted = fitted.unwrap();
        assert_eq!(fitted.labels(), [0, 0, 0, 1, 1, 1]);
        assert!(fitted.verdict().unwrap().word < VerdictWord::Clear, "six rows are too few");
    }
}

/// `k` groups whose centres are 10 standard deviations apart, on a line or a grid of three columns: every n from 3K to
/// 60, 20 seeds each.
fn assert_tiny_tables_come_out_right(k: usize) {
    let mut wrong = Vec::new();
    for n in 3 * k..=60 {
        for seed in 0..20 {
            let mut stream = Stream::new(seed, Purpose::Shapes, 2, n as u64);
            let truth: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
            let center = |g: u32| [10.0 * f64::from(g % 3), 10.0 * f64::from(g / 3)];
            let values: Vec<f64> =
                truth.iter().flat_map(|g| center(*g).map(|c| c + stream.normal())).collect();
            let params = RpfCluster { k, seed, assess: false, ..Default::default() };
            let fitted = params.fit(&Points::new(&values, n, 2).unwrap()).unwrap();
            let found = ari(fitted.labels(), &truth);
            if found < 1.0 {
                wrong.push((n, seed, found));
            }
        }
    }
    assert!(wrong.is_empty(), "n, seed, adjusted Rand index: {wrong:?}");
}

#[test]
fn tiny_tables_of_two_separated_groups_come_out_right() {
    assert_tiny_tables_come_out_right(2);
}

#[test]
fn tiny_tables_of_three_separated_groups_come_out_right() {
    assert_tiny_tables_come_out_right(3);
}

#[test]
fn tiny_tables_of_four_separated_groups_come_out_right() {
    assert_tiny_tables_come_out_right(4);
}

#[test]
fn tiny_tables_of_five_separated_groups_come_out_right() {
    assert_tiny_tables_come_out_right(5);
}

#[test]
fn an_identifier_is_named_and_its_clusters_are_not_believed() {
    for seed in 0..5 {
        let mut stream = Stream::new(seed, Purpose::Shapes, 3, 0);
        let values: Vec<f64> = (0..200)
            .flat_map(|i| [f64::from(100_000 + i), stream.normal() + 8.0 * f64::from(i % 2), stream.normal()])
            .collect();
        let points = Points::new(&values, 200, 3).unwrap();
        let fitted = RpfCluster { k: 2, seed, ..Default::default() }.fit(&points).unwrap();
        let verdict = fitted.verdict().unwrap();
        assert!(verdict.word <= VerdictWord::Weak && verdict.score < 0.5, "{verdict:?}");
        let names = ["id", "x", "y"].map(String::from);
        let hints = fitted.hints(&names, |row| row + 1).join(" ");
        assert!(
            hints.contains("Column id accounts for") && hints.contains("Column id looks like an identifier"),
            "{hints}"
        );
        assert!(hints.contains("Without it the clusters change"), "{hints}");
        // Where K is selected, one cluster is found, and two without the column.
        let selected = RpfCluster { max_k: Some(10), seed, ..Default::default() }.fit(&points).unwrap();
        assert_eq!(selected.k(), 1);
        let hints = selected.hints(&names, |row| row + 1).join(" ");
        assert!(hints.contains("Without it 2 clusters are found."), "{hints}");
        // Without the column, two groups are clear.
        let kept: Vec<f64> = values.chunks_exact(3).flat_map(|row| [row[1], row[2]]).collect();
        let fitted =
            RpfCluster { k: 2, seed, ..Default::default() }.fit(&Points::new(&kept, 200, 2).unwrap());
        let fitted = fitted.unwrap();
        assert_eq!(fitted.verdict().unwrap().word, VerdictWord::Clear, "{:?}", fitted.verdict());
        assert!(fitted.hints(&[], |row| row + 1).is_empty());
    }
}

#[test]
fn noise_is_not_called_clear_or_plausible() {
    let mut called = 0;
    for seed in 0..20 {
        let mut stream = Stream::new(seed, Purpose::Shapes, 4, 0);
        let values: Vec<f64> = (0..600).map(|_| stream.uniform()).collect();
        let points = Points::new(&values, 300, 2).unwrap();
        let fitted = RpfCluster { k: 4, seed, ..Default::default() }.fit(&points).unwrap();
        called += usize::from(fitted.verdict().unwrap().word > VerdictWord::Weak);
    }
    assert!(called <= 1, "{called} of 20");
}
