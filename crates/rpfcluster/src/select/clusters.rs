//! Selects the number of clusters by the eigengap (von Luxburg 2007, section 8.3) and by stability (Ben-Hur, Elisseeff
//! and Guyon 2002); one cluster is a possible answer.
//!
//! K separated clusters leave K eigenvalues near 1 and a gap below them: 1 - λ grows by a large factor from the K-th
//! to the next. A single unimodal cloud has such factors too (2 for a round one, 4 for an elongated one), so each
//! factor is divided by its geometric mean in reference samples: normal data with the covariance of the table (the
//! idea of the gap statistic, Tibshirani, Walther and Hastie 2001). The logarithm of the ratio is weighted by the
//! agreement between the partitions of the two halves of the forest; the largest product wins, and K is 1 where it is
//! too small. Large tables are sampled, wide ones replaced by random projections (Johnson and Lindenstrauss 1984).
//! Costs four forests and six embeddings of the sample, and two partitions for each K.

use rayon::prelude::*;

use crate::affinity::SparseAffinity;
use crate::eigen::{EmbedOptions, Embedding, SpectralParams, embed};
use crate::error::Result;
use crate::forest::Forest;
use crate::label::label;
use crate::metrics::Scores;
use crate::observe::{Observer, Quiet, Stage, StageGuard, check};
use crate::params::{AffinityParams, RpfCluster};
use crate::points::{Points, Real};
use crate::random::{Purpose, Stream, sample_rows};

/// Rows of the sample, which bounds the cost.
const SAMPLE_ROWS: usize = 3000;
/// Tables with more columns are replaced by [`PROJECTIONS`] random projections, so that the sample of a wide sparse
/// table is not stored densely.
const MAX_COLUMNS: usize = 4096;
/// Random projections of a wide table; they nearly preserve distances.
const PROJECTIONS: usize = 256;
/// Reference samples without clusters.
const REFERENCES: usize = 3;
/// 1 - λ below this share of the reference's first counts as zero: clusters that do not touch.
const ZERO_SHARE: f64 = 0.01;
/// Smallest ratio to the reference that counts as evidence for clusters.
const MIN_GAP: f64 = 1.6;
/// Where the first 1 - λ is this many times smaller than the reference's, the data cannot be one cloud, and the smaller
/// [`MIN_GAP_SEPARATED`] suffices.
const SEPARATION: f64 = 5.0;
/// Smallest ratio for data that cannot be one cloud.
const MIN_GAP_SEPARATED: f64 = 1.12;
/// Ratio above which a gap is clear; of two clear gaps the finer partition wins.
const CLEAR_GAP: f64 = 8.0;
/// Neighbours of the graph.
const TOP: usize = 10;
/// Exponent of the edge weights: high enough for elongated shapes, low enough to be stable.
const POWER: f64 = 2.0;

/// One number of clusters and its evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct KCandidate {
    /// The number of clusters.
    pub k: usize,
    /// Growth factor of 1 - λ behind the K-th eigenvalue, divided by its geometric mean in reference data without
    /// clusters.
    pub gap: f64,
    /// Adjusted Rand index between the partitions of the two halves of the forest.
    pub stability: f64,
    /// log(gap), at most log 8, times stability; the largest wins (ties: the larger K).
    pub score: f64,
}

/// The selected number of clusters and the candidates.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct KChoice {
    /// The number of clusters.
    pub k: usize,
    /// From 0 to 1: the lead of the best score over the next.
    pub sure: f64,
    /// Rows it was selected on, when not all.
    pub sample: Option<usize>,
    /// Every K from 2 on, best first.
    pub candidates: Vec<KCandidate>,
}

/// Selects K from 1 to `max_k`.
pub(crate) fn choose_k<R: Real>(
    points: &Points<R>,
    params: &RpfCluster,
    max_k: usize,
    observer: &dyn Observer,
) -> Result<KChoice> {
    let rows = sample_rows(params.seed, points.n(), SAMPLE_ROWS);
    let (values, d) = dense_sample(points, &rows, params.seed, observer)?;
    let sample = (rows.len() < points.n()).then_some(rows.len());
    // Five rows per cluster at least.
    let most = max_k.min(rows.len() / 5);
    if most < 2 {
        return Ok(KChoice { k: 1, sure: 0.0, sample, candidates: Vec::new() });
    }
    let base = params.fixed_min_node(rows.len()).min(super::MIN_NODES[0]);
    let stage = StageGuard::begin(observer, Stage::Tune, 1 + REFERENCES as u64);
    let data = Points::new(&values, rows.len(), d)?;
    let quiet = Quiet(observer);
    let forest = Forest::grow(data.observed(&quiet), &params.forest_params(base))?;
    let whole = spectrum(&forest, 0..forest.trees(), params, most, &quiet)?;
    let half = (forest.trees() / 2).max(1);
    let first = spectrum(&forest, 0..half, params, most, &quiet)?;
    let second = spectrum(&forest, forest.trees() - half..forest.trees(), params, most, &quiet)?;
    observer.advance(Stage::Tune, 1);
    let mut references = Vec::with_capacity(REFERENCES);
    for number in 0..REFERENCES {
        let cloud = reference_sample(&values, d, params.seed, number as u64, observer)?;
        let cloud = Points::new(&cloud, rows.len(), d)?;
        let forest = Forest::grow(cloud.observed(&quiet), &params.forest_params(base))?;
        references.push(complements(&spectrum(&forest, 0..forest.trees(), params, most, &quiet)?.embedding));
        observer.advance(Stage::Tune, 1);
    }
    let seen = complements(&whole.embedding);
    let first_complement = references.iter().map(|c| c[1]).sum::<f64>() / REFERENCES as f64;
    let none = ZERO_SHARE * first_complement.max(1e-12);
    let factor = |complements: &[f64], k: usize| ((complements[k] + none) / (complements[k - 1] + none)).ln();
    drop(stage);
    let mut candidates = Vec::new();
    for k in 2..=most {
        let usual = references.iter().map(|c| factor(c, k)).sum::<f64>() / REFERENCES as f64;
        let gap = (factor(&seen, k) - usual).exp();
        let stability =
            Scores::new(&first.labels(k, params, &quiet)?, &second.labels(k, params, &quiet)?)?.ari;
        candidates.push(KCandidate {
            k,
            gap,
            stability,
            score: gap.min(CLEAR_GAP).ln() * stability.max(0.0),
        });
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.k.cmp(&a.k)));
    let best = candidates[0];
    let separated = first_complement > SEPARATION * (seen[1] + none);
    let needed = if separated { MIN_GAP_SEPARATED.ln() } else { MIN_GAP.ln() };
    let k = if best.score > needed { best.k } else { 1 };
    let next =
        if k == 1 { best.score.max(0.0) } else { candidates.get(1).map_or(0.0, |c| c.score).max(needed) };
    let sure = if k == 1 { 1.0 - next / needed } else { 1.0 - next / best.score };
    Ok(KChoice { k, sure: sure.clamp(0.0, 1.0), sample, candidates })
}

/// Some rows as dense values, and their width: their own columns, or random projections where there are too many.
/// A sum runs along a row in the order of its columns, so that sparse and dense rows give the same bits.
fn dense_sample<R: Real>(
    points: &Points<R>,
    rows: &[u32],
    seed: u64,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, usize)> {
    let d = points.d();
    if d <= MAX_COLUMNS {
        let mut values = vec![0.0f64; rows.len() * d];
        for (&row, out) in rows.iter().zip(values.chunks_exact_mut(d)) {
            points.copy_row(row as usize, out);
        }
        return Ok((values, d));
    }
    let mut values = vec![0.0f64; rows.len() * PROJECTIONS];
    // Scaled to at most 1, so that no sum overflows; a forest does not depend on the scale.
    let scale = if points.largest() > 0.0 { points.largest() } else { 1.0 };
    const LANES: usize = 8;
    let mut directions = vec![[0.0f64; LANES]; d];
    let mut normals = vec![0.0; d];
    for first in (0..PROJECTIONS).step_by(LANES) {
        for lane in 0..LANES {
            check(observer)?;
            Stream::new(seed, Purpose::Sample, 2, (first + lane) as u64).normals(&mut normals);
            directions.iter_mut().zip(&normals).for_each(|(r, z)| r[lane] = *z);
        }
        values.par_chunks_exact_mut(PROJECTIONS).zip(rows).for_each(|(out, &row)| {
            let mut sums = [0.0; LANES];
            points.each_value(row as usize, |column, value| {
                let value = value.to_f64() / scale;
                sums.iter_mut().zip(&directions[column]).for_each(|(s, r)| *s += value * r);
            });
            out[first..first + LANES].copy_from_slice(&sums);
        });
    }
    Ok((values, PROJECTIONS))
}

/// A graph and its largest eigenpairs.
struct GraphSpectrum {
    affinity: SparseAffinity,
    embedding: Embedding,
}

impl GraphSpectrum {
    fn labels(&self, k: usize, params: &RpfCluster, quiet: &Quiet) -> Result<Vec<u32>> {
        let spectral = SpectralParams { k, restarts: 5, ..params.spectral_params(Default::default()) };
        // The first k columns are the embedding for k clusters, unless the graph is disconnected.
        let few = embed(
            &self.affinity,
            &spectral,
            &EmbedOptions { start: Some(&self.embedding), ..EmbedOptions::default() },
            quiet,
        )?;
        label(&self.affinity, &few, &spectral, quiet)
    }
}

fn spectrum(
    forest: &Forest,
    trees: std::ops::Range<usize>,
    params: &RpfCluster,
    most: usize,
    quiet: &Quiet,
) -> Result<GraphSpectrum> {
    let leaves = forest.leaves_of_trees(trees, forest.params().min_node)?;
    let (top, power) = match params.fixed_affinity() {
        AffinityParams::TopK { .. } => (params.top.unwrap_or(TOP), params.power.unwrap_or(POWER)),
        _ => (TOP, POWER),
    };
    let affinity = SparseAffinity::top_k(&leaves.top_k(top, quiet)?, top, power, quiet)?;
    let spectral = SpectralParams {
        k: most + 1,
        tolerance: 1e-5,
        max_iterations: 1000,
        ..params.spectral_params(Default::default())
    };
    let embedding = embed(&affinity, &spectral, &EmbedOptions::default(), quiet)?;
    Ok(GraphSpectrum { affinity, embedding })
}

/// 1 - λ for each eigenvalue.
fn complements(embedding: &Embedding) -> Vec<f64> {
    embedding.eigenvalues.iter().map(|l| (1.0 - l).max(0.0)).collect()
}

/// Normal points with the mean and (nearly) the covariance of the data: random combinations of some of its rows.
fn reference_sample(
    values: &[f64],
    d: usize,
    seed: u64,
    number: u64,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let n = values.len() / d;
    let mut mean = vec![0.0; d];
    for row in values.chunks_exact(d) {
        mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n as f64);
    }
    let base: Vec<u32> = sample_rows(seed ^ (number + 1), n, 400.min(n));
    let scale = 1.0 / (base.len() as f64).sqrt();
    let mut stream = Stream::new(seed, Purpose::Sample, 1, number);
    let mut cloud = Vec::with_capacity(values.len());
    for _ in 0..n {
        check(observer)?;
        let mut point = mean.clone();
        for &b in &base {
            let z = stream.normal() * scale;
            let row = &values[b as usize * d..][..d];
            point.iter_mut().zip(row.iter().zip(&mean)).for_each(|(p, (v, m))| *p += z * (v - m));
        }
        cloud.extend(point);
    }
    Ok(cloud)
}
