//! What a report says, apart from how it looks. Everything here is data that was computed; the page adds no figures.

use rpfcluster::metrics::Scores;
use serde::Serialize;

/// One clustering, ready to be shown.
#[derive(Debug, Clone)]
pub struct Report {
    /// What was clustered.
    pub source: String,
    /// The result in a sentence or two.
    pub summary: String,
    /// Sentences on what to distrust.
    pub warnings: Vec<String>,
    /// The clusters in their order.
    pub clusters: Vec<Cluster>,
    /// The similarity in cluster order.
    pub heat: Heat,
    /// The largest eigenvalues, more than were used.
    pub spectrum: Spectrum,
    /// Points to look at.
    pub scatter: Scatter,
    /// Clusters against known classes.
    pub agreement: Option<Agreement>,
    /// Parameters, seed, version, times, memory: name and value.
    pub facts: Vec<(String, String)>,
    /// The command that makes the same again.
    pub command: String,
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
    /// The columns that set it apart, the strongest first.
    pub marks: Vec<Mark>,
}

/// A column that sets a cluster apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// The column.
    pub column: String,
    /// Its mean within the cluster, in the units of the file.
    pub inside: f64,
    /// Its mean elsewhere.
    pub outside: f64,
    /// The difference in standard deviations of the column.
    pub deviations: f64,
}

/// The similarity of some rows, in cluster order.
#[derive(Debug, Clone)]
pub struct Heat {
    /// A square picture, a pixel a pair.
    pub png: Vec<u8>,
    /// Rows shown.
    pub shown: usize,
    /// How many of them each cluster has.
    pub groups: Vec<usize>,
    /// What a pixel stands for.
    pub meaning: String,
    /// What the brightest colour stands for.
    pub largest: f64,
}

/// Eigenvalues, the largest first.
#[derive(Debug, Clone)]
pub struct Spectrum {
    /// As many as were looked at.
    pub values: Vec<f64>,
    /// How many of them were used.
    pub k: usize,
}

/// Points with everything the page can draw them by.
#[derive(Debug, Clone, Serialize)]
pub struct Scatter {
    /// Input row, from 1, of each point.
    pub rows: Vec<usize>,
    /// Its cluster.
    pub clusters: Vec<u32>,
    /// Its known class, by number.
    pub classes: Option<Vec<u32>>,
    /// The names of the classes.
    pub class_names: Vec<String>,
    /// Eigenvectors first, then columns.
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
