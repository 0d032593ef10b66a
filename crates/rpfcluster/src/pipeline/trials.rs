//! Trial fits of several settings on one forest and on its halves.
//!
//! Trials share what they can: all `top-k` settings use the longest neighbour lists, and eigenvectors start from those
//! of the previous power. What the winner needs again is kept: its leaves, its neighbour lists and its eigenvectors,
//! the latter in single precision as a start for the final solve.

use std::ops::Range;
use std::sync::Arc;

use super::fit::{Labelling, PairCounts, Seconds, spectral_labels};
use crate::distinct::DistinctRows;
use crate::eigen::{Embedding, SpectralParams};
use crate::error::Result;
use crate::forest::Forest;
use crate::kernel::LeafMatrix;
use crate::observe::{Observer, Quiet};
use crate::params::{AffinityParams, RpfCluster, Setting};

/// Residual at which eigenvectors are accurate enough to compare partitions.
const TOLERANCE: f64 = 1e-4;
/// Largest number of products of an embedding. A setting whose spectrum needs more is rarely a good one.
const MAX_ITERATIONS: usize = 400;
/// Restarts of k-means: half of the default, since partitions are only compared.
const RESTARTS: usize = 5;
/// Smallest length of the neighbour lists: the longest list of the grid serves all shorter ones.
const MIN_LIST: usize = 20;

/// Fits settings on one forest.
pub(crate) struct Trials<'a> {
    forest: &'a Forest,
    /// The rows that the forest was grown on, where the table has copies of them.
    rows: Option<&'a DistinctRows>,
    spectral: SpectralParams,
    /// Leaves and counts of all trees at the forest's own `min_node`; kept for the winner.
    whole: Option<Shared>,
    /// The same of the last other combination of trees and `min_node`.
    other: Option<Shared>,
    /// Eigenvectors of every setting that was fitted on all trees.
    starts: Vec<(Setting, Start)>,
    observer: Quiet<'a>,
}

/// What trials on the same trees and `min_node` share.
struct Shared {
    trees: Range<usize>,
    min_node: usize,
    leaves: Arc<LeafMatrix>,
    neighbors: Option<PairCounts>,
    /// `top` and eigenvectors of the last `top-k` trial.
    last: Option<(usize, Embedding)>,
}

/// Eigenvectors of a connected affinity in single precision.
struct Start {
    eigenvalues: Vec<f64>,
    vectors: Vec<f32>,
}

/// What the final fit takes over from the trials.
#[derive(Default)]
pub(crate) struct Reused {
    pub leaves: Option<Arc<LeafMatrix>>,
    pub counts: Option<PairCounts>,
    pub start: Option<Embedding>,
}

impl<'a> Trials<'a> {
    pub fn new(
        forest: &'a Forest,
        rows: Option<&'a DistinctRows>,
        params: &RpfCluster,
        observer: &'a dyn Observer,
    ) -> Self {
        let spectral = SpectralParams {
            tolerance: TOLERANCE,
            max_iterations: MAX_ITERATIONS,
            restarts: RESTARTS,
            ..params.spectral_params(params.method.unwrap_or_default())
        };
        let observer = Quiet(observer);
        Trials { forest, rows, spectral, whole: None, other: None, starts: Vec::new(), observer }
    }

    /// The labels of all rows by a setting on some of the trees.
    pub fn labels(&mut self, setting: &Setting, trees: Range<usize>) -> Result<Vec<u32>> {
        let all = trees == (0..self.forest.trees());
        let kept = all && setting.min_node == self.forest.params().min_node;
        let slot = if kept { &mut self.whole } else { &mut self.other };
        let fits = |s: &Shared| s.trees == trees && s.min_node == setting.min_node;
        let shared = match slot.take().filter(fits) {
            Some(shared) => shared,
            None => {
                let leaves = Arc::new(self.forest.leaves_of_trees(trees.clone(), setting.min_node)?);
                Shared { trees, min_node: setting.min_node, leaves, neighbors: None, last: None }
            }
        };
        let shared = slot.insert(shared);
        let found = shared.fit(setting, self.rows, &self.spectral, &self.observer)?;
        if all && found.embedding.columns.len() == 1 && found.embedding.k() > 0 {
            let start = Start {
                eigenvalues: found.embedding.eigenvalues.clone(),
                vectors: found.embedding.vectors.iter().map(|v| *v as f32).collect(),
            };
            self.starts.push((*setting, start));
        }
        if let AffinityParams::TopK { top, .. } = setting.affinity {
            shared.last = Some((top, found.embedding));
            if let Some(rows) = self.rows {
                return Ok(rows.expand(&found.labels));
            }
        }
        Ok(found.labels)
    }

    /// Hands over what the final fit of the winner needs again.
    pub fn into_reused(self, winner: &Setting) -> Reused {
        let start = self.starts.into_iter().find(|(setting, _)| setting == winner).map(|(_, start)| {
            let n = start.vectors.len() / start.eigenvalues.len();
            Embedding::start(n, start.eigenvalues, start.vectors.into_iter().map(f64::from).collect())
        });
        let whole = self.whole.filter(|shared| shared.min_node == winner.min_node);
        let is_top_k = matches!(winner.affinity, AffinityParams::TopK { .. });
        match whole {
            Some(shared) => {
                Reused { leaves: Some(shared.leaves), counts: shared.neighbors.filter(|_| is_top_k), start }
            }
            None => Reused { start, ..Reused::default() },
        }
    }
}

impl Shared {
    fn fit(
        &mut self,
        setting: &Setting,
        rows: Option<&DistinctRows>,
        spectral: &SpectralParams,
        observer: &dyn Observer,
    ) -> Result<Labelling> {
        let start;
        let mut seconds = Seconds::default();
        let affinity = match setting.affinity {
            AffinityParams::TopK { top, .. } => {
                start = self
                    .last
                    .as_ref()
                    .filter(|(last, known)| *last == top && known.k() > 0)
                    .map(|(_, embedding)| embedding);
                let longest = top.min(self.leaves.n().saturating_sub(1));
                let long_enough = |counts: &PairCounts| match counts {
                    PairCounts::Neighbors(lists) => lists.k() >= longest,
                    PairCounts::None | PairCounts::Thresholded(_) => false,
                };
                let counts = match self.neighbors.take().filter(long_enough) {
                    Some(counts) => counts,
                    None => PairCounts::Neighbors(self.leaves.top_k(top.max(MIN_LIST), observer)?),
                };
                self.neighbors.insert(counts).affinity(&self.leaves, &setting.affinity, observer)?
            }
            other => {
                let leaves = match rows {
                    Some(rows) => Arc::new(self.leaves.expanded(&rows.group_of)),
                    None => self.leaves.clone(),
                };
                let affinity = other.build(&leaves, observer)?;
                return spectral_labels(&leaves, &affinity, None, spectral, None, &mut seconds, observer);
            }
        };
        let copies = rows.map(|rows| &rows.copies[..]);
        spectral_labels(&self.leaves, &affinity, copies, spectral, start, &mut seconds, observer)
    }
}
