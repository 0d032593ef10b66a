//! The settings that are tried: few, spread over what differs most. A parameter the user gave has one value.

use crate::affinity::Diagonal;
use crate::cluster::{AffinityKind, AffinityParams, RpfCluster, linear_min_node};

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
        if named(AffinityKind::TopK) && level == 0 {
            for top in params.top.map_or(vec![5, 10, 20], |top| vec![top]) {
                for power in params.power.map_or(vec![1.0, 2.0, 4.0, 8.0], |power| vec![power]) {
                    // So high a power leaves a short list with nothing but its first few.
                    if power < 8.0 || top >= 20 || params.top.is_some() || params.power.is_some() {
                        add(AffinityParams::TopK { top, power });
                    }
                }
            }
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
    if named(AffinityKind::Linear) {
        let own = (n / 5).min(linear_min_node(n)).max(base);
        all.push(Setting { min_node: params.min_node.unwrap_or(own), affinity: AffinityParams::Linear });
    }
    all
}
