//! Every setting's partition, its agreement with the others, and the choice.

use std::sync::Arc;

use super::candidates::{Setting, settings};
use crate::affinity::{Affinity, SparseAffinity};
use crate::eigen::{Embedding, Method, SpectralParams};
use crate::error::{Error, Result};
use crate::forest::Forest;
use crate::kernel::{LeafMatrix, Neighbors};
use crate::metrics::{Scores, cluster_sizes};
use crate::observe::{Observer, Quiet, Stage, check};
use crate::pipeline::fit::{Pairs, Seconds, cut, pairs};
use crate::pipeline::{AffinityParams, RpfCluster};

/// Residual at which a trial's eigenvectors are good enough to compare partitions.
const TRIAL_TOLERANCE: f64 = 1e-4;
/// Products a trial may take; a spectrum that needs more is no good sign for the setting.
const TRIAL_ITERATIONS: usize = 400;

/// Partitions with fewer effective clusters (the exponential of the entropy of their sizes) than this share of those asked for
/// lose weight with what they lack: there a few rows that hang loose have taken most of the K.
const EVEN: f64 = 0.5;
/// Unless the settings agree as much as this: clusters that are uneven by nature are found by nearly all of them, loose rows
/// are others with each. Nor is it chance then, whatever halves of the forest say.
const BELIEVED: f64 = 0.75;
/// A partition of which the halves of the forest find less than this is made by chance, unless it is believed; where
/// something is found, most is.
const REPRODUCED: f64 = 1.0 / 3.0;

/// A setting that was tried, and what was found.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Candidate {
    /// n_s.
    pub min_node: usize,
    /// The affinity with its numbers.
    pub affinity: AffinityParams,
    /// Root mean square of the adjusted Rand index with the partitions of all other settings.
    pub agreement: f64,
    /// Mean adjusted Rand index among the partitions of the whole forest and its two halves: of the winner, and of all
    /// where that of the most agreed with is so low that it decides.
    pub stability: Option<f64>,
    /// Rows of each cluster, largest first.
    pub sizes: Vec<usize>,
}

/// What was chosen, and why.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Choice {
    /// n_s.
    pub min_node: usize,
    /// The affinity with its numbers.
    pub affinity: AffinityParams,
    /// How labels are made.
    pub method: Method,
    /// Rows the settings were tried on, when not all.
    pub sample: Option<usize>,
    /// Everything that was tried, best first: by agreement, less where few of the clusters hold nearly all rows; by
    /// stability where the halves of the forest do not find again what is most agreed with.
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// Whether stability decided, because what the settings agree on most is not found again by halves of the forest.
    pub fn by_stability(&self) -> bool {
        self.candidates.iter().skip(1).any(|c| c.stability.is_some())
    }
}

struct Tried {
    setting: Setting,
    labels: Vec<u32>,
    /// Rows of each cluster, largest first.
    sizes: Vec<usize>,
    agreement: f64,
    stability: Option<f64>,
}

/// Tries the settings on a forest grown at the smallest min_node of interest.
pub(crate) fn choose(forest: &Forest, params: &RpfCluster, observer: &dyn Observer) -> Result<Choice> {
    let method = params.method.unwrap_or_default();
    let grid = settings(params, forest.n(), forest.params().min_node);
    if let [only] = grid[..] {
        return Ok(Choice {
            min_node: only.min_node,
            affinity: only.affinity,
            method,
            sample: None,
            candidates: vec![],
        });
    }
    let spectral = SpectralParams {
        tolerance: TRIAL_TOLERANCE,
        max_iterations: TRIAL_ITERATIONS,
        restarts: 5,
        ..params.spectral_params(method)
    };
    observer.begin(Stage::Tune, grid.len() as u64);
    let mut lab = Bench { forest, spectral, kept: None, observer: Quiet(observer) };
    let mut tried = Vec::new();
    let mut last_error = None;
    for setting in grid {
        check(observer)?;
        match lab.partition(&setting, 0..forest.trees()) {
            Ok(labels) => {
                let sizes = sizes(&labels, params.k);
                tried.push(Tried { setting, labels, sizes, agreement: 0.0, stability: None });
            }
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            // A setting that cannot be cut is no candidate; if none can, its reason is the answer.
            Err(e) => last_error = Some(e),
        }
        observer.advance(Stage::Tune, 1);
    }
    if tried.is_empty() {
        observer.end(Stage::Tune);
        return Err(last_error.unwrap_or(Error::Cancelled));
    }
    agreements(&mut tried, observer)?;
    tried.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    lab.stabilities(&mut tried[..1])?;
    // With fewer clusters asked for than there are, halves unite others, but nearly all settings keep each whole.
    let believed = tried[0].agreement >= BELIEVED;
    if !believed && tried[0].stability.is_some_and(|found| found < REPRODUCED) {
        lab.stabilities(&mut tried[1..])?;
        tried.sort_by(|a, b| b.found_again().total_cmp(&a.found_again()));
    }
    let winner = &tried[0];
    observer.end(Stage::Tune);
    Ok(Choice {
        min_node: winner.setting.min_node,
        affinity: winner.setting.affinity,
        method,
        sample: None,
        candidates: tried.into_iter().map(Tried::shown).collect(),
    })
}

impl Tried {
    /// What the choice goes by.
    fn weight(&self) -> f64 {
        if self.agreement >= BELIEVED { self.agreement } else { self.agreement * self.even() }
    }

    /// What it goes by where agreement is chance.
    fn found_again(&self) -> f64 {
        self.stability.map_or(f64::NEG_INFINITY, |stability| stability * self.even())
    }

    /// 1, and less where a few of the clusters hold nearly all rows.
    fn even(&self) -> f64 {
        (evenness(&self.sizes) / EVEN).min(1.0)
    }

    fn shown(self) -> Candidate {
        Candidate {
            min_node: self.setting.min_node,
            affinity: self.setting.affinity,
            agreement: self.agreement,
            stability: self.stability,
            sizes: self.sizes,
        }
    }
}

/// Runs settings on parts of one forest, keeping counted pairs while the next setting can use them.
struct Bench<'a> {
    forest: &'a Forest,
    spectral: SpectralParams,
    kept: Option<Kept>,
    observer: Quiet<'a>,
}

struct Kept {
    trees: std::ops::Range<usize>,
    min_node: usize,
    leaves: Arc<LeafMatrix>,
    neighbors: Option<Neighbors>,
    /// The eigenvectors of the last `top-k` trial: the next power starts from there.
    last: Option<(usize, Embedding)>,
}

impl Bench<'_> {
    fn partition(&mut self, setting: &Setting, trees: std::ops::Range<usize>) -> Result<Vec<u32>> {
        let fits = |k: &Kept| k.trees == trees && k.min_node == setting.min_node;
        if !self.kept.as_ref().is_some_and(fits) {
            let leaves = self.forest.leaves_of_trees(trees.clone(), setting.min_node)?;
            let (min_node, leaves) = (setting.min_node, Arc::new(leaves));
            self.kept = Some(Kept { trees, min_node, leaves, neighbors: None, last: None });
        }
        let Some(kept) = &mut self.kept else { return Err(Error::Cancelled) };
        let affinity: Affinity = match setting.affinity {
            AffinityParams::TopK { top, power } => {
                // The longest list serves the shorter ones.
                if kept.neighbors.as_ref().is_none_or(|n| n.k() < top.min(kept.leaves.n().saturating_sub(1)))
                {
                    kept.neighbors = Some(kept.leaves.top_k(top.max(20), &self.observer)?);
                }
                match &kept.neighbors {
                    Some(neighbors) => SparseAffinity::top_k(neighbors, top, power, &self.observer)?.into(),
                    None => return Err(Error::Cancelled),
                }
            }
            _ => {
                let pairs: Pairs = pairs(&kept.leaves, &setting.affinity, &self.observer)?;
                crate::pipeline::fit::affinity(&kept.leaves, &pairs, &setting.affinity, &self.observer)?
            }
        };
        let top = match setting.affinity {
            AffinityParams::TopK { top, .. } => Some(top),
            _ => None,
        };
        let start = kept.last.as_ref().filter(|(last, _)| Some(*last) == top).map(|(_, embedding)| embedding);
        let mut seconds = Seconds::default();
        let found = cut(&kept.leaves, &affinity, &self.spectral, start, &mut seconds, &self.observer)?;
        kept.last = top.map(|top| (top, found.embedding));
        Ok(found.labels)
    }

    /// Fills in how far the two halves of the forest find what the whole found, where both can be cut.
    fn stabilities(&mut self, tried: &mut [Tried]) -> Result<()> {
        let (trees, half) = (self.forest.trees(), self.forest.trees() / 2);
        if half == 0 {
            return Ok(());
        }
        // One half after the other, since its counts serve all settings.
        let [first, second] = [0..half, half..trees].map(|part| {
            let labels = tried.iter().map(|t| self.partition(&t.setting, part.clone()).ok());
            labels.collect::<Vec<_>>()
        });
        check(&self.observer)?;
        for ((tried, first), second) in tried.iter_mut().zip(first).zip(second) {
            if let (Some(first), Some(second)) = (first, second) {
                let among =
                    ari(&first, &second)? + ari(&first, &tried.labels)? + ari(&second, &tried.labels)?;
                tried.stability = Some(among / 3.0);
            }
        }
        Ok(())
    }
}

/// Rows of each of the k clusters, the largest first.
fn sizes(labels: &[u32], k: usize) -> Vec<usize> {
    let mut sizes = cluster_sizes(labels, k);
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

/// The effective number of clusters of these sizes as a share of all.
fn evenness(sizes: &[usize]) -> f64 {
    let n: usize = sizes.iter().sum();
    let shares = sizes.iter().filter(|size| **size > 0).map(|size| *size as f64 / n as f64);
    let entropy: f64 = shares.map(|share| -share * share.ln()).sum();
    entropy.exp() / sizes.len() as f64
}

fn ari(a: &[u32], b: &[u32]) -> Result<f64> {
    Ok(Scores::new(a, b)?.ari)
}

fn agreements(tried: &mut [Tried], observer: &dyn Observer) -> Result<()> {
    let m = tried.len();
    let mut sums = vec![0.0; m];
    for i in 0..m {
        check(observer)?;
        for j in 0..i {
            // Squared: settings that find the same count for more than many that find something similar.
            let agreement = ari(&tried[i].labels, &tried[j].labels)?.max(0.0).powi(2);
            sums[i] += agreement;
            sums[j] += agreement;
        }
    }
    for (t, sum) in tried.iter_mut().zip(sums) {
        t.agreement = (sum / (m - 1).max(1) as f64).sqrt();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenness_is_the_share_of_clusters_that_matter() {
        assert!((evenness(&[25, 25, 25, 25]) - 1.0).abs() < 1e-12);
        assert!((evenness(&[50, 50, 0, 0]) - 0.5).abs() < 1e-12);
        // Shares of .8, .15 and .05 are uneven, and more than a half; 26 clusters of which one holds nearly all are not.
        assert!((evenness(&[80, 15, 5]) - 0.615).abs() < 1e-3);
        let mut loose = vec![18_000];
        loose.resize(26, 80);
        assert!(evenness(&loose) < 0.1);
    }
}
