//! Projections r·x: of rows in their own layout (`fixed_order`) or of a transposed block (`transposed`). Both use the
//! same fixed order of summation and give the same bits.

pub(crate) mod fixed_order;
pub(crate) mod transposed;
