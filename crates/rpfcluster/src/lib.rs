//! Random projection forests, the similarity kernel they learn, and clustering built on it.

pub mod affinity;
mod eigen;
pub mod error;
pub mod forest;
mod graph;
pub mod kernel;
pub mod kmeans;
mod label;
pub mod metrics;
pub mod model_file;
pub mod observe;
pub mod params;
pub mod pipeline;
pub mod points;
pub mod random;
pub mod select;
mod simd;
pub mod thread_pool;

/// Spectral clustering of any affinity: eigenvectors and labels.
pub mod spectral {
    pub use crate::eigen::{EmbedOptions, Embedding, Method, Solver, SpectralParams, embed, fix_signs};
    pub use crate::label::{cluster, label, ncut_value};
}

pub use error::{Error, Result};
pub use forest::{Direction, Forest, ForestParams, LeafIds, Split};
pub use kernel::{LeafMatrix, Neighbors, SparseKernel};
pub use observe::{Observed, Observer, Silent, Stage};
pub use params::{AffinityKind, AffinityParams, RpfCluster, Setting};
pub use pipeline::{Evidence, Fitted};
pub use points::{Points, Precision, Real};
