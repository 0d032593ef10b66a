//! Rows and directions rounded to 16 bits: the side of a cut on which a row lies is nearly always plain from a
//! rough sum, of which the machine makes sixteen products at once; only who is near the cut is summed exactly.
//!
//! A column is x = middle + step (q + e) with whole q, |q| <= `reach`, |e| <= 1/2. A direction is r step = unit (p + f),
//! |f| <= 1/2. So (r·x - cut) / unit is the whole number Σ p q - (cut - r·middle) / unit, but for an error of at most
//! Σ |q| / 2 + Σ |p| / 2 and what rounding the sums of `project` may add: together less than `margin`. Further from
//! zero than that, the sign is the sign of the exact comparison. The cut is part of the sum: rows end in a 32,767 and
//! a 1, and directions in the cut written with these two digits.
//!
//! Where that does not hold (a row far outside the others, a direction so long or short that sums overflow or vanish)
//! there are zeros, whose sum is within any margin.

use rayon::prelude::*;

use crate::forest::projection::fixed_order::{LINE, Rows};
use crate::points::{Precision, Real};
use crate::random::mix;

/// Values of one register.
pub(crate) const WIDTH: usize = 16;
/// Columns a row may have: the part of the rows that rounding leaves near a cut grows with them, to some 7 of 100.
pub(crate) const COLUMNS: usize = 2046;
/// Numbers at the end of a row that stand for the cut, and the larger of them.
const DIGITS: usize = 2;
const DIGIT: i32 = i16::MAX as i32;
/// Largest sum of products of a row and a direction: with a cut as large the sum still fits 32 bits.
const LARGEST: f64 = 980_000_000.0;
/// Units that the rounding of exact sums may add, and more for each column: a lane of `project` adds up a sixteenth of
/// them.
const ROUNDING: f64 = 4096.0;
const ROUNDING_A_COLUMN: f64 = 16.0;
/// Times the usual width that columns may have together and still be rounded whole.
const FAR_OUT: f64 = 2.0;
/// Rows that are rounded at a time.
const ROWS_A_TASK: usize = 1024;
/// Rows looked at to learn what range the columns have.
const LOOKED_AT: usize = 4096;

/// How the columns are rounded.
pub(crate) struct Grid {
    columns: Vec<Column>,
    /// Registers a row takes.
    pub registers: usize,
    reach: f64,
    /// Sums this near to zero tell nothing.
    pub margin: i32,
}

#[derive(Clone, Copy)]
struct Column {
    middle: f64,
    step: f64,
}

/// All rows, rounded.
pub(crate) struct CoarseRows {
    pub grid: Grid,
    /// [`CoarseRows::width`] values a row, from `first` on.
    values: Vec<i16>,
    first: usize,
    /// Whether no row is outside the grid.
    whole: bool,
}

impl CoarseRows {
    /// The first `n` rows; `None` where they are sparse or have too many columns.
    pub fn new<R: Real>(rows: &Rows<R>, n: usize, d: usize) -> Option<Self> {
        let (values, stride) = rows.dense()?;
        Some(Self::on(Grid::new(values, stride, n, d)?, values, stride, n))
    }

    fn on<R: Real>(grid: Grid, values: &[R], stride: usize, n: usize) -> Self {
        let (width, d) = (grid.registers * WIDTH, grid.d());
        let mut coarse = vec![0i16; n * width + LINE / size_of::<i16>()];
        // No row lies in more lines of the cache than it has to.
        let first = coarse.as_ptr().align_offset(LINE).min(LINE / size_of::<i16>());
        let whole = coarse[first..first + n * width]
            .par_chunks_exact_mut(width)
            .zip(values.par_chunks_exact(stride))
            .with_min_len(ROWS_A_TASK)
            .map(|(to, from)| grid.round_row(&from[..d], to))
            .reduce(|| true, |a, b| a & b);
        CoarseRows { grid, values: coarse, first, whole }
    }

    /// The same with no row outside the grid; `None` also where some lie so far out that the others would be too rough.
    pub fn covering<R: Real>(rows: &Rows<R>, n: usize, d: usize) -> Option<Self> {
        let (values, stride) = rows.dense()?;
        let mut grid = Grid::new(values, stride, n, d)?;
        let nothing = || vec![(f64::INFINITY, f64::NEG_INFINITY); d];
        let wider = |mut ends: Vec<(f64, f64)>, other: Vec<(f64, f64)>| {
            ends.iter_mut().zip(other).for_each(|(a, b)| *a = (a.0.min(b.0), a.1.max(b.1)));
            ends
        };
        let ends = values[..n * stride]
            .par_chunks_exact(stride)
            .with_min_len(ROWS_A_TASK)
            .fold(nothing, |mut ends, row| {
                for ((low, high), x) in ends.iter_mut().zip(row) {
                    (*low, *high) = (low.min(x.to_f64()), high.max(x.to_f64()));
                }
                ends
            })
            .reduce(nothing, wider);
        let usual: f64 = grid.columns.iter().map(|column| column.step).sum();
        for (column, (low, high)) in grid.columns.iter_mut().zip(ends) {
            *column = Column { middle: low + (high - low) * 0.5, step: (high - low) * 0.5 / grid.reach };
        }
        // The unit of a sum grows with the sum of the steps. Not a number is far out, too.
        let near = grid.columns.iter().map(|column| column.step).sum::<f64>() <= FAR_OUT * usual;
        if !near {
            return None;
        }
        // A middle far from zero may be rounded so much that an end is outside.
        Some(Self::on(grid, values, stride, n)).filter(|rows| rows.whole)
    }

    /// All values, row after row.
    pub fn values(&self) -> &[i16] {
        &self.values[self.first..]
    }

    /// Values of a row.
    pub fn width(&self) -> usize {
        self.grid.registers * WIDTH
    }
}

impl Grid {
    fn new<R: Real>(values: &[R], stride: usize, n: usize, d: usize) -> Option<Self> {
        let registers = (d + DIGITS).div_ceil(WIDTH);
        if d > COLUMNS || n == 0 {
            return None;
        }
        // As much error from the rows as from the directions.
        let reach = (LARGEST / d as f64).sqrt().floor().min(16_384.0);
        // Anywhere, and not every so many: rows may repeat a pattern.
        let looked_at: Vec<usize> = match n {
            ..=LOOKED_AT => (0..n).collect(),
            _ => (0..LOOKED_AT as u64).map(|i| (mix(i) % n as u64) as usize).collect(),
        };
        let columns = (0..d)
            .into_par_iter()
            .map(|j| {
                let mut seen: Vec<f64> = looked_at.iter().map(|&i| values[i * stride + j].to_f64()).collect();
                seen.sort_unstable_by(f64::total_cmp);
                Column::of(&seen, reach)
            })
            .collect();
        let margin = (d as f64 * reach + Self::most(reach, d)) * 0.5001 + Self::rounding(d) + 2.0;
        Some(Grid { columns, registers, reach, margin: margin as i32 })
    }

    /// The margin of sums that were rounded to f32, as was the place of the cut.
    pub fn margin_of_f32(&self) -> f32 {
        self.margin as f32 + 256.0
    }

    /// Columns of the rows.
    pub fn d(&self) -> usize {
        self.columns.len()
    }

    fn rounding(d: usize) -> f64 {
        ROUNDING + ROUNDING_A_COLUMN * d as f64
    }

    /// The largest sum of the absolute values of a direction, rounding included.
    fn most(reach: f64, d: usize) -> f64 {
        LARGEST / reach - d as f64
    }

    /// Rounds a row; all zeros, and told, when it is outside.
    fn round_row<R: Real>(&self, row: &[R], to: &mut [i16]) -> bool {
        for ((value, x), column) in to.iter_mut().zip(row).zip(&self.columns) {
            let away = x.to_f64() - column.middle;
            let q = if away == 0.0 { 0.0 } else { nearest(away / column.step) };
            let inside = q.abs() <= self.reach;
            if !inside {
                to.fill(0);
                return false;
            }
            *value = q as i16;
        }
        let digits = to.len() - DIGITS;
        to[digits..].copy_from_slice(&[DIGIT as i16, 1]);
        true
    }

    /// The direction of a node with its cut; `to` is all zeros before.
    pub fn round_node<R: Real>(&self, direction: &[R], cut: R, to: &mut [i16]) {
        let Some(line) = self.round_direction(direction, cut.to_f64(), to) else { return };
        // A cut beyond all sums decides for every row; no need to say how far beyond it is.
        let beyond = LARGEST + 2.0 * f64::from(self.margin);
        let cut = nearest(line.place(cut).clamp(-beyond, beyond)) as i32;
        let high = (cut + cut.signum() * (DIGIT / 2)) / DIGIT;
        let digits = to.len() - DIGITS;
        to[digits..].copy_from_slice(&[-high as i16, -(cut - high * DIGIT) as i16]);
    }

    /// A direction, without the digits of a cut, the largest of which is `cut`; `to` is all zeros before, and stays so where
    /// rough sums tell nothing.
    pub fn round_direction<R: Real>(&self, direction: &[R], cut: f64, to: &mut [i16]) -> Option<Line> {
        let d = self.columns.len();
        // Sums of the steps along the direction, of the middles, and of all that is added up.
        let (mut steps, mut longest, mut middle, mut all) = (0.0f64, 0.0f64, 0.0, 0.0);
        for (r, column) in direction.iter().map(|r| r.to_f64()).zip(&self.columns) {
            let step = r.abs() * column.step;
            steps += step;
            longest = longest.max(step);
            middle += r * column.middle;
            all += r.abs() * (column.middle.abs() + column.step * self.reach);
        }
        let unit = (steps / (Self::most(self.reach, d) - d as f64)).max(longest / f64::from(DIGIT));
        // What a sum of this width is rounded by at each addition, and numbers between which it neither overflows nor
        // loses its last places.
        let (rounding, small, large) = match R::PRECISION {
            Precision::F32 => (f64::from(f32::EPSILON), 1e-30, 1e37),
            Precision::F64 => (f64::EPSILON, 1e-280, 1e300),
        };
        let additions = (d / 16 + 8) as f64 * rounding * all;
        // The middle and the cut are placed in f64.
        let placing = (d + 8) as f64 * f64::EPSILON * (all + cut.abs());
        if !(additions + placing <= Self::rounding(d) * unit && unit > small && all < large) {
            return None;
        }
        for ((to, r), column) in to.iter_mut().zip(direction).zip(&self.columns) {
            *to = nearest(r.to_f64() * column.step / unit) as i16;
        }
        Some(Line { unit, middle })
    }
}

/// Where numbers on a rounded direction lie.
pub(crate) struct Line {
    unit: f64,
    middle: f64,
}

impl Line {
    /// A projection as a rough sum.
    pub fn place<R: Real>(&self, projection: R) -> f64 {
        (projection.to_f64() - self.middle) / self.unit
    }
}

impl Column {
    /// Nearly all values lie between those that one of a thousand is beyond, and a little further out.
    fn of(sorted: &[f64], reach: f64) -> Self {
        let last = sorted.len() - 1;
        let beyond = if last < 100 { 0 } else { last / 1000 + 1 };
        let (low, high) = (sorted[beyond], sorted[last - beyond]);
        let (low, high, width) = if low < high { (low, high, 0.8) } else { (sorted[0], sorted[last], 0.5) };
        let middle = low + (high - low) * 0.5;
        Column { middle, step: (high - low) * width / reach }
    }
}

/// The nearest whole number of a number below 2^51; not every machine has an instruction for it.
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

    /// Rough sums beyond the margin never contradict the exact comparison; tells how many were beyond.
    fn never_wrong<R: Real>(d: usize, value: impl Fn(usize, usize, f64) -> f64) -> f64 {
        let n = 600;
        let mut stream = Stream::new(d as u64, Purpose::Shapes, 1, 2);
        let values: Vec<R> =
            (0..n * d).map(|at| R::from_f64(value(at / d, at % d, stream.normal()))).collect();
        let rows = Rows::new(&Points::new(&values, n, d).unwrap());
        let coarse = CoarseRows::new(&rows, n, d).unwrap();
        let width = coarse.width();
        let (mut beyond, nodes) = (0, 40);
        for node in 0..nodes {
            let direction: Vec<R> = (0..d).map(|_| R::from_f64(stream.normal())).collect();
            // The cut of a row's own sum, where a rough one must not decide, and now and then one far away.
            let cut = sum(&values[node * d..][..d], &direction);
            let cut = if node % 8 == 0 { R::from_f64(cut.to_f64() * 1e3) } else { cut };
            let mut along = vec![0i16; width];
            coarse.grid.round_node(&direction, cut, &mut along);
            for (row, rough) in values.chunks_exact(d).zip(coarse.values().chunks_exact(width)) {
                let products = rough.iter().zip(&along).map(|(&q, &p)| i64::from(q) * i64::from(p));
                assert!(products.clone().map(i64::abs).sum::<i64>() <= i64::from(i32::MAX));
                let rough: i64 = products.sum();
                if rough.abs() > i64::from(coarse.grid.margin) {
                    assert_eq!(rough < 0, sum(row, &direction) < cut, "{d} columns, node {node}");
                    beyond += 1;
                }
            }
        }
        f64::from(beyond) / (n * nodes) as f64
    }

    #[test]
    fn a_rough_sum_beyond_the_margin_is_right() {
        for d in [1, 2, 5, 10, 14, 15, 16, 30, 31, 62, 63, 400] {
            assert!(never_wrong::<f32>(d, |_, _, z| z) > 0.8);
            assert!(never_wrong::<f64>(d, |_, _, z| z) > 0.8);
            // Columns of very different widths, one of them always the same, far from zero.
            let uneven =
                |_: usize, j: usize, z: f64| 1e3 + 10f64.powi(j as i32 % 5 - 2) * z * (j != 3) as u8 as f64;
            never_wrong::<f32>(d, uneven);
            assert!(never_wrong::<f64>(d, uneven) > 0.8);
            // One row far outside; sums that overflow, and sums that vanish.
            assert!(never_wrong::<f64>(d, |i, _, z| if i == 7 { 1e9 * z } else { z }) > 0.8);
            never_wrong::<f32>(d, |_, _, z| 1e37 * z.clamp(-3.0, 3.0));
            never_wrong::<f32>(d, |_, _, z| 1e-38 * z);
            never_wrong::<f64>(d, |_, _, z| 1e307 * z.clamp(-3.0, 3.0));
            never_wrong::<f64>(d, |_, _, z| 1e-306 * z);
            // Nearly everybody on one value.
            never_wrong::<f64>(d, |i, _, z| if i % 50 == 0 { z } else { 0.0 });
        }
    }

    #[test]
    fn too_many_columns_are_left_as_they_are() {
        let rows = Rows::new(&Points::new(&[0.0; (COLUMNS + 1) * 2], 2, COLUMNS + 1).unwrap());
        assert!(CoarseRows::new(&rows, 2, COLUMNS + 1).is_none());
    }
}
