//! A small reproduction end to end: the files it writes, resumption, and damaged input.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, like the tests"
)]

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rpfcluster_paper::reproduce::{Plan, Reproduction, RunObserver, Step, paper_results};

/// The data folder: `RPF_DATA`, or `shared/data` beside the workspace.
fn data() -> Option<PathBuf> {
    let named = std::env::var_os("RPF_DATA").map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = [root.join("../shared/data"), root.join("../../shared/data")];
    let found = named.into_iter().chain(beside).find(|p| p.join("iris/iris.data").is_file());
    if found.is_none() {
        println!("skipped: no data");
    }
    found
}

#[derive(Default)]
struct Watch(Mutex<Vec<(usize, usize)>>, Mutex<Option<Plan>>);

impl rpfcluster::Observer for Watch {}

impl RunObserver for Watch {
    fn plan(&self, plan: &Plan) {
        *self.1.lock().unwrap() = Some(plan.clone());
    }

    fn step(&self, step: &Step<'_>) {
        self.0.lock().unwrap().push((step.done, step.total));
    }
}

fn small(data: &Path, out: &Path) -> Reproduction {
    Reproduction {
        data: data.to_path_buf(),
        out: out.to_path_buf(),
        quick: true,
        only: vec!["iris".into(), "soybean".into()],
        seeds: Some(2),
        threads: None,
        commit: Some("abc123".into()),
    }
}

#[test]
fn all_files_are_written_and_a_second_run_reuses_every_unit() {
    let Some(data) = data() else { return };
    let out = tempfile::tempdir().unwrap();
    let watch = Watch::default();
    let first = small(&data, out.path()).run(&watch).unwrap();
    assert!(first.failed.is_empty(), "{:?}", first.failed);
    let seen = watch.0.lock().unwrap().clone();
    // Two preparations, five experiments and two seeds of two sets, and the numbers of trees twice each.
    assert_eq!(seen.first(), Some(&(0, 44)));
    assert_eq!(seen.last(), Some(&(44, 44)));
    let plan = watch.1.lock().unwrap().clone().unwrap();
    assert_eq!((plan.units, plan.finished, plan.sets.len()), (44, 0, 2));
    assert!(plan.seconds > 0.0 && plan.seconds.is_finite(), "{plan:?}");
    for file in [
        "results.json",
        "statements.json",
        "report.html",
        "rho_c.svg",
        "rho_r.svg",
        "iris-kernels.svg",
        "iris-gaussian.svg",
        "nine-points.svg",
        "runs.csv",
        "table-rho_c-paper.csv",
        "table-ari-standardized.csv",
        "paper-results.md",
    ] {
        assert!(std::fs::metadata(out.path().join(file)).unwrap().len() > 200, "{file}");
    }
    let text = std::fs::read_to_string(out.path().join("results.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for method in [
        "kmeans",
        "njw",
        "cf",
        "algorithm3_ncut_best",
        "algorithm3_kway_best",
        "algorithm3_label_free",
        "auto",
    ] {
        for preparation in ["raw", "standardized", "paper"] {
            let cell = &json["datasets"]["soybean"]["methods"][method][preparation];
            for score in ["rho_c", "rho_r", "ari", "nmi"] {
                assert_eq!(cell[score]["runs"], 2, "{method} {preparation} {score}");
                assert!(cell[score]["mean"].is_f64() && cell[score]["sd"].is_f64());
            }
            assert!(cell["seconds"].is_f64());
        }
    }
    assert_eq!(json["datasets"]["iris"]["n"], 150);
    let page = std::fs::read_to_string(out.path().join("report.html")).unwrap();
    assert!(
        !page.contains("src=\"http")
            && !page.contains("href=\"http")
            && page.contains("chosen without labels")
    );

    assert_eq!(json["origins"][0]["commit"], "abc123");
    assert_eq!(json["origins"][0]["units"], 44);
    assert_eq!(json["datasets"]["iris"]["variants"].as_array().unwrap().len(), 7);
    for part in
        ["<h2>Summary</h2>", "Statements of the paper", "Normalised mutual", "Seconds per run", "abc123"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<figure").count(), 5);

    // Equal times show that the second run read every unit.
    let watch = Watch::default();
    let again = small(&data, out.path()).run(&watch).unwrap();
    assert_eq!(first, again);
    let plan = watch.1.lock().unwrap().clone().unwrap();
    assert_eq!((plan.units, plan.finished, plan.seconds), (44, 44, 0.0));
    // A truncated unit is run again.
    let unit = out.path().join("units/quick-iris-raw-kmeans-0.json");
    std::fs::write(&unit, "{\"version\"").unwrap();
    small(&data, out.path()).run(&rpfcluster::Silent).unwrap();
    let whole = std::fs::read_to_string(&unit).unwrap();
    assert!(whole.contains("rho_c"));
    // So is a unit of another protocol.
    let mut other: serde_json::Value = serde_json::from_str(&whole).unwrap();
    other["protocol"] = "0".into();
    other["seconds"] = 1e6.into();
    std::fs::write(&unit, other.to_string()).unwrap();
    small(&data, out.path()).run(&rpfcluster::Silent).unwrap();
    let again: serde_json::Value = serde_json::from_slice(&std::fs::read(&unit).unwrap()).unwrap();
    assert!(again["seconds"].as_f64().unwrap() < 1e5, "{again}");
    let page = std::fs::read_to_string(out.path().join("paper-results.md")).unwrap();
    assert!(page.contains("18 on Iris and Soybean"), "{page}");
}

#[test]
fn damaged_file_is_reported_with_its_digest_and_other_sets_still_run() {
    let Some(data) = data() else { return };
    let (copy, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (set, file) in [("iris", "iris.data"), ("soybean", "soybean-small.data")] {
        std::fs::create_dir(copy.path().join(set)).unwrap();
        let bytes = std::fs::read(data.join(set).join(file)).unwrap();
        std::fs::write(copy.path().join(set).join(file), bytes).unwrap();
    }
    std::fs::write(copy.path().join("iris/iris.data"), "5.1,3.5,1.4,0.2,Iris-setosa\n").unwrap();
    let request = Reproduction {
        only: vec!["iris".into(), "soybean".into(), "wine".into()],
        seeds: Some(1),
        ..small(copy.path(), out.path())
    };
    let results = request.run(&rpfcluster::Silent).unwrap();
    assert_eq!(results.datasets.keys().collect::<Vec<_>>(), ["soybean"]);
    assert!(results.failed["iris"][0].contains("6f608b71a7317216"), "{:?}", results.failed);
    assert!(results.failed["wine"][0].contains("no such file"));
    assert!(results.failed["wine"][0].contains("archive.ics.uci.edu"));
    let page = paper_results(&results, None);
    assert!(page.contains("Not run: RS (remote sensing)") && page.contains("Not run: iris"));
}

#[test]
fn unknown_set_is_refused_before_anything_runs() {
    let request = Reproduction { only: vec!["irsi".into()], ..Default::default() };
    assert!(request.run(&rpfcluster::Silent).unwrap_err().to_string().contains("iris"));
    let request = Reproduction { only: vec!["rs".into()], ..Default::default() };
    assert!(request.run(&rpfcluster::Silent).unwrap_err().to_string().contains("not public"));
}
