//! A finished clustering: labels, the embedding behind them, and predict and transform for unseen rows.

use std::sync::Arc;

use rayon::prelude::*;

use super::fit::{Cut, Seconds, by_fingerprint, fingerprints};
use super::params::{AffinityParams, RpfCluster};
use super::predict as extend;
use super::{Evidence, Setting};
use crate::affinity::{exponential, powers};
use crate::eigen::{Embedding, Method};
use crate::error::Result;
use crate::forest::Forest;
use crate::forest::LeafIds;
use crate::kernel::LeafMatrix;
use crate::metrics::cluster_sizes;
use crate::observe::{Observed, Observer};
use crate::points::{Points, Real};
use crate::thread_pool::in_pool;

/// Rows that are placed at a time.
const PART: usize = 1 << 18;

/// A clustering of the points it was fitted on, able to place others.
#[derive(Debug)]
pub struct Fitted {
    pub(crate) params: RpfCluster,
    /// Shared with other cuts of the same rows.
    pub(crate) forest: Arc<Forest>,
    pub(crate) setting: Setting,
    pub(crate) leaves: Arc<LeafMatrix>,
    pub(crate) labels: Vec<u32>,
    pub(crate) embedding: Embedding,
    /// Whether the labels come from a finer cut than the embedding shows.
    pub(crate) regrouped: bool,
    seconds: Seconds,
    evidence: Evidence,
    /// Mean unit row of each cluster, k x k.
    centers: Vec<f64>,
    /// Fingerprints of the training rows, ascending, each with its first row.
    known: Vec<(u64, u32)>,
    loadings: Vec<f64>,
    totals: Vec<f64>,
}

impl Fitted {
    pub(crate) fn new(
        params: RpfCluster,
        forest: Arc<Forest>,
        setting: Setting,
        leaves: Arc<LeafMatrix>,
        cut: Cut,
        (seconds, evidence): (Seconds, Evidence),
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Cut { labels, embedding, regrouped } = cut;
        let k = params.k;
        let mut known = by_fingerprint(&leaves, observer)?;
        known.dedup_by_key(|(print, _)| *print);
        let loadings = extend::loadings(&embedding);
        let totals = extend::column_sums(&loadings, embedding.k());
        let mut centers = vec![0.0; k * embedding.k()];
        let mut sizes = vec![0.0; k];
        let mut unit = vec![0.0; embedding.k()];
        for (i, &label) in labels.iter().enumerate() {
            unit.copy_from_slice(embedding.row(i));
            to_unit(&mut unit);
            sizes[label as usize] += 1.0;
            let center = &mut centers[label as usize * embedding.k()..][..embedding.k()];
            center.iter_mut().zip(&unit).for_each(|(c, u)| *c += u);
        }
        for (center, size) in centers.chunks_exact_mut(embedding.k()).zip(&sizes) {
            center.iter_mut().for_each(|c| *c /= size);
        }
        Ok(Fitted {
            params,
            forest,
            setting,
            leaves,
            labels,
            embedding,
            regrouped,
            seconds,
            evidence,
            centers,
            known,
            loadings,
            totals,
        })
    }

    /// The cluster of each training row, numbered by first appearance.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.params.k
    }

    /// How many rows each cluster has.
    pub fn sizes(&self) -> Vec<usize> {
        cluster_sizes(&self.labels, self.k())
    }

    /// The forest.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// The leaves the similarity was counted on.
    pub fn leaves(&self) -> &Arc<LeafMatrix> {
        &self.leaves
    }

    /// Eigenvalues and eigenvectors.
    pub fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// What was asked for.
    pub fn params(&self) -> &RpfCluster {
        &self.params
    }

    /// The affinity that was cut, with all its numbers.
    pub fn affinity(&self) -> &AffinityParams {
        &self.setting.affinity
    }

    /// n_s, as used.
    pub fn min_node(&self) -> usize {
        self.setting.min_node
    }

    /// How labels were made.
    pub fn method(&self) -> Method {
        self.setting.method
    }

    /// How long each step took.
    pub fn seconds(&self) -> Seconds {
        self.seconds
    }

    /// What was chosen without labels, and why. Empty for a clustering read from a file.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// How firmly the forest puts each training row into its cluster: the share of its leaf mates, over all trees,
    /// that are in the same cluster.
    pub fn confidence(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        crate::select::confidence(&self.leaves, &self.labels, self.params.k, observer)
    }

    /// Threads that predict and transform use from now on; `None` is one per core. A model file may come from a
    /// machine with another number of them.
    pub fn set_threads(&mut self, threads: Option<usize>) {
        self.params.threads = threads;
    }

    /// The cluster of each unseen row; a row that no tree tells from a training row gets that row's label.
    pub fn predict<'a, R: Real>(&self, points: impl Into<Observed<'a, R>>) -> Result<Vec<u32>> {
        let Observed { points, observer } = points.into();
        self.in_parts(&points, |part, labels| {
            let codes = self.codes(part, observer)?;
            if let AffinityParams::TopK { top, power } = self.setting.affinity
                && self.regrouped
            {
                labels.append(&mut self.vote(&codes, top, power, observer)?);
                return Ok(());
            }
            let rows = self.extend(&codes, observer)?;
            let prints = fingerprints(&codes, observer)?;
            labels.par_extend(prints.par_iter().zip(rows.par_chunks(self.embedding.k())).map(
                |(print, row)| match self.twin(*print) {
                    Some(row) => self.labels[row as usize],
                    None => self.nearest(row),
                },
            ));
            Ok(())
        })
    }

    /// The spectral embedding of unseen rows, m x k; training rows get their own back.
    pub fn transform<'a, R: Real>(&self, points: impl Into<Observed<'a, R>>) -> Result<Vec<f64>> {
        let Observed { points, observer } = points.into();
        self.in_parts(&points, |part, all| {
            let codes = self.codes(part, observer)?;
            let mut rows = self.extend(&codes, observer)?;
            let width = self.embedding.k();
            let prints = fingerprints(&codes, observer)?;
            prints.par_iter().zip(rows.par_chunks_mut(width)).for_each(|(print, out)| {
                if let Some(row) = self.twin(*print) {
                    out.copy_from_slice(self.embedding.row(row as usize));
                }
            });
            all.append(&mut rows);
            Ok(())
        })
    }

    /// Works through many rows part by part: leaf numbers, 4 bytes a row and tree, are held for one part only.
    fn in_parts<R: Real, T: Send>(
        &self,
        points: &Points<R>,
        work: impl Fn(&Points<R>, &mut Vec<T>) -> Result<()> + Sync,
    ) -> Result<Vec<T>> {
        in_pool(self.params.threads, || {
            let part = PART.max(self.leaves.n());
            let mut all = Vec::new();
            for first in (0..points.n()).step_by(part) {
                work(&points.part(first..(first + part).min(points.n())), &mut all)?;
            }
            Ok(all)
        })?
    }

    fn codes<R: Real>(&self, points: &Points<R>, observer: &dyn Observer) -> Result<LeafIds> {
        Ok(self.leaves.adapt(self.forest.route(points.observed(observer))?))
    }

    /// The training row that no tree tells from a row with this fingerprint.
    fn twin(&self, print: u64) -> Option<u32> {
        self.known.binary_search_by_key(&print, |k| k.0).ok().map(|at| self.known[at].1)
    }

    fn extend(&self, codes: &LeafIds, observer: &dyn Observer) -> Result<Vec<f64>> {
        let (n, width) = (self.leaves.n(), self.embedding.k());
        let trees = self.leaves.trees();
        let mut out = vec![0.0; codes.n() * width];
        let known = (self.loadings.as_slice(), self.totals.as_slice(), n);
        match self.setting.affinity {
            AffinityParams::Linear => return Ok(extend::linear(&self.leaves, codes, &self.loadings, width)),
            AffinityParams::TopK { top, power } => {
                let table = powers(power, trees)?;
                let found = self.leaves.top_k_of(codes, top, observer)?;
                out.par_chunks_mut(width).enumerate().for_each(|(row, out)| {
                    let (js, counts) = found.row(row);
                    let near = js.iter().zip(counts).map(|(&j, &c)| (j, table[usize::from(c)]));
                    extend::sparse(near, 0.0, known, out);
                });
            }
            AffinityParams::Paper { beta1, beta2, .. } => {
                let (constant, table) = exponential(beta2, trees)?;
                let found = self.leaves.sparse_of(codes, beta1, observer)?;
                out.par_chunks_mut(width).enumerate().for_each(|(row, out)| {
                    let (js, counts) = found.row(row);
                    let near = js.iter().zip(counts).map(|(&j, &c)| (j, table[usize::from(c)]));
                    extend::sparse(near, constant, known, out);
                });
            }
        }
        Ok(out)
    }

    /// The cluster that most of a row's weight goes to (ties, and a row without any: the lowest).
    fn vote(&self, codes: &LeafIds, top: usize, power: f64, observer: &dyn Observer) -> Result<Vec<u32>> {
        let table = powers(power, self.leaves.trees())?;
        let found = self.leaves.top_k_of(codes, top, observer)?;
        let rows = fingerprints(codes, observer)?.into_par_iter().enumerate();
        Ok(rows
            .map(|(row, print)| {
                if let Some(twin) = self.twin(print) {
                    return self.labels[twin as usize];
                }
                let mut votes = vec![0.0; self.k()];
                let (js, counts) = found.row(row);
                for (&j, &count) in js.iter().zip(counts) {
                    votes[self.labels[j as usize] as usize] += table[usize::from(count)];
                }
                (0..).zip(&votes).fold((0, 0.0), |best, (c, &v)| if v > best.1 { (c, v) } else { best }).0
            })
            .collect())
    }

    fn nearest(&self, row: &[f64]) -> u32 {
        let mut unit = row.to_vec();
        to_unit(&mut unit);
        let mut best = (f64::INFINITY, 0);
        for (label, center) in (0..).zip(self.centers.chunks_exact(unit.len())) {
            let distance = center.iter().zip(&unit).fold(0.0, |s, (a, b)| s + (a - b) * (a - b));
            if distance < best.0 {
                best = (distance, label);
            }
        }
        best.1
    }
}

fn to_unit(row: &mut [f64]) {
    let length = row.iter().fold(0.0, |s, v| s + v * v).sqrt();
    if length > 0.0 {
        row.iter_mut().for_each(|v| *v /= length);
    }
}
