//! Shared by the tests of the command: a temporary folder, runs of the command, and checks of error messages.

#![allow(dead_code, reason = "every test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap in a test is a failed test")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A temporary folder with the Iris data.
pub struct TestDir {
    folder: tempfile::TempDir,
}

impl TestDir {
    pub fn new() -> Self {
        let dir = TestDir { folder: tempfile::tempdir().unwrap() };
        dir.put("iris.csv", include_str!("../../../rpfcluster-data/data/iris.csv"));
        dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn put(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), contents).unwrap();
        self.path(name)
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The names of all files, hidden ones included.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rpf"));
        command.current_dir(self.folder.path()).stdin(Stdio::null()).env_remove("RUST_BACKTRACE");
        command
    }

    /// Runs `rpf` with these words.
    pub fn rpf(&self, line: &str) -> Run {
        Run::new(line, self.command().args(line.split_whitespace()).output().unwrap())
    }

    /// Runs `rpf` with `input` on standard input.
    pub fn rpf_fed(&self, line: &str, input: &[u8]) -> Run {
        let mut child = self
            .command()
            .args(line.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Run::new(line, child.wait_with_output().unwrap())
    }

    /// Runs `rpf`, which must fail with this code, one sentence that has all these parts, and no new file.
    pub fn refuses(&self, code: i32, line: &str, parts: &[&str]) {
        let before = self.files();
        let run = self.rpf(line);
        run.refused(code, parts);
        assert_eq!(self.files(), before, "{line}: left a file");
    }
}

/// What a run left.
pub struct Run {
    pub line: String,
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn new(line: &str, output: Output) -> Self {
        Run {
            line: line.to_string(),
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "rpf {}\n{}", self.line, self.err);
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{}: {e}\n{}", self.line, self.out))
    }

    pub fn refused(&self, code: i32, parts: &[&str]) {
        let Run { line, err, out, .. } = self;
        assert_eq!(self.code, Some(code), "rpf {line}\n{err}");
        assert!(out.is_empty(), "rpf {line} printed\n{out}");
        assert!(err.starts_with("rpf: ") && err.ends_with('\n'), "rpf {line}\n{err}");
        assert_eq!(err.lines().count(), 1, "rpf {line}\n{err}");
        for part in parts {
            assert!(err.contains(part), "rpf {line}: no \"{part}\" in\n{err}");
        }
    }
}

/// A .npy file of floats of either width.
pub fn npy<const W: usize>(
    descr: &str,
    rows: usize,
    columns: usize,
    values: impl Iterator<Item = [u8; W]>,
) -> Vec<u8> {
    let mut head = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while !(head.len() + 11).is_multiple_of(64) {
        head.push(' ');
    }
    head.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    values.for_each(|v| bytes.extend(v));
    bytes
}

/// Numbers that look random and are the same everywhere.
pub fn numbers() -> impl Iterator<Item = f64> {
    let mut state = 1u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    })
}

/// The cells of a dense .npy file of doubles.
pub fn read_npy(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    let head = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[10 + head..].as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

/// A shape as a CSV file with the columns x, y and class.
pub fn shape_csv(shape: &rpfcluster_data::shapes::Shape, n: usize, seed: u64) -> String {
    let made = shape.generate(n, seed);
    let mut text = String::from("x,y,class\n");
    for (point, class) in made.values.chunks_exact(made.d).zip(&made.labels) {
        text += &format!("{},{},{class}\n", point[0], point[1]);
    }
    text
}
