//! Options of demo, kernel, neighbors, score, inspect, completions and man, with their help texts and examples.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use rpfcluster_data::ColumnRef;

use super::shared::{DataArgs, ForestArgs, RunArgs};
use super::values::{count, share};

/// `rpf demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rpf demo
  rpf demo --out pictures --trees 600 --seed 7")]
pub struct DemoArgs {
    /// Folder for the page and the picture, created if necessary [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub forest: ForestArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// `rpf kernel`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rpf kernel data.csv -o s.npz               for scipy.sparse.load_npz
  rpf kernel data.csv -o s.npz --min 0.1     only similarities from 0.1
  rpf kernel data.csv -o s.mtx --top 10      the ten most similar rows of each row
  rpf kernel data.csv --label class -o s.npy  dense, for numpy.load
  zcat data.gz | rpf kernel - -o s.parquet --model forest.rpf")]
pub struct KernelArgs {
    /// File to write: .npz (SciPy CSR), .mtx (Matrix Market), .npy (dense) or .parquet (columns i, j from 0, and s)
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    /// Keep pairs with a similarity of at least S, from 0 to 1 [default: every pair above 0]
    #[arg(long, value_name = "S", value_parser = share)]
    pub min: Option<f64>,

    /// Keep the K most similar rows of each row, their mirror images and the diagonal
    #[arg(long, value_name = "K", value_parser = count)]
    pub top: Option<usize>,

    /// Save the forest with column names and preparation, for rpf neighbors --against
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub forest: ForestArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// `rpf neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "\
Output: CSV with one line per pair: row, rank, neighbor (rows are numbered from 1),
similarity, and with --exact distance. A row that shares leaves with fewer than N
others has fewer lines.

Examples:
  rpf neighbors data.csv -n 10
  rpf neighbors data.npy -n 10 --exact -o nearest.csv
  rpf neighbors new.csv -n 5 --against forest.rpf  neighbours among the fitted rows")]
pub struct NeighborsArgs {
    /// Number of neighbours of every row
    #[arg(long, short = 'n', value_name = "N", value_parser = count)]
    pub neighbors: usize,

    /// File to write: .csv, .tsv, .parquet, .arrow or .npy [default: CSV on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Rank by Euclidean distance: the N nearest of --pool rows that share the most leaves
    #[arg(long)]
    pub exact: bool,

    /// Number of rows whose distance --exact computes [default: 10 N, at least 100]
    #[arg(long, value_name = "M", value_parser = count, requires = "exact")]
    pub pool: Option<usize>,

    /// Search the rows that this model was fitted on instead of the rows of DATA
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["exact", "standardize", "missing", "trees", "min_node",
        "split", "direction", "candidates", "max_samples", "seed"])]
    pub against: Option<PathBuf>,

    /// Print the result as one JSON object; the neighbours are written to --output
    #[arg(long, requires = "output")]
    pub json: bool,

    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub forest: ForestArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// `rpf score`.
#[derive(Debug, Args)]
#[command(after_help = "\
accuracy    rows under the best matching of clusters to classes, percent (rho_c)
Rand index  pairs of rows on which clusters and classes agree, percent (rho_r)
ARI, NMI    adjusted Rand index, normalised mutual information
majority    accuracy of always the largest class, percent

--json names the scores rho_c, rho_r, ari, nmi and majority.

Examples:
  rpf score labels.csv --truth classes.txt           one class per line
  rpf score labels.csv --truth iris.csv --label species
  rpf score iris-with-clusters.csv --truth species   labels and classes in one file")]
pub struct ScoreArgs {
    /// File with a column `cluster`, or with one label per line; - is standard input
    #[arg(value_name = "LABELS")]
    pub labels: PathBuf,

    /// File with the known classes, or a column of LABELS
    #[arg(long, value_name = "FILE|COLUMN")]
    pub truth: String,

    /// Column of the truth file with the classes, if it has several columns
    #[arg(long, value_name = "COL")]
    pub label: Option<ColumnRef>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

/// `rpf inspect`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rpf inspect forest.rpf
  rpf inspect forest.rpf --json")]
pub struct InspectArgs {
    /// Model file
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `rpf completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rpf completions bash > ~/.local/share/bash-completion/completions/rpf
  rpf completions zsh > ~/.zfunc/_rpf
  rpf completions fish > ~/.config/fish/completions/rpf.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// `rpf man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rpf man ~/.local/share/man/man1
  rpf man man1")]
pub struct ManArgs {
    /// Folder for the pages, created if necessary
    #[arg(value_name = "DIR")]
    pub out: PathBuf,
}
