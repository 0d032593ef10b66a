//! `rpf plot`: every kind of figure from every file it can be drawn from, in all three formats; the rest is refused.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::TestDir;

/// A folder with every file that figures are drawn from.
fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.rpf("cluster iris.csv -k 3 --label species --model m.rpf -o l.csv").done();
    for (file, line) in [
        ("cluster.json", "cluster iris.csv -k 3 --label species --json"),
        ("sweep.json", "sweep iris.csv -k 3 --label species --trees 60 --json"),
        ("blind.json", "sweep iris.csv -k 3 --drop species --trees 60 --json"),
        ("compare.json", "compare iris.csv -k 3 --label species --methods kmeans,rpf --json"),
    ] {
        let run = dir.rpf(line).done();
        dir.put(file, run.out);
    }
    dir.rpf("kernel iris.csv --label species -o s.npy").done();
    dir.put("results.json", results());
    dir
}

/// Results of two methods on one data set, as `rpf reproduce` writes them.
fn results() -> String {
    let score = serde_json::json!({"mean": 88.0, "sd": 2.0, "runs": 2, "values": [86.0, 90.0]});
    let small = serde_json::json!({"mean": 0.7, "sd": 0.0, "runs": 1, "values": [0.7]});
    let cell =
        serde_json::json!({"rho_c": score, "rho_r": score, "ari": small, "nmi": small, "seconds": 0.1});
    serde_json::json!({
        "version": "0.1.0", "effort": "quick", "seeds": 2, "failed": {}, "not_public": {},
        "datasets": {"iris": {
            "title": "Iris", "n": 150, "d": 4, "k": 3, "majority": 33.3,
            "methods": {"kmeans": {"paper": cell}, "auto": {"paper": cell}},
        }},
    })
    .to_string()
}

#[test]
fn every_kind_is_drawn_in_every_format() {
    let dir = dir();
    for (input, kind) in [
        ("m.rpf", "heatmap"),
        ("m.rpf s.npy", "heatmap"),
        ("m.rpf --truth iris.csv --label species", "heatmap"),
        ("s.npy --truth iris.csv --label species", "heatmap"),
        ("m.rpf", "embedding"),
        ("m.rpf --truth iris.csv --label species --axes 1,2", "embedding"),
        ("m.rpf", "eigen"),
        ("cluster.json", "eigen"),
        ("sweep.json", "sweep"),
        ("blind.json", "sweep"),
        ("m.rpf", "bars"),
        ("cluster.json", "bars"),
        ("compare.json", "bars"),
        ("compare.json --score ari", "bars"),
        ("results.json", "bars"),
        ("results.json --score nmi", "bars"),
    ] {
        for format in ["svg", "png", "pdf"] {
            dir.rpf(&format!("plot {input} --kind {kind} -o f.{format} --width 500")).done();
            let bytes = dir.bytes(&format!("f.{format}"));
            assert!(bytes.len() > 1500, "{input} {kind} {format}: {} bytes", bytes.len());
            let begin: &[u8] = match format {
                "svg" => b"<svg",
                "png" => b"\x89PNG\r\n\x1a\n",
                _ => b"%PDF-",
            };
            assert!(bytes.starts_with(begin), "{input} {kind} {format}");
            if format == "svg" {
                let svg = String::from_utf8(bytes).unwrap();
                assert!(
                    !svg.contains("<text") && svg.contains("<title>"),
                    "{input} {kind}: text is not outlined"
                );
            }
        }
    }
}

#[test]
fn results_of_reproduce_give_the_heat_maps_of_the_paper() {
    let dir = dir();
    dir.rpf("plot results.json --kind heatmap -o iris.svg").done();
    let svg = String::from_utf8(dir.bytes("iris.svg")).unwrap();
    assert_eq!(svg.matches("<image").count(), 2);
    assert!(svg.contains("Gaussian kernel, rpf-kernel"));
}

#[test]
fn markup_in_names_is_escaped() {
    let dir = TestDir::new();
    let rows: String = (0..60)
        .map(|i| format!("{},<script>x</script>{}\n", f64::from(i % 2) * 9.0 + f64::from(i) * 0.01, i % 2))
        .collect();
    dir.put("h.csv", format!("a,\"<b>&\"\n{rows}"));
    dir.rpf("cluster h.csv -k 2 --label 2 --model m.rpf -o l.csv").done();
    for (kind, file) in [("heatmap", "h.svg"), ("embedding", "e.svg")] {
        let options = "--truth h.csv --label 2 --title </svg><script>x";
        dir.rpf(&format!("plot m.rpf --kind {kind} {options} -o {file}")).done();
        let svg = String::from_utf8(dir.bytes(file)).unwrap();
        assert!(!svg.contains("<script") && svg.contains("&lt;/svg&gt;&lt;script&gt;x"), "{kind}");
    }
}

#[test]
fn figures_that_cannot_be_drawn_are_refused_in_one_sentence() {
    let dir = dir();
    dir.put("broken.json", "{\"command\": \"sweep\", \"grid\": 3}");
    dir.put("no.json", "{nothing");
    dir.put("few.csv", "class\na\nb\n");
    dir.put("forest.txt.rpf", "no model");
    for (code, line, parts) in [
        (2, "plot m.rpf --kind heatmap -o f.gif", &[".svg, .png or .pdf"][..]),
        (2, "plot m.rpf --kind heatmap -o f.png --width 0", &["--width is 0"]),
        (2, "plot m.rpf --kind heatmap -o f.png --width 90000", &["20000"]),
        (2, "plot m.rpf m.rpf --kind eigen -o f.svg", &["only heat maps"]),
        (2, "plot m.rpf --kind heatmap -o m.rpf.svg --label species", &["--truth"]),
        (2, "plot m.rpf --kind embedding --axes 2,2 -o f.svg", &["two different"]),
        (1, "plot m.rpf --kind embedding --axes 2,9 -o f.svg", &["m.rpf", "3 eigenvectors"]),
        (1, "plot m.rpf --kind sweep -o f.svg", &["m.rpf", "rpf sweep --json"]),
        (1, "plot cluster.json --kind sweep -o f.svg", &["rpf sweep --json"]),
        (1, "plot cluster.json --kind heatmap -o f.svg", &["models or similarity matrices"]),
        (1, "plot s.npy --kind bars -o f.svg", &["s.npy", "a similarity matrix"]),
        (1, "plot broken.json --kind sweep -o f.svg", &["broken.json", "not as rpf wrote it"]),
        (1, "plot no.json --kind sweep -o f.svg", &["no.json", "not valid JSON"]),
        (1, "plot gone.rpf --kind eigen -o f.svg", &["gone.rpf", "no such file"]),
        (1, "plot forest.txt.rpf --kind eigen -o f.svg", &["forest.txt.rpf"]),
        (1, "plot m.rpf --kind heatmap --truth few.csv -o f.svg", &["few.csv", "150 rows"]),
        (1, "plot m.rpf --kind eigen -o gone/f.svg", &["no folder"]),
    ] {
        dir.refuses(code, line, parts);
    }
}
