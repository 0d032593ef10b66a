//! Partitions of one forest for several K.
//!
//! Where the graph is connected, one eigen-decomposition serves all K, apart from those that are refined. For reports; K
//! itself is selected by `select::choose_k`.

use std::sync::Arc;

use super::fit::{spectral_labels, unite_equal_leaves};
use super::{Fitted, Seconds};
use crate::affinity::Affinity;
use crate::distinct::DistinctRows;
use crate::eigen::{EmbedOptions, Embedding, Method, SpectralParams, embed};
use crate::error::{Error, Result};
use crate::forest::Forest;
use crate::kernel::LeafMatrix;
use crate::label::Groups;
use crate::label::label_copies;
use crate::label::refine::refined;
use crate::observe::{Observer, Quiet, Stage, StageGuard, check};
use crate::params::{AffinityKind, RpfCluster, Setting};

/// Residual at which eigenvectors are accurate enough to compare partitions.
const TOLERANCE: f64 = 1e-5;
/// Largest number of products of an embedding.
const ITERATIONS: usize = 1000;

/// The rows in K clusters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Partition {
    /// K.
    pub k: usize,
    /// The cluster of each row, numbered by first appearance.
    pub labels: Vec<u32>,
}

/// The partition of the rows of a forest for each K in `ks`, ascending, each at least 2. A K that cannot be fitted,
/// because there are fewer distinct rows or the eigen-solver returns an error, is left out. Eigenvectors that have not
/// converged after 1000 products are used as they are.
pub fn partitions(
    forest: &Forest,
    setting: Setting,
    params: &RpfCluster,
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<Partition>> {
    partitions_of(forest, None, setting, params, ks, observer)
}

impl Fitted {
    /// [`partitions`] of the training rows with the setting of the fit.
    pub fn partitions(&self, ks: &[usize], observer: &dyn Observer) -> Result<Vec<Partition>> {
        partitions_of(&self.forest, self.rows.distinct.as_deref(), self.setting, &self.params, ks, observer)
    }
}

fn partitions_of(
    forest: &Forest,
    distinct: Option<&DistinctRows>,
    setting: Setting,
    params: &RpfCluster,
    ks: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<Partition>> {
    let Some(&most) = ks.last() else { return Ok(Vec::new()) };
    let stage = StageGuard::begin(observer, Stage::Tune, ks.len() as u64);
    let whole = AllClusters::new(forest, distinct, setting, params, most, Quiet(observer))?;
    let mut found = Vec::with_capacity(ks.len());
    for &k in ks {
        check(observer)?;
        if let Some(labels) = whole.labels(k)? {
            found.push(Partition { k, labels });
        }
        observer.advance(Stage::Tune, 1);
    }
    drop(stage);
    Ok(found)
}

/// The affinity of the rows, and its largest eigenpairs where it is connected.
struct AllClusters<'a> {
    leaves: Arc<LeafMatrix>,
    distinct: Option<&'a DistinctRows>,
    affinity: Affinity<'static>,
    /// The affinity with the copies of each row, where there are some.
    weighted: Option<Affinity<'static>>,
    /// The isolated groups of a large neighbour graph; `wide` belongs to them.
    groups: Option<Groups>,
    spectral: SpectralParams,
    wide: Option<Embedding>,
    observer: Quiet<'a>,
}

impl<'a> AllClusters<'a> {
    fn new(
        forest: &Forest,
        distinct: Option<&'a DistinctRows>,
        setting: Setting,
        params: &RpfCluster,
        most: usize,
        observer: Quiet<'a>,
    ) -> Result<Self> {
        let mut leaves = Arc::new(forest.leaves_at(setting.min_node)?);
        let mut distinct = distinct;
        // As in a fit: only `top-k` works on the distinct rows.
        if let Some(rows) = distinct.take_if(|_| setting.affinity.kind() != AffinityKind::TopK) {
            leaves = Arc::new(leaves.expanded(&rows.group_of));
        }
        let affinity = setting.affinity.build(&leaves, &observer)?;
        let spectral = SpectralParams {
            k: most.min(leaves.n()),
            resolution: None,
            restarts: 5,
            tolerance: TOLERANCE,
            max_iterations: ITERATIONS,
            ..params.spectral_params(setting.method)
        };
        // On a connected graph the first k eigenvectors are those for k clusters.
        let connected = affinity.components(&observer)?.is_none_or(|c| c.count() == 1);
        let weighted = match (&affinity, distinct) {
            (Affinity::Graph(graph), Some(rows)) => Some(Affinity::from(graph.weighted(&rows.copies))),
            _ => None,
        };
        let counted = weighted.as_ref().unwrap_or(&affinity);
        let copies = distinct.map(|rows| &rows.copies[..]);
        let groups = Groups::of_affinity(counted, copies, None, &spectral, &observer)?;
        let cut = groups.as_ref().map(|groups| Affinity::from(&groups.graph));
        let wide = if connected && setting.method != Method::Leiden {
            let cut = cut.as_ref().unwrap_or(counted);
            possible(embed(cut, &spectral, &EmbedOptions::default(), &observer))?
        } else {
            None
        };
        drop(cut);
        Ok(AllClusters { leaves, distinct, affinity, weighted, groups, spectral, wide, observer })
    }

    /// The labels of all rows.
    fn labels(&self, k: usize) -> Result<Option<Vec<u32>>> {
        let labels = self.clustered_labels(k)?;
        Ok(match self.distinct {
            Some(rows) => labels.map(|labels| rows.expand(&labels)),
            None => labels,
        })
    }

    fn clustered_labels(&self, k: usize) -> Result<Option<Vec<u32>>> {
        let spectral = SpectralParams { k, ..self.spectral.clone() };
        let affinity = &self.affinity;
        match &self.wide {
            Some(wide) if k <= wide.k() => {
                let first = wide.first(k);
                let groups = self.groups.as_ref();
                let found = match groups {
                    Some(groups) => groups.labels(&first, &spectral, &self.observer),
                    None => {
                        let copies = self.distinct.map(|rows| &rows.copies[..]);
                        let counted = self.weighted.as_ref().unwrap_or(affinity);
                        label_copies(counted, &first, copies, &spectral, &self.observer)
                    }
                };
                let Some(mut labels) = possible(found)? else { return Ok(None) };
                let finer = refined(affinity, groups, &labels, &spectral, &self.observer);
                if let Some(finer) = possible(finer)?.flatten() {
                    labels = finer;
                }
                unite_equal_leaves(&self.leaves, &mut labels, k, &self.observer)?;
                Ok(Some(labels))
            }
            _ => {
                let mut seconds = Seconds::default();
                let found = spectral_labels(
                    &self.leaves,
                    affinity,
                    self.distinct.map(|rows| &rows.copies[..]),
                    &spectral,
                    &mut seconds,
                    &self.observer,
                );
                Ok(possible(found)?.map(|found| found.labels))
            }
        }
    }
}

/// `None` for a K that cannot be fitted; cancellation stays an error.
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
    use crate::params::AffinityParams;
    use crate::points::Points;

    #[test]
    fn three_groups_are_found_as_three_clusters() {
        let values: Vec<f64> = (0..240).map(|i| f64::from(i % 3) * 20.0 + f64::from(i) * 0.01).collect();
        let points = Points::new(&values, 240, 1).unwrap();
        let params = RpfCluster { k: 3, ..Default::default() };
        for affinity in [AffinityParams::TopK { top: 10, power: 2.0 }, AffinityParams::Linear] {
            let forest = Forest::grow(&points, &params.forest_params(24)).unwrap();
            let setting = Setting { min_node: 24, affinity, method: Method::Kway };
            let found = partitions(&forest, setting, &params, &[2, 3, 4, 5], &Silent).unwrap();
            assert_eq!(found.iter().map(|p| p.k).collect::<Vec<_>>(), [2, 3, 4, 5]);
            let three = &found[1];
            let truth: Vec<u32> = (0..240).map(|i| i % 3).collect();
            assert_eq!(three.labels, truth);
            for p in &found {
                assert_eq!(p.labels.iter().max(), Some(&(p.k as u32 - 1)));
            }
        }
        assert!(
            partitions(
                &Forest::grow(&points, &params.forest_params(24)).unwrap(),
                Setting { min_node: 24, affinity: AffinityParams::Linear, method: Method::Ncut },
                &params,
                &[],
                &Silent
            )
            .unwrap()
            .is_empty()
        );
    }
}
