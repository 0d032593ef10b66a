//! Other numbers of clusters over the same forest: the partition for each K, and how far two halves of the forest, two
//! independent kernels of the same points, agree on it. For looking at, not for choosing: [`super::choose_k`] chooses.

use std::ops::Range;
use std::sync::Arc;

use crate::affinity::Affinity;
use crate::eigen::{EmbedOptions, Embedding, Method, SpectralParams, embed};
use crate::error::{Error, Result};
use crate::forest::Forest;
use crate::kernel::LeafMatrix;
use crate::label::label;
use crate::label::refine::refined;
use crate::metrics::Scores;
use crate::observe::{Observer, Quiet, Stage, check};
use crate::pipeline::fit::{cut, unite_twins};
use crate::pipeline::{AffinityParams, RpfCluster, Seconds};

/// Good enough to compare partitions by.
const TOLERANCE: f64 = 1e-5;
const ITERATIONS: usize = 1000;

/// The points in K clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// K.
    pub k: usize,
    /// The cluster of each point, numbered by first appearance.
    pub labels: Vec<u32>,
    /// Adjusted Rand index between the partitions of the two halves of the forest; `None` where they have none.
    pub stability: Option<f64>,
}

/// What the partitions are made by.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// n_s.
    pub min_node: usize,
    /// The affinity with its numbers.
    pub affinity: AffinityParams,
    /// How labels are made.
    pub method: Method,
}

/// The partition of a forest's points for each number of clusters in `ks`, ascending, each at least 2. A K that cannot
/// be had, because there are fewer distinct points or the eigenvectors do not come, is left out.
pub fn partitions(
    forest: &Forest,
    recipe: Recipe,
    params: &RpfCluster,
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<Partition>> {
    let Some(&most) = ks.last() else { return Ok(Vec::new()) };
    observer.begin(Stage::Tune, ks.len() as u64);
    let (trees, half) = (forest.trees(), forest.trees() / 2);
    let look = |trees| Look::new(forest, trees, recipe, params, most, Quiet(observer));
    let whole = look(0..trees)?;
    let halves = if half > 0 {
        let first = look(0..half)?;
        Some((first, look(trees - half..trees)?))
    } else {
        None
    };
    let mut found = Vec::with_capacity(ks.len());
    for &k in ks {
        check(observer)?;
        let Some(labels) = whole.labels(k)? else { continue };
        let apart = match &halves {
            Some((first, second)) => first.labels(k)?.zip(second.labels(k)?),
            None => None,
        };
        let stability = apart.map(|(a, b)| Scores::new(&a, &b).map(|s| s.ari)).transpose()?;
        found.push(Partition { k, labels, stability });
        observer.advance(Stage::Tune, 1);
    }
    observer.end(Stage::Tune);
    Ok(found)
}

/// Part of a forest as a graph, and its largest eigenpairs where it is in one piece.
struct Look<'a> {
    leaves: Arc<LeafMatrix>,
    affinity: Affinity<'static>,
    spectral: SpectralParams,
    wide: Option<Embedding>,
    observer: Quiet<'a>,
}

impl<'a> Look<'a> {
    fn new(
        forest: &Forest,
        trees: Range<usize>,
        recipe: Recipe,
        params: &RpfCluster,
        most: usize,
        observer: Quiet<'a>,
    ) -> Result<Self> {
        let leaves = Arc::new(forest.leaves_of_trees(trees, recipe.min_node)?);
        let affinity = recipe.affinity.build(&leaves, &observer)?;
        let spectral = SpectralParams {
            k: most.min(leaves.n()),
            restarts: 5,
            tolerance: TOLERANCE,
            max_iterations: ITERATIONS,
            ..params.spectral_params(recipe.method)
        };
        // In one piece, the first k of many eigenvectors are those for k clusters.
        let connected = affinity.components(&observer)?.is_none_or(|c| c.count() == 1);
        let wide = if connected {
            possible(embed(&affinity, &spectral, &EmbedOptions::default(), &observer))?
        } else {
            None
        };
        Ok(Look { leaves, affinity, spectral, wide, observer })
    }

    fn labels(&self, k: usize) -> Result<Option<Vec<u32>>> {
        let spectral = SpectralParams { k, ..self.spectral.clone() };
        let affinity = &self.affinity;
        match &self.wide {
            Some(wide) if k <= wide.k() => {
                let first = wide.first(k);
                let Some(mut labels) = possible(label(affinity, &first, &spectral, &self.observer))? else {
                    return Ok(None);
                };
                if let Some(finer) =
                    possible(refined(affinity, &labels, &spectral, &self.observer))?.flatten()
                {
                    labels = finer;
                }
                unite_twins(&self.leaves, &mut labels, k, &self.observer)?;
                Ok(Some(labels))
            }
            _ => {
                let mut seconds = Seconds::default();
                let found = cut(&self.leaves, affinity, &spectral, None, &mut seconds, &self.observer);
                Ok(possible(found)?.map(|cut| cut.labels))
            }
        }
    }
}

/// What went wrong with one K is no reason to have none; an interruption is.
fn possible<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;
    use crate::points::Points;

    #[test]
    fn three_groups_are_most_stable_as_three() {
        let values: Vec<f64> = (0..240).map(|i| f64::from(i % 3) * 20.0 + f64::from(i) * 0.01).collect();
        let points = Points::new(&values, 240, 1).unwrap();
        let params = RpfCluster { k: 3, ..Default::default() };
        for affinity in [AffinityParams::TopK { top: 10, power: 2.0 }, AffinityParams::Linear] {
            let forest = Forest::grow(&points, &params.forest_params(24)).unwrap();
            let recipe = Recipe { min_node: 24, affinity, method: Method::Kway };
            let found = partitions(&forest, recipe, &params, &[2, 3, 4, 5], &Silent).unwrap();
            assert_eq!(found.iter().map(|p| p.k).collect::<Vec<_>>(), [2, 3, 4, 5]);
            let three = &found[1];
            let truth: Vec<u32> = (0..240).map(|i| i % 3).collect();
            assert_eq!(three.labels, truth);
            assert_eq!(three.stability, Some(1.0));
            for p in &found {
                assert_eq!(p.labels.iter().max(), Some(&(p.k as u32 - 1)));
            }
        }
        assert!(
            partitions(
                &Forest::grow(&points, &params.forest_params(24)).unwrap(),
                Recipe { min_node: 24, affinity: AffinityParams::Linear, method: Method::Ncut },
                &params,
                &[],
                &Silent
            )
            .unwrap()
            .is_empty()
        );
    }
}
