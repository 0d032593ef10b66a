//! The page of `--report`: everything on it, nothing from elsewhere, and no way out of the text for names of the data.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::{Room, numbers, shape_csv};
use rpfcluster_data::shapes::Shape;

fn page(room: &Room, line: &str) -> String {
    room.rpf(&format!("{line} --report r.html -o l.csv")).done();
    String::from_utf8(room.bytes("r.html")).unwrap()
}

/// What the script is given.
fn data(page: &str) -> serde_json::Value {
    let from = page.split_once("id=\"data\">").unwrap().1;
    serde_json::from_str(from.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_page_has_every_section() {
    let room = Room::new();
    let page = page(&room, "cluster iris.csv -k 3 --label species");
    let parts = [
        "150 rows with 4 columns in 3 clusters",
        "The clusters hold",
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
        "<h2>How it was made</h2>",
        "rpf cluster iris.csv -k 3 --label species --report r.html -o l.csv --seed 0",
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
        assert!((-1.0..=1.0).contains(&partition["stability"].as_f64().unwrap()));
        assert_eq!(partition["run"], partition["k"] == 3);
        if partition["k"] == 3 {
            assert_eq!(partition["labels"], data["clusters"]);
            assert_eq!(partition["colours"], serde_json::json!([0, 1, 2]));
        }
    }
    assert_eq!(data["heat"]["members"].as_array().unwrap().len(), 150);
}

#[test]
fn a_report_says_the_same_on_any_number_of_threads() {
    let room = Room::new();
    let one = data(&page(&room, "cluster iris.csv -k 3 --label species --threads 1"));
    assert_eq!(one, data(&page(&room, "cluster iris.csv -k 3 --label species --threads 2")));
}

#[test]
fn a_search_has_a_page_with_its_map() {
    let room = Room::new();
    room.rpf("sweep iris.csv -k 3 --label species --trees 60 --report r.html").done();
    let page = String::from_utf8(room.bytes("r.html")).unwrap();
    assert!(page.contains("<h2>Thresholds and bandwidths</h2>") && page.contains("picked without labels: "));
    assert!(page.contains("best by labels: ") && page.contains("rpf sweep iris.csv"));
    room.rpf("sweep iris.csv -k 3 --drop species --trees 60 --report r.html").done();
    let page = String::from_utf8(room.bytes("r.html")).unwrap();
    assert!(page.contains("agreement with the pick") && !page.contains("best by labels"));
}

#[test]
fn a_matrix_has_a_page_too() {
    let room = Room::new();
    room.rpf("kernel iris.csv --label species -o s.npz").done();
    let page = page(&room, "cluster s.npz -k 3 --precomputed");
    let data = data(&page);
    assert_eq!(data["partitions"]["each"].as_array().unwrap().len(), 9);
    assert!(data["partitions"]["each"][0]["stability"].is_null());
    assert!(page.contains("Similarity as given") && !page.contains("Doubtful rows"));
}

#[test]
fn a_class_for_every_row_does_not_make_the_page_long() {
    let room = Room::new();
    let long = "x".repeat(5000);
    let rows: String = (0..3000)
        .map(|i| format!("{},{},{long}{i}\n", f64::from(i % 3) * 9.0 + f64::from(i) * 1e-3, i % 7))
        .collect();
    room.put("wide.csv", format!("{long},b,class\n{rows}"));
    let page = page(&room, "cluster wide.csv -k 3 --label class --trees 30");
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert!(page.contains("2800 others"));
}

#[test]
fn nothing_is_fetched() {
    let room = Room::new();
    let page = page(&room, "cluster iris.csv -k 3 --label species");
    for bad in ["http://", "https://", "src=", "@import", "url(http", "fetch(", "XMLHttpRequest", "<link"] {
        assert!(!page.contains(bad), "{bad}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn hostile_names_stay_text() {
    let room = Room::new();
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
    room.put("hostile.csv", format!("{bad},{image},class\n{rows}"));
    let page = page(&room, "cluster hostile.csv -k 2 --label class");
    assert!(!page.contains("<script>alert") && !page.contains("<img"), "a name got out");
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_eq!(page.matches("<script").count(), 2, "the page's own");
    assert_eq!(page.matches("</script>").count(), 2);
    let data = data(&page);
    assert_eq!(data["class_names"][0], bad);
    assert!(data["axes"].as_array().unwrap().iter().any(|a| a["name"] == image));
}

#[test]
fn many_rows_are_sampled_and_the_page_says_so() {
    let room = Room::new();
    room.put("moons.csv", shape_csv(&Shape::Moons, 5000, 1));
    let page = page(&room, "cluster moons.csv -k 2 --label class --trees 50");
    assert!(page.contains("(400 of 5000 rows") && page.contains("a forest of the "));
    assert!(page.len() < 2_000_000, "{}", page.len());
    let data = data(&page);
    let clusters = data["clusters"].as_array().unwrap();
    assert!((2950..=3050).contains(&clusters.len()), "{}", clusters.len());
    assert_eq!(data["partitions"]["sample"], clusters.len());
    assert!(clusters.iter().any(|c| c == 0) && clusters.iter().any(|c| c == 1));
}

#[test]
fn small_and_odd_data_have_a_page_too() {
    let room = Room::new();
    room.put("two.csv", "1\n2\n");
    room.put("one.csv", "5,6\n");
    room.put("constant.csv", "a,b\n1,1\n2,1\n9,1\n8,1\n");
    for line in [
        "cluster two.csv -k 2",
        "cluster two.csv -k 1",
        "cluster one.csv -k 1",
        "cluster constant.csv -k 2 --min-node 2",
        "cluster iris.csv -k 150 --label 5 --min-node 2",
        "cluster iris.csv -k 3 --label 5 --affinity linear --solver nystrom --landmarks 40",
        "cluster iris.csv -k 3 --label 5 --affinity paper",
        "cluster iris.csv -k 3 --label 5 --affinity linear --standardize all",
    ] {
        let before = room.files();
        let run = room.rpf(&format!("{line} --report r.html -o l.csv"));
        if run.code == Some(0) {
            data(&String::from_utf8(room.bytes("r.html")).unwrap());
        } else {
            // Rows that no tree tells apart cannot be clustered; that is said, and nothing is written.
            run.refused(1, &["distinct"]);
            assert_eq!(room.files(), before);
        }
        ["r.html", "l.csv"].iter().for_each(|f| drop(std::fs::remove_file(room.path(f))));
    }
}

#[test]
fn where_agreement_is_chance_summary_and_page_say_what_decided() {
    let room = Room::new();
    let values: Vec<String> = numbers().take(300 * 60).map(|x| x.to_string()).collect();
    let rows: Vec<String> = values.chunks(60).map(|row| row.join(",")).collect();
    room.put("noise.csv", rows.join("\n"));
    let run = room.rpf("cluster noise.csv -k 2 --trees 50 --report page.html -o l.csv").done();
    assert!(run.err.contains("the one that is found again best: halves of the forest"), "{}", run.err);
    assert!(run.err.contains("the structure is weak"), "{}", run.err);
    let page = String::from_utf8(room.bytes("page.html")).unwrap();
    assert!(page.contains("that two halves of the forest find again best"));
    assert!(!page.contains("agree with most"));
    let plain = room.rpf("cluster iris.csv --label species -k 3 --report page.html -o l.csv").done();
    assert!(plain.err.contains("the most agreed with"), "{}", plain.err);
    assert!(String::from_utf8(room.bytes("page.html")).unwrap().contains("agree with most"));
}
