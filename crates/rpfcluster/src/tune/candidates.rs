//! The settings that are tried: few, spread over what differs most. A parameter the user gave has one value.

use crate::affinity::Diagonal;
use crate::cluster::{AffinityKind, AffinityParams, RpfCluster, linear_min_node};
use crate::tune::MIN_NODES;

/// `paper` keeps many pairs a row; beyond this many rows it is tried only when asked for.
const PAPER_BELOW: usize = 3000;

/// A setting to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setting {
    pub min_node: usize,
    pub affinity: AffinityParams,
}

/// Neighbours and powers of `top-k`, and the one setting of a high power: at others it isolates outliers.
const TOPS: [usize; 3] = [5, 10, 20];
const POWERS: [f64; 3] = [1.0, 2.0, 4.0];
const SHARPEST: (usize, f64) = (10, 8.0);

/// The grid for this user's parameters and n rows, on a forest grown at `base`.
pub(crate) fn settings(params: &RpfCluster, n: usize, base: usize) -> Vec<Setting> {
    let mut all = Vec::new();
    let mut add = |min_node: usize, affinity| {
        all.push(Setting { min_node: params.min_node.unwrap_or(min_node.max(base)), affinity });
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
    if named(AffinityKind::TopK) {
        for &top in &params.top.map_or(TOPS.to_vec(), |top| vec![top]) {
            for &power in &params.power.map_or(POWERS.to_vec(), |power| vec![power]) {
                add(base, AffinityParams::TopK { top, power });
            }
            if params.power.is_none() && (params.top.is_some() || top == SHARPEST.0) {
                add(base, AffinityParams::TopK { top, power: SHARPEST.1 });
            }
        }
    }
    if named(AffinityKind::Linear) {
        add(linear_min_node(n).min(n / 5), AffinityParams::Linear);
    }
    if named(AffinityKind::Paper) {
        let diagonal = if asked_paper { params.diagonal } else { Diagonal::Drop };
        let open = if asked_paper { vec![0.1, 0.3] } else { vec![0.1] };
        let min_nodes = if asked_paper { MIN_NODES.to_vec() } else { vec![base] };
        // A leaf that is most of a small table tells nothing apart.
        for min_node in min_nodes.into_iter().filter(|&m| m <= base || m * 4 <= n) {
            for &beta1 in &params.beta1.map_or(open.clone(), |b| vec![b]) {
                for &beta2 in &params.beta2.map_or(open.clone(), |b| vec![b]) {
                    add(min_node, AffinityParams::Paper { beta1, beta2, diagonal });
                }
            }
        }
    }
    all.dedup();
    all
}
