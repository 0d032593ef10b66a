//! The number of trees: doubled until it no longer matters which half of the forest is looked at.
//!
//! The two halves of a forest are two independent estimates of the same kernel; their partitions differ by what the
//! number of trees leaves to chance. Doubling goes on until they agree, or until twice the trees did not bring them
//! closer: then the doubt is in the data, and no number of trees will settle it.

use std::sync::Arc;

use crate::error::Result;
use crate::forest::Forest;
use crate::metrics::Scores;
use crate::observe::{Observer, Quiet, Stage, check};
use crate::pipeline::RpfCluster;
use crate::pipeline::fit::{Seconds, affinity, cut, pairs};
use crate::points::{Points, Real};
use crate::random::sample_rows;

/// Rows the number is chosen on: how far a share of T trees is from its limit does not depend on the rows.
const ROWS: usize = 5000;
/// Where doubling begins.
const FIRST: usize = 50;
/// An adjusted Rand index from which on the halves agree.
const AGREED: f64 = 0.95;
/// Less than this much closer after doubling is no closer.
const CLOSER: f64 = 0.01;
/// Doublings in vain before it is given up; one may be bad luck.
const PATIENCE: usize = 2;

/// One size of the forest.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct TreesTried {
    /// T.
    pub trees: usize,
    /// Adjusted Rand index between the partitions of its halves.
    pub agreement: f64,
}

/// The chosen number of trees.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct TreesChoice {
    /// T.
    pub trees: usize,
    /// Whether the halves agreed; if not, more trees would not have helped or were not allowed.
    pub agreed: bool,
    /// Rows it was chosen on, when not all.
    pub sample: Option<usize>,
    /// Every size that was grown, in order.
    pub tried: Vec<TreesTried>,
}

/// Chooses T, at most `most`, for the K of `params`.
pub(crate) fn choose_trees<R: Real>(
    points: &Points<R>,
    params: &RpfCluster,
    most: usize,
    observer: &dyn Observer,
) -> Result<TreesChoice> {
    // Enough rows for the clusters asked for.
    let rows = sample_rows(params.seed, points.n(), ROWS.max(20 * params.k));
    let sample = (rows.len() < points.n()).then_some(rows.len());
    let min_node = params.fixed_min_node(rows.len());
    observer.begin(Stage::Tune, most.ilog2() as u64);
    let tried = points.with_rows(&rows, |points| {
        let mut tried: Vec<TreesTried> = Vec::new();
        let mut trees = FIRST.min(most);
        while !finished(&tried, most) {
            check(observer)?;
            let agreement = halves_agree(points, params, trees, min_node, &Quiet(observer))?;
            tried.push(TreesTried { trees, agreement });
            observer.advance(Stage::Tune, 1);
            trees = (2 * trees).min(most);
        }
        Ok::<_, crate::Error>(tried)
    })??;
    observer.end(Stage::Tune);
    // The smallest size that is as good as any.
    let best = tried.iter().map(|t| t.agreement).fold(f64::NEG_INFINITY, f64::max);
    let chosen = tried.iter().find(|t| t.agreement >= AGREED || t.agreement > best - CLOSER);
    Ok(TreesChoice {
        trees: chosen.map_or(most, |t| t.trees),
        agreed: chosen.is_some_and(|t| t.agreement >= AGREED),
        sample,
        tried,
    })
}

/// Whether no larger forest need be grown.
fn finished(tried: &[TreesTried], most: usize) -> bool {
    let Some(last) = tried.last() else { return false };
    if last.agreement >= AGREED || last.trees >= most {
        return true;
    }
    let Some(earlier) = tried.len().checked_sub(PATIENCE) else { return false };
    let best = |of: &[TreesTried]| of.iter().map(|t| t.agreement).fold(f64::NEG_INFINITY, f64::max);
    earlier > 0 && best(&tried[earlier..]) < best(&tried[..earlier]) + CLOSER
}

fn halves_agree<R: Real>(
    points: &Points<R>,
    params: &RpfCluster,
    trees: usize,
    min_node: usize,
    quiet: &Quiet,
) -> Result<f64> {
    let params = RpfCluster { trees, ..params.clone() };
    let forest = Forest::grow(points.observed(quiet), &params.forest_params(min_node))?;
    let half = trees / 2;
    let (kind, spectral) =
        (params.fixed_affinity(), params.spectral_params(params.method.unwrap_or_default()));
    let mut parts = Vec::with_capacity(2);
    for range in [0..half, half..trees] {
        let leaves = Arc::new(forest.leaves_of_trees(range, min_node)?);
        let pairs = pairs(&leaves, &kind, quiet)?;
        let affinity = affinity(&leaves, &pairs, &kind, quiet)?;
        parts.push(cut(&leaves, &affinity, &spectral, None, &mut Seconds::default(), quiet)?.labels);
    }
    Ok(Scores::new(&parts[0], &parts[1])?.ari)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(agreements: &[f64]) -> Vec<TreesTried> {
        (0..).zip(agreements).map(|(i, &agreement)| TreesTried { trees: 50 << i, agreement }).collect()
    }

    #[test]
    fn doubling_ends_on_agreement_on_the_limit_and_when_it_is_in_vain() {
        assert!(!finished(&[], 1600));
        assert!(!finished(&after(&[0.5, 0.6]), 1600));
        assert!(finished(&after(&[0.5, 0.97]), 1600));
        assert!(finished(&after(&[0.5, 0.6]), 100));
        assert!(!finished(&after(&[0.5, 0.5]), 1600), "once may be bad luck");
        assert!(finished(&after(&[0.5, 0.5, 0.505]), 1600));
        assert!(!finished(&after(&[0.5, 0.5, 0.6]), 1600));
    }
}
