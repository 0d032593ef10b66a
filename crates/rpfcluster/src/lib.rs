//! Random projection forests, the similarity kernel they learn, and clustering built on it.

pub mod affinity;
pub mod error;
pub mod kmeans;
pub mod metrics;
pub mod observe;
pub mod parallel;
pub mod rng;
pub mod spectral;

pub use error::{Error, Result};
