//! A finished clustering: labels, eigenvectors, parameters and evidence.

use std::sync::{Arc, OnceLock};

use super::extent::Extent;
use super::fit::{Labelling, Seconds};
use super::predict::{ExtensionTables, PredictTables};
use super::{Assessment, Evidence, Verdict, confidence};
use crate::affinity::Affinity;
use crate::distinct::DistinctRows;
use crate::eigen::{EmbedOptions, Embedding, Method, SpectralParams, embed};
use crate::error::Result;
use crate::forest::Forest;
use crate::kernel::LeafMatrix;
use crate::metrics::cluster_sizes;
use crate::observe::Observer;
use crate::params::{AffinityParams, RpfCluster, Setting};
use crate::pca::Pca;
use crate::select::KCandidate;

/// Rows from which a cluster of fewer than one in [`HINTED_SHARE`] of them is worth a hint.
const HINTED_ROWS: usize = 400;
const HINTED_SHARE: usize = 200;

/// The leaves of a fit: of all rows, and of the distinct rows where some occur several times.
#[derive(Debug)]
pub(crate) struct FittedRows {
    /// The leaves of the rows that the forest was grown on.
    pub grown: Arc<LeafMatrix>,
    /// How often each of them occurs; `None` for once.
    pub distinct: Option<Arc<DistinctRows>>,
    /// The leaves of all rows, computed on first use.
    all: OnceLock<Arc<LeafMatrix>>,
}

impl FittedRows {
    pub fn new(grown: Arc<LeafMatrix>, distinct: Option<Arc<DistinctRows>>) -> Self {
        FittedRows { grown, distinct, all: OnceLock::new() }
    }

    /// The leaves of all rows.
    pub fn all(&self) -> &Arc<LeafMatrix> {
        match &self.distinct {
            Some(distinct) => self.all.get_or_init(|| Arc::new(self.grown.expanded(&distinct.group_of))),
            None => &self.grown,
        }
    }

    /// The leaves that an affinity is built from: `top-k` lists the neighbours of distinct rows, each with its copies,
    /// since copies would fill the lists. The others take all rows.
    pub fn clustered(&self, affinity: &AffinityParams) -> (&Arc<LeafMatrix>, Option<&DistinctRows>) {
        match (affinity, &self.distinct) {
            (AffinityParams::TopK { .. }, Some(distinct)) => (&self.grown, Some(distinct)),
            _ => (self.all(), None),
        }
    }
}

/// The principal components that a forest was grown on.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PrincipalComponents<'a> {
    /// The mean of each column.
    pub mean: &'a [f64],
    /// The components as columns of a d x C matrix, row-major, of unit length.
    pub axes: &'a [f64],
    /// The variance along each component, descending.
    pub variances: &'a [f64],
    /// The sum of the variances of all columns.
    pub total_variance: f64,
}

impl PrincipalComponents<'_> {
    /// The share of the variance of all columns that the components hold, from 0 to 1.
    pub fn explained(&self) -> f64 {
        match self.total_variance > 0.0 {
            true => (self.variances.iter().sum::<f64>() / self.total_variance).min(1.0),
            false => 0.0,
        }
    }

    /// The columns that a component weighs most, the largest first, with their coefficients.
    pub fn leading_columns(&self, component: usize, most: usize) -> Vec<(usize, f64)> {
        let axis = self.axes.chunks_exact(self.variances.len()).map(|row| row[component]);
        let mut columns: Vec<(usize, f64)> = axis.enumerate().collect();
        columns.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        columns.truncate(most);
        columns
    }
}

/// A clustering of the rows it was fitted on. [`Fitted::predict`] labels other rows.
#[derive(Debug)]
pub struct Fitted {
    pub(crate) params: RpfCluster,
    /// Shared with other fits on the same rows.
    pub(crate) forest: Arc<Forest>,
    pub(crate) setting: Setting,
    pub(crate) rows: FittedRows,
    pub(crate) labels: Vec<u32>,
    pub(crate) embedding: Embedding,
    /// Whether the labels come from over-segmentation and merging; the embedding alone then does not give them.
    pub(crate) refined: bool,
    /// The resolution of `leiden`.
    pub(crate) resolution: Option<f64>,
    /// The eigenvectors of a clustering that was made without them, computed on first use.
    on_demand: OnceLock<Embedding>,
    seconds: Seconds,
    evidence: Evidence,
    assessment: Option<Assessment>,
    /// The principal components that the forest was grown on; `None` where it was grown on the columns themselves.
    pub(crate) pca: Option<Arc<Pca>>,
    /// The ranges of the training columns; a model of an earlier version has none.
    pub(crate) extent: Option<Extent>,
    /// The training rows that lie far outside the others.
    pub(super) far: Vec<u32>,
    /// Computed by the first call of predict or transform.
    pub(super) tables: OnceLock<PredictTables>,
    /// Computed by the first call that extends the eigenvectors.
    pub(super) extension: OnceLock<ExtensionTables>,
}

impl Fitted {
    pub(crate) fn new(
        params: RpfCluster,
        forest: Arc<Forest>,
        setting: Setting,
        rows: FittedRows,
        labelling: Labelling,
        seconds: Seconds,
        evidence: Evidence,
    ) -> Self {
        let Labelling { labels, embedding, refined, resolution } = labelling;
        let (tables, extension, on_demand) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (assessment, pca, extent) = (None, None, None);
        Fitted {
            params,
            forest,
            setting,
            rows,
            labels,
            embedding,
            refined,
            resolution: resolution.map(|found| found.resolution),
            on_demand,
            seconds,
            evidence,
            assessment,
            pca,
            extent,
            far: Vec::new(),
            tables,
            extension,
        }
    }

    /// The cluster of each training row, numbered by first appearance.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.params.k
    }

    /// Number of rows of each cluster.
    pub fn sizes(&self) -> Vec<usize> {
        cluster_sizes(&self.labels, self.k())
    }

    /// Number of training rows.
    pub fn n(&self) -> usize {
        self.labels.len()
    }

    /// Number of columns of the table.
    pub fn d(&self) -> usize {
        self.pca.as_ref().map_or(self.forest.d(), |pca| pca.d())
    }

    /// The principal components that the forest was grown on; `None` where it was grown on the columns themselves.
    pub fn components(&self) -> Option<PrincipalComponents<'_>> {
        self.pca.as_deref().map(|pca| PrincipalComponents {
            mean: &pca.mean,
            axes: &pca.axes,
            variances: &pca.variances,
            total_variance: pca.total,
        })
    }

    /// Number of distinct rows, which the forest was grown on; `None` where it was grown on all rows.
    pub fn distinct(&self) -> Option<usize> {
        self.rows.distinct.as_ref().map(|distinct| distinct.len())
    }

    /// The forest. Where rows occur several times, it was grown on the distinct ones.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// The leaves of all rows at the `min_node` of the fit.
    pub fn leaves(&self) -> &Arc<LeafMatrix> {
        self.rows.all()
    }

    /// The embedding of the training rows with `k` columns, at most one for each distinct row. The affinity is built
    /// again: a fit does not keep it.
    pub fn embed(&self, k: usize, observer: &dyn Observer) -> Result<Embedding> {
        let (leaves, distinct) = self.rows.clustered(&self.setting.affinity);
        let mut affinity = self.setting.affinity.build(leaves, observer)?;
        let params =
            SpectralParams { k: k.min(leaves.n()), ..self.params.spectral_params(self.setting.method) };
        let (Affinity::Graph(graph), Some(rows)) = (&affinity, distinct) else {
            let start = Some(&self.embedding).filter(|known| known.k() > 0);
            let options = EmbedOptions { start, ..EmbedOptions::default() };
            return embed(&affinity, &params, &options, observer);
        };
        affinity = graph.weighted(&rows.copies).into();
        let found = embed(&affinity, &params, &EmbedOptions::default(), observer)?;
        Ok(found.expanded(&rows.group_of, &rows.copies))
    }

    /// The distinct row that each training row is a copy of; `None` where the forest was grown on all rows.
    pub fn distinct_rows(&self) -> Option<&[u32]> {
        self.rows.distinct.as_ref().map(|distinct| &distinct.group_of[..])
    }

    /// The affinity that was clustered. That of `top-k` has one row for each distinct row, and does not count copies.
    pub fn build_affinity(&self, observer: &dyn Observer) -> Result<Affinity<'static>> {
        self.setting.affinity.build(self.rows.clustered(&self.setting.affinity).0, observer)
    }

    /// The eigenvalues and eigenvectors that the labels were made from; no columns for `leiden`, which uses none.
    pub fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// The eigenvalues and eigenvectors for K clusters. Those of a clustering that was made without them are computed by
    /// the first call.
    pub fn spectral_embedding(&self, observer: &dyn Observer) -> Result<&Embedding> {
        if self.embedding.k() > 0 {
            return Ok(&self.embedding);
        }
        if let Some(known) = self.on_demand.get() {
            return Ok(known);
        }
        let found = self.embed(self.k(), observer)?;
        Ok(self.on_demand.get_or_init(|| found))
    }

    /// The resolution of `leiden`, given or found for K; 0 where the clusters are connected components of the graph.
    pub fn resolution(&self) -> Option<f64> {
        self.resolution
    }

    /// The parameters of the fit; `k` and `trees` are the values that were used.
    pub fn params(&self) -> &RpfCluster {
        &self.params
    }

    /// The setting that was used, with every number that was left open.
    pub fn setting(&self) -> Setting {
        self.setting
    }

    /// The affinity that was used.
    pub fn affinity(&self) -> &AffinityParams {
        &self.setting.affinity
    }

    /// n_s, as used.
    pub fn min_node(&self) -> usize {
        self.setting.min_node
    }

    /// How the affinity became labels.
    pub fn method(&self) -> Method {
        self.setting.method
    }

    /// Seconds spent in each step.
    pub fn seconds(&self) -> Seconds {
        self.seconds
    }

    /// What was selected without labels, and why. Empty for a clustering read from a file.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// How far to believe the clustering; `None` where it was not assessed.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.assessment.as_ref().map(|found| &found.verdict)
    }

    /// The evidence behind the verdict; `None` for one cluster and for a clustering read from a file.
    pub fn verdict_evidence(&self) -> Option<KCandidate> {
        self.assessment.as_ref().and_then(|found| found.evidence)
    }

    /// What a user should know about the fit, one sentence each: eigenvectors that did not converge, rows that no
    /// landmark covers, columns that decide nearly everything or look like identifiers, rows far outside the others (both
    /// not for a clustering read from a file), and a cluster of few rows. `names` are the names of the columns, or empty;
    /// `row_number` gives the number that the reader knows a row by, as from 1 in a file.
    pub fn hints(&self, names: &[String], row_number: impl Fn(usize) -> usize) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.embedding.converged {
            sentences.push("The eigenvectors did not converge, so the labels may be wrong.".to_string());
        }
        if self.embedding.uncovered > 0.0 {
            let percent = 100.0 * self.embedding.uncovered;
            sentences.push(format!(
                "{percent:.1} % of the rows are similar to no landmark and have arbitrary labels."
            ));
        }
        let columns = self.assessment.iter().flat_map(|found| &found.columns);
        sentences.extend(columns.map(|finding| finding.sentence(names)));
        if let [first, ..] = self.far[..] {
            let (rows, lie) = if self.far.len() == 1 { ("row", "lies") } else { ("rows", "lie") };
            sentences.push(format!(
                "{} {rows} {lie} far outside the other rows (the first is row {}); the cluster is a guess there.",
                self.far.len(),
                row_number(first as usize)
            ));
        }
        let (n, smallest) = (self.n(), self.sizes().into_iter().min().unwrap_or(0));
        if self.k() > 1 && n >= HINTED_ROWS && smallest * HINTED_SHARE < n {
            sentences.push(format!(
                "The smallest cluster has {smallest} of {n} rows: these may be outliers, or the number of clusters may be \
                 too large."
            ));
        }
        sentences
    }

    pub(crate) fn set_assessment(&mut self, found: Assessment, seconds: f64) {
        self.assessment = Some(found);
        self.seconds.assess = seconds;
    }

    /// The labels of the rows that the forest was grown on.
    pub(crate) fn grown_labels(&self) -> Vec<u32> {
        match &self.rows.distinct {
            Some(rows) => rows.first.iter().map(|row| self.labels[*row as usize]).collect(),
            None => self.labels.clone(),
        }
    }

    /// The confidence of each training row, from 0 to 1: of the rows it shares a leaf with, over all trees, the
    /// fraction that is in its cluster, shrunk towards chance (1 / K) by the fourth root of the score of the verdict. A
    /// row deep inside a cluster that may not be there is not certain.
    pub fn confidence(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        let k = self.params.k;
        let mut each = confidence::confidence(self.leaves(), &self.labels, k, observer)?;
        self.shrink_to_chance(&mut each);
        Ok(each)
    }

    /// Shrinks confidences towards 1 / K by the fourth root of the score of the verdict.
    pub(crate) fn shrink_to_chance(&self, each: &mut [f64]) {
        let k = self.params.k;
        if let Some(verdict) = self.verdict().filter(|_| k > 1) {
            // Of the powers 1 to 1/4, this one has the smallest squared error on the design tables.
            let (chance, believed) = (1.0 / k as f64, verdict.score.sqrt().sqrt());
            each.iter_mut().for_each(|c| *c = chance + (*c - chance) * believed);
        }
    }

    /// Adds seconds that were spent outside the fit of the distinct rows.
    pub(crate) fn add_seconds(&mut self, more: Seconds) {
        self.seconds.grow += more.grow;
    }

    /// Sets the number of threads of predict and transform; `None` is one per core. A model file may come from a
    /// machine with another number of cores.
    pub fn set_threads(&mut self, threads: Option<usize>) {
        self.params.threads = threads;
    }
}
