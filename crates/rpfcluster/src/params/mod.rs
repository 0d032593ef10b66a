//! The parameters of a clustering, their validation, and the defaults that depend on the number of rows. `None` means
//! that the value is selected from the data (see [`crate::select`]) or takes a fixed default.

mod choices;

pub use choices::{AffinityKind, AffinityParams, Components, Duplicates, Metric, Setting};

use choices::affinity_name;

use crate::affinity::Diagonal;
use crate::eigen::{Method, Quality, Solver, SpectralParams};
use crate::error::{Error, Result, parameter};
use crate::forest::{Direction, ForestParams, Split};

/// rpfCluster, Algorithm 3 of the paper: the forest, the affinity and the spectral step.
///
/// ```
/// use rpfcluster::{Points, RpfCluster};
/// // Two groups on a line.
/// let values: Vec<f64> =
///     (0..200).map(|i| if i % 2 == 0 { i as f64 * 0.01 } else { 50.0 + i as f64 * 0.01 }).collect();
/// let points = Points::new(&values, 200, 1)?;
/// let fitted = RpfCluster { k: 2, ..Default::default() }.fit(&points)?;
/// assert_eq!(fitted.labels()[..4], [0, 1, 0, 1]);
/// assert_eq!(fitted.predict(&Points::new(&[0.5, 51.0], 2, 1)?)?, [0, 1]);
/// # Ok::<(), rpfcluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct RpfCluster {
    /// Number of clusters.
    pub k: usize,
    /// Selects K from 1 to this number; `k` is then ignored.
    pub max_k: Option<usize>,
    /// Whether affinity and `min_node`, where they are `None`, are selected by prediction strength; otherwise they take
    /// fixed defaults. Off by default: on tables that the rule was not made on, the selection gains nothing
    /// (docs/notes/2026-11-families.md).
    pub tune: bool,
    /// Whether the fit is assessed: see [`crate::Fitted::verdict`]. The labels do not depend on it.
    pub assess: bool,
    /// T, the number of trees. `None` is [`RpfCluster::TREES`], or [`RpfCluster::COMPONENT_TREES`] on principal components.
    pub trees: Option<usize>,
    /// Selects T, at most this number; `trees` is then ignored.
    pub max_trees: Option<usize>,
    /// n_s: a node with fewer rows is a leaf. The paper's value is 30.
    pub min_node: Option<usize>,
    /// How the split point of a node is drawn.
    pub split: Split,
    /// How directions are drawn.
    pub direction: Direction,
    /// Random directions drawn at each node; the one with the largest spread is used.
    pub candidates: usize,
    /// Trees are grown on this many rows, those with the smallest hash of the seed and the number of the row; all rows
    /// are routed down them. `None` grows them on all rows.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub max_samples: Option<usize>,
    /// Whether the forest is grown on the columns or on their leading principal components.
    pub components: Components,
    /// Whether rows are compared by distance or by angle.
    pub metric: Metric,
    /// Which affinity is clustered.
    pub affinity: Option<AffinityKind>,
    /// `paper`: pairs below this similarity are removed.
    pub beta1: Option<f64>,
    /// `paper`: bandwidth.
    pub beta2: Option<f64>,
    /// `paper`: whether the diagonal of S is kept.
    pub diagonal: Diagonal,
    /// `top-k`: neighbours of each row.
    pub top: Option<usize>,
    /// `top-k`: exponent of the edge weights.
    pub power: Option<f64>,
    /// How the affinity becomes labels. `leiden` needs a graph: `paper` or `top-k`.
    pub method: Option<Method>,
    /// `leiden`: the quality function.
    pub quality: Quality,
    /// `leiden`: the resolution. The number of clusters follows from it: `k` is then ignored, and parameters that are
    /// `None` take fixed defaults. `None` finds a resolution for `k` clusters.
    pub resolution: Option<f64>,
    /// What is done with rows that occur several times.
    pub duplicates: Duplicates,
    /// The eigen-solver.
    pub solver: Solver,
    /// Landmarks of the Nyström solver.
    pub landmarks: usize,
    /// Seed of every random number.
    pub seed: u64,
    /// Number of threads; `None` is one per core. The result does not depend on it, so a model does not store it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub threads: Option<usize>,
    /// Memory limit in bytes: a fit that would need more returns an error before it starts. Not stored in a model.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub memory_limit: Option<u64>,
}

impl Default for RpfCluster {
    fn default() -> Self {
        let forest = ForestParams::default();
        RpfCluster {
            k: 2,
            max_k: None,
            tune: false,
            assess: true,
            trees: None,
            max_trees: None,
            min_node: None,
            split: forest.split,
            direction: forest.direction,
            candidates: forest.candidates,
            max_samples: forest.max_samples,
            components: Components::Auto,
            metric: Metric::Auto,
            affinity: None,
            beta1: None,
            beta2: None,
            diagonal: Diagonal::Keep,
            top: None,
            power: None,
            method: None,
            quality: Quality::Modularity,
            resolution: None,
            duplicates: Duplicates::Weigh,
            solver: Solver::Auto,
            landmarks: SpectralParams::default().landmarks,
            seed: 0,
            threads: None,
            memory_limit: None,
        }
    }
}

impl RpfCluster {
    /// Default number of trees.
    pub const TREES: usize = 200;
    /// Default number of trees on principal components. In many dimensions neighbours share few leaves, and a share of few
    /// leaves needs more trees for the same relative error (docs/notes/2026-11-components.md).
    pub const COMPONENT_TREES: usize = 400;
    /// Default number of neighbours of `top-k`. With [`RpfCluster::POWER`] and [`RpfCluster::TOP_K_MIN_NODE`] the best
    /// fixed setting on design tables (docs/notes/2026-11-families.md).
    pub const TOP: usize = 20;
    /// Default exponent of `top-k`.
    pub const POWER: f64 = 8.0;
    /// Default exponent of `top-k` for tables with categories: their rows take few different similarities, and a sharper
    /// graph falls into pieces (docs/notes/2026-11-categories.md).
    pub const CATEGORICAL_POWER: f64 = 3.0;
    /// Default exponent of `top-k` for `leiden`: in a sharper graph, communities at K are small groups of close rows
    /// (docs/notes/2026-11-leiden.md).
    pub const LEIDEN_POWER: f64 = 1.0;
    /// Default `min_node` of `top-k`.
    pub const TOP_K_MIN_NODE: usize = 24;
    /// Default threshold of `paper`, a fraction of trees.
    pub const BETA1: f64 = 0.1;
    /// Default bandwidth of `paper`, in units of S.
    pub const BETA2: f64 = 0.2;

    /// Checks every range and rejects parameters that do not apply; no value is clamped.
    ///
    /// `beta1`, `beta2` and a dropped diagonal apply to [`AffinityKind::Paper`], `top` and `power` to
    /// [`AffinityKind::TopK`], `landmarks` to [`Solver::Nystrom`], `quality` and `resolution` to [`Method::Leiden`], and
    /// a solver to the other methods. A diagonal, a number of landmarks or a quality function at its default counts as
    /// not set.
    pub fn validate(&self) -> Result<()> {
        self.forest_params(self.min_node.unwrap_or(ForestParams::default().min_node)).validate()?;
        self.spectral_params(self.method.unwrap_or_default()).validate()?;
        if self.beta1.is_some_and(|b| !(0.0..=1.0).contains(&b)) {
            return Err(parameter("beta1", self.beta1.unwrap_or_default(), "from 0 to 1"));
        }
        if self.beta2.is_some_and(|b| !(b.is_finite() && b > 0.0)) {
            return Err(parameter("beta2", self.beta2.unwrap_or_default(), "above 0"));
        }
        if self.max_k.is_some_and(|m| !(2..=1000).contains(&m)) {
            return Err(parameter("max_k", self.max_k.unwrap_or_default(), "from 2 to 1000"));
        }
        if self.max_trees.is_some_and(|m| !(2..=ForestParams::MAX_TREES).contains(&m)) {
            return Err(parameter("max_trees", self.max_trees.unwrap_or_default(), "from 2 to 65535"));
        }
        if self.components == Components::Count(0) {
            return Err(parameter("components", 0, "at least 1"));
        }
        if self.top == Some(0) {
            return Err(parameter("top", 0, "at least 1"));
        }
        if self.power.is_some_and(|p| !(p.is_finite() && p > 0.0 && p <= 1000.0)) {
            return Err(parameter("power", self.power.unwrap_or_default(), "above 0 and at most 1000"));
        }
        let affinity = self.fixed_affinity().kind();
        let default = Self::default();
        for (name, set, owner) in [
            ("beta1", self.beta1.is_some(), AffinityKind::Paper),
            ("beta2", self.beta2.is_some(), AffinityKind::Paper),
            ("diagonal", self.diagonal != default.diagonal, AffinityKind::Paper),
            ("top", self.top.is_some(), AffinityKind::TopK),
            ("power", self.power.is_some(), AffinityKind::TopK),
        ] {
            if set && owner != affinity {
                let (needs, value) = (affinity_name(owner), affinity_name(affinity));
                return Err(Error::DoesNotApply { name, parameter: "affinity", needs, value });
            }
        }
        let method = self.method.unwrap_or_default();
        for (name, set) in
            [("quality", self.quality != default.quality), ("resolution", self.resolution.is_some())]
        {
            if set && method != Method::Leiden {
                let (needs, value) = (method_name(Method::Leiden), method_name(method));
                return Err(Error::DoesNotApply { name, parameter: "method", needs, value });
            }
        }
        if method == Method::Leiden {
            if affinity == AffinityKind::Linear {
                let (name, needs) = ("method leiden", "paper or top-k");
                return Err(Error::DoesNotApply { name, parameter: "affinity", needs, value: "linear" });
            }
            if self.solver != default.solver {
                let (needs, value) = ("kway or ncut", method_name(method));
                return Err(Error::DoesNotApply { name: "solver", parameter: "method", needs, value });
            }
        }
        if let (Some(most), Some(_)) = (self.max_k, self.resolution) {
            return Err(parameter("max_k", most, "None: the number of clusters follows from the resolution"));
        }
        if self.landmarks != default.landmarks && self.solver != Solver::Nystrom {
            let (needs, value) = (solver_name(Solver::Nystrom), solver_name(self.solver));
            return Err(Error::DoesNotApply { name: "landmarks", parameter: "solver", needs, value });
        }
        Ok(())
    }

    /// The parameters of the forest.
    pub fn forest_params(&self, min_node: usize) -> ForestParams {
        ForestParams {
            trees: self.trees.unwrap_or(Self::TREES),
            min_node,
            split: self.split,
            direction: self.direction,
            candidates: self.candidates,
            max_samples: self.max_samples,
            seed: self.seed,
        }
    }

    /// The same parameters with this setting, nothing left to select, and no verdict.
    pub fn at_setting(&self, setting: &Setting) -> Self {
        let mut fixed = RpfCluster {
            tune: false,
            assess: false,
            max_k: None,
            max_trees: None,
            min_node: Some(setting.min_node),
            affinity: Some(setting.affinity.kind()),
            beta1: None,
            beta2: None,
            diagonal: Diagonal::Keep,
            top: None,
            power: None,
            method: Some(setting.method),
            ..self.clone()
        };
        match setting.affinity {
            AffinityParams::Linear => {}
            AffinityParams::Paper { beta1, beta2, diagonal } => {
                (fixed.beta1, fixed.beta2, fixed.diagonal) = (Some(beta1), Some(beta2), diagonal);
            }
            AffinityParams::TopK { top, power } => (fixed.top, fixed.power) = (Some(top), Some(power)),
        }
        fixed
    }

    /// The parameters of the spectral step.
    pub fn spectral_params(&self, method: Method) -> SpectralParams {
        SpectralParams {
            k: self.k,
            solver: self.solver,
            method,
            quality: self.quality,
            resolution: self.resolution.filter(|_| method == Method::Leiden),
            landmarks: self.landmarks,
            seed: self.seed,
            ..Default::default()
        }
    }

    /// The number of trees by default: the given one, or that for the columns that the forest is grown on.
    pub(crate) fn trees_by_default(&self, components: bool) -> usize {
        self.trees.unwrap_or(if components { Self::COMPONENT_TREES } else { Self::TREES })
    }

    /// n_s by default: the given value, else 24 for `top-k`, but at most half of the rows, and the paper's 30 for the others,
    /// but at most a quarter of the rows; at least 6. For `linear` the upper bound is sqrt(n) where that exceeds 30.
    ///
    /// ```
    /// use rpfcluster::RpfCluster;
    /// assert_eq!(RpfCluster::default().fixed_min_node(150), 24);
    /// assert_eq!(RpfCluster::default().fixed_min_node(20), 10);
    /// assert_eq!(RpfCluster { min_node: Some(12), ..Default::default() }.fixed_min_node(20), 12);
    /// let linear = RpfCluster { affinity: Some(rpfcluster::AffinityKind::Linear), ..Default::default() };
    /// assert_eq!(linear.fixed_min_node(1_000_000), 1000);
    /// ```
    pub fn fixed_min_node(&self, n: usize) -> usize {
        let (share, most) = match self.fixed_affinity() {
            AffinityParams::Linear => (n / 4, linear_min_node(n)),
            AffinityParams::Paper { .. } => (n / 4, ForestParams::default().min_node),
            // In smaller leaves, a few close rows of a tiny table are a leaf of their own in most trees, and nothing
            // connects them to the rest of their group.
            // Clusters of fewer than four rows need small leaves all the same.
            AffinityParams::TopK { .. } => (if 4 * self.k > n { n / 4 } else { n / 2 }, Self::TOP_K_MIN_NODE),
        };
        self.min_node.unwrap_or(share.clamp(n.clamp(2, 6), most))
    }

    /// The default setting for `n` rows.
    pub(crate) fn fixed_setting(&self, n: usize, has_categories: bool) -> Setting {
        Setting {
            min_node: self.fixed_min_node(n),
            affinity: self.default_affinity(has_categories),
            method: self.method.unwrap_or_default(),
        }
    }

    /// [`RpfCluster::fixed_affinity`], with the exponent for categories where the table has any.
    pub(crate) fn default_affinity(&self, has_categories: bool) -> AffinityParams {
        match self.fixed_affinity() {
            AffinityParams::TopK { top, .. }
                if has_categories && self.power.is_none() && self.method != Some(Method::Leiden) =>
            {
                AffinityParams::TopK { top, power: Self::CATEGORICAL_POWER }
            }
            affinity => affinity,
        }
    }

    /// The parameters for a spectral embedding: nothing is selected or assessed, since both need clusters, and the graph of
    /// `top-k` has 10 neighbours and power 4 by default. In a sharper graph, small groups of close rows take most of the
    /// eigenvectors.
    pub fn for_embedding(mut self) -> Self {
        (self.tune, self.assess) = (false, false);
        if let AffinityParams::TopK { .. } = self.fixed_affinity() {
            self.top.get_or_insert(10);
            self.power.get_or_insert(4.0);
        }
        self
    }

    /// The affinity by default: every number that is `None` takes its fixed default. Where a table has categories, a fit takes
    /// [`RpfCluster::CATEGORICAL_POWER`].
    pub fn fixed_affinity(&self) -> AffinityParams {
        // beta1 and beta2 imply `paper`; `top` and `power` belong to the default.
        let named = match self.affinity {
            Some(kind) => kind,
            None if self.beta1.is_some() || self.beta2.is_some() => AffinityKind::Paper,
            None => AffinityKind::TopK,
        };
        match named {
            AffinityKind::Linear => AffinityParams::Linear,
            AffinityKind::Paper => AffinityParams::Paper {
                beta1: self.beta1.unwrap_or(Self::BETA1),
                beta2: self.beta2.unwrap_or(Self::BETA2),
                diagonal: self.diagonal,
            },
            AffinityKind::TopK => AffinityParams::TopK {
                top: self.top.unwrap_or(Self::TOP),
                power: self.power.unwrap_or(match self.method {
                    Some(Method::Leiden) => Self::LEIDEN_POWER,
                    _ => Self::POWER,
                }),
            },
        }
    }
}

/// The name of a method in JSON and in messages.
fn method_name(method: Method) -> &'static str {
    match method {
        Method::Kway => "kway",
        Method::Ncut => "ncut",
        Method::Leiden => "leiden",
    }
}

/// The name of a solver in JSON and in messages.
fn solver_name(solver: Solver) -> &'static str {
    match solver {
        Solver::Auto => "auto",
        Solver::Dense => "dense",
        Solver::Block => "block",
        Solver::Nystrom => "nystrom",
    }
}

/// n_s of `linear`: sqrt(n) for large tables. Leaves then shrink in space as n grows, which resolves finer structure,
/// and hold more rows, which lowers the variance of S.
pub(crate) fn linear_min_node(n: usize) -> usize {
    n.isqrt().max(ForestParams::default().min_node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_do_not_apply_are_refused() {
        let base = RpfCluster::default();
        let of = |kind: AffinityKind| RpfCluster { affinity: Some(kind), ..base.clone() };
        for (params, sentence) in [
            (
                RpfCluster { beta1: Some(0.1), ..of(AffinityKind::TopK) },
                "beta1 applies only to affinity paper, but the affinity is top-k",
            ),
            (
                RpfCluster { beta2: Some(0.1), ..of(AffinityKind::Linear) },
                "beta2 applies only to affinity paper, but the affinity is linear",
            ),
            (
                RpfCluster { diagonal: Diagonal::Drop, ..base.clone() },
                "diagonal applies only to affinity paper, but the affinity is top-k",
            ),
            (
                RpfCluster { top: Some(5), ..of(AffinityKind::Paper) },
                "top applies only to affinity top-k, but the affinity is paper",
            ),
            (
                RpfCluster { beta1: Some(0.1), power: Some(2.0), ..base.clone() },
                "power applies only to affinity top-k, but the affinity is paper",
            ),
            (
                RpfCluster { landmarks: 50, ..base.clone() },
                "landmarks applies only to solver nystrom, but the solver is auto",
            ),
            (
                RpfCluster { resolution: Some(1.0), ..base.clone() },
                "resolution applies only to method leiden, but the method is kway",
            ),
            (
                RpfCluster { quality: Quality::Cpm, method: Some(Method::Ncut), ..base.clone() },
                "quality applies only to method leiden, but the method is ncut",
            ),
            (
                RpfCluster { method: Some(Method::Leiden), ..of(AffinityKind::Linear) },
                "method leiden applies only to affinity paper or top-k, but the affinity is linear",
            ),
            (
                RpfCluster { method: Some(Method::Leiden), solver: Solver::Dense, ..base.clone() },
                "solver applies only to method kway or ncut, but the method is leiden",
            ),
            (
                RpfCluster { resolution: Some(0.0), method: Some(Method::Leiden), ..base.clone() },
                "resolution is 0, but must be above 0",
            ),
            (
                RpfCluster {
                    resolution: Some(1.0),
                    max_k: Some(9),
                    method: Some(Method::Leiden),
                    ..base.clone()
                },
                "max_k is 9, but must be None: the number of clusters follows from the resolution",
            ),
        ] {
            assert_eq!(params.validate().unwrap_err().to_string(), sentence);
        }
    }

    #[test]
    fn parameters_that_apply_are_accepted() {
        let base = RpfCluster::default();
        for params in [
            RpfCluster { beta1: Some(0.1), diagonal: Diagonal::Drop, ..base.clone() },
            RpfCluster { top: Some(5), power: Some(2.0), ..base.clone() },
            RpfCluster { affinity: Some(AffinityKind::Linear), diagonal: Diagonal::Keep, ..base.clone() },
            RpfCluster { solver: Solver::Nystrom, landmarks: 50, ..base.clone() },
            RpfCluster {
                method: Some(Method::Leiden),
                quality: Quality::Cpm,
                resolution: Some(0.1),
                ..base.clone()
            },
        ] {
            params.validate().unwrap();
        }
    }
}
