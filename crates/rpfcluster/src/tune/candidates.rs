//! The settings that are tried: few, spread over what differs most. A parameter the user gave has one value.

use crate::affinity::Diagonal;
use crate::cluster::{AffinityKind, AffinityParams, RpfCluster};

/// `paper` keeps many pairs a row; beyond this many rows it is tried only when asked for.
const PAPER_BELOW: usize = 3000;

/// A setting to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setting {
    pub min_node: usize,
    pub affinity: AffinityParams,
}

/// The grid for this user's parameters and n rows, on a forest grown at `base`.
pub(crate) fn settings(params: &RpfCluster, n: usize, base: usize) -> Vec<Setting> {
    let mut all = Vec::new();
    // A leaf that is most of a small table tells nothing apart.
    let larger = super::MIN_NODES.into_iter().filter(|&m| m > base && m * 4 <= n);
    let min_nodes: Vec<usize> = match params.min_node {
        Some(given) => vec![given],
        None => std::iter::once(base).chain(larger).collect(),
    };
    let named = |kind: AffinityKind| match params.affinity {
        Some(given) => given == kind,
        // A number of one affinity names it.
        None if params.beta1.is_some() || params.beta2.is_some() => kind == AffinityKind::Paper,
        None if params.top.is_some() || params.power.is_some() => kind == AffinityKind::TopK,
        None => kind != AffinityKind::Paper || n <= PAPER_BELOW,
    };
    let asked_paper =
        params.affinity == Some(AffinityKind::Paper) || params.beta1.is_some() || params.beta2.is_some();
    for (level, &min_node) in min_nodes.iter().enumerate() {
        let mut add = |affinity| all.push(Setting { min_node, affinity });
        if named(AffinityKind::TopK) {
            // The larger min_node is tried with the middle of the grid only: more of it cost time and chose no better.
            let whole = level == 0;
            let tops = params.top.map_or(if whole { vec![5, 10, 20] } else { vec![10] }, |top| vec![top]);
            let powers =
                params.power.map_or(if whole { vec![2.0, 4.0, 8.0] } else { vec![4.0] }, |p| vec![p]);
            for &top in &tops {
                for &power in &powers {
                    add(AffinityParams::TopK { top, power });
                }
            }
        }
        if named(AffinityKind::Linear) && level == 0 {
            add(AffinityParams::Linear);
        }
        if named(AffinityKind::Paper) && (level == 0 || asked_paper) {
            let diagonal = if asked_paper { params.diagonal } else { Diagonal::Drop };
            let open = if asked_paper { vec![0.1, 0.3] } else { vec![0.1] };
            for &beta1 in &params.beta1.map_or(open.clone(), |b| vec![b]) {
                for &beta2 in &params.beta2.map_or(open.clone(), |b| vec![b]) {
                    add(AffinityParams::Paper { beta1, beta2, diagonal });
                }
            }
        }
    }
    all
}
