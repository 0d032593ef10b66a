//! How much work a reproduction does: the paper's protocol in full, or a coarse run of a few minutes.

use rpfcluster::sweep::{Sweep, coarse_bandwidths, medium_bandwidths, paper_bandwidths};
use rpfcluster_data::catalog::Entry;
use rpfcluster_rivals::compare::Comparison;
use rpfcluster_rivals::{ClusterForests, Method, PaperKMeans};

use crate::unit::Unit;

/// Sets up to this many rows get every bandwidth of the paper in a full run.
const WHOLE_GRID: usize = 300;
/// Sets up to this many get 140 of them; larger ones the coarse grid.
const MEDIUM_GRID: usize = 1000;
/// Rows from which on a quick run does less.
const LARGE: usize = 1000;

/// What is run, and how thoroughly.
#[derive(Debug, Clone, PartialEq)]
pub struct Effort {
    /// Whether this is the coarse run.
    pub quick: bool,
    /// Seeds 0, 1, ….
    pub seeds: usize,
    /// The same on sets of more than 1,000 rows.
    pub large_seeds: usize,
    /// The numbers of trees the best-by-labels search chooses from.
    pub trees: Vec<usize>,
    /// Pairs the search may hold; smaller thresholds that would keep more are left out.
    pub most_pairs: usize,
    /// Threads; `None` is one per core.
    pub threads: Option<usize>,
}

impl Effort {
    /// The paper's protocol.
    pub fn full() -> Self {
        Effort {
            quick: false,
            seeds: 5,
            large_seeds: 5,
            trees: vec![200, 400, 600],
            most_pairs: 20_000_000,
            threads: None,
        }
    }

    /// Minutes instead of hours.
    pub fn quick() -> Self {
        Effort {
            quick: true,
            seeds: 3,
            large_seeds: 1,
            trees: vec![200],
            most_pairs: 4_500_000,
            threads: None,
        }
    }

    /// The word for it in files.
    pub fn name(&self) -> &'static str {
        if self.quick { "quick" } else { "full" }
    }

    /// The units of one data set: each preparation, method and seed. Where the paper prepared nothing, its preparation
    /// is the raw data and is not run twice.
    pub fn units(&self, entry: &Entry) -> Vec<Unit> {
        let mut units = Vec::new();
        let seeds = if entry.n > LARGE { self.large_seeds } else { self.seeds };
        let mut preparations = vec!["raw", "standardized"];
        if !entry.paper_standardized.is_empty() {
            preparations.push("paper");
        }
        for preparation in preparations {
            for method in Method::ALL {
                for seed in 0..seeds as u64 {
                    let cost = self.cost(entry, method);
                    units.push(Unit { dataset: entry.name.to_string(), preparation, method, seed, cost });
                }
            }
        }
        units
    }

    /// The bandwidths searched on a set of `n` rows.
    pub fn bandwidths(&self, n: usize) -> Vec<f64> {
        match n {
            _ if self.quick => coarse_bandwidths(),
            n if n <= WHOLE_GRID => paper_bandwidths(),
            n if n <= MEDIUM_GRID => medium_bandwidths(),
            _ => coarse_bandwidths(),
        }
    }

    /// What each method is told on this set.
    pub fn comparison(&self, entry: &Entry, seed: u64) -> Comparison {
        let large = entry.n > LARGE;
        Comparison {
            // On the larger sets a hundred restarts find what twenty find.
            kmeans: PaperKMeans {
                restarts: if self.quick && large { 20 } else { 100 },
                ..Default::default()
            },
            cf: ClusterForests {
                instances: if self.quick && large { 40 } else { 100 },
                restarts: if self.quick && large { 1 } else { 3 },
                landmarks: if self.quick { 1000 } else { 2000 },
                ..Default::default()
            },
            rpf: rpfcluster::RpfCluster { threads: self.threads, ..Default::default() },
            sweep: Sweep {
                beta2: self.bandwidths(entry.n),
                most_pairs: self.most_pairs,
                max_iterations: if self.quick { 150 } else { 400 },
                tolerance: if self.quick && large { 1e-4 } else { 1e-5 },
                ..Default::default()
            },
            trees: self.trees.clone(),
            min_node: entry.paper_min_node.unwrap_or(30),
            k: entry.k,
            seed,
            ..Default::default()
        }
    }

    /// Very roughly, seconds; only used to say how much is left.
    fn cost(&self, entry: &Entry, method: Method) -> f64 {
        let n = entry.n as f64 / 1000.0;
        match method {
            Method::KMeans => 0.02 + 0.0005 * n * entry.d as f64,
            Method::Njw => 0.02 + 0.02 * n * n,
            Method::Cf => 0.3 + 0.5 * n,
            Method::RpfLabelFree => 0.05 + 0.2 * n,
            Method::RpfBestByLabels => {
                let settings = self.bandwidths(entry.n).len() as f64 * self.trees.len() as f64;
                settings * (0.02 + 0.1 * n)
            }
        }
    }
}
