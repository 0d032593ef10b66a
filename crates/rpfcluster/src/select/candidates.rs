//! The settings that are tried: few, spread over what differs most. A parameter the user gave has one value.

use crate::affinity::Diagonal;
use crate::pipeline::{AffinityKind, AffinityParams, RpfCluster, linear_min_node};

/// `paper` keeps many pairs a row; beyond this many rows it is tried only when asked for.
const PAPER_BELOW: usize = 3000;

/// A setting to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setting {
    pub min_node: usize,
    pub affinity: AffinityParams,
}

/// Neighbours and powers of `top-k`, and where a high power is tried: it leaves a shorter list with its first few only.
const TOPS: [usize; 3] = [5, 10, 20];
const POWERS: [f64; 3] = [1.0, 2.0, 4.0];
const SHARPEST: (usize, f64) = (20, 8.0);

/// The grid for this user's parameters and n rows, on a forest grown at `base`.
pub(crate) fn settings(params: &RpfCluster, n: usize, base: usize) -> Vec<Setting> {
    let mut all = Vec::new();
    let at = |min_node, affinity| Setting { min_node, affinity };
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
    if named(AffinityKind::TopK) {
        for top in params.top.map_or(TOPS.to_vec(), |top| vec![top]) {
            let mut powers = params.power.map_or(POWERS.to_vec(), |power| vec![power]);
            if params.power.is_none() && (params.top.is_some() || top == SHARPEST.0) {
                powers.push(SHARPEST.1);
            }
            all.extend(powers.into_iter().map(|power| at(min_nodes[0], AffinityParams::TopK { top, power })));
        }
    }
    if named(AffinityKind::Paper) {
        let (diagonal, open) =
            if asked_paper { (params.diagonal, vec![0.1, 0.3]) } else { (Diagonal::Drop, vec![0.1]) };
        for &min_node in if asked_paper { &min_nodes[..] } else { &min_nodes[..1] } {
            for &beta1 in &params.beta1.map_or(open.clone(), |b| vec![b]) {
                for &beta2 in &params.beta2.map_or(open.clone(), |b| vec![b]) {
                    all.push(at(min_node, AffinityParams::Paper { beta1, beta2, diagonal }));
                }
            }
        }
    }
    if named(AffinityKind::Linear) {
        let own = (n / 5).min(linear_min_node(n)).max(base);
        all.push(at(params.min_node.unwrap_or(own), AffinityParams::Linear));
    }
    all
}
