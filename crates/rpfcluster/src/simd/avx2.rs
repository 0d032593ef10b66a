//! Whether the AVX2 code runs: the CPU has the instructions, and `RPF_SIMD` does not ask for the portable code.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

const UNKNOWN: u8 = 0;
const PORTABLE: u8 = 1;
const AVX2: u8 = 2;

/// Decided at the first question and kept for the life of the process.
static CODE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether to run the code that needs AVX2 and POPCNT.
#[inline(always)]
pub(crate) fn avx2() -> bool {
    if cfg!(all(target_arch = "x86_64", not(rpf_scalar))) {
        match CODE.load(Relaxed) {
            UNKNOWN => decide() == AVX2,
            code => code == AVX2,
        }
    } else {
        false
    }
}

#[cold]
fn decide() -> u8 {
    #[cfg(target_arch = "x86_64")]
    let capable =
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    let capable = false;
    let portable = std::env::var_os("RPF_SIMD").is_some_and(|asked| asked == "scalar");
    let code = if capable && !portable { AVX2 } else { PORTABLE };
    CODE.store(code, Relaxed);
    code
}
