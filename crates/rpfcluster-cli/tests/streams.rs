//! Standard streams, Ctrl-C, thread counts, missing values, configuration files and verbose output.

mod common;

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{TestDir, npy, numbers};

#[test]
fn kernels_and_neighbors_do_not_depend_on_thread_count() {
    let dir = TestDir::new();
    let values: Vec<f64> = numbers().take(3000 * 4).collect();
    dir.put("a.npy", npy("<f8", 3000, 4, values.iter().map(|v| v.to_le_bytes())));
    let mut first = None;
    for threads in [1, 2, 8] {
        let line = format!("kernel a.npy --threads {threads} --trees 40 --min 0.2 -q");
        for file in ["k.npz", "k.mtx", "k.parquet"] {
            dir.rpf(&format!("{line} -o {file} --model m.rpf")).done();
        }
        dir.rpf(&format!("neighbors a.npy --threads {threads} --trees 40 -n 4 --exact -o n.csv")).done();
        let files = ["k.npz", "k.mtx", "k.parquet", "m.rpf", "n.csv"].map(|file| dir.bytes(file));
        match &first {
            None => first = Some(files),
            Some(first) => assert!(*first == files, "{threads} threads"),
        }
    }
}

#[test]
fn standard_input_and_gzip_give_the_result_of_the_file() {
    let dir = TestDir::new();
    let iris = dir.bytes("iris.csv");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&iris).unwrap();
    let packed = packed.finish().unwrap();
    dir.put("iris.csv.gz", &packed);
    let options = "-n 2 --label species --trees 20";
    let plain = dir.rpf(&format!("neighbors iris.csv {options}")).done().out;
    assert_eq!(plain.lines().count(), 301);
    assert_eq!(dir.rpf(&format!("neighbors iris.csv.gz {options}")).done().out, plain);
    assert_eq!(dir.rpf_fed(&format!("neighbors - {options}"), &iris).done().out, plain);
    assert_eq!(dir.rpf_fed(&format!("neighbors - {options}"), &packed).done().out, plain);
    assert_eq!(dir.rpf_fed(&format!("neighbors - {options} --format csv -o -"), &iris).done().out, plain);
    let run = dir.rpf_fed("neighbors - -n 2", b"");
    run.refused(1, &["standard input"]);
}

#[test]
fn hints_and_progress_stay_on_standard_error() {
    let dir = TestDir::new();
    let rows: String = (0..50).map(|i| format!("{},{}\n", i * 1000, f64::from(i % 7) / 10.0)).collect();
    dir.put("scales.csv", format!("income,share\n{rows}"));
    let run = dir.rpf("neighbors scales.csv -n 1").done();
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    for part in ["rpf: hint: ", "income", "share", "--standardize"] {
        assert!(run.err.contains(part), "{}", run.err);
    }
    assert!(dir.rpf("neighbors scales.csv -n 1 --quiet").done().err.is_empty());
    assert!(dir.rpf("neighbors scales.csv -n 1 --standardize all").done().err.is_empty());
    let verbose = dir.rpf("neighbors scales.csv -n 1 --standardize all --verbose").done();
    assert!(verbose.err.contains("growing trees: 200 in"), "{}", verbose.err);
    assert!(verbose.err.lines().all(|l| l.starts_with("rpf: ")), "{}", verbose.err);
    assert!(!verbose.err.contains('\u{1b}'), "no colour without a terminal");
}

#[test]
fn missing_values_are_dropped_or_filled() {
    let dir = TestDir::new();
    let rows: String =
        (0..40).map(|i| if i == 7 { ",1\n".into() } else { format!("{i},{}\n", i % 3) }).collect();
    dir.put("gaps.csv", format!("a,b\n{rows}"));
    let dropped = dir.rpf("neighbors gaps.csv -n 1 --missing drop").done();
    assert!(!dropped.out.contains("\n8,1,") && dropped.out.contains("\n40,1,"), "{}", dropped.out);
    assert_eq!(dropped.err, "rpf: gaps.csv: 1 of 40 rows left out for missing values\n");
    let mean = dir.rpf("neighbors gaps.csv -n 1 --missing mean").done();
    assert!(mean.out.contains("\n8,1,"));
}

#[test]
fn configuration_sets_what_the_command_line_does_not() {
    let dir = TestDir::new();
    dir.put(
        "run.toml",
        "trees = 30\nmin_node = 20\nlabel = \"species\"\ndrop = [1, \"sepal_width\"]\noutput = \"c.npz\"\njson = true\n\
         quiet = true\nneighbors = 3\n",
    );
    let object = dir.rpf("kernel iris.csv --config run.toml").done().json();
    assert_eq!(object["params"]["trees"], 30);
    assert_eq!(object["params"]["min_node"], 20);
    assert_eq!(object["d"], 2);
    let object = dir.rpf("kernel --config=run.toml --trees 31 iris.csv --verbose -o d.npz").done();
    assert!(object.err.contains("growing trees: 31"), "{}", object.err);
    assert!(dir.files().contains(&"d.npz".to_string()));
    dir.rpf("kernel iris.csv --label species --drop 1,2 --trees 30 --min-node 20 -o e.npz -q").done();
    assert_eq!(dir.bytes("c.npz"), dir.bytes("e.npz"));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let dir = TestDir::new();
    let rows: String = numbers().take(20_000).map(|v| format!("{v}\n")).collect();
    dir.put("long.csv", rows);
    for line in [
        "neighbors long.csv -n 5 --trees 5",
        "--help",
        "completions bash",
        "demo",
        "cluster long.csv -k 2 -q",
    ] {
        let mut child = dir
            .command()
            .args(line.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        if line.starts_with("neighbors") {
            out.read_exact(&mut [0; 10]).unwrap();
        }
        drop(out);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert!(output.stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Ctrl-C at several moments of a long run: exit 130, soon, one sentence, no file left.
#[cfg(unix)]
#[test]
fn interrupted_runs_leave_no_file() {
    let dir = TestDir::new();
    let values: Vec<f64> = numbers().take(60_000 * 8).collect();
    dir.put("a.npy", npy("<f8", 60_000, 8, values.iter().map(|v| v.to_le_bytes())));
    let before = dir.files();
    let lines = [
        ("kernel a.npy --trees 60000 --min-node 1000 -o k.npz --memory-limit 1T", 300),
        ("kernel a.npy --trees 60 --min-node 3000 -o k.mtx --memory-limit 1T", 2500),
        ("neighbors a.npy -n 500 --trees 60 -o n.csv", 1500),
        ("cluster a.npy -k 8 --trees 100 -o l.csv --model m.rpf --report r.html", 1000),
        ("cluster a.npy -k 8 --trees 30 -o l.csv --model m.rpf --report r.html", 4000),
    ];
    let mut interrupted = 0;
    for (line, wait) in lines {
        let mut child =
            dir.command().args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let done =
            std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(done.success());
        let since = Instant::now();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let code = child.wait().unwrap().code();
        // A run that ended before the signal shows nothing about interruption.
        if code == Some(0) {
            assert!(!line.contains("60000"), "{line}");
            dir.files().iter().filter(|f| !before.contains(f)).for_each(|f| {
                std::fs::remove_file(dir.path(f)).unwrap();
            });
            continue;
        }
        assert_eq!(code, Some(130), "{line}: {err}");
        assert_eq!(err, "rpf: interrupted; no partial file is left\n", "{line}");
        assert!(since.elapsed() < Duration::from_secs(20), "{line}: took {:?}", since.elapsed());
        assert_eq!(dir.files(), before, "{line}");
        interrupted += 1;
    }
    assert!(interrupted >= 3, "only {interrupted} of {} runs lasted until the signal", lines.len());
}

#[test]
fn verbose_lists_everything_tried() {
    let dir = TestDir::new();
    let run = "cluster iris.csv -k auto --trees auto --affinity auto --label species -o l.csv";
    let plain = dir.rpf(run).done();
    let verbose = dir.rpf(&format!("{run} --verbose")).done();
    for title in ["numbers of clusters tried", "numbers of trees tried", "settings compared"] {
        assert!(!plain.err.contains(title), "{}", plain.err);
        let table =
            verbose.err.split_once(title).unwrap_or_else(|| panic!("no {title} in {}", verbose.err)).1;
        let rows: Vec<&str> = table.lines().skip(1).take_while(|line| !line.is_empty()).collect();
        assert!(rows.len() > 1, "{rows:?}");
        assert_eq!(rows.iter().filter(|row| row.starts_with('>')).count(), 1, "{rows:?}");
    }
    let settings = verbose.err.split_once("settings compared").unwrap().1;
    let taken = settings.lines().find(|line| line.starts_with('>')).unwrap();
    let similarity = verbose.err.lines().find(|line| line.starts_with("similarity  ")).unwrap();
    let words = taken[2..].split("  ").next().unwrap();
    assert!(similarity.contains(words), "{taken} is not {similarity}");
}
