//! Names, cells and model files of an attacker: nothing reaches the terminal as a control sequence, pages and figures
//! as markup, or the network; tables are copied as they are; values in a model are data.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap in a test is a failed test")]

mod common;

use std::process::Command;

use common::{Run, TestDir};
use rpfcluster::Silent;
use rpfcluster::model_file::{Container, Piece, Sections};
use rpfcluster::printable::is_hidden;

/// A terminal title, a bell, a colour, a C1 sequence, a bidirectional override, a line break, markup and a formula.
const NAMES: [&str; 6] = [
    "a\u{1b}]0;owned\u{7}",
    "\u{1b}[2J\u{9b}31mb",
    "\u{202e}gnp.elif\u{2066}",
    "c\nrpf: done",
    "</script><script>alert(1)</script>",
    "=HYPERLINK(\"http://x\")",
];

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Six columns and the classes, all with hostile names.
fn table() -> String {
    let header: Vec<String> = NAMES.iter().map(|name| quoted(name)).collect();
    let mut text = format!("{},class\u{1b}[31m\n", header.join(","));
    for (i, noise) in (0..90).zip(common::numbers()) {
        let values: Vec<String> = (0..6).map(|j| (f64::from(i % 3 * (j + 3)) + noise).to_string()).collect();
        text += &format!("{},{}\n", values.join(","), quoted(NAMES[i as usize % 3]));
    }
    text
}

/// Fails if a line of the output has a character that a terminal obeys or does not show.
fn assert_printable(run: &Run) {
    for (name, text) in [("standard output", &run.out), ("standard error", &run.err)] {
        let found = text.chars().find(|c| *c != '\n' && is_hidden(*c));
        assert_eq!(found, None, "{}: {name}\n{text:?}", run.line);
        assert!(!text.lines().any(|line| line == "rpf: done"), "{}: a forged line\n{text}", run.line);
    }
}

fn run(dir: &TestDir, words: &[&str]) -> Run {
    let run = Run::new(&words.join(" "), dir.command().args(words).output().unwrap());
    assert_printable(&run);
    run
}

#[test]
fn no_control_character_reaches_the_terminal() {
    let dir = TestDir::new();
    dir.put("t.csv", table());
    let hostile = "e\u{1b}[31m\u{202e}.csv";
    dir.put(hostile, table());
    let fit = ["cluster", hostile, "--label", "7", "-k", "3", "--trees", "20", "-v"];
    let fitted =
        run(&dir, &[&fit[..], &["--model", "m.rpf", "-o", "l\u{7}.csv", "--report", "r.html"]].concat())
            .done();
    assert!(fitted.err.contains("e\\u{1b}[31m\\u{202e}.csv: 90 rows"), "{}", fitted.err);
    assert!(run(&dir, &["inspect", "m.rpf"]).done().out.contains("a\\u{1b}]0;owned\\u{7}"));
    let scores = run(&dir, &["score", "l\u{7}.csv", "--truth", "t.csv", "--label", "7"]).done();
    assert!(scores.out.contains("\\u{202e}gnp.elif"), "{}", scores.out);
    for json in [
        &["inspect", "m.rpf", "--json"][..],
        &["score", "l\u{7}.csv", "--truth", "t.csv", "--label", "7", "--json"],
    ] {
        let object = run(&dir, json).done().json();
        let names = if json[0] == "inspect" { &object["columns"] } else { &object["contingency"]["classes"] };
        assert_eq!(names[0], NAMES[0], "JSON keeps the name");
    }
    run(&dir, &["sweep", "t.csv", "--label", "7", "-k", "3", "--trees", "20"]).done();
    // Errors and hints that name columns, cells, files, options and values.
    dir.put("new.csv", "\u{1b}x,y\n1,2\n");
    dir.put("c\u{1b}.toml", "trees = \"\u{1b}[31m\"\n");
    for (code, words) in [
        (1, &["cluster", "t.csv", "-k", "3"][..]),
        (1, &["cluster", "no\u{1b}[2J.csv", "-k", "3"]),
        (1, &["cluster", "t.csv", "--label", "x\u{1b}\u{202e}", "-k", "3"]),
        (1, &["predict", "m.rpf", "new.csv"]),
        (1, &["score", "l\u{7}.csv", "--truth", "x\u{9b}31m"]),
        (2, &["cluster", "t.csv", "-k", "3\u{1b}[31m"]),
        (2, &["cluster", "t.csv", "-k", "3", "--trees\u{1b}[31m"]),
        (2, &["cl\u{1b}[31muster"]),
        (1, &["cluster", "t.csv", "-k", "3", "--config", "c\u{1b}.toml"]),
    ] {
        let refused = run(&dir, words);
        // clap removes the sequences of the command line itself.
        refused.refused(code, &[if code == 1 { "\\u{" } else { "rpf: " }]);
    }
}

#[test]
fn long_strings_are_shortened_in_errors() {
    let dir = TestDir::new();
    let long = "y".repeat(3000);
    dir.put("long.csv", format!("{long},b\n{long},1\n{long},2\n"));
    dir.rpf("cluster iris.csv --label species -k 3 --trees 5 -o l.csv --model m.rpf -q").done();
    for line in [
        "cluster long.csv -k 2".to_string(),
        format!("cluster {long}.csv -k 2"),
        format!("cluster iris.csv -k {long}"),
        format!("cluster iris.csv -k 2 --label {long}"),
        format!("cluster iris.csv -k 2 --{long}"),
        "predict m.rpf long.csv".to_string(),
    ] {
        let refused = dir.rpf(&line);
        assert!(
            refused.err.len() < 600 && refused.err.contains('…'),
            "{} bytes: {}",
            refused.err.len(),
            refused.err
        );
        refused.refused(refused.code.unwrap(), &["rpf: "]);
    }
}

#[test]
fn pages_and_figures_show_hostile_names_as_text() {
    let dir = TestDir::new();
    dir.put("t.csv", table());
    let fit = "cluster t.csv --label 7 -k 3 --trees 20 -q -o l.csv --model m.rpf --report r.html";
    dir.rpf(fit).done();
    let mut texts = vec![String::from_utf8(dir.bytes("r.html")).unwrap()];
    for kind in ["heatmap", "embedding"] {
        dir.rpf(&format!("plot m.rpf --kind {kind} --truth t.csv --label 7 -o f.svg")).done();
        texts.push(String::from_utf8(dir.bytes("f.svg")).unwrap());
        dir.rpf(&format!("plot m.rpf --kind {kind} --truth t.csv --label 7 -o f.pdf")).done();
        assert!(dir.bytes("f.pdf").starts_with(b"%PDF"));
        assert!(!dir.bytes("f.pdf").windows(11).any(|w| w == b"/JavaScript"));
    }
    for text in &texts {
        assert_eq!(text.chars().find(|c| !"\n\t".contains(*c) && is_hidden(*c)), None);
        assert!(!text.contains("<script>alert"));
    }
}

#[test]
fn page_allows_only_its_own_script_and_style() {
    let dir = TestDir::new();
    dir.put("t.csv", table());
    for (line, sections) in
        [("cluster t.csv --label 7 -k 3", "id=\"agreement\""), ("sweep t.csv --label 7 -k 3", "id=\"sweep\"")]
    {
        dir.rpf(&format!("{line} --trees 20 -q --report r.html")).done();
        let page = String::from_utf8(dir.bytes("r.html")).unwrap();
        assert!(page.contains(sections), "{line}");
        let policy =
            page.split_once("Content-Security-Policy\" content=\"").unwrap().1.split_once('"').unwrap().0;
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
        // Without the data of the script, which is no markup.
        let (before, rest) = page.split_once("id=\"data\">").unwrap();
        let markup = before.split_once("</style>").unwrap().1;
        for inline in
            [" style=", " onclick=", " onload=", " onerror=", "javascript:", "<style", "<link", "<iframe"]
        {
            assert!(!markup.contains(inline), "{line}: {inline}");
        }
        assert_eq!(rest.matches("<script>").count(), 1);
        assert!(!rest.contains("eval(") && !rest.contains("innerHTML") && !rest.contains("document.write"));
    }
}

#[test]
fn appended_tables_keep_their_bytes() {
    let dir = TestDir::new();
    let text = "=1+1,+x,-y,@z,\u{1b}e\n1,2,3,4,5\n9,8,7,6,5\n1.5,2,3,4,5\n9.5,8,7,6,5\n";
    dir.put("t.csv", text);
    dir.rpf("cluster t.csv -k 2 --min-node 2 --append -q -o out.csv").done();
    let out = String::from_utf8(dir.bytes("out.csv")).unwrap();
    for (line, copied) in text.lines().zip(out.lines()) {
        assert_eq!(copied.rsplit_once(',').unwrap().0, line);
    }
}

/// The model with one section of JSON changed and all checksums right.
fn forged(model: &[u8], section: &str, change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let file = Container::parse(model, &Silent).unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(file.section(section).unwrap()).unwrap();
    change(&mut json);
    let new = serde_json::to_vec(&json).unwrap();
    let mut sections = Sections::default();
    for (name, _) in file.sections() {
        let bytes = if name == section { &new } else { file.section(&name).unwrap() };
        sections.add(&name, vec![Piece::Bytes(bytes)]);
    }
    let mut bytes = Vec::new();
    sections.write(&mut bytes, &Silent).unwrap();
    bytes
}

#[test]
fn values_of_a_model_out_of_range_name_the_file() {
    let dir = TestDir::new();
    dir.rpf("cluster iris.csv --label species -k 3 --trees 5 --affinity top-k --power 2 --top 9 -o l.csv --model m.rpf -q")
        .done();
    let model = dir.bytes("m.rpf");
    dir.put("same.rpf", forged(&model, "cluster", |_| ()));
    dir.rpf("predict same.rpf iris.csv -q -o p.csv").done();
    assert_eq!(dir.bytes("p.csv"), dir.bytes("l.csv"));
    std::fs::remove_file(dir.path("p.csv")).unwrap();
    for (section, pointer, value) in [
        ("cluster", "/params/power", serde_json::json!(-1.0)),
        ("cluster", "/params/power", serde_json::json!(1e300)),
        ("cluster", "/params/top", serde_json::json!(0)),
        ("cluster", "/params/k", serde_json::json!(0)),
        ("cluster", "/params/beta1", serde_json::json!(7.5)),
        ("cluster", "/affinity/power", serde_json::json!(0.0)),
        ("cluster", "/affinity/top", serde_json::json!(0)),
        ("forest", "/params/min_node", serde_json::json!(0)),
        ("forest", "/params/trees", serde_json::json!(0)),
        ("forest", "/params/candidates", serde_json::json!(0)),
    ] {
        let bytes = forged(&model, section, |json| *json.pointer_mut(pointer).unwrap() = value.clone());
        dir.put("x.rpf", bytes);
        for line in ["inspect x.rpf", "predict x.rpf iris.csv -o p.csv", "plot x.rpf --kind eigen -o f.svg"] {
            let run = dir.rpf(line);
            assert_printable(&run);
            run.refused(1, &["x.rpf", "the model"]);
            assert!(!run.err.contains("--power") && !run.err.contains("--min-node"), "{}", run.err);
        }
    }
}

/// Text in a model is printed, escaped, and used for nothing else.
#[test]
fn text_of_a_model_is_data() {
    let dir = TestDir::new();
    dir.rpf("cluster iris.csv --label species -k 3 --trees 5 -o l.csv --model m.rpf -q").done();
    let code =
        "$(touch owned)`touch owned`;touch owned|{0}%n%s__import__('os').system('touch owned')\u{1b}[2J";
    let bytes = forged(&dir.bytes("m.rpf"), "meta", |json| {
        json["written_by"] = code.into();
        json["label"] = code.into();
        json["preparation"]["columns"][0] = code.into();
    });
    dir.put("x.rpf", bytes);
    let shown = run(&dir, &["inspect", "x.rpf"]).done();
    assert!(shown.out.contains("$(touch owned)`touch owned`"), "{}", shown.out);
    run(&dir, &["predict", "x.rpf", "iris.csv"]).refused(1, &["iris.csv", "touch owned"]);
    assert!(!dir.path("owned").exists());
}

/// Runs in a network namespace without any interface; what needs the network fails there.
#[cfg(target_os = "linux")]
#[test]
fn commands_work_without_a_network() {
    let alone = |program: &str, words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "--", program]).args(words);
        command
    };
    if !alone("true", &[]).output().is_ok_and(|o| o.status.success()) {
        let reason =
            "network namespaces are refused here; the test that nothing uses the network did nothing";
        if std::env::var_os("CI").is_some() {
            panic!("{reason}");
        }
        let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("skipped: {reason}\n").as_bytes());
        return;
    }
    let dir = TestDir::new();
    for line in [
        "demo --out .",
        "cluster iris.csv --label species -k 3 --trees 20 -o l.csv --model m.rpf --report r.html",
        "predict m.rpf iris.csv -o p.csv",
        "plot m.rpf --kind embedding -o f.png",
        "kernel iris.csv --label species -o k.npz",
        "score l.csv --truth iris.csv --label species",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = alone(env!("CARGO_BIN_EXE_rpf"), &words).current_dir(dir.path(".")).output().unwrap();
        Run::new(line, output).done();
    }
    assert_eq!(dir.bytes("p.csv"), dir.bytes("l.csv"));
}
