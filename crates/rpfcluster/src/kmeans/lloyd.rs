//! Lloyd's algorithm (IEEE Trans. Inf. Theory 28(2), 1982) with Hamerly's bounds (SDM 2010).
//!
//! Each row keeps an upper bound of the distance to its own center and a lower bound of the distance to any other;
//! after a few iterations most rows need no distance. Centers are recomputed from all rows in every iteration, chunk
//! by chunk in a fixed order, so neither the bounds nor the number of threads change the result. At most O(n k d) per
//! iteration.

use rayon::prelude::*;

use super::{DataMatrix, KMeans, KMeansFit, squared_distance};
use crate::error::Result;
use crate::observe::{Observer, check};

/// Rows of one parallel task. Fixed, so that the sums do not depend on the number of threads.
pub(super) const CHUNK: usize = 2048;
/// Rows between two checks for cancellation.
pub(super) const CANCEL_CHECK_ROWS: usize = 128;
/// Slack of the bounds relative to the largest absolute value, which covers rounding.
const SLACK: f64 = 1e-12;

/// Sums of the rows of each cluster.
struct CenterSums {
    sums: Vec<f64>,
    counts: Vec<u64>,
    changed: bool,
}

/// The label and the bounds of every row.
struct Bounds {
    labels: Vec<u32>,
    upper: Vec<f64>,
    lower: Vec<f64>,
}

/// Iterates from the given centers until no label changes, the centers move less than the tolerance, or the iteration
/// limit is reached. Labels keep the numbers of the centers.
pub(super) fn run(
    rows: DataMatrix,
    mut centers: Vec<f64>,
    params: &KMeans,
    observer: &dyn Observer,
) -> Result<KMeansFit> {
    let (n, d, k) = (rows.n(), rows.d, params.k);
    let (variance, scale) = spread(rows);
    let tolerance = params.tolerance * variance;
    let mut bounds = Bounds {
        labels: vec![u32::MAX; n],
        upper: vec![f64::INFINITY; n],
        lower: vec![f64::NEG_INFINITY; n],
    };
    let mut iterations = 0;
    loop {
        iterations += 1;
        let half_gap = half_gaps(&centers, d);
        let mut round = assign(rows, &centers, &half_gap, &mut bounds, observer)?;
        fill_empty(rows, &centers, &mut bounds, &mut round);
        let next = means(&round, &centers, d);
        let shifts: Vec<f64> = next
            .chunks_exact(d)
            .zip(centers.chunks_exact(d))
            .map(|(a, b)| squared_distance(a, b).sqrt())
            .collect();
        centers = next;
        let moved: f64 = shifts.iter().map(|s| s * s).sum();
        if !round.changed || moved <= tolerance || iterations >= params.max_iterations {
            break;
        }
        loosen(&shifts, SLACK * scale, &mut bounds, k);
    }
    let inertia = inertia(rows, &centers, &bounds.labels);
    Ok(KMeansFit { labels: bounds.labels, centers, inertia, iterations })
}

/// The mean variance of a column, and the largest absolute value.
fn spread(rows: DataMatrix) -> (f64, f64) {
    let (n, d) = (rows.n() as f64, rows.d);
    let mut mean = vec![0.0; d];
    let mut largest = 0.0f64;
    for row in rows.data.chunks_exact(d) {
        for (m, v) in mean.iter_mut().zip(row) {
            *m += v / n;
            largest = largest.max(v.abs());
        }
    }
    let total: f64 = rows.data.chunks_exact(d).map(|row| squared_distance(row, &mean)).sum();
    (total / (n * d as f64), largest)
}

/// Half the distance of each center to the nearest other one: a row closer than that keeps its center.
fn half_gaps(centers: &[f64], d: usize) -> Vec<f64> {
    let all: Vec<&[f64]> = centers.chunks_exact(d).collect();
    all.iter()
        .enumerate()
        .map(|(i, a)| {
            let others = all.iter().enumerate().filter(|(j, _)| *j != i);
            0.5 * others.map(|(_, b)| squared_distance(a, b)).fold(f64::INFINITY, f64::min).sqrt()
        })
        .collect()
}

/// Assigns each row to its nearest center (ties: its own, then the lowest number) and sums the rows of each cluster.
fn assign(
    rows: DataMatrix,
    centers: &[f64],
    half_gap: &[f64],
    bounds: &mut Bounds,
    observer: &dyn Observer,
) -> Result<CenterSums> {
    let (d, k) = (rows.d, half_gap.len());
    let partial: Result<Vec<CenterSums>> = bounds
        .labels
        .par_chunks_mut(CHUNK)
        .zip(bounds.upper.par_chunks_mut(CHUNK))
        .zip(bounds.lower.par_chunks_mut(CHUNK))
        .zip(rows.data.par_chunks(CHUNK * d))
        .map(|(((labels, upper), lower), data)| {
            let mut part = CenterSums { sums: vec![0.0; k * d], counts: vec![0; k], changed: false };
            for (i, row) in data.chunks_exact(d).enumerate() {
                if i.is_multiple_of(CANCEL_CHECK_ROWS) {
                    check(observer)?;
                }
                let own = labels[i] as usize;
                let mut search = own >= k;
                if !search {
                    let safe = lower[i].max(half_gap[own]);
                    if upper[i] >= safe {
                        upper[i] = squared_distance(row, &centers[own * d..][..d]).sqrt();
                        search = upper[i] >= safe;
                    }
                }
                if search {
                    let (nearest, first, second) = two_nearest(row, centers, d, own);
                    part.changed |= nearest != own;
                    labels[i] = nearest as u32;
                    upper[i] = first.sqrt();
                    lower[i] = second.sqrt();
                }
                let label = labels[i] as usize;
                part.counts[label] += 1;
                for (s, v) in part.sums[label * d..][..d].iter_mut().zip(row) {
                    *s += v;
                }
            }
            Ok(part)
        })
        .collect();
    let mut total = CenterSums { sums: vec![0.0; k * d], counts: vec![0; k], changed: false };
    for part in partial? {
        total.changed |= part.changed;
        for (t, s) in total.sums.iter_mut().zip(part.sums) {
            *t += s;
        }
        for (t, c) in total.counts.iter_mut().zip(part.counts) {
            *t += c;
        }
    }
    Ok(total)
}

/// The nearest center and the squared distances to it and to the second nearest.
fn two_nearest(row: &[f64], centers: &[f64], d: usize, own: usize) -> (usize, f64, f64) {
    let mut best = (usize::MAX, f64::INFINITY, f64::INFINITY);
    for (c, center) in centers.chunks_exact(d).enumerate() {
        let distance = squared_distance(row, center);
        if distance < best.1 || (distance == best.1 && c == own) {
            best = (c, distance, best.1);
        } else if distance < best.2 {
            best.2 = distance;
        }
    }
    best
}

/// Moves the row farthest from its center (ties: the lowest) into each empty cluster, out of clusters of two or more.
fn fill_empty(rows: DataMatrix, centers: &[f64], bounds: &mut Bounds, round: &mut CenterSums) {
    let d = rows.d;
    let empty: Vec<usize> = (0..round.counts.len()).filter(|c| round.counts[*c] == 0).collect();
    if empty.is_empty() {
        return;
    }
    let mut far: Vec<(f64, usize)> = (0..rows.n())
        .map(|i| (squared_distance(rows.row(i), &centers[bounds.labels[i] as usize * d..][..d]), i))
        .collect();
    far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut taken = far.into_iter();
    for cluster in empty {
        for (_, i) in taken.by_ref() {
            let from = bounds.labels[i] as usize;
            if round.counts[from] < 2 {
                continue;
            }
            for (j, v) in rows.row(i).iter().enumerate() {
                round.sums[from * d + j] -= v;
                round.sums[cluster * d + j] += v;
            }
            round.counts[from] -= 1;
            round.counts[cluster] = 1;
            bounds.labels[i] = cluster as u32;
            bounds.upper[i] = f64::INFINITY;
            bounds.lower[i] = f64::NEG_INFINITY;
            round.changed = true;
            break;
        }
    }
}

/// The means of the clusters; an empty one keeps its center.
fn means(round: &CenterSums, old: &[f64], d: usize) -> Vec<f64> {
    let mut means = old.to_vec();
    for (c, count) in round.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        for (m, s) in means[c * d..][..d].iter_mut().zip(&round.sums[c * d..][..d]) {
            *m = s / *count as f64;
        }
    }
    means
}

/// Updates the bounds for moved centers: the upper bound grows by the shift of the own center, the lower bound shrinks
/// by the largest shift of any other.
fn loosen(shifts: &[f64], slack: f64, bounds: &mut Bounds, k: usize) {
    let largest = shifts.iter().fold(0.0f64, |most, s| most.max(*s));
    let at = shifts.iter().position(|s| *s == largest).unwrap_or(0);
    let second = (0..k).filter(|c| *c != at).fold(0.0f64, |most, c| most.max(shifts[c]));
    bounds
        .upper
        .par_chunks_mut(CHUNK)
        .zip(bounds.lower.par_chunks_mut(CHUNK))
        .zip(bounds.labels.par_chunks(CHUNK))
        .for_each(|((upper, lower), labels)| {
            for ((u, l), label) in upper.iter_mut().zip(lower).zip(labels) {
                *u += shifts[*label as usize] + slack;
                *l -= if *label as usize == at { second } else { largest } + slack;
            }
        });
}

/// The sum of squared distances to the own centers, chunk by chunk.
pub(super) fn inertia(rows: DataMatrix, centers: &[f64], labels: &[u32]) -> f64 {
    let d = rows.d;
    let partial: Vec<f64> = labels
        .par_chunks(CHUNK)
        .zip(rows.data.par_chunks(CHUNK * d))
        .map(|(labels, data)| {
            let pairs = labels.iter().zip(data.chunks_exact(d));
            pairs.map(|(c, row)| squared_distance(row, &centers[*c as usize * d..][..d])).sum()
        })
        .collect();
    partial.iter().sum()
}
