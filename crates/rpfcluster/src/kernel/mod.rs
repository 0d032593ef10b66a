//! The rpf-kernel, Algorithm 2 of the paper: S_ij is the fraction of trees in which rows i and j share a leaf.
//!
//! With Z the n × (number of leaves) 0/1 matrix of leaf membership, S = Z Zᵀ / T. Everything here works on Z, stored
//! as leaf lists and leaf ids; the n × n matrix is formed only on request.
//!
//! `leaf_matrix` stores Z, `matvec` multiplies with S, `pair_counts` counts shared leaves per row, `thresholded` and
//! `neighbors` keep the large counts, `dense` forms S, `feature_map` exports Z, `rerank` sorts neighbours by distance,
//! `leaf_signatures` identifies rows that no tree separates.

mod dense;
mod feature_map;
mod leaf_matrix;
mod leaf_signatures;
mod matvec;
mod neighbors;
mod pair_counts;
mod rerank;
mod thresholded;

pub use feature_map::FeatureMap;
pub use leaf_matrix::LeafMatrix;
pub use neighbors::Neighbors;
pub use rerank::{Reranked, rerank};
pub use thresholded::SparseKernel;
