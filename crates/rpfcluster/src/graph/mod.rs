//! Similarity graphs: compressed sparse rows, components, coarsening and smoothing.

mod cluster_weights;
mod coarsen;
mod components;
mod csr;
mod csr_products;
mod smoother;

pub(crate) use cluster_weights::Between;
pub(crate) use coarsen::Grouped;
pub use components::Components;
pub(crate) use csr::{ASK, check_rows};
pub use csr::{SparseAffinity, Weights};
pub(crate) use smoother::Step;
