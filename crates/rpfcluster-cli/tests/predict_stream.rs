//! `rpf predict` reads, labels and writes batch by batch: the labels of every format and batch size are those of the table in
//! memory, an error in the last batch leaves no file, and the memory does not grow with the table.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use common::{TestDir, npy, numbers, read_npy};
use rpfcluster::{AffinityKind, Fitted, Points, RpfCluster};
use rpfcluster_data::{Prepare, ReadOptions, Selection, Table, Values, read_batches, read_frame};

/// More rows than a batch of the command.
const MANY: usize = 150_000;

/// Rows of three columns around three centres; some far from all.
fn rows(n: usize) -> Vec<[f64; 3]> {
    let mut draws = numbers();
    let mut draw = || (draws.next().unwrap() * 1000.0).round() / 1000.0;
    (0..n).map(|i| [draw() + (i % 3) as f64 * 2.0, draw() - (i % 3) as f64, draw()]).collect()
}

fn csv(rows: &[[f64; 3]]) -> String {
    let lines = rows.iter().enumerate().map(|(i, [x, y, z])| format!("{x},{y},{z},c{}\n", i % 3));
    "x,y,z,class\n".to_string() + &lines.collect::<String>()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A folder with a model and a table of many rows; returns the labels that the rows get one thousand at a time, as a table.
fn fitted(options: &str) -> (TestDir, String) {
    let dir = TestDir::new();
    dir.put("fit.csv", csv(&rows(600)));
    dir.rpf(&format!("cluster fit.csv -k 3 --trees 40 --label class --model m.rpf -o l.csv -q {options}"))
        .done();
    dir.put("many.csv", csv(&rows(MANY)));
    let labels = dir.rpf("predict m.rpf many.csv -o - -q").done().out;
    assert_eq!(labels.lines().count(), MANY + 1);
    (dir, labels)
}

fn predicted(fitted: &Fitted, table: &Table) -> (Vec<u32>, Vec<f64>) {
    match &table.values {
        Values::F32(values) => {
            fitted.predict_with_confidence(&Points::new(values, table.n, table.d()).unwrap())
        }
        Values::F64(values) => {
            fitted.predict_with_confidence(&Points::new(values, table.n, table.d()).unwrap())
        }
        other => panic!("{other:?}"),
    }
    .unwrap()
}

#[test]
fn labels_do_not_depend_on_the_size_of_a_batch() {
    let dir = TestDir::new();
    let text = csv(&rows(700)) + "1e3,0,0,c1\n0,-40,0,c2\n";
    let path = dir.put("t.csv", text);
    let singles = rows(700).into_iter().flatten().map(|x| (x as f32).to_le_bytes());
    let single = dir.put("t.npy", npy("<f4", 700, 3, singles));
    for (path, label) in [(path, Some("class")), (single, None)] {
        let prepare = Prepare { label: label.map(Into::into), ..Default::default() };
        let options = ReadOptions::default();
        let (table, preparation) = prepare.fit(read_frame(&path, &options).unwrap()).unwrap();
        for affinity in [AffinityKind::Linear, AffinityKind::TopK, AffinityKind::Paper] {
            let params = RpfCluster { k: 3, affinity: Some(affinity), ..Default::default() };
            let fitted = match &table.values {
                Values::F32(values) => params.fit(&Points::new(&values[..300], 100, 3).unwrap()),
                Values::F64(values) => params.fit(&Points::new(&values[..300], 100, 3).unwrap()),
                other => panic!("{other:?}"),
            }
            .unwrap();
            let expected = predicted(&fitted, &table);
            for rows in [1, 13, 256] {
                let (mut labels, mut confidence) = (Vec::new(), Vec::new());
                for batch in read_batches(&path, &options, rows).unwrap() {
                    let selection = Selection { label: label.map(Into::into), ..Default::default() };
                    let frame = batch.unwrap().frame;
                    let (part, _) = preparation.apply_to_batch(frame, &selection).unwrap();
                    let (mut these, mut each) = predicted(&fitted, &part);
                    labels.append(&mut these);
                    confidence.append(&mut each);
                }
                assert_eq!((labels, confidence), expected, "{affinity:?} in batches of {rows}");
            }
        }
    }
}

#[test]
fn every_format_and_standard_input_give_the_same_labels() {
    let (dir, labels) = fitted("--affinity linear");
    let text = dir.bytes("many.csv");
    dir.put("many.csv.gz", gzipped(&text));
    for to in ["many.parquet", "many.arrow"] {
        dir.rpf(&format!("predict m.rpf many.csv --append -q -o {to}")).done();
    }
    let values = rows(MANY).into_iter().flatten().map(f64::to_le_bytes);
    dir.put("many.npy", npy("<f8", MANY, 3, values));
    for from in ["many.csv.gz", "many.parquet", "many.arrow", "many.npy"] {
        assert!(dir.rpf(&format!("predict m.rpf {from} -o - -q")).done().out == labels, "{from}");
        // To a file: nobody reads standard output while the input is fed.
        dir.rpf_fed("predict m.rpf - -o fed.csv -q", &dir.bytes(from)).done();
        assert!(dir.bytes("fed.csv") == labels.as_bytes(), "{from} as -");
    }
    let clusters: Vec<f64> =
        labels.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().1.parse().unwrap()).collect();
    for to in ["l.parquet", "l.arrow"] {
        dir.rpf(&format!("predict m.rpf many.csv -q -o {to}")).done();
        let frame = read_frame(dir.path(to), &ReadOptions::default()).unwrap();
        let found: Vec<f64> = (0..frame.n()).map(|row| frame.number(row, 1)).collect();
        assert!(found == clusters, "{to}");
    }
    dir.rpf("predict m.rpf many.csv -q -o l.npy").done();
    let frame = read_frame(dir.path("l.npy"), &ReadOptions::default()).unwrap();
    assert!((0..frame.n()).map(|row| frame.number(row, 0)).eq(clusters.iter().copied()));
    dir.rpf("predict m.rpf many.csv --confidence -q -o c.npy").done();
    assert!(read_npy(&dir.path("c.npy")).chunks(2).map(|row| row[0]).eq(clusters));
}

#[test]
fn appended_columns_of_a_pipe_and_of_a_file_are_the_same() {
    let (dir, labels) = fitted("--affinity top-k");
    let text = dir.bytes("many.csv");
    let line = "predict m.rpf many.csv --append --confidence -q -o";
    dir.rpf(&format!("{line} a.csv")).done();
    let appended = dir.bytes("a.csv");
    let fed = dir.rpf_fed("predict m.rpf - --append --confidence -q -o b.csv", &text).done();
    assert!(fed.out.is_empty() && dir.bytes("b.csv") == appended);
    let clusters = appended.lines().skip(1).map(|line| {
        let line = line.unwrap();
        line.split(',').nth(4).unwrap().to_string()
    });
    assert!(clusters.eq(labels.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_string())));
    // A column is whole numbers up to the last batch.
    let late: String =
        (0..MANY).map(|i| format!("{},0,0,{}\n", i % 5, if i + 1 < MANY { "1" } else { "1.5" })).collect();
    dir.put("late.csv", format!("x,y,z,more\n{late}"));
    for to in ["late.parquet", "late.arrow"] {
        dir.rpf(&format!("predict m.rpf late.csv --append -q -o {to}")).done();
        dir.rpf_fed(&format!("predict m.rpf - --append -q -o fed-{to}"), &dir.bytes("late.csv")).done();
        for name in [to.to_string(), format!("fed-{to}")] {
            let frame = read_frame(dir.path(&name), &ReadOptions::default()).unwrap();
            assert_eq!((frame.n(), frame.number(MANY - 1, 3), frame.width()), (MANY, 1.5, 5), "{name}");
        }
    }
    // Twice: the labels of the earlier run are replaced, unless they turn out to be other numbers.
    let ordered: String = (0..MANY).map(|i| format!("{},0,0,{}\n", i % 5, i % 3)).collect();
    dir.put("once.csv", format!("x,y,z,cluster\n{ordered}"));
    let head = |out: &str| out.lines().next().unwrap().to_string();
    assert_eq!(head(&dir.rpf("predict m.rpf once.csv --append -q -o -").done().out), "x,y,z,cluster");
    dir.put("other.csv", format!("x,y,z,cluster\n{ordered}0,0,0,7\n"));
    assert_eq!(
        head(&dir.rpf("predict m.rpf other.csv --append -q -o -").done().out),
        "x,y,z,cluster,cluster"
    );
    let run = dir.rpf_fed("predict m.rpf - --append -q -o none.csv", &dir.bytes("other.csv"));
    run.refused(1, &["standard input: the last columns", "rename them"]);
    assert!(!dir.files().contains(&"none.csv".to_string()));
}

#[test]
fn an_error_in_the_last_batch_leaves_no_file_and_the_old_one() {
    let (dir, _) = fitted("--affinity linear");
    let text = String::from_utf8(dir.bytes("many.csv")).unwrap();
    dir.put("old.csv", "old");
    for (last, parts) in [
        ("1,2\n", [format!("row {}", MANY + 1), "2 cells".to_string()]),
        ("1,,3,c1\n", [format!("row {} (line {})", MANY + 1, MANY + 2), "column 2 \"y\"".to_string()]),
        ("1,inf,3,c1\n", [format!("row {}", MANY + 1), "inf is not a finite number".to_string()]),
        ("1,words,3,c1\n", [format!("row {}", MANY + 1), "\"words\"".to_string()]),
    ] {
        dir.put("bad.csv", format!("{text}{last}"));
        let parts: Vec<&str> = parts.iter().map(String::as_str).chain(["bad.csv"]).collect();
        for options in ["-o old.csv", "-o new.parquet", "--json", "--append -o old.csv", "--json -o old.csv"]
        {
            dir.refuses(1, &format!("predict m.rpf bad.csv {options}"), &parts);
        }
        assert_eq!(dir.bytes("old.csv"), b"old");
    }
    let packed = gzipped(text.as_bytes());
    dir.put("cut.csv.gz", &packed[..packed.len() - 1000]);
    dir.refuses(1, "predict m.rpf cut.csv.gz -o old.csv", &["cut.csv.gz", "cut short"]);
    // What was printed before the error stays printed.
    let run = dir.rpf("predict m.rpf bad.csv -o -");
    assert_eq!((run.code, run.err.lines().count()), (Some(1), 1), "{}", run.err);
}

#[test]
fn what_is_said_about_all_rows_counts_every_batch() {
    let (dir, labels) = fitted("--affinity linear --missing drop");
    let text = String::from_utf8(dir.bytes("many.csv")).unwrap();
    let gap = ",,,c0\n".repeat(2);
    dir.put("more.csv", format!("{}{gap}9000,0,0,c1\n0,9000,0,c2\n{gap}", text.replace("class", "kind")));
    let run = dir.rpf("predict m.rpf more.csv -o l.csv").done();
    for part in [
        "ignored column \"kind\"".to_string(),
        format!("4 of {} rows left out", MANY + 6),
        format!("2 rows lie far outside the rows of the model (the first is row {}", MANY + 3),
        format!("labels of {} rows", MANY + 2),
    ] {
        assert_eq!(run.err.matches(&part).count(), 1, "{part} in\n{}", run.err);
    }
    let written = String::from_utf8(dir.bytes("l.csv")).unwrap();
    assert!(written.starts_with(&labels));
    let rows: Vec<&str> =
        written.lines().skip(MANY + 1).map(|line| line.split_once(',').unwrap().0).collect();
    assert_eq!(rows, [(MANY + 3).to_string(), (MANY + 4).to_string()]);
    dir.rpf("predict m.rpf more.csv -q -o l.npy").done();
    let frame = read_frame(dir.path("l.npy"), &ReadOptions::default()).unwrap();
    assert_eq!((frame.n(), frame.number(MANY, 0)), (MANY + 4, -1.0), "no row after the last label");
    let object = dir.rpf("predict m.rpf many.csv --label class --json").done().json();
    let sizes: u64 =
        object["cluster_sizes"].as_array().unwrap().iter().map(|size| size.as_u64().unwrap()).sum();
    assert_eq!((sizes, object["n"].as_u64()), (MANY as u64, Some(MANY as u64)));
    dir.rpf("predict m.rpf many.csv --append -o all.csv -q").done();
    let scored = dir.rpf("score all.csv --truth class --json").done().json();
    for score in ["rho_c", "rho_r", "ari", "nmi", "majority"] {
        assert_eq!(object["scores"][score], scored["scores"][score], "{score}");
    }
    dir.put("none.csv", "x,y,z\n,,\n,,\n");
    dir.refuses(1, "predict m.rpf none.csv --header yes -o p.csv", &["none.csv", "no row is left"]);
}

#[test]
fn a_reader_that_stops_ends_the_run() {
    let (dir, labels) = fitted("--affinity linear");
    let mut child = dir
        .command()
        .args("predict m.rpf - -o - -q".split(' '))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut fed = child.stdin.take().unwrap();
    let text = dir.bytes("many.csv");
    // An input without an end: the run ends all the same.
    let feeding = std::thread::spawn(move || {
        let body = &text[text.iter().position(|b| *b == b'\n').unwrap() + 1..];
        let mut open = fed.write_all(&text).is_ok();
        while open {
            open = fed.write_all(body).is_ok();
        }
    });
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for expected in labels.lines().take(10) {
        assert_eq!(lines.next().unwrap().unwrap(), expected);
    }
    drop(lines);
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap();
    assert_eq!((output.status.code(), output.stderr.is_empty()), (Some(0), true), "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_table() {
    let (dir, _) = fitted("--affinity linear");
    let rows = csv(&rows(MANY));
    let (header, body) = rows.split_once('\n').unwrap();
    dir.put("large.csv", format!("{header}\n{}", body.repeat(10)));
    for format in ["csv", "parquet"] {
        if format == "parquet" {
            for name in ["many", "large"] {
                dir.rpf(&format!("predict m.rpf {name}.csv --append -q -o {name}.parquet")).done();
            }
        }
        let peak = |name: &str| {
            let line = format!("predict m.rpf {name}.{format} --threads 2 -o l.parquet --json -q");
            dir.rpf(&line).done().json()["peak_bytes"].as_u64().unwrap()
        };
        let (small, large) = (peak("many"), peak("large"));
        assert!(large < small + (24 << 20), "{format}: {small} bytes, and {large} for ten times the rows");
    }
}
