//! Runtime CPU dispatch (function multiversioning): a function compiled once for the baseline instruction set and once
//! for AVX2.
//!
//! The compiler neither reorders floating-point sums nor fuses a multiplication with an addition, so both versions
//! return the same bits. Everything the function calls must be `#[inline(always)]`; closures are not compiled for
//! AVX2. Costs one relaxed load per call.

/// Defines a function, with at most one type parameter, whose body runs with AVX2 where the CPU has it.
macro_rules! dispatch {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $(<$t:ident: $bound:ident>)?
    ($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name $(<$t: $bound>)? ($($arg: $type),*) $(-> $result)? {
            #[inline(always)]
            fn baseline $(<$t: $bound>)? ($($arg: $type),*) $(-> $result)? $body
            #[cfg(all(target_arch = "x86_64", not(rpf_scalar)))]
            {
                #[target_feature(enable = "avx2")]
                fn avx2 $(<$t: $bound>)? ($($arg: $type),*) $(-> $result)? {
                    baseline($($arg),*)
                }
                if crate::simd::avx2() {
                    // SAFETY: the CPU has AVX2, the only requirement of the function.
                    #[allow(unsafe_code)]
                    return unsafe { avx2($($arg),*) };
                }
            }
            baseline($($arg),*)
        }
    };
}

pub(crate) use dispatch;
