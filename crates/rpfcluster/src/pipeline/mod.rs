//! RpfCluster: the only room that knows the whole walk, Points → Forest → LeafMatrix → Affinity → Embedding → Labels.
//!
//! `params` what can be said, `fit` the chain, `fitted` what comes out and its predict, `recut` other settings on the same
//! forest, `codec` bytes.

mod codec;
pub(crate) mod fit;
mod fitted;
mod memory;
mod params;
mod predict;
mod refit;

use std::sync::Arc;
use std::time::Instant;

pub use fit::{Cut, Seconds};
pub use fitted::Fitted;
pub(crate) use params::linear_min_node;
pub use params::{AffinityKind, AffinityParams, RpfCluster};

use crate::eigen::Method;
use crate::error::Result;
use crate::forest::Forest;
use crate::observe::{Observed, Observer, Quiet};
use crate::points::{Points, Real};
use crate::random::sample_rows;
use crate::select::{self, Choice, KChoice, TreesChoice};
use crate::thread_pool::in_pool;

impl RpfCluster {
    /// Clusters the points.
    pub fn fit<'a, R: Real>(&self, points: impl Into<Observed<'a, R>>) -> Result<Fitted> {
        let Observed { points, observer } = points.into();
        self.validate()?;
        memory::check(self, points.n(), points.d(), size_of::<R>())?;
        in_pool(self.threads, || self.fit_here(&points, observer))?
    }

    fn fit_here<R: Real>(&self, points: &Points<R>, observer: &dyn Observer) -> Result<Fitted> {
        let mut seconds = Seconds::default();
        let mut evidence = Evidence::default();
        let mut params = self.clone();
        if let Some(max_k) = self.max_k {
            let clock = Instant::now();
            let chosen = select::choose_k(points, self, max_k, observer)?;
            params.k = chosen.k;
            evidence.k = Some(chosen);
            seconds.tune += clock.elapsed().as_secs_f64();
        }
        if params.k == 1 {
            params.tune = false;
        }
        if let Some(most) = self.max_trees {
            let clock = Instant::now();
            let chosen = select::choose_trees(points, &params, most, observer)?;
            params.trees = chosen.trees;
            evidence.trees = Some(chosen);
            seconds.tune += clock.elapsed().as_secs_f64();
        }
        let base = params.fixed_min_node(points.n());
        // `linear` alone needs no leaves smaller than its own.
        let several =
            params.tune && params.min_node.is_none() && params.fixed_affinity() != AffinityParams::Linear;
        let base = if several { base.min(select::MIN_NODES[0]) } else { base };
        // Many rows: settings are tried on a sample with a forest of its own.
        if params.tune && points.n() > select::SAMPLE_ABOVE {
            let clock = Instant::now();
            let rows = sample_rows(params.seed, points.n(), select::SAMPLE);
            let mut choice = points.with_rows(&rows, |sample| {
                let forest = Forest::grow(sample.observed(&Quiet(observer)), &params.forest_params(base))?;
                select::choose(&forest, &params, observer)
            })??;
            choice.sample = Some(rows.len());
            if params.min_node.is_none() && choice.affinity == AffinityParams::Linear {
                choice.min_node = choice.min_node.max(linear_min_node(points.n()));
            }
            seconds.tune += clock.elapsed().as_secs_f64();
            evidence.settings = Some(choice);
        }
        let clock = Instant::now();
        let grown_at = evidence.settings.as_ref().map_or(base, |choice| choice.min_node);
        let forest = Forest::grow(points.observed(observer), &params.forest_params(grown_at))?;
        seconds.grow = clock.elapsed().as_secs_f64();
        fit_forest(params, Arc::new(forest), evidence, seconds, observer)
    }
}

/// The residual asked of eigenvectors of more than [`select::SAMPLE_ABOVE`] rows. What it leaves open moves a row by far
/// less than the rows' own scatter; the last two decades cost as many products as the first three.
const MANY_ROWS_TOLERANCE: f64 = 1e-5;
/// The angle by which the eigenvectors of a fit may be off: it moves a row by a ten-thousandth of its distance from the
/// origin, and where the gap behind the K-th eigenvalue is wide most products would go into digits nobody sees.
const ANGLE: f64 = 1e-4;

/// What is run in the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub min_node: usize,
    pub affinity: AffinityParams,
    pub method: Method,
}

/// What was chosen without labels, and why.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Evidence {
    /// The number of clusters, when it was left open.
    pub k: Option<KChoice>,
    /// The number of trees, when it was left open.
    pub trees: Option<TreesChoice>,
    /// Affinity and min_node, when settings were tried.
    pub settings: Option<Choice>,
}

/// Clusters the points of a grown forest, after choosing what is open.
fn fit_forest(
    params: RpfCluster,
    forest: Arc<Forest>,
    mut evidence: Evidence,
    mut seconds: Seconds,
    observer: &dyn Observer,
) -> Result<Fitted> {
    if params.tune && evidence.settings.is_none() {
        let clock = Instant::now();
        fit::check_distinct(&forest.leaves(), params.k, observer)?;
        evidence.settings = Some(select::choose(&forest, &params, observer)?);
        seconds.tune += clock.elapsed().as_secs_f64();
    }
    let setting = match &evidence.settings {
        Some(choice) => {
            Setting { min_node: choice.min_node, affinity: choice.affinity, method: choice.method }
        }
        None => {
            // What nobody asked for cannot be smaller than the forest allows.
            let least = if params.min_node.is_none() { forest.params().min_node } else { 0 };
            Setting {
                min_node: params.fixed_min_node(forest.n()).max(least),
                affinity: params.fixed_affinity(),
                method: params.method.unwrap_or_default(),
            }
        }
    };
    let leaves = Arc::new(forest.leaves_at(setting.min_node)?);
    fit::check_distinct(&leaves, params.k, observer)?;
    let clock = Instant::now();
    let pairs = fit::pairs(&leaves, &setting.affinity, observer)?;
    let affinity = fit::affinity(&leaves, &pairs, &setting.affinity, observer)?;
    drop(pairs);
    seconds.kernel = clock.elapsed().as_secs_f64();
    let mut spectral = params.spectral_params(setting.method);
    spectral.angle = ANGLE;
    if leaves.n() > select::SAMPLE_ABOVE {
        spectral.tolerance = MANY_ROWS_TOLERANCE;
    }
    let cut = fit::cut(&leaves, &affinity, &spectral, None, &mut seconds, observer)?;
    drop(affinity);
    Fitted::new(params, forest, setting, leaves, cut, (seconds, evidence), observer)
}
