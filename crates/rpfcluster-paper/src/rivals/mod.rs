//! The methods the paper compares rpfCluster with: K-means, NJW spectral clustering, Cluster Forests.
//!
//! Each is a struct of parameters with public fields, whose defaults are the values of the paper's section 5, and a
//! `fit` that takes rows and returns labels. [`compare`](crate::compare) runs all of them, and rpfCluster, on one table.

mod cluster_forests;
mod co_association;
mod dense;
pub mod gaussian;
mod hartigan_wong;
mod instance;
mod kmeans;
mod njw;

pub use cluster_forests::{ClusterForests, ClusterForestsFit};
pub use dense::Dense;
pub use gaussian::Gaussian;
pub use hartigan_wong::HartiganWong;
pub use instance::{Instance, kappa};
pub use kmeans::PaperKMeans;
pub use njw::{Bandwidth, Njw, NjwFit};

/// Up to this many rows similarities between all pairs are held; beyond, landmarks stand for the rest, as in the
/// paper.
pub const DENSE_LIMIT: usize = 6000;

/// A parameter out of its range.
pub(crate) fn parameter(
    name: &'static str,
    value: impl std::fmt::Display,
    expected: impl Into<String>,
) -> rpfcluster::Error {
    rpfcluster::Error::Parameter { name, value: value.to_string(), expected: expected.into() }
}

/// The number of rows of `d` finite values each.
pub(crate) fn rows_of(data: &[f64], d: usize) -> rpfcluster::Result<usize> {
    let n = data.len().checked_div(d).unwrap_or(0);
    rpfcluster::Points::new(data, n, d)?;
    Ok(n)
}

/// Squared Euclidean distance, in eight sums side by side: one long sum could not be vectorised without changing its
/// order, and this is where the Gaussian kernel spends its time.
#[inline]
pub(crate) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| (x - y) * (x - y)).sum();
    for (x, y) in left.zip(right) {
        for lane in 0..LANES {
            sums[lane] += (x[lane] - y[lane]) * (x[lane] - y[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}
