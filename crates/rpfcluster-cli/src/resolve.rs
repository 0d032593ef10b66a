//! From what was typed to checked parameters: defaults put in, ranges checked, outputs looked at before any work is done.

use std::path::Path;

use rpfcluster::spectral::SpectralParams;
use rpfcluster::{AffinityKind, ForestParams, RpfCluster};
use rpfcluster_data::{Format, Missing, Prepare, ReadOptions, Standardize};

use crate::args::{Choice, ClusterArgs, DataArgs, ForestArgs, MinNode, SolverArg, SpectralArgs};
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
        trees: fixed_trees(args)?,
        min_node,
        split: args.split.map_or(default.split, Into::into),
        direction: args.direction.map_or(default.direction, Into::into),
        candidates: args.candidates.unwrap_or(default.candidates),
        seed: args.seed.unwrap_or(default.seed),
    };
    params.validate()?;
    Ok(params)
}

/// The number of trees where it is not chosen.
fn fixed_trees(args: &ForestArgs) -> Outcome<usize> {
    match args.trees {
        None => Ok(ForestParams::default().trees),
        Some(Choice::Given(trees)) => Ok(trees),
        Some(Choice::Auto) => {
            Err(Failure::usage("--trees auto is chosen by rpf cluster; give a number here, such as 200"))
        }
    }
}

/// The most trees that `--trees auto` grows.
const MAX_TREES: usize = 1600;

/// The most clusters that `-k auto` looks at when nothing is said.
const MAX_K: usize = 10;

/// The number of clusters of `rpf cluster`, or the most there may be when it is to be chosen.
pub enum Clusters {
    /// As given.
    Fixed(usize),
    /// From 1 to this many.
    UpTo(usize),
}

/// What was said about the number of clusters.
pub fn clusters(args: &ClusterArgs) -> Outcome<Clusters> {
    let Some(k) = args.clusters.given() else {
        if args.spectral.precomputed {
            return Err(Failure::usage(
                "-k auto compares forests, but --precomputed grows none; give the number of clusters, such as -k 3",
            ));
        }
        return Ok(Clusters::UpTo(args.max_k.unwrap_or(MAX_K)));
    };
    if args.max_k.is_some() {
        return Err(Failure::usage(format!("--max-k is for -k auto, but -k is {k}; leave one of them out")));
    }
    if k < 1 {
        return Err(Failure::usage("-k is 0, but must be at least 1"));
    }
    Ok(Clusters::Fixed(k))
}

/// The whole walk's parameters.
pub fn walk(forest: &ForestArgs, spectral: &SpectralArgs, clusters: &Clusters) -> Outcome<RpfCluster> {
    let default = RpfCluster::default();
    let (k, max_k) = match *clusters {
        Clusters::Fixed(k) => (k, None),
        Clusters::UpTo(most) => (default.k, Some(most)),
    };
    let params = RpfCluster {
        k,
        max_k,
        trees: fixed_trees(forest)?,
        min_node: match forest.min_node {
            Some(MinNode::Fixed(n)) => Some(n),
            Some(MinNode::Auto) | None => None,
        },
        split: forest.split.map_or(default.split, Into::into),
        direction: forest.direction.map_or(default.direction, Into::into),
        candidates: forest.candidates.unwrap_or(default.candidates),
        affinity: spectral.affinity.map_or_else(|| named(spectral), Into::into),
        beta1: spectral.beta1.and_then(|b| b.given()),
        beta2: spectral.beta2.and_then(|b| b.given()),
        diagonal: spectral.diagonal.map_or(default.diagonal, Into::into),
        top: spectral.top.and_then(|t| t.given()),
        power: spectral.power.and_then(|p| p.given()),
        solver: spectral.solver.map_or(default.solver, Into::into),
        landmarks: spectral.landmarks.unwrap_or(default.landmarks),
        seed: forest.seed.unwrap_or(default.seed),
        ..default
    };
    params.validate()?;
    belongs(spectral, &params)?;
    Ok(params)
}

/// As [`walk`], for the verb that may be left to choose the number of trees.
pub fn open_walk(forest: &ForestArgs, spectral: &SpectralArgs, clusters: &Clusters) -> Outcome<RpfCluster> {
    let Some(Choice::Auto) = forest.trees else { return walk(forest, spectral, clusters) };
    let rest = ForestArgs { trees: None, ..forest.clone() };
    Ok(RpfCluster { max_trees: Some(MAX_TREES), ..walk(&rest, spectral, clusters)? })
}

/// A number that belongs to one affinity names it.
fn named(args: &SpectralArgs) -> Option<AffinityKind> {
    let paper = [args.beta1, args.beta2].iter().flatten().any(|b| b.given().is_some());
    if paper || args.diagonal.is_some() {
        return Some(AffinityKind::Paper);
    }
    let top_k =
        args.top.is_some_and(|t| t.given().is_some()) || args.power.is_some_and(|p| p.given().is_some());
    top_k.then_some(AffinityKind::TopK)
}

/// Refuses numbers of an affinity other than the one that will be cut: they would be passed over in silence.
fn belongs(args: &SpectralArgs, params: &RpfCluster) -> Outcome {
    let kind = params.fixed_affinity().kind();
    let numbers = [
        ("--beta1", params.beta1.is_some(), AffinityKind::Paper),
        ("--beta2", params.beta2.is_some(), AffinityKind::Paper),
        ("--diagonal", args.diagonal.is_some(), AffinityKind::Paper),
        ("--top", params.top.is_some(), AffinityKind::TopK),
        ("--power", params.power.is_some(), AffinityKind::TopK),
    ];
    if let Some((option, _, of)) = numbers.iter().find(|(_, given, of)| *given && *of != kind) {
        let (of, kind) = (word(of)?, word(&kind)?);
        return Err(Failure::usage(format!(
            "{option} belongs to --affinity {of}, but the affinity is {kind}; leave it out or take --affinity {of}"
        )));
    }
    landmarks(args)
}

fn landmarks(args: &SpectralArgs) -> Outcome {
    if args.landmarks.is_some() && args.solver != Some(SolverArg::Nystrom) {
        return Err(Failure::usage(
            "--landmarks belongs to --solver nystrom; leave it out or take that solver",
        ));
    }
    Ok(())
}

/// The name a value has in JSON and on the command line.
pub fn word(value: &impl serde::Serialize) -> Outcome<String> {
    let value = serde_json::to_value(value).map_err(|e| Failure::data(e.to_string()))?;
    Ok(value.as_str().unwrap_or_default().to_string())
}

/// The spectral step's parameters alone, for a similarity matrix.
pub fn matrix(forest: &ForestArgs, spectral: &SpectralArgs, k: usize) -> Outcome<SpectralParams> {
    landmarks(spectral)?;
    let default = SpectralParams::default();
    let params = SpectralParams {
        k,
        solver: spectral.solver.map_or(default.solver, Into::into),
        landmarks: spectral.landmarks.unwrap_or(default.landmarks),
        seed: forest.seed.unwrap_or(default.seed),
        ..default
    };
    params.validate()?;
    Ok(params)
}

/// `--append` copies a text file that can be read a second time.
pub fn appendable(data: &Path) -> Outcome {
    if data.as_os_str() == "-" {
        return Err(Failure::usage(
            "--append copies the rows of a file, but DATA is standard input; leave it out or name a file",
        ));
    }
    if Format::from_path(data).is_some_and(|format| format != Format::Text) {
        return Err(Failure::usage(format!(
            "--append adds a column to text files only, but DATA is {}; leave it out to get row,cluster",
            data.display()
        )));
    }
    Ok(())
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
