//! The rpf-kernel, Algorithm 2 of the paper: S_ij = share of trees in which i and j end in the same leaf.
//!
//! With Z the n x (all leaves) 0/1 matrix, S = Z Zᵀ / T. Everything here works on Z, kept as leaf lists and leaf
//! numbers; an n x n matrix is made only when asked for. `leaf_matrix` Z itself, `codes` leaf numbers of rows,
//! `matvec` the factored products, `count` co-leaf counts of one row, `sparse` and `top_k` what is kept of them,
//! `dense` the whole matrix, `rerank` true distances among co-leaf neighbours.

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
