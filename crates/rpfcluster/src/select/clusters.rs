//! Selects the number of clusters: the K with the highest score of the evidence, or 1 where no K is better separated than
//! cuts through data without clusters. Large tables are sampled. See `evidence`.

use super::evidence::{KCandidate, KEvidence};
use crate::error::Result;
use crate::observe::Observer;
use crate::params::RpfCluster;
use crate::points::{Points, Real};

/// Rows of the sample, which bounds the cost.
pub(crate) const K_SAMPLE_ROWS: usize = 2000;
/// Rows per cluster at least.
const ROWS_PER_CLUSTER: usize = 5;
/// Smallest score of more than one cluster.
const MIN_SCORE: f64 = 0.25;

/// The selected number of clusters and the candidates.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct KChoice {
    /// The number of clusters.
    pub k: usize,
    /// Rows it was selected on, when not all.
    pub sample: Option<usize>,
    /// Every K from 2 on, best first; those that are no better separated than data without clusters come last.
    pub candidates: Vec<KCandidate>,
}

/// Selects K from 1 to `max_k`; returns the evidence too.
pub(crate) fn choose_k<R: Real>(
    points: &Points<R>,
    params: &RpfCluster,
    max_k: usize,
    observer: &dyn Observer,
) -> Result<(KChoice, Option<KEvidence>)> {
    let n = points.n().min(K_SAMPLE_ROWS);
    let sample = (n < points.n()).then_some(n);
    let most = max_k.min(n / ROWS_PER_CLUSTER);
    if most < 2 {
        return Ok((KChoice { k: 1, sample, candidates: Vec::new() }, None));
    }
    let ks: Vec<usize> = (2..=most).collect();
    let evidence = KEvidence::new(points, params, &ks, K_SAMPLE_ROWS, observer)?;
    let mut candidates = evidence.candidates.clone();
    let rank = |c: &KCandidate| (c.separated, c.score);
    candidates.sort_by(|a, b| {
        let ((a_separated, a_score), (b_separated, b_score)) = (rank(a), rank(b));
        b_separated.cmp(&a_separated).then(b_score.total_cmp(&a_score)).then(a.k.cmp(&b.k))
    });
    let best = candidates[0];
    let k = if best.separated && best.score >= MIN_SCORE { best.k } else { 1 };
    Ok((KChoice { k, sample, candidates }, Some(evidence)))
}
