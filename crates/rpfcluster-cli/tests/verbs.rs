//! `rpf kernel`, `neighbors`, `inspect`, `score`, `demo`, `completions` and help texts.

mod common;

use common::{TestDir, npy, numbers, read_npy};
use rpfcluster_data::{ReadOptions, read_frame, read_similarity};

#[test]
fn kernel_in_every_format_is_the_same_matrix() {
    let dir = TestDir::new();
    for file in ["s.npz", "s.mtx", "s.npy", "s.parquet"] {
        let run = dir.rpf(&format!("kernel iris.csv --label species --trees 50 -o {file}")).done();
        assert!(run.out.is_empty(), "{}", run.out);
    }
    let dense = read_npy(&dir.path("s.npy"));
    assert_eq!(dense.len(), 150 * 150);
    for file in ["s.npz", "s.mtx"] {
        let read = read_similarity(dir.path(file), &ReadOptions::default()).unwrap();
        let mut full = vec![0.0; 150 * 150];
        for i in 0..150 {
            for at in read.indptr[i]..read.indptr[i + 1] {
                full[i * 150 + read.indices[at] as usize] = read.data[at];
            }
        }
        assert_eq!(full, dense, "{file}");
    }
    let entries = read_frame(dir.path("s.parquet"), &ReadOptions::default()).unwrap();
    assert_eq!(entries.names(), ["i", "j", "s"]);
    let mut full = vec![0.0; 150 * 150];
    for entry in 0..entries.n() {
        let [i, j, s] = [0, 1, 2].map(|column| entries.number(entry, column));
        full[i as usize * 150 + j as usize] = s;
    }
    assert_eq!(full, dense, "s.parquet");
    for i in 0..150 {
        assert_eq!(dense[i * 150 + i], 1.0);
        for j in 0..150 {
            let count = dense[i * 150 + j] * 50.0;
            assert!((count - count.round()).abs() < 1e-9);
            assert_eq!(dense[i * 150 + j], dense[j * 150 + i]);
        }
    }
}

#[test]
fn kernel_keeps_the_pairs_of_min_and_top() {
    let dir = TestDir::new();
    let matrix = |options: &str| {
        dir.rpf(&format!("kernel iris.csv --label species -q -o k.npy {options}")).done();
        read_npy(&dir.path("k.npy"))
    };
    let all = matrix("");
    let min = matrix("--min 0.3");
    let top = matrix("--top 5");
    let both = matrix("--top 5 --min 0.3");
    for i in 0..150 {
        let mut order: Vec<usize> = (0..150).filter(|&j| j != i).collect();
        order.sort_by(|&a, &b| all[i * 150 + b].total_cmp(&all[i * 150 + a]).then(a.cmp(&b)));
        for j in 0..150 {
            let at = i * 150 + j;
            assert_eq!(min[at], if all[at] >= 0.3 { all[at] } else { 0.0 });
            assert_eq!(both[at], if all[at] >= 0.3 { top[at] } else { 0.0 });
            assert_eq!(top[at], top[j * 150 + i], "symmetric");
            assert!(top[at] == 0.0 || top[at] == all[at]);
        }
        assert!(order[..5].iter().all(|j| top[i * 150 + j] == all[i * 150 + j]), "row {i}");
        assert_eq!(top[i * 150 + i], 1.0);
    }
}

#[test]
fn kernel_json_has_size_parameters_and_times() {
    let dir = TestDir::new();
    let run = dir.rpf("kernel iris.csv --label 5 -o s.npz --trees 40 --seed 7 --split median --json").done();
    let object = run.json();
    assert_eq!(object["command"], "kernel");
    assert_eq!(object["n"], 150);
    assert_eq!(object["d"], 4);
    assert_eq!(object["seed"], 7);
    assert_eq!(object["params"]["trees"], 40);
    assert_eq!(object["params"]["split"], "median");
    for stage in ["read", "grow", "kernel", "total"] {
        assert!(object["seconds"][stage].is_number(), "{stage}: {object}");
    }
    assert!(object["pairs"].as_u64().unwrap() > 150);
}

#[test]
fn every_forest_option_changes_the_kernel() {
    let dir = TestDir::new();
    let matrix = |options: &str| {
        dir.rpf(&format!("kernel iris.csv --label species -q -o k.npy {options}")).done();
        dir.bytes("k.npy")
    };
    let plain = matrix("");
    let options = [
        "--trees 199",
        "--min-node 29",
        "--split median",
        "--direction sparse",
        "--candidates 2",
        "--max-samples 40",
        "--seed 1",
        "--standardize all",
        "--standardize petal_width,2",
        "--drop 1",
        "--columns petal_length,petal_width",
    ];
    for option in options {
        assert_ne!(matrix(option), plain, "{option}");
    }
    assert_eq!(matrix("--max-samples 150"), plain);
    assert_eq!(matrix("--trees 200 --min-node 30 --seed 0 --missing error --standardize none"), plain);
}

#[test]
fn single_precision_input_gives_a_single_precision_model() {
    let dir = TestDir::new();
    let values: Vec<f64> = numbers().take(600).collect();
    dir.put("a.npy", npy("<f4", 200, 3, values.iter().map(|v| (*v as f32).to_le_bytes())));
    dir.put("b.npy", npy("<f8", 200, 3, values.iter().map(|v| f64::from(*v as f32).to_le_bytes())));
    dir.rpf("kernel a.npy -o a.npz --model a.rpf -q").done();
    dir.rpf("kernel b.npy -o b.npz --model b.rpf -q").done();
    assert_eq!(dir.rpf("inspect a.rpf --json").done().json()["precision"], "f32");
    assert_eq!(dir.rpf("inspect b.rpf --json").done().json()["precision"], "f64");
}

#[test]
fn neighbors_have_the_similarities_of_the_kernel() {
    let dir = TestDir::new();
    dir.rpf("kernel iris.csv --label species -o k.npy -q").done();
    let kernel = read_npy(&dir.path("k.npy"));
    let run = dir.rpf("neighbors iris.csv --label species -n 3").done();
    let mut lines = run.out.lines();
    assert_eq!(lines.next(), Some("row,rank,neighbor,similarity"));
    let lines: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|c| c.parse().unwrap()).collect()).collect();
    assert_eq!(lines.len(), 450);
    for line in &lines {
        let (i, j) = (line[0] as usize - 1, line[2] as usize - 1);
        assert_eq!(kernel[i * 150 + j], line[3]);
    }
    assert!(run.err.is_empty(), "{}", run.err);
}

#[test]
fn exact_neighbors_are_ranked_by_distance() {
    let dir = TestDir::new();
    dir.put("line.csv", (0..60).map(|i| format!("{}\n", i * i)).collect::<String>());
    dir.rpf("neighbors line.csv -n 2 --exact --pool 59 --min-node 60 -o n.csv").done();
    let text = String::from_utf8(dir.bytes("n.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("row,rank,neighbor,similarity,distance"));
    assert!(lines.next().unwrap().starts_with("1,1,2,"));
    assert!(text.contains("\n60,1,59,") && text.contains(",117\n"), "{text}");
}

#[test]
fn neighbors_against_a_model_finds_the_row_itself_first() {
    let dir = TestDir::new();
    dir.rpf("kernel iris.csv --label species --standardize all -o k.npz --model m.rpf -q").done();
    dir.put("new.csv", "petal_width,sepal_length,sepal_width,petal_length\n0.2,5.1,3.5,1.4\n");
    let run = dir.rpf("neighbors new.csv -n 1 --against m.rpf").done();
    assert_eq!(run.out, "row,rank,neighbor,similarity\n1,1,1,1\n");
}

#[test]
fn inspect_shows_columns_and_preparation() {
    let dir = TestDir::new();
    dir.rpf("kernel iris.csv --label species --standardize 1 --trees 9 -o k.npz --model m.rpf -q").done();
    let text = dir.rpf("inspect m.rpf").done().out;
    for part in [
        "version 1",
        "150 rows, 4 columns",
        "trees 9",
        "sepal_length, sepal_width",
        "standardised  sepal_length",
    ] {
        assert!(text.contains(part), "no \"{part}\" in\n{text}");
    }
    let object = dir.rpf("inspect m.rpf --json").done().json();
    assert_eq!(object["format"], 1);
    assert_eq!(object["trees"], 9);
    assert_eq!(object["columns"][3], "petal_width");
    assert_eq!(object["bytes"].as_u64().unwrap(), dir.bytes("m.rpf").len() as u64);
    assert_eq!(object["meta"]["label"], "species");
}

#[test]
fn scores_from_two_files_equal_those_from_two_columns() {
    let dir = TestDir::new();
    let classes = ["a", "a", "a", "b", "b", "b"];
    let clusters = [0, 0, 1, 1, 1, 1];
    let rows = |f: &dyn Fn(usize) -> String| (0..6).map(f).collect::<String>();
    dir.put("labels.csv", format!("row,cluster\n{}", rows(&|i| format!("{},{}\n", i + 1, clusters[i]))));
    dir.put("truth.txt", rows(&|i| format!("{}\n", classes[i])));
    let all = rows(&|i| format!("{i},{},{}\n", classes[i], clusters[i]));
    dir.put("all.csv", format!("x,class,cluster\n{all}"));
    let both = [
        "score labels.csv --truth truth.txt --json",
        "score all.csv --truth class --json",
        "score labels.csv --truth all.csv --label class --json",
    ];
    for line in both {
        let object = dir.rpf(line).done().json();
        assert!((object["scores"]["rho_c"].as_f64().unwrap() - 500.0 / 6.0).abs() < 1e-9, "{line}: {object}");
        assert_eq!(object["scores"]["majority"], 50.0);
        assert_eq!(object["contingency"]["counts"], serde_json::json!([[2, 0], [1, 3]]));
        assert_eq!(object["n"], 6);
        assert_eq!(object["k"], 2);
    }
    let text = dir.rpf("score all.csv --truth class").done().out;
    assert!(text.contains("accuracy (rho_c)     83.33 %") && text.contains("cluster"), "{text}");
    // A labels file that leaves rows out names those it has.
    dir.put("some.csv", "row,cluster\n6,1\n1,0\n");
    let object = dir.rpf("score some.csv --truth truth.txt --json").done().json();
    assert_eq!(object["scores"]["rho_c"], 100.0);
}

#[test]
fn demo_prints_scores_and_writes_page_and_picture() {
    let dir = TestDir::new();
    let run = dir.rpf("demo --out pictures").done();
    let parts = [
        "150 iris flowers",
        "3 clusters",
        "rho_c",
        "rho_r",
        "adjusted Rand index",
        "NMI",
        "always the largest class: accuracy 33.33 %",
        "versicolor",
        "pictures/iris-kernel.svg",
        "pictures/report.html",
        "rpf cluster data.csv -k 3",
    ];
    for part in parts {
        assert!(run.out.contains(part), "no \"{part}\" in\n{}", run.out);
    }
    let picture = String::from_utf8(dir.bytes("pictures/iris-kernel.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("virginica") && picture.contains("image/png"));
    let page = String::from_utf8(dir.bytes("pictures/report.html")).unwrap();
    assert!(page.contains("Clusters of iris") && page.contains("rpf demo --out pictures --seed 0"));
}

#[test]
fn every_shell_has_completions() {
    let dir = TestDir::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = dir.rpf(&format!("completions {shell}")).done();
        assert!(run.out.contains("neighbors"), "{shell}");
    }
}

#[test]
fn help_of_each_verb_has_examples() {
    let dir = TestDir::new();
    assert!(dir.rpf("--version").done().out.starts_with("rpf 0."));
    let all = dir.rpf("--help").done().out;
    let listed = all.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    // Further lines of a description are indented by more than two spaces.
    let verbs: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|verb| !verb.is_empty() && *verb != "help")
        .collect();
    assert!(verbs.contains(&"cluster") && verbs.contains(&"plot"), "{verbs:?}");
    for verb in verbs {
        for flag in ["-h", "--help"] {
            let help = dir.rpf(&format!("{verb} {flag}")).done();
            assert!(help.out.contains("Examples:"), "{verb} {flag}");
            assert!(help.out.contains(&format!("Usage: rpf {verb}")), "{verb} {flag}");
            assert!(help.err.is_empty(), "{verb} {flag}");
        }
    }
}
