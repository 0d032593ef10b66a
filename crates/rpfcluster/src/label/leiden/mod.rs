//! The Leiden algorithm for community detection (Traag, Waltman and van Eck, Sci. Rep. 9, 5233, 2019).
//!
//! Maximises modularity with a resolution γ (Reichardt and Bornholdt 2006) or the constant Potts model (CPM; Traag, Van
//! Dooren and Nesterov 2011) of a weighted graph: `Σ_ij (A_ij - γ m_i m_j)` over pairs in one community, where the mass
//! m_i is k_i / sqrt(2m) or the number of rows. An iteration alternates `local_moving`, `refinement` and the aggregation
//! of `network` until every community is one node; the next iteration starts from its partition. `at_k` finds a
//! resolution for K communities, `merging` merges the surplus, `profile` counts the communities at many resolutions.
//!
//! Every community is connected, and no iteration lowers the quality. The diagonal of the graph and a constant common
//! to all pairs are left out: neither says which rows belong together, and for CPM the constant is a shift of γ.
//!
//! Sequential: nodes are visited in the order of their numbers, ties go to the lowest number, random numbers are hashes
//! of (seed, round, node). So the bits do not depend on the number of threads. About five sweeps over the stored pairs
//! per iteration; 24 bytes per stored pair and 60 per row.
//!
//! Written here rather than taken from a crate: of the published crates, `leiden-rs` 0.8 is the closest (both quality
//! functions, warm starts), but it cannot be cancelled, aggregates through a hash map of pairs with 64-bit indices, and
//! its labels follow its own generator, which a minor version may change; `single-clustering` 0.7 and `graphrs` 0.12 have
//! no warm start, which the search for K needs.

mod at_k;
mod local_moving;
mod merging;
mod network;
mod profile;
mod refinement;

use crate::affinity::SparseAffinity;
use crate::eigen::Quality;
use crate::error::{Error, Result, parameter};
use crate::graph::Components;
use crate::observe::{Observer, check};

pub(crate) use at_k::{AtK, MergeComponents};
use local_moving::{Communities, move_nodes, renumber};
use network::Network;
pub use profile::{ResolutionLevel, geometric_resolutions, resolution_profile};

/// Iterations at one resolution, at most. Later ones gain less than 1e-4 of the quality on the graphs of
/// bench/leiden.py.
const ITERATIONS: usize = 10;
/// Relative gain of quality below which an iteration is the last one.
const SMALL_GAIN: f64 = 1e-6;

/// A graph ready for community detection.
pub(crate) struct Leiden {
    network: Network,
    quality: Quality,
    seed: u64,
}

impl Leiden {
    /// Node i of the graph stands for `copies[i]` rows, which its weights count already.
    pub fn new(
        graph: &SparseAffinity,
        copies: Option<&[u32]>,
        quality: Quality,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let network = Network::new(graph, copies, observer)?;
        let network = match quality {
            Quality::Modularity => network.with_strengths(),
            Quality::Cpm => network,
        };
        Ok(Leiden { network, quality, seed })
    }

    /// What γ is multiplied with, so that gains are `weight - factor · γ · mass · mass`.
    fn factor(&self) -> f64 {
        match self.quality {
            Quality::Modularity if self.network.total > 0.0 => 1.0 / self.network.total,
            _ => 1.0,
        }
    }

    /// The resolution at which one community of all rows is as good as single rows: 1 for modularity, the mean weight of
    /// all pairs for CPM.
    fn unit(&self) -> f64 {
        let mass: f64 = self.network.masses.iter().sum();
        let unit = self.network.total / (mass * mass * self.factor());
        if unit > 0.0 { unit } else { 1.0 }
    }

    /// The communities at a resolution, numbered by first appearance, from single rows.
    pub fn communities(&self, resolution: f64, observer: &dyn Observer) -> Result<Vec<u32>> {
        let single = (0..self.network.n() as u32).collect();
        self.optimised(&self.network, single, resolution, ITERATIONS, observer)
    }

    /// Improves a partition of a network by at most `iterations` iterations.
    fn optimised(
        &self,
        network: &Network,
        mut labels: Vec<u32>,
        resolution: f64,
        iterations: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        let gamma = resolution * self.factor();
        let mut before = f64::NEG_INFINITY;
        for iteration in 0..iterations {
            let next = self.iterated(network, labels.clone(), gamma, iteration as u64, observer)?;
            let same = next == labels;
            labels = next;
            if same || iteration + 1 == iterations {
                break;
            }
            let after = potts(network, &labels, gamma);
            if after - before <= SMALL_GAIN * after.abs() {
                break;
            }
            before = after;
        }
        Ok(labels)
    }

    /// One iteration: levels of local moving, refinement and aggregation.
    fn iterated(
        &self,
        network: &Network,
        start: Vec<u32>,
        gamma: f64,
        iteration: u64,
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        let mut communities = Communities::new(network, start);
        let mut aggregate: Option<Network> = None;
        // The node of the current level that holds each node of the first.
        let mut node_of: Option<Vec<u32>> = None;
        for level in 0.. {
            check(observer)?;
            let current = aggregate.as_ref().unwrap_or(network);
            move_nodes(current, &mut communities, gamma, observer)?;
            if communities.renumber() == current.n() {
                break;
            }
            let round = iteration << 32 | level;
            let mut subsets = refinement::refine(current, &communities, gamma, (self.seed, round), observer)?;
            let count = renumber(&mut subsets, |_, _| ());
            if count == current.n() {
                break;
            }
            let next = current.aggregated(&subsets, count, observer)?;
            let mut of = vec![0; count];
            for (subset, community) in subsets.iter().zip(&communities.of) {
                of[*subset as usize] = *community;
            }
            node_of = Some(match node_of {
                Some(nodes) => nodes.iter().map(|node| subsets[*node as usize]).collect(),
                None => subsets,
            });
            communities = Communities::new(&next, of);
            aggregate = Some(next);
        }
        let labels = match node_of {
            Some(nodes) => nodes.iter().map(|node| communities.of[*node as usize]).collect(),
            None => communities.of,
        };
        connected(network, labels, observer)
    }

    /// The quality of a partition: modularity from -1/2 to 1, or the CPM sum over unordered pairs of rows.
    pub fn quality(&self, labels: &[u32], resolution: f64) -> f64 {
        let potts = potts(&self.network, labels, resolution * self.factor());
        match self.quality {
            Quality::Modularity if self.network.total > 0.0 => potts / self.network.total,
            Quality::Modularity => 0.0,
            // A row does not form a pair with itself.
            Quality::Cpm => 0.5 * (potts + resolution * self.network.masses.iter().sum::<f64>()),
        }
    }

    /// The connected components of the graph.
    fn components(&self, observer: &dyn Observer) -> Result<Components> {
        parts(&self.network, |_, _| true, observer)
    }
}

/// `Σ (A_ij - γ m_i m_j)` over the ordered pairs within communities.
fn potts(network: &Network, labels: &[u32], gamma: f64) -> f64 {
    let mut masses = vec![0.0; network.n()];
    let mut inside = 0.0;
    for node in 0..network.n() {
        masses[labels[node] as usize] += network.masses[node];
        for (other, weight) in network.neighbors(node) {
            if labels[other] == labels[node] {
                inside += weight;
            }
        }
    }
    inside - gamma * masses.iter().fold(0.0, |sum, mass| sum + mass * mass)
}

/// The connected parts of the network among the pairs that `joined` accepts.
fn parts(
    network: &Network,
    joined: impl Fn(usize, usize) -> bool,
    observer: &dyn Observer,
) -> Result<Components> {
    let mut visited = 0usize;
    Components::by_search(network.n(), |node, visit| {
        visited += 1;
        if visited.is_multiple_of(4096) {
            check(observer)?;
        }
        network.neighbors(node).filter(|(other, _)| joined(node, *other)).for_each(|(other, _)| visit(other));
        Ok(())
    })
}

/// Splits communities that are not connected, which increases the quality; numbered by first appearance.
fn connected(network: &Network, labels: Vec<u32>, observer: &dyn Observer) -> Result<Vec<u32>> {
    Ok(parts(network, |a, b| labels[a] == labels[b], observer)?.of)
}

/// The number of communities of labels that are numbered from 0.
fn count(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |most| *most as usize + 1)
}

/// The communities of a graph at a resolution, numbered by first appearance.
///
/// ```
/// use rpfcluster::affinity::SparseAffinity;
/// use rpfcluster::leiden::{Quality, communities};
/// use rpfcluster::Silent;
/// // Two triangles joined by an edge.
/// let edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)];
/// let mut matrix = vec![0.0; 36];
/// for (i, j) in edges {
///     matrix[i * 6 + j] = 1.0;
///     matrix[j * 6 + i] = 1.0;
/// }
/// let graph = SparseAffinity::precomputed_dense(&matrix, 6, &Silent)?;
/// assert_eq!(communities(&graph, Quality::Modularity, 1.0, 0, &Silent)?, [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), rpfcluster::Error>(())
/// ```
pub fn communities(
    graph: &SparseAffinity,
    quality: Quality,
    resolution: f64,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    check_resolution(resolution)?;
    Leiden::new(graph, None, quality, seed, observer)?.communities(resolution, observer)
}

/// K communities of a graph at the resolution found for K, which is returned too. Where no resolution gives K, pairs of
/// a finer partition are merged; more components than K are merged into the largest.
pub fn communities_at_k(
    graph: &SparseAffinity,
    quality: Quality,
    k: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<(Vec<u32>, f64)> {
    let found = Leiden::new(graph, None, quality, seed, observer)?.at_k(k, None, observer)?;
    Ok((found.labels, found.resolution))
}

/// The quality of a partition of a graph: modularity, or the CPM sum over unordered pairs.
pub fn partition_quality(
    graph: &SparseAffinity,
    quality: Quality,
    labels: &[u32],
    resolution: f64,
    observer: &dyn Observer,
) -> Result<f64> {
    check_resolution(resolution)?;
    if labels.len() != graph.n() {
        return Err(Error::Length { what: "labels", got: labels.len(), expected: graph.n() });
    }
    if let Some(most) = labels.iter().find(|label| **label as usize >= graph.n()) {
        return Err(parameter("label", most, format!("below the number of points, which is {}", graph.n())));
    }
    Ok(Leiden::new(graph, None, quality, 0, observer)?.quality(labels, resolution))
}

/// An error for a resolution that is not a positive number.
pub(crate) fn check_resolution(resolution: f64) -> Result<()> {
    match resolution.is_finite() && resolution > 0.0 {
        true => Ok(()),
        false => Err(parameter("resolution", resolution, "above 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::{SparseAffinity, Weights};
    use crate::observe::Silent;

    /// A triangle of weight 2 with a tail of weight 0.5.
    fn graph() -> SparseAffinity {
        let (indptr, indices) = (vec![0, 2, 4, 7, 8], vec![1, 2, 0, 2, 0, 1, 3, 2]);
        let weights = Weights::Values(vec![2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.5, 0.5]);
        SparseAffinity::new(0.0, indptr, indices, weights).unwrap()
    }

    #[test]
    fn at_the_unit_of_resolution_one_community_has_no_quality() {
        for (quality, unit) in [(Quality::Modularity, 1.0), (Quality::Cpm, 13.0 / 16.0)] {
            let leiden = Leiden::new(&graph(), None, quality, 0, &Silent).unwrap();
            assert!((leiden.unit() - unit).abs() < 1e-15, "{quality:?}: {}", leiden.unit());
            let all = potts(&leiden.network, &[0; 4], leiden.unit() * leiden.factor());
            assert!(all.abs() < 1e-12, "{quality:?}: {all}");
        }
    }
}
