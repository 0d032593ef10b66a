//! The grids of thresholds and bandwidths: the paper's 5 and 2,090, a medium grid of 140 bandwidths and a coarse one of
//! 18; the places of the coarse values in a finer grid; and the weights of bandwidths in the selection without classes.

/// The paper's thresholds: 0, 0.1, 0.2, 0.3, 0.4.
pub fn paper_thresholds() -> Vec<f64> {
    (0..5).map(|i| f64::from(i) / 10.0).collect()
}

/// The paper's bandwidths: 0.01 to 1 in steps of 0.01, 1.1 to 200 in steps of 0.1; 2,090 of them.
///
/// ```
/// let all = rpfcluster_paper::sweep::paper_bandwidths();
/// assert_eq!((all.len(), all[0], all[99], all[100], all[2089]), (2090, 0.01, 1.0, 1.1, 200.0));
/// ```
pub fn paper_bandwidths() -> Vec<f64> {
    (1..=100).map(|i| f64::from(i) / 100.0).chain((11..=2000).map(|i| f64::from(i) / 10.0)).collect()
}

/// Eighteen bandwidths over the paper's range, most of them below 1, where labels change.
pub fn coarse_bandwidths() -> Vec<f64> {
    vec![0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.8, 1.2, 2.0, 5.0, 15.0, 50.0, 200.0]
}

/// The paper's bandwidths up to 1 and forty above in geometric progression, for tables too large for all 2,090.
pub fn medium_bandwidths() -> Vec<f64> {
    let above = (1..=40).map(|i| (200f64.powf(f64::from(i) / 40.0) * 10.0).round() / 10.0);
    (1..=100).map(|i| f64::from(i) / 100.0).chain(above).collect()
}

/// The indices in an ascending grid of the values nearest by ratio to the coarse ones, and of its first and last.
pub(super) fn nearest_to_coarse(grid: &[f64]) -> Vec<usize> {
    let far = |at: usize, wanted: f64| (grid[at] / wanted).ln().abs();
    let nearest = |wanted: f64| (0..grid.len()).min_by(|a, b| far(*a, wanted).total_cmp(&far(*b, wanted)));
    let mut places: Vec<usize> = coarse_bandwidths().into_iter().filter_map(nearest).collect();
    places.extend([0, grid.len().saturating_sub(1)]);
    places.sort_unstable();
    places.dedup();
    places
}

/// Bandwidth above which affinities differ by less than a factor of e, so that all settings cut much the same constant.
const LARGEST_COUNTED: f64 = 1.0;

/// The weights of settings with these bandwidths of an ascending grid in the selection without classes: the share of the
/// logarithmic scale up to [`LARGEST_COUNTED`], and nothing above. All count the same where no bandwidth is below. By
/// number, the 1,990 bandwidths of the paper above 1 would outvote the 100 others.
pub(super) fn bandwidth_weights(grid: &[f64], settings: &[f64]) -> Vec<f64> {
    let counted = grid.iter().take_while(|bandwidth| **bandwidth <= LARGEST_COUNTED).count();
    if counted < 2 || settings.iter().all(|bandwidth| *bandwidth > LARGEST_COUNTED) {
        return vec![1.0; settings.len()];
    }
    let ln = |at: usize| grid[at.min(counted - 1)].ln();
    let width = |bandwidth: &f64| match grid[..counted].iter().position(|other| other == bandwidth) {
        Some(at) => (ln(at + 1) - ln(at.saturating_sub(1))) / 2.0,
        None => 0.0,
    };
    settings.iter().map(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_values_are_in_the_papers_grid_and_both_ends_are_always_taken() {
        let all = paper_bandwidths();
        let found: Vec<f64> = nearest_to_coarse(&all).into_iter().map(|at| all[at]).collect();
        assert_eq!(found, coarse_bandwidths());
        assert_eq!(nearest_to_coarse(&[0.5, 0.51, 0.52]), [0, 2]);
        assert_eq!(nearest_to_coarse(&[3.0]), [0]);
    }

    #[test]
    fn weights_are_shares_of_the_logarithmic_scale_below_one() {
        let weights = bandwidth_weights(&[0.01, 0.1, 1.0, 10.0], &[0.01, 0.1, 1.0, 10.0]);
        let half = 10f64.ln() / 2.0;
        for (weight, expected) in weights.iter().zip([half, 2.0 * half, half, 0.0]) {
            assert!((weight - expected).abs() < 1e-12, "{weights:?}");
        }
        let all: f64 = bandwidth_weights(&paper_bandwidths(), &paper_bandwidths()).iter().sum();
        assert!((all - 100f64.ln()).abs() < 1e-9, "{all}");
        assert_eq!(bandwidth_weights(&[0.1, 0.5, 2.0, 5.0], &[5.0, 2.0]), [1.0, 1.0]);
    }
}
