//! Similarity graphs in CSR form: products, connected components, aggregation, smoothing and weights between clusters.

mod cluster_weights;
mod coarsen;
mod components;
mod contraction;
mod csr;
mod csr_products;
mod smoother;

pub(crate) use cluster_weights::ClusterWeights;
pub(crate) use coarsen::Aggregation;
pub use components::Components;
pub(crate) use components::find_root;
pub(crate) use contraction::Contraction;
pub(crate) use csr::{CANCEL_CHECK_ROWS, check_rows};
pub use csr::{SparseAffinity, Weights};
pub(crate) use smoother::ChebyshevStep;
