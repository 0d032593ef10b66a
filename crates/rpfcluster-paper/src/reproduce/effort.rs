//! The parameters of every method in a reproduction: the paper's protocol, or a coarse run of a few minutes. Lists the
//! units of each data set with an estimate of their seconds, and digests the parameters of a unit, so that a result of
//! other parameters is not reused.

use crate::compare::{Comparison, Experiment};
use crate::rivals::{ClusterForests, HartiganWong};
use crate::sweep::{Sweep, coarse_bandwidths, medium_bandwidths, paper_bandwidths};
use rpfcluster_data::catalog::Entry;

use super::origin::SOURCES;
use super::pace;
use super::results::Used;
use super::unit::{Task, Unit};
use super::variants;

/// Largest data set, in rows, on which a full run searches all 2,090 bandwidths of the paper.
const WHOLE_GRID: usize = 300;
/// Largest data set, in rows, on which a full run searches 140 bandwidths; on larger ones it searches the coarse 18.
const MEDIUM_GRID: usize = 1000;
/// Rows above which a quick run takes fewer seeds, restarts and instances.
const LARGE: usize = 1000;

/// The extent of a reproduction.
#[derive(Debug, Clone, PartialEq)]
pub struct Effort {
    /// Whether this is the coarse run.
    pub quick: bool,
    /// The number of seeds, 0, 1, ….
    pub seeds: usize,
    /// The number of seeds on data sets of more than 1,000 rows.
    pub large_seeds: usize,
    /// The numbers of trees the best-by-labels search chooses from.
    pub trees: Vec<usize>,
    /// Limit of the pairs the search holds; thresholds that could keep more are left out.
    pub most_pairs: usize,
    /// The number of threads; `None` means one per core.
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

    /// The name in file names and results.
    pub fn name(&self) -> &'static str {
        if self.quick { "quick" } else { "full" }
    }

    /// The units of one data set: each preparation, method and seed. Where the paper standardises nothing, its
    /// preparation is the raw data and is not run twice.
    pub fn units(&self, entry: &Entry) -> Vec<Unit> {
        let mut units = Vec::new();
        let seeds = if entry.n > LARGE { self.large_seeds } else { self.seeds };
        let mut preparations = vec!["raw", "standardized"];
        if !entry.paper_standardized.is_empty() {
            preparations.push("paper");
        }
        for preparation in preparations {
            for experiment in Experiment::ALL {
                (0..seeds as u64).for_each(|seed| {
                    units.push(self.unit(entry, preparation, Task::Columns(experiment), seed));
                });
            }
        }
        if entry.n <= variants::ROWS {
            (0..seeds as u64).for_each(|seed| units.push(self.unit(entry, "paper", Task::Variants, seed)));
        }
        units
    }

    fn unit(&self, entry: &Entry, preparation: &'static str, task: Task, seed: u64) -> Unit {
        let cost = pace::reference(self.name(), entry.name, task).unwrap_or_else(|| self.cost(entry, task));
        Unit { dataset: entry.name.to_string(), preparation, task, seed, cost }
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

    /// The parameters of every method on this data set.
    pub fn comparison(&self, entry: &Entry, seed: u64) -> Comparison {
        let large = entry.n > LARGE;
        Comparison {
            // On the larger sets 20 restarts find the same minimum as 100.
            kmeans: HartiganWong {
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
                refine: true,
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

    /// A digest of the parameters of a unit's method; a result of another protocol is not reused.
    pub fn protocol(&self, entry: &Entry, unit: &Unit) -> String {
        let params =
            Comparison { rpf: rpfcluster::RpfCluster::default(), ..self.comparison(entry, unit.seed) };
        let own = match unit.task {
            Task::Columns(Experiment::KMeans) => format!("{:?}", params.kmeans),
            Task::Columns(Experiment::Njw) => format!("{:?}", params.njw),
            Task::Columns(Experiment::Cf) => format!("{:?}", params.cf),
            // The number of threads changes no label.
            Task::Columns(Experiment::Auto) => format!("{:?}", params.rpf),
            Task::Columns(Experiment::Algorithm3) => {
                format!("{:?} {:?} {}", params.sweep, params.trees, params.min_node)
            }
            Task::Variants => format!("{:?} {} {:?}", params.sweep, params.min_node, variants::TREES),
        };
        let text = format!("{SOURCES} {} {} {own}", params.k, params.seed);
        // FNV-1a (Fowler, Noll and Vo), 64 bits: the digest detects changes, it need not resist forgery.
        let digest = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{digest:016x}")
    }

    /// Expected seconds of a data set without a measured time.
    fn cost(&self, entry: &Entry, task: Task) -> f64 {
        let n = entry.n as f64 / 1000.0;
        let d = entry.d as f64;
        let experiment = match task {
            Task::Columns(experiment) => experiment,
            Task::Variants => return 0.2 + 8.0 * n,
        };
        match experiment {
            Experiment::KMeans => 0.02 + 0.0005 * n * d,
            Experiment::Njw => 0.02 + n * n.min(6.0) * (0.02 + 0.001 * d),
            Experiment::Cf => 0.3 + 0.5 * n,
            Experiment::Auto => 0.1 + 0.5 * n,
            // A fine grid is refined, so it costs a few times the coarse one, not a hundred times.
            Experiment::Algorithm3 => {
                let fine = if self.bandwidths(entry.n).len() > coarse_bandwidths().len() { 3.0 } else { 1.0 };
                self.trees.len() as f64 * fine * (0.2 + 0.5 * n)
            }
        }
    }

    /// What the methods use on a data set, for the sentences of the page.
    pub fn used(&self, entry: &Entry) -> Used {
        let params = self.comparison(entry, 0);
        let landmarks = |limit: usize, landmarks: usize| (entry.n > limit).then_some(landmarks);
        Used {
            trees: self.trees.clone(),
            min_node: params.min_node,
            kmeans_restarts: params.kmeans.restarts,
            njw_landmarks: landmarks(params.njw.dense_limit, params.njw.landmarks),
            cf_instances: params.cf.instances,
            cf_landmarks: landmarks(params.cf.dense_limit, params.cf.landmarks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpfcluster_data::catalog::find;

    #[test]
    fn digest_depends_on_the_parameters_of_the_method_alone() {
        let iris = find("iris").unwrap_or_else(|e| unreachable!("{e}"));
        let effort = Effort::full();
        let digests = |effort: &Effort| -> Vec<String> {
            Experiment::ALL
                .into_iter()
                .map(|experiment| {
                    effort.protocol(iris, &effort.unit(iris, "raw", Task::Columns(experiment), 1))
                })
                .collect()
        };
        let before = digests(&effort);
        assert_eq!(before, digests(&Effort { threads: Some(1), ..effort.clone() }));
        let other = digests(&Effort { trees: vec![200], ..effort });
        for (at, experiment) in Experiment::ALL.into_iter().enumerate() {
            assert_eq!(before[at] != other[at], experiment == Experiment::Algorithm3, "{experiment:?}");
        }
    }
}
