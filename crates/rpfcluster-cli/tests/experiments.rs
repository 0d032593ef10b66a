//! `rpf compare`, `rpf sweep` and `rpf reproduce`: results, refused options, and resumption of a run.

#![allow(clippy::print_stderr, reason = "a test that cannot run says so")]

mod common;

use std::path::{Path, PathBuf};

use common::TestDir;

/// Two groups far apart, with a class for each row.
fn groups(dir: &TestDir) {
    let mut text = String::from("x,y,class\n");
    for (i, value) in common::numbers().take(60).enumerate() {
        let (shift, class) = if i % 2 == 0 { (0.0, "a") } else { (9.0, "b") };
        text += &format!("{},{},{class}\n", value + shift, (i % 7) as f64 / 7.0);
    }
    dir.put("groups.csv", text);
}

#[test]
fn compare_runs_the_four_methods() {
    let dir = TestDir::new();
    groups(&dir);
    let line = "compare groups.csv -k 2 --label class --trees 30 --min-node 10 --affinity linear";
    let run = dir.rpf(&format!("{line} --json")).done();
    let json = run.json();
    for key in ["command", "version", "n", "d", "k", "seed", "params", "majority", "methods", "seconds"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    let methods = json["methods"].as_object().unwrap();
    assert_eq!(methods.keys().collect::<Vec<_>>(), ["kmeans", "njw", "cf", "auto"]);
    for (name, method) in methods {
        assert_eq!(method["scores"]["rho_c"], 100.0, "{name}: {method}");
        assert_eq!(method["cluster_sizes"], serde_json::json!([30, 30]), "{name}");
    }
    let table = dir.rpf(&format!("{line} --methods kmeans,rpf")).done().out;
    assert!(
        table.contains("K-means") && table.contains("rpfCluster, default") && !table.contains("NJW"),
        "{table}"
    );
}

#[test]
fn sweep_scores_every_setting() {
    let dir = TestDir::new();
    groups(&dir);
    let line = "sweep groups.csv -k 2 --trees 30 --min-node 10";
    let json = dir.rpf(&format!("{line} --label class --json")).done().json();
    let grid = json["grid"].as_array().unwrap();
    assert_eq!(grid.len(), 5 * 18 * 2);
    for entry in grid {
        for key in ["beta1", "beta2", "sizes", "ncut", "scores"] {
            assert!(entry.get(key).is_some(), "{key}: {entry}");
        }
    }
    assert!(grid.contains(&json["best_by_labels"]) && grid.contains(&json["label_free"]));
    assert_eq!(json["best_by_labels"]["scores"]["rho_c"], 100.0);
    assert_eq!((&json["command"], &json["k"]), (&"sweep".into(), &2.into()));
    let unlabelled = dir.rpf(&format!("{line} --drop class --method ncut --json")).done().json();
    assert_eq!(unlabelled["grid"].as_array().unwrap().len(), 5 * 18);
    assert!(unlabelled["best_by_labels"].is_null() && unlabelled["label_free"].get("scores").is_none());
    let text = dir.rpf(&format!("{line} --label class")).done().out;
    assert!(text.contains("best by labels") && text.contains("label-free"), "{text}");
}

#[test]
fn bad_experiment_options_are_refused() {
    let dir = TestDir::new();
    groups(&dir);
    dir.refuses(2, "compare groups.csv -k 2", &["--label"]);
    dir.refuses(2, "compare groups.csv -k 0 --label class", &["--clusters", "0"]);
    dir.refuses(2, "compare groups.csv -k 2 --label class --methods kmeans,kmeans", &["K-means", "twice"]);
    dir.refuses(2, "compare groups.csv -k 2 --label class --methods best", &["best", "rpf"]);
    dir.refuses(1, "compare groups.csv -k 99 --label class --methods kmeans,rpf", &["groups.csv", "99"]);
    dir.refuses(1, "compare nothing.csv -k 2 --label class", &["nothing.csv", "no such file"]);
    dir.refuses(2, "sweep groups.csv -k 0 --label class", &["--clusters", "0"]);
    dir.refuses(2, "sweep groups.csv -k 2 --label class --grid fine", &["fine", "coarse", "paper"]);
    dir.refuses(2, "sweep groups.csv -k 2 --label class --min-node auto", &["--min-node"]);
    dir.refuses(1, "sweep groups.csv -k 99 --label class", &["groups.csv", "99"]);
    dir.refuses(1, "sweep groups.csv -k 2", &["groups.csv", "class", "--label"]);
    dir.refuses(2, "reproduce", &["--data"]);
    dir.refuses(1, "reproduce --data nowhere", &["nowhere", "no such folder", "--data"]);
    dir.refuses(1, "reproduce --data . --only iris", &["iris.data", "no such file", "sha256"]);
    dir.refuses(1, "reproduce --data . -o groups.csv", &["groups.csv", "not a folder"]);
    dir.refuses(2, "reproduce --data . --only irs", &["irs", "iris"]);
    dir.refuses(2, "reproduce --data . --only iris --seeds 0", &["--seeds", "0"]);
}

/// The folder of the data sets, where there is one.
fn data() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("RPF_DATA").map_or_else(beside, PathBuf::from);
    folder.join("iris/iris.data").is_file().then_some(folder)
}

#[test]
fn reproduce_writes_results_and_resumes() {
    let Some(data) = data() else {
        eprintln!("skipped: no data");
        return;
    };
    let dir = TestDir::new();
    let line = format!("reproduce --data {} --only iris,Iris --quick --seeds 1 -o out", data.display());
    let table = dir.rpf(&line).done().out;
    assert!(table.contains("Iris") && table.contains("report.html"), "{table}");
    for file in ["results.json", "report.html", "paper-results.md", "rho_c.svg", "rho_r.svg"] {
        assert!(dir.path("out").join(file).is_file(), "{file}");
    }
    let written: serde_json::Value = serde_json::from_slice(&dir.bytes("out/results.json")).unwrap();
    let methods = written["datasets"]["iris"]["methods"].as_object().unwrap();
    for name in [
        "kmeans",
        "njw",
        "cf",
        "algorithm3_ncut_best",
        "algorithm3_kway_best",
        "algorithm3_label_free",
        "auto",
    ] {
        for preparation in ["raw", "standardized", "paper"] {
            let cell = &methods[name][preparation];
            assert!(cell["rho_c"]["mean"].as_f64().unwrap() > 33.0, "{name}, {preparation}: {cell}");
            assert_eq!(cell["rho_c"]["runs"], 1, "{name}, {preparation}: {cell}");
        }
    }
    // Seconds are part of the results: only a run that was not repeated has the same.
    assert_eq!(dir.rpf(&format!("{line} --json")).done().json(), written);
}
