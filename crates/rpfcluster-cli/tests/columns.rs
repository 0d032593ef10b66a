//! Columns of tables that a model is applied to: by name in any order, otherwise by their number, never by guess.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::{TestDir, npy};

/// The features of Iris as text rows.
fn rows() -> Vec<Vec<String>> {
    let iris = include_str!("../../rpfcluster-data/data/iris.csv");
    let cells = |line: &str| line.split(',').take(4).map(str::to_string).collect();
    iris.lines().skip(1).map(cells).collect()
}

/// A table of these rows, each changed.
fn table(header: &str, change: impl Fn(usize, &[String]) -> Vec<String>) -> String {
    let lines = rows().into_iter().enumerate().map(|(i, row)| change(i, &row).join(",") + "\n");
    std::iter::once(header.to_string()).chain(lines).collect()
}

fn numbered(i: usize, row: &[String]) -> Vec<String> {
    std::iter::once((1000 + i).to_string()).chain(row.iter().cloned()).collect()
}

const FIT: &str = "--trees 20 -k 3 -q -o l.csv --model m.rpf";

#[test]
fn tables_without_names_are_refused_unless_their_width_fits() {
    let dir = TestDir::new();
    dir.put("bare.csv", table("", |_, row| row.to_vec()));
    dir.rpf(&format!("cluster bare.csv {FIT}")).done();
    dir.put("ids.csv", table("", numbered));
    let values: Vec<[u8; 8]> = rows()
        .iter()
        .enumerate()
        .flat_map(|(i, row)| numbered(i, row))
        .map(|cell| cell.parse::<f64>().unwrap().to_le_bytes())
        .collect();
    dir.put("ids.npy", npy("<f8", 150, 5, values.into_iter()));
    dir.put("narrow.csv", table("", |_, row| row[1..].to_vec()));
    for wide in ["ids.csv", "ids.npy"] {
        let parts = [wide, "has 5 columns", "the model was fitted on 4 columns", "--drop", "--columns"];
        dir.refuses(1, &format!("predict m.rpf {wide} -o p.csv"), &parts);
        dir.refuses(1, &format!("neighbors {wide} -n 1 --against m.rpf -o n.csv"), &parts);
        for chosen in ["--drop 1", "--columns 2-5", "--label 1"] {
            dir.rpf(&format!("predict m.rpf {wide} {chosen} -q -o p.csv")).done();
            assert_eq!(dir.bytes("p.csv"), dir.bytes("l.csv"), "{wide} {chosen}");
            dir.rpf(&format!("neighbors {wide} {chosen} -n 1 --against m.rpf -q -o n.csv")).done();
            std::fs::remove_file(dir.path("p.csv")).unwrap();
            std::fs::remove_file(dir.path("n.csv")).unwrap();
        }
        dir.refuses(1, &format!("predict m.rpf {wide} --drop 1,2 -o p.csv"), &["has 3 columns", "4 columns"]);
    }
    dir.refuses(1, "predict m.rpf narrow.csv -o p.csv", &["narrow.csv", "has 3 columns", "same order"]);
}

#[test]
fn label_and_dropped_columns_may_be_there_or_not() {
    let dir = TestDir::new();
    let header = "id,sepal_length,sepal_width,petal_length,petal_width,class\n";
    let whole = |i: usize, row: &[String]| {
        let class = ["a", "b", "c"][i / 50].to_string();
        numbered(i, row).into_iter().chain([class]).collect::<Vec<_>>()
    };
    dir.put("whole.csv", table(header, whole));
    dir.rpf(&format!("cluster whole.csv --label class --drop id {FIT}")).done();
    let header = "petal_width,class,sepal_width,sepal_length,petal_length\n";
    let other = |i: usize, row: &[String]| {
        let class = ["a", "b", "c"][i / 50].to_string();
        vec![row[3].clone(), class, row[1].clone(), row[0].clone(), row[2].clone()]
    };
    dir.put("reordered.csv", table(header, other));
    dir.put(
        "features.csv",
        table("sepal_length,sepal_width,petal_length,petal_width\n", |_, row| row.to_vec()),
    );
    dir.put("bare.csv", table("", |_, row| row.to_vec()));
    dir.put("layout.csv", table("", whole));
    for same in ["whole.csv", "reordered.csv", "features.csv", "bare.csv"] {
        let run = dir.rpf(&format!("predict m.rpf {same} -o p.csv")).done();
        assert_eq!(dir.bytes("p.csv"), dir.bytes("l.csv"), "{same}");
        assert!(!run.err.contains("hint"), "{same}: {}", run.err);
    }
    // Six columns without names need not be those of the fit, unless the fitted table had no names either.
    std::fs::remove_file(dir.path("p.csv")).unwrap();
    dir.refuses(
        1,
        "predict m.rpf layout.csv -o p.csv",
        &["layout.csv", "has 6 columns", "fitted on 4 columns"],
    );
    dir.rpf("cluster layout.csv --label 6 --drop 1 --trees 20 -k 3 -q -o b.csv --model bare.rpf").done();
    let run = dir.rpf("predict bare.rpf layout.csv -o p.csv").done();
    assert_eq!(dir.bytes("p.csv"), dir.bytes("b.csv"));
    assert!(run.err.contains("hint: layout.csv: ignored columns \"c1\", \"c6\""), "{}", run.err);
    let run = dir.rpf("predict m.rpf whole.csv --label class --json").done();
    assert!(run.json()["scores"]["rho_c"].as_f64().unwrap() > 80.0);
    dir.refuses(
        1,
        "predict m.rpf features.csv --label petal_width",
        &["features.csv", "petal_width", "the model was fitted on it"],
    );
}

#[test]
fn columns_that_the_model_lacks_or_misses_are_named() {
    let dir = TestDir::new();
    dir.rpf(&format!("cluster iris.csv --label species {FIT}")).done();
    let header = "weight,sepal_length,sepal_width,petal_length,petal_width\n";
    dir.put("more.csv", table(header, numbered));
    let run = dir.rpf("predict m.rpf more.csv -o p.csv").done();
    assert_eq!(dir.bytes("p.csv"), dir.bytes("l.csv"));
    assert!(run.err.contains("hint: more.csv: ignored column \"weight\""), "{}", run.err);
    for silent in ["--drop weight", "-q"] {
        let run = dir.rpf(&format!("predict m.rpf more.csv {silent} -o p.csv")).done();
        assert!(!run.err.contains("hint"), "{}", run.err);
    }
    std::fs::remove_file(dir.path("p.csv")).unwrap();
    dir.put("less.csv", "sepal_length,width\n1,2\n");
    dir.refuses(
        1,
        "predict m.rpf less.csv -o p.csv",
        &[
            "less.csv",
            "3 of the 4 columns",
            "\"sepal_width\", \"petal_length\", \"petal_width\"",
            "\"width\"",
        ],
    );
    dir.put("twice.csv", "sepal_length,sepal_width,petal_length,petal_width,sepal_width\n1,2,3,4,5\n");
    dir.refuses(
        1,
        "predict m.rpf twice.csv -o p.csv",
        &["twice.csv", "\"sepal_width\" occurs more than once (columns 2, 5)", "--drop"],
    );
    dir.rpf("predict m.rpf twice.csv --drop 5 -o p.csv").done();
}

#[test]
fn repeated_names_are_ambiguous() {
    let dir = TestDir::new();
    dir.put("twice.csv", table("a,b,a,c\n", |_, row| row.to_vec()));
    for option in ["--label a", "--drop a", "--columns a,b", "--standardize a"] {
        let parts = ["twice.csv", "\"a\" occurs more than once (columns 1, 3)", "give its number"];
        dir.refuses(1, &format!("cluster twice.csv -k 3 -o l.csv {option}"), &parts);
    }
    let run = dir.rpf("cluster twice.csv --trees 20 -k 3 -o l.csv --model m.rpf").done();
    assert!(run.err.contains("hint: twice.csv: several columns are called \"a\""), "{}", run.err);
    dir.refuses(1, "predict m.rpf twice.csv -o p.csv", &["twice.csv", "\"a\" is ambiguous", "rename"]);
    dir.put("clusters.csv", "cluster,cluster,class\n0,1,x\n1,0,y\n");
    dir.refuses(1, "score clusters.csv --truth class", &["\"cluster\" occurs more than once (columns 1, 2)"]);
}
