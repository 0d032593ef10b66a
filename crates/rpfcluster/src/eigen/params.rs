//! Parameters of the spectral step, with validation: the solver (dense, block Krylov, Nyström, or automatic), its
//! accuracy, and the labelling method (k-way k-means or recursive normalised cuts).

use crate::error::{Result, parameter};

/// The eigen-solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Solver {
    /// Dense for few points, block for many.
    #[default]
    Auto,
    /// Dense decomposition: O(n²) memory, O(n³) time.
    Dense,
    /// Filtered block Krylov iteration: converges to the tolerance at any n.
    Block,
    /// The Nyström approximation from landmarks (Fowlkes et al. 2004).
    Nystrom,
}

/// The labelling method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Method {
    /// k-means on the rows of K eigenvectors, scaled to unit length (Ng, Jordan and Weiss 2002).
    #[default]
    Kway,
    /// Recursive bipartition by the sign of the second eigenvector (Shi and Malik 2000; Algorithm 3 of the paper).
    Ncut,
    /// Communities of the graph by the Leiden algorithm (Traag, Waltman and van Eck 2019), without eigenvectors.
    Leiden,
}

/// The quality function of [`Method::Leiden`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Quality {
    /// Modularity with a resolution (Reichardt and Bornholdt 2006).
    #[default]
    Modularity,
    /// The constant Potts model (Traag, Van Dooren and Nesterov 2011): the resolution is the mean weight between rows
    /// below which they are apart.
    Cpm,
}

/// The parameters of the spectral step.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct SpectralParams {
    /// Number of clusters.
    pub k: usize,
    /// The eigen-solver.
    pub solver: Solver,
    /// The labelling method.
    pub method: Method,
    /// Leiden: the quality function.
    pub quality: Quality,
    /// Leiden: the resolution. The number of clusters follows from it, and `k` is ignored. `None` finds a resolution for
    /// `k` clusters.
    pub resolution: Option<f64>,
    /// Largest number of points that `Auto` solves densely.
    pub dense_below: usize,
    /// Guard vectors of the block solver beyond the wanted ones: more of them need fewer iterations and more memory.
    pub guards: usize,
    /// Largest residual `|N u - λ u|` of a converged pair; the block solver accepts up to twice this value.
    pub tolerance: f64,
    /// A pair also counts as converged when its residual is at most this fraction of the gap between the last wanted
    /// eigenvalue and the next. It bounds the sine of the angle to the exact eigenspace (Davis and Kahan 1970). 0
    /// disables it.
    pub angle: f64,
    /// Largest number of products of the block solver.
    pub max_iterations: usize,
    /// Landmarks of the Nyström approximation; n or more make it exact for a positive semi-definite similarity.
    pub landmarks: usize,
    /// Nyström discards eigenvectors of the landmarks' similarities whose eigenvalue is below this fraction of the
    /// largest.
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
            quality: Quality::Modularity,
            resolution: None,
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
    /// An error for the first value out of range.
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
        if let Some(resolution) = self.resolution.filter(|r| !(r.is_finite() && *r > 0.0)) {
            return Err(parameter("resolution", resolution, "above 0"));
        }
        if self.restarts < 1 {
            return Err(parameter("restarts", self.restarts, "at least 1"));
        }
        Ok(())
    }
}
