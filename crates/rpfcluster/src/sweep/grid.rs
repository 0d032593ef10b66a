//! The values the search looks at.

/// The paper's thresholds: 0, 0.1, 0.2, 0.3, 0.4.
pub fn paper_thresholds() -> Vec<f64> {
    (0..5).map(|i| f64::from(i) / 10.0).collect()
}

/// The paper's bandwidths: 0.01 to 1 in steps of 0.01, 1.1 to 200 in steps of 0.1; 2,090 of them.
///
/// ```
/// let all = rpfcluster::sweep::paper_bandwidths();
/// assert_eq!((all.len(), all[0], all[99], all[100], all[2089]), (2090, 0.01, 1.0, 1.1, 200.0));
/// ```
pub fn paper_bandwidths() -> Vec<f64> {
    (1..=100).map(|i| f64::from(i) / 100.0).chain((11..=2000).map(|i| f64::from(i) / 10.0)).collect()
}

/// Eighteen bandwidths over the paper's range, dense where labels change, that is below 1.
pub fn coarse_bandwidths() -> Vec<f64> {
    vec![0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.8, 1.2, 2.0, 5.0, 15.0, 50.0, 200.0]
}

/// Every value of the paper below 1 and about forty above, evenly by ratio: for sets too large for all 2,090.
pub fn medium_bandwidths() -> Vec<f64> {
    let above = (1..=40).map(|i| (200f64.powf(f64::from(i) / 40.0) * 10.0).round() / 10.0);
    (1..=100).map(|i| f64::from(i) / 100.0).chain(above).collect()
}
