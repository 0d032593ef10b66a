//! Inner loops compiled twice: for the registers every machine has, and for the wider ones of AVX2, chosen when run.
//!
//! The compiler neither reorders sums nor fuses a multiplication with an addition, so both give the same bits. What
//! such a loop calls must be `#[inline(always)]` functions: closures are not compiled for the wider registers.

/// Defines a function that runs in the widest registers there are.
macro_rules! in_wide_registers {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        $vis fn $name($($arg: $type),*) {
            #[inline(always)]
            fn any($($arg: $type),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $type),*) {
                    any($($arg),*);
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has the instructions the function is compiled for; nothing else is asked.
                    #[allow(unsafe_code)]
                    return unsafe { wide($($arg),*) };
                }
            }
            any($($arg),*)
        }
    };
}

pub(crate) use in_wide_registers;
