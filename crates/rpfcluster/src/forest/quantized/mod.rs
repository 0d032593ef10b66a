//! Quantized dot products with an error bound: they decide most comparisons, exact sums the rest.

pub(crate) mod grid;
pub(crate) mod node_cut;
pub(crate) mod partition;
pub(crate) mod routing;
