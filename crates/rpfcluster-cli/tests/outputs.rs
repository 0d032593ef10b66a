//! Output files: all of a run or none of it, old files kept after every failure, one name for one file.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

mod common;

use std::fs;
use std::process::Stdio;

use common::{Run, TestDir};

/// Runs that write several files or a file and standard output, with the files they write.
const RUNS: [(&str, &[&str]); 7] = [
    (
        "cluster iris.csv --label species -k 3 --trees 20 --model m.rpf --report r.html -o l.csv",
        &["m.rpf", "r.html", "l.csv"],
    ),
    ("kernel iris.csv --label species --trees 20 -o k.npz --model m.rpf", &["k.npz", "m.rpf"]),
    ("embed iris.csv --label species -d 2 --trees 20 -o e.csv", &["e.csv"]),
    ("neighbors iris.csv --label species -n 2 --trees 20 -o n.csv", &["n.csv"]),
    ("predict model.rpf iris.csv -o p.csv", &["p.csv"]),
    ("sweep iris.csv -k 3 --label species --trees 20 --report s.html", &["s.html"]),
    ("demo --trees 20", &["report.html", "iris-kernel.svg"]),
];

/// A folder with a model and an old version of every output.
fn with_old_files() -> TestDir {
    let dir = TestDir::new();
    dir.rpf("cluster iris.csv --label species -k 3 --trees 20 --model model.rpf -o l.csv -q").done();
    for name in RUNS.iter().flat_map(|(_, files)| *files) {
        dir.put(name, format!("old {name}"));
    }
    dir
}

/// The contents of all files.
fn contents(dir: &TestDir) -> Vec<(String, Vec<u8>)> {
    let files = dir.files().into_iter().filter(|name| dir.path(name).is_file());
    files.map(|name| (name.clone(), dir.bytes(&name))).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_failing_output_keeps_every_old_file() {
    let dir = with_old_files();
    let before = contents(&dir);
    for (line, files) in RUNS {
        // Each file in turn is a full device, under a name with its extension.
        for file in files.iter().filter(|_| !line.starts_with("demo")) {
            let (_, ending) = file.rsplit_once('.').unwrap();
            let full = format!("full.{ending}");
            std::os::unix::fs::symlink("/dev/full", dir.path(&full)).unwrap();
            let run = dir.rpf(&line.replace(file, &full));
            assert_eq!(run.code, Some(1), "{line}: {}", run.err);
            assert!(run.err.lines().last().unwrap().contains("No space left"), "{line}: {}", run.err);
            fs::remove_file(dir.path(&full)).unwrap();
            assert!(contents(&dir) == before, "{file} of {line}");
        }
        // Standard output is a full device.
        let json = if line.starts_with("demo") { "" } else { " --json" };
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let line = format!("{line}{json} -q");
        let run = Run::new(&line, dir.command().args(line.split(' ')).stdout(full).output().unwrap());
        run.refused(1, &["standard output", "No space left"]);
        assert!(contents(&dir) == before, "{line}");
    }
}

#[test]
fn a_closed_pipe_keeps_the_files() {
    let dir = with_old_files();
    for (line, files) in RUNS {
        // What goes to a file in the run goes to the pipe here, where that is possible.
        let line = line
            .replace(" -o l.csv", "")
            .replace(" -o n.csv", "")
            .replace(" -o e.csv", "")
            .replace(" -o p.csv", "");
        let mut child = dir
            .command()
            .args(line.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let run = Run::new(&line, child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(0), "{line}: {}", run.err);
        for file in files.iter().filter(|file| line.contains(*file) || line.starts_with("demo")) {
            assert!(!dir.bytes(file).starts_with(b"old "), "{line}: {file} is old");
        }
    }
    dir.rpf("inspect m.rpf").done();
    assert!(!dir.files().iter().any(|name| name.starts_with('.')), "{:?}", dir.files());
}

#[cfg(unix)]
#[test]
fn two_names_of_one_file_are_refused() {
    let dir = with_old_files();
    fs::create_dir(dir.path("sub")).unwrap();
    std::os::unix::fs::symlink("l.csv", dir.path("link")).unwrap();
    std::os::unix::fs::symlink("new.csv", dir.path("dangling")).unwrap();
    std::os::unix::fs::symlink(".", dir.path("here")).unwrap();
    fs::hard_link(dir.path("l.csv"), dir.path("hard")).unwrap();
    fs::hard_link(dir.path("iris.csv"), dir.path("input")).unwrap();
    dir.put("run.toml", "trees = 5\n");
    let before = contents(&dir);
    let names = [
        ("same", "same"),
        ("same", "./same"),
        ("sub/../same", "here/same"),
        ("l.csv", "link"),
        ("l.csv", "hard"),
        ("link", "hard"),
        ("new.csv", "dangling"),
    ];
    for (one, other) in names {
        let line = "cluster iris.csv --label species -k 3";
        dir.refuses(2, &format!("{line} --model {one} -o {other}"), &["--model", "--output", "same file"]);
        dir.refuses(
            2,
            &format!("{line} --report {one} --model {other}"),
            &["--report", "--model", "same file"],
        );
    }
    for input in ["iris.csv", "./iris.csv", "here/iris.csv", "input"] {
        let same = ["DATA", "same file"];
        dir.refuses(2, &format!("cluster iris.csv --label species -k 3 --model {input}"), &same);
        dir.refuses(2, &format!("neighbors iris.csv --label species -n 2 -o {input}"), &same);
        dir.refuses(2, &format!("predict model.rpf iris.csv -o {input}"), &same);
    }
    dir.refuses(2, "predict model.rpf iris.csv -o here/model.rpf", &["MODEL", "same file"]);
    dir.refuses(2, "neighbors iris.csv -n 2 --against model.rpf -o ./model.rpf", &["--against", "same file"]);
    dir.refuses(2, "neighbors iris.csv -n 2 --config run.toml -o ./run.toml", &["--config", "same file"]);
    dir.refuses(2, "cluster iris.csv --label species -k 3 --model -", &["--model", "standard output"]);
    assert!(contents(&dir) == before);
    // Names that differ in case are two files here, and so are two devices.
    dir.rpf("cluster iris.csv --label species -k 3 --trees 5 -q --model Same -o same").done();
    dir.rpf("cluster iris.csv --label species -k 3 --trees 5 -q --model /dev/null -o /dev/null").done();
}

#[cfg(unix)]
#[test]
fn every_output_follows_symbolic_links() {
    let dir = TestDir::new();
    for (link, target) in [("m", "model.rpf"), ("l", "labels.csv"), ("r", "page.html")] {
        std::os::unix::fs::symlink(target, dir.path(link)).unwrap();
    }
    dir.put("page.html", "old");
    for _ in 0..2 {
        dir.rpf("cluster iris.csv --label species -k 3 --trees 5 -q --model m -o l --report r").done();
        for link in ["m", "l", "r"] {
            assert!(fs::symlink_metadata(dir.path(link)).unwrap().is_symlink(), "{link}");
        }
        for file in ["model.rpf", "labels.csv", "page.html"] {
            assert!(fs::symlink_metadata(dir.path(file)).unwrap().len() > 100, "{file}");
        }
    }
}

#[test]
fn folders_and_missing_folders_are_refused() {
    let dir = with_old_files();
    fs::create_dir(dir.path("folder.npz")).unwrap();
    let before = contents(&dir);
    for (line, files) in RUNS.iter().filter(|(line, _)| !line.starts_with("demo")) {
        for file in *files {
            let (_, ending) = file.rsplit_once('.').unwrap();
            let missing = format!("nowhere/x.{ending}");
            dir.refuses(1, &line.replace(file, &missing), &[&missing, "no folder"]);
            let folder = format!("folder.{ending}");
            let _ = fs::create_dir(dir.path(&folder));
            dir.refuses(1, &line.replace(file, &folder), &[&folder, "is a folder"]);
        }
    }
    assert!(contents(&dir) == before);
}

/// As another user when the tests run as root, whom permissions do not stop.
#[cfg(target_os = "linux")]
#[test]
fn protected_files_and_folders_are_refused() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    let dir = with_old_files();
    let mode = |name: &str, mode: u32| {
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(mode)).unwrap()
    };
    fs::create_dir(dir.path("locked")).unwrap();
    dir.put("locked/l.csv", "old");
    mode("l.csv", 0o444);
    mode("locked", 0o555);
    mode(".", 0o777);
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let before = contents(&dir);
    for (model, labels, part) in [
        ("n.rpf", "l.csv", "l.csv"),
        ("l.csv", "new.csv", "l.csv"),
        ("n.rpf", "locked/l.csv", "locked/l.csv"),
        ("locked/n.rpf", "new.csv", "locked/n.rpf"),
    ] {
        let line = format!("cluster iris.csv --label species -k 3 --trees 5 --model {model} -o {labels}");
        let mut command = dir.command();
        command.args(line.split(' '));
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        match command.output() {
            Ok(output) => Run::new(&line, output).refused(1, &[part, "cannot be written: permission denied"]),
            // The other user may not run a program in this folder.
            Err(_) => return,
        }
        assert!(contents(&dir) == before, "{line}");
    }
    mode("locked", 0o755);
}

/// A file system of 64 kB in a mount namespace of its own, where the system allows one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_old_files() {
    let dir = with_old_files();
    fs::create_dir(dir.path("small")).unwrap();
    let script = |line: &str| {
        format!(
            "mount -t tmpfs -o size=64k none small && echo old > small/m.rpf && echo old > small/l.csv && \
             {{ {} {line}; code=$?; cat small/m.rpf small/l.csv; ls -A small; exit $code; }}",
            env!("CARGO_BIN_EXE_rpf")
        )
    };
    let unshare = |line: &str| {
        let mut command = std::process::Command::new("unshare");
        command.args(["-rm", "sh", "-c", &script(line)]).current_dir(dir.path("."));
        Run::new(line, command.output().unwrap())
    };
    let probe = unshare("--version");
    if probe.code != Some(0) {
        println!("skipped: no mount namespace: {}", probe.err);
        return;
    }
    for line in [
        "cluster iris.csv --label species -k 3 -o small/l.csv --model small/m.rpf",
        "cluster iris.csv --label species -k 3 -o small/l.csv --report small/m.rpf",
        "kernel iris.csv --label species -o small/k.npy --model small/m.rpf",
    ] {
        let run = unshare(line);
        assert_eq!(run.code, Some(1), "{line}: {}", run.err);
        assert_eq!(run.out, "old\nold\nl.csv\nm.rpf\n", "{line}");
        assert!(run.err.contains("small/") && run.err.contains("No space left"), "{line}: {}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{line}: {}", run.err);
    }
}

#[cfg(unix)]
mod named_pipes {
    use std::io::Read;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    use super::*;

    fn make_pipe(dir: &TestDir) {
        assert!(Command::new("mkfifo").arg(dir.path("pipe")).status().unwrap().success());
    }

    const LINE: &str = "cluster iris.csv --label species -k 3 --trees 20 -q --model m.rpf -o pipe";

    fn begun(dir: &TestDir) -> Child {
        dir.command().args(LINE.split(' ')).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_pipe_without_a_reader_is_left_by_one_interrupt() {
        let dir = with_old_files();
        make_pipe(&dir);
        let before = contents(&dir);
        let child = begun(&dir);
        // The model is staged before the pipe is opened.
        let until = Instant::now() + Duration::from_secs(60);
        while !dir.files().iter().any(|name| name.starts_with(".rpf-")) {
            assert!(Instant::now() < until, "no file was staged");
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(300));
        let begun = Instant::now();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let run = Run::new(LINE, child.wait_with_output().unwrap());
        assert_eq!((run.code, run.err.as_str()), (Some(130), "rpf: interrupted; no partial file is left\n"));
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        fs::remove_file(dir.path("pipe")).unwrap();
        assert!(contents(&dir) == before);
    }

    #[test]
    fn a_pipe_gets_the_labels() {
        let dir = with_old_files();
        make_pipe(&dir);
        let child = begun(&dir);
        let mut labels = String::new();
        fs::File::open(dir.path("pipe")).unwrap().read_to_string(&mut labels).unwrap();
        Run::new(LINE, child.wait_with_output().unwrap()).done();
        assert_eq!(labels.lines().count(), 151);
        dir.rpf("inspect m.rpf").done();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_standard_input_or_output_is_redirected_to_is_no_output() {
    let dir = TestDir::new();
    dir.rpf("cluster iris.csv --label species -k 3 --trees 20 --model m.rpf -o l.csv -q").done();
    let before = contents(&dir);
    let open = |name: &str| fs::OpenOptions::new().read(true).append(true).open(dir.path(name)).unwrap();
    for (line, input, output) in [
        ("cluster - --label species -k 3 -q -o iris.csv", "iris.csv", None),
        ("predict m.rpf - -o ./iris.csv", "iris.csv", None),
        ("cluster iris.csv --label species -k 3 -q --model l.csv", "m.rpf", Some("l.csv")),
        ("cluster iris.csv --label species -k 3 -q --json -o l.csv", "m.rpf", Some("l.csv")),
    ] {
        let mut command = dir.command();
        command.args(line.split_whitespace()).stdin(open(input));
        if let Some(output) = output {
            command.stdout(open(output));
        }
        let run = Run::new(line, command.output().unwrap());
        run.refused(2, &["standard ", "are the same file"]);
        assert!(contents(&dir) == before, "{line}");
    }
    // A name of standard output itself, and a file of its own beside it.
    for line in [
        "cluster iris.csv --label species -k 3 -q -o /dev/stdout",
        "predict m.rpf iris.csv -o new.csv --json",
    ] {
        let mut command = dir.command();
        let out = fs::File::create(dir.path("out")).unwrap();
        let run = Run::new(line, command.args(line.split_whitespace()).stdout(out).output().unwrap());
        run.done();
        assert!(!dir.bytes("out").is_empty(), "{line}");
    }
}
