//! Rules for the bandwidth of NJW's Gaussian kernel: the two of R's kernlab, the local scaling of Zelnik-Manor and Perona
//! (Self-tuning spectral clustering, NIPS 17, 2004), a search of a geometric grid, and a given value.
//!
//! kernlab's rules are those of `specc()` in version 0.9-32. `automatic` draws three quarters of the rows, tries about
//! thirty bandwidths between the least and the largest distance, most of them near the mean, and takes the one with
//! the least within-cluster sum of squares in the embedding. `local` gives each row the median of its five smallest
//! distances, of which its own zero is one: the distance to the second neighbour. It leaves ones on the diagonal.
//! A search costs one clustering of its sample, at most [`SEARCH_ROWS`] rows, for each bandwidth.

use rpfcluster::random::sample_rows;
use rpfcluster::{Error, Result};
use serde::{Deserialize, Serialize};

use super::{rows_of, squared_distance};
use crate::parameter;

/// Largest number of rows of a search; larger tables are sampled. Each bandwidth costs n² kernel entries.
const SEARCH_ROWS: usize = 1500;
/// Median of the five smallest distances, the row's own included.
pub(super) const KERNLAB_NEIGHBOR: usize = 2;

/// The rule for the kernel's bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum Bandwidth {
    /// kernlab's `automatic`, the default of `specc()`: of a grid of bandwidths the one with the least distortion in the
    /// embedding of three quarters of the rows, at most 1,500.
    KernlabAutomatic,
    /// kernlab's `local`: for each row the median of its five smallest distances, its own zero included, and a diagonal
    /// of ones. A row with two or more duplicates takes the distance to the nearest row that differs; kernlab fails.
    KernlabLocal,
    /// Local scaling of Zelnik-Manor and Perona: for each row the distance to its `neighbor`-th nearest row. They take
    /// the seventh.
    Local {
        /// Which neighbour.
        neighbor: usize,
    },
    /// Of `tried` bandwidths in geometric progression the one with the least distortion in the embedding.
    Search {
        /// Number of bandwidths.
        tried: usize,
    },
    /// One given bandwidth.
    Fixed {
        /// σ.
        sigma: f64,
    },
}

impl Bandwidth {
    pub(super) fn validate(&self) -> Result<()> {
        match *self {
            Bandwidth::Local { neighbor: 0 } => Err(parameter("neighbor", 0, "at least 1")),
            Bandwidth::Search { tried } if tried < 2 => Err(parameter("tried", tried, "at least 2")),
            Bandwidth::Fixed { sigma } if !(sigma.is_finite() && sigma > 0.0) => {
                Err(parameter("sigma", sigma, "above 0"))
            }
            _ => Ok(()),
        }
    }

    /// The sample of a search, row-major, and the bandwidths to try on it.
    pub(super) fn candidates(
        &self,
        data: &[f64],
        d: usize,
        k: usize,
        seed: u64,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = rows_of(data, d)?;
        let taken = |count: usize| -> Vec<f64> {
            let picked = sample_rows(seed, n, count);
            picked.iter().flat_map(|i| data[*i as usize * d..][..d].iter().copied()).collect()
        };
        match *self {
            Bandwidth::Search { tried } => {
                let sample = taken(SEARCH_ROWS.min(n));
                let grid = geometric(&sample, d, tried);
                if grid.is_empty() {
                    return Err(Error::TooManyClusters { k, distinct: 1 });
                }
                Ok((sample, grid))
            }
            Bandwidth::Fixed { sigma } => Ok((taken(n), vec![sigma])),
            Bandwidth::Local { .. } | Bandwidth::KernlabLocal => Ok((taken(n), Vec::new())),
            Bandwidth::KernlabAutomatic => {
                let sample = distinct_rows(&taken((n * 3 / 4).clamp(1, SEARCH_ROWS)), d);
                let grid = kernlab_grid(&sample, d);
                if grid.is_empty() {
                    return Err(Error::TooManyClusters { k, distinct: 1 });
                }
                Ok((sample, grid))
            }
        }
    }
}

/// Each row once, at its first place.
fn distinct_rows(rows: &[f64], d: usize) -> Vec<f64> {
    let mut seen = std::collections::HashSet::new();
    // Zero and minus zero are equal.
    let new = |row: &&[f64]| seen.insert(row.iter().map(|v| (v + 0.0).to_bits()).collect::<Vec<u64>>());
    rows.chunks_exact(d).filter(new).flatten().copied().collect()
}

/// `from`, `from + by`, … up to `to`, as R's `seq`.
fn sequence(from: f64, to: f64, by: f64) -> Vec<f64> {
    let steps = (to - from) / by;
    if by == 0.0 || !steps.is_finite() {
        return vec![from];
    }
    // R's allowance for rounding.
    let last = (steps + 1e-10).floor();
    if last < 0.0 { Vec::new() } else { (0..=last as u32).map(|i| from + f64::from(i) * by).collect() }
}

/// The bandwidths that kernlab's `automatic` tries on distinct rows; none for fewer than two.
fn kernlab_grid(rows: &[f64], d: usize) -> Vec<f64> {
    let n = rows.len() / d;
    let row = |i: usize| &rows[i * d..][..d];
    let (mut least, mut most, mut sum) = (f64::INFINITY, 0.0f64, 0.0);
    for i in 0..n {
        for j in 0..i {
            let distance = squared_distance(row(i), row(j)).sqrt();
            least = least.min(distance);
            most = most.max(distance);
            sum += 2.0 * distance;
        }
    }
    if !(least > 0.0 && least.is_finite() && most.is_finite()) {
        return Vec::new();
    }
    // The zeros of the diagonal count in the mean.
    let mean = sum / (n * n) as f64;
    let low = (mean / 2.0).max(least);
    let high = (mean * 2.0).min(most);
    let (end_below, start_above) = (low.log2() - 0.5, high.log2() + 0.5);
    let step_below = (end_below - least.log2()).min(0.5);
    let step_above = (most.log2() - start_above).min(0.5);
    let powers = |exponents: Vec<f64>| exponents.into_iter().map(f64::exp2);
    powers(sequence(least.log2(), end_below, step_below))
        .chain(sequence(low, 0.9 * mean, 0.05 * mean))
        .chain(sequence(mean, high, 0.08 * mean))
        .chain(powers(sequence(start_above, most.log2(), step_above)))
        .collect()
}

/// Ascending: `count` values in geometric progression from the median distance to the
/// nearest neighbour to the median distance of all pairs, both over at most 500 rows; none for fewer than two distinct rows.
fn geometric(data: &[f64], d: usize, count: usize) -> Vec<f64> {
    let n = data.len() / d;
    let picked = sample_rows(0, n, 500.min(n));
    let row = |i: u32| &data[i as usize * d..][..d];
    let (mut nearest, mut all) = (Vec::new(), Vec::new());
    for i in 0..n as u32 {
        if picked.binary_search(&i).is_err() {
            continue;
        }
        let closest = (0..n as u32)
            .map(|j| squared_distance(row(i), row(j)))
            .filter(|v| *v > 0.0)
            .fold(f64::INFINITY, f64::min);
        nearest.push(closest.sqrt());
        all.extend(picked.iter().filter(|j| **j > i).map(|j| squared_distance(row(i), row(*j)).sqrt()));
    }
    nearest.retain(|v| v.is_finite());
    all.retain(|v| *v > 0.0);
    nearest.sort_by(f64::total_cmp);
    all.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (nearest.get(nearest.len() / 2), all.get(all.len() / 2)) else {
        return Vec::new();
    };
    let ratio = (high / low).max(1.0);
    let steps = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|i| low * ratio.powf(i as f64 / steps)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What R prints for the test below, to nine digits.
    const KERNLAB: [f64; 30] = [
        0.141_421_356,
        0.200_000_000,
        0.282_842_712,
        0.400_000_000,
        0.565_685_425,
        0.800_000_000,
        1.273_580_035,
        1.400_938_039,
        1.528_296_042,
        1.655_654_046,
        1.783_012_049,
        1.910_370_053,
        2.037_728_056,
        2.165_086_060,
        2.292_444_063,
        2.547_160_070,
        2.750_932_876,
        2.954_705_681,
        3.158_478_487,
        3.362_251_293,
        3.566_024_098,
        3.769_796_904,
        3.973_569_710,
        4.177_342_515,
        4.381_115_321,
        4.584_888_126,
        4.788_660_932,
        4.992_433_738,
        7.204_456_634,
        6.664_082_833,
    ];

    /// `specc` of kernlab 0.9-32, its lines from `dota <-` to `tmpsig <-` run on the rows 1, 4, 7, …, 148 of R's Iris.
    #[test]
    fn grid_is_that_of_kernlab() {
        let (table, _) = rpfcluster_data::iris().unwrap_or_else(|e| unreachable!("{e}"));
        let data = table.values.to_f64().into_owned();
        let rows: Vec<f64> = data.chunks_exact(4).step_by(3).flatten().copied().collect();
        let grid = kernlab_grid(&rows, 4);
        assert_eq!(grid.len(), KERNLAB.len(), "{grid:?}");
        for (found, expected) in grid.iter().zip(KERNLAB) {
            assert!((found - expected).abs() < 1e-8, "{found} {expected}");
        }
        assert!(kernlab_grid(&[1.0], 1).is_empty());
    }
}
