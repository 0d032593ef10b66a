//! The number of clusters, from the spectrum and from stability; one cluster is a possible answer.
//!
//! K clusters that are there leave K eigenvalues near 1 and a gap below them: the leak 1 - λ grows by a large factor
//! from the K-th to the next. But a single smooth cloud has such factors too (2 for a round one, 4 along a rod), so
//! each factor is compared with that of clouds without clusters: normal samples with the covariance of the data. A
//! K must beat them, and the two halves of the forest, two independent kernels, must agree on its partition.

use std::sync::Arc;

use rayon::prelude::*;

use crate::affinity::SparseAffinity;
use crate::eigen::{EmbedOptions, Embedding, SpectralParams, embed};
use crate::error::Result;
use crate::forest::Forest;
use crate::kernel::LeafMatrix;
use crate::label::label;
use crate::metrics::Scores;
use crate::observe::{Observer, Quiet, Stage, check};
use crate::pipeline::{AffinityParams, RpfCluster};
use crate::points::{Points, Real};
use crate::random::{Purpose, Stream, sample_rows};

/// Rows K is chosen on.
const ROWS: usize = 3000;
/// Tables with more columns are looked at through [`DIRECTIONS`] random ones: a sample of a wide sparse table must not
/// be laid out in full.
const WIDE: usize = 4096;
/// Random projections that stand for the columns of a wide table; distances between rows hardly change.
const DIRECTIONS: usize = 256;
/// Clouds without clusters that are grown for comparison.
const CLOUDS: usize = 3;
/// A leak smaller than this share of a cloud's first is no leak: what is left between clusters that do not touch.
const NO_LEAK: f64 = 0.01;
/// How many times larger than a cloud's a factor must be to count as a sign of clusters.
const AT_LEAST: f64 = 1.6;
/// Where the first leak is so many times smaller than a cloud's that the data cannot be one cloud, a weaker sign
/// will do.
const NO_CLOUD: f64 = 5.0;
const WEAK: f64 = 1.12;
/// Beyond this factor a gap is clear, and of two clear gaps the finer partition is the answer.
const CLEAR: f64 = 8.0;
/// Graph used to look: strong enough to see shapes, blunt enough to be stable.
const TOP: usize = 10;
const POWER: f64 = 2.0;

/// One number of clusters and what speaks for it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct KCandidate {
    /// The number of clusters.
    pub k: usize,
    /// How many times the leak grows behind the K-th eigenvalue, over the same in clouds without clusters.
    pub gap: f64,
    /// Adjusted Rand index between the partitions of the two halves of the forest.
    pub stability: f64,
    /// log(gap), not above log 8, times stability; what is compared (ties: the larger K).
    pub score: f64,
}

/// The chosen number of clusters, the runners-up, and how sure the choice is.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct KChoice {
    /// The number of clusters.
    pub k: usize,
    /// From 0 to 1: how far the best score is ahead of the next.
    pub sure: f64,
    /// Rows it was chosen on, when not all.
    pub sample: Option<usize>,
    /// Every K from 2 on, best first.
    pub candidates: Vec<KCandidate>,
}

/// Chooses K from 1 to `max_k`.
pub(crate) fn choose_k<R: Real>(
    points: &Points<R>,
    params: &RpfCluster,
    max_k: usize,
    observer: &dyn Observer,
) -> Result<KChoice> {
    let rows = sample_rows(params.seed, points.n(), ROWS);
    let (values, d) = laid_out(points, &rows, params.seed, observer)?;
    let sample = (rows.len() < points.n()).then_some(rows.len());
    // Fewer rows than a few leaves say nothing about clusters.
    let most = max_k.min(rows.len() / 5);
    if most < 2 {
        return Ok(KChoice { k: 1, sure: 0.0, sample, candidates: Vec::new() });
    }
    let base = params.fixed_min_node(rows.len()).min(super::MIN_NODES[0]);
    observer.begin(Stage::Tune, 1 + CLOUDS as u64);
    let data = Points::new(&values, rows.len(), d)?;
    let quiet = Quiet(observer);
    let forest = Forest::grow(data.observed(&quiet), &params.forest_params(base))?;
    let whole = look(&forest, 0..forest.trees(), params, most, &quiet)?;
    let half = (forest.trees() / 2).max(1);
    let first = look(&forest, 0..half, params, most, &quiet)?;
    let second = look(&forest, forest.trees() - half..forest.trees(), params, most, &quiet)?;
    observer.advance(Stage::Tune, 1);
    let mut clouds = Vec::with_capacity(CLOUDS);
    for number in 0..CLOUDS {
        let cloud = cloud_like(&values, d, (params.seed, number as u64), observer)?;
        let cloud = Points::new(&cloud, rows.len(), d)?;
        let forest = Forest::grow(cloud.observed(&quiet), &params.forest_params(base))?;
        clouds.push(leaks(&look(&forest, 0..forest.trees(), params, most, &quiet)?.embedding));
        observer.advance(Stage::Tune, 1);
    }
    let seen = leaks(&whole.embedding);
    let first_leak = clouds.iter().map(|c| c[1]).sum::<f64>() / CLOUDS as f64;
    let none = NO_LEAK * first_leak.max(1e-12);
    let factor = |leaks: &[f64], k: usize| ((leaks[k] + none) / (leaks[k - 1] + none)).ln();
    observer.end(Stage::Tune);
    let mut candidates = Vec::new();
    for k in 2..=most {
        let usual = clouds.iter().map(|c| factor(c, k)).sum::<f64>() / CLOUDS as f64;
        let gap = (factor(&seen, k) - usual).exp();
        let stability =
            Scores::new(&first.labels(k, params, &quiet)?, &second.labels(k, params, &quiet)?)?.ari;
        candidates.push(KCandidate { k, gap, stability, score: gap.min(CLEAR).ln() * stability.max(0.0) });
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.k.cmp(&a.k)));
    let best = candidates[0];
    let no_cloud = first_leak > NO_CLOUD * (seen[1] + none);
    let needed = if no_cloud { WEAK.ln() } else { AT_LEAST.ln() };
    let k = if best.score > needed { best.k } else { 1 };
    let next =
        if k == 1 { best.score.max(0.0) } else { candidates.get(1).map_or(0.0, |c| c.score).max(needed) };
    let sure = if k == 1 { 1.0 - next / needed } else { 1.0 - next / best.score };
    Ok(KChoice { k, sure: sure.clamp(0.0, 1.0), sample, candidates })
}

/// Some rows as dense values, and their width: their own columns, or random projections where there are too many.
/// A sum runs along a row in the order of its columns, so that sparse and dense rows give the same bits.
fn laid_out<R: Real>(
    points: &Points<R>,
    rows: &[u32],
    seed: u64,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, usize)> {
    let d = points.d();
    if d <= WIDE {
        let mut values = vec![0.0f64; rows.len() * d];
        for (&row, out) in rows.iter().zip(values.chunks_exact_mut(d)) {
            points.copy_row(row as usize, out);
        }
        return Ok((values, d));
    }
    let mut values = vec![0.0f64; rows.len() * DIRECTIONS];
    // Huge and tiny values are brought to one, so that no sum can overflow; a forest sees no scale.
    let scale = if points.largest() > 0.0 { points.largest() } else { 1.0 };
    const TOGETHER: usize = 8;
    let mut directions = vec![[0.0f64; TOGETHER]; d];
    let mut normals = vec![0.0; d];
    for first in (0..DIRECTIONS).step_by(TOGETHER) {
        for lane in 0..TOGETHER {
            check(observer)?;
            Stream::new(seed, Purpose::Sample, 2, (first + lane) as u64).normals(&mut normals);
            directions.iter_mut().zip(&normals).for_each(|(r, z)| r[lane] = *z);
        }
        values.par_chunks_exact_mut(DIRECTIONS).zip(rows).for_each(|(out, &row)| {
            let mut sums = [0.0; TOGETHER];
            points.each_value(row as usize, |column, value| {
                let value = value.to_f64() / scale;
                sums.iter_mut().zip(&directions[column]).for_each(|(s, r)| *s += value * r);
            });
            out[first..first + TOGETHER].copy_from_slice(&sums);
        });
    }
    Ok((values, DIRECTIONS))
}

/// A graph and its largest eigenpairs.
struct Look {
    affinity: SparseAffinity,
    embedding: Embedding,
}

impl Look {
    fn labels(&self, k: usize, params: &RpfCluster, quiet: &Quiet) -> Result<Vec<u32>> {
        let spectral = SpectralParams { restarts: 5, ..params.spectral_params(Default::default()) };
        let spectral = SpectralParams { k, ..spectral };
        // The first k columns are the embedding for k clusters, unless the graph falls apart.
        let few = embed(
            &self.affinity,
            &spectral,
            &EmbedOptions { start: Some(&self.embedding), ..EmbedOptions::default() },
            quiet,
        )?;
        label(&self.affinity, &few, &spectral, quiet)
    }
}

fn look(
    forest: &Forest,
    trees: std::ops::Range<usize>,
    params: &RpfCluster,
    most: usize,
    quiet: &Quiet,
) -> Result<Look> {
    let leaves: Arc<LeafMatrix> = Arc::new(forest.leaves_of_trees(trees, forest.params().min_node)?);
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
    Ok(Look { affinity, embedding })
}

/// 1 - λ for each eigenvalue.
fn leaks(embedding: &Embedding) -> Vec<f64> {
    embedding.eigenvalues.iter().map(|l| (1.0 - l).max(0.0)).collect()
}

/// Normal points with the mean and (nearly) the covariance of the data: random combinations of some of its rows.
fn cloud_like(
    values: &[f64],
    d: usize,
    (seed, number): (u64, u64),
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
