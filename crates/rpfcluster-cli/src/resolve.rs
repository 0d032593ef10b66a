//! Turns parsed arguments into checked parameters: fills in defaults, checks ranges, and checks that outputs can be
//! written before any work begins.

use rpfcluster::spectral::SpectralParams;
use rpfcluster::{AffinityKind, ForestParams, RpfCluster};
use rpfcluster_data::{Missing, Prepare, ReadOptions, Standardize};

use crate::args::{AffinityArg, AutoOr, ClusterArgs, DataArgs, ForestArgs, ReadArgs, SpectralArgs};
use crate::exit::{Failure, Result};

/// The parameters of a forest.
pub fn forest(args: &ForestArgs) -> Result<ForestParams> {
    let default = ForestParams::default();
    let min_node = match args.min_node {
        None => default.min_node,
        Some(AutoOr::Value(n)) => n,
        Some(AutoOr::Auto) => {
            return Err(Failure::usage(
                "--min-node auto needs a clustering to choose by; give a number here, such as 30",
            ));
        }
    };
    let params = ForestParams {
        trees: given_trees(args)?.unwrap_or(default.trees),
        min_node,
        split: args.split.map_or(default.split, Into::into),
        direction: args.direction.map_or(default.direction, Into::into),
        candidates: args.candidates.unwrap_or(default.candidates),
        max_samples: args.max_samples,
        seed: args.seed.unwrap_or(default.seed),
    };
    params.validate()?;
    Ok(params)
}

/// The number of trees that was given, for commands that cannot choose it.
fn given_trees(args: &ForestArgs) -> Result<Option<usize>> {
    match args.trees {
        None => Ok(None),
        Some(AutoOr::Value(trees)) => Ok(Some(trees)),
        Some(AutoOr::Auto) => {
            Err(Failure::usage("--trees auto is for rpf cluster only; give a number here, such as 200"))
        }
    }
}

/// The largest forest that `--trees auto` grows: five doublings from 50 trees.
const MAX_TREES: usize = 1600;

/// The default of `--max-k`.
const MAX_K: usize = 10;

/// The number of clusters, or the range to choose it from.
pub enum Clusters {
    /// Exactly this many.
    Fixed(usize),
    /// Chosen from 1 to this many.
    UpTo(usize),
}

/// The number of clusters that `-k` and `--max-k` ask for.
pub fn clusters(args: &ClusterArgs) -> Result<Clusters> {
    if args.clusters.is_none() && args.resolution.is_some() {
        // The number of clusters follows from the resolution, and this one is not used.
        return Ok(Clusters::Fixed(RpfCluster::default().k));
    }
    let Some(k) = args.clusters.and_then(|k| k.value()) else {
        if args.spectral.precomputed {
            return Err(Failure::usage(
                "-k auto, the default, needs a forest, but --precomputed grows none; give the number of clusters, such \
                 as -k 3",
            ));
        }
        return Ok(Clusters::UpTo(args.max_k.unwrap_or(MAX_K)));
    };
    if args.max_k.is_some() {
        return Err(Failure::usage(format!(
            "--max-k applies only to -k auto, but -k is {k}; leave one of them out"
        )));
    }
    if k < 1 {
        return Err(Failure::usage("-k is 0, but must be at least 1"));
    }
    Ok(Clusters::Fixed(k))
}

/// The parameters of a clustering; the library refuses those that do not apply.
pub fn pipeline(forest: &ForestArgs, spectral: &SpectralArgs, clusters: &Clusters) -> Result<RpfCluster> {
    let default = RpfCluster::default();
    let (k, max_k) = match *clusters {
        Clusters::Fixed(k) => (k, None),
        Clusters::UpTo(most) => (default.k, Some(most)),
    };
    let params = RpfCluster {
        k,
        max_k,
        trees: given_trees(forest)?,
        min_node: forest.min_node.and_then(|n| n.value()),
        tune: tunes(forest, spectral),
        split: forest.split.map_or(default.split, Into::into),
        direction: forest.direction.map_or(default.direction, Into::into),
        candidates: forest.candidates.unwrap_or(default.candidates),
        max_samples: forest.max_samples,
        affinity: spectral.affinity.map_or_else(|| implied(spectral), Into::into),
        beta1: spectral.beta1.and_then(|b| b.value()),
        beta2: spectral.beta2.and_then(|b| b.value()),
        diagonal: spectral.diagonal.map_or(default.diagonal, Into::into),
        top: spectral.top.and_then(|t| t.value()),
        power: spectral.power.and_then(|p| p.value()),
        components: spectral.components.map_or(default.components, |given| given.0),
        metric: spectral.metric.map_or(default.metric, Into::into),
        duplicates: spectral.duplicates.map_or(default.duplicates, Into::into),
        solver: spectral.solver.map_or(default.solver, Into::into),
        landmarks: spectral.landmarks.unwrap_or(default.landmarks),
        seed: forest.seed.unwrap_or(default.seed),
        ..default
    };
    params.validate()?;
    Ok(params)
}

/// As [`pipeline`], for `rpf cluster`, which can choose the number of trees.
pub fn pipeline_with_open_trees(
    forest: &ForestArgs,
    spectral: &SpectralArgs,
    clusters: &Clusters,
) -> Result<RpfCluster> {
    let Some(AutoOr::Auto) = forest.trees else { return pipeline(forest, spectral, clusters) };
    let rest = ForestArgs { trees: None, ..forest.clone() };
    Ok(RpfCluster { max_trees: Some(MAX_TREES), ..pipeline(&rest, spectral, clusters)? })
}

/// The parameters with the method of `rpf cluster`.
pub fn with_method(params: RpfCluster, args: &ClusterArgs) -> Result<RpfCluster> {
    let params = RpfCluster {
        method: args.method.map(Into::into),
        quality: args.quality.map_or(params.quality, Into::into),
        resolution: args.resolution,
        ..params
    };
    params.validate()?;
    Ok(params)
}

/// Whether the setting is selected from the data: where one of its parameters is `auto`.
fn tunes(forest: &ForestArgs, spectral: &SpectralArgs) -> bool {
    let numbers = [spectral.beta1, spectral.beta2, spectral.power];
    let counts = [spectral.top, forest.min_node];
    spectral.affinity == Some(AffinityArg::Auto)
        || numbers.iter().flatten().any(|given| given.value().is_none())
        || counts.iter().flatten().any(|given| given.value().is_none())
}

/// The affinity that the options imply: one that belongs to a single affinity selects it.
fn implied(args: &SpectralArgs) -> Option<AffinityKind> {
    let paper = [args.beta1, args.beta2].iter().flatten().any(|b| b.value().is_some());
    if paper || args.diagonal.is_some() {
        return Some(AffinityKind::Paper);
    }
    let top_k =
        args.top.is_some_and(|t| t.value().is_some()) || args.power.is_some_and(|p| p.value().is_some());
    top_k.then_some(AffinityKind::TopK)
}

/// The parameters of the spectral step alone, for a similarity matrix.
pub fn matrix(forest: &ForestArgs, spectral: &SpectralArgs, k: usize) -> Result<SpectralParams> {
    let params = pipeline(forest, spectral, &Clusters::Fixed(k))?;
    Ok(params.spectral_params(params.method.unwrap_or_default()))
}

/// Whether `--standardize auto` is given.
pub fn scaling_is_auto(args: &DataArgs) -> bool {
    matches!(args.standardize.as_slice(), [one] if one.0 == "auto")
}

/// How columns are selected, scaled and checked.
pub fn prepare(args: &DataArgs) -> Result<Prepare> {
    let standardize = match args.standardize.as_slice() {
        [] => Standardize::None,
        [one] => match one.0.as_str() {
            "none" => Standardize::None,
            "all" => Standardize::All,
            "robust" => Standardize::Robust,
            "auto" => {
                return Err(Failure::usage(
                    "--standardize auto needs a clustering to choose by and is for rpf cluster only; give none, all, \
                     robust or columns here",
                ));
            }
            _ => Standardize::Columns(vec![one.clone()]),
        },
        some => Standardize::Columns(some.to_vec()),
    };
    Ok(Prepare { standardize, ..prepare_columns(args) })
}

/// How columns are selected and checked.
pub fn prepare_columns(args: &DataArgs) -> Prepare {
    Prepare {
        label: args.label.clone(),
        drop: args.drop.clone(),
        drop_last: 0,
        categorical: args.categorical.clone(),
        columns: args.columns.clone(),
        standardize: Standardize::None,
        missing: args.missing.map_or(Missing::Error, Into::into),
    }
}

/// How the file is read.
pub fn reading(args: &ReadArgs, memory: Option<u64>) -> ReadOptions {
    ReadOptions {
        format: args.format,
        header: args.header.and_then(Into::into),
        delimiter: args.delimiter,
        decimal: args.decimal,
        #[cfg(feature = "excel")]
        sheet: args.sheet.clone(),
        #[cfg(not(feature = "excel"))]
        sheet: None,
        #[cfg(feature = "sqlite")]
        query: args.query.clone(),
        #[cfg(not(feature = "sqlite"))]
        query: None,
        memory,
    }
}

/// A share from 0 to 1.
pub fn share(option: &str, value: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(Failure::usage(format!("{option} is {value}, but must be from 0 to 1")))
    }
}

/// Refuses 0.
pub fn positive(option: &str, value: usize) -> Result<usize> {
    if value >= 1 { Ok(value) } else { Err(Failure::usage(format!("{option} is 0, but must be at least 1"))) }
}
