//! The page of `--report`: its sections, no external resources, and escaped names.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::{TestDir, numbers, shape_csv};
use rpfcluster_data::shapes::Shape;

fn page(dir: &TestDir, line: &str) -> String {
    dir.rpf(&format!("{line} --report r.html -o l.csv")).done();
    String::from_utf8(dir.bytes("r.html")).unwrap()
}

/// The JSON that the script of the page reads.
fn data(page: &str) -> serde_json::Value {
    let from = page.split_once("id=\"data\">").unwrap().1;
    serde_json::from_str(from.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_page_has_every_section() {
    let dir = TestDir::new();
    let page = page(&dir, "cluster iris.csv -k 3 --label species --affinity auto");
    let parts = [
        "150 rows with 4 columns in 3 clusters",
        "Verdict: <b>",
        "<h2>How many clusters</h2>",
        "<h2>Clusters</h2>",
        "<b>petal_length</b>",
        "<h2>Typical rows</h2>",
        "<h2>Embedding</h2>",
        "<h2>Similarity</h2>",
        "<h2>How well rows fit their clusters</h2>",
        "<h2>Doubtful rows</h2>",
        "<h2>What was chosen, and why</h2>",
        "<h2>Eigenvalues</h2>",
        "gap 0.",
        "<h2>Agreement with known classes</h2>",
        "<th>versicolor",
        "<h2>How to repeat it</h2>",
        "rpf cluster iris.csv -k 3 --label species --affinity auto --report r.html -o l.csv --seed 0",
        "color-scheme: light dark",
        "@media print",
        "width=device-width",
    ];
    for part in parts {
        assert!(page.contains(part), "no \"{part}\"");
    }
    let data = data(&page);
    assert_eq!(data["rows"].as_array().unwrap().len(), 150);
    let axes: Vec<&str> =
        data["axes"].as_array().unwrap().iter().map(|a| a["name"].as_str().unwrap()).collect();
    assert!(axes.contains(&"eigenvector 2") && axes.contains(&"petal_width"), "{axes:?}");
    assert!(axes.contains(&"confidence"), "{axes:?}");
    // Every K from 2 to 10, the run's own with the run's own labels, each with what is known of it.
    let each = data["partitions"]["each"].as_array().unwrap();
    assert_eq!(
        each.iter().map(|p| p["k"].as_u64().unwrap()).collect::<Vec<_>>(),
        (2..=10).collect::<Vec<_>>()
    );
    for partition in each {
        assert_eq!(partition["labels"].as_array().unwrap().len(), 150);
        assert_eq!(partition["silhouette"].as_array().unwrap().len(), 150);
        assert!((0.0..=1.0).contains(&partition["score"].as_f64().unwrap()));
        assert_eq!(partition["run"], partition["k"] == 3);
        if partition["k"] == 3 {
            assert_eq!(partition["labels"], data["clusters"]);
            assert_eq!(partition["colours"], serde_json::json!([0, 1, 2]));
        }
    }
    assert_eq!(data["heat"]["members"].as_array().unwrap().len(), 150);
}

#[test]
fn page_does_not_depend_on_thread_count() {
    let dir = TestDir::new();
    let one = data(&page(&dir, "cluster iris.csv -k 3 --label species --threads 1"));
    assert_eq!(one, data(&page(&dir, "cluster iris.csv -k 3 --label species --threads 2")));
}

#[test]
fn sweep_page_has_a_map() {
    let dir = TestDir::new();
    dir.rpf("sweep iris.csv -k 3 --label species --trees 60 --report r.html").done();
    let page = String::from_utf8(dir.bytes("r.html")).unwrap();
    assert!(
        page.contains("<h2>Thresholds and bandwidths</h2>") && page.contains("selected without labels: ")
    );
    assert!(page.contains("best by labels: ") && page.contains("rpf sweep iris.csv"));
    dir.rpf("sweep iris.csv -k 3 --drop species --trees 60 --report r.html").done();
    let page = String::from_utf8(dir.bytes("r.html")).unwrap();
    assert!(page.contains("adjusted Rand index with the selected") && !page.contains("best by labels"));
}

#[test]
fn precomputed_matrix_has_a_page_without_scores_and_verdict() {
    let dir = TestDir::new();
    dir.rpf("kernel iris.csv --label species -o s.npz").done();
    let page = page(&dir, "cluster s.npz -k 3 --precomputed");
    let data = data(&page);
    assert_eq!(data["partitions"]["each"].as_array().unwrap().len(), 9);
    assert!(data["partitions"]["each"][0]["score"].is_null());
    assert!(!page.contains("Verdict:"));
    assert!(page.contains("Similarity as given") && !page.contains("Doubtful rows"));
}

#[test]
fn many_classes_and_long_names_do_not_enlarge_the_page() {
    let dir = TestDir::new();
    let long = "x".repeat(5000);
    let rows: String = (0..3000)
        .map(|i| format!("{},{},{long}{i}\n", f64::from(i % 3) * 9.0 + f64::from(i) * 1e-3, i % 7))
        .collect();
    dir.put("wide.csv", format!("{long},b,class\n{rows}"));
    let page = page(&dir, "cluster wide.csv -k 3 --label class --trees 30");
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert!(page.contains("2800 others"));
}

#[test]
fn page_loads_no_external_resource() {
    let dir = TestDir::new();
    let page = page(&dir, "cluster iris.csv -k 3 --label species");
    for bad in ["http://", "https://", "src=", "@import", "url(http", "fetch(", "XMLHttpRequest", "<link"] {
        assert!(!page.contains(bad), "{bad}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn markup_in_names_is_escaped() {
    let dir = TestDir::new();
    let bad = "</script><script>alert(1)</script>";
    let image = "<img src=x onerror=alert(2)>";
    let rows: String = (0..80)
        .map(|i| {
            format!(
                "{},{},{}\n",
                f64::from(i % 2) * 9.0 + f64::from(i) * 0.01,
                i % 5,
                if i % 2 == 0 { bad } else { image }
            )
        })
        .collect();
    dir.put("hostile.csv", format!("{bad},{image},class\n{rows}"));
    let page = page(&dir, "cluster hostile.csv -k 2 --label class");
    assert!(!page.contains("<script>alert") && !page.contains("<img"), "a name got out");
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_eq!(page.matches("<script").count(), 2, "the page's own");
    assert_eq!(page.matches("</script>").count(), 2);
    let data = data(&page);
    assert_eq!(data["class_names"][0], bad);
    assert!(data["axes"].as_array().unwrap().iter().any(|a| a["name"] == image));
}

#[test]
fn page_of_many_rows_is_sampled_and_says_so() {
    let dir = TestDir::new();
    dir.put("moons.csv", shape_csv(&Shape::Moons, 5000, 1));
    let page = page(&dir, "cluster moons.csv -k 2 --label class --trees 50");
    for words in [
        "A sample of 400 of 5000 rows is drawn",
        "in a forest grown on a sample of ",
        "a row of a sample of ",
        "mean silhouette of the similarities of a sample of ",
        "The other partitions, and the scores and silhouettes, are those of a sample of ",
    ] {
        assert!(page.contains(words), "no \"{words}\"");
    }
    assert!(page.len() < 2_000_000, "{}", page.len());
    let data = data(&page);
    let clusters = data["clusters"].as_array().unwrap();
    assert!((2950..=3050).contains(&clusters.len()), "{}", clusters.len());
    assert_eq!(data["partitions"]["sample"], clusters.len());
    assert_eq!(data["n"], 5000);
    // The sizes of the run are those of all rows, as in the table; those of other K are of the sample, and say so.
    for partition in data["partitions"]["each"].as_array().unwrap() {
        let run = partition["run"] == true;
        let rows: u64 = partition["sizes"].as_array().unwrap().iter().map(|s| s.as_u64().unwrap()).sum();
        assert_eq!(partition["whole"], run);
        assert_eq!(rows, if run { 5000 } else { clusters.len() as u64 });
    }
    assert!(clusters.iter().any(|c| c == 0) && clusters.iter().any(|c| c == 1));
}

#[test]
fn small_and_degenerate_data_have_a_page_and_too_few_distinct_rows_are_refused() {
    let dir = TestDir::new();
    dir.put("two.csv", "1\n2\n");
    dir.put("one.csv", "5,6\n");
    dir.put("constant.csv", "a,b\n1,1\n2,1\n9,1\n8,1\n");
    for line in [
        "cluster two.csv -k 2",
        "cluster two.csv -k 1",
        "cluster one.csv -k 1",
        "cluster constant.csv -k 2 --min-node 2",
        "cluster iris.csv -k 3 --label 5 --affinity linear --solver nystrom --landmarks 40",
        "cluster iris.csv -k 3 --label 5 --affinity paper",
        "cluster iris.csv -k 3 --label 5 --affinity linear --standardize all",
    ] {
        data(&page(&dir, line));
        ["r.html", "l.csv"].iter().for_each(|f| std::fs::remove_file(dir.path(f)).unwrap());
    }
    dir.refuses(
        1,
        "cluster iris.csv -k 150 --label 5 --min-node 2 --report r.html -o l.csv",
        &["only 149 distinct"],
    );
}

#[test]
fn summary_and_page_name_the_criterion_that_decided() {
    let dir = TestDir::new();
    let values: Vec<String> = numbers().take(300 * 60).map(|x| x.to_string()).collect();
    let rows: Vec<String> = values.chunks(60).map(|row| row.join(",")).collect();
    dir.put("noise.csv", rows.join("\n"));
    let run = dir.rpf("cluster noise.csv -k 2 --trees 50 --affinity auto --report page.html -o l.csv").done();
    assert!(run.err.contains("prediction strength "), "{}", run.err);
    assert!(run.err.contains("verdict      no structure found (score "), "{}", run.err);
    let page = String::from_utf8(dir.bytes("page.html")).unwrap();
    assert!(page.contains("Verdict: <b>no structure found</b>"));
    let line = "cluster iris.csv --label species -k 3 --affinity auto --report page.html -o l.csv";
    let plain = dir.rpf(line).done();
    assert!(plain.err.contains("the default (prediction strength "), "{}", plain.err);
    assert!(
        String::from_utf8(dir.bytes("page.html"))
            .unwrap()
            .contains("settings were compared by prediction strength")
    );
}

#[test]
fn many_clusters_are_drawn_in_an_embedding_and_weak_similarities_are_visible() {
    let dir = TestDir::new();
    // Thirty round clusters on a grid: the similarity graph has as many components.
    let rows: String = (0..900)
        .zip(numbers().take(1800).collect::<Vec<f64>>().chunks(2))
        .map(|(i, noise)| {
            let (x, y) = (f64::from(i % 30 % 6) * 40.0, f64::from(i % 30 / 6) * 40.0);
            format!("{},{}\n", x + noise[0], y + noise[1])
        })
        .collect();
    dir.put("grid.csv", format!("x,y\n{rows}"));
    let page = page(&dir, "cluster grid.csv -k 30");
    let data = data(&page);
    for axis in data["start"].as_array().unwrap() {
        let axis = &data["axes"][axis.as_u64().unwrap() as usize];
        assert_eq!(axis["column"], false, "{}", axis["name"]);
    }
    assert!(page.contains("The layout places rows"));
    let (bright, largest) =
        (data["heat"]["bright"].as_f64().unwrap(), data["heat"]["largest"].as_f64().unwrap());
    assert!(bright > 0.0 && bright <= largest && largest <= 1.0, "{bright} {largest}");
    assert!(page.contains(&format!(">≥ {}<", rpfcluster_report::number(bright))), "{bright}");
    assert!(!page.contains("gap 0.000"));
}

#[test]
fn page_does_not_advise_to_write_a_page() {
    let dir = TestDir::new();
    // Two rows far from the other 600 form the smallest cluster.
    let rows: String = (0..602)
        .zip(numbers())
        .map(|(i, x)| if i < 2 { format!("{}\n", 1e3 + f64::from(i)) } else { format!("{x}\n") })
        .collect();
    dir.put("outliers.csv", rows);
    let line = "cluster outliers.csv -k 2 --min-node 2 --affinity linear";
    let plain = dir.rpf(&format!("{line} -o l.csv")).done();
    assert!(plain.err.contains("--report shows which rows"), "{}", plain.err);
    let run = dir.rpf(&format!("{line} --report r.html -o l.csv")).done();
    assert!(run.err.contains("the report shows which rows"), "{}", run.err);
    let page = String::from_utf8(dir.bytes("r.html")).unwrap();
    let warnings: Vec<&str> = page.lines().filter(|l| l.starts_with("<p class=\"warning\">")).collect();
    assert!(warnings.iter().any(|w| w.contains(">The smallest cluster has ")), "{warnings:?}");
    assert!(warnings.iter().all(|w| !w.contains("report") && !w.contains("hint:")), "{warnings:?}");
}
