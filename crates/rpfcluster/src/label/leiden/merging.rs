//! Merges communities to a given number: always the adjacent pair whose merging gains most quality, or loses least
//! (Clauset, Newman and Moore 2004, on the network of communities). Ties go to the lowest numbers. Connected communities
//! stay connected. O(pairs of adjacent communities · log) for most networks.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use super::network::Network;
use crate::error::Result;
use crate::observe::{Observer, check};

/// The best partner of a community when it was looked for.
struct Offer {
    gain: f64,
    community: u32,
    partner: u32,
    /// The version of both communities; an offer of earlier versions is void.
    versions: [u32; 2],
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> Ordering {
        let pair = |o: &Offer| (o.community.min(o.partner), o.community.max(o.partner));
        self.gain.total_cmp(&other.gain).then(pair(other).cmp(&pair(self)))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Offer {}

/// The group, below the number of communities, of each node of a network of communities, with `k` groups; more where
/// fewer would need to join groups without a weight between them.
pub(super) fn merged(network: &Network, gamma: f64, k: usize, observer: &dyn Observer) -> Result<Vec<u32>> {
    let n = network.n();
    let mut group_of: Vec<u32> = (0..n as u32).collect();
    let mut around: Vec<BTreeMap<u32, f64>> = (0..n)
        .map(|node| network.neighbors(node).map(|(other, weight)| (other as u32, weight)).collect())
        .collect();
    let mut masses = network.masses.clone();
    let mut versions = vec![0u32; n];
    let mut heap = BinaryHeap::new();
    let best = |own: u32, around: &[BTreeMap<u32, f64>], masses: &[f64], versions: &[u32]| {
        let offers = around[own as usize].iter().map(|(partner, weight)| Offer {
            gain: weight - gamma * masses[own as usize] * masses[*partner as usize],
            community: own,
            partner: *partner,
            versions: [versions[own as usize], versions[*partner as usize]],
        });
        offers.max()
    };
    heap.extend((0..n as u32).filter_map(|own| best(own, &around, &masses, &versions)));
    let mut left = n;
    while left > k {
        let Some(offer) = heap.pop() else { break };
        let (a, b) = (offer.community.min(offer.partner), offer.community.max(offer.partner));
        if versions[offer.community as usize] != offer.versions[0] {
            continue;
        }
        if versions[offer.partner as usize] != offer.versions[1] {
            // The partner has changed since: look again.
            heap.extend(best(offer.community, &around, &masses, &versions));
            continue;
        }
        check(observer)?;
        masses[a as usize] += masses[b as usize];
        let moved = std::mem::take(&mut around[b as usize]);
        around[a as usize].remove(&b);
        for (other, weight) in moved {
            if other != a {
                around[other as usize].remove(&b);
                *around[other as usize].entry(a).or_insert(0.0) += weight;
                *around[a as usize].entry(other).or_insert(0.0) += weight;
            }
        }
        versions[a as usize] += 1;
        versions[b as usize] += 1;
        group_of[b as usize] = a;
        left -= 1;
        // The merged community offers to all its neighbours, so that none misses a better partner than before.
        heap.extend(best(a, &around, &masses, &versions));
    }
    for node in 0..n {
        // A group joins a lower number, which is resolved already.
        group_of[node] = group_of[group_of[node] as usize];
    }
    Ok(group_of)
}
