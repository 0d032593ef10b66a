//! Labels and eigenvectors of unseen rows by the Nyström extension (Bengio et al. 2004).
//!
//! `u(x) = Σ_j a(x, j) u_j / (λ sqrt(d(x) d_j))`, where a(x, j) is the weight that the affinity of the fit gives to a
//! pair; `top-k` sums over the k nearest training rows of x. The label is that of the nearest cluster centre among the
//! unit rows. A row whose leaves equal those of a training row in every tree takes that row's label and embedding, so
//! training rows get their own back. Where the labels do not come from the eigenvectors (`leiden`, or refined ones),
//! they come from a vote of the row's neighbours instead, with the weights of the affinity.
//!
//! `linear` costs one pass over the training rows per batch, O(n T K), and T table rows of K + 1 numbers per row; the
//! other affinities cost the counting of co-leaf rows.

use rayon::prelude::*;

use super::confidence::confidence_of;
use super::fit::rows_by_signature;
use super::fitted::Fitted;
use crate::affinity::{exponential, powers};
use crate::eigen::{Embedding, Method};
use crate::error::Result;
use crate::forest::LeafIds;
use crate::kernel::LeafMatrix;
use crate::label::to_unit;
use crate::observe::{Observed, Observer};
use crate::params::{AffinityParams, Metric};
use crate::pca::Pca;
use crate::points::{Points, Precision, Real, scale_to_unit_length};
use crate::thread_pool::in_pool;

/// Rows predicted at a time, or as many as the training rows where these are more: their leaf ids take 4 bytes per row
/// and tree.
const BATCH: usize = 1 << 18;
/// Smallest eigenvalue that is extended; below it the quotient is rounding error.
const MIN_EIGENVALUE: f64 = 1e-12;
/// Rows of loadings summed at a time. Fixed, so that the sums do not depend on the number of threads.
const SUM_CHUNK: usize = 4096;

/// The training rows by their leaves.
#[derive(Debug)]
pub(crate) struct PredictTables {
    /// Leaf signatures of the training rows, ascending, each with its first row.
    signatures: Vec<(u64, u32)>,
}

/// What the extension of the eigenvectors looks up.
#[derive(Debug)]
pub(crate) struct ExtensionTables {
    /// Mean unit row of each cluster, k x k.
    centers: Vec<f64>,
    /// `u_j / (λ sqrt(d_j))`, n x k.
    loadings: Vec<f64>,
    /// Column sums of the loadings: the share of a constant affinity to all rows.
    totals: Vec<f64>,
}

impl PredictTables {
    fn new(fitted: &Fitted, observer: &dyn Observer) -> Result<Self> {
        let mut signatures = rows_by_signature(fitted.leaves(), observer)?;
        signatures.dedup_by_key(|(signature, _)| *signature);
        Ok(PredictTables { signatures })
    }

    /// The training row with this leaf signature.
    fn equal_row(&self, signature: u64) -> Option<u32> {
        let at = self.signatures.binary_search_by_key(&signature, |known| known.0).ok()?;
        Some(self.signatures[at].1)
    }
}

impl ExtensionTables {
    fn new(fitted: &Fitted, embedding: &Embedding) -> Self {
        let (k, width) = (fitted.params.k, embedding.k());
        let loadings = loadings(embedding);
        let totals = column_sums(&loadings, width);
        let mut centers = vec![0.0; k * width];
        let mut sizes = vec![0.0; k];
        let mut unit = vec![0.0; width];
        for (i, &label) in fitted.labels.iter().enumerate() {
            unit.copy_from_slice(embedding.row(i));
            to_unit(&mut unit);
            sizes[label as usize] += 1.0;
            let center = &mut centers[label as usize * width..][..width];
            center.iter_mut().zip(&unit).for_each(|(c, u)| *c += u);
        }
        for (center, size) in centers.chunks_exact_mut(width).zip(&sizes) {
            center.iter_mut().for_each(|c| *c /= size);
        }
        ExtensionTables { centers, loadings, totals }
    }

    /// The cluster with the nearest centre.
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

    /// Extends the eigenvectors to one row, from some training rows and the numbers of leaves it shares with them.
    /// `training` gives the row and the number of its copies; `table` has the weight of each number of leaves, which
    /// is on top of `constant` to all training rows.
    fn extend_row(
        &self,
        (rows, counts): (&[u32], &[u16]),
        training: &impl Fn(usize) -> (usize, f64),
        table: &[f64],
        constant: f64,
        n: usize,
        out: &mut [f64],
    ) {
        let k = out.len();
        let mut degree = constant * n as f64;
        for (o, total) in out.iter_mut().zip(&self.totals) {
            *o = constant * total;
        }
        for (&j, &count) in rows.iter().zip(counts) {
            let (row, copies) = training(j as usize);
            let weight = table[usize::from(count)] * copies;
            degree += weight;
            for (o, l) in out.iter_mut().zip(&self.loadings[row * k..][..k]) {
                *o += weight * l;
            }
        }
        if degree > 0.0 {
            let scale = 1.0 / degree.sqrt();
            out.iter_mut().for_each(|v| *v *= scale);
        }
    }
}

impl Fitted {
    /// The cluster of each row. `points` is `&points`, or `points.observed(&observer)`.
    pub fn predict<'a, R: Real>(&self, points: impl Into<Observed<'a, R>>) -> Result<Vec<u32>> {
        let Observed { points, observer } = points.into();
        self.in_batches(&points, observer, |batch, tables, labels| {
            let ids = self.leaf_ids(batch, observer)?;
            if self.refined || self.setting.method == Method::Leiden {
                labels.append(&mut self.vote(&ids, tables, observer)?);
                return Ok(());
            }
            let extension = self.extension(observer)?;
            let rows = self.extend(&ids, extension, observer)?;
            let signatures = ids.signatures(observer)?;
            labels.par_extend(signatures.par_iter().zip(rows.par_chunks(self.embedding.k())).map(
                |(signature, row)| match tables.equal_row(*signature) {
                    Some(row) => self.labels[row as usize],
                    None => extension.nearest(row),
                },
            ));
            Ok(())
        })
    }

    /// The cluster and the confidence of each row, from 0 to 1: of the training rows it shares a leaf with, over all trees,
    /// the fraction that is in its cluster, shrunk as in [`Fitted::confidence`]. A row with the leaves of a training row
    /// takes that row's confidence; a row far outside the training rows has at most 1 / K, since its cluster is a guess.
    pub fn predict_with_confidence<'a, R: Real>(
        &self,
        points: impl Into<Observed<'a, R>>,
    ) -> Result<(Vec<u32>, Vec<f64>)> {
        let Observed { points, observer } = points.into();
        let labels = self.predict(points.observed(observer))?;
        let known = self.confidence(observer)?;
        let mut confidence = self.in_batches(&points, observer, |batch, tables, all: &mut Vec<f64>| {
            let ids = self.leaf_ids(batch, observer)?;
            let own = &labels[all.len()..all.len() + batch.n()];
            let mut each = confidence_of(self.leaves(), &self.labels, self.params.k, &ids, own, observer)?;
            self.shrink_to_chance(&mut each);
            for (signature, confidence) in ids.signatures(observer)?.into_iter().zip(&mut each) {
                if let Some(row) = tables.equal_row(signature) {
                    *confidence = known[row as usize];
                }
            }
            all.append(&mut each);
            Ok(())
        })?;
        let chance = 1.0 / self.params.k as f64;
        for row in self.far_rows(&points)? {
            confidence[row] = confidence[row].min(chance);
        }
        Ok((labels, confidence))
    }

    /// The spectral embedding of each row, m x k; training rows get their own back. After `leiden`, the first call
    /// computes the eigenvectors.
    pub fn transform<'a, R: Real>(&self, points: impl Into<Observed<'a, R>>) -> Result<Vec<f64>> {
        let Observed { points, observer } = points.into();
        self.in_batches(&points, observer, |batch, tables, all| {
            let ids = self.leaf_ids(batch, observer)?;
            let embedding = self.spectral_embedding(observer)?;
            let mut rows = self.extend(&ids, self.extension(observer)?, observer)?;
            let signatures = ids.signatures(observer)?;
            signatures.par_iter().zip(rows.par_chunks_mut(embedding.k())).for_each(|(signature, out)| {
                if let Some(row) = tables.equal_row(*signature) {
                    out.copy_from_slice(embedding.row(row as usize));
                }
            });
            all.append(&mut rows);
            Ok(())
        })
    }

    /// The tables of the extension, computed by the first call.
    fn extension(&self, observer: &dyn Observer) -> Result<&ExtensionTables> {
        if let Some(tables) = self.extension.get() {
            return Ok(tables);
        }
        let embedding = self.spectral_embedding(observer)?;
        Ok(self.extension.get_or_init(|| ExtensionTables::new(self, embedding)))
    }

    /// Works through the rows in batches.
    fn in_batches<R: Real, T: Send>(
        &self,
        points: &Points<R>,
        observer: &dyn Observer,
        work: impl Fn(&Points<R>, &PredictTables, &mut Vec<T>) -> Result<()> + Sync,
    ) -> Result<Vec<T>> {
        in_pool(self.params.threads, || {
            let tables = match self.tables.get() {
                Some(tables) => tables,
                None => {
                    let fresh = PredictTables::new(self, observer)?;
                    self.tables.get_or_init(|| fresh)
                }
            };
            let batch = BATCH.max(self.n());
            let mut all = Vec::new();
            for first in (0..points.n()).step_by(batch) {
                work(&points.part(first..(first + batch).min(points.n())), tables, &mut all)?;
            }
            Ok(all)
        })?
    }

    fn leaf_ids<R: Real>(&self, points: &Points<R>, observer: &dyn Observer) -> Result<LeafIds> {
        let ids = match (self.pca.as_deref(), self.params.metric) {
            (None, Metric::Auto | Metric::Euclidean) => self.forest.route(points.observed(observer))?,
            (pca, _) => self.route_prepared(pca, points, observer)?,
        };
        Ok(self.rows.grown.adapt(ids))
    }

    /// Routes the principal components of the rows, or the rows scaled to unit length, computed in the precision of the
    /// model.
    fn route_prepared<R: Real>(
        &self,
        pca: Option<&Pca>,
        points: &Points<R>,
        observer: &dyn Observer,
    ) -> Result<LeafIds> {
        fn route<R: Real>(
            fitted: &Fitted,
            pca: Option<&Pca>,
            points: &Points<R>,
            observer: &dyn Observer,
        ) -> Result<LeafIds> {
            let Some(pca) = pca else {
                return points.with_unit_rows(|rows| fitted.forest.route(rows.observed(observer)))?;
            };
            let mut scores = pca.project(points, observer)?;
            if fitted.params.metric == Metric::Cosine {
                scores.chunks_exact_mut(pca.count()).for_each(scale_to_unit_length);
            }
            let scores = Points::new(&scores, points.n(), pca.count())?;
            fitted.forest.route(scores.observed(observer))
        }
        match (self.forest.precision(), R::PRECISION) {
            (Precision::F32, Precision::F64) => {
                points.in_width::<f32, _>(|points| route(self, pca, points, observer))?
            }
            (Precision::F64, Precision::F32) => {
                points.in_width::<f64, _>(|points| route(self, pca, points, observer))?
            }
            _ => route(self, pca, points, observer),
        }
    }

    /// For each row that the forest was grown on, its first training row and the number of its copies.
    fn training_rows(&self) -> impl Fn(usize) -> (usize, f64) + Sync + '_ {
        let distinct = self.rows.distinct.as_deref();
        move |grown| match distinct {
            Some(rows) => (rows.first[grown] as usize, f64::from(rows.copies[grown])),
            None => (grown, 1.0),
        }
    }

    /// The eigenvectors of rows given by their leaf ids.
    fn extend(&self, ids: &LeafIds, tables: &ExtensionTables, observer: &dyn Observer) -> Result<Vec<f64>> {
        let (n, width) = (self.n(), self.spectral_embedding(observer)?.k());
        let trees = self.rows.grown.trees();
        let mut out = vec![0.0; ids.n() * width];
        let rows = out.par_chunks_mut(width).enumerate();
        match self.setting.affinity {
            AffinityParams::Linear => {
                return extend_linear(self.leaves(), ids, &tables.loadings, width, observer);
            }
            AffinityParams::TopK { top, power } => {
                let table = powers(power, trees)?;
                let found = self.rows.grown.top_k_of(ids, top, observer)?;
                let training = self.training_rows();
                rows.for_each(|(row, out)| {
                    tables.extend_row(found.row(row), &training, &table, 0.0, n, out);
                });
            }
            AffinityParams::Paper { beta1, beta2, .. } => {
                let (constant, table) = exponential(beta2, trees)?;
                let found = self.leaves().sparse_of(ids, beta1, observer)?;
                let each = |row| (row, 1.0);
                rows.for_each(|(row, out)| {
                    tables.extend_row(found.row(row), &each, &table, constant, n, out);
                });
            }
        }
        Ok(out)
    }

    /// The cluster with the largest total weight among each row's neighbours; ties, and rows without neighbours, go to
    /// the lowest. Rows with the leaves of a training row take its label.
    fn vote(&self, ids: &LeafIds, tables: &PredictTables, observer: &dyn Observer) -> Result<Vec<u32>> {
        let signatures = ids.signatures(observer)?;
        let trees = self.rows.grown.trees();
        // The lists of `top-k` hold distinct rows, the others all rows.
        match self.setting.affinity {
            AffinityParams::TopK { top, power } => {
                let (table, training) = (powers(power, trees)?, self.training_rows());
                let found = self.rows.grown.top_k_of(ids, top, observer)?;
                Ok(self.elected(&signatures, tables, &table, |row| found.row(row), &training))
            }
            AffinityParams::Paper { beta1, beta2, .. } => {
                let (_, table) = exponential(beta2, trees)?;
                let found = self.leaves().sparse_of(ids, beta1, observer)?;
                Ok(self.elected(&signatures, tables, &table, |row| found.row(row), &|row| (row, 1.0)))
            }
            AffinityParams::Linear => {
                let table = powers(1.0, trees)?;
                let found = self.leaves().sparse_of(ids, 0.0, observer)?;
                Ok(self.elected(&signatures, tables, &table, |row| found.row(row), &|row| (row, 1.0)))
            }
        }
    }

    /// The cluster that the neighbours of each row elect. `table` has the weight of each number of shared leaves.
    fn elected<'a>(
        &self,
        signatures: &[u64],
        tables: &PredictTables,
        table: &[f64],
        neighbors: impl Fn(usize) -> (&'a [u32], &'a [u16]) + Sync,
        training: &(impl Fn(usize) -> (usize, f64) + Sync),
    ) -> Vec<u32> {
        let elect = |(row, signature): (usize, &u64)| {
            if let Some(equal) = tables.equal_row(*signature) {
                return self.labels[equal as usize];
            }
            let mut votes = vec![0.0; self.k()];
            let (js, counts) = neighbors(row);
            for (&j, &count) in js.iter().zip(counts) {
                let (row, copies) = training(j as usize);
                votes[self.labels[row] as usize] += table[usize::from(count)] * copies;
            }
            (0..).zip(&votes).fold((0, 0.0), |best, (c, &v)| if v > best.1 { (c, v) } else { best }).0
        };
        signatures.par_iter().enumerate().map(elect).collect()
    }
}

/// `u_j / (λ sqrt(d_j))`, n x k.
fn loadings(embedding: &Embedding) -> Vec<f64> {
    let k = embedding.k();
    let mut out = embedding.vectors.clone();
    out.par_chunks_mut(k).zip(&embedding.degrees).for_each(|(row, &degree)| {
        for (v, &lambda) in row.iter_mut().zip(&embedding.eigenvalues) {
            let extends = lambda.abs() > MIN_EIGENVALUE && degree > 0.0;
            *v = if extends { *v / (lambda * degree.sqrt()) } else { 0.0 };
        }
    });
    out
}

/// The extension through the factored kernel, for rows given by their leaf ids.
fn extend_linear(
    leaves: &LeafMatrix,
    ids: &LeafIds,
    loadings: &[f64],
    k: usize,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    // A column of ones beside the loadings: its product is the degree.
    let width = k + 1;
    let mut with_ones = vec![1.0; leaves.n() * width];
    with_ones.par_chunks_mut(width).zip(loadings.par_chunks(k)).for_each(|(to, from)| {
        to[..k].copy_from_slice(from);
    });
    let mut sums = vec![0.0; ids.n() * width];
    leaves.apply_to(ids, &with_ones, &mut sums, width, observer)?;
    let mut out = vec![0.0; ids.n() * k];
    out.par_chunks_mut(k).zip(sums.par_chunks(width)).for_each(|(out, sums)| {
        let scale = 1.0 / sums[k].sqrt();
        out.iter_mut().zip(sums).for_each(|(o, s)| *o = s * scale);
    });
    Ok(out)
}

/// Column sums in a fixed order.
fn column_sums(loadings: &[f64], k: usize) -> Vec<f64> {
    let partial: Vec<Vec<f64>> = loadings
        .par_chunks(SUM_CHUNK * k)
        .map(|chunk| {
            let mut sum = vec![0.0; k];
            for row in chunk.chunks_exact(k) {
                sum.iter_mut().zip(row).for_each(|(s, v)| *s += v);
            }
            sum
        })
        .collect();
    let mut total = vec![0.0; k];
    for part in partial {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(centers: &[f64], loadings: &[f64], k: usize) -> ExtensionTables {
        ExtensionTables { centers: centers.to_vec(), loadings: loadings.to_vec(), totals: vec![0.0; k] }
    }

    #[test]
    fn a_row_between_two_centres_takes_the_first() {
        let tables = tables(&[0.0, 1.0, 1.0, 0.0, 0.6, 0.8], &[], 2);
        assert_eq!(tables.nearest(&[3.0, 3.0]), 2);
        assert_eq!(tables.nearest(&[1.0, -1.0]), 1);
        let symmetric = ExtensionTables { centers: vec![0.0, 1.0, 1.0, 0.0], ..tables };
        assert_eq!(symmetric.nearest(&[5.0, 5.0]), 0);
    }

    #[test]
    fn a_row_without_similarity_has_coordinates_of_zero() {
        let tables = tables(&[], &[1.0, 2.0, 3.0, 4.0], 2);
        let mut out = [f64::NAN; 2];
        tables.extend_row((&[0, 1], &[1, 1]), &|row| (row, 1.0), &[0.0, 0.0], 0.0, 2, &mut out);
        assert_eq!(out, [0.0, 0.0]);
        tables.extend_row((&[0, 1], &[1, 1]), &|row| (row, 1.0), &[0.0, 2.0], 0.0, 2, &mut out);
        assert_eq!(out, [4.0, 6.0]);
    }

    #[test]
    fn points_without_similarity_and_vectors_of_eigenvalue_zero_have_no_loading() {
        let mut embedding = Embedding::without_vectors(3);
        (embedding.vectors, embedding.eigenvalues) = (vec![1.0, 1.0, -0.5, 6.0, 3.0, 3.0], vec![0.5, 1e-13]);
        (embedding.degrees, embedding.columns) = (vec![4.0, 4.0, 0.0], vec![vec![0, 1]]);
        assert_eq!(embedding.k(), 2);
        assert_eq!(loadings(&embedding), [1.0, 0.0, -0.5, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn column_sums_take_every_row() {
        let (n, k) = (2 * SUM_CHUNK + 7, 5);
        let loadings: Vec<f64> = (0..n * k).map(|at| (at % k) as f64).collect();
        let expected: Vec<f64> = (0..k).map(|c| (n * c) as f64).collect();
        assert_eq!(column_sums(&loadings, k), expected);
    }
}
