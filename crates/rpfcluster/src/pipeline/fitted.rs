//! A finished clustering: labels, eigenvectors, parameters and evidence.

use std::sync::{Arc, OnceLock};

use super::fit::{Labelling, Seconds};
use super::predict::PredictTables;
use super::{Evidence, confidence};
use crate::eigen::{Embedding, Method};
use crate::error::Result;
use crate::forest::Forest;
use crate::kernel::LeafMatrix;
use crate::metrics::cluster_sizes;
use crate::observe::Observer;
use crate::params::{AffinityParams, RpfCluster, Setting};

/// A clustering of the rows it was fitted on. [`Fitted::predict`] labels other rows.
#[derive(Debug)]
pub struct Fitted {
    pub(crate) params: RpfCluster,
    /// Shared with other fits on the same rows.
    pub(crate) forest: Arc<Forest>,
    pub(crate) setting: Setting,
    pub(crate) leaves: Arc<LeafMatrix>,
    pub(crate) labels: Vec<u32>,
    pub(crate) embedding: Embedding,
    /// Whether the labels come from over-segmentation and merging; the embedding alone then does not give them.
    pub(crate) refined: bool,
    seconds: Seconds,
    evidence: Evidence,
    /// Computed by the first call of predict or transform.
    pub(super) tables: OnceLock<PredictTables>,
}

impl Fitted {
    pub(crate) fn new(
        params: RpfCluster,
        forest: Arc<Forest>,
        setting: Setting,
        leaves: Arc<LeafMatrix>,
        labelling: Labelling,
        seconds: Seconds,
        evidence: Evidence,
    ) -> Self {
        let Labelling { labels, embedding, refined } = labelling;
        let tables = OnceLock::new();
        Fitted { params, forest, setting, leaves, labels, embedding, refined, seconds, evidence, tables }
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

    /// The forest.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// The leaves the kernel was computed from.
    pub fn leaves(&self) -> &Arc<LeafMatrix> {
        &self.leaves
    }

    /// Eigenvalues and eigenvectors.
    pub fn embedding(&self) -> &Embedding {
        &self.embedding
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

    /// How eigenvectors became labels.
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

    /// The confidence of each training row, from 0 to 1: of the rows it shares a leaf with, over all trees, the
    /// fraction that is in its cluster.
    pub fn confidence(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        confidence::confidence(&self.leaves, &self.labels, self.params.k, observer)
    }

    /// Sets the number of threads of predict and transform; `None` is one per core. A model file may come from a
    /// machine with another number of cores.
    pub fn set_threads(&mut self, threads: Option<usize>) {
        self.params.threads = threads;
    }
}
