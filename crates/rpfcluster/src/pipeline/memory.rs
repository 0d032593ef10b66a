//! Estimates the peak memory of a fit before it starts, and rejects a fit above `memory_limit` with a remedy.
//!
//! The estimate is a closed formula in the shape of the table, the parameters and the number of threads;
//! tests/memory.rs compares it with measured peaks.

use crate::distinct::RANGE_ROWS;
use crate::eigen::Method;
use crate::error::{Error, Result};
use crate::forest::{GAP_SHARE, QUANTIZED_COLUMNS};
use crate::label::refine;
use crate::params::{AffinityParams, Metric, RpfCluster};
use crate::pca;
use crate::points::{Points, Real};

use super::verdict;

/// Bytes of scratch per thread on large tables: the measured 2.1 MB, rounded up.
const THREAD_BYTES: u64 = 3 << 20;
/// Upper bound of the scratch of all threads, in bytes per row, for small tables.
const SCRATCH_PER_ROW: u64 = 300;

/// Bytes per row of the queues, communities and subsets of the Leiden algorithm.
const LEIDEN_ROW: u64 = 120;

/// Forests of the verdict that grow side by side at most: one of the sample, four of halves, five of references.
const EVIDENCE_FORESTS: u64 = 10;
/// Bytes per sampled row of the two graphs of such a forest and their eigenvectors.
const EVIDENCE_ROW: u64 = 2000;

impl RpfCluster {
    /// Peak memory, in bytes, of a fit of n rows and d columns of `width` bytes each, including the data. Sparse
    /// affinities count what they keep per row on data without structure.
    pub fn memory_needed(&self, n: usize, d: usize, width: usize) -> u64 {
        self.memory_with(n, d, width, n as u64 * d as u64 * width as u64)
    }

    /// [`RpfCluster::memory_needed`] of these rows: sparse and compact rows take less, and rows that may have gaps more.
    pub fn memory_of<R: Real>(&self, points: &Points<R>) -> u64 {
        let width = size_of::<R>();
        let gaps = if points.means().is_empty() { 0 } else { self.gap_bytes(points.d(), width) };
        // A forest on the columns themselves grows on a widened copy of compact rows.
        let is_widened = points.is_compact() && pca::most_components(self.components, points.d()).is_none();
        let widened = if is_widened { points.n() as u64 * points.d() as u64 * width as u64 } else { 0 };
        self.memory_with(points.n(), points.d(), width, points.bytes()) + gaps + widened
    }

    /// Bytes of the means and variances that trees keep for rows with gaps. Uniform cuts of uniform rows give
    /// 2 x `GAP_SHARE` such nodes a tree; tails and clusters give up to twice as many.
    fn gap_bytes(&self, d: usize, width: usize) -> u64 {
        // Gaps are column means in principal components.
        if pca::most_components(self.components, d).is_some() {
            return 0;
        }
        let trees = self.max_trees.unwrap_or(self.trees_by_default(false));
        (trees * 4 * GAP_SHARE * 2 * d * width) as u64
    }

    /// [`RpfCluster::memory_needed`] where the rows take `data` bytes: fewer than n x d values if they are sparse, none in a refit.
    pub(crate) fn memory_with(&self, n: usize, d: usize, width: usize, data: u64) -> u64 {
        let threads =
            self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |c| c.get()));
        let trees = self.trees_by_default(pca::most_components(self.components, d).is_some());
        // More clusters, neighbours or components than rows and columns are refused by the fit, or are no more than these.
        let clusters = self.k.min(n);
        let most = n.min(d);
        let (n, d, t, k) = (n as u64, d as u64, self.max_trees.unwrap_or(trees) as u64, clusters as u64);
        let width = width as u64;
        // On principal components, the forest has their scores as its columns.
        let components =
            pca::most_components(self.components, d as usize).map(|count| count.min(most) as u64);
        let (pca, scores) = match components {
            Some(count) => (pca::fit_bytes(n, d, count), n * count * width),
            // Rows of unit length are a copy.
            None if self.metric == Metric::Cosine => (0, data),
            None => (0, 0),
        };
        let (columns_of_table, d) = (d, components.unwrap_or(d));
        let padded = if d < 16 { n * d.next_power_of_two() * width } else { 0 };
        // Permutation and nodes; a leaf holds a third of min_node on average.
        let min_node = self.fixed_min_node(n as usize).max(2) as u64;
        let leaves = n * 3 / min_node;
        let forest = n * t * 4 + leaves * t * (8 + width);
        // Large tables are projected for eight trees at a time, and quantized.
        let quantized = if d <= QUANTIZED_COLUMNS as u64 { n * (d + 2).next_multiple_of(16) * 2 } else { 0 };
        // Trees of a sample are grown to single rows first, on a copy of the rows.
        let sample = self.max_samples.map_or(0, |most| most as u64);
        let sample = if sample < n { sample } else { 0 };
        let sampled = sample * (t * (12 + width) + d.next_power_of_two() * 2 * width);
        let growing = n * (4 + 8 * width) * threads as u64 + quantized + sampled;
        // Leaf ids, the basis of the block solver with three blocks, degrees and their roots; then the larger of the
        // leaf sums of a product over eight trees and the vectors returned. A neighbour graph may be over-segmented.
        let k = match self.fixed_affinity() {
            AffinityParams::TopK { .. } => refine::segments(clusters) as u64,
            _ => k,
        };
        let block = (k + 4).next_multiple_of(4);
        let columns = (3 * block).max(40) + 3 * block + 3;
        let product = 8 * leaves * block.min(16);
        let spectral = n * t * 4 + 8 * (n * columns + product.max(n * k));
        let leiden = self.method == Some(Method::Leiden);
        // The communities of a graph need the network twice, as it is and aggregated, and no vectors.
        let (spectral, per_pair) = if leiden { (n * t * 4 + n * LEIDEN_ROW, 24) } else { (spectral, 0) };
        let block = if leiden { 0 } else { block };
        let affinity = match self.fixed_affinity() {
            AffinityParams::Linear => 0,
            // The graph and its aggregation hierarchy, a third of it, with three vectors on each level.
            AffinityParams::TopK { top, .. } => {
                n * ((top as u64).min(n) * (36 + 2 * per_pair) + block * 3 * 4 * 4 / 3)
            }
            AffinityParams::Paper { beta1, .. } => {
                let kept = min_node as f64 / beta1.max(1.0 / trees as f64);
                n * (14 + per_pair) * (kept as u64).min(n)
            }
        };
        let pool = (THREAD_BYTES * threads as u64).min(SCRATCH_PER_ROW * n);
        // The verdict comes last: the fit holds trees, leaf ids, vectors and neighbours.
        let evidence = if self.assess {
            let forests = (threads as u64).min(EVIDENCE_FORESTS);
            let rows = verdict::most_sample_rows(clusters, self.max_k.is_some()).min(n as usize) as u64;
            let kept = n * (4 * t + 8 * k + 16);
            kept + forests * rows * (8 * d + 12 * t.min(RpfCluster::TREES as u64) + EVIDENCE_ROW)
        } else {
            0
        };
        let fit = scores + forest + (padded + growing).max(spectral + affinity).max(evidence);
        // A sample of the rows by columns, from which copies of rows are found.
        let ranges = n.min(RANGE_ROWS as u64).next_power_of_two() * columns_of_table * 8;
        data + fit.max(pca).max(ranges) + pool
    }
}

/// Returns an error with the size and a remedy when a fit exceeds the limit. `needed` is the memory by the parameters.
pub(crate) fn check(params: &RpfCluster, d: usize, needed: impl Fn(&RpfCluster) -> u64) -> Result<()> {
    let Some(limit) = params.memory_limit else { return Ok(()) };
    if needed(params) <= limit {
        return Ok(());
    }
    let trees = params.trees_by_default(pca::most_components(params.components, d).is_some());
    let trees = (trees / 4).max(1);
    let fewer = RpfCluster { trees: Some(trees), max_trees: None, ..params.clone() };
    let remedy = if needed(&fewer) <= limit {
        format!("{trees} trees would fit")
    } else {
        "take fewer trees, a larger min_node or a sample of the rows".to_string()
    };
    let needed = needed(params);
    Err(Error::Memory { what: "the clustering", needed, limit, remedy })
}
