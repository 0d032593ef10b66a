//! The options of the verbs that go the whole walk: cluster, embed, and predict, which goes on from where they ended.

use std::path::PathBuf;

use clap::Args;
use rpfcluster_data::{ColumnRef, Format};

use super::shared::{DataArgs, ForestArgs, RunArgs, SpectralArgs, column, format};
use super::values::{AutoOr, MethodArg, count};

/// `rpf cluster`.
#[derive(Debug, Args)]
#[command(after_help = "\
Output: CSV with the header row,cluster; rows count from 1 as in DATA, clusters
from 0 in order of first appearance. Standard error gets a summary.

Examples:
  rpf cluster data.csv -k 3 -o labels.csv
  rpf cluster data.csv -k auto --max-k 20 --confidence -o labels.csv
  rpf cluster iris.csv -k 3 --label species --report iris.html -o labels.csv
  rpf cluster data.parquet -k 8 --standardize all --append -o clustered.csv
  rpf cluster data.csv -k 3 --affinity paper --beta1 0.2 --beta2 0.5 --json
  rpf cluster data.csv -k 3 --model model.rpf -o labels.csv    for rpf predict
  rpf cluster similarity.npz -k 4 --precomputed -o labels.csv")]
pub struct ClusterArgs {
    /// Number of clusters; auto chooses it, by gaps between eigenvalues that two halves of the forest agree on
    #[arg(long, short = 'k', value_name = "K|auto")]
    pub clusters: AutoOr<usize>,

    /// The most clusters that -k auto looks at [default: 10]
    #[arg(long, value_name = "K", value_parser = count)]
    pub max_k: Option<usize>,

    /// File for the labels [default: standard output]
    #[arg(long, short, value_name = "LABELS")]
    pub output: Option<PathBuf>,

    /// Write the rows of DATA, a text file, with a column `cluster` added, instead of row,cluster
    #[arg(long)]
    pub append: bool,

    /// Add a column `confidence`: the share of a row's leaf mates that are in its cluster
    #[arg(long, conflicts_with = "append")]
    pub confidence: bool,

    /// Save the clustering for rpf predict
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    /// Write a page to look at: clusters and what sets them apart, embedding, heat map, other numbers of clusters
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Print what was done as one JSON object; labels then go to --output only
    #[arg(long)]
    pub json: bool,

    /// How labels are made from eigenvectors [default: kway]
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

/// `rpf predict`.
#[derive(Debug, Args)]
#[command(after_help = "\
Columns are found by name where both files name them, else by place; gaps and
scales are treated as when the model was made. A row the model was made from
gets its own label back.

Examples:
  rpf predict model.rpf new.csv -o labels.csv
  rpf predict model.rpf new.csv --append -o clustered.csv
  rpf predict model.rpf test.csv --label class --json")]
pub struct PredictArgs {
    /// Model file that rpf cluster --model wrote
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Table to label: .csv .tsv .txt .parquet .arrow .feather .npy, each also .gz; - is standard input
    #[arg(value_name = "DATA")]
    pub data: PathBuf,

    /// File for the labels [default: standard output]
    #[arg(long, short, value_name = "LABELS")]
    pub output: Option<PathBuf>,

    /// Write the rows of DATA, a text file, with a column `cluster` added, instead of row,cluster
    #[arg(long)]
    pub append: bool,

    /// Print what was done as one JSON object; labels then go to --output only
    #[arg(long)]
    pub json: bool,

    /// Column (name or number from 1) that holds known classes, used only to score
    #[arg(long, value_name = "COL", value_parser = column)]
    pub label: Option<ColumnRef>,

    /// Format of DATA, when its name does not say
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub format: Option<Format>,

    #[command(flatten)]
    pub run: RunArgs,
}

/// `rpf embed`.
#[derive(Debug, Args)]
#[command(after_help = "\
Output: a column for each dimension, e1, e2, …, the slowest first; CSV begins
with a column row that counts from 1 as in DATA, .npy holds numbers only.
These are the eigenvectors of the random walk on the similarity graph (Laplacian
eigenmaps). The first eigenvector is the same for every row of a connected graph;
it says nothing and is left out.

Examples:
  rpf embed data.csv -d 2
  rpf embed data.csv -d 10 --label class -o embedding.npy
  rpf embed similarity.mtx -d 3 --precomputed -o embedding.csv")]
pub struct EmbedArgs {
    /// Number of dimensions
    #[arg(long, short, value_name = "DIM", value_parser = count)]
    pub dimensions: usize,

    /// File to write, .csv or .npy [default: CSV on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print what was done as one JSON object; the embedding goes to --output
    #[arg(long, requires = "output")]
    pub json: bool,

    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub forest: ForestArgs,

    #[command(flatten)]
    pub spectral: SpectralArgs,

    #[command(flatten)]
    pub run: RunArgs,
}
