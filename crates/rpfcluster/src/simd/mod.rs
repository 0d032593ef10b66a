//! Code that depends on the instruction set: runtime CPU dispatch, software prefetch, stable partition.
//!
//! Every module has a portable version with the same results. It runs on CPUs without AVX2, and everywhere when the
//! environment variable `RPF_SIMD` is `scalar`; `--cfg rpf_scalar` compiles only that one.

mod avx2;
mod dispatch;
mod prefetch;
pub(crate) mod stable_partition;

pub(crate) use avx2::avx2;
pub(crate) use dispatch::dispatch;
pub(crate) use prefetch::prefetch;
