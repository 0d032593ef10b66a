//! The content of a report, independent of its layout. The page renders these values and computes none of its own.

use rpfcluster::metrics::Scores;
use rpfcluster::{Evidence, Verdict};
use serde::Serialize;

use crate::subject::Again;

/// Everything a page shows of one clustering.
#[derive(Debug, Clone)]
pub struct Report {
    /// The name of the data.
    pub source: String,
    /// Number of rows.
    pub rows: usize,
    /// The result in one or two sentences.
    pub summary: String,
    /// Warnings and hints, one sentence each.
    pub warnings: Vec<String>,
    /// The clusters, by number.
    pub clusters: Vec<Cluster>,
    /// Number of rows the histograms of the clusters were counted on, when not on all.
    pub histogram_sample: Option<usize>,
    /// The medoid of each cluster with its values.
    pub typical: Option<Typical>,
    /// The rows that are drawn, with their coordinates and colours.
    pub points: DrawnPoints,
    /// The similarity matrix of some of these rows.
    pub heat: Heat,
    /// The largest eigenvalues, beyond those used where they were computed.
    pub spectrum: Spectrum,
    /// Partitions into other numbers of clusters, the run's own among them.
    pub partitions: Partitions,
    /// The rows of lowest confidence.
    pub doubtful: Vec<Doubtful>,
    /// A summary of the confidence of all rows.
    pub confidence: Option<ConfidenceSummary>,
    /// The clusters compared with known classes.
    pub agreement: Option<Agreement>,
    /// The sweep over beta1 and beta2.
    pub sweep: Option<SweepMap>,
    /// What was chosen from the data, and why.
    pub evidence: Option<Evidence>,
    /// The principal components that the forest was grown on.
    pub components: Vec<Component>,
    /// How far to believe the clustering.
    pub verdict: Option<Verdict>,
    /// Parameters, seed, version, times, memory: name and value.
    pub facts: Vec<(String, String)>,
    /// How to repeat the run.
    pub again: Again,
}

/// A principal component.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Its share of the variance of all columns, from 0 to 1.
    pub share: f64,
    /// The columns that it weighs most, with their coefficients.
    pub columns: Vec<(String, f64)>,
}

/// The confidence of all rows in two numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceSummary {
    /// The median.
    pub median: f64,
    /// Number of rows below 0.5.
    pub below_half: usize,
}

impl ConfidenceSummary {
    /// Summarises the confidence of all rows. Of an even number the upper median counts; of no rows the median is 0.
    pub fn new(confidence: &[f64]) -> Self {
        let mut sorted = confidence.to_vec();
        if sorted.is_empty() {
            return ConfidenceSummary { median: 0.0, below_half: 0 };
        }
        let (_, median, _) = sorted.select_nth_unstable_by(confidence.len() / 2, f64::total_cmp);
        ConfidenceSummary { median: *median, below_half: confidence.iter().filter(|c| **c < 0.5).count() }
    }
}

/// A cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// Number of rows.
    pub size: usize,
    /// Share of all rows, from 0 to 1.
    pub share: f64,
    /// The input row, counted from 1, with the largest sum of similarities to the other rows of the cluster.
    pub medoid: usize,
    /// The index of that row among the drawn points.
    pub medoid_point: Option<usize>,
    /// The columns that distinguish it from the other clusters, the strongest first.
    pub marks: Vec<Mark>,
}

/// A column that distinguishes a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// The index of the column.
    pub column: usize,
    /// Its name.
    pub name: String,
    /// Its mean within the cluster, in the units of the file.
    pub inside: f64,
    /// Its mean over all other rows.
    pub outside: f64,
    /// The difference of the two in standard deviations of the column.
    pub deviations: f64,
    /// The distribution of its values.
    pub spread: Option<Spread>,
}

/// Histograms of a column within a cluster and over all other rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The lower end of the first bin and the upper end of the last, in the units of the file.
    pub range: (f64, f64),
    /// The share of the cluster's rows in each bin.
    pub inside: Vec<f64>,
    /// The share of all other rows in each bin.
    pub outside: Vec<f64>,
}

/// The medoids of the clusters with their values.
#[derive(Debug, Clone, PartialEq)]
pub struct Typical {
    /// The columns shown, the most distinguishing first.
    pub columns: Vec<String>,
    /// The values of each cluster's medoid.
    pub values: Vec<Vec<f64>>,
    /// Number of columns that are not shown.
    pub left_out: usize,
}

/// The similarity matrix of some points.
#[derive(Debug, Clone, Serialize)]
pub struct Heat {
    /// The indices of the points.
    pub members: Vec<u32>,
    /// The lower triangle by rows as base64; 255 times the square root of the share of `largest`.
    pub lower: String,
    /// What a cell shows.
    pub meaning: String,
    /// The largest value.
    pub largest: f64,
    /// The value from which cells have the brightest colour.
    pub bright: f64,
}

/// Eigenvalues, the largest first.
#[derive(Debug, Clone, Serialize)]
pub struct Spectrum {
    /// The eigenvalues that were computed.
    pub values: Vec<f64>,
    /// The number of them that the clustering used.
    pub k: usize,
    /// Whether the labels were made from the eigenvectors.
    pub used: bool,
}

/// The drawn points with all axes and colours the page offers.
#[derive(Debug, Clone, Serialize)]
pub struct DrawnPoints {
    /// Input row, counted from 1, of each point.
    pub rows: Vec<usize>,
    /// The cluster of each point.
    pub clusters: Vec<u32>,
    /// The known class of each point, by number.
    pub classes: Option<Vec<u32>>,
    /// The names of the classes.
    pub class_names: Vec<String>,
    /// Eigenvectors first, then their two-dimensional layout, confidence, columns.
    pub axes: Vec<Axis>,
    /// The axes that are drawn when the page opens.
    pub start: [usize; 2],
    /// Number of clusters.
    pub k: usize,
}

impl DrawnPoints {
    /// Whether the axes drawn first are the layout of the spectral embedding.
    pub fn starts_with_layout(&self) -> bool {
        self.axes.get(self.start[0]).is_some_and(|axis| !axis.column && axis.name.starts_with("layout"))
    }
}

/// A coordinate of every point.
#[derive(Debug, Clone, Serialize)]
pub struct Axis {
    /// The name shown.
    pub name: String,
    /// Whether it is a column of the data.
    pub column: bool,
    /// One value per point.
    pub values: Vec<f32>,
}

/// The points partitioned into other numbers of clusters.
#[derive(Debug, Clone, Serialize, Default)]
pub struct Partitions {
    /// By number of clusters, ascending; the run's own is among them.
    pub each: Vec<PartitionView>,
    /// The number of rows in the sample that silhouettes, scores and the other partitions were computed on, when
    /// not on all rows.
    pub sample: Option<usize>,
}

/// The points partitioned into K clusters.
#[derive(Debug, Clone, Serialize)]
pub struct PartitionView {
    /// K.
    pub k: usize,
    /// The cluster of each point.
    pub labels: Vec<u32>,
    /// Number of rows in each cluster: of all rows, or of the sample.
    pub sizes: Vec<usize>,
    /// Whether `sizes` counts all rows.
    pub whole: bool,
    /// The colour of each cluster; a cluster that persists from one K to the next keeps its colour.
    pub colours: Vec<u32>,
    /// The silhouette of each point in hundredths, from -100 to 100.
    pub silhouette: Vec<i8>,
    /// The mean silhouette, from -1 to 1.
    pub mean: f64,
    /// The estimate of the adjusted Rand index with the true classes (see the verdict).
    pub score: Option<f64>,
    /// Whether this is the partition of the run.
    pub run: bool,
}

/// A row of low confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubtful {
    /// Input row, counted from 1.
    pub row: usize,
    /// Its index among the drawn points.
    pub point: Option<usize>,
    /// Its cluster.
    pub cluster: u32,
    /// The cluster it is most similar to apart from its own.
    pub next: Option<u32>,
    /// The share of the rows in its leaves, over all trees, that are in its cluster, shrunk by the verdict.
    pub confidence: f64,
    /// Its known class.
    pub class: Option<String>,
}

/// The clusters compared with known classes.
#[derive(Debug, Clone)]
pub struct Agreement {
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Number of rows of each cluster (outer) in each class (inner).
    pub counts: Vec<Vec<u64>>,
    /// The scores.
    pub scores: Scores,
}

/// A sweep over thresholds and bandwidths, one panel per method.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepMap {
    /// Thresholds, from bottom to top.
    pub beta1: Vec<f64>,
    /// Bandwidths, from left to right.
    pub beta2: Vec<f64>,
    /// Methods that make labels from eigenvectors.
    pub methods: Vec<String>,
    /// What a value is: "accuracy (rho_c), percent".
    pub meaning: String,
    /// The value of each setting, by method, threshold and bandwidth; `None` where a setting has none.
    pub values: Vec<Vec<Vec<Option<f64>>>>,
    /// Marked settings: name, then the indices of method, threshold and bandwidth.
    pub picks: Vec<(String, [usize; 3])>,
}

#[cfg(test)]
mod tests {
    use super::ConfidenceSummary;

    #[test]
    fn summary_has_the_median_and_the_count_below_half() {
        let of = |confidence: &[f64]| {
            let summary = ConfidenceSummary::new(confidence);
            (summary.median, summary.below_half)
        };
        assert_eq!(of(&[0.1, 0.9, 0.8]), (0.8, 1));
        assert_eq!(of(&[]), (0.0, 0));
    }
}
