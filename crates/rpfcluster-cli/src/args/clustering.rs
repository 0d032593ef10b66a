//! Options of cluster, predict and embed, with their help texts and examples.

use std::path::PathBuf;

use clap::Args;
use rpfcluster_data::ColumnRef;

use super::shared::{DataArgs, ForestArgs, ReadArgs, RunArgs, SpectralArgs, column};
use super::values::{AutoOr, MethodArg, QualityArg, count};

/// `rpf cluster`.
#[derive(Debug, Args)]
#[command(after_help = "\
Output: CSV with the header row,cluster; .parquet and .arrow hold the same columns,
.npy one cluster for each row of DATA (-1 for a row left out). Rows are numbered
from 1 as in DATA, clusters from 0 in order of first appearance. A summary goes to
standard error. Without --output a terminal shows the first rows only; -o - prints all.

Examples:
  rpf cluster data.csv -o labels.csv
  rpf cluster data.csv -k 3 -o labels.csv
  rpf cluster data.csv --max-k 20 --confidence -o labels.csv
  rpf cluster german.csv --delimiter ';' --decimal , --header yes -o labels.csv
  rpf cluster iris.csv -k 3 --label species --report iris.html -o labels.csv
  rpf cluster data.parquet -k 8 --standardize all --append -o clustered.parquet
  rpf cluster data.csv -k 3 --affinity paper --beta1 0.2 --beta2 0.5 --json
  rpf cluster data.csv -k 3 --model model.rpf -o labels.csv    for rpf predict
  rpf cluster similarity.npz -k 4 --precomputed -o labels.csv
  rpf cluster data.csv --method leiden --resolution 0.5 -o labels.csv")]
pub struct ClusterArgs {
    /// Number of clusters; auto chooses it by prediction strength, separation and the eigengap [default: auto; with
    /// --resolution it follows from that]
    #[arg(long, short = 'k', value_name = "K|auto")]
    pub clusters: Option<AutoOr<usize>>,

    /// Largest number of clusters that -k auto considers [default: 10]
    #[arg(long, value_name = "K", value_parser = count, conflicts_with = "resolution")]
    pub max_k: Option<usize>,

    /// File for the labels: .csv, .tsv, .parquet, .arrow or .npy [default: CSV on standard output]
    #[arg(long, short, value_name = "LABELS")]
    pub output: Option<PathBuf>,

    /// Write DATA with a column `cluster` added, instead of row and cluster; replaces the one of an earlier run
    #[arg(long)]
    pub append: bool,

    /// Add a column `confidence`, 0 to 1: the share of the rows in a row's leaves that belong to its cluster, shrunk
    /// towards 1/K where the verdict is low
    #[arg(long)]
    pub confidence: bool,

    /// Save the clustering for rpf predict
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    /// Write an HTML report: description of the clusters, embedding, heat map, other numbers of clusters
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Print the result as one JSON object; labels are written to --output only
    #[arg(long)]
    pub json: bool,

    /// How clusters are found [default: kway]
    #[arg(long, value_name = "HOW", value_enum, help_heading = "Spectral options")]
    pub method: Option<MethodArg>,

    /// leiden: what is maximised [default: modularity]
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Spectral options")]
    pub quality: Option<QualityArg>,

    /// leiden: the resolution, above 0; larger values give more clusters. Replaces -k [default: found for K]
    #[arg(long, value_name = "R", help_heading = "Spectral options", conflicts_with = "clusters")]
    pub resolution: Option<f64>,

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
Columns are matched by name, in any order, if both files have names. Otherwise
DATA must have as many columns as the model has features, or, if the fitted file
has no names either, as that file; --label, --drop and --columns choose others.
Missing values and scaling are treated as when the model was fitted. Rows that
the model was fitted on keep their labels. Rows are read, labelled and written batch by
batch: a table of any length takes the memory of a batch (JSON, and Parquet from a pipe,
that of the table).

Examples:
  rpf predict model.rpf new.csv -o labels.csv
  rpf predict model.rpf new.csv --append --confidence -o clustered.csv
  rpf predict model.rpf new.npy --drop 1 -o labels.csv   an id in the first column
  zcat data.gz | rpf predict model.rpf - -o labels.parquet
  rpf predict model.rpf test.csv --label class --json")]
pub struct PredictArgs {
    /// Model file written by rpf cluster --model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Table to label: .csv .tsv .txt .parquet .arrow .feather .jsonl .npy .xlsx, each also .gz; - is standard input
    #[arg(value_name = "DATA")]
    pub data: PathBuf,

    /// File for the labels: .csv, .tsv, .parquet, .arrow or .npy [default: CSV on standard output]
    #[arg(long, short, value_name = "LABELS")]
    pub output: Option<PathBuf>,

    /// Write DATA with a column `cluster` added, instead of row and cluster; replaces the one of an earlier run
    #[arg(long)]
    pub append: bool,

    /// Add a column `confidence`, 0 to 1: the share of the fitted rows in a row's leaves that belong to its cluster, shrunk
    /// towards 1/K where the verdict is low
    #[arg(long)]
    pub confidence: bool,

    /// Print the result as one JSON object; labels are written to --output only
    #[arg(long)]
    pub json: bool,

    /// Column of known classes (name or number from 1), used only to score
    #[arg(long, value_name = "COL", value_parser = column)]
    pub label: Option<ColumnRef>,

    /// Columns of DATA to ignore: names, numbers from 1, or ranges such as 3-7
    #[arg(long, value_name = "COLS", value_delimiter = ',', value_parser = column)]
    pub drop: Vec<ColumnRef>,

    /// Columns of DATA to use, in the order of the model if the model or DATA has no names [default: all]
    #[arg(long, value_name = "COLS", value_delimiter = ',', value_parser = column)]
    pub columns: Vec<ColumnRef>,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// `rpf embed`.
#[derive(Debug, Args)]
#[command(after_help = "\
Output: one column per dimension, e1, e2, …, by decreasing eigenvalue. CSV has a
first column row, numbered from 1 as in DATA; .npy holds the numbers only.
The coordinates are eigenvectors of the random walk on the similarity graph
(Laplacian eigenmaps). The first eigenvector is constant and is left out.

Examples:
  rpf embed data.csv -d 2
  rpf embed data.csv -d 10 --label class -o embedding.npy
  rpf embed similarity.mtx -d 3 --precomputed -o embedding.csv")]
pub struct EmbedArgs {
    /// Number of dimensions
    #[arg(long, short, value_name = "DIM", value_parser = count)]
    pub dimensions: usize,

    /// File to write: .csv, .tsv, .parquet, .arrow or .npy [default: CSV on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print the result as one JSON object; the embedding is written to --output
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
