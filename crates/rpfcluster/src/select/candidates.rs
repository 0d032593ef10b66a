//! The grid of settings that are tried: affinity, its parameters and min_node. A parameter that the user gave keeps its
//! value; `paper` is tried unasked on small tables only. docs/notes/2026-11-consensus-rule.md compares grids.

use crate::affinity::Diagonal;
use crate::eigen::Method;
use crate::params::{AffinityKind, AffinityParams, RpfCluster, Setting, linear_min_node};

/// Largest number of rows for which `paper` is tried unasked; it keeps many pairs per row.
const PAPER_BELOW: usize = 3000;

/// Neighbours of `top-k`.
const TOPS: [usize; 3] = [5, 10, 20];
/// Exponents of `top-k`.
const POWERS: [f64; 3] = [1.0, 2.0, 4.0];
/// The list length that the largest exponent is tried with: of a shorter list it leaves only the first few.
const SHARP_TOP: usize = 20;
/// The largest exponent that is tried.
const SHARP_POWER: f64 = 8.0;

/// The grid for these parameters and n rows, on a forest grown at `base`.
pub(crate) fn settings(params: &RpfCluster, n: usize, base: usize) -> Vec<Setting> {
    let mut all = Vec::new();
    let method = params.method.unwrap_or_default();
    let at = |min_node, affinity| Setting { min_node, affinity, method };
    // A leaf that holds most of a small table separates nothing.
    let larger = super::MIN_NODES.into_iter().filter(|&m| m > base && m * 4 <= n);
    let min_nodes: Vec<usize> = match params.min_node {
        Some(given) => vec![given],
        None => std::iter::once(base).chain(larger).collect(),
    };
    let named = |kind: AffinityKind| match params.affinity {
        Some(given) => given == kind,
        // A parameter that only one affinity has implies that affinity.
        None if params.beta1.is_some() || params.beta2.is_some() => kind == AffinityKind::Paper,
        None if params.top.is_some() || params.power.is_some() => kind == AffinityKind::TopK,
        None => kind != AffinityKind::Paper || n <= PAPER_BELOW,
    };
    let paper_given =
        params.affinity == Some(AffinityKind::Paper) || params.beta1.is_some() || params.beta2.is_some();
    if named(AffinityKind::TopK) {
        for top in params.top.map_or(TOPS.to_vec(), |top| vec![top]) {
            let mut powers = params.power.map_or(POWERS.to_vec(), |power| vec![power]);
            if params.power.is_none() && (params.top.is_some() || top == SHARP_TOP) {
                powers.push(SHARP_POWER);
            }
            all.extend(powers.into_iter().map(|power| at(min_nodes[0], AffinityParams::TopK { top, power })));
        }
    }
    if named(AffinityKind::Paper) {
        let (diagonal, open) =
            if paper_given { (params.diagonal, vec![0.1, 0.3]) } else { (Diagonal::Drop, vec![0.1]) };
        for &min_node in if paper_given { &min_nodes[..] } else { &min_nodes[..1] } {
            for &beta1 in &params.beta1.map_or(open.clone(), |b| vec![b]) {
                for &beta2 in &params.beta2.map_or(open.clone(), |b| vec![b]) {
                    all.push(at(min_node, AffinityParams::Paper { beta1, beta2, diagonal }));
                }
            }
        }
    }
    // The factored kernel has no pairs to find communities of.
    if named(AffinityKind::Linear) && method != Method::Leiden {
        let own = (n / 5).min(linear_min_node(n)).max(base);
        all.push(at(params.min_node.unwrap_or(own), AffinityParams::Linear));
    }
    all
}
