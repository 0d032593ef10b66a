//! Every data set of the catalog against what its documentation says: size, classes, counts, known quirks.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests may fail loudly, like the tests"
)]

use std::path::PathBuf;

use rpfcluster_data::catalog::{self, Scaling};
use rpfcluster_data::{ReadOptions, Table, iris, read_frame};

/// The data folder: RPF_DATA, or `shared/data` beside the workspace.
fn folder() -> Option<PathBuf> {
    let folder = match std::env::var_os("RPF_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    folder.is_dir().then_some(folder)
}

fn load(name: &str, scaling: Scaling) -> Option<Table> {
    let Some(folder) = folder() else {
        println!("skipped: no data");
        return None;
    };
    Some(catalog::find(name).unwrap().load(folder, scaling).unwrap())
}

/// Size and (class, count) in any order.
fn check(name: &str, counts: &[(&str, usize)]) -> Option<Table> {
    let entry = catalog::find(name).unwrap();
    let table = load(name, Scaling::Raw)?;
    assert_eq!((table.n, table.d()), (entry.n, entry.d));
    assert_eq!(table.values.len(), entry.n * entry.d);
    assert!((0..table.values.len()).all(|i| table.values.get(i).is_finite()));
    let labels = table.labels.as_ref().unwrap();
    assert_eq!(labels.names.len(), entry.k);
    let mut found: Vec<(String, usize)> = labels.names.iter().cloned().zip(labels.counts()).collect();
    found.sort();
    let mut expected: Vec<(String, usize)> = counts.iter().map(|(n, c)| (n.to_string(), *c)).collect();
    expected.sort();
    assert_eq!(found, expected, "{name}");
    Some(table)
}

fn column(table: &Table, j: usize) -> Vec<f64> {
    (0..table.n).map(|i| table.values.get(i * table.d() + j)).collect()
}

fn constant_columns(table: &Table) -> Vec<usize> {
    (0..table.d()).filter(|j| column(table, *j).windows(2).all(|w| w[0] == w[1])).map(|j| j + 1).collect()
}

fn repeated_rows(table: &Table) -> usize {
    let mut seen = std::collections::HashSet::new();
    let d = table.d();
    let repeated =
        |i: &usize| !seen.insert((0..d).map(|j| table.values.get(i * d + j).to_bits()).collect::<Vec<_>>());
    (0..table.n).filter(repeated).count()
}

fn sd(column: &[f64]) -> f64 {
    let mean = column.iter().sum::<f64>() / column.len() as f64;
    (column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / column.len() as f64).sqrt()
}

#[test]
fn iris_of_uci_differs_from_fisher_in_two_rows() {
    let (fisher, _) = iris().unwrap();
    assert_eq!((fisher.n, fisher.d(), fisher.has_header), (150, 4, true));
    assert_eq!(fisher.labels.as_ref().unwrap().names, ["setosa", "versicolor", "virginica"]);
    assert_eq!(fisher.labels.as_ref().unwrap().counts(), [50, 50, 50]);
    let Some(uci) = check("iris", &[("Iris-setosa", 50), ("Iris-versicolor", 50), ("Iris-virginica", 50)])
    else {
        return;
    };
    let differing: Vec<(usize, f64, f64)> =
        (0..600).map(|i| (i, uci.values.get(i), fisher.values.get(i))).filter(|(_, a, b)| a != b).collect();
    assert_eq!(differing, [(34 * 4 + 3, 0.1, 0.2), (37 * 4 + 1, 3.1, 3.6), (37 * 4 + 2, 1.5, 1.4)]);
}

#[test]
fn soybean_is_read_as_described() {
    if let Some(table) = check("soybean", &[("D1", 10), ("D2", 10), ("D3", 10), ("D4", 17)]) {
        let expected: Vec<usize> = [11].into_iter().chain(13..=19).chain(29..=34).collect();
        assert_eq!(constant_columns(&table), expected);
    }
}

#[test]
fn spect_is_read_as_described() {
    if let Some(table) = check("spect", &[("0", 55), ("1", 212)]) {
        assert!((0..table.values.len()).all(|i| [0.0, 1.0].contains(&table.values.get(i))));
        assert_eq!(repeated_rows(&table), 48);
        let labels = table.labels.unwrap();
        assert_eq!((0..80).filter(|i| labels.name(*i) == "1").count(), 40);
    }
}

#[test]
fn imgseg_is_read_as_described() {
    let classes = ["BRICKFACE", "CEMENT", "FOLIAGE", "GRASS", "PATH", "SKY", "WINDOW"];
    if let Some(table) = check("imgseg", &classes.map(|c| (c, 300))) {
        assert_eq!(table.columns[2], "REGION-PIXEL-COUNT");
        assert!(column(&table, 2).iter().all(|x| *x == 9.0));
    }
}

#[test]
fn heart_is_read_as_described() {
    check("heart", &[("1", 150), ("2", 120)]);
}

#[test]
fn wine_is_scaled_as_in_the_paper() {
    if check("wine", &[("1", 59), ("2", 71), ("3", 48)]).is_some() {
        scaled("wine", &[4, 12]);
    }
}

#[test]
fn wdbc_is_scaled_as_in_the_paper() {
    if let Some(table) = check("wdbc", &[("B", 357), ("M", 212)]) {
        for (j, expected) in [(2, 24.3), (3, 351.9), (22, 33.6), (23, 569.4), (13, 45.5)] {
            assert!((sd(&column(&table, j)) / expected - 1.0).abs() < 0.01, "{j}");
        }
        scaled("wdbc", &[2, 3, 22, 23]);
        let hint = table.scale_hint().unwrap();
        assert!(hint.ratio > 1e5, "{hint:?}");
    }
}

/// The listed columns have mean 0 and sd 1, the others are as they were; `standardized` does all.
fn scaled(name: &str, columns: &[usize]) {
    let raw = load(name, Scaling::Raw).unwrap();
    let paper = load(name, Scaling::Paper).unwrap();
    let all = load(name, Scaling::Standardized).unwrap();
    for j in 0..raw.d() {
        let (r, p, a) = (column(&raw, j), column(&paper, j), column(&all, j));
        assert!((sd(&a) - 1.0).abs() < 1e-9 && a.iter().sum::<f64>().abs() < 1e-6);
        assert_eq!(p, if columns.contains(&j) { a } else { r }, "{name} {j}");
    }
    assert!(all.scale_hint().is_none());
}

#[test]
fn robot_is_read_as_described() {
    let counts = [
        ("normal", 44),
        ("bottom_collision", 26),
        ("bottom_obstruction", 21),
        ("collision_in_part", 47),
        ("collision_in_tool", 26),
    ];
    check("robot", &counts);
}

#[test]
fn madelon_is_read_as_described() {
    check("madelon", &[("-1", 1000), ("1", 1000)]);
}

#[test]
fn musk_is_read_as_described() {
    if let Some(table) = check("musk", &[("0", 5581), ("1", 1017)]) {
        assert_eq!(repeated_rows(&table), 17);
        let raw = read_frame(folder().unwrap().join("musk/clean2.data"), &ReadOptions::default()).unwrap();
        let molecules: std::collections::HashSet<&str> =
            (0..raw.n()).filter_map(|i| raw.text(i, 0)).collect();
        assert_eq!((raw.width(), raw.has_header(), molecules.len()), (169, false, 102));
    }
}

#[test]
fn naval_is_read_as_described() {
    if let Some(table) = check("naval", &[("0", 9009), ("1", 2925)]) {
        assert_eq!(constant_columns(&table), [9, 12]);
        assert_eq!((column(&table, 8)[0], column(&table, 11)[0]), (288.0, 0.998));
        assert_eq!(column(&table, 5), column(&table, 6));
    }
}

#[test]
fn magic_is_read_as_described() {
    if let Some(table) = check("magic", &[("g", 12332), ("h", 6688)]) {
        assert_eq!(repeated_rows(&table), 115);
        assert!(table.labels.unwrap().codes.is_sorted());
    }
}

#[test]
fn mnist_is_read_as_described() {
    let counts = [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958];
    digits("mnist", &counts);
}

#[test]
fn usps_is_read_as_described() {
    if let Some(table) = digits("usps", &[1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]) {
        assert!((0..table.values.len()).all(|i| (-1.0..=1.0).contains(&table.values.get(i))));
    }
}

#[test]
fn pendigits_is_read_as_described() {
    digits("pendigits", &[1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055]);
}

fn digits(name: &str, counts: &[usize; 10]) -> Option<Table> {
    let names: Vec<String> = (0..10).map(|i| i.to_string()).collect();
    check(name, &names.iter().map(String::as_str).zip(counts.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn letter_is_read_as_described() {
    if let Some(table) = load("letter", Scaling::Raw) {
        let mut counts = table.labels.as_ref().unwrap().counts();
        counts.sort_unstable();
        assert_eq!((counts.len(), counts[0], counts[25]), (26, 734, 813));
        assert_eq!(repeated_rows(&table), 1332);
    }
}

#[test]
fn covertype_is_read_as_described() {
    let start = std::time::Instant::now();
    let counts = [211840, 283301, 35754, 2747, 9493, 17367, 20510];
    let names: Vec<String> = (1..8).map(|i| i.to_string()).collect();
    let counts: Vec<(&str, usize)> = names.iter().map(String::as_str).zip(counts).collect();
    if let Some(table) = check("covertype", &counts) {
        println!("covertype read and checked in {:?}", start.elapsed());
        let binary = |j: usize| column(&table, j).iter().all(|x| [0.0, 1.0].contains(x));
        assert!((10..54).all(binary) && !(0..10).any(binary));
    }
}

#[test]
fn node_sizes_are_those_of_the_paper() {
    let odd: Vec<(&str, usize)> = catalog::entries()
        .iter()
        .filter_map(|e| e.paper_min_node.map(|s| (e.name, s)))
        .filter(|(_, s)| *s != 30)
        .collect();
    assert_eq!(odd, [("soybean", 12), ("madelon", 200)]);
}

#[test]
fn missing_altered_and_unknown_sets_are_refused() {
    let empty = tempfile::tempdir().unwrap();
    let wine = catalog::find("wine").unwrap();
    assert!(!wine.is_in(empty.path()));
    let message = wine.load(empty.path(), Scaling::Raw).unwrap_err().to_string();
    assert!(
        message.contains("wine.data: no such file") && message.contains("6be6b1203f3d51df0b55"),
        "{message}"
    );
    assert!(message.contains("archive.ics.uci.edu"), "{message}");
    std::fs::create_dir(empty.path().join("wine")).unwrap();
    std::fs::write(empty.path().join("wine/wine.data"), "1,2,3\n").unwrap();
    let message = wine.load(empty.path(), Scaling::Raw).unwrap_err().to_string();
    assert!(message.contains("is not the original") && message.contains("6be6b1203f3d51df0b55"), "{message}");
    let message = catalog::find("wein").unwrap_err().to_string();
    assert!(message.contains("wine") && message.contains("wein"), "{message}");
    let message = catalog::find("RS").unwrap_err().to_string();
    assert!(message.contains("not public"), "{message}");
}
