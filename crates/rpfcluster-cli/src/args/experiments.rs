//! The options of the verbs that try things against each other: compare, sweep, reproduce.

use std::path::PathBuf;

use clap::Args;

use super::shared::{DataArgs, ForestArgs, RunArgs, SpectralArgs};
use super::values::{GridArg, MethodArg, RivalArg, count};

/// `rpf compare`.
#[derive(Debug, Args)]
#[command(mut_arg("label", |label| label.required(true)), mut_arg("precomputed", |matrix| matrix.hide(true)))]
#[command(after_help = "\
kmeans              Hartigan and Wong's K-means, 100 restarts
njw                 spectral clustering with the Gaussian kernel, local scales
cf                  Cluster Forests, 100 instances
rpf                 rpfCluster, everything open chosen without labels
rpf-best-by-labels  the paper's protocol: the best of a grid by the classes,
                    which nobody without classes can repeat

Beyond 6,000 rows njw and cf work from landmarks, and the table says so.

Examples:
  rpf compare iris.csv -k 3 --label species
  rpf compare data.csv -k 7 --label class --standardize all --json
  rpf compare data.csv -k 7 --label class --methods kmeans,rpf,rpf-best-by-labels")]
pub struct CompareArgs {
    /// Number of clusters
    #[arg(long, short = 'k', value_name = "K", value_parser = count)]
    pub clusters: usize,

    /// Which methods, in this order [default: kmeans,njw,cf,rpf]
    #[arg(long, value_name = "NAMES", value_enum, value_delimiter = ',')]
    pub methods: Vec<RivalArg>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// How rpfCluster makes labels from eigenvectors [default: kway]
    #[arg(long, value_name = "HOW", value_enum, help_heading = "Spectral options")]
    pub method: Option<MethodArg>,

    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub forest: ForestArgs,

    #[command(flatten)]
    pub spectral: SpectralArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// `rpf sweep`.
#[derive(Debug, Args)]
#[command(after_help = "\
One forest, every pair of a threshold beta1 (0, 0.1, …, 0.4) and a bandwidth beta2
of the grid, both ways of making labels. Shown are the setting the label-free rule
picks (its clusters agree best with those of all others), with --label the best by
rho_c, which is the paper's protocol, and the partitions most settings agree on;
--json has them all.

Examples:
  rpf sweep data.csv -k 3 --report sweep.html
  rpf sweep iris.csv -k 3 --label species --json
  rpf sweep iris.csv -k 3 --label species --grid paper --method ncut --trees 600")]
pub struct SweepArgs {
    /// Number of clusters
    #[arg(long, short = 'k', value_name = "K", value_parser = count)]
    pub clusters: usize,

    /// Which bandwidths are tried [default: coarse]
    #[arg(long, value_name = "GRID", value_enum)]
    pub grid: Option<GridArg>,

    /// Write a page to look at: the map of all settings, and the clusters of the one picked without labels
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Print one JSON object with every setting
    #[arg(long)]
    pub json: bool,

    /// How labels are made from eigenvectors [default: both ways]
    #[arg(long, value_name = "HOW", value_enum, help_heading = "Spectral options")]
    pub method: Option<MethodArg>,

    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub forest: ForestArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// `rpf reproduce`.
#[derive(Debug, Args)]
#[command(after_help = "\
Writes results.json, one CSV a table, one SVG a figure, report.html and
paper-results.md, which sets every figure beside the paper's. What is done is kept:
after an interruption the same command goes on where it stopped. A set whose file is
missing or altered is named, the others run; the exit status is then 1.

Examples:
  rpf reproduce --data data --quick                minutes, a coarse search
  rpf reproduce --data data -o results             hours, the paper's protocol
  rpf reproduce --data data --only iris,wine --quick --json")]
pub struct ReproduceArgs {
    /// Folder of the data sets
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,

    /// Folder for the results, made if need be [default: reproduction]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Only these data sets, by name [default: all of the paper, and iris]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,

    /// A coarse run of minutes instead of the paper's whole search
    #[arg(long)]
    pub quick: bool,

    /// Runs of each method, seeds 0, 1, … [default: 5; --quick: 3, and 1 beyond 1,000 rows]
    #[arg(long, value_name = "N", value_parser = count)]
    pub seeds: Option<usize>,

    /// Print what is in results.json
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub run: RunArgs,
}
