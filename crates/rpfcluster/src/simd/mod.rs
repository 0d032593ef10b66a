//! Code that depends on the instruction set: runtime CPU dispatch, software prefetch, stable partition.
//!
//! Every module has a portable version with the same results. `--cfg rpf_scalar` compiles only that one.

mod dispatch;
mod prefetch;
pub(crate) mod stable_partition;

pub(crate) use dispatch::dispatch;
pub(crate) use prefetch::prefetch;
