//! The soft and the sharp graph of a forest, their largest eigenpairs and the labels they give.

use rayon::prelude::*;

use super::sample::Sample;
use crate::affinity::{Affinity, SparseAffinity, Weights};
use crate::eigen::{EmbedOptions, Embedding, Solver, SpectralParams, embed};
use crate::error::{Error, Result};
use crate::forest::Forest;
use crate::kernel::{LeafMatrix, Neighbors};
use crate::label::label;
use crate::observe::Quiet;
use crate::params::RpfCluster;

/// Neighbours and power of the soft graph, on which clusters that touch leak into each other.
const SOFT: (usize, f64) = (10, 2.0);
/// Neighbours and power of the sharp graph.
pub(super) const SHARP: (usize, f64) = (20, 8.0);
/// Largest number of rows in a leaf, plus one.
const MIN_NODE: usize = 24;
/// Weight that connects all pairs, as a share of the mean: one eigenproblem then serves every K.
const CONNECTION: f64 = 1e-7;

/// The soft and the sharp graph of one forest.
pub(super) struct GrownGraphs {
    pub forest: Forest,
    pub leaves: LeafMatrix,
    pub soft: GraphSpectrum,
    pub sharp: GraphSpectrum,
}

impl GrownGraphs {
    /// Grows a forest of `trees` trees on the sample; the graphs have `most` + 1 eigenpairs.
    pub fn new(
        sample: &Sample,
        params: &RpfCluster,
        trees: usize,
        most: usize,
        quiet: &Quiet,
    ) -> Result<GrownGraphs> {
        let points = sample.points()?;
        let min_node = (sample.n / 5).clamp(sample.n.clamp(2, 4), MIN_NODE);
        let forest = RpfCluster { trees: Some(trees), ..params.clone() }.forest_params(min_node);
        let forest = Forest::grow(points.observed(quiet), &forest)?;
        let leaves = forest.leaves();
        let lists = leaves.top_k(SHARP.0, quiet)?;
        let soft = GraphSpectrum::new(&lists, SOFT, most, params, quiet)?;
        let sharp = GraphSpectrum::new(&lists, SHARP, most, params, quiet)?;
        Ok(GrownGraphs { forest, leaves, soft, sharp })
    }
}

/// A graph and its largest eigenpairs.
pub(super) struct GraphSpectrum {
    pub graph: SparseAffinity,
    embedding: Embedding,
    top: usize,
    power: f64,
}

impl GraphSpectrum {
    fn new(
        lists: &Neighbors,
        (top, power): (usize, f64),
        most: usize,
        params: &RpfCluster,
        quiet: &Quiet,
    ) -> Result<Self> {
        let mut graph = SparseAffinity::top_k(lists, top, power, quiet)?;
        let n = graph.n();
        if let Weights::Table { counts, table } = graph.weights() {
            let total: f64 = counts.iter().map(|count| table[usize::from(*count)]).sum();
            let table = table.clone();
            graph = graph.with_table(CONNECTION * total / (n * n) as f64, table)?;
        }
        let spectral = SpectralParams {
            k: (most + 1).min(n),
            // The solver of the fit may be limited to a few landmarks.
            solver: Solver::Auto,
            tolerance: 1e-4,
            max_iterations: 400,
            ..params.spectral_params(Default::default())
        };
        let options = EmbedOptions { connected: true, ..EmbedOptions::default() };
        let embedding = embed(&graph, &spectral, &options, quiet)?;
        Ok(GraphSpectrum { graph, embedding, top, power })
    }

    /// The labels for k clusters; `None` where the graph has too few distinct rows.
    pub fn labels(&self, k: usize, params: &RpfCluster, quiet: &Quiet) -> Result<Option<Vec<u32>>> {
        if k > self.embedding.k() {
            return Ok(None);
        }
        let spectral = SpectralParams { k, restarts: 5, ..params.spectral_params(Default::default()) };
        match label(Affinity::from(&self.graph), &self.embedding.first(k), &spectral, quiet) {
            Ok(labels) => Ok(Some(labels)),
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(_) => Ok(None),
        }
    }

    /// The labels that the neighbours of other rows vote for.
    pub fn vote(&self, neighbors: &Neighbors, labels: &[u32], k: usize) -> Vec<u32> {
        let trees = neighbors.trees() as f64;
        let vote = |row: usize| {
            let (js, counts) = neighbors.row(row);
            let mut votes = vec![0.0; k];
            for (&j, &count) in js.iter().zip(counts).take(self.top) {
                votes[labels[j as usize] as usize] += (f64::from(count) / trees).powi(self.power as i32);
            }
            (0..).zip(&votes).fold((0, 0.0), |best, (c, &v)| if v > best.1 { (c, v) } else { best }).0
        };
        (0..neighbors.n()).into_par_iter().map(vote).collect()
    }

    /// 1 - λ for each eigenvalue.
    pub fn complements(&self) -> Vec<f64> {
        self.embedding.eigenvalues.iter().map(|l| (1.0 - l).max(0.0)).collect()
    }
}
