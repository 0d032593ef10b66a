//! The mixer behind random numbers, signatures of rows and keys of columns.

/// The 64-bit finaliser of SplitMix64 (constants of Stafford's variant 13).
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
