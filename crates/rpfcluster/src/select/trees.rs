//! Selects the number of trees: doubled until the two halves of the forest agree.
//!
//! The halves are two independent estimates of the same kernel; the difference of their partitions shows the variance
//! that T leaves. Doubling stops when they agree, or when it no longer brings them closer: then the uncertainty is in
//! the data. Costs a forest and two fits of the sample for each number of trees.

use std::sync::Arc;

use crate::error::Result;
use crate::forest::Forest;
use crate::kernel::LeafMatrix;
use crate::metrics::Scores;
use crate::observe::{Observer, Quiet, Stage, StageGuard, check};
use crate::params::RpfCluster;
use crate::points::{Points, Real};
use crate::random::sample_rows;

/// Rows of the sample. The error of a fraction of T trees does not depend on the number of rows.
const SAMPLE_ROWS: usize = 5000;
/// Smallest number of trees that is tried.
const FIRST: usize = 50;
/// Adjusted Rand index at or above which the halves agree.
const AGREED: f64 = 0.95;
/// Smallest gain in agreement that counts as an improvement.
const MIN_GAIN: f64 = 0.01;
/// Doublings without improvement before the search stops; one may be bad luck.
const PATIENCE: usize = 2;

/// One number of trees that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TreesTried {
    /// T.
    pub trees: usize,
    /// Adjusted Rand index between the partitions of its halves.
    pub agreement: f64,
}

/// The selected number of trees.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TreesChoice {
    /// T.
    pub trees: usize,
    /// Whether the halves agreed; if not, more trees did not help or were not allowed.
    pub agreed: bool,
    /// Rows it was selected on, when not all.
    pub sample: Option<usize>,
    /// Every number of trees that was tried, in order.
    pub tried: Vec<TreesTried>,
}

/// Fits the leaves of some trees and returns the labels.
pub(crate) type FitLeaves<'f> = dyn Fn(&Arc<LeafMatrix>) -> Result<Vec<u32>> + 'f;

/// Selects T, at most `most`, for the K of `params`.
pub(crate) fn choose_trees<R: Real>(
    points: &Points<R>,
    params: &RpfCluster,
    most: usize,
    observer: &dyn Observer,
    fit: &FitLeaves,
) -> Result<TreesChoice> {
    // Enough rows for the clusters asked for.
    let rows = sample_rows(params.seed, points.n(), SAMPLE_ROWS.max(20 * params.k));
    let sample = (rows.len() < points.n()).then_some(rows.len());
    let min_node = params.fixed_min_node(rows.len());
    let stage = StageGuard::begin(observer, Stage::Tune, most.ilog2() as u64);
    let tried = points.with_rows(&rows, |points| {
        let mut tried: Vec<TreesTried> = Vec::new();
        let mut trees = FIRST.min(most);
        while !finished(&tried, most) {
            check(observer)?;
            let agreement = halves_agree(points, params, trees, min_node, fit, observer)?;
            tried.push(TreesTried { trees, agreement });
            observer.advance(Stage::Tune, 1);
            trees = (2 * trees).min(most);
        }
        Ok::<_, crate::Error>(tried)
    })??;
    drop(stage);
    // The smallest size that is as good as any.
    let best = tried.iter().map(|t| t.agreement).fold(f64::NEG_INFINITY, f64::max);
    let chosen = tried.iter().find(|t| t.agreement >= AGREED || t.agreement > best - MIN_GAIN);
    Ok(TreesChoice {
        trees: chosen.map_or(most, |t| t.trees),
        agreed: chosen.is_some_and(|t| t.agreement >= AGREED),
        sample,
        tried,
    })
}

/// Whether doubling stops.
fn finished(tried: &[TreesTried], most: usize) -> bool {
    let Some(last) = tried.last() else { return false };
    if last.agreement >= AGREED || last.trees >= most {
        return true;
    }
    let Some(earlier) = tried.len().checked_sub(PATIENCE) else { return false };
    let best = |of: &[TreesTried]| of.iter().map(|t| t.agreement).fold(f64::NEG_INFINITY, f64::max);
    earlier > 0 && best(&tried[earlier..]) < best(&tried[..earlier]) + MIN_GAIN
}

/// Adjusted Rand index between the partitions of the halves of a forest of `trees` trees.
fn halves_agree<R: Real>(
    points: &Points<R>,
    params: &RpfCluster,
    trees: usize,
    min_node: usize,
    fit: &FitLeaves,
    observer: &dyn Observer,
) -> Result<f64> {
    let params = RpfCluster { trees: Some(trees), ..params.clone() };
    let quiet = Quiet(observer);
    let forest = Forest::grow(points.observed(&quiet), &params.forest_params(min_node))?;
    let half = trees / 2;
    let first = fit(&Arc::new(forest.leaves_of_trees(0..half, min_node)?))?;
    let second = fit(&Arc::new(forest.leaves_of_trees(half..trees, min_node)?))?;
    Ok(Scores::new(&first, &second)?.ari)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(agreements: &[f64]) -> Vec<TreesTried> {
        (0..).zip(agreements).map(|(i, &agreement)| TreesTried { trees: 50 << i, agreement }).collect()
    }

    #[test]
    fn doubling_stops_on_agreement_at_the_limit_and_without_gain() {
        assert!(!finished(&[], 1600));
        assert!(!finished(&after(&[0.5, 0.6]), 1600));
        assert!(finished(&after(&[0.5, 0.97]), 1600));
        assert!(finished(&after(&[0.5, 0.6]), 100));
        assert!(!finished(&after(&[0.5, 0.5]), 1600), "once may be bad luck");
        assert!(finished(&after(&[0.5, 0.5, 0.505]), 1600));
        assert!(!finished(&after(&[0.5, 0.5, 0.6]), 1600));
    }

    /// Trees chosen where the halves of the i-th forest differ in the cluster of `flipped[i]` rows of each of two clusters.
    fn chosen(n: usize, k: usize, flipped: &[usize], most: usize) -> TreesChoice {
        let values: Vec<f64> = (0..n).map(|row| row as f64).collect();
        let points = Points::new(&values, n, 1).unwrap();
        let calls = std::cell::Cell::new(0usize);
        let fit = |leaves: &Arc<LeafMatrix>| {
            let call = calls.replace(calls.get() + 1);
            let flips = if call.is_multiple_of(2) { 0 } else { flipped[(call / 2).min(flipped.len() - 1)] };
            let rows = leaves.n() as u32;
            Ok((0..rows).map(|row| u32::from((row as usize / 2 < flips) != (row % 2 == 0))).collect())
        };
        let params = RpfCluster { k, ..RpfCluster::default() };
        choose_trees(&points, &params, most, &crate::observe::Silent, &fit).unwrap()
    }

    #[test]
    fn the_fewest_trees_that_are_as_good_as_any_are_chosen() {
        let numbers = |choice: &TreesChoice| choice.tried.iter().map(|t| t.trees).collect::<Vec<_>>();
        let agreed = chosen(200, 2, &[0], 1600);
        assert_eq!((agreed.trees, agreed.agreed, numbers(&agreed)), (50, true, vec![50]));
        let later = chosen(200, 2, &[30, 0], 1600);
        assert_eq!((later.trees, later.agreed, numbers(&later)), (100, true, vec![50, 100]));
        let never = chosen(200, 2, &[40, 15, 15, 15, 15], 1600);
        assert_eq!((never.trees, never.agreed, numbers(&never)), (100, false, vec![50, 100, 200, 400]));
        let limited = chosen(200, 2, &[40, 30, 20], 150);
        assert_eq!((limited.trees, limited.agreed, numbers(&limited)), (150, false, vec![50, 100, 150]));
    }

    #[test]
    fn a_sample_has_enough_rows_for_the_clusters() {
        assert_eq!(chosen(SAMPLE_ROWS, 2, &[0], 50).sample, None);
        assert_eq!(chosen(SAMPLE_ROWS + 1, 2, &[0], 50).sample, Some(SAMPLE_ROWS));
        assert_eq!(chosen(7000, 300, &[0], 50).sample, Some(6000));
    }
}
