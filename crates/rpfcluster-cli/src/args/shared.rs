//! Options that several verbs share, so that each is described once.

use std::path::PathBuf;

use clap::Args;
use rpfcluster_data::{ColumnRef, Format};

use super::values::{
    AffinityArg, AutoOr, DiagonalArg, DirectionArg, MissingArg, Size, SolverArg, SplitArg, count, seed,
};

/// A column must be something.
pub fn column(text: &str) -> Result<ColumnRef, String> {
    text.parse::<ColumnRef>().map_err(|e| e.to_string())
}

/// A format by its name.
pub fn format(text: &str) -> Result<Format, String> {
    text.parse::<Format>().map_err(|e| e.to_string())
}

/// Which numbers of a file are looked at.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Data options")]
pub struct DataArgs {
    /// Table to read: .csv .tsv .txt .parquet .arrow .feather .npy, each also .gz; - is standard input
    #[arg(value_name = "DATA", help_heading = None)]
    pub data: PathBuf,

    /// Column (name or number from 1) that holds known classes: left out of the features, used only to score
    #[arg(long, value_name = "COL", value_parser = column)]
    pub label: Option<ColumnRef>,

    /// Columns to leave out: names, numbers from 1, ranges such as 3-7
    #[arg(long, value_name = "COLS", value_delimiter = ',', value_parser = column)]
    pub drop: Vec<ColumnRef>,

    /// Columns to use, in this order [default: all]
    #[arg(long, value_name = "COLS", value_delimiter = ',', value_parser = column)]
    pub columns: Vec<ColumnRef>,

    /// Columns that get mean 0 and standard deviation 1: none, all, or some [default: none]
    #[arg(long, value_name = "none|all|COLS", value_delimiter = ',', value_parser = column)]
    pub standardize: Vec<ColumnRef>,

    /// What to do about missing values [default: error]
    #[arg(long, value_name = "HOW", value_enum)]
    pub missing: Option<MissingArg>,

    /// Format of DATA, when its name does not say
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub format: Option<Format>,
}

/// How the forest is grown.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Forest options")]
pub struct ForestArgs {
    /// Number of trees; cluster: auto doubles it until two halves of the forest agree [default: 200]
    #[arg(long, value_name = "T|auto")]
    pub trees: Option<AutoOr<usize>>,

    /// A node with fewer points is a leaf [default: 30; cluster and compare: auto]
    #[arg(long, value_name = "N|auto")]
    pub min_node: Option<AutoOr<usize>>,

    /// Where a node is cut [default: uniform]
    #[arg(long, value_name = "HOW", value_enum)]
    pub split: Option<SplitArg>,

    /// How projection directions are drawn [default: gaussian]
    #[arg(long, value_name = "HOW", value_enum)]
    pub direction: Option<DirectionArg>,

    /// Directions tried for each node, the widest kept [default: 1]
    #[arg(long, value_name = "M", value_parser = count)]
    pub candidates: Option<usize>,

    /// Everything random follows from it; the same seed gives the same answer on any number of threads [default: 0]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
}

/// From the forest's similarity to eigenvectors.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Spectral options")]
pub struct SpectralArgs {
    /// Which similarity is cut [default: auto]
    #[arg(long, value_name = "KIND", value_enum)]
    pub affinity: Option<AffinityArg>,

    /// paper: pairs together in a smaller share of the trees are pruned, 0 to 1 [default: auto]
    #[arg(long, value_name = "X|auto")]
    pub beta1: Option<AutoOr<f64>>,

    /// paper: bandwidth of the exponential [default: auto]
    #[arg(long, value_name = "X|auto")]
    pub beta2: Option<AutoOr<f64>>,

    /// top-k: neighbours of each row [default: auto]
    #[arg(long, value_name = "K|auto")]
    pub top: Option<AutoOr<usize>>,

    /// top-k: edges weigh S to the power P [default: auto]
    #[arg(long, value_name = "P|auto")]
    pub power: Option<AutoOr<f64>>,

    /// paper: whether a row is similar to itself [default: keep]
    #[arg(long, value_name = "HOW", value_enum)]
    pub diagonal: Option<DiagonalArg>,

    /// How eigenvectors are found [default: auto]
    #[arg(long, value_name = "HOW", value_enum)]
    pub solver: Option<SolverArg>,

    /// Landmarks of the Nystrom solver [default: 500]
    #[arg(long, value_name = "M", value_parser = count)]
    pub landmarks: Option<usize>,

    /// DATA is a similarity matrix: .csv, .npy, .npz (SciPy) or .mtx, square, symmetric, not negative
    #[arg(long, conflicts_with_all = ["label", "drop", "columns", "standardize", "missing", "trees", "min_node",
        "split", "direction", "candidates", "affinity", "beta1", "beta2", "top", "power", "diagonal"])]
    pub precomputed: bool,
}

/// How the program runs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Run options")]
pub struct RunArgs {
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N", value_parser = count)]
    pub threads: Option<usize>,

    /// Refuse work that would need more memory, such as 4G [default: what the machine has free]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<Size>,

    /// No progress, notes or hints
    #[arg(long, short)]
    pub quiet: bool,

    /// A line for every stage
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Options from a file: `trees = 500`, one a line; the command line wins
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
}
