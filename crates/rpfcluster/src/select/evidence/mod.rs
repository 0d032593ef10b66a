//! Evidence for a number of clusters, without labels: prediction strength, separation and the eigengap.
//!
//! - Prediction strength (Tibshirani and Walther, JCGS 14, 2005): a fit on one half of the rows predicts the other half,
//!   which is also fitted itself. The adjusted Rand index of both labellings, averaged over two splits of the rows, both
//!   directions and a soft and a sharp graph.
//! - Separation: the mutual information of the clusters at the two ends of an edge of the soft graph, divided by their
//!   entropy; 1 when no edge leaves its cluster. Every unimodal cloud has some, so what is missing to 1 is compared
//!   with the least that is missing in reference samples without clusters, normal with the covariance of the table (the
//!   idea of the gap statistic; Tibshirani, Walther and Hastie, JRSS B 63, 2001). The logarithm of the ratio.
//! - Eigengap (von Luxburg 2007, section 8.3) of the sharp graph: the logarithm of the growth of 1 - λ behind the K-th
//!   eigenvalue, less its mean in the reference samples.
//!
//! [`Candidate::score`](KCandidate::score) combines them into an estimate of the adjusted Rand index with the true
//! classes. Its coefficients are a least-squares fit on the design tables; docs/notes/2026-11-verdict.md has the protocol
//! and the result on tables that were not looked at. `sample` has the rows and the reference samples, `graphs` the two
//! graphs of a forest. Costs ten forests and sixteen embeddings of a sample.

mod graphs;
mod sample;

use rayon::prelude::*;

use crate::affinity::SparseAffinity;
use crate::error::Result;
use crate::kernel::Neighbors;
use crate::metrics::Scores;
use crate::observe::{Observed, Observer, Quiet, Stage, StageGuard, check};
use crate::params::RpfCluster;
use crate::points::{Points, Real};
use crate::random::{halves, sample_rows};
use graphs::{GrownGraphs, SHARP};
use sample::{Sample, dense_sample, reference_sample};

/// Reference samples without clusters.
const REFERENCES: usize = 5;
/// Splits of the rows into halves.
const SPLITS: u64 = 2;
/// Trees of a forest of half of the rows.
const HALF_TREES: usize = 100;
/// 1 - λ below this share of the reference's first counts as zero: clusters that do not touch.
const ZERO_SHARE: f64 = 0.01;
/// What is missing to full mutual information, below which it counts as nothing.
const ZERO_LEAK: f64 = 1e-4;
/// Separation beyond which clusters are no better for being further apart.
const FULL_SEPARATION: f64 = 1.2;
/// Range of the eigengap that counts.
const GAP_RANGE: (f64, f64) = (-1.0, 3.0);
/// Separation at or below which clusters are no better separated than cuts through data without clusters: in two
/// columns or more 1 to 2 % of structureless samples reach it with a score that counts.
const MIN_SEPARATION: f64 = 0.3;
/// The same for one column, where few edges cross a cut and chance alone thins some of them.
const MIN_SEPARATION_ONE_COLUMN: f64 = 2.0;
/// Rows per cluster and half below which halves are not fitted.
const ROWS_PER_CLUSTER: usize = 3;

/// One number of clusters and the evidence for it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct KCandidate {
    /// The number of clusters.
    pub k: usize,
    /// Adjusted Rand index between what one half of the rows predicts for the other and what the other finds itself;
    /// `None` with too few rows.
    pub strength: Option<f64>,
    /// Logarithm of how many times less similarity leaves the clusters than in reference samples without clusters.
    pub separation: f64,
    /// Whether that is more than chance.
    pub separated: bool,
    /// Logarithm of the growth of 1 - λ behind the K-th eigenvalue, less its mean in the reference samples.
    pub gap: f64,
    /// The estimate, from 0 to 1, of the adjusted Rand index with the true classes.
    pub score: f64,
}

impl KCandidate {
    fn new(k: usize, strength: Option<f64>, separation: f64, gap: f64, d: usize) -> Self {
        let needed = if d == 1 { MIN_SEPARATION_ONE_COLUMN } else { MIN_SEPARATION };
        let separated = separation > needed;
        let mut candidate = KCandidate { k, strength, separation, separated, gap, score: 0.0 };
        candidate.score = candidate.estimate();
        candidate
    }

    /// Least-squares fit of the adjusted Rand index on the design tables.
    fn estimate(&self) -> f64 {
        let separated = (self.separation / FULL_SEPARATION).clamp(0.0, 1.0);
        let strength = self.strength.unwrap_or(0.5).clamp(0.0, 1.0);
        let gap = self.gap.clamp(GAP_RANGE.0, GAP_RANGE.1);
        let score = 0.08 + separated * (0.08 + 0.6 * strength + 0.05 * libm::log(self.k as f64) + 0.06 * gap);
        score.clamp(0.0, 1.0)
    }
}

/// The evidence for every K in `ks`, ascending, each at least 2, from all rows of `points`; K with fewer than three rows
/// per cluster and half are without prediction strength. `params` gives the trees, of which 200 at most are grown, and the seed.
pub fn numbers_of_clusters<'a, R: Real>(
    points: impl Into<Observed<'a, R>>,
    params: &RpfCluster,
    ks: &[usize],
) -> Result<Vec<KCandidate>> {
    let Observed { points, observer } = points.into();
    if ks.is_empty() {
        return Ok(Vec::new());
    }
    Ok(KEvidence::new(&points, params, ks, points.n(), observer)?.candidates)
}

/// The evidence of a sample of the rows for several K.
pub(crate) struct KEvidence {
    /// The rows of the sample.
    pub rows: Vec<u32>,
    /// In the order of K.
    pub candidates: Vec<KCandidate>,
    soft: SparseAffinity,
    /// Columns of the sample.
    d: usize,
    /// For each K, the least that is missing to full mutual information in the reference samples.
    least_leak: Vec<f64>,
}

impl KEvidence {
    /// Computes the evidence for every K in `ks`, ascending, on at most `rows` rows.
    pub fn new<R: Real>(
        points: &Points<R>,
        params: &RpfCluster,
        ks: &[usize],
        rows: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let rows = sample_rows(params.seed, points.n(), rows);
        let (values, d) = dense_sample(points, &rows, params.seed, observer)?;
        let keys = if d == points.d() { points.keys() } else { &[] };
        let sample = Sample { values: &values, n: rows.len(), d, keys };
        let most = ks.last().map_or(2, |k| *k).min(sample.n);
        // The score was calibrated with this number; more trees hardly change it.
        let trees = params.trees.map_or(RpfCluster::TREES, |given| given.min(RpfCluster::TREES));
        let stage = StageGuard::begin(observer, Stage::Tune, 1 + SPLITS + REFERENCES as u64);
        let quiet = Quiet(observer);
        // Forests of a sample are too small to occupy every thread, so they grow side by side.
        let of_sample = || -> Result<GrownGraphs> {
            let grown = GrownGraphs::new(&sample, params, trees, most, &quiet)?;
            observer.advance(Stage::Tune, 1);
            Ok(grown)
        };
        let of_split = |split: u64| -> Result<Vec<Vec<f64>>> {
            let found = strengths(&sample, params, ks, split, &quiet)?;
            observer.advance(Stage::Tune, 1);
            Ok(found)
        };
        let of_reference = |number: u64| -> Result<Reference> {
            let cloud = reference_sample(&values, d, params.seed, number, observer)?;
            let found = Reference::new(&Sample { values: &cloud, ..sample }, params, trees, ks, &quiet)?;
            observer.advance(Stage::Tune, 1);
            Ok(found)
        };
        let ((grown, splits), references) = rayon::join(
            || {
                rayon::join(of_sample, || {
                    (0..SPLITS).into_par_iter().map(of_split).collect::<Result<Vec<_>>>()
                })
            },
            || (0..REFERENCES as u64).into_par_iter().map(of_reference).collect::<Result<Vec<_>>>(),
        );
        let (grown, splits, references) = (grown?, splits?, references?);
        let least_leak: Vec<f64> = (0..ks.len())
            .map(|at| {
                references.iter().fold(f64::INFINITY, |least, reference| least.min(reference.leaks[at]))
            })
            .collect();
        let references: Vec<Vec<f64>> =
            references.into_iter().map(|reference| reference.complements).collect();
        drop(stage);
        let seen = grown.sharp.complements();
        let none = ZERO_SHARE * mean(references.iter().map(|c| c.get(1).copied().unwrap_or(0.0))).max(1e-12);
        let growth = |c: &[f64], k: usize| match (c.get(k - 1), c.get(k)) {
            (Some(own), Some(next)) => libm::log((next + none) / (own + none)),
            _ => 0.0,
        };
        let mut candidates = Vec::with_capacity(ks.len());
        for (at, &k) in ks.iter().enumerate() {
            let indices = || splits.iter().flat_map(|split| &split[at]);
            let count = indices().count();
            let strength = (count > 0).then(|| indices().sum::<f64>() / count as f64);
            let gap = growth(&seen, k) - mean(references.iter().map(|c| growth(c, k)));
            let separation = match grown.soft.labels(k, params, &quiet)? {
                Some(labels) => log_ratio(least_leak[at], leak(&grown.soft.graph, &labels, k)),
                None => 0.0,
            };
            candidates.push(KCandidate::new(k, strength, separation, gap, d));
        }
        Ok(KEvidence { rows, candidates, soft: grown.soft.graph, d, least_leak })
    }

    /// The evidence for the partition that `labels`, one for each row of the sample, gives.
    pub fn of_labels(&self, labels: &[u32], k: usize) -> Option<KCandidate> {
        let at = self.candidates.iter().position(|candidate| candidate.k == k)?;
        let separation = log_ratio(self.least_leak[at], leak(&self.soft, labels, k));
        let KCandidate { strength, gap, .. } = self.candidates[at];
        Some(KCandidate::new(k, strength, separation, gap, self.d))
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1);
    values.sum::<f64>() / count as f64
}

fn log_ratio(reference: f64, own: f64) -> f64 {
    if reference.is_finite() { libm::log((reference + ZERO_LEAK) / (own + ZERO_LEAK)) } else { 0.0 }
}

/// What is measured on a reference sample.
struct Reference {
    /// For each K, what is missing to full mutual information; infinite where the sample cannot be cut.
    leaks: Vec<f64>,
    /// 1 - λ of the sharp graph.
    complements: Vec<f64>,
}

impl Reference {
    fn new(sample: &Sample, params: &RpfCluster, trees: usize, ks: &[usize], quiet: &Quiet) -> Result<Self> {
        let most = ks.last().map_or(2, |k| *k).min(sample.n);
        let graphs = GrownGraphs::new(sample, params, trees, most, quiet)?;
        let leak_at = |&k: &usize| -> Result<f64> {
            let labels = graphs.soft.labels(k, params, quiet)?;
            Ok(labels.map_or(f64::INFINITY, |labels| leak(&graphs.soft.graph, &labels, k)))
        };
        let leaks = ks.iter().map(leak_at).collect::<Result<Vec<f64>>>()?;
        Ok(Reference { leaks, complements: graphs.sharp.complements() })
    }
}

/// The prediction strengths of one split for each K: the index of each graph and direction; none where K is too large.
fn strengths(
    sample: &Sample,
    params: &RpfCluster,
    ks: &[usize],
    split: u64,
    quiet: &Quiet,
) -> Result<Vec<Vec<f64>>> {
    let n = sample.n;
    let (first, second) = halves(n, params.seed.wrapping_mul(SPLITS).wrapping_add(split + 17));
    let rows = first.len();
    let possible = |k: usize| k * ROWS_PER_CLUSTER <= rows;
    let mut found = vec![Vec::new(); ks.len()];
    let Some(&most) = ks.iter().rev().find(|k| possible(**k)) else { return Ok(found) };
    let [first, second] = [first, second].map(|rows| (sample.rows(&rows), rows.len()));
    let grow = |(values, n): &(Vec<f64>, usize), number: u64| {
        let half = Sample { values, n: *n, ..*sample };
        let params = RpfCluster { seed: params.seed.wrapping_add(2 * split + number + 1), ..params.clone() };
        GrownGraphs::new(&half, &params, HALF_TREES, most, quiet)
    };
    let (one, two) = rayon::join(|| grow(&first, 0), || grow(&second, 1));
    let (one, two) = (one?, two?);
    let routed = |grown: &GrownGraphs, (values, n): &(Vec<f64>, usize)| -> Result<Neighbors> {
        let half = Sample { values, n: *n, ..*sample };
        let points = half.points()?;
        grown.leaves.top_k_of(&grown.forest.route(points.observed(quiet))?, SHARP.0, quiet)
    };
    let (to_two, to_one) = (routed(&one, &second)?, routed(&two, &first)?);
    for (indices, &k) in found.iter_mut().zip(ks).filter(|(_, k)| possible(**k)) {
        check(quiet)?;
        for (own, other) in [(&one.soft, &two.soft), (&one.sharp, &two.sharp)] {
            let (Some(a), Some(b)) = (own.labels(k, params, quiet)?, other.labels(k, params, quiet)?) else {
                continue;
            };
            indices.push(Scores::new(&own.vote(&to_two, &a, k), &b)?.ari);
            indices.push(Scores::new(&other.vote(&to_one, &b, k), &a)?.ari);
        }
    }
    Ok(found)
}

/// What is missing to full mutual information of the clusters at the two ends of an edge: 1 less the mutual information
/// divided by the entropy.
fn leak(graph: &SparseAffinity, labels: &[u32], k: usize) -> f64 {
    let mut joint = vec![0.0; k * k];
    for (row, &own) in labels.iter().enumerate() {
        for e in graph.indptr()[row]..graph.indptr()[row + 1] {
            let other = labels[graph.indices()[e] as usize];
            joint[own as usize * k + other as usize] += graph.weights().get(e);
        }
    }
    let total: f64 = joint.iter().sum();
    if total <= 0.0 {
        return 1.0;
    }
    joint.iter_mut().for_each(|weight| *weight /= total);
    let shares: Vec<f64> = joint.chunks_exact(k).map(|row| row.iter().sum()).collect();
    let entropy: f64 = shares.iter().filter(|p| **p > 0.0).map(|p| -p * libm::log(*p)).sum();
    let mut information = 0.0;
    for (row, p) in joint.chunks_exact(k).zip(&shares) {
        for (q, other) in row.iter().zip(&shares).filter(|(q, _)| **q > 0.0) {
            information += q * libm::log(q / (p * other));
        }
    }
    if entropy > 0.0 { (1.0 - information / entropy).clamp(0.0, 1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::Weights;
    use crate::observe::Silent;
    use crate::random::{Purpose, Stream};

    /// Groups of `each` rows along a line, `apart` standard deviations from one another.
    fn groups(count: usize, each: usize, apart: f64) -> Vec<f64> {
        let mut stream = Stream::new(7, Purpose::Shapes, 0, 0);
        (0..count * each)
            .flat_map(|i| [stream.normal() + apart * (i % count) as f64, stream.normal()])
            .collect()
    }

    fn evidence(values: &[f64], ks: &[usize]) -> KEvidence {
        let points = Points::new(values, values.len() / 2, 2).unwrap();
        KEvidence::new(&points, &RpfCluster::default(), ks, 2000, &Silent).unwrap()
    }

    #[test]
    fn separated_groups_have_a_high_score_at_their_number_only() {
        let found = evidence(&groups(3, 60, 12.0), &[2, 3, 4, 5]);
        let best = found.candidates.iter().max_by(|a, b| a.score.total_cmp(&b.score)).unwrap();
        assert_eq!(best.k, 3);
        assert!(best.score > 0.8 && best.strength > Some(0.99) && best.separated, "{best:?}");
        assert!(found.candidates[2].score < best.score - 0.1);
    }

    #[test]
    fn one_cloud_is_not_separated() {
        for each in [60, 300] {
            let found = evidence(&groups(1, each, 0.0), &[2, 3, 4]);
            assert!(found.candidates.iter().all(|c| !c.separated), "{:?}", found.candidates);
        }
    }

    #[test]
    fn the_gap_is_that_to_tables_without_clusters() {
        let of = |values: &[f64]| {
            evidence(values, &[2, 3, 4, 5]).candidates.iter().map(|c| c.gap).collect::<Vec<_>>()
        };
        let three = of(&groups(3, 100, 12.0));
        assert!(three[1] > 2.0 && [0, 2, 3].iter().all(|at| three[*at] < three[1] - 1.0), "{three:?}");
        let one = of(&groups(1, 300, 0.0));
        assert!(one.iter().sum::<f64>().abs() / 4.0 < 0.25, "{one:?}");
    }

    #[test]
    fn few_rows_have_no_strength() {
        let found = evidence(&groups(2, 5, 12.0), &[2]);
        assert_eq!(found.candidates[0].strength, None);
    }

    #[test]
    fn leak_is_zero_without_edges_between_clusters_and_one_when_they_are_independent() {
        let pairs = |edges: &[(u32, u32)]| {
            let mut rows = vec![Vec::new(); 4];
            for &(i, j) in edges {
                rows[i as usize].push(j);
                rows[j as usize].push(i);
            }
            let (mut indptr, mut indices) = (vec![0], Vec::new());
            for mut row in rows {
                row.sort_unstable();
                indices.extend(row);
                indptr.push(indices.len());
            }
            let weights = Weights::Values(vec![1.0; indices.len()]);
            SparseAffinity::new(0.0, indptr, indices, weights).unwrap()
        };
        let labels = [0, 0, 1, 1];
        assert_eq!(leak(&pairs(&[(0, 1), (2, 3)]), &labels, 2), 0.0);
        // Half of the edges leave their cluster: both ends are independent.
        let mixed = pairs(&[(0, 1), (2, 3), (0, 2), (1, 3)]);
        assert!((leak(&mixed, &labels, 2) - 1.0).abs() < 1e-12);
        // One of three: joint shares 1/3, 1/6, 1/6, 1/3, so 1 - (2/3 ln 4/3 + 1/3 ln 2/3) / ln 2.
        let some = pairs(&[(0, 1), (2, 3), (0, 2)]);
        let information = 2.0 / 3.0 * (4.0f64 / 3.0).ln() + 1.0 / 3.0 * (2.0f64 / 3.0).ln();
        assert!((leak(&some, &labels, 2) - (1.0 - information / 2.0f64.ln())).abs() < 1e-12);
    }
}
