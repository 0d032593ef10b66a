//! `rpf cluster --method leiden`: labels, JSON, model, inspect, report, precomputed matrices and errors.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::{TestDir, shape_csv};
use rpfcluster_data::shapes::Shape;

#[test]
fn leiden_clusters_a_table_and_its_model_predicts() {
    let dir = TestDir::new();
    let run = dir.rpf("cluster iris.csv -k 3 --label species --method leiden --model m.rpf -o l.csv").done();
    assert!(run.err.contains("leiden") && run.err.contains("resolution "), "{}", run.err);
    assert!(!run.err.contains("eigenvalues"), "{}", run.err);
    dir.rpf("predict m.rpf iris.csv --label species -o p.csv").done();
    assert_eq!(dir.bytes("l.csv"), dir.bytes("p.csv"));
    let inspected = dir.rpf("inspect m.rpf --json").done().json();
    assert_eq!(inspected["clustering"]["method"], "leiden");
    assert!(inspected["clustering"]["resolution"].as_f64().unwrap() >= 0.0);
    assert!(dir.rpf("inspect m.rpf").done().out.contains("leiden"));
    dir.rpf("plot m.rpf --kind embedding -o e.svg").done();
}

#[test]
fn json_tells_the_resolution_and_keeps_its_keys() {
    let dir = TestDir::new();
    let of = |options: &str| {
        dir.rpf(&format!("cluster iris.csv --label species --method leiden --json -o l.csv {options}"))
            .done()
            .json()
    };
    let found = of("-k 3");
    assert_eq!((&found["k"], &found["params"]["method"]), (&3.into(), &"leiden".into()));
    assert_eq!(found["params"]["quality"], "modularity");
    assert_eq!(found["params"]["resolution"], found["chosen"]["resolution"]["resolution"]);
    assert_eq!(found["eigenvalues"], serde_json::json!([]));
    assert_eq!((&found["converged"], &found["params"]["solver"]), (&true.into(), &serde_json::Value::Null));
    let given = of("--resolution 3.5 --quality modularity");
    assert_eq!(given["params"]["resolution"], 3.5);
    assert!(given["chosen"]["resolution"].is_null());
    let k = given["k"].as_u64().unwrap();
    assert!(k > 3 && given["cluster_sizes"].as_array().unwrap().len() as u64 == k, "{given}");
    let kway = dir.rpf("cluster iris.csv --label species -k 3 --json -o l.csv").done().json();
    assert!(kway["params"]["resolution"].is_null() && kway["params"]["quality"].is_null());
}

#[test]
fn labels_do_not_depend_on_threads() {
    let dir = TestDir::new();
    dir.put("rings.csv", shape_csv(&Shape::Rings, 900, 1));
    let labels = |threads: u32| {
        let options = "--label class --method leiden --quiet";
        dir.rpf(&format!("cluster rings.csv -k 3 --threads {threads} {options}")).done().out
    };
    assert_eq!(labels(1), labels(4));
}

#[test]
fn page_computes_eigenvectors_of_its_own() {
    let dir = TestDir::new();
    dir.rpf("cluster iris.csv -k 3 --label species --method leiden --report page.html --quiet -o l.csv")
        .done();
    let page = String::from_utf8(dir.bytes("page.html")).unwrap();
    assert!(page.contains("The clusters were found without them") && page.contains("eigenvector 2"));
}

#[test]
fn matrices_are_clustered_at_k_and_at_a_resolution() {
    let dir = TestDir::new();
    let row =
        |i: usize| (0..9).map(|j| if i / 3 == j / 3 { "1" } else { "0.01" }).collect::<Vec<_>>().join(",");
    dir.put("s.csv", (0..9).map(row).collect::<Vec<_>>().join("\n"));
    let at_k = dir.rpf("cluster s.csv -k 3 --precomputed --method leiden --quiet").done().out;
    assert_eq!(at_k, "row,cluster\n1,0\n2,0\n3,0\n4,1\n5,1\n6,1\n7,2\n8,2\n9,2\n");
    let options = "--precomputed --method leiden --quality cpm --resolution 0.5 --report p.html --json";
    let object = dir.rpf(&format!("cluster s.csv {options}")).done().json();
    assert_eq!((&object["k"], &object["params"]["resolution"]), (&3.into(), &0.5.into()));
    assert!(String::from_utf8(dir.bytes("p.html")).unwrap().contains("cpm"));
}

#[test]
fn options_that_do_not_apply_are_refused() {
    let dir = TestDir::new();
    let iris = "cluster iris.csv --label species";
    dir.refuses(2, &format!("{iris} --resolution 1"), &["--resolution", "--method leiden", "kway"]);
    dir.refuses(2, &format!("{iris} -k 3 --quality cpm"), &["--quality", "--method leiden"]);
    dir.refuses(2, &format!("{iris} -k 3 --method leiden --resolution 1"), &["--clusters", "--resolution"]);
    dir.refuses(2, &format!("{iris} --method leiden --resolution 0"), &["--resolution is 0", "above 0"]);
    dir.refuses(2, &format!("{iris} --method leiden --resolution nan"), &["--resolution is NaN"]);
    dir.refuses(2, &format!("{iris} -k 3 --method leiden --affinity linear"), &["--method leiden", "top-k"]);
    dir.refuses(2, &format!("{iris} -k 3 --method leiden --solver dense"), &["--solver", "kway or ncut"]);
    dir.refuses(2, &format!("{iris} --method leiden --resolution 1 --max-k 4"), &["--max-k", "--resolution"]);
    dir.refuses(
        2,
        "sweep iris.csv -k 3 --label species --method leiden",
        &["--method leiden", "rpf cluster"],
    );
    dir.put("s.csv", "1,0.5\n0.5,1\n");
    dir.refuses(2, "cluster s.csv -k 2 --precomputed --quality cpm", &["--quality", "--method leiden"]);
}
