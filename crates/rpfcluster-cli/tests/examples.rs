//! Every example of every `--help` and every `rpf` line of the README and the pages runs, in a folder that has the files
//! they name. A line that a page shows with its error message fails with that message.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap in a test is a failed test")]

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};

use common::{Run, TestDir};

const IRIS: &str = include_str!("../../rpfcluster-data/data/iris.csv");

/// Folders that users have in their home, which examples write to.
const HOME: [&str; 4] = [
    ".local/share/bash-completion/completions",
    ".zfunc",
    ".config/fish/completions",
    ".local/share/man/man1",
];

/// The files that examples read.
fn dir() -> TestDir {
    let dir = TestDir::new();
    for folder in HOME.iter().chain(&["results"]) {
        std::fs::create_dir_all(dir.path(folder)).unwrap();
    }
    let lines = || IRIS.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let code =
        |species: &str| ["setosa", "versicolor", "virginica"].iter().position(|s| species.ends_with(s));
    let table = |head: &str, row: &dyn Fn(usize, &[&str]) -> String| {
        let rows = lines().enumerate().map(|(i, cells)| row(i, &cells) + "\n");
        std::iter::once(format!("{head}\n")).chain(rows).collect::<String>()
    };
    let names = IRIS.lines().next().unwrap().rsplit_once(',').unwrap().0;
    let coded = |cells: &[&str]| format!("{},{}", cells[..4].join(","), code(cells[4]).unwrap());
    let data = table(&format!("{names},class"), &|_, cells| coded(cells));
    dir.put("data.csv", &data);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(data.as_bytes()).unwrap();
    dir.put("data.gz", gz.finish().unwrap());
    dir.put("flowers.csv", IRIS);
    dir.put("book.xlsx", include_bytes!("../../rpfcluster-data/tests/fixtures/iris.xlsx"));
    let applicant = |i: usize, cells: &[&str]| {
        let (purpose, housing) = (["car", "education", "furniture"][i % 3], ["own", "rent"][i % 2]);
        format!("{purpose},{housing},{}", cells.join(","))
    };
    dir.put("credit.csv", table(&format!("purpose,housing,{names},class"), &applicant));
    dir.put("test.csv", table(&format!("{names},class"), &|_, cells| cells.join(",")));
    dir.put("new.csv", table(names, &|_, cells| cells[..4].join(",")));
    dir.put(
        "german.csv",
        table(&names.replace(',', ";"), &|_, cells| cells[..4].join(";").replace('.', ",")),
    );
    dir.put("classes.txt", lines().map(|cells| format!("{}\n", cells[4])).collect::<String>());
    dir.put("classes.csv", table("class", &|_, cells| cells[4].to_string()));
    let numbers = lines().enumerate().flat_map(|(i, cells)| {
        let row: Vec<f64> = cells[..4].iter().map(|cell| cell.parse().unwrap()).collect();
        std::iter::once(i as f64).chain(row).map(f64::to_le_bytes).collect::<Vec<_>>()
    });
    dir.put("new.npy", common::npy("<f8", 150, 5, numbers));
    // Halves from 0 to 1 with the bits of an embedding in half precision.
    let halves = common::numbers().take(150 * 60).map(|x| (0x3800 + (x * 1024.0) as u16).to_le_bytes());
    dir.put("embeddings.npy", common::npy("<f2", 150, 60, halves));
    let article = |(i, cells): (usize, Vec<&str>)| {
        format!("{{\"id\":\"a{i}\",\"title\":\"{}\",\"embedding\":[{}]}}\n", cells[4], cells[..4].join(","))
    };
    dir.put("articles.jsonl", lines().enumerate().map(article).collect::<String>());
    dir.put("data.npy", common::npy("<f8", 150, 5, common::numbers().take(750).map(f64::to_le_bytes)));
    // A chain of nine points with a weak link in the middle.
    let weight = |i: usize, j: usize| match (i.abs_diff(j), i.min(j)) {
        (0, _) => "1",
        (1, 3) => "0.1",
        (1, _) => "0.8",
        _ => "0",
    };
    let nine = (0..9).map(|i| (0..9).map(|j| weight(i, j)).collect::<Vec<_>>().join(",") + "\n");
    dir.put("nine.csv", nine.collect::<String>());
    let score = serde_json::json!({"mean": 0.7, "sd": 0.0, "runs": 1, "values": [0.7]});
    let cell =
        serde_json::json!({"rho_c": score, "rho_r": score, "ari": score, "nmi": score, "seconds": 0.1});
    let results = serde_json::json!({
        "version": "0.1.0", "effort": "quick", "seeds": 1, "failed": {}, "not_public": {},
        "datasets": {"iris": {"title": "Iris", "n": 150, "d": 4, "k": 3, "majority": 33.3,
            "methods": {"kmeans": {"paper": cell}, "auto": {"paper": cell}}}},
    });
    dir.put("results/results.json", results.to_string());
    for line in [
        "cluster iris.csv --label species -k 3 --model model.rpf --append -q -o iris-with-clusters.csv",
        "cluster iris.csv --label species -k 3 -q -o labels.csv",
        "cluster data.csv -k 3 --append -q -o data.parquet",
        "cluster data.csv -k 3 --append -q -o big.parquet",
        "kernel data.csv --label class --model forest.rpf -q -o similarity.npz",
        "kernel data.csv --label class -q -o similarity.mtx",
        "kernel iris.csv --label species -q -o gaussian.npy",
    ] {
        dir.rpf(line).done();
    }
    dir
}

/// Runs a line in a shell that finds `rpf`.
fn run(dir: &TestDir, line: &str) -> Run {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_rpf"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line]).current_dir(dir.path("")).env("PATH", path).env("HOME", dir.path(""));
    Run::new(line, shell.stdin(std::process::Stdio::null()).output().unwrap())
}

/// Runs an example; `shown` is the line below it on its page.
fn check(dir: &TestDir, place: &str, line: &str, shown: &str) {
    let done = run(dir, line);
    // Hours on data that is not here: the command line is right when the folder is what is missing.
    let expected = if line.starts_with("rpf reproduce") || shown.starts_with("rpf: ") { 1 } else { 0 };
    assert_eq!(done.code, Some(expected), "{place}: {line}\n{}", done.err);
    if shown.starts_with("rpf: ") {
        assert_eq!(done.err.trim_end(), shown, "{place}: {line}");
    }
    if line.starts_with("rpf reproduce") {
        assert!(done.err.contains("data"), "{place}: {line}\n{}", done.err);
    }
}

/// The command of a line: up to a comment, which two blanks or a # set off.
fn command(line: &str) -> &str {
    let line = line.split(" #").next().unwrap_or(line);
    line.split("  ").next().unwrap_or(line).trim_end()
}

#[test]
fn every_example_of_every_help_runs() {
    let dir = dir();
    let help = dir.rpf("--help").done().out;
    let verbs = help.lines().skip_while(|l| !l.starts_with("Commands:")).skip(1);
    let verbs: Vec<&str> =
        verbs.take_while(|l| !l.is_empty()).filter_map(|l| l.split_whitespace().next()).collect();
    assert!(verbs.contains(&"cluster") && verbs.contains(&"man"), "{verbs:?}");
    // Examples write files that others read: every verb begins with the original ones.
    let originals: Vec<(String, Vec<u8>)> = dir
        .files()
        .into_iter()
        .filter(|name| dir.path(name).is_file())
        .map(|name| (name.clone(), dir.bytes(&name)))
        .collect();
    let mut count = 0;
    for verb in std::iter::once("").chain(verbs.into_iter().filter(|verb| *verb != "help")) {
        let text = dir.rpf(&format!("{verb} --help")).done().out;
        assert_eq!(dir.rpf(&format!("help {verb}")).done().out, text, "rpf help {verb}");
        let examples: Vec<&str> = text
            .lines()
            .skip_while(|line| *line != "Examples:")
            .skip(1)
            .filter_map(|line| line.strip_prefix("  "))
            .filter(|line| line.starts_with("rpf ") || line.contains("| rpf "))
            .collect();
        assert!(!examples.is_empty(), "rpf {verb} --help has no examples");
        for (name, bytes) in &originals {
            dir.put(name, bytes);
        }
        for line in examples {
            check(&dir, &format!("rpf {verb} --help"), command(line), "");
            count += 1;
        }
    }
    assert!(count > 40, "{count} examples");
}

/// All pages below a folder but the dated notes.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("notes") {
            pages(&path, found);
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

#[test]
fn every_command_of_the_pages_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    pages(&root.join("docs"), &mut files);
    files.sort();
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        // A page is read from the top: later lines use the files of earlier ones.
        let mut dir = None;
        for (at, line) in lines.iter().enumerate() {
            let typed = line.trim_start().trim_start_matches("$ ");
            let is_code = line.starts_with("    ") || line.starts_with("rpf ") || line.starts_with("$ rpf ");
            // A query needs a feature that is off by default; queries.rs tests it.
            if is_code && typed.starts_with("rpf ") && !typed.contains(" --query ") {
                let shown = lines.get(at + 1).map_or("", |next| next.trim());
                check(dir.get_or_insert_with(self::dir), &file.display().to_string(), command(typed), shown);
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count} commands");
}

/// Each program stands for one that a machine may not have: it writes a table, if its arguments are what the real one takes.
#[test]
fn lines_that_pipe_databases_and_spreadsheets_run_as_printed() {
    let dir = dir();
    let table = "cat data.csv";
    let archive = "PK\u{3}\u{4}[Content_Types].xml xl/workbook.bin";
    let duck = [&[0u8; 8][..], b"DUCK\xe7\x03\0\0"].concat();
    std::fs::create_dir(dir.path("bin")).unwrap();
    for (name, bytes, program, arguments) in [
        (
            "my shop.db",
            b"SQLite format 3\0..CREATE TABLE customers(age)".to_vec(),
            "sqlite3",
            "-header -csv my shop.db SELECT * FROM customers",
        ),
        ("shop.duckdb", duck, "duckdb", "shop.duckdb -c COPY (FROM NAME) TO '/dev/stdout' (FORMAT parquet)"),
        (
            "book.xlsb",
            archive.into(),
            "python3",
            "-c import pandas, sys; pandas.read_excel(sys.argv[1]).to_csv(sys.stdout, index=False) book.xlsb",
        ),
    ] {
        dir.put(name, bytes);
        let stub = dir.put(
            &format!("bin/{program}"),
            format!("#!/bin/sh\ntest \"$*\" = \"{arguments}\" || exit 1\n{table}\n"),
        );
        std::fs::set_permissions(stub, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let quoted = format!("rpf cluster '{name}' -k 3");
        let refused = run(&dir, &quoted);
        assert_eq!(refused.code, Some(1), "{quoted}");
        let at = refused.err.find(&format!(": {program} ")).unwrap_or_else(|| panic!("{}", refused.err));
        let line = refused.err[at + 2..].trim_end();
        let done = run(&dir, &format!("PATH=./bin:$PATH; {line} -k 3 --label class -q"));
        assert_eq!((done.code, done.out.lines().count()), (Some(0), 151), "{line}\n{}", done.err);
    }
}
