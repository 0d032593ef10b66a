//! Code that depends on the instruction set: runtime dispatch, prefetch, stable partition.

mod dispatch;
mod prefetch;
pub(crate) mod stable_partition;

pub(crate) use dispatch::in_wide_registers;
pub(crate) use prefetch::prefetch;
