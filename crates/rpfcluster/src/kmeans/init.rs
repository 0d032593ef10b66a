//! Greedy k-means++ (Arthur and Vassilvitskii, SODA 2007): of 2 + ln k candidates for each center, the one with the
//! smallest potential is taken.
//!
//! O(n d k log k) time, two distances per row. The sums have a fixed order, so the centers do not depend on the number
//! of threads.

use rayon::prelude::*;

use super::lloyd::CHUNK;
use super::{DataMatrix, squared_distance};
use crate::error::Result;
use crate::observe::{Observer, check};
use crate::random::{Purpose, Stream};

/// k centers drawn with probability proportional to the squared distance from those drawn before.
pub(crate) fn plus_plus(
    rows: DataMatrix,
    k: usize,
    seed: u64,
    restart: u64,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let (n, d) = (rows.n(), rows.d);
    let mut stream = Stream::new(seed, Purpose::KMeans, restart, 0);
    let candidates = 2 + libm::log(k as f64) as usize;
    let mut centers = Vec::with_capacity(k * d);
    centers.extend_from_slice(rows.row(stream.below(n as u64) as usize));
    let mut nearest = vec![f64::INFINITY; n];
    let mut total = lower_distances(rows, &centers[..d], &mut nearest);
    while centers.len() < k * d {
        let mut choice: Option<(f64, Vec<f64>, usize)> = None;
        for _ in 0..candidates {
            check(observer)?;
            let pick = draw(&nearest, stream.uniform() * total);
            let mut trial = nearest.clone();
            let potential = lower_distances(rows, rows.row(pick), &mut trial);
            if choice.as_ref().is_none_or(|c| potential < c.0) {
                choice = Some((potential, trial, pick));
            }
        }
        let Some((potential, trial, pick)) = choice else { break };
        centers.extend_from_slice(rows.row(pick));
        nearest = trial;
        total = potential;
    }
    Ok(centers)
}

/// Lowers the squared distance of each row to that from `center`; returns the sum, added chunk by chunk.
fn lower_distances(rows: DataMatrix, center: &[f64], nearest: &mut [f64]) -> f64 {
    let partial: Vec<f64> = nearest
        .par_chunks_mut(CHUNK)
        .zip(rows.data.par_chunks(CHUNK * rows.d))
        .map(|(near, data)| {
            let mut sum = 0.0;
            for (distance, row) in near.iter_mut().zip(data.chunks_exact(rows.d)) {
                *distance = distance.min(squared_distance(row, center));
                sum += *distance;
            }
            sum
        })
        .collect();
    partial.iter().sum()
}

/// The row at which the running sum of the weights passes `target`; never one of weight zero, unless all are.
fn draw(weights: &[f64], target: f64) -> usize {
    let mut sum = 0.0;
    let mut last = 0;
    for (i, w) in weights.iter().enumerate() {
        if *w > 0.0 {
            sum += w;
            last = i;
            if sum > target {
                break;
            }
        }
    }
    last
}
