//! The whole fit: Points → Forest → LeafMatrix → affinity → eigenvectors → labels.
//!
//! Parameters left open are selected first: K, the number of trees, and affinity and min_node by trial fits on the
//! forest (for large tables on a sample of rows with a forest of its own). [`Evidence`] records what was selected and
//! why.
//!
//! `memory` estimates the peak memory, `trials` fits several settings on one forest, `fit` is the chain from leaves to
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
mod trials;
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
use crate::error::Result;
use crate::forest::Forest;
use crate::observe::{Observed, Observer, Quiet};
use crate::params::{AffinityParams, Duplicates, RpfCluster, Setting, linear_min_node};
use crate::pca::Pca;
use crate::points::{AnyPoints, Points, Real};
use crate::random::sample_rows;
use crate::select::{self, Choice, KChoice, TreesChoice};
use crate::thread_pool::in_pool;

use extent::Extent;
use fit::{PairCounts, spectral_labels};
use trials::{Reused, Trials};

impl RpfCluster {
    /// Clusters the points. `points` is `&points`, or `points.observed(&observer)` for progress and cancellation.
    pub fn fit<'a, R: Real>(&self, points: impl Into<Observed<'a, R>>) -> Result<Fitted> {
        let Observed { points, observer } = points.into();
        self.validate()?;
        memory::check(self, points.n(), points.d(), size_of::<R>())?;
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
        let rows = copies.filter(|rows| self.duplicates == Duplicates::Weigh && rows.has_many_copies());
        let fit = |table: &Points<R>| -> Result<Fitted> {
            let clock = Instant::now();
            let Some(pca) = Pca::of(table, self.components, observer)? else {
                return self.fit_rows(table, table, rows.clone(), observer);
            };
            let scores = pca.project(table, observer)?;
            let prepared = clock.elapsed().as_secs_f64();
            let scores = Points::new(&scores, table.n(), pca.count())?;
            let mut fitted = self.fit_rows(&scores, table, rows.clone(), observer)?;
            fitted.pca = Some(Arc::new(pca));
            fitted.add_seconds(Seconds { grow: prepared, ..Seconds::default() });
            Ok(fitted)
        };
        let searched = clock.elapsed().as_secs_f64();
        let mut fitted = match &rows {
            Some(rows) => points.with_rows(&rows.first, fit)??,
            None => fit(points)?,
        };
        fitted.add_seconds(Seconds { grow: searched, ..Seconds::default() });
        (fitted.extent, fitted.far) = (Some(extent), far);
        Ok(fitted)
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
            let chosen = choose_trees(points, &params, most, observer)?;
            params.trees = chosen.trees;
            evidence.trees = Some(chosen);
            seconds.tune += clock.elapsed().as_secs_f64();
        }
        let base = params.fixed_min_node(points.n());
        // `linear` alone needs no leaves smaller than its own.
        let several =
            params.tune && params.min_node.is_none() && params.fixed_affinity() != AffinityParams::Linear;
        let base = if several { base.min(select::MIN_NODES[0]) } else { base };
        // Large tables: the settings are tried on a sample of the rows, with a forest of its own.
        if params.tune && points.n() > select::SAMPLE_ABOVE {
            let clock = Instant::now();
            let rows = sample_rows(params.seed, points.n(), select::SAMPLE);
            let mut choice = points.with_rows(&rows, |sample| {
                let quiet = Quiet(observer);
                let forest = Forest::grow(sample.observed(&quiet), &params.forest_params(base))?;
                let distinct = distinct.as_ref().map(|distinct| distinct.subset(&rows));
                Ok::<_, crate::Error>(choose_setting(&forest, distinct.as_ref(), &params, observer)?.0)
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
        let mut fitted = fit_forest(params, Arc::new(forest), distinct, evidence, seconds, observer)?;
        if self.assess {
            let clock = Instant::now();
            let choice = fitted.evidence().k.clone();
            let found = verdict::assess(points, table, &fitted, choice.as_ref(), known, observer)?;
            fitted.set_assessment(found, clock.elapsed().as_secs_f64());
        }
        Ok(fitted)
    }
}

/// Residual tolerance for more than [`select::SAMPLE_ABOVE`] rows. The remaining error moves a row by far less than the
/// scatter of the rows, and the last two decades cost as many products as the first three.
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
    /// Affinity and min_node, when several settings were tried.
    pub settings: Option<Choice>,
    /// The resolution of `leiden` that was found for K.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub resolution: Option<ResolutionChoice>,
}

/// The number of clusters of labels that are numbered from 0.
fn number_of_clusters(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |most| *most as usize + 1)
}

/// Selects a setting by trials on this forest; returns what the trials computed for it as well.
fn choose_setting(
    forest: &Forest,
    distinct: Option<&DistinctRows>,
    params: &RpfCluster,
    observer: &dyn Observer,
) -> Result<(Choice, Reused)> {
    let grid = select::settings(params, forest.n(), forest.params().min_node);
    let mut trials = Trials::new(forest, distinct, params, observer);
    let mut labels = |setting: &Setting, trees| trials.labels(setting, trees);
    let choice = select::choose(grid, params.k, forest.trees(), &mut labels, observer)?;
    let reused = trials.into_reused(&choice.setting());
    Ok((choice, reused))
}

/// Selects the number of trees by fits on halves of growing forests.
fn choose_trees<R: Real>(
    points: &Points<R>,
    params: &RpfCluster,
    most: usize,
    observer: &dyn Observer,
) -> Result<TreesChoice> {
    let quiet = Quiet(observer);
    let spectral = params.spectral_params(params.method.unwrap_or_default());
    let affinity = params.fixed_affinity();
    select::choose_trees(points, params, most, observer, &|leaves| {
        let built = affinity.build(leaves, &quiet)?;
        let mut seconds = Seconds::default();
        Ok(spectral_labels(leaves, &built, None, &spectral, None, &mut seconds, &quiet)?.labels)
    })
}

/// Clusters the rows of a grown forest, after selecting what is open.
fn fit_forest(
    mut params: RpfCluster,
    forest: Arc<Forest>,
    distinct: Option<Arc<DistinctRows>>,
    mut evidence: Evidence,
    mut seconds: Seconds,
    observer: &dyn Observer,
) -> Result<Fitted> {
    let mut reused = Reused::default();
    if params.tune && evidence.settings.is_none() {
        let clock = Instant::now();
        check_distinct(&forest.leaves(), params.k, observer)?;
        let (choice, of_trials) = choose_setting(&forest, distinct.as_deref(), &params, observer)?;
        (evidence.settings, reused) = (Some(choice), of_trials);
        seconds.tune += clock.elapsed().as_secs_f64();
    }
    let setting = match &evidence.settings {
        Some(choice) => choice.setting(),
        None => {
            // A default cannot be smaller than what the forest was grown with.
            let least = if params.min_node.is_none() { forest.params().min_node } else { 0 };
            Setting {
                min_node: params.fixed_min_node(forest.n()).max(least),
                affinity: params.fixed_affinity(),
                method: params.method.unwrap_or_default(),
            }
        }
    };
    let leaves = match reused.leaves {
        Some(leaves) => leaves,
        None => Arc::new(forest.leaves_at(setting.min_node)?),
    };
    if params.resolution.is_none() {
        check_distinct(&leaves, params.k, observer)?;
    }
    let clock = Instant::now();
    let rows = FittedRows::new(leaves, distinct);
    let (used, copies) = rows.clustered(&setting.affinity);
    let counts = match reused.counts {
        Some(counts) => counts,
        None => PairCounts::new(used, &setting.affinity, observer)?,
    };
    let affinity = counts.affinity(used, &setting.affinity, observer)?;
    drop(counts);
    seconds.kernel = clock.elapsed().as_secs_f64();
    let mut spectral = params.spectral_params(setting.method);
    spectral.angle = MAX_ANGLE;
    if used.n() > select::SAMPLE_ABOVE {
        spectral.tolerance = LARGE_TOLERANCE;
    }
    let start = reused.start.as_ref();
    let mut labelling = spectral_labels(
        used,
        &affinity,
        copies.map(|rows| &rows.copies[..]),
        &spectral,
        start,
        &mut seconds,
        observer,
    )?;
    if let Some(copies) = copies {
        labelling = labelling.expanded(copies);
    }
    match params.resolution {
        Some(_) => params.k = number_of_clusters(&labelling.labels),
        None => evidence.resolution = labelling.resolution,
    }
    Ok(Fitted::new(params, forest, setting, rows, labelling, seconds, evidence))
}
