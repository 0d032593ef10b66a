//! The shown rows in other numbers of clusters. Of a small table the forest that was grown is cut again; of a large one
//! the shown rows get a forest of their own, since leaves of thirty rows hold hardly two of a sample.

use rpfcluster::Setting;
use rpfcluster::affinity::SparseAffinity;

use rpfcluster::spectral::{self, EmbedOptions, SpectralParams};
use rpfcluster::{Fitted, Forest, LeafMatrix, Observer, Points, Silent};

use super::sample;
use super::similar::{self, Similar};
use crate::error::Result;
use crate::model::{Partition, Partitions};
use crate::subject::{Basis, Columns, Pairs, Subject};

/// K goes up to this at least, and three further than the run's own, but never beyond the last.
const LEAST: usize = 10;
const FURTHER: usize = 3;
const MOST: usize = 24;
/// Rows of a table without its data, or of a matrix, up to which it is cut again.
const WHOLE: usize = 20_000;

/// A partition of the shown rows before it is dressed.
struct Found {
    k: usize,
    labels: Vec<u32>,
    silhouette: Vec<f64>,
    stability: Option<f64>,
}

/// Every K worth looking at; the run's own as it was made.
pub fn partitions(
    subject: &Subject<'_>,
    shown: &[usize],
    own: &Similar,
    observer: &dyn Observer,
) -> Result<Partitions> {
    let (n, k) = (subject.n(), subject.k());
    // Fewer rows than a few leaves say nothing about clusters.
    let most = LEAST.max(k + FURTHER).min(MOST).min(shown.len() / 5);
    let ks: Vec<usize> = (2..=most).collect();
    let mut sample = None;
    let mut found = match &subject.basis {
        Basis::Forest(fitted) if n <= sample::POINTS || (subject.columns.is_none() && n <= WHOLE) => {
            of_forest(fitted, fitted.forest(), fitted.min_node(), fitted.leaves(), shown, &ks, observer)?
        }
        Basis::Forest(fitted) => match &subject.columns {
            Some(columns) => {
                sample = Some(shown.len());
                of_sample(fitted, columns, shown, &ks, observer)?
            }
            None => Vec::new(),
        },
        Basis::Matrix { pairs, params, .. } if n <= WHOLE => of_matrix(pairs, params, shown, &ks, observer)?,
        Basis::Matrix { .. } => Vec::new(),
    };
    // What the run made is shown as it is, with the stability that was found for its K.
    let stability = found.iter().find(|f| f.k == k).and_then(|f| f.stability);
    found.retain(|f| f.k != k);
    let labels: Vec<u32> = shown.iter().map(|&i| subject.labels()[i]).collect();
    let at = found.partition_point(|f| f.k < k);
    found.insert(at, Found { k, labels: labels.clone(), silhouette: own.silhouette(), stability });
    let each = found.into_iter().map(|f| dressed(f, &labels, k)).collect();
    Ok(Partitions { each, sample })
}

/// Cuts a forest again; `rows` of its points are kept.
fn of_forest(
    fitted: &Fitted,
    forest: &Forest,
    min_node: usize,
    leaves: &LeafMatrix,
    rows: &[usize],
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<Found>> {
    let setting = Setting { min_node, affinity: *fitted.affinity(), method: fitted.method() };
    let found = rpfcluster::pipeline::partitions(forest, setting, fitted.params(), ks, observer)?;
    Ok(found
        .into_iter()
        .map(|p| Found {
            k: p.k,
            silhouette: similar::of_leaves(leaves, &p.labels, p.k, rows).silhouette(),
            labels: rows.iter().map(|&i| p.labels[i]).collect(),
            stability: p.stability,
        })
        .collect())
}

/// Grows a forest of the shown rows and cuts it.
fn of_sample(
    fitted: &Fitted,
    columns: &Columns<'_>,
    shown: &[usize],
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<Found>> {
    let d = columns.names.len();
    let mut values = vec![0.0; shown.len() * d];
    shown.iter().zip(values.chunks_exact_mut(d.max(1))).for_each(|(&i, row)| (columns.row)(i, row));
    let points = Points::new(&values, shown.len(), d)?;
    let min_node = fitted.min_node().min(shown.len() / 5).max(2);
    let forest = Forest::grow(points.observed(observer), &fitted.params().forest_params(min_node))?;
    let all: Vec<usize> = (0..shown.len()).collect();
    of_forest(fitted, &forest, min_node, &forest.leaves(), &all, ks, observer)
}

/// Cuts a matrix again. It has no halves, so nothing says how stable a K is.
fn of_matrix(
    pairs: &Pairs<'_>,
    params: &SpectralParams,
    shown: &[usize],
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<Found>> {
    let n = pairs.starts.len().saturating_sub(1);
    let (starts, indices, values) = (pairs.starts.to_vec(), pairs.indices.to_vec(), pairs.values.to_vec());
    let affinity = SparseAffinity::precomputed_sparse(starts, indices, values, n, observer)?;
    let mut found = Vec::new();
    for &k in ks {
        let params = SpectralParams { k, ..params.clone() };
        if observer.cancelled() {
            return Err(rpfcluster::Error::Cancelled.into());
        }
        // Silent: bars of so many short steps would only flicker.
        let cut = spectral::embed(&affinity, &params, &EmbedOptions::default(), &Silent)
            .and_then(|embedding| spectral::label(&affinity, &embedding, &params, &Silent));
        // Fewer distinct points than that: this K cannot be had.
        if let Ok(labels) = cut {
            found.push(Found {
                k,
                silhouette: similar::of_pairs(pairs, &labels, k, shown).silhouette(),
                labels: shown.iter().map(|&i| labels[i]).collect(),
                stability: None,
            });
        }
    }
    Ok(found)
}

fn dressed(found: Found, run: &[u32], run_k: usize) -> Partition {
    let Found { k, labels, silhouette, stability } = found;
    let colours = colours(&labels, k, run, run_k);
    let mean = silhouette.iter().sum::<f64>() / silhouette.len().max(1) as f64;
    let silhouette = silhouette.iter().map(|s| (s * 100.0).round() as i8).collect();
    Partition { k, labels, colours, silhouette, mean, stability, run: k == run_k }
}

/// For each cluster the number, and so the colour, of the run's cluster it shares most rows with, the largest overlaps
/// first; clusters left over take numbers of their own.
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
    fn a_cluster_that_stays_keeps_its_colour() {
        let run = [0, 0, 0, 1, 1, 2, 2];
        assert_eq!(colours(&run, 3, &run, 3), [0, 1, 2]);
        // Two of three, the other way round.
        assert_eq!(colours(&[1, 1, 1, 0, 0, 0, 0], 2, &run, 3), [1, 0]);
        // The first is cut in two: the larger half keeps the colour, the other gets a new one.
        assert_eq!(colours(&[0, 0, 3, 1, 1, 2, 2], 4, &run, 3), [0, 1, 2, 3]);
    }
}
