//! From what was typed to checked parameters: defaults put in, ranges checked, outputs looked at before any work is done.

use std::path::Path;

use rpfcluster::ForestParams;
use rpfcluster_data::{Missing, Prepare, ReadOptions, Standardize};

use crate::args::{DataArgs, ForestArgs, MinNode};
use crate::exit::{Failure, Outcome};

/// The forest's parameters.
pub fn forest(args: &ForestArgs) -> Outcome<ForestParams> {
    let default = ForestParams::default();
    let min_node = match args.min_node {
        None => default.min_node,
        Some(MinNode::Fixed(n)) => n,
        Some(MinNode::Auto) => {
            return Err(Failure::usage(
                "--min-node auto is chosen by clustering; give a number here, such as 30",
            ));
        }
    };
    let params = ForestParams {
        trees: args.trees.unwrap_or(default.trees),
        min_node,
        split: args.split.map_or(default.split, Into::into),
        direction: args.direction.map_or(default.direction, Into::into),
        candidates: args.candidates.unwrap_or(default.candidates),
        seed: args.seed.unwrap_or(default.seed),
    };
    params.validate()?;
    Ok(params)
}

/// How the table is made from its file.
pub fn prepare(args: &DataArgs) -> Prepare {
    let standardize = match args.standardize.as_slice() {
        [] => Standardize::None,
        [one] if one.0 == "none" => Standardize::None,
        [one] if one.0 == "all" => Standardize::All,
        some => Standardize::Columns(some.to_vec()),
    };
    Prepare {
        label: args.label.clone(),
        drop: args.drop.clone(),
        columns: args.columns.clone(),
        standardize,
        missing: args.missing.map_or(Missing::Error, Into::into),
    }
}

/// How the file is read.
pub fn reading(args: &DataArgs) -> ReadOptions {
    ReadOptions { format: args.format, header: None }
}

/// A share from 0 to 1.
pub fn share(option: &str, value: f64) -> Outcome<f64> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(Failure::usage(format!("{option} is {value}, but must be from 0 to 1")))
    }
}

/// A count of at least one.
pub fn positive(option: &str, value: usize) -> Outcome<usize> {
    if value >= 1 { Ok(value) } else { Err(Failure::usage(format!("{option} is 0, but must be at least 1"))) }
}

/// Looks whether files can be written there before an hour is spent on what would be in them.
pub fn outputs(input: &Path, targets: &[(&str, Option<&Path>)]) -> Outcome {
    let mut seen: Vec<(&str, std::path::PathBuf)> = vec![("DATA", same(input))];
    for (option, target) in targets {
        let Some(path) = target.filter(|p| p.as_os_str() != "-") else { continue };
        let failed = |problem: &str| Failure::data(format!("{}: {problem}", path.display()));
        let special = std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir());
        if special {
            continue;
        }
        let real = same(path);
        if let Some((other, _)) = seen.iter().find(|(_, p)| *p == real) {
            return Err(Failure::usage(format!(
                "{option} and {other} are the same file, {}; give another name",
                path.display()
            )));
        }
        if path.is_dir() {
            return Err(failed("is a folder, not a file"));
        }
        let folder = match real.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => Path::new(".").to_path_buf(),
        };
        if !folder.is_dir() {
            return Err(failed(&format!("there is no folder {}", folder.display())));
        }
        // A file that is gone again at once: the one sure sign that another can be made.
        if let Err(e) = tempfile::tempfile_in(&folder) {
            return Err(failed(&format!("cannot be written: {}", e.kind())));
        }
        seen.push((option, real));
    }
    Ok(())
}

/// One name for one file, however it was written.
fn same(path: &Path) -> std::path::PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}
