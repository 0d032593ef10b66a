//! Mean and covariance matrix with fixed-order sums.
//!
//! Rows are centred and packed, [`ROWS`] at a time, into panels of eight columns; register tiles of 4 x 8 sums run over the
//! rows of two panels. Every entry of the matrix is summed in row order by one thread, so its bits depend neither on the
//! number of threads nor on the instruction set, nor on whether the rows are dense or sparse. n d² / 2 multiply-adds;
//! memory for the matrix and for [`ROWS`] rows in double precision.

use rayon::prelude::*;

use crate::error::Result;
use crate::observe::{Observer, check};
use crate::points::{Points, Real};
use crate::simd::dispatch;

/// Columns of a panel: one row of a panel is a cache line.
const PANEL: usize = 8;
/// Rows that are packed at a time.
const ROWS: usize = 2048;
/// Rows of two panels that stay in the first-level cache while the tiles pass over them.
const RUN: usize = 128;
/// Rows of one parallel task of the means. Fixed, so that the sums do not depend on the number of threads.
const CHUNK: usize = 4096;

type Line = [f64; PANEL];

/// Bytes held at the peak: the blocks or the copies of the decomposition beside the matrix, and the packed rows.
pub(super) fn bytes(n: u64, d: u64) -> u64 {
    let padded = d.next_multiple_of(PANEL as u64);
    8 * padded * (4 * padded + n.min(ROWS as u64))
}

/// The mean of each column.
pub(super) fn means<R: Real>(points: &Points<R>, observer: &dyn Observer) -> Result<Vec<f64>> {
    let (n, d) = (points.n(), points.d());
    let share = 1.0 / n as f64;
    let mut mean = vec![0.0; d];
    // As many partial sums at a time as there are threads for; they are added in the order of the rows.
    let starts: Vec<usize> = (0..n).step_by(CHUNK).collect();
    for group in starts.chunks(rayon::current_num_threads().max(1)) {
        check(observer)?;
        let partial: Vec<Vec<f64>> = group
            .par_iter()
            .map(|&from| {
                let mut sum = vec![0.0; d];
                for row in from..(from + CHUNK).min(n) {
                    // Scaled before the sum, which cannot overflow then.
                    points.each_value(row, |column, value| sum[column] += value.to_f64() * share);
                }
                sum
            })
            .collect();
        for part in partial {
            mean.iter_mut().zip(part).for_each(|(total, sum)| *total += sum);
        }
    }
    Ok(mean)
}

/// The covariance matrix, d x d, with divisor n.
pub(super) fn covariance<R: Real>(
    points: &Points<R>,
    mean: &[f64],
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let (n, d) = (points.n(), points.d());
    let panels = d.div_ceil(PANEL);
    // Block (p, q), q >= p, holds the products of the columns of two panels.
    let mut blocks = vec![[[0.0; PANEL]; PANEL]; panels * panels];
    let mut packed: Vec<Line> = vec![[0.0; PANEL]; ROWS.min(n) * panels];
    for from in (0..n).step_by(ROWS) {
        let rows = ROWS.min(n - from);
        let packed = &mut packed[..rows * panels];
        pack(points, from, rows, mean, packed);
        let packed = &packed[..];
        blocks.par_chunks_mut(panels).enumerate().try_for_each(|(p, out)| {
            check(observer)?;
            for first in (0..rows).step_by(RUN) {
                let run =
                    |panel: usize| &packed[panel * rows + first..panel * rows + (first + RUN).min(rows)];
                for (q, block) in out.iter_mut().enumerate().skip(p) {
                    add_products(run(p), run(q), block);
                }
            }
            Ok::<_, crate::Error>(())
        })?;
    }
    let share = 1.0 / n as f64;
    let mut matrix = vec![0.0; d * d];
    for i in 0..d {
        for j in i..d {
            let value = blocks[i / PANEL * panels + j / PANEL][i % PANEL][j % PANEL] * share;
            (matrix[i * d + j], matrix[j * d + i]) = (value, value);
        }
    }
    Ok(matrix)
}

/// Writes the centred rows panel by panel.
fn pack<R: Real>(points: &Points<R>, from: usize, rows: usize, mean: &[f64], packed: &mut [Line]) {
    packed.par_chunks_mut(rows).enumerate().for_each(|(panel, lines)| {
        let mean = &mean[panel * PANEL..(panel * PANEL + PANEL).min(mean.len())];
        for (i, line) in lines.iter_mut().enumerate() {
            *line = [0.0; PANEL];
            points.copy_columns(from + i, panel * PANEL, &mut line[..mean.len()]);
            line.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
        }
    });
}

dispatch! {
/// Adds `aᵀ b` of two panels to a block.
fn add_products(a: &[Line], b: &[Line], block: &mut [Line; PANEL]) {
    tile::<0>(a, b, block);
    tile::<4>(a, b, block);
}
}

/// Rows `FIRST` to `FIRST + 3` of a block.
#[inline(always)]
fn tile<const FIRST: usize>(a: &[Line], b: &[Line], block: &mut [Line; PANEL]) {
    let mut sums = [[0.0; PANEL]; 4];
    for (a, b) in a.iter().zip(b) {
        for (r, sum) in sums.iter_mut().enumerate() {
            let x = a[FIRST + r];
            sum.iter_mut().zip(b).for_each(|(s, y)| *s += x * y);
        }
    }
    for (out, sum) in block[FIRST..].iter_mut().zip(&sums) {
        out.iter_mut().zip(sum).for_each(|(o, s)| *o += s);
    }
}
