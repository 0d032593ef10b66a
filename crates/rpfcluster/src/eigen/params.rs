//! What the spectral step can be told.

use serde::{Deserialize, Serialize};

use crate::error::{Result, parameter};

/// How the eigenpairs are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Dense for few points, block for many.
    #[default]
    Auto,
    /// Every eigenpair by dense decomposition: n² memory, n³ time.
    Dense,
    /// The iterative block method: exact to the tolerance at any n.
    Block,
    /// Nystrom's approximation from landmarks.
    Nystrom,
}

/// How labels are made from eigenvectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// K eigenvectors, rows to unit length, k-means (Ng, Jordan and Weiss 2002).
    #[default]
    Kway,
    /// Recursive cuts by the sign of the second eigenvector (Shi and Malik 2000; the paper's Algorithm 3).
    Ncut,
}

/// The parameters of the spectral step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpectralParams {
    /// Number of clusters.
    pub k: usize,
    /// How the eigenpairs are found.
    pub solver: Solver,
    /// How labels are made from them.
    pub method: Method,
    /// `Auto` solves this many points or fewer densely.
    pub dense_below: usize,
    /// Vectors the block solver carries beyond the wanted ones: the more, the fewer iterations, the more memory.
    pub guards: usize,
    /// Largest residual `|N u - λ u|` of a converged pair.
    pub tolerance: f64,
    /// A pair also counts as converged when its residual is this share of the gap between the last wanted eigenvalue
    /// and the next: the sine of the angle by which the wanted vectors are then off at most. 0 leaves it to the tolerance.
    pub angle: f64,
    /// Most products of the block solver with the operator.
    pub max_iterations: usize,
    /// Landmarks of Nystrom's method; as many as points or more gives the exact answer.
    pub landmarks: usize,
    /// Nystrom drops directions below this share of the largest eigenvalue among the landmarks.
    pub rank_cut: f64,
    /// Restarts of k-means.
    pub restarts: usize,
    /// Seed of start blocks, landmarks and k-means.
    pub seed: u64,
}

impl Default for SpectralParams {
    fn default() -> Self {
        SpectralParams {
            k: 2,
            solver: Solver::Auto,
            method: Method::Kway,
            dense_below: 300,
            guards: 4,
            tolerance: 1e-7,
            angle: 0.0,
            max_iterations: 5000,
            landmarks: 500,
            rank_cut: 1e-10,
            restarts: 10,
            seed: 0,
        }
    }
}

impl SpectralParams {
    /// Refuses values that cannot be meant.
    pub fn validate(&self) -> Result<()> {
        if self.k < 1 {
            return Err(parameter("k", self.k, "at least 1"));
        }
        if self.guards < 1 || self.guards > 1000 {
            return Err(parameter("guards", self.guards, "from 1 to 1000"));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(parameter("tolerance", self.tolerance, "between 0 and 1"));
        }
        if !(self.angle >= 0.0 && self.angle < 1.0) {
            return Err(parameter("angle", self.angle, "from 0 to below 1"));
        }
        if self.max_iterations < 1 {
            return Err(parameter("max_iterations", self.max_iterations, "at least 1"));
        }
        if self.solver == Solver::Nystrom && self.landmarks < self.k {
            return Err(parameter("landmarks", self.landmarks, format!("at least k, which is {}", self.k)));
        }
        if !(self.rank_cut >= 0.0 && self.rank_cut < 1.0) {
            return Err(parameter("rank_cut", self.rank_cut, "from 0 to below 1"));
        }
        if self.restarts < 1 {
            return Err(parameter("restarts", self.restarts, "at least 1"));
        }
        Ok(())
    }
}
