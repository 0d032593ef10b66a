//! `rpf cluster`, `rpf predict` and `rpf embed`: labels, JSON, automatic choices, thread counts, precomputed matrices.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::{TestDir, numbers, read_npy, shape_csv};
use rpfcluster_data::shapes::Shape;

/// The second column of a labels file.
fn clusters(text: &str) -> Vec<u32> {
    assert!(text.starts_with("row,cluster\n"), "{text}");
    text.lines().skip(1).map(|line| line.split_once(',').unwrap().1.parse().unwrap()).collect()
}

#[test]
fn labels_go_to_standard_output_or_to_a_file() {
    let dir = TestDir::new();
    let run = dir.rpf("cluster iris.csv -k 3 --label species").done();
    let labels = clusters(&run.out);
    assert_eq!(labels.len(), 150);
    assert_eq!(labels[0], 0, "clusters count from 0 in order of first appearance");
    for part in
        ["150 rows, 4 columns, 3 clusters", "cluster 2", "▇", "rho_c", "top-k", "eigenvalues", "converged"]
    {
        assert!(run.err.contains(part), "no \"{part}\" in\n{}", run.err);
    }
    let quiet = dir.rpf("cluster iris.csv -k 3 --label species -o labels.csv --quiet").done();
    assert!(quiet.out.is_empty() && quiet.err.is_empty());
    assert_eq!(String::from_utf8(dir.bytes("labels.csv")).unwrap(), run.out);
    let object = dir.rpf("score labels.csv --truth iris.csv --label species --json").done().json();
    assert!(object["scores"]["rho_c"].as_f64().unwrap() > 85.0, "{object}");
}

#[test]
fn json_has_the_keys_scripts_rely_on() {
    let dir = TestDir::new();
    let keys = |object: &serde_json::Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let run = dir.rpf("cluster iris.csv -k 3 --label species --seed 4 --json -o l.csv").done();
    let object = run.json();
    let expected = "command version n d k seed params chosen verdict hints cluster_sizes eigenvalues converged \
                    residual seconds peak_bytes scores";
    assert_eq!(keys(&object).join(" "), expected);
    assert_eq!(keys(&object["seconds"]).join(" "), "read grow kernel spectral label assess total");
    assert_eq!(keys(&object["scores"]).join(" "), "rho_c rho_r ari nmi majority");
    assert_eq!(object["command"], "cluster");
    assert_eq!(
        (object["n"].as_u64(), object["d"].as_u64(), object["k"].as_u64(), object["seed"].as_u64()),
        (Some(150), Some(4), Some(3), Some(4))
    );
    assert!(run.err.is_empty(), "{}", run.err);
    let sizes: Vec<u64> =
        object["cluster_sizes"].as_array().unwrap().iter().map(|s| s.as_u64().unwrap()).collect();
    assert_eq!((sizes.len(), sizes.iter().sum::<u64>()), (3, 150));
    assert_eq!(object["eigenvalues"].as_array().unwrap().len(), 3);
    assert_eq!(keys(&object["chosen"]).join(" "), "k trees settings");
    assert!(object["chosen"].as_object().unwrap().values().all(serde_json::Value::is_null), "{object}");
    let chosen = dir.rpf("cluster iris.csv -k 3 --label species --affinity auto --json").done().json();
    assert_eq!(keys(&chosen["seconds"]).join(" "), "read grow kernel spectral label tune assess total");
    let tried = chosen["chosen"]["settings"]["candidates"].as_array().unwrap();
    assert!(tried.len() > 1 && tried[0]["strength"].is_number(), "{chosen}");
    let without = dir.rpf("cluster iris.csv -k 3 --drop species --json").done().json();
    assert!(without.get("scores").is_none());
    let line = "cluster iris.csv -k 2 --label 5 --affinity paper --beta1 0.2 --beta2 0.5 --diagonal drop \
                --method ncut --trees 50 --min-node 20 --max-samples 60 --json";
    let params = dir.rpf(line).done().json()["params"].clone();
    let expected = serde_json::json!({
        "trees": 50, "min_node": 20, "split": "uniform", "direction": "gaussian", "candidates": 1, "max_samples": 60,
        "components": null, "metric": "euclidean", "duplicates": "weigh", "affinity": "paper", "beta1": 0.2, "beta2": 0.5, "diagonal": "drop", "top": null, "power": null,
        "method": "ncut", "quality": null, "resolution": null, "solver": "dense", "landmarks": null,
    });
    assert_eq!(params, expected);
}

#[test]
fn every_method_gives_exactly_k_clusters() {
    let dir = TestDir::new();
    for affinity in ["top-k", "paper", "linear"] {
        for method in ["kway", "ncut"] {
            for k in [1, 2, 7, 20] {
                let line =
                    format!("cluster iris.csv --label 5 -k {k} --affinity {affinity} --method {method} -q");
                let labels = clusters(&dir.rpf(&line).done().out);
                let mut seen = labels.clone();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen, (0..k).collect::<Vec<u32>>(), "{line}");
            }
        }
    }
}

#[test]
fn auto_k_finds_four_blobs_and_confidence_is_from_zero_to_one() {
    let dir = TestDir::new();
    dir.put("blobs.csv", shape_csv(&Shape::Blobs { k: 4, d: 2, sd: 0.3 }, 600, 5));
    let object = dir.rpf("cluster blobs.csv --label class -k auto --max-k 8 --json").done().json();
    assert_eq!((&object["k"], &object["chosen"]["k"]["k"]), (&4.into(), &4.into()), "{object}");
    let tried = object["chosen"]["k"]["candidates"].as_array().unwrap();
    assert!(tried.iter().all(|c| c["score"].is_number()), "{object}");
    let mut ks: Vec<u64> = tried.iter().map(|c| c["k"].as_u64().unwrap()).collect();
    ks.sort_unstable();
    assert_eq!(ks, (2..=8).collect::<Vec<u64>>());
    let run = dir.rpf("cluster blobs.csv --label class -k auto").done();
    assert!(run.err.contains("chosen k     4"), "{}", run.err);
    let run = dir.rpf("cluster blobs.csv --label class -k 4 --confidence").done();
    let mut lines = run.out.lines();
    assert_eq!(lines.next(), Some("row,cluster,confidence"));
    let confidence = lines.map(|l| l.rsplit_once(',').unwrap().1.parse::<f64>().unwrap());
    assert!(confidence.clone().all(|c| (0.0..=1.0).contains(&c)) && confidence.fold(0.0, f64::max) > 0.9);
}

/// Nine columns of whole numbers from 1 to 10, as in the Wisconsin breast cancer table: a hundred equal rows among a
/// hundred small ones, and a hundred spread out.
fn table_with_copies() -> String {
    let mut draws = numbers();
    let mut row = |i: usize| -> String {
        let (class, cells): (usize, Vec<u32>) = match i % 3 {
            0 => (0, vec![1, 1, 1, 1, 2, 1, 1, 1, 1]),
            1 => (0, draws.by_ref().take(9).map(|u| 1 + (u * u * 4.0) as u32).collect()),
            _ => (1, draws.by_ref().take(9).map(|u| 1 + (u * 10.0) as u32).collect()),
        };
        cells.iter().map(|cell| format!("{cell},")).collect::<String>() + &format!("{class}\n")
    };
    (0..300).map(&mut row).collect()
}

#[test]
fn equal_rows_are_an_island_only_when_they_are_kept() {
    let dir = TestDir::new();
    dir.put("copies.csv", table_with_copies());
    let line = "cluster copies.csv --label 10 -k 2 --json --model m.rpf";
    let weigh = dir.rpf(line).done().json();
    assert_eq!(weigh["params"]["duplicates"], "weigh");
    assert!(weigh["scores"]["ari"].as_f64().unwrap() > 0.9, "{weigh}");
    let inspected = dir.rpf("inspect m.rpf --json").done().json();
    assert_eq!((&inspected["n"], &inspected["distinct"]), (&300.into(), &201.into()));
    let text = dir.rpf("inspect m.rpf").done().out;
    assert!(text.contains("201 distinct rows of 300"), "{text}");
    let keep = dir.rpf(&format!("{line} --duplicates keep")).done().json();
    assert_eq!(keep["params"]["duplicates"], "keep");
    assert!(keep["scores"]["ari"].as_f64().unwrap() < 0.2, "{keep}");
    assert_eq!(keep["cluster_sizes"], serde_json::json!([100, 200]));
    assert!(dir.rpf("inspect m.rpf --json").done().json()["distinct"].is_null());
    dir.put("keep.toml", "duplicates = \"keep\"\n");
    let configured = dir.rpf(&format!("{line} --config keep.toml")).done().json();
    assert_eq!(configured["cluster_sizes"], keep["cluster_sizes"]);
    dir.refuses(2, "cluster copies.csv -k 2 --duplicates drop", &["drop", "weigh", "keep"]);
    dir.refuses(2, "cluster copies.csv -k 2 --precomputed --duplicates keep", &["--precomputed"]);
}

#[test]
fn verdict_and_hints_go_to_json_terminal_and_page() {
    let dir = TestDir::new();
    let mut draws = numbers();
    let mut cell = |i: usize| draws.next().unwrap() + 9.0 * (i % 2) as f64;
    let rows: String = (0..120).map(|i| format!("{},{},{}\n", i + 1, cell(i), cell(i))).collect();
    dir.put("numbered.csv", format!("id,x,y\n{rows}"));
    let line = "cluster numbered.csv -k 2 -o l.csv --report r.html";
    let run = dir.rpf(&format!("{line} --json")).done();
    let object = run.json();
    let verdict = object["verdict"].as_object().unwrap();
    assert_eq!(verdict.keys().collect::<Vec<_>>(), ["word", "score", "reason"]);
    assert!(["clear", "plausible", "weak", "none"].contains(&verdict["word"].as_str().unwrap()), "{object}");
    assert!((0.0..=1.0).contains(&verdict["score"].as_f64().unwrap()), "{object}");
    let hints: Vec<&str> = object["hints"].as_array().unwrap().iter().map(|h| h.as_str().unwrap()).collect();
    assert!(hints.iter().any(|h| h.contains("Column id looks like an identifier")), "{hints:?}");
    assert!(hints.iter().all(|hint| run.err.contains(hint)), "{}", run.err);
    assert!(dir.rpf(line).done().err.contains("\nverdict "));
    let page = String::from_utf8(dir.bytes("r.html")).unwrap();
    assert!(page.contains("Verdict: <b>") && page.contains("<p class=\"warning\">Column id looks like"));
    let without = dir.rpf("cluster numbered.csv -k 2 --drop id --json").done();
    assert_eq!((&without.json()["hints"], without.err.as_str()), (&serde_json::json!([]), ""));
    assert_eq!(without.json()["verdict"]["word"], "clear");
}

#[test]
fn auto_chooses_the_number_of_trees() {
    let dir = TestDir::new();
    // Far apart: the fewest trees will do. One cloud cut in seven: no number of trees settles it.
    dir.put("blobs.csv", shape_csv(&Shape::Blobs { k: 3, d: 2, sd: 0.2 }, 300, 5));
    dir.put("cloud.csv", shape_csv(&Shape::Blobs { k: 1, d: 3, sd: 1.0 }, 300, 5));
    for (line, agreed) in
        [("cluster blobs.csv --label class -k 3", true), ("cluster cloud.csv --label class -k 7", false)]
    {
        let object = dir.rpf(&format!("{line} --trees auto --json")).done().json();
        let chosen = &object["chosen"]["trees"];
        assert_eq!(object["params"]["trees"], chosen["trees"], "{object}");
        assert_eq!(chosen["agreed"], agreed, "{chosen}");
        let tried = chosen["tried"].as_array().unwrap();
        assert_eq!(tried[0]["trees"], 50, "{chosen}");
        assert_eq!(tried.len() == 1, agreed, "{chosen}");
        // The same forest as when the number is given.
        let given = format!("{line} --trees {}", chosen["trees"]);
        assert_eq!(dir.rpf(&given).done().out, dir.rpf(&format!("{line} --trees auto")).done().out);
    }
    let run = dir.rpf("cluster blobs.csv --label class -k 3 --trees auto").done();
    assert!(run.err.contains("trees        50 chosen"), "{}", run.err);
}

#[test]
fn moons_and_rings_of_seed_zero_are_clustered_exactly_by_default() {
    let dir = TestDir::new();
    for (shape, k) in [(Shape::Moons, 2), (Shape::Rings, 3)] {
        dir.put("shape.csv", shape_csv(&shape, 2000, 0));
        let object = dir.rpf(&format!("cluster shape.csv --label class -k {k} --json")).done().json();
        assert_eq!(object["scores"]["rho_c"], 100.0, "{}: {object}", shape.name());
    }
}

#[test]
fn labels_models_and_embeddings_do_not_depend_on_thread_count() {
    let dir = TestDir::new();
    dir.put("shape.csv", shape_csv(&Shape::Anisotropic, 1500, 3));
    for affinity in ["top-k", "paper", "linear"] {
        let mut first = None;
        for threads in [1, 2, 8] {
            let shared =
                format!("shape.csv --label class --affinity {affinity} --threads {threads} --trees 60 -q");
            dir.rpf(&format!("cluster {shared} -k 4 -o l.csv --model m.rpf")).done();
            dir.rpf(&format!("embed {shared} -d 3 -o e.npy")).done();
            dir.rpf(&format!("predict m.rpf shape.csv --threads {threads} -q -o p.csv")).done();
            let files = ["l.csv", "m.rpf", "e.npy", "p.csv"].map(|file| dir.bytes(file));
            match &first {
                None => first = Some(files),
                Some(first) => assert!(*first == files, "{affinity}, {threads} threads"),
            }
        }
    }
}

#[test]
fn training_rows_keep_their_labels_in_predict() {
    let dir = TestDir::new();
    for options in
        ["--affinity top-k", "--affinity paper", "--affinity linear --standardize all --method ncut"]
    {
        dir.rpf(&format!("cluster iris.csv --label species -k 4 {options} -o l.csv --model m.rpf -q")).done();
        let run = dir.rpf("predict m.rpf iris.csv").done();
        assert_eq!(run.out.as_bytes(), dir.bytes("l.csv"), "{options}");
    }
    let object = dir.rpf("predict m.rpf iris.csv --label species --json").done().json();
    assert_eq!(
        (object["command"].as_str(), object["n"].as_u64(), object["k"].as_u64()),
        (Some("predict"), Some(150), Some(4))
    );
    assert!(object["scores"]["rho_c"].is_number());
    let text = dir.rpf("inspect m.rpf").done().out;
    assert!(text.contains("clusters      4, of") && text.contains("linear, ncut"), "{text}");
    // Columns are found by name, and new rows near old ones get their cluster.
    dir.rpf("cluster iris.csv --label species -k 2 -o l.csv --model m.rpf -q").done();
    dir.put(
        "new.csv",
        "petal_width,extra,sepal_length,sepal_width,petal_length\n0.2,9,5.1,3.5,1.4\n0.25,9,5,3.4,1.5\n",
    );
    assert_eq!(dir.rpf("predict m.rpf new.csv").done().out, "row,cluster\n1,0\n2,0\n");
    // A row far outside gets a cluster and a hint.
    dir.put(
        "far.csv",
        "sepal_length,sepal_width,petal_length,petal_width\n5.1,3.5,1.4,0.2\n5.1,3.5,900,0.2\n",
    );
    let object = dir.rpf("predict m.rpf far.csv --json").done().json();
    let hint = object["hints"][0].as_str().unwrap();
    assert!(hint.contains("1 row lies far outside") && hint.contains("row 2"), "{hint}");
}

#[test]
fn verdict_and_hints_are_in_the_summary_the_json_object_and_the_page() {
    let dir = TestDir::new();
    let mut cells = numbers();
    let rows: String = (0..200)
        .map(|i| {
            format!(
                "{},{},{}\n",
                90_000 + i,
                cells.next().unwrap() + f64::from(i % 2) * 9.0,
                cells.next().unwrap()
            )
        })
        .collect();
    dir.put("id.csv", format!("id,x,y\n{rows}"));
    let run = dir.rpf("cluster id.csv -k 2 -o l.csv --report r.html").done();
    assert!(
        run.err.contains("verdict      ") && run.err.contains("hint: Column id looks like an identifier"),
        "{}",
        run.err
    );
    let page = String::from_utf8(dir.bytes("r.html")).unwrap();
    assert!(page.contains("Column id looks like an identifier") && page.contains("Verdict: <b>"), "the page");
    let object = dir.rpf("cluster id.csv -k 2 -o l.csv --json -q").done().json();
    assert!(["weak", "none"].contains(&object["verdict"]["word"].as_str().unwrap()), "{object}");
    assert!(object["verdict"]["score"].as_f64().unwrap() < 0.5);
    assert!(object["verdict"]["reason"].as_str().unwrap().ends_with('.'));
    assert_eq!(object["hints"].as_array().unwrap().len(), 2);
    let object = dir.rpf("cluster id.csv --drop id -k auto -o l.csv --json -q").done().json();
    assert_eq!((object["k"].as_u64(), object["verdict"]["word"].as_str()), (Some(2), Some("clear")));
}

#[test]
fn a_fitted_row_far_outside_is_named_by_its_input_row() {
    let dir = TestDir::new();
    let mut cells = numbers();
    let rows: String = (0..60)
        .map(|i| match i {
            7 => ",1\n".to_string(),
            29 => "9000,2\n".to_string(),
            _ => format!("{},{}\n", cells.next().unwrap() + f64::from(i % 2) * 9.0, cells.next().unwrap()),
        })
        .collect();
    dir.put("far.csv", format!("a,b\n{rows}"));
    let hint = "1 row lies far outside the other rows (the first is row 30); the cluster is a guess there";
    let run = dir.rpf("cluster far.csv -k 2 --missing drop -o l.csv --report r.html").done();
    assert!(run.err.contains(&format!("hint: {hint}\n")), "{}", run.err);
    let page = String::from_utf8(dir.bytes("r.html")).unwrap();
    assert!(page.contains(&format!("{hint}.")), "the page");
    let object = dir.rpf("cluster far.csv -k 2 --missing drop -o l.csv --json -q").done().json();
    let hints = object["hints"].as_array().unwrap();
    assert!(hints.iter().any(|sentence| sentence.as_str().unwrap().contains(hint)), "{hints:?}");
    let near = String::from_utf8(dir.bytes("far.csv")).unwrap().replace("9000,2", "9,2");
    dir.put("near.csv", near);
    let run = dir.rpf("cluster near.csv -k 2 --missing drop -o l.csv").done();
    assert!(!run.err.contains("far outside"), "{}", run.err);
}

#[test]
fn rows_with_missing_values_have_no_label() {
    let dir = TestDir::new();
    let mut cells = numbers();
    let rows: String = (0..60)
        .map(|i| {
            let x = cells.next().unwrap() + if i % 2 == 0 { 0.0 } else { 50.0 };
            if i == 7 { ",1\n".into() } else { format!("{x},{}\n", i % 3) }
        })
        .collect();
    dir.put("gaps.csv", format!("a,b\n{rows}"));
    let run = dir.rpf("cluster gaps.csv -k 2 --missing drop").done();
    assert_eq!(run.out.lines().count(), 60);
    assert!(run.out.contains("\n7,0\n9,0\n10,1\n"), "{}", run.out);
    let run = dir.rpf("cluster gaps.csv -k 2 --missing drop --append --model m.rpf").done();
    assert!(run.out.starts_with("a,b,cluster\n"), "{}", run.out);
    assert_eq!(run.out.lines().nth(8), Some(",1,"), "{}", run.out);
    assert_eq!(dir.rpf("predict m.rpf gaps.csv --append").done().out, run.out);
    dir.put("labelled.csv", run.out);
    let again = dir.rpf("cluster labelled.csv -k 2 --missing drop --append").done();
    assert!(again.err.contains("column \"cluster\" holds the labels of an earlier run"), "{}", again.err);
    assert_eq!(again.out.as_bytes(), dir.bytes("labelled.csv"), "replaced, not a feature");
}

#[test]
fn csv_and_npy_embeddings_are_equal() {
    let dir = TestDir::new();
    let run = dir.rpf("embed iris.csv --label species --affinity linear -d 2").done();
    let mut lines = run.out.lines();
    assert_eq!(lines.next(), Some("row,e1,e2"));
    let text: Vec<f64> =
        lines.flat_map(|l| l.split(',').skip(1).map(|c| c.parse().unwrap()).collect::<Vec<f64>>()).collect();
    dir.rpf("embed iris.csv --label species --affinity linear -d 2 -o e.npy -q").done();
    assert_eq!(text, read_npy(&dir.path("e.npy")));
    // The first coordinate parts setosa from the rest.
    let side = |i: usize| text[2 * i] > 0.0;
    let apart = (0..150).filter(|&i| side(i) == (side(0) == (i < 50))).count();
    assert!((0..50).all(|i| side(i) == side(0)) && apart >= 140, "{apart}");
    let object = dir.rpf("embed iris.csv --label species -d 5 -o e.csv --json").done().json();
    assert_eq!(object["dimensions"], 5);
    assert_eq!(object["eigenvalues"].as_array().unwrap().len(), 6);
}

/// The paper's example: a chain of nine points, weak between the fourth and the fifth.
#[test]
fn the_nine_points_of_the_paper_split_at_the_weak_link() {
    let dir = TestDir::new();
    let mut full = vec![0.0; 81];
    (0..9).for_each(|i| full[i * 9 + i] = 1.0);
    for i in 0..8 {
        let s = if i == 3 { 0.3 } else { 0.9 };
        full[i * 9 + i + 1] = s;
        full[(i + 1) * 9 + i] = s;
    }
    let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    dir.put("s.csv", full.chunks(9).map(line).collect::<String>());
    dir.put("s.npy", common::npy("<f8", 9, 9, full.iter().map(|v| v.to_le_bytes())));
    let entries: Vec<String> = (0..81)
        .filter(|at| full[*at] > 0.0)
        .map(|at| format!("{} {} {}\n", at / 9 + 1, at % 9 + 1, full[at]))
        .collect();
    let head = format!("%%MatrixMarket matrix coordinate real general\n9 9 {}\n", entries.len());
    dir.put("s.mtx", head + &entries.concat());
    for file in ["s.csv", "s.npy", "s.mtx"] {
        for method in ["kway", "ncut"] {
            let run = dir
                .rpf(&format!("cluster {file} --precomputed -k 2 --method {method} --report r.html"))
                .done();
            assert_eq!(clusters(&run.out), [0, 0, 0, 0, 1, 1, 1, 1, 1], "{file} {method}");
        }
    }
    let object = dir.rpf("cluster s.csv --precomputed -k 2 --json").done().json();
    assert_eq!(object["n"], 9);
    assert!(object["d"].is_null());
    assert_eq!(object["params"]["affinity"], "precomputed");
    // What rpf kernel wrote is a similarity matrix too.
    dir.rpf("kernel iris.csv --label species -o k.npz -q").done();
    let labels = clusters(&dir.rpf("cluster k.npz --precomputed -k 3").done().out);
    let linear = clusters(
        &dir.rpf("cluster iris.csv --label species --affinity linear --min-node 30 -k 3").done().out,
    );
    assert_eq!(labels, linear);
}
