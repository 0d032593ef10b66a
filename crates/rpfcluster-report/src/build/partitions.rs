//! Partitions of the drawn rows for other K, with silhouette and score, in colours matched to the clusters of the
//! run.
//!
//! A small table is clustered again on its own forest. For a large one a new forest is grown on the drawn rows, since a
//! leaf of thirty rows holds hardly two of a sample. The silhouettes of all K, the run's own among them, are then those
//! of the new forest, so that they can be compared. A similarity matrix is clustered again unless it is large; it has
//! no score.

use std::sync::Arc;

use rpfcluster::metrics::cluster_sizes;
use rpfcluster::select::{KCandidate, numbers_of_clusters};
use rpfcluster::spectral::{self, SpectralParams};
use rpfcluster::{Fitted, LeafMatrix, Observer, Points, RpfCluster, Setting, Silent};

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
/// Rows that the scores of other K are computed from, at most about.
const SCORED: usize = 1000;
/// Points up to which a matrix, or a model without its data, is clustered again as a whole.
const WHOLE: usize = 20_000;

/// A partition of the drawn rows, without colours.
struct SamplePartition {
    k: usize,
    labels: Vec<u32>,
    sizes: Vec<usize>,
    whole: bool,
    silhouette: Vec<f64>,
    score: Option<f64>,
}

/// A partition for each K; for the run's K, the one of the run. With it the leaves of the drawn rows in a forest that
/// was grown on them, where one was.
pub fn partitions(
    subject: &Subject<'_>,
    shown: &[usize],
    own: &ClusterSimilarity,
    observer: &dyn Observer,
) -> Result<(Partitions, Option<Arc<LeafMatrix>>)> {
    let clustering = subject.clustering;
    let (n, k) = (clustering.n(), clustering.k());
    // With fewer than five rows per cluster the partitions are arbitrary.
    let most = LEAST.max(k + FURTHER).min(MOST).min(shown.len() / 5);
    let ks: Vec<usize> = (2..=most).collect();
    let mut sample_leaves = None;
    let mut found = match clustering {
        Clustering::Rows(fitted) if n <= sample::POINTS || (subject.columns.is_none() && n <= WHOLE) => {
            of_rows(fitted, shown, &ks, observer)?
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
    let scores = match (clustering, &subject.columns) {
        (Clustering::Rows(fitted), Some(columns)) => scores(fitted, columns, shown, &ks, observer)?,
        _ => Vec::new(),
    };
    for partition in &mut found {
        partition.score = scores.iter().find(|c| c.k == partition.k).map(|c| c.score);
    }
    // The run's own partition is kept, with the score of the verdict.
    let score = clustering.fitted().and_then(Fitted::verdict).map(|verdict| verdict.score);
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
    let run = SamplePartition { k, labels: labels.clone(), sizes, whole: true, silhouette, score };
    found.insert(at, run);
    let each = found.into_iter().map(|f| coloured(f, &labels, k)).collect();
    let sample = sample_leaves.as_ref().map(|_| shown.len());
    Ok((Partitions { each, sample }, sample_leaves))
}

/// Clusters the rows of a fit for each K; the labels of `rows` are kept.
fn of_rows(
    fitted: &Fitted,
    rows: &[usize],
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<SamplePartition>> {
    let leaves = fitted.leaves();
    Ok(fitted
        .partitions(ks, observer)?
        .into_iter()
        .map(|p| SamplePartition {
            k: p.k,
            silhouette: silhouette::of_leaves(leaves, &p.labels, p.k, rows).silhouette(),
            sizes: cluster_sizes(&p.labels, p.k),
            whole: true,
            labels: rows.iter().map(|&i| p.labels[i]).collect(),
            score: None,
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
) -> Result<(Vec<SamplePartition>, Arc<LeafMatrix>)> {
    let d = columns.names.len();
    let mut values = vec![0.0; shown.len() * d];
    shown.iter().zip(values.chunks_exact_mut(d.max(1))).for_each(|(&i, row)| (columns.row)(i, row));
    let points = Points::new(&values, shown.len(), d)?.with_keys(fitted.forest().keys())?;
    let min_node = fitted.min_node().min(shown.len() / 5).max(2);
    let setting = Setting { min_node, ..fitted.setting() };
    // One cluster always exists, also where the sample has fewer distinct rows than the run has clusters.
    let params = RpfCluster { k: 1, ..fitted.params().at_setting(&setting) };
    let of_sample = params.fit(points.observed(observer))?;
    let all: Vec<usize> = (0..shown.len()).collect();
    let mut found = of_rows(&of_sample, &all, ks, observer)?;
    found.iter_mut().for_each(|partition| partition.whole = false);
    Ok((found, of_sample.leaves().clone()))
}

/// The evidence for each K on the drawn rows.
fn scores(
    fitted: &Fitted,
    columns: &Columns<'_>,
    shown: &[usize],
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<KCandidate>> {
    let d = columns.names.len();
    let step = shown.len().div_ceil(SCORED);
    let rows: Vec<usize> = shown.iter().copied().step_by(step.max(1)).collect();
    let mut values = vec![0.0; rows.len() * d];
    rows.iter().zip(values.chunks_exact_mut(d.max(1))).for_each(|(&i, row)| (columns.row)(i, row));
    let points = Points::new(&values, rows.len(), d)?.with_keys(fitted.forest().keys())?;
    Ok(numbers_of_clusters(points.observed(observer), fitted.params(), ks)?)
}

/// Clusters a matrix for each K. It has no rows to compare halves of, so there is no score.
fn of_matrix(
    matrix: &MatrixClustering,
    shown: &[usize],
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<SamplePartition>> {
    let affinity = &matrix.affinity;
    let mut found = Vec::new();
    for &k in ks {
        let params = SpectralParams { k, resolution: None, ..matrix.params.clone() };
        if observer.cancelled() {
            return Err(rpfcluster::Error::Cancelled.into());
        }
        // No progress bars: those of such short steps would only flicker. Cancellation is checked once for each K.
        let cut = spectral::cluster(affinity, &params, &Silent);
        // With fewer than K distinct points this K is left out.
        if let Ok((labels, _)) = cut {
            found.push(SamplePartition {
                k,
                silhouette: silhouette::of_matrix(matrix, &labels, k, shown).silhouette(),
                labels: shown.iter().map(|&i| labels[i]).collect(),
                sizes: cluster_sizes(&labels, k),
                whole: true,
                score: None,
            });
        }
    }
    Ok(found)
}

fn coloured(found: SamplePartition, run: &[u32], run_k: usize) -> PartitionView {
    let SamplePartition { k, labels, sizes, whole, silhouette, score } = found;
    let colours = colours(&labels, k, run, run_k);
    let mean = silhouette.iter().sum::<f64>() / silhouette.len().max(1) as f64;
    let silhouette = silhouette.iter().map(|s| (s * 100.0).round() as i8).collect();
    PartitionView { k, labels, sizes, whole, colours, silhouette, mean, score, run: k == run_k }
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
