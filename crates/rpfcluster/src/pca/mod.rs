//! Principal components (Pearson 1901; Hotelling 1933): the orthogonal directions of largest variance.
//!
//! In many columns a random direction is mostly noise, since the signal lies in few directions. Drawn among the leading
//! components it carries most of the signal. A fit therefore replaces the columns of a table of more than
//! [`MAX_COMPONENTS`] columns by its leading components before it grows the forest
//! (docs/background/deviations-from-paper.md, docs/notes/2026-11-components.md).
//!
//! `covariance` and a dense eigen-decomposition up to [`COVARIANCE_COLUMNS`] columns, exact up to rounding; `randomized`
//! beyond. The sums have a fixed order: neither the number of threads nor sparse storage changes a bit. Memory: the
//! scores, n x C, and for the fit d² numbers three times, or (C + 10) d numbers five times.

mod covariance;
mod randomized;

use rayon::prelude::*;

use crate::eigen::{SymmetricEigen, fix_signs, symmetric};
use crate::error::{Error, Result, parameter};
use crate::observe::{Observer, check};
use crate::params::Components;
use crate::points::{Points, Precision, Real};
use crate::simd::dispatch;

/// Largest number of columns whose covariance matrix is decomposed as a whole.
pub(crate) const COVARIANCE_COLUMNS: usize = 1000;
/// Number of components that are taken unasked. Tables of no more columns stay as they are. Fewer of them, by their share of
/// the variance, lose clusters whose differences are small (docs/notes/2026-11-components.md).
pub(crate) const MAX_COMPONENTS: usize = 50;
/// Largest number of columns whose components are computed unasked: their blocks take 250 MB.
const MAX_COLUMNS: usize = 100_000;
/// Share of the variance below which a component is what rounding leaves.
const ROUNDING: f64 = 1e-12;
/// Largest absolute values, in double and in single precision, whose squares and scores do not overflow.
const MAX_MAGNITUDES: [f64; 2] = [1e140, 1e30];
/// The projection pads components to a multiple of this.
const LANES: usize = 8;
/// Rows of one parallel task of a projection.
const CHUNK: usize = 256;

/// The largest number of components that a fit of `d` columns may take; `None` for the columns themselves.
pub(crate) fn most_components(components: Components, d: usize) -> Option<usize> {
    match components {
        Components::None => None,
        Components::Auto => (MAX_COMPONENTS + 1..=MAX_COLUMNS).contains(&d).then_some(MAX_COMPONENTS),
        Components::Count(count) => Some(count),
    }
}

/// Bytes held while `count` components of `n` rows and `d` columns are computed, beside the rows.
pub(crate) fn fit_bytes(n: u64, d: u64, count: u64) -> u64 {
    match d <= COVARIANCE_COLUMNS as u64 {
        true => covariance::bytes(n, d),
        false => randomized::bytes(n, d, count),
    }
}

/// Leading principal components of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pca {
    /// The mean of each column.
    pub mean: Vec<f64>,
    /// The components as columns of a d x C matrix, row-major, of unit length.
    pub axes: Vec<f64>,
    /// The variance along each component, descending.
    pub variances: Vec<f64>,
    /// The sum of the variances of all columns.
    pub total: f64,
}

impl Pca {
    /// The components that a fit uses; `None` for the columns themselves.
    pub fn of<R: Real>(
        points: &Points<R>,
        components: Components,
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let d = points.d();
        match components {
            Components::None => Ok(None),
            Components::Auto => Self::fit(points, None, observer),
            Components::Count(count) if count > d => {
                Err(parameter("components", count, format!("at most {d}, the number of columns")))
            }
            Components::Count(count) => Self::fit(points, Some(count), observer),
        }
    }

    /// From the numbers of a model file, total, variances, mean and axes; `None` where they do not fit.
    #[cfg(feature = "serde")]
    pub fn from_numbers(numbers: &[f64], count: usize) -> Option<Self> {
        let d = numbers.len().checked_sub(1 + count)? / (1 + count);
        if d < count || numbers.len() != 1 + count + d * (1 + count) || !numbers.iter().all(|v| v.is_finite())
        {
            return None;
        }
        let (total, rest) = numbers.split_first()?;
        let (variances, rest) = rest.split_at(count);
        let (mean, axes) = rest.split_at(d);
        Some(Pca { mean: mean.to_vec(), axes: axes.to_vec(), variances: variances.to_vec(), total: *total })
    }

    /// The leading components: `count` of them, or without a count [`MAX_COMPONENTS`], fewer where no more vary. `None` where
    /// no count was given and the table is narrow or constant.
    fn fit<R: Real>(
        points: &Points<R>,
        count: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let d = points.d();
        let [double, single] = MAX_MAGNITUDES;
        let too_large = points.largest() > if R::PRECISION == Precision::F32 { single } else { double };
        if count.is_none() && (d <= MAX_COMPONENTS || d > MAX_COLUMNS || too_large) {
            return Ok(None);
        }
        if too_large {
            return Err(Error::Numerical {
                what: "principal component analysis",
                problem: format!("values of up to {:e} are too large to be squared", points.largest()),
            });
        }
        let most = count.unwrap_or(MAX_COMPONENTS);
        let mut found = match d <= COVARIANCE_COLUMNS {
            true => Self::exact(points, most, observer)?,
            false => randomized::leading(points, most, observer)?,
        };
        if count.is_none() {
            let varying = found.variances.iter().filter(|v| **v > ROUNDING * found.total).count();
            if varying == 0 {
                return Ok(None);
            }
            found.truncate(varying);
        }
        fix_signs(&mut found.axes, found.variances.len());
        Ok(Some(found))
    }

    /// All of the spectrum, by the covariance matrix.
    fn exact<R: Real>(points: &Points<R>, most: usize, observer: &dyn Observer) -> Result<Self> {
        let d = points.d();
        let mean = covariance::means(points, observer)?;
        let matrix = covariance::covariance(points, &mean, observer)?;
        let total = (0..d).map(|j| matrix[j * d + j]).sum();
        let SymmetricEigen { values, vectors: axes } = symmetric(&matrix, d, most, observer)?;
        let variances = values[..most].iter().map(|v| v.max(0.0)).collect();
        Ok(Pca { mean, axes, variances, total })
    }

    /// Number of columns of the table.
    pub fn d(&self) -> usize {
        self.mean.len()
    }

    /// Number of components.
    pub fn count(&self) -> usize {
        self.variances.len()
    }

    fn truncate(&mut self, count: usize) {
        let all = self.count();
        self.axes = self.axes.chunks_exact(all).flat_map(|row| &row[..count]).copied().collect();
        self.variances.truncate(count);
    }

    /// The scores of the rows, n x C, in the precision of the data. A row's scores do not depend on the others.
    pub fn project<R: Real>(&self, points: &Points<R>, observer: &dyn Observer) -> Result<Vec<R>> {
        if points.d() != self.d() {
            return Err(Error::Columns { got: points.d(), expected: self.d() });
        }
        let count = self.count();
        let (padded, table, offset) = projection_table(&self.axes, &self.mean, count);
        let mut scores = vec![R::default(); points.n() * count];
        scores.par_chunks_mut(CHUNK * count).enumerate().try_for_each(|(chunk, out)| {
            check(observer)?;
            let (mut sums, mut scratch) = (vec![0.0; padded], Vec::new());
            for (i, out) in out.chunks_exact_mut(count).enumerate() {
                scores_of(points, chunk * CHUNK + i, &mut scratch, &table, padded, &mut sums);
                for ((to, sum), offset) in out.iter_mut().zip(&sums).zip(&offset) {
                    *to = R::from_f64(sum - offset);
                }
            }
            Ok::<_, Error>(())
        })?;
        Ok(scores)
    }
}

/// The axes with rows padded to a multiple of [`LANES`], their padded width, and the projection of the mean.
fn projection_table(axes: &[f64], mean: &[f64], count: usize) -> (usize, Vec<f64>, Vec<f64>) {
    let padded = count.next_multiple_of(LANES);
    let mut table = vec![0.0; mean.len() * padded];
    let mut offset = vec![0.0; count];
    for ((to, axis), mean) in table.chunks_exact_mut(padded).zip(axes.chunks_exact(count)).zip(mean) {
        to[..count].copy_from_slice(axis);
        offset.iter_mut().zip(axis).for_each(|(o, a)| *o += mean * a);
    }
    (padded, table, offset)
}

/// The projection of one row on each column of the table, without centring; columns are added in their order.
fn scores_of<R: Real>(
    points: &Points<R>,
    row: usize,
    scratch: &mut Vec<R>,
    table: &[f64],
    padded: usize,
    out: &mut [f64],
) {
    match points.dense_row(row, scratch) {
        Some(values) => dense_scores(values, table, padded, out),
        None => {
            out.fill(0.0);
            points.each_value(row, |column, value| {
                let x = value.to_f64();
                out.iter_mut().zip(&table[column * padded..][..padded]).for_each(|(o, a)| *o += x * a);
            });
        }
    }
}

dispatch! {
fn dense_scores<R: Real>(values: &[R], table: &[f64], padded: usize, out: &mut [f64]) {
    let mut first = 0;
    while first < padded {
        first += match padded - first {
            32.. => group::<R, 32>(values, table, padded, first, out),
            16.. => group::<R, 16>(values, table, padded, first, out),
            _ => group::<R, LANES>(values, table, padded, first, out),
        };
    }
}
}

/// The sums of `N` components from `first` on; returns N.
#[inline(always)]
fn group<R: Real, const N: usize>(
    values: &[R],
    table: &[f64],
    padded: usize,
    first: usize,
    out: &mut [f64],
) -> usize {
    let mut sums = [0.0; N];
    for (value, axes) in values.iter().zip(table.chunks_exact(padded)) {
        let x = value.to_f64();
        // Of known length, so that the sums stay in registers.
        sums.iter_mut().zip(&axes[first..first + N]).for_each(|(s, a)| *s += x * a);
    }
    out[first..first + N].copy_from_slice(&sums);
    N
}
