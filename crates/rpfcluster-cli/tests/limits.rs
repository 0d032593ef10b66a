//! Hostile input and memory limits: one sentence, exit 1, old outputs intact, and no more memory than allowed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

mod common;

use std::io::Write;

use common::{Run, TestDir};

/// A table of zeros, gzipped; about `bytes` bytes of text.
fn bomb(bytes: usize) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let lines = b"0,0,0,0,0,0,0,0\n".repeat(1 << 12);
    for _ in 0..bytes / lines.len() {
        packed.write_all(&lines).unwrap();
    }
    packed.finish().unwrap()
}

/// Runs `rpf` in a shell with a limit on the address space, in kB.
fn limited(dir: &TestDir, kilobytes: usize, line: &str) -> Run {
    let rpf = env!("CARGO_BIN_EXE_rpf");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {kilobytes} && exec {rpf} {line}")]).current_dir(dir.path("."));
    Run::new(line, shell.env_remove("RUST_BACKTRACE").output().unwrap())
}

/// The old outputs of a clustering.
fn put_old(dir: &TestDir) -> [&'static str; 3] {
    let names = ["old.csv", "old.rpf", "old.html"];
    names.iter().for_each(|name| drop(dir.put(name, format!("old {name}"))));
    names
}

fn check_old(dir: &TestDir, names: &[&str]) {
    for name in names {
        assert_eq!(dir.bytes(name), format!("old {name}").into_bytes());
    }
}

#[test]
fn memory_limit_covers_reading() {
    let dir = TestDir::new();
    dir.put("bomb.csv.gz", bomb(300 << 20));
    let old = put_old(&dir);
    let outputs = "-k 2 --threads 2 -o old.csv --model old.rpf --report old.html";
    // A command that reads on would pass the limit of the shell.
    let run = limited(&dir, 900_000, &format!("cluster bomb.csv.gz {outputs} --memory-limit 200M"));
    run.refused(1, &["bomb.csv.gz: reading needs over", "--memory-limit allows 200.0 MB"]);
    let run = limited(
        &dir,
        900_000,
        "cluster bomb.csv.gz --precomputed -k 2 --threads 2 -o old.csv --memory-limit 200M",
    );
    run.refused(1, &["bomb.csv.gz: reading needs over", "--memory-limit allows 200.0 MB"]);
    check_old(&dir, &old);
}

#[test]
fn memory_limit_covers_labels_matrices_figures_and_models() {
    let dir = TestDir::new();
    dir.put("bomb.csv.gz", bomb(60 << 20));
    dir.put("few.csv", "cluster\n0\n1\n");
    let numbers = "0,".repeat(2 << 20);
    dir.put("many.json", format!("{{\"command\":\"cluster\",\"eigenvalues\":[{numbers}0]}}"));
    dir.rpf("cluster iris.csv --label species -k 3 -o - --model iris.rpf --trees 2000").done();
    put_old(&dir);
    dir.put("old.svg", "old old.svg");
    for (line, file) in [
        ("score bomb.csv.gz --truth few.csv --memory-limit 20M", "bomb.csv.gz"),
        ("score few.csv --truth bomb.csv.gz --label 1 --memory-limit 20M", "bomb.csv.gz"),
        ("score bomb.csv.gz --truth species --memory-limit 20M", "bomb.csv.gz"),
        ("plot bomb.csv.gz --kind heatmap -o old.svg --memory-limit 20M", "bomb.csv.gz"),
        ("plot iris.rpf --kind embedding --truth bomb.csv.gz -o old.svg --memory-limit 20M", "bomb.csv.gz"),
        ("plot many.json --kind eigen -o old.svg --memory-limit 20M", "many.json"),
        ("plot iris.rpf --kind embedding -o old.svg --memory-limit 200k", "iris.rpf"),
        ("predict iris.rpf iris.csv -o old.csv --memory-limit 200k", "iris.rpf"),
        ("neighbors iris.csv --neighbors 3 --against iris.rpf -o old.csv --memory-limit 200k", "iris.rpf"),
    ] {
        dir.rpf(line).refused(1, &[&format!("{file}: reading needs over"), "--memory-limit allows"]);
    }
    check_old(&dir, &["old.csv", "old.svg"]);
}

#[test]
fn devices_without_an_end_are_no_models_and_no_configurations() {
    let dir = TestDir::new();
    for line in ["inspect /dev/zero", "predict /dev/zero iris.csv", "plot /dev/zero --kind eigen -o x.svg"] {
        limited(&dir, 900_000, line).refused(1, &["/dev/zero: the model is not an rpf model file"]);
    }
    limited(&dir, 900_000, "cluster iris.csv -k 3 --config /dev/zero")
        .refused(1, &["/dev/zero: is longer than 1 MB"]);
    // A model that goes on after its end is read little further.
    dir.rpf("cluster iris.csv --label species -k 3 -o - --model iris.rpf").done();
    let endless = std::fs::OpenOptions::new().append(true).open(dir.path("iris.rpf")).unwrap();
    endless.set_len(1 << 31).unwrap();
    limited(&dir, 1_500_000, "inspect iris.rpf").refused(1, &["iris.rpf: "]);
}

#[test]
fn limit_of_the_shell_is_seen_before_the_work() {
    let dir = TestDir::new();
    dir.put("bomb.csv.gz", bomb(300 << 20));
    let old = put_old(&dir);
    limited(&dir, 900_000, "cluster bomb.csv.gz -k 2 --threads 2 -o old.csv")
        .refused(1, &["bomb.csv.gz: reading needs over", "ulimit -v leaves"]);
    // So little that the system may refuse first; still one sentence.
    limited(&dir, 300_000, "cluster bomb.csv.gz -k 2 --threads 2 -o old.csv").refused(1, &["memory"]);
    // A table that is small, and a forest that is not. --memory-limit is no remedy.
    let rows: String = (0..20_000).map(|i| format!("{},{}\n", i % 101, i % 103)).collect();
    dir.put("rows.csv", rows);
    let run = limited(&dir, 400_000, "cluster rows.csv -k 2 --threads 2 --trees 20000 -o old.csv");
    run.refused(1, &["needs about", "ulimit -v leaves"]);
    assert!(!run.err.contains("--memory-limit"), "{}", run.err);
    // --memory-limit cannot allow what the shell does not.
    limited(&dir, 400_000, "cluster rows.csv -k 2 --threads 2 --trees 20000 -o old.csv --memory-limit 100G")
        .refused(1, &["needs about", "ulimit -v leaves"]);
    check_old(&dir, &old);
    limited(&dir, 1_500_000, "cluster iris.csv --label species -k 3 --threads 2 -o new.csv").done();
}

#[test]
fn memory_that_runs_out_ends_in_one_sentence_and_keeps_old_files() {
    let dir = TestDir::new();
    let old = put_old(&dir);
    let rows = 40_000;
    let values = common::numbers().take(rows * 10).map(f64::to_le_bytes);
    dir.put("rows.npy", common::npy("<f8", rows, 10, values));
    let (mut done, mut refused) = (0, 0);
    // Between what the program needs to start and what the fit needs.
    for kilobytes in (120_000..400_000).step_by(40_000) {
        let line =
            "cluster rows.npy -k 3 --threads 2 --trees 50 -q --model old.rpf --report old.html -o old.csv";
        let run = limited(&dir, kilobytes, line);
        match run.code {
            Some(0) => {
                done += 1;
                put_old(&dir);
            }
            _ => {
                run.refused(1, &[]);
                refused += 1;
            }
        }
        check_old(&dir, &old);
        assert_eq!(dir.files().len(), old.len() + 2, "{kilobytes}: a temporary file is left");
    }
    assert!(done > 0 && refused > 0, "{done}, {refused}");
}

#[test]
fn lengths_that_a_file_claims_are_not_believed() {
    let dir = TestDir::new();
    let old = put_old(&dir);
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/arrow");
    for name in ["plain-lz4", "plain-zstd"] {
        let mut bytes = std::fs::read(seeds.join(name)).unwrap();
        // The first compressed buffer: its length, 2,400 bytes, in front of the data.
        let at = bytes.windows(8).position(|w| w == 2400i64.to_le_bytes()).unwrap();
        bytes[at..at + 8].copy_from_slice(&1_000_000_000_000_000_000i64.to_le_bytes());
        dir.put("claim.feather", bytes);
        dir.rpf("cluster claim.feather -k 2 -o old.csv --model old.rpf --report old.html")
            .refused(1, &["claim.feather", "claim to be 1000000000000000000", "damaged"]);
    }
    std::fs::File::create(dir.path("sparse.npy")).unwrap().set_len(1 << 42).unwrap();
    dir.rpf("cluster sparse.npy -k 2 -o old.csv").refused(1, &["sparse.npy: reading needs over 4.4 TB"]);
    check_old(&dir, &old);
}

#[test]
fn odd_inputs_are_refused_and_a_fifo_is_read() {
    let dir = TestDir::new();
    let old = put_old(&dir);
    std::os::unix::fs::symlink("loop.csv", dir.path("loop.csv")).unwrap();
    std::fs::create_dir(dir.path("folder")).unwrap();
    let wide = [b"1,".repeat(1_000_000), b"1\n".to_vec()].concat();
    dir.put("wide.csv", [&wide[..], b"2\n"].concat());
    dir.put("utf16.csv", [0xff, 0xfe, b'1', 0, b'\n', 0]);
    dir.put("zeros.csv", "1,2\n\0,3\n");
    dir.put("mark.csv", "\u{feff}");
    for (name, part) in [
        ("loop.csv", "loop.csv"),
        ("folder", "is a folder"),
        ("wide.csv", "row 2"),
        ("utf16.csv", "UTF-16"),
        ("zeros.csv", "zero bytes"),
        ("mark.csv", "empty"),
    ] {
        dir.rpf(&format!("cluster {name} -k 2 -o old.csv --model old.rpf")).refused(1, &[name, part]);
    }
    check_old(&dir, &old);
    assert!(std::process::Command::new("mkfifo").arg(dir.path("fifo")).status().unwrap().success());
    let (fifo, iris) = (dir.path("fifo"), dir.bytes("iris.csv"));
    let fed = std::thread::spawn(move || std::fs::write(fifo, iris).unwrap());
    dir.rpf("cluster fifo --label species -k 3 -o new.csv").done();
    fed.join().unwrap();
    assert_eq!(String::from_utf8(dir.bytes("new.csv")).unwrap().lines().count(), 151);
}
