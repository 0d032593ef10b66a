//! The command line as typed. Nothing is checked here beyond the shape of each value; `resolve` does that.
//!
//! Options have no defaults here, so that a value of `--config` can stand where the command line says nothing; the help
//! text names the default that `resolve` puts.

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
pub use shared::{DataArgs, ForestArgs, RunArgs, SpectralArgs};
pub use values::{AutoOr, GridArg, RivalArg};
pub use verbs::{CompletionsArgs, DemoArgs, InspectArgs, KernelArgs, NeighborsArgs, ScoreArgs};

const EXAMPLES: &str = "\
Examples:
  rpf demo                                      see it work on the Iris data
  rpf cluster data.csv -k 3 -o labels.csv       three clusters
  rpf cluster data.csv -k 3 --report page.html  and a page that shows them
  rpf predict model.rpf new.csv                 clusters of new rows
  rpf kernel data.csv --label class -o s.npz    similarity of all rows, for SciPy
  rpf neighbors data.parquet -n 10 -o nn.csv    ten nearest rows of every row
  rpf score labels.csv --truth classes.csv      labels against known classes
  rpf compare data.csv -k 3 --label class       beside K-means, NJW, Cluster Forests
  rpf plot model.rpf --kind heatmap -o fig.pdf  a figure for a paper

Exit status: 0 done, 1 the data or a file is at fault, 2 the command line is at fault.";

/// Random projection forests, the similarity kernel they learn, and clustering built on it.
#[derive(Debug, Parser)]
#[command(name = "rpf", version, about, after_help = EXAMPLES, max_term_width = 100)]
#[command(arg_required_else_help = true, subcommand_required = true, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// One verb a file of `commands`.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// See it work: the embedded Iris data clustered and scored, as a page and a picture
    Demo(DemoArgs),
    /// Cluster the rows of a table, or the points of a similarity matrix
    Cluster(ClusterArgs),
    /// Label new rows by a saved clustering
    Predict(PredictArgs),
    /// Write spectral coordinates of every row (manifold learning)
    Embed(EmbedArgs),
    /// Write the similarity of all pairs of rows as .npz, .mtx, .npy or .parquet
    Kernel(KernelArgs),
    /// List the nearest rows of every row: those that share the most leaves
    Neighbors(NeighborsArgs),
    /// Score labels against known classes
    Score(ScoreArgs),
    /// Cluster by rpfCluster, K-means, NJW and Cluster Forests, side by side against known classes
    Compare(CompareArgs),
    /// Try the whole grid of beta1 and beta2 over one forest
    Sweep(SweepArgs),
    /// Run the paper's experiments again: tables, figures, a report
    Reproduce(ReproduceArgs),
    /// Draw a figure for a paper, as .svg, .png or .pdf, from a model or a result
    Plot(PlotArgs),
    /// Show what is in a model file
    Inspect(InspectArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}
