//! The command line and its configuration file: parsed and resolved, not run. Used by the fuzz targets `arguments` and
//! `config`, and by a test of the command that replays their seeds.

#![allow(clippy::expect_used, clippy::panic, reason = "a target panics when a property does not hold")]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::args::{Cli, Verb};
use crate::exit::Failure;
use crate::files::table::TableFormat;
use crate::{config, resolve};

/// Words separated by zero bytes.
pub fn arguments(bytes: &[u8]) {
    let mut words: Vec<OsString> = vec!["rpf".into()];
    words.extend(bytes.split(|b| *b == 0).map(|word| OsString::from_vec(word.to_vec())));
    // The file would be one of this machine.
    if words.iter().any(|word| word.to_string_lossy().contains("--co")) {
        return;
    }
    check(words);
}

/// The text of a configuration file.
pub fn config(bytes: &[u8]) {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("a folder for temporary files");
    }
    FOLDER.with(|folder| {
        let path = folder.path().join("x.toml");
        std::fs::write(&path, bytes).expect("space for temporary files");
        for verb in ["cluster", "kernel", "sweep"] {
            let line: [OsString; 5] =
                ["rpf".into(), verb.into(), "x.csv".into(), "--config".into(), path.clone().into()];
            check(line.to_vec());
        }
    });
}

fn check(words: Vec<OsString>) {
    match config::parse(words) {
        Ok(cli) => {
            if let Err(failure) = resolve(&cli) {
                check_failure(&failure);
            }
        }
        Err(failure) => check_failure(&failure),
    }
}

/// What commands do with their arguments before they read a file.
fn resolve(cli: &Cli) -> Result<(), Failure> {
    match &cli.verb {
        Verb::Cluster(args) => {
            let clusters = resolve::clusters(args)?;
            resolve::pipeline_with_open_trees(&args.forest, &args.spectral, &clusters)?;
            resolve::prepare(&args.data)?;
            TableFormat::of(args.output.as_deref())?;
        }
        Verb::Kernel(args) => {
            resolve::forest(&args.forest)?;
        }
        Verb::Neighbors(args) => {
            resolve::forest(&args.forest)?;
        }
        _ => {}
    }
    Ok(())
}

/// An error is one of the command line or of the file, and has words.
fn check_failure(failure: &Failure) {
    match failure {
        Failure::Data(sentence) | Failure::Usage(sentence) => assert!(!sentence.trim().is_empty()),
        Failure::Clap(error) => assert!(!error.render().to_string().is_empty()),
        other => panic!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn seeds_of_the_fuzz_targets_are_parsed_or_refused() {
        let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
        for (target, run) in [("arguments", super::arguments as fn(&[u8])), ("config", super::config)] {
            let mut count = 0;
            for file in std::fs::read_dir(seeds.join(target)).unwrap() {
                run(&std::fs::read(file.unwrap().path()).unwrap());
                count += 1;
            }
            assert!(count > 0, "no seeds of {target}");
        }
    }
}
