//! Random projection forests, the similarity kernel they learn, and clustering built on it.

pub mod affinity;
pub mod cluster;
pub mod error;
mod fetch;
pub mod forest;
pub mod kernel;
pub mod kmeans;
pub mod metrics;
pub mod model;
pub mod observe;
pub mod parallel;
pub mod points;
pub mod rng;
pub mod spectral;
pub mod sweep;
pub mod tune;
mod wide;

pub use cluster::{AffinityKind, AffinityParams, Evidence, Fitted, RpfCluster};
pub use error::{Error, Result};
pub use forest::{Direction, Forest, ForestParams, Split};
pub use kernel::{LeafCodes, LeafMatrix, Neighbors, SparseKernel};
pub use observe::{Observer, Silent, Stage};
pub use points::{Points, Precision, Real};
