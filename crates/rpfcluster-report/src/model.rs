//! What a report says, apart from how it looks. Everything here is data that was computed; the page adds no figures.

use rpfcluster::Evidence;
use rpfcluster::metrics::Scores;
use serde::Serialize;

/// One clustering, ready to be shown.
#[derive(Debug, Clone)]
pub struct Report {
    /// What was clustered.
    pub source: String,
    /// Number of rows, and of columns where there are any.
    pub size: (usize, Option<usize>),
    /// The result in a sentence or two.
    pub summary: String,
    /// Sentences on what to distrust.
    pub warnings: Vec<String>,
    /// The clusters in their order.
    pub clusters: Vec<Cluster>,
    /// The rows that stand for the clusters, as they are in the file.
    pub typical: Option<Typical>,
    /// Rows to look at, with everything they can be drawn by.
    pub points: Points,
    /// The similarity of some of them.
    pub heat: Heat,
    /// The largest eigenvalues, more than were used.
    pub spectrum: Spectrum,
    /// Other numbers of clusters, the run's own among them.
    pub partitions: Partitions,
    /// The rows the forest is least sure of.
    pub doubtful: Vec<Doubtful>,
    /// Half the rows have at least this confidence; and how many have less than one half.
    pub confidence: Option<(f64, usize)>,
    /// Clusters against known classes.
    pub agreement: Option<Agreement>,
    /// The search over beta1 and beta2.
    pub sweep: Option<SweepMap>,
    /// What was chosen without labels, and why.
    pub evidence: Option<Evidence>,
    /// Parameters, seed, version, times, memory: name and value.
    pub facts: Vec<(String, String)>,
    /// "This command", "These lines of Python", and the text that makes the same again.
    pub again: (String, String),
}

/// A cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// Its rows.
    pub size: usize,
    /// Their share of all, from 0 to 1.
    pub share: f64,
    /// The input row, from 1, that is most similar to the others.
    pub medoid: usize,
    /// That row's place among the points.
    pub medoid_point: Option<usize>,
    /// The columns that set it apart, the strongest first.
    pub marks: Vec<Mark>,
}

/// A column that sets a cluster apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// The column, by number and by name.
    pub column: (usize, String),
    /// Its mean within the cluster, in the units of the file.
    pub inside: f64,
    /// Its mean elsewhere.
    pub outside: f64,
    /// The difference in standard deviations of the column.
    pub deviations: f64,
    /// How its values are spread.
    pub spread: Option<Spread>,
}

/// The values of a column within a cluster and elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// Where the first bin begins and the last ends, in the units of the file.
    pub range: (f64, f64),
    /// The share of the cluster's rows in each bin.
    pub inside: Vec<f64>,
    /// The share of all other rows.
    pub outside: Vec<f64>,
}

/// One real row for each cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Typical {
    /// The columns shown, those first that tell clusters apart best.
    pub columns: Vec<String>,
    /// For each cluster its medoid's values.
    pub values: Vec<Vec<f64>>,
    /// Columns that are not shown.
    pub left_out: usize,
}

/// The similarity of some points.
#[derive(Debug, Clone, Serialize)]
pub struct Heat {
    /// Which points.
    pub members: Vec<u32>,
    /// The similarity of each with those before it, row after row: 0 to 255 for 0 to `largest`, as base64.
    pub lower: String,
    /// What a cell stands for.
    pub meaning: String,
    /// What the brightest colour stands for.
    pub largest: f64,
}

/// Eigenvalues, the largest first.
#[derive(Debug, Clone, Serialize)]
pub struct Spectrum {
    /// As many as were looked at.
    pub values: Vec<f64>,
    /// How many of them were used.
    pub k: usize,
}

/// Points with everything the page can draw them by.
#[derive(Debug, Clone, Serialize)]
pub struct Points {
    /// Input row, from 1, of each point.
    pub rows: Vec<usize>,
    /// Its cluster.
    pub clusters: Vec<u32>,
    /// Its known class, by number.
    pub classes: Option<Vec<u32>>,
    /// The names of the classes.
    pub class_names: Vec<String>,
    /// Eigenvectors first, then confidence, then columns.
    pub axes: Vec<Axis>,
    /// Which axes are drawn first.
    pub start: [usize; 2],
    /// Number of clusters.
    pub k: usize,
}

/// A number for each point.
#[derive(Debug, Clone, Serialize)]
pub struct Axis {
    /// For people.
    pub name: String,
    /// Whether it is a column of the data.
    pub column: bool,
    /// One a point.
    pub values: Vec<f32>,
}

/// The points in other numbers of clusters.
#[derive(Debug, Clone, Serialize, Default)]
pub struct Partitions {
    /// From few clusters to many; the run's own is among them.
    pub each: Vec<Partition>,
    /// The rows the others were made from, when not all.
    pub sample: Option<usize>,
}

/// The points in K clusters.
#[derive(Debug, Clone, Serialize)]
pub struct Partition {
    /// K.
    pub k: usize,
    /// The cluster of each point.
    pub labels: Vec<u32>,
    /// The colour of each cluster, so that one that stays keeps its own.
    pub colours: Vec<u32>,
    /// Hundredths, from -100 to 100: how much more similar a point is to its own cluster than to the next.
    pub silhouette: Vec<i8>,
    /// Their mean, from -1 to 1.
    pub mean: f64,
    /// How far two halves of the forest agree, 1 being the same clusters.
    pub stability: Option<f64>,
    /// Whether this is what the run made.
    pub run: bool,
}

/// A row between clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubtful {
    /// Input row, from 1.
    pub row: usize,
    /// Its place among the points.
    pub point: Option<usize>,
    /// Its cluster.
    pub cluster: u32,
    /// The cluster it is most similar to beside its own.
    pub next: Option<u32>,
    /// The share of its leaf mates that are in its cluster.
    pub confidence: f64,
    /// Its known class.
    pub class: Option<String>,
}

/// Clusters against known classes.
#[derive(Debug, Clone)]
pub struct Agreement {
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Rows of each cluster (outer) in each class (inner).
    pub counts: Vec<Vec<u64>>,
    /// The scores.
    pub scores: Scores,
}

/// A search over thresholds and bandwidths, one panel for each way of making labels.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepMap {
    /// Thresholds, from bottom to top.
    pub beta1: Vec<f64>,
    /// Bandwidths, from left to right.
    pub beta2: Vec<f64>,
    /// Ways of making labels.
    pub methods: Vec<String>,
    /// What a value is: "clustering accuracy, percent", "agreement with the pick (ARI)".
    pub meaning: String,
    /// The value of each setting, by method, threshold and bandwidth; `None` where there is none.
    pub values: Vec<Vec<Vec<Option<f64>>>>,
    /// Settings worth naming: what they are, then method, threshold, bandwidth by number.
    pub picks: Vec<(String, [usize; 3])>,
}
