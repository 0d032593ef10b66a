//! Projections r·x: rows in a fixed order of summation, or small nodes stored by column.

pub(crate) mod fixed_order;
pub(crate) mod transposed;
