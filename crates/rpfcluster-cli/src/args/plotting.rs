//! Options of `rpf plot`: the kind of figure (heat map, embedding, eigenvalues, sweep, bars), its inputs (models,
//! similarity matrices or JSON results) and the SVG, PNG or PDF file to write.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rpfcluster_data::ColumnRef;
use rpfcluster_paper::reproduce::Metric;

use super::shared::{RunArgs, column};
use super::values::count;

/// `rpf plot`.
#[derive(Debug, Args)]
#[command(after_help = "\
heatmap    similarity matrix, ordered by cluster, or by class with --truth;
           several models or matrices (.npy .npz .mtx .csv) are drawn side by side
embedding  rows in two eigenvectors, coloured by cluster, or by class with --truth
eigen      eigenvalues and the gap after those used
bars       cluster sizes; scores of rpf compare --json and rpf reproduce
sweep      the map of rpf sweep --json
The results.json of rpf reproduce gives the figures of the paper: bars, and as
heatmap the two kernels of the Iris data. Text is converted to outlines, so a
figure looks the same everywhere.

Examples:
  rpf plot model.rpf --kind heatmap -o kernel.pdf
  rpf plot model.rpf --kind heatmap --truth iris.csv --label species -o kernel.svg
  rpf plot gaussian.npy model.rpf --kind heatmap --truth classes.csv -o both.png
  rpf sweep iris.csv -k 3 --label species --json > s.json; rpf plot s.json --kind sweep -o s.pdf
  rpf plot results/results.json --kind bars --score ari -o ari.pdf")]
pub struct PlotArgs {
    /// A model of rpf cluster --model, the output of a --json option or of rpf reproduce, or a similarity matrix
    #[arg(value_name = "MODEL|RESULT", required = true, num_args = 1..)]
    pub inputs: Vec<PathBuf>,

    /// What to draw
    #[arg(long, value_name = "KIND", value_enum)]
    pub kind: KindArg,

    /// File to write: .svg, .png or .pdf
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    /// Known classes, one per line or a column of a table (--label), to order heat maps and colour points by
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,

    /// Column of --truth with the classes
    #[arg(long, value_name = "COL", value_parser = column, requires = "truth")]
    pub label: Option<ColumnRef>,

    /// Score of the bars [default: rho-c]
    #[arg(long, value_name = "SCORE", value_enum)]
    pub score: Option<ScoreArg>,

    /// Eigenvectors of the embedding, numbered from 1 [default: 2,3]
    #[arg(long, value_name = "I,J", value_parser = axes)]
    pub axes: Option<(usize, usize)>,

    /// Title [default: the name of the file]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,

    /// Width of a .png in pixels [default: 1600]
    #[arg(long, value_name = "PIXELS", value_parser = count)]
    pub width: Option<usize>,

    #[command(flatten)]
    pub run: RunArgs,
}

/// A kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    /// The similarity matrix
    Heatmap,
    /// Rows as points in two dimensions
    Embedding,
    /// Eigenvalues
    Eigen,
    /// A map over beta1 and beta2
    Sweep,
    /// Cluster sizes or scores
    Bars,
}

impl KindArg {
    /// The name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }
}

/// A score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScoreArg {
    /// Accuracy (rho_c): rows under the best matching of clusters to classes
    #[value(name = "accuracy", alias = "rho-c")]
    RhoC,
    /// Rand index (rho_r)
    #[value(name = "rand-index", alias = "rho-r")]
    RhoR,
    /// Adjusted Rand index
    Ari,
    /// Normalised mutual information
    Nmi,
}

impl ScoreArg {
    /// The name in JSON.
    pub fn key(self) -> &'static str {
        match self {
            ScoreArg::RhoC => "rho_c",
            ScoreArg::RhoR => "rho_r",
            ScoreArg::Ari => "ari",
            ScoreArg::Nmi => "nmi",
        }
    }
}

impl ScoreArg {
    /// The name on an axis.
    pub fn title(self) -> &'static str {
        match self {
            ScoreArg::RhoC => "accuracy (rho_c), percent",
            ScoreArg::RhoR => "Rand index (rho_r), percent",
            ScoreArg::Ari => "adjusted Rand index",
            ScoreArg::Nmi => "normalised mutual information",
        }
    }
}

impl From<ScoreArg> for Metric {
    fn from(score: ScoreArg) -> Self {
        match score {
            ScoreArg::RhoC => Metric::RhoC,
            ScoreArg::RhoR => Metric::RhoR,
            ScoreArg::Ari => Metric::Ari,
            ScoreArg::Nmi => Metric::Nmi,
        }
    }
}

fn axes(text: &str) -> Result<(usize, usize), String> {
    let wrong = || "expected two different whole numbers from 1, such as 2,3".to_string();
    let (a, b) = text.split_once(',').ok_or_else(wrong)?;
    let read = |text: &str| text.trim().parse::<usize>().ok().filter(|at| *at > 0);
    match (read(a), read(b)) {
        (Some(a), Some(b)) if a != b => Ok((a, b)),
        _ => Err(wrong()),
    }
}
