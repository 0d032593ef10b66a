//! Quantized dot products of rows, and stable partition of row ids by their sign.
//!
//! Eight rows are multiplied at once with `vpmaddwd`, and their ids are packed as in `simd::stable_partition`. Rows
//! within the error bound of the cut are decided by an exact projection. Needs AVX2; [`available`] tells whether the
//! CPU has it.

use std::ops::Range;

use super::grid::QuantizedRows;
use crate::simd::dispatch;

/// Spare ids at the end of a list. A vector store writes eight ids, however few of them it keeps.
const SLACK: usize = 8;

/// Whether quantized dot products can be computed.
pub(crate) fn available() -> bool {
    crate::simd::avx2()
}

/// A permutation of row ids in which the rows of a node are contiguous.
#[derive(Default)]
pub(crate) struct RowPermutation {
    /// The row ids, and `SLACK` zeros.
    ids: Vec<u32>,
    buffer: Vec<u32>,
    /// One more than the largest id.
    end: usize,
}

impl RowPermutation {
    /// Replaces the rows.
    pub fn load(&mut self, rows: impl Iterator<Item = u32>) {
        self.ids.clear();
        self.ids.extend(rows);
        self.end = self.ids.iter().max().map_or(0, |&last| last as usize + 1);
        self.ids.resize(self.ids.len() + SLACK, 0);
        if self.buffer.len() < self.ids.len() {
            self.buffer.resize(self.ids.len(), 0);
        }
    }

    pub fn ids(&self, node: Range<usize>) -> &[u32] {
        &self.ids[node]
    }

    /// Moves the rows below the cut to the front of `node`, both sides in their order, and returns their number.
    /// `direction` is the quantized direction with its cut; `is_below` decides the rows within the error bound.
    pub fn partition(
        &mut self,
        rows: &QuantizedRows,
        direction: &[i16],
        node: &Range<usize>,
        is_below: impl Fn(u32) -> bool,
    ) -> usize {
        let ids = &mut self.ids[node.start..node.end + SLACK];
        let values = rows.values();
        // The AVX2 code reads rows through raw pointers; every id is bounded here.
        assert!(available() && direction.len() == rows.width() && self.end * rows.width() <= values.len());
        #[cfg(all(target_arch = "x86_64", not(rpf_scalar)))]
        {
            let (bound, buffer) = (rows.grid.error_bound, &mut self.buffer[..]);
            // SAFETY: the CPU has the instructions. The direction is as wide as a row, all ids are rows of `values`,
            // and `ids` and `buffer` are `SLACK` longer than the node.
            #[allow(unsafe_code)]
            return unsafe {
                match rows.grid.registers {
                    1 => avx2::partition::<1>(values, direction, bound, ids, buffer, is_below),
                    2 => avx2::partition::<2>(values, direction, bound, ids, buffer, is_below),
                    3 => avx2::partition::<3>(values, direction, bound, ids, buffer, is_below),
                    4 => avx2::partition::<4>(values, direction, bound, ids, buffer, is_below),
                    _ => avx2::partition::<0>(values, direction, bound, ids, buffer, is_below),
                }
            };
        }
        #[cfg(not(all(target_arch = "x86_64", not(rpf_scalar))))]
        {
            let _ = (ids, is_below);
            0
        }
    }
}

dispatch! {
    /// The largest id, in a form that vectorises.
    fn largest_id(ids: &[u32]) -> u32 {
        let mut largest = 0;
        for &id in ids {
            largest = if id > largest { id } else { largest };
        }
        largest
    }
}

/// Writes the quantized dot products of the rows `ids` as f32; returns the smallest and the largest.
pub(crate) fn project(rows: &QuantizedRows, direction: &[i16], ids: &[u32], out: &mut [f32]) -> (f32, f32) {
    let values = rows.values();
    // The AVX2 code reads rows through raw pointers; every id is bounded here.
    let last = largest_id(ids);
    assert!(available() && direction.len() == rows.width() && out.len() == ids.len());
    assert!((last as usize) < values.len() / rows.width());
    #[cfg(all(target_arch = "x86_64", not(rpf_scalar)))]
    // SAFETY: the CPU has the instructions, the direction is as wide as a row, and all ids are rows of `values`.
    #[allow(unsafe_code)]
    return unsafe {
        match rows.grid.registers {
            1 => avx2::project::<1>(values, direction, ids, out),
            2 => avx2::project::<2>(values, direction, ids, out),
            3 => avx2::project::<3>(values, direction, ids, out),
            4 => avx2::project::<4>(values, direction, ids, out),
            _ => avx2::project::<0>(values, direction, ids, out),
        }
    };
    #[cfg(not(all(target_arch = "x86_64", not(rpf_scalar))))]
    (0.0, 0.0)
}

#[cfg(all(target_arch = "x86_64", not(rpf_scalar)))]
#[allow(unsafe_code)] // vector loads and stores through raw pointers; the callers guarantee the bounds
mod avx2 {
    use std::arch::x86_64::*;

    use crate::forest::quantized::grid::WIDTH;
    use crate::simd::stable_partition::COMPRESS_8;

    /// Rows multiplied at once: one 32-bit sum per lane of a register.
    const GROUP: usize = 8;
    /// Groups between the prefetch of a row and its use: 32 rows cover the memory latency.
    const PREFETCH_GROUPS: usize = 4;

    /// # Safety
    /// The direction has W registers (any number with W = 0), all ids are rows of `rows`, `ids` and `buffer` are
    /// `SLACK` longer than the node.
    #[target_feature(enable = "avx2,popcnt")]
    pub unsafe fn partition<const W: usize>(
        rows: &[i16],
        direction: &[i16],
        error_bound: i32,
        ids: &mut [u32],
        buffer: &mut [u32],
        is_below: impl Fn(u32) -> bool,
    ) -> usize {
        let m = ids.len() - super::SLACK;
        // SAFETY: guaranteed by the caller; no store passes m + SLACK, since left <= i and right <= i.
        unsafe {
            let direction = DirectionRegisters::<W>::new(direction);
            let error_bound = _mm256_set1_epi32(error_bound);
            let behind = _mm256_loadu_si256(ids.as_ptr().add(m).cast());
            let (mut left, mut right, mut i) = (0, 0, 0);
            while i < m {
                let present = 0xff >> (GROUP - (m - i).min(GROUP));
                let here = ids.as_ptr().add(i);
                let next = if i + 2 * GROUP <= m { here.add(GROUP) } else { here };
                let sums = sums::<W>(rows, &direction, here, next);
                let mut below = sign_bits(sums);
                let near = !sign_bits(_mm256_cmpgt_epi32(_mm256_abs_epi32(sums), error_bound)) & present;
                if near != 0 {
                    below = decide_exactly(below, near, &ids[i..i + GROUP], &is_below);
                }
                let (below, above) = (below & present, !below & present);
                let group = _mm256_loadu_si256(ids.as_ptr().add(i).cast());
                append(group, below, ids.as_mut_ptr().add(left));
                append(group, above, buffer.as_mut_ptr().add(right));
                left += below.count_ones() as usize;
                right += above.count_ones() as usize;
                i += GROUP;
            }
            ids[left..m].copy_from_slice(&buffer[..right]);
            _mm256_storeu_si256(ids.as_mut_ptr().add(m).cast(), behind);
            left
        }
    }

    /// # Safety
    /// The direction has W registers (any number with W = 0), and all ids are rows of `rows`.
    #[target_feature(enable = "avx2")]
    pub unsafe fn project<const W: usize>(
        rows: &[i16],
        direction: &[i16],
        ids: &[u32],
        out: &mut [f32],
    ) -> (f32, f32) {
        let (mut lows, mut highs) = (_mm256_set1_ps(f32::INFINITY), _mm256_set1_ps(f32::NEG_INFINITY));
        let (groups, rest) = ids.as_chunks::<GROUP>();
        let (outs, rest_out) = out.as_chunks_mut::<GROUP>();
        // SAFETY: guaranteed by the caller.
        unsafe {
            let width = direction.len();
            let direction = DirectionRegisters::<W>::new(direction);
            for (at, (ids, out)) in groups.iter().zip(outs).enumerate() {
                let next = groups.get(at + 1).unwrap_or(ids);
                if let Some(later) = groups.get(at + PREFETCH_GROUPS).filter(|_| W > 0) {
                    for &id in later {
                        _mm_prefetch::<_MM_HINT_T0>(rows.as_ptr().add(id as usize * width).cast());
                    }
                }
                let sums = _mm256_cvtepi32_ps(sums::<W>(rows, &direction, ids.as_ptr(), next.as_ptr()));
                (lows, highs) = (_mm256_min_ps(lows, sums), _mm256_max_ps(highs, sums));
                _mm256_storeu_ps(out.as_mut_ptr(), sums);
            }
            if let Some(&last) = rest.last() {
                // The last row repeated to a whole group.
                let mut group = [last; GROUP];
                group[..rest.len()].copy_from_slice(rest);
                let sums = _mm256_cvtepi32_ps(sums::<W>(rows, &direction, group.as_ptr(), group.as_ptr()));
                (lows, highs) = (_mm256_min_ps(lows, sums), _mm256_max_ps(highs, sums));
                let mut last = [0.0; GROUP];
                _mm256_storeu_ps(last.as_mut_ptr(), sums);
                rest_out.copy_from_slice(&last[..rest.len()]);
            }
            let (mut low, mut high) = ([0.0; GROUP], [0.0; GROUP]);
            _mm256_storeu_ps(low.as_mut_ptr(), lows);
            _mm256_storeu_ps(high.as_mut_ptr(), highs);
            (
                low.into_iter().fold(f32::INFINITY, f32::min),
                high.into_iter().fold(f32::NEG_INFINITY, f32::max),
            )
        }
    }

    /// A direction in W registers, or with W = 0 in memory.
    struct DirectionRegisters<'a, const W: usize> {
        registers: [__m256i; W],
        values: &'a [i16],
    }

    impl<'a, const W: usize> DirectionRegisters<'a, W> {
        /// # Safety
        /// `values` fills at least W registers.
        #[target_feature(enable = "avx2")]
        #[inline]
        unsafe fn new(values: &'a [i16]) -> Self {
            let mut registers = [_mm256_setzero_si256(); W];
            for (w, register) in registers.iter_mut().enumerate() {
                // SAFETY: guaranteed by the caller.
                *register = unsafe { _mm256_loadu_si256(values.as_ptr().add(w * WIDTH).cast()) };
            }
            DirectionRegisters { registers, values }
        }

        /// Eight partial sums for each row of a group.
        ///
        /// # Safety
        /// `ids` and `next` point to GROUP ids of rows of `rows`, each as wide as the direction.
        #[target_feature(enable = "avx2")]
        #[inline]
        unsafe fn products(&self, rows: &[i16], ids: *const u32, next: *const u32) -> [__m256i; GROUP] {
            let mut sums = [_mm256_setzero_si256(); GROUP];
            let mut group = [rows.as_ptr(); GROUP];
            // SAFETY: guaranteed by the caller.
            unsafe {
                for (slot, row) in group.iter_mut().enumerate() {
                    *row = row.add(*ids.add(slot) as usize * self.values.len());
                }
                if W == 0 {
                    // Each register of the direction is loaded once per group; the next group is prefetched meanwhile.
                    let mut ahead = [rows.as_ptr(); GROUP];
                    for (slot, row) in ahead.iter_mut().enumerate() {
                        *row = row.add(*next.add(slot) as usize * self.values.len());
                    }
                    for at in (0..self.values.len()).step_by(WIDTH) {
                        if at % (2 * WIDTH) == 0 {
                            for row in ahead {
                                _mm_prefetch::<_MM_HINT_T0>(row.add(at).cast());
                            }
                        }
                        let direction = _mm256_loadu_si256(self.values.as_ptr().add(at).cast());
                        for (sum, row) in sums.iter_mut().zip(group) {
                            let product =
                                _mm256_madd_epi16(_mm256_loadu_si256(row.add(at).cast()), direction);
                            *sum = _mm256_add_epi32(*sum, product);
                        }
                    }
                } else {
                    for (sum, row) in sums.iter_mut().zip(group) {
                        *sum = _mm256_madd_epi16(_mm256_loadu_si256(row.cast()), self.registers[0]);
                        for (w, &direction) in self.registers.iter().enumerate().skip(1) {
                            let part = _mm256_loadu_si256(row.add(w * WIDTH).cast());
                            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(part, direction));
                        }
                    }
                }
            }
            sums
        }
    }

    /// Stores the ids of the mask, packed, at `to`. The rest of the register that is written there is unspecified.
    ///
    /// # Safety
    /// Eight ids can be written at `to`.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn append(group: __m256i, mask: usize, to: *mut u32) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let order = _mm256_loadu_si256(COMPRESS_8[mask].as_ptr().cast());
            _mm256_storeu_si256(to.cast(), _mm256_permutevar8x32_epi32(group, order));
        }
    }

    /// Replaces the bits of the rows in `near` by the exact comparison.
    #[cold]
    fn decide_exactly(
        mut below: usize,
        mut near: usize,
        ids: &[u32],
        is_below: &impl Fn(u32) -> bool,
    ) -> usize {
        while near != 0 {
            let slot = near.trailing_zeros() as usize;
            near &= near - 1;
            below = below & !(1 << slot) | usize::from(is_below(ids[slot])) << slot;
        }
        below
    }

    /// The sign bits of eight 32-bit integers.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn sign_bits(numbers: __m256i) -> usize {
        _mm256_movemask_ps(_mm256_castsi256_ps(numbers)) as usize
    }

    /// The dot products of a group of rows.
    ///
    /// # Safety
    /// As for [`DirectionRegisters::products`].
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn sums<const W: usize>(
        rows: &[i16],
        direction: &DirectionRegisters<W>,
        ids: *const u32,
        next: *const u32,
    ) -> __m256i {
        // SAFETY: guaranteed by the caller.
        let rows = unsafe { direction.products(rows, ids, next) };
        // l + (l + 4), two rows in one register.
        let fours = |a: __m256i, b: __m256i| {
            _mm256_add_epi32(_mm256_blend_epi32::<0xF0>(a, b), _mm256_permute2x128_si256::<0x21>(a, b))
        };
        // l + (l + 2), four rows in one register.
        let twos = |a: __m256i, b: __m256i| {
            _mm256_add_epi32(_mm256_blend_epi32::<0xCC>(a, b), _mm256_alignr_epi8::<8>(b, a))
        };
        let one = twos(fours(rows[0], rows[4]), fours(rows[1], rows[5]));
        let two = twos(fours(rows[2], rows[6]), fours(rows[3], rows[7]));
        let (one, two) = (_mm256_castsi256_ps(one), _mm256_castsi256_ps(two));
        let even = _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(one, two));
        let odd = _mm256_castps_si256(_mm256_shuffle_ps::<0xDD>(one, two));
        _mm256_add_epi32(even, odd)
    }
}
