//! Selects the two axes of the first scatter plot: the pair in which most points are nearest to the mean of their own
//! cluster (nearest-centroid classification).

use crate::model::Axis;

/// Axes that are compared. The cost grows with the number of pairs: 45 pairs take milliseconds.
const COMPARED: usize = 10;

/// The pair of `candidates` in which most points are nearest to the mean of their own cluster; the first pair on a tie.
pub fn best_pair(axes: &[Axis], candidates: &[usize], clusters: &[u32], k: usize) -> Option<[usize; 2]> {
    let candidates = &candidates[..candidates.len().min(COMPARED)];
    let scaled: Vec<Vec<f64>> = candidates.iter().map(|&axis| scaled(&axes[axis].values)).collect();
    let mut best: Option<(usize, [usize; 2])> = None;
    for a in 0..candidates.len() {
        for b in a + 1..candidates.len() {
            let own = nearest_to_own(&scaled[a], &scaled[b], clusters, k);
            if best.is_none_or(|(most, _)| own > most) {
                best = Some((own, [candidates[a], candidates[b]]));
            }
        }
    }
    best.map(|(_, pair)| pair)
}

/// The values scaled to the range from 0 to 1, as on the screen.
fn scaled(values: &[f32]) -> Vec<f64> {
    let (low, high) = values.iter().fold((f32::MAX, f32::MIN), |(l, h), &v| (l.min(v), h.max(v)));
    let span = if high > low { f64::from(high) - f64::from(low) } else { 1.0 };
    values.iter().map(|&v| (f64::from(v) - f64::from(low)) / span).collect()
}

/// Number of points nearest to the mean of their own cluster.
fn nearest_to_own(x: &[f64], y: &[f64], clusters: &[u32], k: usize) -> usize {
    let mut middles = vec![(0.0, 0.0, 0.0); k];
    for ((&cluster, x), y) in clusters.iter().zip(x).zip(y) {
        let middle = &mut middles[cluster as usize];
        *middle = (middle.0 + x, middle.1 + y, middle.2 + 1.0);
    }
    // Larger than rounding errors: clusters drawn on top of each other are not separated.
    const APART: f64 = 1e-4;
    let place =
        |c: usize| (middles[c].0 / f64::max(middles[c].2, 1.0), middles[c].1 / f64::max(middles[c].2, 1.0));
    let places: Vec<(f64, f64)> = (0..k).map(place).collect();
    let distance = |x: f64, y: f64, c: usize| (x - places[c].0).powi(2) + (y - places[c].1).powi(2);
    clusters
        .iter()
        .zip(x.iter().zip(y))
        .filter(|(cluster, (x, y))| {
            let own = **cluster as usize;
            let near = distance(**x, **y, own);
            (0..k).all(|c| c == own || distance(**x, **y, c) > near + APART)
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_that_separate_the_clusters_are_selected() {
        let axis = |values: &[f32]| Axis { name: String::new(), column: true, values: values.to_vec() };
        let flat = axis(&[0.0, 0.1, 0.0, 0.1]);
        let separating = axis(&[0.0, 0.0, 1.0, 1.0]);
        let axes = [flat.clone(), flat, separating];
        assert_eq!(best_pair(&axes, &[0, 1, 2], &[0, 0, 1, 1], 2), Some([0, 2]));
        assert_eq!(best_pair(&axes, &[0], &[0, 0, 1, 1], 2), None);
    }
}
