//! The methods the paper compares rpfCluster with.
//!
//! | in the paper | type | reference |
//! |---|---|---|
//! | K-means | [`HartiganWong`] | Hartigan and Wong, algorithm AS 136, Applied Statistics 28, 1979 |
//! | NJW | [`Njw`] | Ng, Jordan and Weiss, On spectral clustering, NIPS 14, 2002 |
//! | CF | [`ClusterForests`] | Yan, Chen and Jordan, Cluster Forests, Comput. Stat. Data Anal. 66, 2013 |
//!
//! Each is a struct of parameters with public fields, whose defaults are the values of the paper's section 5, and a
//! `fit` that takes rows and returns labels. [`compare`](crate::compare) runs all of them, and rpfCluster, on one
//! table.

mod bandwidth;
mod cluster_forests;
mod co_association;
mod dense;
mod gaussian;
mod hartigan_wong;
mod instance;
mod njw;

pub use bandwidth::Bandwidth;
pub use cluster_forests::{ClusterForests, ClusterForestsFit};
pub use dense::Dense;
pub use gaussian::Gaussian;
pub use hartigan_wong::{HartiganWong, Start};
pub use instance::{Instance, kappa};
pub use njw::{Njw, NjwFit};

/// Largest number of rows whose n x n similarities are held in memory: 288 MB per matrix. Larger tables use landmarks,
/// as in the paper.
pub const DENSE_LIMIT: usize = 6000;

/// The number of rows of `d` finite values each.
fn rows_of(data: &[f64], d: usize) -> rpfcluster::Result<usize> {
    let n = data.len().checked_div(d).unwrap_or(0);
    rpfcluster::Points::new(data, n, d)?;
    Ok(n)
}

/// Squared Euclidean distance in eight partial sums, which the compiler vectorises. It may not reorder one long sum.
/// The Gaussian kernel spends its time here.
#[inline]
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
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
