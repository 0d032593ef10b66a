//! Leading principal components of wide tables by randomised subspace iteration (Halko, Martinsson and Tropp, SIAM Review
//! 53(2), 2011, algorithm 4.4).
//!
//! A random block is multiplied by the covariance matrix, which is never formed, and orthonormalised, [`PASSES`] times; the
//! components are the Ritz vectors of the last block. Centring is implicit, so sparse rows stay sparse. Rows are summed in
//! [`STRIPES`] stripes, whatever the number of threads, so the bits do not depend on it.
//!
//! Four multiply-adds per stored value, column of the block and pass; memory for [`STRIPES`] + 2 blocks of d rows.

use rayon::prelude::*;

use super::covariance::means;
use super::{LANES, Pca, projection_table};
use crate::eigen::{Block, RandomColumns, SymmetricEigen, gram, orthonormalise, rotate, symmetric};
use crate::error::Result;
use crate::observe::{Observer, check};
use crate::points::{Points, Real};

/// Columns of the block beyond the components asked for.
const OVERSAMPLING: usize = 10;
/// Products with the covariance matrix. Two suffice for a decaying spectrum; the noise of real tables decays slowly.
const PASSES: usize = 4;
/// Stripes of rows whose sums are added in order; each takes a block of memory.
const STRIPES: usize = 2;
/// Rows between two checks for cancellation.
const CHECK_ROWS: usize = 256;

/// Bytes held at the peak: the block, its padded table, the sums of the stripes, the product, and the axes.
pub(super) fn bytes(n: u64, d: u64, count: u64) -> u64 {
    let width = (count + OVERSAMPLING as u64).min(n).min(d);
    8 * d * (STRIPES as u64 + 4) * (width.next_multiple_of(LANES as u64) + 1)
}

/// The `count` leading components and the total variance.
pub(super) fn leading<R: Real>(points: &Points<R>, count: usize, observer: &dyn Observer) -> Result<Pca> {
    let (n, d) = (points.n(), points.d());
    let mean = means(points, observer)?;
    let width = (count + OVERSAMPLING).min(n).min(d);
    let mut random = RandomColumns::new(0);
    let mut block = vec![0.0; d * width];
    random.fill(&mut block, width, &(0..width).collect::<Vec<_>>());
    for _ in 0..PASSES {
        let empty = Block::new(&[], 1, 0);
        orthonormalise(empty, &mut block, width, &mut random, observer)?;
        block = products(points, &mean, &block, width, observer)?;
    }
    orthonormalise(Block::new(&[], 1, 0), &mut block, width, &mut random, observer)?;
    // Rayleigh–Ritz: the block is orthonormal, so its Gram matrix with the product is the projected covariance.
    let image = products(points, &mean, &block, width, observer)?;
    let small = gram(Block::new(&block, width, width), Block::new(&image, width, width), observer)?;
    let count = count.min(width);
    let SymmetricEigen { values, vectors } = symmetric(&small, width, count, observer)?;
    rotate(&mut block, width, width, &vectors, count, observer)?;
    let axes = block.chunks_exact(width).flat_map(|row| &row[..count]).copied().collect();
    let variances = values[..count].iter().map(|v| v.max(0.0)).collect();
    let total = total_variance(points, &mean, observer)?;
    Ok(Pca { mean, axes, variances, total })
}

/// The covariance matrix times a block: `Xᵀ X B / n` of the centred rows.
fn products<R: Real>(
    points: &Points<R>,
    mean: &[f64],
    block: &[f64],
    width: usize,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let (n, d) = (points.n(), points.d());
    let (padded, table, offset) = projection_table(block, mean, width);
    let stripe = n.div_ceil(STRIPES);
    let share = 1.0 / n as f64;
    let partial: Result<Vec<(Vec<f64>, Vec<f64>)>> = (0..STRIPES)
        .into_par_iter()
        .map(|s| {
            let (mut sum, mut scores) = (vec![0.0; d * width], vec![0.0; padded]);
            let (mut totals, mut scratch) = (vec![0.0; width], Vec::new());
            for row in (s * stripe).min(n)..((s + 1) * stripe).min(n) {
                if row.is_multiple_of(CHECK_ROWS) {
                    check(observer)?;
                }
                super::scores_of(points, row, &mut scratch, &table, padded, &mut scores);
                let scores = &mut scores[..width];
                scores.iter_mut().zip(&offset).for_each(|(s, o)| *s = (*s - o) * share);
                points.each_value(row, |column, value| {
                    let x = value.to_f64();
                    if x != 0.0 {
                        let out = &mut sum[column * width..][..width];
                        out.iter_mut().zip(&*scores).for_each(|(o, s)| *o += x * s);
                    }
                });
                totals.iter_mut().zip(&*scores).for_each(|(t, s)| *t += s);
            }
            Ok((sum, totals))
        })
        .collect();
    let (mut product, mut totals) = (vec![0.0; d * width], vec![0.0; width]);
    for (sum, of_stripe) in partial? {
        product.par_iter_mut().zip(sum).for_each(|(p, s)| *p += s);
        totals.iter_mut().zip(of_stripe).for_each(|(t, s)| *t += s);
    }
    product.par_chunks_mut(width).zip(mean).for_each(|(row, mean)| {
        row.iter_mut().zip(&totals).for_each(|(p, t)| *p -= mean * t);
    });
    Ok(product)
}

/// The sum of the variances of all columns.
fn total_variance<R: Real>(points: &Points<R>, mean: &[f64], observer: &dyn Observer) -> Result<f64> {
    let (n, d) = (points.n(), points.d());
    let share = 1.0 / n as f64;
    // Zeros are counted, stored or not.
    let (mut squares, mut others) = (vec![0.0; d], vec![0usize; d]);
    for row in 0..n {
        if row.is_multiple_of(CHECK_ROWS) {
            check(observer)?;
        }
        points.each_value(row, |column, value| {
            if value != R::default() {
                let x = value.to_f64() - mean[column];
                squares[column] += x * x * share;
                others[column] += 1;
            }
        });
    }
    let zeros = |(mean, others): (&f64, &usize)| mean * mean * (n - others) as f64 * share;
    Ok(squares.iter().sum::<f64>() + mean.iter().zip(&others).map(zeros).sum::<f64>())
}
