//! Refinement of a partition (Traag et al. 2019, Algorithm A.2, lines 25 to 41): every community is built again from
//! single nodes, which merge only within it, only with well-connected subsets and only at no loss. So the subsets are
//! connected, whatever the community was.
//!
//! A node chooses among the subsets at random, with probability proportional to exp(gain / θ). The draw is a hash of the
//! seed, the round and the node. One sweep over the stored pairs.

use super::local_moving::Communities;
use super::network::{NeighborSums, Network};
use crate::error::Result;
use crate::observe::{Observer, check};
use crate::random::{Purpose, Stream};

/// θ, as a share of the mean weight of the stored pairs: the value of the reference, which has weights of about 1.
const TEMPERATURE: f64 = 0.01;
/// A gain this many θ below the largest has probability below 1e-17.
const NEGLIGIBLE: f64 = 40.0;
/// Nodes between two checks for cancellation.
const CANCEL_CHECK_NODES: usize = 4096;

/// The subset of each node, a number below that of the nodes. `round` tells apart the draws of a level and iteration.
pub(super) fn refine(
    network: &Network,
    communities: &Communities,
    gamma: f64,
    (seed, round): (u64, u64),
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let n = network.n();
    let mut subset_of: Vec<u32> = (0..n as u32).collect();
    let mut masses = network.masses.clone();
    let mut single = vec![true; n];
    // The weight from each subset to the rest of its community.
    let mut cut = vec![0.0; n];
    let mut pairs = 0usize;
    for (node, cut) in cut.iter_mut().enumerate() {
        if node.is_multiple_of(CANCEL_CHECK_NODES) {
            check(observer)?;
        }
        for (other, weight) in network.neighbors(node) {
            pairs += 1;
            if communities.of[other] == communities.of[node] {
                *cut += weight;
            }
        }
    }
    let theta = TEMPERATURE * network.total / pairs.max(1) as f64;
    let mut sums = NeighborSums::new(n);
    let mut candidates: Vec<(u32, f64)> = Vec::new();
    for node in 0..n {
        if node.is_multiple_of(CANCEL_CHECK_NODES) {
            check(observer)?;
        }
        let community = communities.of[node];
        let whole = communities.masses[community as usize];
        let mass = network.masses[node];
        if !single[subset_of[node] as usize] || cut[node] < gamma * mass * (whole - mass) {
            continue;
        }
        for (other, weight) in network.neighbors(node) {
            if communities.of[other] == community {
                sums.add(subset_of[other], weight);
            }
        }
        candidates.clear();
        candidates.push((node as u32, 0.0));
        for &subset in &sums.touched {
            let inside = masses[subset as usize];
            let gain = sums.get(subset) - gamma * mass * inside;
            if gain >= 0.0 && cut[subset as usize] >= gamma * inside * (whole - inside) {
                candidates.push((subset, gain));
            }
        }
        let chosen =
            draw(&candidates, theta, || Stream::new(seed, Purpose::Leiden, round, node as u64).uniform());
        if chosen as usize != node {
            let to = chosen as usize;
            cut[to] += cut[node] - 2.0 * sums.get(chosen);
            masses[to] += mass;
            single[to] = false;
            subset_of[node] = chosen;
        }
        sums.clear();
    }
    Ok(subset_of)
}

/// One of the candidates, with probability proportional to exp(gain / θ).
fn draw(candidates: &[(u32, f64)], theta: f64, uniform: impl FnOnce() -> f64) -> u32 {
    let best = candidates.iter().fold((0, f64::NEG_INFINITY), |best, c| if c.1 > best.1 { *c } else { best });
    let weight = |gain: f64| {
        let below = (best.1 - gain) / theta;
        if below < NEGLIGIBLE { libm::exp(-below) } else { 0.0 }
    };
    let total: f64 = candidates.iter().map(|c| weight(c.1)).sum();
    if total <= 1.0 {
        return best.0;
    }
    let mut left = uniform() * total;
    for &(subset, gain) in candidates {
        left -= weight(gain);
        if left < 0.0 {
            return subset;
        }
    }
    best.0
}
