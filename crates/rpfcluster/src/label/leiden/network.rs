//! The network of one level: neighbours by rows (CSR) without self-loops, the mass of each node, and its aggregation by
//! a partition.
//!
//! The mass of a node is what the quality function compares the weights with: the strength (row sum) for modularity, the
//! number of rows for CPM. Twelve bytes per stored pair. Sums run in the order of the rows.

use crate::error::Result;
use crate::graph::{CANCEL_CHECK_ROWS, SparseAffinity};
use crate::observe::{Observer, check};

/// Nodes, their neighbours and masses.
#[derive(Debug, Clone)]
pub(super) struct Network {
    starts: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    /// Strength or number of rows of each node.
    pub masses: Vec<f64>,
    /// The sum of both triangles of the weights, including those within nodes.
    pub total: f64,
}

impl Network {
    /// The stored pairs of a graph without its diagonal and its constant. Node i stands for `copies[i]` rows; the
    /// weights count them already. The masses are 1 per row.
    pub fn new(graph: &SparseAffinity, copies: Option<&[u32]>, observer: &dyn Observer) -> Result<Self> {
        let n = graph.n();
        let mut starts = Vec::with_capacity(n + 1);
        let mut targets = Vec::with_capacity(graph.indices().len());
        let mut weights = Vec::with_capacity(graph.indices().len());
        let mut total = 0.0;
        starts.push(0);
        for row in 0..n {
            if row.is_multiple_of(CANCEL_CHECK_ROWS) {
                check(observer)?;
            }
            for e in graph.indptr()[row]..graph.indptr()[row + 1] {
                let weight = graph.weights().get(e);
                if graph.indices()[e] as usize != row && weight > 0.0 {
                    targets.push(graph.indices()[e]);
                    weights.push(weight);
                    total += weight;
                }
            }
            starts.push(targets.len());
        }
        let masses = match copies {
            Some(copies) => copies.iter().map(|copies| f64::from(*copies)).collect(),
            None => vec![1.0; n],
        };
        Ok(Network { starts, targets, weights, masses, total })
    }

    /// Replaces the masses by the strengths of the nodes.
    pub fn with_strengths(mut self) -> Self {
        self.masses = (0..self.n()).map(|node| self.neighbors(node).fold(0.0, |s, (_, w)| s + w)).collect();
        self
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.starts.len() - 1
    }

    /// The neighbours of a node and the weights to them.
    #[inline]
    pub fn neighbors(&self, node: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[node]..self.starts[node + 1];
        let targets = self.targets[range.clone()].iter().map(|t| *t as usize);
        targets.zip(self.weights[range].iter().copied())
    }

    /// The network whose nodes are the groups of `group_of`, numbered from 0 to `groups` - 1.
    pub fn aggregated(&self, group_of: &[u32], groups: usize, observer: &dyn Observer) -> Result<Self> {
        let members = members(group_of, groups);
        let mut masses = vec![0.0; groups];
        let mut sums = NeighborSums::new(groups);
        let (mut starts, mut targets, mut weights) = (Vec::with_capacity(groups + 1), Vec::new(), Vec::new());
        starts.push(0);
        for (group, mass) in masses.iter_mut().enumerate() {
            if group.is_multiple_of(CANCEL_CHECK_ROWS) {
                check(observer)?;
            }
            for &node in members.of(group) {
                *mass += self.masses[node as usize];
                for (other, weight) in self.neighbors(node as usize) {
                    sums.add(group_of[other], weight);
                }
            }
            for &other in &sums.touched {
                if other as usize != group {
                    targets.push(other);
                    weights.push(sums.get(other));
                }
            }
            starts.push(targets.len());
            sums.clear();
        }
        Ok(Network { starts, targets, weights, masses, total: self.total })
    }
}

/// The nodes of each group, ascending.
pub(super) struct Members {
    starts: Vec<usize>,
    nodes: Vec<u32>,
}

impl Members {
    pub fn of(&self, group: usize) -> &[u32] {
        &self.nodes[self.starts[group]..self.starts[group + 1]]
    }
}

/// The nodes of each group by a counting sort.
pub(super) fn members(group_of: &[u32], groups: usize) -> Members {
    let mut starts = vec![0usize; groups + 1];
    group_of.iter().for_each(|group| starts[*group as usize + 1] += 1);
    for group in 0..groups {
        starts[group + 1] += starts[group];
    }
    let mut next = starts.clone();
    let mut nodes = vec![0u32; group_of.len()];
    for (node, group) in (0..).zip(group_of) {
        let at = &mut next[*group as usize];
        nodes[*at] = node;
        *at += 1;
    }
    Members { starts, nodes }
}

/// Sums of weights to the groups around a node: a dense array and the list of places in use.
pub(super) struct NeighborSums {
    sums: Vec<f64>,
    /// The groups in the order in which they were met.
    pub touched: Vec<u32>,
}

impl NeighborSums {
    pub fn new(groups: usize) -> Self {
        NeighborSums { sums: vec![f64::NAN; groups], touched: Vec::new() }
    }

    /// Adds to the sum of a group.
    #[inline]
    pub fn add(&mut self, group: u32, weight: f64) {
        let sum = &mut self.sums[group as usize];
        if sum.is_nan() {
            *sum = weight;
            self.touched.push(group);
        } else {
            *sum += weight;
        }
    }

    /// The sum of a group; 0 for one that was not met.
    #[inline]
    pub fn get(&self, group: u32) -> f64 {
        let sum = self.sums[group as usize];
        if sum.is_nan() { 0.0 } else { sum }
    }

    pub fn clear(&mut self) {
        for group in self.touched.drain(..) {
            self.sums[group as usize] = f64::NAN;
        }
    }
}
