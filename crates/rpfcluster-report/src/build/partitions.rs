//! Partitions of the drawn rows for other K, with silhouette and stability, in colours matched to the clusters of the
//! run.
//!
//! A small table is clustered again on its own forest. For a large one a new forest is grown on the drawn rows, since a
//! leaf of thirty rows holds hardly two of a sample. The silhouettes of all K, the run's own among them, are then those
//! of the new forest, so that they can be compared. A similarity matrix is clustered again unless it is large; it has
//! no stability.

use rpfcluster::Setting;
use rpfcluster::metrics::cluster_sizes;
use rpfcluster::spectral::{self, EmbedOptions, SpectralParams};
use rpfcluster::{Fitted, Forest, LeafMatrix, Observer, Points, Silent};

use super::sample;
use super::silhouette::{self, ClusterSimilarity};
use crate::clustering::{Clustering, MatrixClustering};
use crate::error::Result;
use crate::model::{PartitionView, Partitions};
use crate::subject::{Columns, Subject};

/// The smallest value of the largest K.
const LEAST: usize = 10;
/// How far the largest K exceeds the run's K, at least.
const FURTHER: usize = 3;
/// The limit of the largest K; it takes precedence over the two above.
const MOST: usize = 24;
/// Points up to which a matrix, or a model without its data, is clustered again as a whole.
const WHOLE: usize = 20_000;

/// A partition of the drawn rows, without colours.
struct SamplePartition {
    k: usize,
    labels: Vec<u32>,
    sizes: Vec<usize>,
    whole: bool,
    silhouette: Vec<f64>,
    stability: Option<f64>,
}

/// A partition for each K; for the run's K, the one of the run. With it the leaves of the drawn rows in a forest that
/// was grown on them, where one was.
pub fn partitions(
    subject: &Subject<'_>,
    shown: &[usize],
    own: &ClusterSimilarity,
    observer: &dyn Observer,
) -> Result<(Partitions, Option<LeafMatrix>)> {
    let clustering = subject.clustering;
    let (n, k) = (clustering.n(), clustering.k());
    // With fewer than five rows per cluster the partitions are arbitrary.
    let most = LEAST.max(k + FURTHER).min(MOST).min(shown.len() / 5);
    let ks: Vec<usize> = (2..=most).collect();
    let mut sample_leaves = None;
    let mut found = match clustering {
        Clustering::Rows(fitted) if n <= sample::POINTS || (subject.columns.is_none() && n <= WHOLE) => {
            of_forest(fitted, fitted.forest(), fitted.min_node(), fitted.leaves(), shown, &ks, observer)?
        }
        Clustering::Rows(fitted) => match &subject.columns {
            Some(columns) => {
                let (found, leaves) = of_sample(fitted, columns, shown, &ks, observer)?;
                sample_leaves = Some(leaves);
                found
            }
            None => Vec::new(),
        },
        Clustering::Matrix(matrix) if n <= WHOLE => of_matrix(matrix, shown, &ks, observer)?,
        Clustering::Matrix(_) => Vec::new(),
    };
    // The run's own partition is kept, with the stability measured for its K.
    let stability = found.iter().find(|f| f.k == k).and_then(|f| f.stability);
    found.retain(|f| f.k != k);
    let labels: Vec<u32> = shown.iter().map(|&i| clustering.labels()[i]).collect();
    let at = found.partition_point(|f| f.k < k);
    let silhouette = match &sample_leaves {
        Some(leaves) => {
            let all: Vec<usize> = (0..shown.len()).collect();
            silhouette::of_leaves(leaves, &labels, k, &all).silhouette()
        }
        None => own.silhouette(),
    };
    let sizes = clustering.sizes();
    let run = SamplePartition { k, labels: labels.clone(), sizes, whole: true, silhouette, stability };
    found.insert(at, run);
    let each = found.into_iter().map(|f| coloured(f, &labels, k)).collect();
    let sample = sample_leaves.as_ref().map(|_| shown.len());
    Ok((Partitions { each, sample }, sample_leaves))
}

/// Clusters the leaves of a forest for each K; the labels of `rows` are kept.
fn of_forest(
    fitted: &Fitted,
    forest: &Forest,
    min_node: usize,
    leaves: &LeafMatrix,
    rows: &[usize],
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<SamplePartition>> {
    let setting = Setting { min_node, affinity: *fitted.affinity(), method: fitted.method() };
    let found = rpfcluster::partitions(forest, setting, fitted.params(), ks, observer)?;
    Ok(found
        .into_iter()
        .map(|p| SamplePartition {
            k: p.k,
            silhouette: silhouette::of_leaves(leaves, &p.labels, p.k, rows).silhouette(),
            sizes: cluster_sizes(&p.labels, p.k),
            whole: p.labels.len() == fitted.labels().len(),
            labels: rows.iter().map(|&i| p.labels[i]).collect(),
            stability: p.stability,
        })
        .collect())
}

/// Grows a forest on the drawn rows and clusters it. Returns its leaves too.
fn of_sample(
    fitted: &Fitted,
    columns: &Columns<'_>,
    shown: &[usize],
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<(Vec<SamplePartition>, LeafMatrix)> {
    let d = columns.names.len();
    let mut values = vec![0.0; shown.len() * d];
    shown.iter().zip(values.chunks_exact_mut(d.max(1))).for_each(|(&i, row)| (columns.row)(i, row));
    let points = Points::new(&values, shown.len(), d)?;
    let min_node = fitted.min_node().min(shown.len() / 5).max(2);
    let forest = Forest::grow(points.observed(observer), &fitted.params().forest_params(min_node))?;
    let all: Vec<usize> = (0..shown.len()).collect();
    let leaves = forest.leaves();
    let found = of_forest(fitted, &forest, min_node, &leaves, &all, ks, observer)?;
    Ok((found, leaves))
}

/// Clusters a matrix for each K. It has no two halves to compare, so there is no stability.
fn of_matrix(
    matrix: &MatrixClustering,
    shown: &[usize],
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<SamplePartition>> {
    let affinity = &matrix.affinity;
    let mut found = Vec::new();
    for &k in ks {
        let params = SpectralParams { k, ..matrix.params.clone() };
        if observer.cancelled() {
            return Err(rpfcluster::Error::Cancelled.into());
        }
        // No progress bars: those of such short steps would only flicker. Cancellation is checked once for each K.
        let cut = spectral::embed(affinity, &params, &EmbedOptions::default(), &Silent)
            .and_then(|embedding| spectral::label(affinity, &embedding, &params, &Silent));
        // With fewer than K distinct points this K is left out.
        if let Ok(labels) = cut {
            found.push(SamplePartition {
                k,
                silhouette: silhouette::of_matrix(matrix, &labels, k, shown).silhouette(),
                labels: shown.iter().map(|&i| labels[i]).collect(),
                sizes: cluster_sizes(&labels, k),
                whole: true,
                stability: None,
            });
        }
    }
    Ok(found)
}

fn coloured(found: SamplePartition, run: &[u32], run_k: usize) -> PartitionView {
    let SamplePartition { k, labels, sizes, whole, silhouette, stability } = found;
    let colours = colours(&labels, k, run, run_k);
    let mean = silhouette.iter().sum::<f64>() / silhouette.len().max(1) as f64;
    let silhouette = silhouette.iter().map(|s| (s * 100.0).round() as i8).collect();
    PartitionView { k, labels, sizes, whole, colours, silhouette, mean, stability, run: k == run_k }
}

/// The colour of each cluster: that of the run's cluster with which it shares most rows, assigned by decreasing
/// overlap. Remaining clusters get unused colours.
fn colours(labels: &[u32], k: usize, run: &[u32], run_k: usize) -> Vec<u32> {
    let mut shared = vec![0usize; k * run_k];
    labels.iter().zip(run).for_each(|(&a, &b)| shared[a as usize * run_k + b as usize] += 1);
    let mut order: Vec<usize> = (0..k * run_k).filter(|&at| shared[at] > 0).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(shared[at]), at));
    let mut colours = vec![None; k];
    let mut taken = vec![false; k + run_k];
    for at in order {
        let (cluster, colour) = (at / run_k, at % run_k);
        if colours[cluster].is_none() && !taken[colour] {
            colours[cluster] = Some(colour as u32);
            taken[colour] = true;
        }
    }
    let mut free = (0..taken.len()).filter(|&c| !taken[c]).map(|c| c as u32).collect::<Vec<_>>().into_iter();
    colours.into_iter().map(|c| c.or_else(|| free.next()).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::colours;

    #[test]
    fn a_cluster_that_persists_keeps_its_colour() {
        let run = [0, 0, 0, 1, 1, 2, 2];
        assert_eq!(colours(&run, 3, &run, 3), [0, 1, 2]);
        // Two clusters instead of three, numbered in reverse.
        assert_eq!(colours(&[1, 1, 1, 0, 0, 0, 0], 2, &run, 3), [1, 0]);
        // The first is divided: the larger part keeps the colour, the other gets a new one.
        assert_eq!(colours(&[0, 0, 3, 1, 1, 2, 2], 4, &run, 3), [0, 1, 2, 3]);
    }
}
