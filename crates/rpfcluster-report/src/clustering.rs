//! The result of a clustering, of rows or of a similarity matrix. The summary, the JSON object and the page are made
//! from this one type; the command and Python fill it.

use std::sync::Arc;

use rpfcluster::affinity::SparseAffinity;
use rpfcluster::metrics::cluster_sizes;
use rpfcluster::spectral::{Embedding, Method, Quality, Solver, SpectralParams};
use rpfcluster::{AffinityParams, Evidence, Fitted};
use serde_json::{Value, json};

/// A finished clustering.
pub enum Clustering {
    /// Rows, clustered by the forest that was grown on them.
    Rows(Arc<Fitted>),
    /// Points given by their similarities.
    Matrix(Box<MatrixClustering>),
}

/// A clustering of the points of a similarity matrix.
pub struct MatrixClustering {
    /// The similarities, checked and symmetric.
    pub affinity: SparseAffinity,
    /// The parameters of the spectral step; `k` and `resolution` are the values that were used.
    pub params: SpectralParams,
    /// The cluster of each point.
    pub labels: Vec<u32>,
    /// Eigenvalues and eigenvectors.
    pub embedding: Embedding,
}

impl MatrixClustering {
    /// The neighbours of point `i` and their similarities, columns ascending.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let affinity = &self.affinity;
        (affinity.indptr()[i]..affinity.indptr()[i + 1])
            .map(|at| (affinity.indices()[at] as usize, affinity.weights().get(at)))
    }

    /// The similarity of two points.
    fn get(&self, i: usize, j: usize) -> f64 {
        let affinity = &self.affinity;
        let row = affinity.indptr()[i]..affinity.indptr()[i + 1];
        let at = affinity.indices()[row.clone()].binary_search(&(j as u32));
        at.map_or(0.0, |at| affinity.weights().get(row.start + at))
    }
}

impl Clustering {
    /// The fitted model, for a clustering of rows.
    pub fn fitted(&self) -> Option<&Fitted> {
        match self {
            Clustering::Rows(fitted) => Some(fitted),
            Clustering::Matrix(_) => None,
        }
    }

    /// Number of points.
    pub fn n(&self) -> usize {
        self.labels().len()
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        match self {
            Clustering::Rows(fitted) => fitted.k(),
            Clustering::Matrix(matrix) => matrix.params.k,
        }
    }

    /// The cluster of each point.
    pub fn labels(&self) -> &[u32] {
        match self {
            Clustering::Rows(fitted) => fitted.labels(),
            Clustering::Matrix(matrix) => &matrix.labels,
        }
    }

    /// Number of points in each cluster.
    pub fn sizes(&self) -> Vec<usize> {
        cluster_sizes(self.labels(), self.k())
    }

    /// Eigenvalues and eigenvectors; none for `leiden`.
    pub fn embedding(&self) -> &Embedding {
        match self {
            Clustering::Rows(fitted) => fitted.embedding(),
            Clustering::Matrix(matrix) => &matrix.embedding,
        }
    }

    /// The resolution of `leiden`, given or found for K.
    pub fn resolution(&self) -> Option<f64> {
        match self {
            Clustering::Rows(fitted) => fitted.resolution(),
            Clustering::Matrix(matrix) => matrix.params.resolution,
        }
    }

    /// The quality function of `leiden`.
    pub fn quality(&self) -> Option<Quality> {
        let quality = match self {
            Clustering::Rows(fitted) => fitted.params().quality,
            Clustering::Matrix(matrix) => matrix.params.quality,
        };
        (self.method() == Method::Leiden).then_some(quality)
    }

    /// How labels were made from the affinity.
    pub fn method(&self) -> Method {
        match self {
            Clustering::Rows(fitted) => fitted.method(),
            Clustering::Matrix(matrix) => matrix.params.method,
        }
    }

    /// The random seed.
    pub fn seed(&self) -> u64 {
        match self {
            Clustering::Rows(fitted) => fitted.params().seed,
            Clustering::Matrix(matrix) => matrix.params.seed,
        }
    }

    /// What was chosen from the data, and why; `None` for a matrix, where nothing is chosen.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.fitted().map(Fitted::evidence)
    }

    /// The similarity of two points; of rows, the share of trees in which they share a leaf.
    pub fn similarity(&self, i: usize, j: usize) -> f64 {
        match self {
            Clustering::Rows(fitted) => fitted.leaves().pair(i, j),
            Clustering::Matrix(matrix) => matrix.get(i, j),
        }
    }

    /// The affinity in words.
    pub fn affinity_in_words(&self) -> String {
        match self {
            Clustering::Rows(fitted) => affinity_in_words(fitted.affinity()),
            Clustering::Matrix(_) => "precomputed".into(),
        }
    }

    /// Every parameter as it was used, by its name in JSON; null where it does not apply.
    pub fn params(&self) -> Vec<(&'static str, Value)> {
        let solver = self.embedding().solver;
        let landmarks = |landmarks: usize| (solver == Solver::Nystrom).then_some(landmarks);
        let mut params: Vec<(&'static str, Value)> = Vec::new();
        let landmarks = match self {
            Clustering::Rows(fitted) => {
                let p = fitted.params();
                params.push(("trees", fitted.forest().trees().into()));
                params.push(("min_node", fitted.min_node().into()));
                params.push(("split", json!(p.split)));
                params.push(("direction", json!(p.direction)));
                params.push(("candidates", p.candidates.into()));
                params.push(("max_samples", p.max_samples.into()));
                params.push(("components", fitted.components().map(|found| found.variances.len()).into()));
                params.push(("metric", json!(p.metric)));
                params.push(("duplicates", json!(p.duplicates)));
                params.push(("affinity", json!(fitted.affinity().kind())));
                let numbers = json!(fitted.affinity());
                for name in ["beta1", "beta2", "diagonal", "top", "power"] {
                    params.push((name, numbers.get(name).cloned().unwrap_or(Value::Null)));
                }
                landmarks(p.landmarks)
            }
            Clustering::Matrix(matrix) => {
                params.push(("affinity", "precomputed".into()));
                landmarks(matrix.params.landmarks)
            }
        };
        params.push(("method", json!(self.method())));
        params.push(("quality", json!(self.quality())));
        params.push(("resolution", self.resolution().into()));
        params.push(("solver", if self.embedding().k() > 0 { json!(solver) } else { Value::Null }));
        params.push(("landmarks", landmarks.into()));
        params
    }

    /// Parameters, seed and convergence for the page: name and value.
    pub fn facts(&self) -> Vec<(String, String)> {
        let applies = self.params().into_iter().filter(|(_, value)| !value.is_null());
        let mut facts: Vec<(String, String)> =
            applies.map(|(name, value)| (name.replace('_', "-"), word(&value))).collect();
        let e = self.embedding();
        let converged = if e.converged { "yes" } else { "no" };
        facts.push(("seed".into(), self.seed().to_string()));
        if e.k() > 0 {
            facts.push(("converged".into(), format!("{converged}, largest residual {:.1e}", e.residual)));
        }
        facts
    }
}

/// An affinity with its numbers in words: "top-k (top 10, power 4)".
pub fn affinity_in_words(affinity: &AffinityParams) -> String {
    match affinity {
        AffinityParams::Linear => "linear".into(),
        AffinityParams::Paper { beta1, beta2, diagonal } => {
            format!("paper (beta1 {beta1}, beta2 {beta2}, diagonal {})", word(diagonal))
        }
        AffinityParams::TopK { top, power } => format!("top-k (top {top}, power {power})"),
        other => word(&other.kind()),
    }
}

/// The name of a value of the library in JSON and on the command line.
pub fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
