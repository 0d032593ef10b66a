//! The rows that evidence is computed on: a dense sample of the table, halves of it, and reference samples without
//! clusters.

use rayon::prelude::*;

use crate::error::Result;
use crate::observe::{Observer, check};
use crate::points::{ColumnKey, Points, Real};
use crate::random::{Purpose, Stream, sample_rows};

/// Tables with more columns are replaced by [`PROJECTIONS`] random projections, so that the sample of a wide sparse
/// table is not stored densely.
const MAX_COLUMNS: usize = 4096;
/// Random projections of a wide table; they nearly preserve distances (Johnson and Lindenstrauss 1984).
const PROJECTIONS: usize = 256;
/// Tables with larger values are multiplied by [`REDUCTION`], so that the sums of a reference sample do not overflow.
const LARGE: f64 = 1e100;
/// 2^-600: a forest does not depend on the scale.
const REDUCTION: f64 = f64::from_bits((1023 - 600) << 52);

/// Rows of a dense table.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    pub values: &'a [f64],
    pub n: usize,
    pub d: usize,
    /// What the columns stand for; empty for random projections.
    pub keys: &'a [ColumnKey],
}

impl Sample<'_> {
    /// The rows as the input of a forest.
    pub fn points(&self) -> Result<Points<'_, f64>> {
        Points::new(self.values, self.n, self.d)?.with_keys(self.keys)
    }

    /// The values of some rows.
    pub fn rows(&self, rows: &[u32]) -> Vec<f64> {
        rows.iter().flat_map(|&row| &self.values[row as usize * self.d..][..self.d]).copied().collect()
    }
}

/// Some rows as dense values, and their width: their own columns, or random projections where there are too many.
/// A sum runs along a row in the order of its columns, so that sparse and dense rows give the same bits.
pub(super) fn dense_sample<R: Real>(
    points: &Points<R>,
    rows: &[u32],
    seed: u64,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, usize)> {
    let d = points.d();
    if d <= MAX_COLUMNS {
        let mut values = vec![0.0f64; rows.len() * d];
        for (&row, out) in rows.iter().zip(values.chunks_exact_mut(d)) {
            points.copy_row(row as usize, out);
        }
        if points.largest() > LARGE {
            values.iter_mut().for_each(|v| *v *= REDUCTION);
        }
        return Ok((values, d));
    }
    let mut values = vec![0.0f64; rows.len() * PROJECTIONS];
    // Scaled to at most 1, so that no sum overflows; a forest does not depend on the scale.
    let scale = if points.largest() > 0.0 { points.largest() } else { 1.0 };
    const LANES: usize = 8;
    let mut directions = vec![[0.0f64; LANES]; d];
    let mut normals = vec![0.0; d];
    for first in (0..PROJECTIONS).step_by(LANES) {
        for lane in 0..LANES {
            check(observer)?;
            Stream::new(seed, Purpose::Sample, 2, (first + lane) as u64).normals(&mut normals);
            directions.iter_mut().zip(&normals).for_each(|(r, z)| r[lane] = *z);
        }
        values.par_chunks_exact_mut(PROJECTIONS).zip(rows).for_each(|(out, &row)| {
            let mut sums = [0.0; LANES];
            points.each_value(row as usize, |column, value| {
                let value = value.to_f64() / scale;
                sums.iter_mut().zip(&directions[column]).for_each(|(s, r)| *s += value * r);
            });
            out[first..first + LANES].copy_from_slice(&sums);
        });
    }
    Ok((values, PROJECTIONS))
}

/// Normal points with the mean and (nearly) the covariance of the data: random combinations of some of its rows.
pub(super) fn reference_sample(
    values: &[f64],
    d: usize,
    seed: u64,
    number: u64,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let n = values.len() / d;
    let mut mean = vec![0.0; d];
    for row in values.chunks_exact(d) {
        mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n as f64);
    }
    let base: Vec<u32> = sample_rows(seed ^ (number + 1), n, 400.min(n));
    let scale = 1.0 / (base.len() as f64).sqrt();
    let mut stream = Stream::new(seed, Purpose::Sample, 1, number);
    let mut cloud = Vec::with_capacity(values.len());
    for _ in 0..n {
        check(observer)?;
        let mut point = mean.clone();
        for &b in &base {
            let z = stream.normal() * scale;
            let row = &values[b as usize * d..][..d];
            point.iter_mut().zip(row.iter().zip(&mean)).for_each(|(p, (v, m))| *p += z * (v - m));
        }
        cloud.extend(point);
    }
    Ok(cloud)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;

    fn normals(count: usize) -> Vec<f64> {
        let mut stream = Stream::new(5, Purpose::Shapes, 0, 0);
        (0..count).map(|_| stream.normal()).collect()
    }

    fn sample(values: &[f64], d: usize) -> Vec<f64> {
        let points = Points::new(values, values.len() / d, d).unwrap();
        let rows: Vec<u32> = (0..points.n() as u32).collect();
        dense_sample(&points, &rows, 3, &Silent).unwrap().0
    }

    #[test]
    fn projections_of_a_wide_table_differ_and_keep_distances() {
        let (n, d) = (4, MAX_COLUMNS + 1);
        let values = normals(n * d);
        let found = sample(&values, d);
        assert_eq!(found.len(), n * PROJECTIONS);
        let mut first = found[..PROJECTIONS].to_vec();
        first.sort_by(f64::total_cmp);
        assert!(first.windows(2).all(|pair| pair[0] < pair[1]), "two directions are equal");
        let square = |values: &[f64], width: usize, a: usize, b: usize| {
            let pairs = values[a * width..][..width].iter().zip(&values[b * width..][..width]);
            pairs.map(|(x, y)| (x - y).powi(2)).sum::<f64>()
        };
        let scale = values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        for (a, b) in [(0, 1), (1, 2), (2, 3)] {
            let kept = square(&found, PROJECTIONS, a, b) / PROJECTIONS as f64 * scale * scale;
            // The relative standard error is the square root of 2 / 256.
            assert!((kept / square(&values, d, a, b) - 1.0).abs() < 0.4, "{kept}");
        }
        for power in [-500, 900] {
            let factor = 2f64.powi(power);
            let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
            assert_eq!(sample(&scaled, d), found, "the scale does not count");
        }
    }

    #[test]
    fn large_values_are_reduced_by_a_power_of_two() {
        let values = normals(20);
        assert_eq!(sample(&values, 2), values);
        let large: Vec<f64> = values.iter().map(|v| v * 2f64.powi(700)).collect();
        let reduced: Vec<f64> = values.iter().map(|v| v * 2f64.powi(100)).collect();
        assert_eq!(sample(&large, 2), reduced);
    }

    #[test]
    fn reference_has_the_moments_of_the_table() {
        let d = 2;
        let values: Vec<f64> =
            normals(4000).chunks_exact(d).flat_map(|z| [4.0 + 3.0 * z[0], z[0] + z[1]]).collect();
        let moments = |values: &[f64]| {
            let n = (values.len() / d) as f64;
            let mean = |j: usize| values.iter().skip(j).step_by(d).sum::<f64>() / n;
            let of = |i: usize, j: usize| {
                values.chunks_exact(d).map(|row| (row[i] - mean(i)) * (row[j] - mean(j))).sum::<f64>() / n
            };
            [mean(0), mean(1), of(0, 0), of(0, 1), of(1, 1)]
        };
        let reference = reference_sample(&values, d, 3, 0, &Silent).unwrap();
        assert_eq!(reference.len(), values.len());
        for (found, expected) in moments(&reference).into_iter().zip([4.0, 0.0, 9.0, 3.0, 2.0]) {
            assert!((found - expected).abs() < 0.15 * 9f64.max(expected), "{found} for {expected}");
        }
        assert_ne!(reference, reference_sample(&values, d, 3, 1, &Silent).unwrap());
    }
}
