//! The experiments of the rpfCluster paper (Yan, Gu, Xu and Qin, "Similarity Kernel and Clustering via Random
//! Projection Forests"): its rivals, its parameter search and its tables.
//!
//! The paper clusters twelve data sets of known classes with four methods and claims that rpfCluster comes first or
//! second on most of them by two scores, `rho_c` (clustering accuracy) and `rho_r` (the Rand index). It tunes
//! rpfCluster over 5 thresholds and 2,090 bandwidths. This crate holds what is needed to
//! check that claim on the eleven public sets:
//!
//! | module | contents |
//! |---|---|
//! | [`rivals`] | K-means (Hartigan and Wong), NJW (Ng, Jordan and Weiss), Cluster Forests (Yan, Chen and Jordan) |
//! | [`sweep`] | the grid search over threshold and bandwidth on one forest |
//! | [`compare`] | every method on one table, scored the same way |
//! | [`reproduce`] | the paper's section 5: all data sets, several seeds, tables, figures, a report |
//!
//! The paper selects rpfCluster's setting by the known classes, which its rivals do not see. Results here always show
//! both: *best by labels*, the paper's protocol, and *chosen without labels*, which a user without classes can repeat.
//!
//! ```
//! use rpfcluster_paper::compare::{Comparison, Experiment};
//! // Two groups of 40 rows, one feature.
//! let rows: Vec<f64> = (0..80).map(|i| if i < 40 { 0.0 } else { 9.0 } + (i % 7) as f64 * 0.1).collect();
//! let classes: Vec<u32> = (0..80).map(|i| u32::from(i >= 40)).collect();
//! let comparison = Comparison { k: 2, ..Default::default() };
//! for experiment in [Experiment::KMeans, Experiment::Njw, Experiment::Auto] {
//!     for answer in comparison.run(experiment, &rows, 1, &classes, &rpfcluster::Silent)? {
//!         assert_eq!(answer.scores.rho_c, 100.0, "{}", answer.method.title());
//!     }
//! }
//! # Ok::<(), rpfcluster::Error>(())
//! ```
//!
//! Every method is a struct of public parameters whose defaults are the paper's values. Long work takes an
//! [`Observer`](rpfcluster::Observer) for progress and cancellation. The same seed gives the same labels on any number
//! of threads.

pub mod compare;
pub mod reproduce;
pub mod rivals;
pub mod sweep;

/// The error for a parameter outside its range.
pub(crate) fn parameter(
    name: &'static str,
    value: impl std::fmt::Display,
    expected: impl Into<String>,
) -> rpfcluster::Error {
    rpfcluster::Error::Parameter { name, value: value.to_string(), expected: expected.into() }
}
