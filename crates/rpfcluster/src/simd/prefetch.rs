//! Software prefetch, for access patterns that the hardware prefetcher does not predict.

/// Requests the cache line of `target`. A hint: it changes no result, and does nothing on other architectures.
#[inline(always)]
pub(crate) fn prefetch<T>(target: &T) {
    #[cfg(all(target_arch = "x86_64", not(rpf_scalar)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no architectural effect, and the address comes from a reference.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast());
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(rpf_scalar))))]
    let _ = target;
}
