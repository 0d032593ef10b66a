//! The spread of the columns: standard deviations, dominant columns, and columns of very different scales.
//!
//! A projection is p = Σ rⱼ xⱼ with independent standard normal rⱼ, so the variance of p over the rows has the
//! expectation E[Σ rᵢ rⱼ covᵢⱼ] = Σ varⱼ over the directions, and column j contributes the share varⱼ / Σ var.
//! Variances are computed by Welford's method (Technometrics 4(3), 1962) on values divided by the largest of their
//! column, so that no finite value overflows. Zeros are left out and merged at the end by the formula of Chan, Golub
//! and LeVeque (1979): dense and sparse tables give the same bits.

use super::ColumnProblem;
use crate::points::{Points, Real};

/// Share of the spread from which columns decide nearly everything: the others move a projection by less than a third
/// of its standard deviation.
const DOMINANT_SHARE: f64 = 0.9;
/// One in this many columns may be dominant, and always one. More are no exception but the data.
const COLUMNS_PER_DOMINANT: usize = 10;
/// Standard deviations of a dominant column, in medians of those of the other columns. Measurements in one unit differ
/// by small factors (petal length and sepal width of irises: 4); a factor of ten comes from another unit.
const DOMINANT_RATIO: f64 = 10.0;
/// Ratio of standard deviations beyond which a column of small spread hardly counts.
const SCALE_RATIO: f64 = 100.0;

/// The columns of the largest and the smallest spread, where they differ by more than [`SCALE_RATIO`].
pub(super) fn scales(deviations: &[f64]) -> Option<ColumnProblem> {
    let varying = || (0..deviations.len()).filter(|&column| deviations[column] > 0.0);
    let largest = varying().max_by(|&a, &b| deviations[a].total_cmp(&deviations[b]))?;
    let smallest = varying().min_by(|&a, &b| deviations[a].total_cmp(&deviations[b]))?;
    let ratio = deviations[largest] / deviations[smallest];
    (ratio > SCALE_RATIO).then_some(ColumnProblem::Scales { columns: [largest, smallest], ratio })
}

/// The values of a column other than zero.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    pub nonzeros: usize,
    largest: f64,
}

/// One pass over the stored values.
pub(super) fn extents<R: Real>(points: &Points<R>) -> Vec<Extent> {
    let mut extents = vec![Extent::default(); points.d()];
    for row in 0..points.n() {
        points.each_value(row, |column, value| {
            let (extent, magnitude) = (&mut extents[column], value.to_f64().abs());
            extent.nonzeros += usize::from(magnitude > 0.0);
            extent.largest = extent.largest.max(magnitude);
        });
    }
    extents
}

/// The standard deviation of each column over all rows; exactly 0 for a constant column.
pub(super) fn deviations<R: Real>(points: &Points<R>, extents: &[Extent]) -> Vec<f64> {
    /// Welford's running mean and sum of squared deviations of the values other than zero.
    #[derive(Clone, Copy)]
    struct Moments {
        inverse: f64,
        count: f64,
        mean: f64,
        squares: f64,
    }
    // The inverse of a subnormal number would be infinite.
    let scale = |extent: &Extent| extent.largest.max(f64::MIN_POSITIVE);
    let start = |extent| Moments { inverse: 1.0 / scale(extent), count: 0.0, mean: 0.0, squares: 0.0 };
    let mut moments: Vec<Moments> = extents.iter().map(start).collect();
    for row in 0..points.n() {
        points.each_value(row, |column, value| {
            let value = value.to_f64();
            if value != 0.0 {
                let of = &mut moments[column];
                let scaled = value * of.inverse;
                let delta = scaled - of.mean;
                of.count += 1.0;
                of.mean += delta / of.count;
                of.squares += delta * (scaled - of.mean);
            }
        });
    }
    let n = points.n() as f64;
    let deviation = |(of, extent): (&Moments, &Extent)| {
        let zeros = n - of.count;
        let squares = of.squares + of.mean * of.mean * of.count * zeros / n;
        (squares / n).sqrt() * scale(extent)
    };
    moments.iter().zip(extents).map(deviation).collect()
}

/// The fewest columns that hold [`DOMINANT_SHARE`] of the variance, when they are exceptions among the columns that
/// vary.
pub(super) fn dominant(deviations: &[f64]) -> Option<ColumnProblem> {
    let mut order: Vec<usize> = (0..deviations.len()).filter(|column| deviations[*column] > 0.0).collect();
    order.sort_by(|a, b| deviations[*b].total_cmp(&deviations[*a]));
    let largest = deviations[*order.first()?];
    // Relative to the largest, so that no square overflows.
    let variance = |column: &usize| (deviations[*column] / largest).powi(2);
    let total: f64 = order.iter().map(variance).sum();
    let most = (order.len() / COLUMNS_PER_DOMINANT).max(1);
    let mut share = 0.0;
    let count = 1 + order[..most].iter().position(|column| {
        share += variance(column) / total;
        share >= DOMINANT_SHARE
    })?;
    let (leading, others) = order.split_at(count);
    // Both are sorted: the last is the smallest, the middle the median. Without other columns nothing is dominated.
    let (smallest, median) = (deviations[*leading.last()?], deviations[*others.get(others.len() / 2)?]);
    (smallest >= DOMINANT_RATIO * median)
        .then(|| ColumnProblem::Dominant { columns: leading.to_vec(), share: share.min(1.0) })
}
