//! The options of each verb, with examples at the end of its help.

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
    /// Folder for page and picture, made if need be [default: the current one]
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
  rpf kernel data.csv -o s.npz --min 0.1     together in a tenth of the trees
  rpf kernel data.csv -o s.mtx --top 10      each row's ten strongest partners
  rpf kernel data.csv --label class -o s.npy for numpy.load, every pair
  zcat data.gz | rpf kernel - -o s.parquet --model forest.rpf")]
pub struct KernelArgs {
    /// File to write: .npz (SciPy CSR), .mtx (Matrix Market), .npy (dense) or .parquet (columns i, j from 0, and s)
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    /// Keep pairs with a similarity of at least S, from 0 to 1 [default: every pair above 0]
    #[arg(long, value_name = "S", value_parser = share)]
    pub min: Option<f64>,

    /// Keep each row's K strongest partners; a pair stays when either row names it, and so does the diagonal
    #[arg(long, value_name = "K", value_parser = count)]
    pub top: Option<usize>,

    /// Save the forest, with column names and preparation, for use on new rows
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    /// Print what was done as one JSON object
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
Output: CSV, a line for each pair: row, rank, neighbor (rows count from 1),
similarity, and with --exact distance. A row that shares leaves with fewer than
N others has fewer lines.

Examples:
  rpf neighbors data.csv -n 10
  rpf neighbors data.npy -n 10 --exact -o nearest.csv
  rpf neighbors new.csv -n 5 --against forest.rpf  fitted rows near new ones")]
pub struct NeighborsArgs {
    /// Neighbours of every row
    #[arg(long, short = 'n', value_name = "N", value_parser = count)]
    pub neighbors: usize,

    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Order by Euclidean distance, the N nearest of --pool co-leaf neighbours
    #[arg(long)]
    pub exact: bool,

    /// Co-leaf neighbours that --exact measures [default: ten times N, at least 100]
    #[arg(long, value_name = "M", value_parser = count, requires = "exact")]
    pub pool: Option<usize>,

    /// Look among the rows this model was grown on instead of among the rows of DATA
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["exact", "drop", "columns", "standardize", "missing",
        "trees", "min_node", "split", "direction", "candidates", "seed"])]
    pub against: Option<PathBuf>,

    /// Print what was done as one JSON object; the neighbours go to --output
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
rho_c     rows in the best matching of clusters to classes, percent
rho_r     Rand index: pairs of rows judged alike, percent
ari, nmi  adjusted Rand index, normalised mutual information
majority  what a single cluster would score as rho_c, percent

Examples:
  rpf score labels.csv --truth classes.txt           one class a line
  rpf score labels.csv --truth iris.csv --label species
  rpf score iris-with-clusters.csv --truth species   both in one file")]
pub struct ScoreArgs {
    /// File with a column `cluster`, or with one label a line; - is standard input
    #[arg(value_name = "LABELS")]
    pub labels: PathBuf,

    /// File with the known classes, or a column of LABELS that holds them
    #[arg(long, value_name = "FILE|COLUMN")]
    pub truth: String,

    /// Column of the truth file that holds the classes, when it has several
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
