//! Fast local moving of nodes (Traag et al. 2019, Algorithm A.2, lines 13 to 24), and a partition with the masses of its
//! communities.
//!
//! The nodes wait in a queue, first in the order of their numbers. A node moves to the neighbouring or empty community of
//! the largest gain; of equal gains it prefers the community it is in, then the lowest number. Its neighbours in other
//! communities join the end of the queue. Ends when the queue is empty: then no single node can improve the quality.
//! Every move increases the quality by more than rounding. O(stored pairs) per sweep.

use std::collections::VecDeque;

use super::network::{NeighborSums, Network};
use crate::error::Result;
use crate::observe::{Observer, check};

/// Gains below this share of the node's strength are rounding.
const ROUNDING: f64 = 1e-10;
/// Nodes between two checks for cancellation.
const CANCEL_CHECK_NODES: usize = 4096;

/// The communities of the nodes of a network.
#[derive(Debug, Clone)]
pub(super) struct Communities {
    /// The community of each node.
    pub of: Vec<u32>,
    /// The mass of each community.
    pub masses: Vec<f64>,
    /// The number of nodes of each community.
    sizes: Vec<u32>,
}

impl Communities {
    /// The communities with these numbers, each below the number of nodes.
    pub fn new(network: &Network, of: Vec<u32>) -> Self {
        let mut masses = vec![0.0; network.n()];
        let mut sizes = vec![0; network.n()];
        for (community, mass) in of.iter().zip(&network.masses) {
            masses[*community as usize] += mass;
            sizes[*community as usize] += 1;
        }
        Communities { of, masses, sizes }
    }

    /// Renumbers the communities by first appearance and returns their number.
    pub fn renumber(&mut self) -> usize {
        let (mut masses, mut sizes) = (vec![0.0; self.of.len()], vec![0; self.of.len()]);
        let count = renumber(&mut self.of, |old, new| {
            (masses[new], sizes[new]) = (self.masses[old], self.sizes[old]);
        });
        (self.masses, self.sizes) = (masses, sizes);
        count
    }
}

/// Renumbers labels below their number by first appearance; returns how many there are. `each` gets the old and the new
/// number of each.
pub(super) fn renumber(labels: &mut [u32], mut each: impl FnMut(usize, usize)) -> usize {
    const UNSEEN: u32 = u32::MAX;
    let mut new = vec![UNSEEN; labels.len()];
    let mut count = 0u32;
    for label in labels {
        let slot = &mut new[*label as usize];
        if *slot == UNSEEN {
            *slot = count;
            each(*label as usize, count as usize);
            count += 1;
        }
        *label = *slot;
    }
    count as usize
}

/// Moves nodes until no single move improves the quality; returns whether any moved.
pub(super) fn move_nodes(
    network: &Network,
    communities: &mut Communities,
    gamma: f64,
    observer: &dyn Observer,
) -> Result<bool> {
    let n = network.n();
    let mut queue: VecDeque<u32> = (0..n as u32).collect();
    let mut waiting = vec![true; n];
    // Empty communities, the lowest number last.
    let mut empty: Vec<u32> = (0..n as u32).rev().filter(|c| communities.sizes[*c as usize] == 0).collect();
    let mut sums = NeighborSums::new(n);
    let mut moved = false;
    let mut visited = 0usize;
    while let Some(node) = queue.pop_front() {
        if visited.is_multiple_of(CANCEL_CHECK_NODES) {
            check(observer)?;
        }
        visited += 1;
        let node = node as usize;
        waiting[node] = false;
        let (own, mass) = (communities.of[node], network.masses[node]);
        let mut strength = 0.0;
        for (other, weight) in network.neighbors(node) {
            strength += weight;
            sums.add(communities.of[other], weight);
        }
        let gain = |community: u32, others: f64| sums.get(community) - gamma * mass * others;
        let stay = gain(own, communities.masses[own as usize] - mass);
        let mut best = (stay + ROUNDING * strength, own);
        for &community in &sums.touched {
            if community != own {
                let found = gain(community, communities.masses[community as usize]);
                if found > best.0 || (found == best.0 && best.1 != own && community < best.1) {
                    best = (found, community);
                }
            }
        }
        // An empty community has gain 0.
        if best.0 < 0.0
            && communities.sizes[own as usize] > 1
            && let Some(&community) = empty.last()
        {
            best.1 = community;
        }
        sums.clear();
        let target = best.1;
        if target == own {
            continue;
        }
        moved = true;
        if communities.sizes[target as usize] == 0 {
            empty.pop();
        }
        communities.masses[own as usize] -= mass;
        communities.sizes[own as usize] -= 1;
        if communities.sizes[own as usize] == 0 {
            communities.masses[own as usize] = 0.0;
            empty.push(own);
        }
        communities.masses[target as usize] += mass;
        communities.sizes[target as usize] += 1;
        communities.of[node] = target;
        for (other, _) in network.neighbors(node) {
            if !waiting[other] && communities.of[other] != target {
                waiting[other] = true;
                queue.push_back(other as u32);
            }
        }
    }
    Ok(moved)
}
