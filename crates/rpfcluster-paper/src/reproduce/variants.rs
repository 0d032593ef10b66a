//! Two statements of the paper about the forest, on its sets of at most 600 rows: that the number of trees hardly
//! matters (section 5.2 names 200, 400 and 600), and that uniform cuts and cuts at the median differ little (section 2.1).
//! Everything else is the protocol of the paper on 18 bandwidths: normalised cuts, best by labels.

use std::sync::Arc;

use crate::compare::Comparison;
use crate::sweep::{Sweep, coarse_bandwidths};
use rpfcluster::metrics::Scores;
use rpfcluster::observe::{Observer, Quiet};
use rpfcluster::spectral::Method;
use rpfcluster::{Forest, ForestParams, Points, Result, Split};
use serde::{Deserialize, Serialize};

/// Largest data set, in rows, that is compared.
pub(super) const ROWS: usize = 600;
/// The numbers of trees.
pub(super) const TREES: [usize; 6] = [100, 200, 400, 600, 800, 1000];
/// Trees of the comparison of cuts: the least of the paper.
pub(super) const CUT_TREES: usize = 200;

/// One forest and its scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Where nodes are cut.
    pub split: Split,
    /// The number of trees.
    pub trees: usize,
    /// Scores of the best setting by labels.
    pub scores: Scores,
}

/// Uniform cuts with each number of trees, then cuts at the median with [`CUT_TREES`].
pub(super) fn run(
    comparison: &Comparison,
    data: &[f64],
    d: usize,
    classes: &[u32],
    observer: &dyn Observer,
) -> Result<Vec<Variant>> {
    let points = Points::new(data, data.len().checked_div(d).unwrap_or(0), d)?;
    let (min_node, seed) = (comparison.min_node, comparison.seed);
    let sweep = Sweep {
        k: comparison.k,
        beta2: coarse_bandwidths(),
        methods: vec![Method::Ncut],
        seed,
        ..comparison.sweep.clone()
    };
    let mut found = Vec::new();
    for (split, numbers) in [(Split::Uniform, &TREES[..]), (Split::Median, &[CUT_TREES])] {
        let most = numbers.iter().copied().max().unwrap_or(CUT_TREES);
        let params = ForestParams { trees: most, min_node, split, seed, ..Default::default() };
        let forest = Forest::grow(points.observed(observer), &params)?;
        for trees in numbers {
            let leaves = Arc::new(forest.leaves_of_trees(0..*trees, min_node)?);
            let swept = sweep.run(&leaves, Some(classes), &Quiet(observer))?;
            if let Some(scores) = swept.best_of(Method::Ncut).and_then(|at| swept.scores_of(at)) {
                found.push(Variant { split, trees: *trees, scores: *scores });
            }
        }
    }
    Ok(found)
}
