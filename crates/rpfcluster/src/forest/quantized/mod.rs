//! Quantized dot products with an error bound: filter and refine, as in the VA-file (Weber, Schek and Blott, VLDB
//! 1998).
//!
//! Rows and directions are rounded to 16-bit integers. A row whose quantized dot product differs from the cut by more
//! than the error bound is on the same side as its exact projection; the few others are projected exactly. The result
//! is that of exact projections, to the bit, at about a quarter of the memory traffic of f64 rows. Needs AVX2.
//!
//! `grid` quantizes rows and directions, `partition` computes dot products and partitions rows, `node_cut` cuts a node
//! while a tree grows, `routing` sends rows down a grown tree.

pub(crate) mod grid;
pub(crate) mod node_cut;
pub(crate) mod partition;
pub(crate) mod routing;
