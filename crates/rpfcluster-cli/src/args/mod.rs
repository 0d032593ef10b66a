//! The command line. Only the form of each value is checked here; `resolve` checks the rest.
//!
//! Options have no defaults here, so that `--config` can supply what the command line leaves out; the help names the
//! default that `resolve` uses.

mod clustering;
mod experiments;
mod plotting;
mod shared;
mod values;
mod verbs;

use clap::{Parser, Subcommand};

pub use clustering::{ClusterArgs, EmbedArgs, PredictArgs};
pub use experiments::{CompareArgs, ReproduceArgs, SweepArgs};
pub use plotting::{KindArg, PlotArgs, ScoreArg};
pub use shared::{DataArgs, ForestArgs, ReadArgs, RunArgs, SpectralArgs};
pub use values::{AffinityArg, AutoOr, GridArg, MethodArg, RivalArg};
pub use verbs::{CompletionsArgs, DemoArgs, InspectArgs, KernelArgs, ManArgs, NeighborsArgs, ScoreArgs};

/// The version and, where it is known, the commit it was built from.
pub const VERSION: &str = env!("RPF_VERSION");

const EXAMPLES: &str = "\
Examples:
  rpf demo                                      try it on the Iris data
  rpf cluster data.csv -o labels.csv            find clusters and their number
  rpf cluster data.csv -k 3 -o labels.csv       find three clusters
  rpf cluster data.csv -k 3 --report page.html  and write a report page
  rpf predict model.rpf new.csv                 label new rows
  rpf kernel data.csv --label class -o s.npz    similarity matrix for SciPy
  rpf neighbors data.parquet -n 10 -o nn.csv    ten neighbours of every row
  rpf score labels.csv --truth classes.csv      compare labels with known classes
  rpf compare data.csv -k 3 --label class       compare with K-means, NJW, Cluster Forests
  rpf plot model.rpf --kind heatmap -o fig.pdf  draw a figure for a paper

Exit status: 0 success, 1 error in the data or a file, 2 error in the command line,
130 interrupted.";

/// Random projection forests, the similarity kernel they learn, and clustering built on it.
#[derive(Debug, Parser)]
#[command(name = "rpf", version = VERSION, about, after_help = EXAMPLES, max_term_width = 100)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs; each has a file in `commands`.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Cluster and score the embedded Iris data; write a report page and a picture
    Demo(DemoArgs),
    /// Cluster the rows of a table, or the points of a similarity matrix
    Cluster(ClusterArgs),
    /// Label new rows with a saved clustering
    Predict(PredictArgs),
    /// Write the spectral embedding of every row (manifold learning)
    Embed(EmbedArgs),
    /// Write the similarity matrix of the rows as .npz, .mtx, .npy or .parquet
    Kernel(KernelArgs),
    /// List the neighbours of every row: the rows that share the most leaves with it
    Neighbors(NeighborsArgs),
    /// Score labels against known classes
    Score(ScoreArgs),
    /// Compare rpfCluster, K-means, NJW and Cluster Forests against known classes
    Compare(CompareArgs),
    /// Cluster one forest with every beta1 and beta2 of a grid
    Sweep(SweepArgs),
    /// Reproduce the experiments of the paper: tables, figures, a report
    Reproduce(ReproduceArgs),
    /// Draw a figure for a paper, as .svg, .png or .pdf, from a model or a result
    Plot(PlotArgs),
    /// Show the content of a model file
    Inspect(InspectArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write the manual pages of all commands
    Man(ManArgs),
}
