//! Uniform scalar quantization of rows and directions to 16 bits, with a bound on the error of their dot product.
//!
//! A column is x = middle + step (q + e) with integer q, |q| <= `max_level`, |e| <= 1/2. A direction is
//! r step = unit (p + f) with integer p, |f| <= 1/2. Then (r·x - cut) / unit is the integer
//! Σ p q - (cut - r·middle) / unit up to Σ |q| / 2 + Σ |p| / 2 and the rounding of the exact sums (`fixed_order`):
//! together less than `error_bound`. A sum farther from zero has the sign of the exact comparison. The cut is part of
//! the sum: rows end in 32,767 and 1, and directions in the cut written as two digits of this base.
//!
//! Where the bound does not hold (a row outside the grid, a direction along which sums overflow or underflow) the
//! values are zeros; their sum is within every error bound and decides nothing. 2 bytes per value.

use rayon::prelude::*;

use crate::forest::projection::fixed_order::{LINE, RowStorage};
use crate::points::{Precision, Real};
use crate::random::mix;

/// 16-bit values per AVX2 register.
pub(crate) const WIDTH: usize = 16;
/// Largest number of columns. The fraction of rows within the error bound of a cut grows with the columns, to 7 % here.
pub(crate) const MAX_COLUMNS: usize = 2046;
/// Values at the end of a row that multiply the digits of the cut.
const DIGITS: usize = 2;
/// Base of the digits: the largest 16-bit value.
const BASE: i32 = i16::MAX as i32;
/// Largest sum of products of a row and a direction; together with a cut of this size it fits 32 bits.
const MAX_SUM: f64 = 980_000_000.0;
/// Part of the error bound reserved for the rounding of exact sums, in units of the sum. A larger part admits columns
/// farther from zero and leaves more rows to exact projections.
const ROUNDING: f64 = 4096.0;
/// The same for each column: a lane of `fixed_order` adds a sixteenth of the columns.
const ROUNDING_PER_COLUMN: f64 = 16.0;
/// How much wider than the bulk of the data the grid may become to cover all rows. Quantization gets coarser by the
/// same factor.
const MAX_WIDENING: f64 = 2.0;
/// The same times the number of columns, from [`WIDENED_COLUMNS`] on: the fraction of rows that a cut leaves undecided is
/// proportional to both. In fewer columns small nodes are narrow, and a coarse grid decides little in them.
const MAX_WIDENED: f64 = 1024.0;
const WIDENED_COLUMNS: usize = 32;
/// Smallest number of rows quantized by one task.
const TASK_ROWS: usize = 1024;
/// Rows sampled to estimate the range of the columns.
const SAMPLE: usize = 4096;

/// The quantization grid: offset and step of each column.
pub(crate) struct Grid {
    columns: Vec<Column>,
    /// AVX2 registers per row.
    pub registers: usize,
    max_level: f64,
    /// Sums of at most this magnitude decide nothing.
    pub error_bound: i32,
}

/// Quantization of a column: x is about middle + step q.
#[derive(Clone, Copy)]
struct Column {
    middle: f64,
    step: f64,
}

/// Quantized rows.
pub(crate) struct QuantizedRows {
    pub grid: Grid,
    /// [`QuantizedRows::width`] values per row, beginning at `first`.
    values: Vec<i16>,
    first: usize,
    /// Whether every row is inside the grid.
    all_inside: bool,
}

impl QuantizedRows {
    /// Quantizes the first `n` rows; rows outside the grid become zeros. `None` for sparse rows and too many columns.
    pub fn new<R: Real>(rows: &RowStorage<R>, n: usize, d: usize) -> Option<Self> {
        let (values, stride) = rows.dense()?;
        Some(Self::quantize(Grid::new(values, stride, n, d)?, values, stride, n))
    }

    fn quantize<R: Real>(grid: Grid, values: &[R], stride: usize, n: usize) -> Self {
        let (width, d) = (grid.registers * WIDTH, grid.d());
        let mut quantized = vec![0i16; n * width + LINE / size_of::<i16>()];
        // Aligned, so that a row spans as few cache lines as possible.
        let first = quantized.as_ptr().align_offset(LINE).min(LINE / size_of::<i16>());
        let all_inside = quantized[first..first + n * width]
            .par_chunks_exact_mut(width)
            .zip(values.par_chunks_exact(stride))
            .with_min_len(TASK_ROWS)
            .map(|(to, from)| grid.quantize_row(&from[..d], to))
            .reduce(|| true, |a, b| a & b);
        QuantizedRows { grid, values: quantized, first, all_inside }
    }

    /// As [`QuantizedRows::new`] on a grid that covers every row; `None` also where outliers would make it too coarse.
    pub fn covering<R: Real>(rows: &RowStorage<R>, n: usize, d: usize) -> Option<Self> {
        let (values, stride) = rows.dense()?;
        let mut grid = Grid::new(values, stride, n, d)?;
        let empty = || vec![(f64::INFINITY, f64::NEG_INFINITY); d];
        let union = |mut extremes: Vec<(f64, f64)>, other: Vec<(f64, f64)>| {
            extremes.iter_mut().zip(other).for_each(|(a, b)| *a = (a.0.min(b.0), a.1.max(b.1)));
            extremes
        };
        let extremes = values[..n * stride]
            .par_chunks_exact(stride)
            .with_min_len(TASK_ROWS)
            .fold(empty, |mut extremes, row| {
                for ((low, high), x) in extremes.iter_mut().zip(row) {
                    (*low, *high) = (low.min(x.to_f64()), high.max(x.to_f64()));
                }
                extremes
            })
            .reduce(empty, union);
        let bulk: f64 = grid.columns.iter().map(|column| column.step).sum();
        for (column, (low, high)) in grid.columns.iter_mut().zip(extremes) {
            *column = Column { middle: low + (high - low) * 0.5, step: (high - low) * 0.5 / grid.max_level };
        }
        // The unit of a sum is proportional to the sum of the steps. The comparison is false for NaN.
        let widening = match d {
            ..WIDENED_COLUMNS => MAX_WIDENING,
            _ => MAX_WIDENING.max(MAX_WIDENED / d as f64),
        };
        let is_fine = grid.columns.iter().map(|column| column.step).sum::<f64>() <= widening * bulk;
        if !is_fine {
            return None;
        }
        // Rounding of a large middle can leave an extreme value outside.
        Some(Self::quantize(grid, values, stride, n)).filter(|rows| rows.all_inside)
    }

    /// All values, row-major.
    pub fn values(&self) -> &[i16] {
        &self.values[self.first..]
    }

    /// Values per row.
    pub fn width(&self) -> usize {
        self.grid.registers * WIDTH
    }
}

impl Grid {
    fn new<R: Real>(values: &[R], stride: usize, n: usize, d: usize) -> Option<Self> {
        let registers = (d + DIGITS).div_ceil(WIDTH);
        if d > MAX_COLUMNS || n == 0 {
            return None;
        }
        // Rows and directions contribute the same error.
        let max_level = (MAX_SUM / d as f64).sqrt().floor().min(16_384.0);
        // Pseudo-random and not equally spaced rows: the data may be periodic.
        let sample: Vec<usize> = match n {
            ..=SAMPLE => (0..n).collect(),
            _ => (0..SAMPLE as u64).map(|i| (mix(i) % n as u64) as usize).collect(),
        };
        let columns = (0..d)
            .into_par_iter()
            .map(|j| {
                let mut column_values: Vec<f64> =
                    sample.iter().map(|&i| values[i * stride + j].to_f64()).collect();
                column_values.sort_unstable_by(f64::total_cmp);
                Column::of(&column_values, max_level)
            })
            .collect();
        let error_bound =
            (d as f64 * max_level + Self::max_norm(max_level, d)) * 0.5001 + Self::rounding(d) + 2.0;
        Some(Grid { columns, registers, max_level, error_bound: error_bound as i32 })
    }

    /// The error bound of sums and cuts that are rounded to f32: rounding a number below 2^31 adds at most 64, and a
    /// comparison involves at most four such numbers.
    pub fn error_bound_f32(&self) -> f32 {
        self.error_bound as f32 + 256.0
    }

    /// Number of columns.
    pub fn d(&self) -> usize {
        self.columns.len()
    }

    /// The part of the error bound for the rounding of exact sums.
    fn rounding(d: usize) -> f64 {
        ROUNDING + ROUNDING_PER_COLUMN * d as f64
    }

    /// The largest 1-norm of a quantized direction.
    fn max_norm(max_level: f64, d: usize) -> f64 {
        MAX_SUM / max_level - d as f64
    }

    /// Quantizes a row. A row outside the grid becomes zeros and returns false.
    fn quantize_row<R: Real>(&self, row: &[R], to: &mut [i16]) -> bool {
        for ((value, x), column) in to.iter_mut().zip(row).zip(&self.columns) {
            let offset = x.to_f64() - column.middle;
            let q = if offset == 0.0 { 0.0 } else { nearest(offset / column.step) };
            let inside = q.abs() <= self.max_level;
            if !inside {
                to.fill(0);
                return false;
            }
            *value = q as i16;
        }
        let digits = to.len() - DIGITS;
        to[digits..].copy_from_slice(&[BASE as i16, 1]);
        true
    }

    /// Quantizes the direction of a node with its cut into `to`, which holds zeros.
    pub fn quantize_node<R: Real>(&self, direction: &[R], cut: R, to: &mut [i16]) {
        let Some(scale) = self.quantize_direction(direction, cut.to_f64(), to) else { return };
        // A cut beyond all sums decides for every row; its distance is irrelevant.
        let beyond = MAX_SUM + 2.0 * f64::from(self.error_bound);
        let cut = nearest(scale.sum_of(cut).clamp(-beyond, beyond)) as i32;
        let high = (cut + cut.signum() * (BASE / 2)) / BASE;
        let digits = to.len() - DIGITS;
        to[digits..].copy_from_slice(&[-high as i16, -(cut - high * BASE) as i16]);
    }

    /// Quantizes a direction without the digits of a cut into `to`, which holds zeros. `None`, and `to` unchanged,
    /// where the error bound does not hold for cuts up to `largest_cut`.
    pub fn quantize_direction<R: Real>(
        &self,
        direction: &[R],
        largest_cut: f64,
        to: &mut [i16],
    ) -> Option<ProjectionScale> {
        let d = self.columns.len();
        // Sums of the steps along the direction, of the middles, and of the magnitudes of all terms.
        let (mut steps, mut longest, mut middle, mut all) = (0.0f64, 0.0f64, 0.0, 0.0);
        for (r, column) in direction.iter().map(|r| r.to_f64()).zip(&self.columns) {
            let step = r.abs() * column.step;
            steps += step;
            longest = longest.max(step);
            middle += r * column.middle;
            all += r.abs() * (column.middle.abs() + column.step * self.max_level);
        }
        let unit = (steps / (Self::max_norm(self.max_level, d) - d as f64)).max(longest / f64::from(BASE));
        // Relative rounding of an addition, and the magnitudes between which a sum neither overflows nor becomes
        // subnormal.
        let (rounding, small, large) = match R::PRECISION {
            Precision::F32 => (f64::from(f32::EPSILON), 1e-30, 1e37),
            Precision::F64 => (f64::EPSILON, 1e-280, 1e300),
        };
        let additions = (d / 16 + 8) as f64 * rounding * all;
        // The positions of the middle and the cut are computed in f64.
        let placing = (d + 8) as f64 * f64::EPSILON * (all + largest_cut.abs());
        if !(additions + placing <= Self::rounding(d) * unit && unit > small && all < large) {
            return None;
        }
        for ((to, r), column) in to.iter_mut().zip(direction).zip(&self.columns) {
            *to = nearest(r.to_f64() * column.step / unit) as i16;
        }
        Some(ProjectionScale { unit, middle })
    }
}

/// Converts projections to quantized sums.
pub(crate) struct ProjectionScale {
    unit: f64,
    middle: f64,
}

impl ProjectionScale {
    /// The quantized sum that corresponds to a projection.
    pub fn sum_of<R: Real>(&self, projection: R) -> f64 {
        (projection.to_f64() - self.middle) / self.unit
    }
}

impl Column {
    /// Covers the range between the 0.1 % and 99.9 % quantiles, widened by 60 %.
    fn of(sorted: &[f64], max_level: f64) -> Self {
        let last = sorted.len() - 1;
        let beyond = if last < 100 { 0 } else { last / 1000 + 1 };
        let (low, high) = (sorted[beyond], sorted[last - beyond]);
        let (low, high, width) = if low < high { (low, high, 0.8) } else { (sorted[0], sorted[last], 0.5) };
        let middle = low + (high - low) * 0.5;
        Column { middle, step: (high - low) * width / max_level }
    }
}

/// Rounds a number below 2^51 to an integer by adding 1.5 · 2^52; SSE2 has no instruction for it.
#[inline(always)]
fn nearest(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    (x + SHIFT) - SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forest::projection::fixed_order::sum;
    use crate::points::Points;
    use crate::random::{Purpose, Stream};

    /// Asserts that sums beyond the error bound agree with the exact comparison; returns the fraction beyond it.
    fn decided_fraction<R: Real>(d: usize, value: impl Fn(usize, usize, f64) -> f64) -> f64 {
        let n = 600;
        let mut stream = Stream::new(d as u64, Purpose::Shapes, 1, 2);
        let values: Vec<R> =
            (0..n * d).map(|at| R::from_f64(value(at / d, at % d, stream.normal()))).collect();
        let rows = RowStorage::new(&Points::new(&values, n, d).unwrap());
        let quantized = QuantizedRows::new(&rows, n, d).unwrap();
        let width = quantized.width();
        let (mut beyond, nodes) = (0, 40);
        for node in 0..nodes {
            let direction: Vec<R> = (0..d).map(|_| R::from_f64(stream.normal())).collect();
            // A cut at the projection of a row, which its quantized sum must not decide; every eighth cut is far away.
            let cut = sum(&values[node * d..][..d], &direction);
            let cut = if node % 8 == 0 { R::from_f64(cut.to_f64() * 1e3) } else { cut };
            let mut node_values = vec![0i16; width];
            quantized.grid.quantize_node(&direction, cut, &mut node_values);
            for (row, levels) in values.chunks_exact(d).zip(quantized.values().chunks_exact(width)) {
                let products = levels.iter().zip(&node_values).map(|(&q, &p)| i64::from(q) * i64::from(p));
                assert!(products.clone().map(i64::abs).sum::<i64>() <= i64::from(i32::MAX));
                let sum_of_products: i64 = products.sum();
                if sum_of_products.abs() > i64::from(quantized.grid.error_bound) {
                    assert_eq!(sum_of_products < 0, sum(row, &direction) < cut, "{d} columns, node {node}");
                    beyond += 1;
                }
            }
        }
        f64::from(beyond) / (n * nodes) as f64
    }

    #[test]
    fn sums_beyond_the_error_bound_agree_with_exact_projections() {
        for d in [1, 2, 5, 10, 14, 15, 16, 30, 31, 62, 63, 400] {
            assert!(decided_fraction::<f32>(d, |_, _, z| z) > 0.8);
            assert!(decided_fraction::<f64>(d, |_, _, z| z) > 0.8);
            // Columns of very different scale, one of them constant, far from zero.
            let uneven =
                |_: usize, j: usize, z: f64| 1e3 + 10f64.powi(j as i32 % 5 - 2) * z * (j != 3) as u8 as f64;
            assert!(decided_fraction::<f64>(d, uneven) > 0.8);
            // In single precision only some directions that weight the wide columns decide.
            let decided = decided_fraction::<f32>(d, uneven);
            assert!(decided > 0.0 || !(5..=14).contains(&d), "{d} columns");
            // An outlier.
            assert!(decided_fraction::<f64>(d, |i, _, z| if i == 7 { 1e9 * z } else { z }) > 0.8);
            // Sums that overflow (of few columns some do not) or underflow decide nothing.
            let decided = decided_fraction::<f32>(d, |_, _, z| 1e37 * z.clamp(-3.0, 3.0));
            assert!(decided == 0.0 || d < 10, "{d} columns");
            assert_eq!(decided_fraction::<f64>(d, |_, _, z| 1e307 * z.clamp(-3.0, 3.0)), 0.0);
            assert_eq!(decided_fraction::<f32>(d, |_, _, z| 1e-38 * z), 0.0);
            assert_eq!(decided_fraction::<f64>(d, |_, _, z| 1e-306 * z), 0.0);
            // Nearly all rows are equal: of 40 cuts, the distant one at a row that differs decides for them.
            assert!(decided_fraction::<f64>(d, |i, _, z| if i % 50 == 0 { z } else { 0.0 }) > 0.02);
        }
    }

    #[test]
    fn too_many_columns_are_not_quantized() {
        let rows = RowStorage::new(&Points::new(&[0.0; (MAX_COLUMNS + 1) * 2], 2, MAX_COLUMNS + 1).unwrap());
        assert!(QuantizedRows::new(&rows, 2, MAX_COLUMNS + 1).is_none());
    }
}
