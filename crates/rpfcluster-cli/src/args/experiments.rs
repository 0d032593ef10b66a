//! Options of the experiments: compare, sweep, reproduce, with their help texts and examples.

use std::path::PathBuf;

use clap::Args;

use super::shared::{DataArgs, ForestArgs, RunArgs, SpectralArgs};
use super::values::{GridArg, MethodArg, RivalArg, count};

/// `rpf compare`.
#[derive(Debug, Args)]
#[command(mut_arg("label", |label| label.required(true)), mut_arg("precomputed", |matrix| matrix.hide(true)))]
#[command(after_help = "\
kmeans              Hartigan and Wong's K-means, 100 starts at random rows
njw                 spectral clustering with the Gaussian kernel, local scales
cf                  Cluster Forests, 100 instances
rpf                 rpfCluster with its default parameters
algorithm3          the paper's algorithm on a grid of settings, three lines: the
                    best by the known classes with normalised cuts (the protocol
                    of the paper), the same with k-way labels, and a setting
                    chosen without the classes

Above 6,000 rows njw and cf use landmarks, as noted in the table.

Examples:
  rpf compare iris.csv -k 3 --label species
  rpf compare data.csv -k 7 --label class --standardize all --json
  rpf compare data.csv -k 7 --label class --methods kmeans,rpf,algorithm3")]
pub struct CompareArgs {
    /// Number of clusters
    #[arg(long, short = 'k', value_name = "K", value_parser = count)]
    pub clusters: usize,

    /// Methods to run, in this order [default: kmeans,njw,cf,rpf]
    #[arg(long, value_name = "NAMES", value_enum, value_delimiter = ',')]
    pub methods: Vec<RivalArg>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// How rpfCluster finds clusters from eigenvectors [default: kway]
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
Clusters one forest with every threshold beta1 (0, 0.1, …, 0.4), every bandwidth
beta2 of the grid and both methods. Prints the setting selected without labels
(its clusters agree best with those of all other settings), with --label the
setting of the highest accuracy (rho_c), which is the protocol of the paper, and
the most frequent partitions. --json lists all settings.

Examples:
  rpf sweep data.csv -k 3 --report sweep.html
  rpf sweep iris.csv -k 3 --label species --json
  rpf sweep iris.csv -k 3 --label species --grid paper --method ncut --trees 600")]
pub struct SweepArgs {
    /// Number of clusters
    #[arg(long, short = 'k', value_name = "K", value_parser = count)]
    pub clusters: usize,

    /// Grid of bandwidths [default: coarse]
    #[arg(long, value_name = "GRID", value_enum)]
    pub grid: Option<GridArg>,

    /// Write an HTML report: the map of all settings, and the clusters of the setting selected without labels
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Print one JSON object with every setting
    #[arg(long)]
    pub json: bool,

    /// How clusters are found from eigenvectors [default: both methods]
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
Writes results.json, one CSV per table, one SVG per figure, report.html and
paper-results.md, which compares the results with the paper. An interrupted run
is resumed by the same command. Data sets whose file is missing or altered are
reported and skipped; the exit status is then 1.

The expected time on this machine, and which data sets take it, is printed
before the first run. On two cores of a server the paper's protocol takes 20 to
40 minutes, and --quick 5 to 10.

Examples:
  rpf reproduce --data data --quick                a coarse search
  rpf reproduce --data data -o results             the paper's protocol
  rpf reproduce --data data --only iris,wine --quick --json")]
pub struct ReproduceArgs {
    /// Folder of the data sets
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,

    /// Folder for the results, created if necessary [default: reproduction]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Only these data sets, by name [default: all of the paper, and iris]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,

    /// A coarse grid instead of the full grid of the paper
    #[arg(long)]
    pub quick: bool,

    /// Runs per method, with seeds 0, 1, … [default: 5; --quick: 3, and 1 above 1,000 rows]
    #[arg(long, value_name = "N", value_parser = count)]
    pub seeds: Option<usize>,

    /// Print the content of results.json
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub run: RunArgs,
}
