//! Consensus of the candidate settings: trial partitions, their agreement (root mean square of the adjusted Rand
//! index), and the choice.
//!
//! Below consensus, partitions in which few clusters hold nearly all rows are weighted down by their effective number
//! of clusters (the exponential of the entropy of the sizes; Hill 1973). Where the partition with the highest
//! agreement is not stable between two halves of the forest, stability decides. Costs one fit per setting, two more
//! for the winner (for every setting where stability decides), and O(n) for each pair of partitions.

use std::ops::Range;

use crate::eigen::Method;
use crate::error::{Error, Result};
use crate::metrics::{Scores, cluster_sizes};
use crate::observe::{Observer, Stage, StageGuard, check};
use crate::params::{AffinityParams, Setting};

/// Partitions with fewer effective clusters (the exponential of the entropy of their sizes) than this share of K are
/// down-weighted in proportion: stray rows have taken most of the K.
const MIN_EFFECTIVE_SHARE: f64 = 0.5;
/// Agreement at or above which a partition is accepted as it is. Nearly all settings find clusters that are uneven by
/// nature; stray rows differ from setting to setting.
const CONSENSUS: f64 = 0.75;
/// Stability below which a partition without [`CONSENSUS`] counts as accidental.
const MIN_STABILITY: f64 = 1.0 / 3.0;

/// A setting that was tried, and its result.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Candidate {
    /// n_s.
    pub min_node: usize,
    /// The affinity with its numbers.
    pub affinity: AffinityParams,
    /// Root mean square of the adjusted Rand index with the partitions of all other settings.
    pub agreement: f64,
    /// Mean adjusted Rand index among the partitions of the whole forest and its two halves. Measured for the winner,
    /// and for all candidates where stability decides.
    pub stability: Option<f64>,
    /// Rows of each cluster, largest first.
    pub sizes: Vec<usize>,
}

/// The selected setting and the candidates.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Choice {
    /// n_s.
    pub min_node: usize,
    /// The affinity with its numbers.
    pub affinity: AffinityParams,
    /// How eigenvectors become labels.
    pub method: Method,
    /// Rows the settings were tried on, when not all.
    pub sample: Option<usize>,
    /// Every setting that was tried, best first: by agreement, down-weighted where few clusters hold nearly all rows;
    /// by stability where the partition of highest agreement is not stable.
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// The selected setting.
    pub fn setting(&self) -> Setting {
        Setting { min_node: self.min_node, affinity: self.affinity, method: self.method }
    }

    /// Whether stability decided, because the halves of the forest do not reproduce the partition of highest agreement.
    pub fn by_stability(&self) -> bool {
        self.candidates.iter().skip(1).any(|c| c.stability.is_some())
    }
}

/// A candidate with its labels.
struct Trial {
    setting: Setting,
    labels: Vec<u32>,
    /// Rows of each cluster, largest first.
    sizes: Vec<usize>,
    agreement: f64,
    stability: Option<f64>,
}

/// Fits one setting on some of the trees and returns its labels.
pub(crate) type FitLabels<'f> = dyn FnMut(&Setting, Range<usize>) -> Result<Vec<u32>> + 'f;

/// Tries the settings of `grid` with `fit` and selects one.
pub(crate) fn choose(
    grid: Vec<Setting>,
    k: usize,
    trees: usize,
    fit: &mut FitLabels,
    observer: &dyn Observer,
) -> Result<Choice> {
    if let [only] = grid[..] {
        return Ok(chosen(only, Vec::new()));
    }
    let stage = StageGuard::begin(observer, Stage::Tune, grid.len() as u64);
    let trials = ranked(grid, k, trees, fit, observer)?;
    drop(stage);
    Ok(chosen(trials[0].setting, trials.into_iter().map(Trial::into_candidate).collect()))
}

fn chosen(setting: Setting, candidates: Vec<Candidate>) -> Choice {
    let Setting { min_node, affinity, method } = setting;
    Choice { min_node, affinity, method, sample: None, candidates }
}

/// All settings that could be fitted, best first; at least one.
fn ranked(
    grid: Vec<Setting>,
    k: usize,
    trees: usize,
    fit: &mut FitLabels,
    observer: &dyn Observer,
) -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    let mut last_error = None;
    for setting in grid {
        check(observer)?;
        match fit(&setting, 0..trees) {
            Ok(labels) => {
                let mut sizes = cluster_sizes(&labels, k);
                sizes.sort_unstable_by(|a, b| b.cmp(a));
                trials.push(Trial { setting, labels, sizes, agreement: 0.0, stability: None });
            }
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            // A setting that cannot be fitted is no candidate; if none can, its error is the answer.
            Err(e) => last_error = Some(e),
        }
        observer.advance(Stage::Tune, 1);
    }
    if trials.is_empty() {
        return Err(last_error.unwrap_or(Error::Cancelled));
    }
    measure_agreement(&mut trials, observer)?;
    trials.sort_by(|a, b| b.weighted_agreement().total_cmp(&a.weighted_agreement()));
    measure_stability(&mut trials[..1], trees, fit, observer)?;
    // With a K below the number of clusters, the halves unite different clusters, but nearly all settings keep each
    // cluster whole.
    let consensus = trials[0].agreement >= CONSENSUS;
    if !consensus && trials[0].stability.is_some_and(|stability| stability < MIN_STABILITY) {
        measure_stability(&mut trials[1..], trees, fit, observer)?;
        trials.sort_by(|a, b| b.weighted_stability().total_cmp(&a.weighted_stability()));
    }
    Ok(trials)
}

impl Trial {
    fn weighted_agreement(&self) -> f64 {
        if self.agreement >= CONSENSUS { self.agreement } else { self.agreement * self.size_weight() }
    }

    fn weighted_stability(&self) -> f64 {
        self.stability.map_or(f64::NEG_INFINITY, |stability| stability * self.size_weight())
    }

    /// 1, and less where a few of the clusters hold nearly all rows.
    fn size_weight(&self) -> f64 {
        (effective_share(&self.sizes) / MIN_EFFECTIVE_SHARE).min(1.0)
    }

    fn into_candidate(self) -> Candidate {
        Candidate {
            min_node: self.setting.min_node,
            affinity: self.setting.affinity,
            agreement: self.agreement,
            stability: self.stability,
            sizes: self.sizes,
        }
    }
}

/// Measures how far the two halves of the forest reproduce each partition, where both can be fitted.
fn measure_stability(
    trials: &mut [Trial],
    trees: usize,
    fit: &mut FitLabels,
    observer: &dyn Observer,
) -> Result<()> {
    let half = trees / 2;
    if half == 0 {
        return Ok(());
    }
    // One half after the other, since its counts serve all settings.
    let [first, second] = [0..half, half..trees].map(|part| {
        let labels = trials.iter().map(|t| fit(&t.setting, part.clone()).ok());
        labels.collect::<Vec<_>>()
    });
    check(observer)?;
    for ((trial, first), second) in trials.iter_mut().zip(first).zip(second) {
        if let (Some(first), Some(second)) = (first, second) {
            let among = ari(&first, &second)? + ari(&first, &trial.labels)? + ari(&second, &trial.labels)?;
            trial.stability = Some(among / 3.0);
        }
    }
    Ok(())
}

/// The effective number of clusters (the exponential of the entropy of the sizes) as a share of their number.
fn effective_share(sizes: &[usize]) -> f64 {
    let n: usize = sizes.iter().sum();
    let shares = sizes.iter().filter(|size| **size > 0).map(|size| *size as f64 / n as f64);
    let entropy: f64 = shares.map(|share| -share * libm::log(share)).sum();
    libm::exp(entropy) / sizes.len() as f64
}

fn ari(a: &[u32], b: &[u32]) -> Result<f64> {
    Ok(Scores::new(a, b)?.ari)
}

/// Sets each agreement to the root mean square of the adjusted Rand index with all other trials.
fn measure_agreement(trials: &mut [Trial], observer: &dyn Observer) -> Result<()> {
    let m = trials.len();
    let mut sums = vec![0.0; m];
    for i in 0..m {
        check(observer)?;
        for j in 0..i {
            // Squared: equal partitions count for more than many similar ones.
            let agreement = ari(&trials[i].labels, &trials[j].labels)?.max(0.0).powi(2);
            sums[i] += agreement;
            sums[j] += agreement;
        }
    }
    for (t, sum) in trials.iter_mut().zip(sums) {
        t.agreement = (sum / (m - 1).max(1) as f64).sqrt();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effective_share_is_one_for_equal_sizes_and_small_when_one_dominates() {
        assert!((effective_share(&[25, 25, 25, 25]) - 1.0).abs() < 1e-12);
        assert!((effective_share(&[50, 50, 0, 0]) - 0.5).abs() < 1e-12);
        // Shares of .8, .15 and .05 keep more than half of three clusters; one dominant of 26 does not.
        assert!((effective_share(&[80, 15, 5]) - 0.615).abs() < 1e-3);
        let mut dominated = vec![18_000];
        dominated.resize(26, 80);
        assert!(effective_share(&dominated) < 0.1);
    }
}
