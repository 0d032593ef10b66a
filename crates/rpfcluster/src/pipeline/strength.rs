//! Prediction strength of a setting (Tibshirani and Walther, JCGS 14, 2005).
//!
//! A sample of the rows is split into two halves, twice. Each half is fitted and predicts the other, which is also fitted
//! itself; the strength is the mean adjusted Rand index of the four pairs of labellings. Costs four fits of 500 rows and 100
//! trees (more rows for a large K), whatever the size of the table.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::metrics::Scores;
use crate::observe::{Observer, Quiet};
use crate::params::{Components, Duplicates, Metric, RpfCluster};
use crate::points::{Points, Real};
use crate::random::{halves, sample_rows};
use crate::select::{self, Choice};

/// Rows of the sample, and rows per cluster at least.
const SAMPLE_ROWS: usize = 1000;
const SAMPLE_ROWS_PER_CLUSTER: usize = 20;
/// Rows per cluster and half below which halves are not fitted.
const MIN_ROWS_PER_CLUSTER: usize = 3;
/// Splits of the sample.
const SPLITS: u64 = 2;
/// Trees of the forest of a half.
const TREES: usize = 100;

/// Selects a setting for what `params` leaves open.
pub(super) fn choose_setting<R: Real>(
    points: &Points<R>,
    has_categories: bool,
    params: &RpfCluster,
    observer: &dyn Observer,
) -> Result<Option<Choice>> {
    let rows = sample_rows(params.seed, points.n(), SAMPLE_ROWS.max(SAMPLE_ROWS_PER_CLUSTER * params.k));
    let half = rows.len() / 2;
    let families_of = |n| select::families(params, n, points.d(), has_categories);
    let (families, of_halves) = (families_of(points.n()), families_of(half));
    let quiet = Quiet(observer);
    let mut strength = |at: usize| {
        if params.k * MIN_ROWS_PER_CLUSTER > half {
            return Ok(None);
        }
        let mut fixed = params.at_setting(&of_halves[at].setting);
        // A value given for the whole table may exceed a half.
        fixed.min_node = fixed.min_node.map(|given| given.min((half / 4).max(2)));
        let trees = Some(params.trees.map_or(TREES, |given| given.min(TREES)));
        // The points are scores, or rows of unit length, already.
        let (components, metric) = (Components::None, Metric::Euclidean);
        let duplicates = Duplicates::Weigh;
        let fixed =
            RpfCluster { trees, components, metric, duplicates, threads: None, memory_limit: None, ..fixed };
        prediction_strength(points, &rows, &fixed, &quiet)
    };
    let mut choice = select::choose(&families, &mut strength, observer)?;
    if let Some(choice) = choice.as_mut().filter(|_| rows.len() < points.n()) {
        choice.sample = Some(rows.len());
    }
    Ok(choice)
}

/// The mean adjusted Rand index over the splits; `None` where a half cannot be fitted.
fn prediction_strength<R: Real>(
    points: &Points<R>,
    rows: &[u32],
    params: &RpfCluster,
    observer: &Quiet,
) -> Result<Option<f64>> {
    let of_split = |split: u64| -> Result<Option<f64>> {
        let (first, second) = halves(rows.len(), params.seed.wrapping_mul(SPLITS).wrapping_add(split));
        let [first, second] =
            [first, second].map(|at| at.iter().map(|i| rows[*i as usize]).collect::<Vec<_>>());
        let seeded =
            |number| RpfCluster { seed: params.seed.wrapping_add(2 * split + number), ..params.clone() };
        points.with_rows(&first, |first| {
            points.with_rows(&second, |second| {
                let fits = rayon::join(
                    || seeded(0).fit_in_pool(first, observer),
                    || seeded(1).fit_in_pool(second, observer),
                );
                let (one, two) = match fits {
                    (Ok(one), Ok(two)) => (one, two),
                    (Err(Error::Cancelled), _) | (_, Err(Error::Cancelled)) => return Err(Error::Cancelled),
                    // Too few distinct rows in a half.
                    _ => return Ok(None),
                };
                let to_two = Scores::new(&one.predict(second.observed(observer))?, two.labels())?.ari;
                let to_one = Scores::new(&two.predict(first.observed(observer))?, one.labels())?.ari;
                Ok(Some((to_two + to_one) / 2.0))
            })?
        })?
    };
    let found: Vec<Option<f64>> = (0..SPLITS).into_par_iter().map(of_split).collect::<Result<_>>()?;
    let total: Option<f64> = found.iter().copied().sum();
    Ok(total.map(|sum| sum / SPLITS as f64))
}
