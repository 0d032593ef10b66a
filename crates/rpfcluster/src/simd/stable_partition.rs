//! Stable partition of row ids, and optionally of transposed rows, by a threshold on a key.
//!
//! Rows below the cut move to the front; both sides keep their order. The loop is branch-free, since a branch on a
//! random comparison is mispredicted half of the time. With AVX2, eight rows (four in f64) are compared at once, and
//! each side is packed by one permutation from a lookup table (left packing; the selective store of Polychroniou,
//! Raghavan and Ross, SIGMOD 2015). Values are moved, never computed with, so every machine gives the same result.
//! O(m (d + 1)) time, a buffer of the same size.

use crate::points::Real;

/// The rows to partition: their ids and, where `columns` is not empty, their values by column.
pub(crate) struct RowBlock<'a, R> {
    pub ids: &'a mut [u32],
    /// Column-major values; a column is `stride` long, and the rows begin at `first` in it.
    pub columns: &'a mut [R],
    pub stride: usize,
    pub first: usize,
}

/// Holds the right side until the left one is complete.
#[derive(Default)]
pub(crate) struct PartitionBuffer<R> {
    ids: Vec<u32>,
    values: Vec<R>,
}

/// Spare rows at the end of a buffer column. A vector store writes eight rows, however few of them it keeps.
const SLACK: usize = 8;

impl<'a, R> RowBlock<'a, R> {
    /// Row ids without values.
    pub fn ids(ids: &'a mut [u32]) -> Self {
        RowBlock { ids, columns: &mut [], stride: 0, first: 0 }
    }

    /// Number of columns.
    fn d(&self) -> usize {
        self.columns.len().checked_div(self.stride).unwrap_or(0)
    }
}

/// Moves the rows with `keys[i] < cut` to the front and returns their number.
pub(crate) fn partition<R: Real>(
    mut rows: RowBlock<'_, R>,
    keys: &[R],
    cut: R,
    buffer: &mut PartitionBuffer<R>,
) -> usize {
    let (m, d, capacity) = (rows.ids.len(), rows.d(), rows.ids.len() + SLACK);
    if buffer.ids.len() < capacity {
        buffer.ids.resize(capacity, 0);
    }
    if buffer.values.len() < capacity * d {
        buffer.values.resize(capacity * d, R::default());
    }
    // The AVX2 code uses raw pointers; the bounds of everything it touches are established here.
    assert!(keys.len() >= m && (d == 0 || rows.first + m <= rows.stride));
    let (mut left, processed) = partition_groups(&mut rows, keys, cut, buffer);
    let mut right = processed - left;
    for (i, &key) in keys.iter().enumerate().take(m).skip(processed) {
        let goes_left = key < cut;
        let id = rows.ids[i];
        rows.ids[left] = id;
        buffer.ids[right] = id;
        for c in 0..d {
            let from = c * rows.stride + rows.first;
            let value = rows.columns[from + i];
            rows.columns[from + left] = value;
            buffer.values[c * capacity + right] = value;
        }
        left += usize::from(goes_left);
        right += usize::from(!goes_left);
    }
    rows.ids[left..].copy_from_slice(&buffer.ids[..right]);
    for c in 0..d {
        let from = c * rows.stride + rows.first;
        rows.columns[from + left..from + m]
            .copy_from_slice(&buffer.values[c * capacity..c * capacity + right]);
    }
    left
}

/// Partitions whole groups of rows with AVX2; returns the number of rows below the cut and the number processed.
#[cfg(all(target_arch = "x86_64", not(rpf_scalar)))]
#[inline]
fn partition_groups<R: Real>(
    rows: &mut RowBlock<'_, R>,
    keys: &[R],
    cut: R,
    buffer: &mut PartitionBuffer<R>,
) -> (usize, usize) {
    use crate::points::Precision;
    if !crate::simd::avx2() {
        return (0, 0);
    }
    let (m, d) = (rows.ids.len(), rows.d());
    let layout = avx2::RawBlock {
        ids: rows.ids.as_mut_ptr(),
        m,
        d,
        stride: rows.stride,
        buffer_ids: buffer.ids.as_mut_ptr(),
        capacity: m + SLACK,
    };
    let columns = rows.columns.as_mut_ptr().wrapping_add(if d == 0 { 0 } else { rows.first });
    let (buffers, keys) = (buffer.values.as_mut_ptr(), keys.as_ptr());
    // SAFETY: the CPU has the instructions. `ids` and `keys` hold m values, each of the d columns m values from `first`
    // on, and each buffer column m + SLACK: asserted and resized by the caller. Each group is read before anything is
    // written at or before its position, and `R::PRECISION` identifies the type R.
    #[allow(unsafe_code)]
    unsafe {
        match R::PRECISION {
            Precision::F32 => {
                avx2::partition_f32(&layout, columns.cast(), buffers.cast(), keys.cast(), cut.to_f64() as f32)
            }
            Precision::F64 => {
                avx2::partition_f64(&layout, columns.cast(), buffers.cast(), keys.cast(), cut.to_f64())
            }
        }
    }
}

/// Leaves all rows to the portable loop.
#[cfg(not(all(target_arch = "x86_64", not(rpf_scalar))))]
fn partition_groups<R: Real>(
    _: &mut RowBlock<'_, R>,
    _: &[R],
    _: R,
    _: &mut PartitionBuffer<R>,
) -> (usize, usize) {
    (0, 0)
}

#[cfg(all(target_arch = "x86_64", not(rpf_scalar)))]
pub(crate) use avx2::COMPRESS_8;

#[cfg(all(target_arch = "x86_64", not(rpf_scalar)))]
#[allow(unsafe_code)] // vector loads and stores through raw pointers; the callers guarantee the bounds
mod avx2 {
    use std::arch::x86_64::*;

    /// The addresses and sizes of a partition.
    pub struct RawBlock {
        pub ids: *mut u32,
        pub m: usize,
        pub d: usize,
        pub stride: usize,
        pub buffer_ids: *mut u32,
        pub capacity: usize,
    }

    /// For each bit mask of eight lanes, the permutation that packs the set lanes to the front.
    pub static COMPRESS_8: [[u32; 8]; 256] = compress::<8, 256>();
    /// The same for four lanes.
    static COMPRESS_4: [[u32; 4]; 16] = compress::<4, 16>();
    /// The same for four 64-bit lanes, as permutations of eight 32-bit halves.
    static COMPRESS_4_WIDE: [[u32; 8]; 16] = {
        let mut wide = [[0; 8]; 16];
        let mut mask = 0;
        while mask < 16 {
            let mut lane = 0;
            while lane < 4 {
                wide[mask][2 * lane] = 2 * COMPRESS_4[mask][lane];
                wide[mask][2 * lane + 1] = 2 * COMPRESS_4[mask][lane] + 1;
                lane += 1;
            }
            mask += 1;
        }
        wide
    };

    const fn compress<const LANES: usize, const MASKS: usize>() -> [[u32; LANES]; MASKS] {
        let mut table = [[0; LANES]; MASKS];
        let mut mask = 0;
        while mask < MASKS {
            let (mut lane, mut packed) = (0, 0);
            while lane < LANES {
                if mask >> lane & 1 == 1 {
                    table[mask][packed] = lane as u32;
                    packed += 1;
                }
                lane += 1;
            }
            mask += 1;
        }
        table
    }

    /// Partitions whole groups of eight; returns the number of rows on the left and the number processed.
    ///
    /// # Safety
    /// The pointers cover what `RawBlock` states (see the only caller), and the CPU has AVX2.
    #[target_feature(enable = "avx2,popcnt")]
    pub unsafe fn partition_f32(
        layout: &RawBlock,
        columns: *mut f32,
        buffers: *mut f32,
        keys: *const f32,
        cut: f32,
    ) -> (usize, usize) {
        let cut = _mm256_set1_ps(cut);
        let (mut left, mut right, mut i) = (0, 0, 0);
        while i + 8 <= layout.m {
            // SAFETY: i + 8 <= m, left <= i and right <= i, so no access passes m or m + SLACK.
            unsafe {
                let mask = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(_mm256_loadu_ps(keys.add(i)), cut));
                let mask = mask as usize;
                let below = _mm256_loadu_si256(COMPRESS_8[mask].as_ptr().cast());
                let above = _mm256_loadu_si256(COMPRESS_8[255 ^ mask].as_ptr().cast());
                let ids = _mm256_loadu_si256(layout.ids.add(i).cast());
                _mm256_storeu_si256(layout.ids.add(left).cast(), _mm256_permutevar8x32_epi32(ids, below));
                _mm256_storeu_si256(
                    layout.buffer_ids.add(right).cast(),
                    _mm256_permutevar8x32_epi32(ids, above),
                );
                for c in 0..layout.d {
                    let column = columns.add(c * layout.stride);
                    let values = _mm256_loadu_ps(column.add(i));
                    _mm256_storeu_ps(column.add(left), _mm256_permutevar8x32_ps(values, below));
                    let buffer = buffers.add(c * layout.capacity + right);
                    _mm256_storeu_ps(buffer, _mm256_permutevar8x32_ps(values, above));
                }
                let below_count = mask.count_ones() as usize;
                left += below_count;
                right += 8 - below_count;
            }
            i += 8;
        }
        (left, i)
    }

    /// Partitions whole groups of four, as [`partition_f32`].
    ///
    /// # Safety
    /// As for [`partition_f32`].
    #[target_feature(enable = "avx2,popcnt")]
    pub unsafe fn partition_f64(
        layout: &RawBlock,
        columns: *mut f64,
        buffers: *mut f64,
        keys: *const f64,
        cut: f64,
    ) -> (usize, usize) {
        let cut = _mm256_set1_pd(cut);
        let (mut left, mut right, mut i) = (0, 0, 0);
        while i + 4 <= layout.m {
            // SAFETY: as in `partition_f32`, with groups of four.
            unsafe {
                let mask = _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(_mm256_loadu_pd(keys.add(i)), cut));
                let mask = mask as usize;
                let below = _mm256_loadu_si256(COMPRESS_4_WIDE[mask].as_ptr().cast());
                let above = _mm256_loadu_si256(COMPRESS_4_WIDE[15 ^ mask].as_ptr().cast());
                let ids = _mm_loadu_ps(layout.ids.add(i).cast());
                let narrow = |mask: usize| _mm_loadu_si128(COMPRESS_4[mask].as_ptr().cast());
                _mm_storeu_ps(layout.ids.add(left).cast(), _mm_permutevar_ps(ids, narrow(mask)));
                _mm_storeu_ps(layout.buffer_ids.add(right).cast(), _mm_permutevar_ps(ids, narrow(15 ^ mask)));
                for c in 0..layout.d {
                    let column = columns.add(c * layout.stride);
                    let values = _mm256_castpd_ps(_mm256_loadu_pd(column.add(i)));
                    let packed = _mm256_castps_pd(_mm256_permutevar8x32_ps(values, below));
                    _mm256_storeu_pd(column.add(left), packed);
                    let packed = _mm256_castps_pd(_mm256_permutevar8x32_ps(values, above));
                    _mm256_storeu_pd(buffers.add(c * layout.capacity + right), packed);
                }
                let below_count = mask.count_ones() as usize;
                left += below_count;
                right += 4 - below_count;
            }
            i += 4;
        }
        (left, i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_stable<R: Real>(from: fn(f64) -> R) {
        for m in [0usize, 1, 3, 4, 7, 8, 9, 31, 64, 100] {
            for shift in 0..5u32 {
                let key = |i: usize| f64::from((i as u32 * 2654435 + shift * 77) >> 3 & 7);
                let mut ids: Vec<u32> = (0..m as u32).collect();
                let keys: Vec<R> = (0..m).map(|i| from(key(i))).collect();
                // Two columns with sentinels on both sides that must not change.
                let (stride, at) = (m + 9, 5);
                let mut columns = vec![from(-1.0); 2 * stride];
                for i in 0..m {
                    columns[at + i] = from(i as f64);
                    columns[stride + at + i] = from(1000.0 + i as f64);
                }
                let rows = RowBlock { ids: &mut ids, columns: &mut columns, stride, first: at };
                let cut = f64::from(shift) * 2.0;
                let left = partition(rows, &keys, from(cut), &mut PartitionBuffer::default());
                let (low, high): (Vec<u32>, Vec<u32>) = (0..m as u32).partition(|i| key(*i as usize) < cut);
                assert_eq!(left, low.len());
                assert_eq!(ids, [low, high].concat());
                for (i, id) in ids.iter().enumerate() {
                    assert_eq!(columns[at + i], from(f64::from(*id)));
                    assert_eq!(columns[stride + at + i], from(1000.0 + f64::from(*id)));
                }
                let kept = |i: usize| columns[i] == from(-1.0) && columns[stride + i] == from(-1.0);
                assert!((0..at).chain(at + m..stride).all(kept));
            }
        }
    }

    #[test]
    fn both_sides_keep_their_order_and_nothing_else_changes() {
        check_stable::<f32>(|v| v as f32);
        check_stable::<f64>(|v| v);
    }
}
