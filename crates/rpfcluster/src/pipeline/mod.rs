//! The whole fit: Points → Forest → LeafMatrix → affinity → eigenvectors → labels.
//!
//! Parameters left open are selected first: K, the number of trees, and affinity and min_node by fits of halves of a sample.
//! [`Evidence`] records what was selected and why.
//!
//! `memory` estimates the peak memory, `strength` selects the setting by prediction strength, `fit` is the chain from leaves to
//! labels, `fitted` holds the result, `confidence` computes the confidence of each row, `predict` labels new rows, `extent` tells rows far outside,
//! `refit` fits other settings on the same forest, `partitions` computes partitions for several K, `verdict` says how far to believe the result, `codec`
//! serialises and deserialises a fitted model.

#[cfg(feature = "serde")]
mod codec;
mod confidence;
mod extent;
mod fit;
mod fitted;
mod memory;
mod partitions;
mod predict;
mod refit;
mod strength;
mod verdict;

use std::sync::Arc;
use std::time::Instant;

pub use fit::{ResolutionChoice, Seconds, check_distinct};
pub(crate) use fitted::FittedRows;
pub use fitted::{Fitted, PrincipalComponents};
pub use partitions::{Partition, partitions};
pub(crate) use verdict::Assessment;
pub use verdict::{Verdict, VerdictWord};

use crate::distinct::DistinctRows;
use crate::error::{Error, Result};
use crate::forest::Forest;
use crate::observe::{Observed, Observer, Quiet};
use crate::params::{AffinityParams, Duplicates, Metric, RpfCluster, Setting};
use crate::pca::Pca;
use crate::points::{AnyPoints, Points, Real, scale_to_unit_length};
use crate::select::{self, Choice, KChoice, TreesChoice};
use crate::thread_pool::in_pool;

use extent::Extent;
use fit::spectral_labels;

impl RpfCluster {
    /// Clusters the points. `points` is `&points`, or `points.observed(&observer)` for progress and cancellation.
    pub fn fit<'a, R: Real>(&self, points: impl Into<Observed<'a, R>>) -> Result<Fitted> {
        let Observed { points, observer } = points.into();
        self.validate()?;
        memory::check(self, points.d(), |params| params.memory_of(&points))?;
        let points = R::any(points);
        in_pool(self.threads, || self.fit_any(points, observer))?
    }

    fn fit_any(&self, points: AnyPoints<'_>, observer: &dyn Observer) -> Result<Fitted> {
        match points {
            AnyPoints::F32(points) => self.fit_points(&points, observer),
            AnyPoints::F64(points) => self.fit_points(&points, observer),
        }
    }

    /// [`RpfCluster::fit`] in the current thread pool.
    pub(crate) fn fit_in_pool<R: Real>(&self, points: &Points<R>, observer: &dyn Observer) -> Result<Fitted> {
        self.validate()?;
        self.fit_points(points, observer)
    }

    fn fit_points<R: Real>(&self, points: &Points<R>, observer: &dyn Observer) -> Result<Fitted> {
        let clock = Instant::now();
        let copies = DistinctRows::find(points, observer)?.map(Arc::new);
        let (extent, far) = Extent::new(points, copies.as_deref());
        let distinct = copies.as_ref().map_or(points.n(), |rows| rows.len());
        let rows = copies.filter(|rows| self.duplicates == Duplicates::Weigh && rows.has_many_copies());
        let fit = |table: &Points<R>| -> Result<Fitted> {
            let clock = Instant::now();
            let pca = Pca::of(table, self.components, observer)?;
            let params = self.completed_for(pca.is_some(), table.density());
            let unit = params.metric == Metric::Cosine;
            let Some(pca) = pca else {
                let fit = |grown: &Points<R>| params.fit_rows(grown, table, rows.clone(), observer);
                return if unit { table.with_unit_rows(fit)? } else { fit(table) };
            };
            let mut scores = pca.project(table, observer)?;
            if unit {
                scores.chunks_exact_mut(pca.count()).for_each(scale_to_unit_length);
            }
            let prepared = clock.elapsed().as_secs_f64();
            let scores = Points::new(&scores, table.n(), pca.count())?;
            let mut fitted = params.fit_rows(&scores, table, rows.clone(), observer)?;
            fitted.pca = Some(Arc::new(pca));
            fitted.add_seconds(Seconds { grow: prepared, ..Seconds::default() });
            Ok(fitted)
        };
        let searched = clock.elapsed().as_secs_f64();
        let fitted = match &rows {
            Some(rows) => points.with_rows(&rows.first, fit)?,
            None => fit(points),
        };
        let mut fitted = fitted.map_err(|error| match error {
            Error::Inseparable { k, .. } if k > distinct => Error::TooManyClusters { k, distinct },
            other => other,
        })?;
        fitted.add_seconds(Seconds { grow: searched, ..Seconds::default() });
        // Compared by angle, no row is far by its length.
        if fitted.params().metric != Metric::Cosine {
            (fitted.extent, fitted.far) = (Some(extent), far);
        }
        Ok(fitted)
    }

    /// The same parameters with the number of trees and the metric for columns or principal components.
    fn completed_for(&self, components: bool, density: f64) -> Self {
        let metric = match self.metric {
            Metric::Auto if components && density < MOSTLY_ZEROS => Metric::Cosine,
            Metric::Auto => Metric::Euclidean,
            given => given,
        };
        RpfCluster { trees: Some(self.trees_by_default(components)), metric, ..self.clone() }
    }

    /// Fits these rows of `table`, or their principal components. `distinct` is there when they are the distinct rows of
    /// a table with copies.
    fn fit_rows<R: Real>(
        &self,
        points: &Points<R>,
        table: &Points<R>,
        distinct: Option<Arc<DistinctRows>>,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let mut seconds = Seconds::default();
        let mut evidence = Evidence::default();
        let mut known = None;
        let mut params = self.clone();
        // A node of fewer than `min_node` distinct rows is a leaf; not the root of a table that has few of them.
        if distinct.is_some() && params.min_node.is_some_and(|given| 2 * given > points.n()) {
            params.min_node = None;
        }
        if let Some(max_k) = self.max_k {
            let clock = Instant::now();
            let (chosen, of_rows) = select::choose_k(points, self, max_k, observer)?;
            params.k = chosen.k;
            evidence.k = Some(chosen);
            known = of_rows;
            seconds.tune += clock.elapsed().as_secs_f64();
        }
        if params.k == 1 || params.resolution.is_some() {
            params.tune = false;
        }
        if let Some(most) = self.max_trees {
            let clock = Instant::now();
            let affinity = params.default_affinity(table.has_categories());
            let chosen = choose_trees(points, &params, affinity, most, observer)?;
            params.trees = Some(chosen.trees);
            evidence.trees = Some(chosen);
            seconds.tune += clock.elapsed().as_secs_f64();
        }
        if params.tune {
            let clock = Instant::now();
            evidence.settings = strength::choose_setting(points, table.has_categories(), &params, observer)?;
            seconds.tune += clock.elapsed().as_secs_f64();
        }
        let setting = match &evidence.settings {
            Some(choice) => choice.setting(),
            None => params.fixed_setting(points.n(), table.has_categories()),
        };
        let clock = Instant::now();
        let numbers = distinct.as_ref().map(|rows| &rows.first[..]);
        let forest =
            Forest::grow_numbered(points, &params.forest_params(setting.min_node), numbers, observer)?;
        seconds.grow = clock.elapsed().as_secs_f64();
        let mut fitted =
            fit_forest(params, setting, Arc::new(forest), distinct, evidence, seconds, observer)?;
        if self.assess {
            let clock = Instant::now();
            let choice = fitted.evidence().k.clone();
            let found = verdict::assess(points, table, &fitted, choice.as_ref(), known, observer)?;
            fitted.set_assessment(found, clock.elapsed().as_secs_f64());
        }
        Ok(fitted)
    }
}

/// Share of non-zero values below which the metric of principal components is the cosine by default.
const MOSTLY_ZEROS: f64 = 0.05;
/// Number of rows above which [`LARGE_TOLERANCE`] applies.
const LARGE_ROWS: usize = 100_000;
/// Residual tolerance of large tables. The remaining error moves a row by far less than the scatter of the rows, and the
/// last two decades cost as many products as the first three.
const LARGE_TOLERANCE: f64 = 1e-5;
/// Largest angle, in radians, between the computed and the true eigenspace: it moves a row by 1e-4 of its distance
/// from the origin. Where the gap behind the K-th eigenvalue is wide, most products would otherwise go into digits
/// that change no label.
const MAX_ANGLE: f64 = 1e-4;

/// What was selected without labels, and why.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Evidence {
    /// The number of clusters, when it was left open.
    pub k: Option<KChoice>,
    /// The number of trees, when it was left open.
    pub trees: Option<TreesChoice>,
    /// Affinity and min_node, when they were left open.
    pub settings: Option<Choice>,
    /// The resolution of `leiden` that was found for K.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub resolution: Option<ResolutionChoice>,
}

/// The number of clusters of labels that are numbered from 0.
fn number_of_clusters(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |most| *most as usize + 1)
}

/// Selects the number of trees by fits on halves of growing forests.
fn choose_trees<R: Real>(
    points: &Points<R>,
    params: &RpfCluster,
    affinity: AffinityParams,
    most: usize,
    observer: &dyn Observer,
) -> Result<TreesChoice> {
    let quiet = Quiet(observer);
    let spectral = params.spectral_params(params.method.unwrap_or_default());
    select::choose_trees(points, params, most, observer, &|leaves| {
        let built = affinity.build(leaves, &quiet)?;
        let mut seconds = Seconds::default();
        Ok(spectral_labels(leaves, &built, None, &spectral, &mut seconds, &quiet)?.labels)
    })
}

/// Clusters the rows of a grown forest with this setting.
fn fit_forest(
    mut params: RpfCluster,
    setting: Setting,
    forest: Arc<Forest>,
    distinct: Option<Arc<DistinctRows>>,
    mut evidence: Evidence,
    mut seconds: Seconds,
    observer: &dyn Observer,
) -> Result<Fitted> {
    let leaves = Arc::new(forest.leaves_at(setting.min_node)?);
    if params.resolution.is_none() {
        check_distinct(&leaves, params.k, observer)?;
    }
    let clock = Instant::now();
    let rows = FittedRows::new(leaves, distinct);
    let (used, copies) = rows.clustered(&setting.affinity);
    let affinity = setting.affinity.build(used, observer)?;
    seconds.kernel = clock.elapsed().as_secs_f64();
    let mut spectral = params.spectral_params(setting.method);
    spectral.angle = MAX_ANGLE;
    if used.n() > LARGE_ROWS {
        spectral.tolerance = LARGE_TOLERANCE;
    }
    let copied = copies.map(|rows| &rows.copies[..]);
    let mut labelling = spectral_labels(used, &affinity, copied, &spectral, &mut seconds, observer)?;
    if let Some(copies) = copies {
        labelling = labelling.expanded(copies);
    }
    match params.resolution {
        Some(_) => params.k = number_of_clusters(&labelling.labels),
        None => evidence.resolution = labelling.resolution,
    }
    Ok(Fitted::new(params, forest, setting, rows, labelling, seconds, evidence))
}
