//! The settings that are compared when affinity or min_node are left open: the default, and one of each other family.
//!
//! The families fail on different tables. A *sharp* graph (20 neighbours, power 8) follows thin and curved clusters; a *soft*
//! one (10, power 2) keeps clusters of varying density whole; *coarse* leaves with the factored kernel find overlapping
//! clusters of a small table. A parameter that the user gave keeps its value in every setting.
//! docs/notes/2026-11-families.md compares families and margins.

use crate::eigen::Method;
use crate::params::{AffinityParams, RpfCluster, Setting};

/// Neighbours and power of the soft graph.
const SOFT: (usize, f64) = (10, 2.0);
/// Leaves of the coarse family hold at most this share of the rows.
const COARSE_SHARE: usize = 8;
/// Prediction strength by which the soft graph must exceed the default.
const SOFT_MARGIN: f64 = 0.1;
/// Prediction strength by which coarse leaves must exceed the default. They are reproduced more easily than they are right.
const COARSE_MARGIN: f64 = 0.3;
/// Thresholds and bandwidths of `paper` beside the default, where they are open.
const PAPER: [(f64, f64); 3] = [(0.1, 0.1), (0.3, 0.1), (0.3, 0.3)];

/// A setting, and the prediction strength by which it must exceed the first of the list to be chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Family {
    pub setting: Setting,
    pub margin: f64,
}

/// The default for these parameters and `n` rows of `d` columns, and the settings that are compared with it. The same parameters give the
/// same families for every `n`, with `min_node` in proportion.
pub(crate) fn families(params: &RpfCluster, n: usize, d: usize, has_categories: bool) -> Vec<Family> {
    let method = params.method.unwrap_or_default();
    let at = |min_node, affinity, margin| Family { setting: Setting { min_node, affinity, method }, margin };
    let min_node = params.fixed_min_node(n);
    let default = params.default_affinity(has_categories);
    let mut all = vec![at(min_node, default, 0.0)];
    // In the plane clusters are often curved; the other families cut them across, and halves of the rows agree on that.
    if d <= 2 {
        return all;
    }
    match default {
        AffinityParams::Linear => {}
        AffinityParams::Paper { beta1, beta2, diagonal } => {
            let open = |given: Option<f64>, own: f64, other: f64| if given.is_some() { own } else { other };
            for (threshold, bandwidth) in PAPER {
                let beta1 = open(params.beta1, beta1, threshold);
                let beta2 = open(params.beta2, beta2, bandwidth);
                all.push(at(min_node, AffinityParams::Paper { beta1, beta2, diagonal }, SOFT_MARGIN));
            }
        }
        AffinityParams::TopK { top, power } => {
            let top = if params.top.is_some() { top } else { SOFT.0 };
            let power = if params.power.is_some() { power } else { SOFT.1 };
            all.push(at(min_node, AffinityParams::TopK { top, power }, SOFT_MARGIN));
            // The factored kernel has no pairs to find communities of.
            let open = params.affinity.is_none() && params.top.is_none() && params.power.is_none();
            if open && method != Method::Leiden {
                let coarse = params.min_node.unwrap_or((n / COARSE_SHARE).max(min_node));
                all.push(at(coarse, AffinityParams::Linear, COARSE_MARGIN));
            }
        }
    }
    let mut kept: Vec<Family> = Vec::with_capacity(all.len());
    for family in all {
        if kept.iter().all(|other| other.setting != family.setting) {
            kept.push(family);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::Diagonal;
    use crate::params::AffinityKind;

    fn kinds(params: &RpfCluster) -> Vec<AffinityKind> {
        families(params, 1000, 5, false).iter().map(|family| family.setting.affinity.kind()).collect()
    }

    #[test]
    fn given_parameters_keep_their_value_in_every_family() {
        let open = RpfCluster::default();
        assert_eq!(kinds(&open), [AffinityKind::TopK, AffinityKind::TopK, AffinityKind::Linear]);
        let top = RpfCluster { top: Some(7), ..open.clone() };
        let found = families(&top, 1000, 5, false);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|f| matches!(f.setting.affinity, AffinityParams::TopK { top: 7, .. })));
        let both = RpfCluster { power: Some(3.0), ..top };
        assert_eq!(families(&both, 1000, 5, false).len(), 1);
        assert_eq!(
            kinds(&RpfCluster { affinity: Some(AffinityKind::Linear), ..open.clone() }),
            [AffinityKind::Linear]
        );
        let paper = RpfCluster { beta1: Some(0.2), ..open.clone() };
        let found = families(&paper, 1000, 5, false);
        assert!(found.len() > 1);
        let dropped = RpfCluster { diagonal: Diagonal::Drop, ..paper };
        for family in found.iter().chain(&families(&dropped, 1000, 5, false)) {
            assert!(
                matches!(family.setting.affinity, AffinityParams::Paper { beta1: 0.2, .. }),
                "{family:?}"
            );
        }
        let nodes = RpfCluster { min_node: Some(50), ..open };
        assert!(families(&nodes, 1000, 5, false).iter().all(|family| family.setting.min_node == 50));
    }

    #[test]
    fn families_do_not_depend_on_the_number_of_rows() {
        for params in [RpfCluster::default(), RpfCluster { beta2: Some(0.2), ..Default::default() }] {
            let of =
                |n| families(&params, n, 5, false).iter().map(|f| f.setting.affinity).collect::<Vec<_>>();
            assert_eq!(of(20), of(100_000));
        }
    }

    #[test]
    fn default_is_not_compared_in_the_plane() {
        assert_eq!(families(&RpfCluster::default(), 1000, 2, false).len(), 1);
    }
}
