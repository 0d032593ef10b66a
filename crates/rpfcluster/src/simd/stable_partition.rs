//! Dividing the points of a node at its cut: those below it to the front, both sides in their old order.
//!
//! Nothing branches on a comparison: a coin toss a row would be mispredicted every other time. With AVX2 eight points
//! (four in f64) are compared at once and each side is packed by one shuffle from a table. Moves only: no arithmetic,
//! so the result is the same on every machine.

use crate::points::{Precision, Real};

/// What is moved: the points' numbers, and with them some columns of values, `stride` apart, from `at` on.
pub(crate) struct Moved<'a, R> {
    pub ids: &'a mut [u32],
    pub columns: &'a mut [R],
    pub stride: usize,
    pub at: usize,
}

/// Where the right side waits until the left is done.
pub(crate) struct Spare<R> {
    ids: Vec<u32>,
    values: Vec<R>,
}

impl<R> Default for Spare<R> {
    fn default() -> Self {
        Spare { ids: Vec::new(), values: Vec::new() }
    }
}

/// Points one shuffle may write beyond the last it keeps.
const SLACK: usize = 8;

/// Points with a projection below the cut go to the front; returns how many.
pub(crate) fn partition<R: Real>(
    moved: Moved<'_, R>,
    projections: &[R],
    cut: R,
    spare: &mut Spare<R>,
) -> usize {
    let m = moved.ids.len();
    let d = moved.columns.len().checked_div(moved.stride).unwrap_or(0);
    let room = m + SLACK;
    if spare.ids.len() < room {
        spare.ids.resize(room, 0);
    }
    if spare.values.len() < room * d {
        spare.values.resize(room * d, R::default());
    }
    // The vector code reads and writes by address; everything it may touch is checked here.
    assert!(projections.len() >= m && (d == 0 || moved.at + m <= moved.stride));
    let (mut left, mut done) = (0, 0);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
        let to = avx2::Place {
            ids: moved.ids.as_mut_ptr(),
            m,
            d,
            stride: moved.stride,
            spare_ids: spare.ids.as_mut_ptr(),
            room,
        };
        let at = if d == 0 { 0 } else { moved.at };
        // SAFETY: the processor has the instructions. `ids` and `projections` hold m values, each of the d columns
        // m values from `at`, and each spare column m + SLACK: asserted and resized above. A block is read before
        // anything is written at or before its place, and R is the type that its precision names.
        #[allow(unsafe_code)]
        unsafe {
            let columns = moved.columns.as_mut_ptr().wrapping_add(at);
            let spares = spare.values.as_mut_ptr();
            (left, done) = match R::PRECISION {
                Precision::F32 => avx2::halves_f32(
                    &to,
                    columns.cast(),
                    spares.cast(),
                    projections.as_ptr().cast(),
                    cut.to_f64() as f32,
                ),
                Precision::F64 => avx2::halves_f64(
                    &to,
                    columns.cast(),
                    spares.cast(),
                    projections.as_ptr().cast(),
                    cut.to_f64(),
                ),
            };
        }
    }
    let mut right = done - left;
    for (i, &projection) in projections.iter().enumerate().take(m).skip(done) {
        let goes_left = projection < cut;
        let id = moved.ids[i];
        moved.ids[left] = id;
        spare.ids[right] = id;
        for c in 0..d {
            let from = c * moved.stride + moved.at;
            let value = moved.columns[from + i];
            moved.columns[from + left] = value;
            spare.values[c * room + right] = value;
        }
        left += usize::from(goes_left);
        right += usize::from(!goes_left);
    }
    moved.ids[left..].copy_from_slice(&spare.ids[..right]);
    for c in 0..d {
        let from = c * moved.stride + moved.at;
        moved.columns[from + left..from + m].copy_from_slice(&spare.values[c * room..c * room + right]);
    }
    left
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::CHOSEN_FIRST;

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // loads and stores by address; what they may touch is the caller's promise
mod avx2 {
    use std::arch::x86_64::*;

    /// Where everything lies.
    pub struct Place {
        pub ids: *mut u32,
        pub m: usize,
        pub d: usize,
        pub stride: usize,
        pub spare_ids: *mut u32,
        pub room: usize,
    }

    /// For each set of chosen lanes of eight: the chosen ones first.
    pub static CHOSEN_FIRST: [[u32; 8]; 256] = chosen_first::<8, 256>();
    /// The same for four lanes, and for four lanes of two halves each.
    static FOUR: [[u32; 4]; 16] = chosen_first::<4, 16>();
    static FOUR_WIDE: [[u32; 8]; 16] = {
        let mut wide = [[0; 8]; 16];
        let mut set = 0;
        while set < 16 {
            let mut lane = 0;
            while lane < 4 {
                wide[set][2 * lane] = 2 * FOUR[set][lane];
                wide[set][2 * lane + 1] = 2 * FOUR[set][lane] + 1;
                lane += 1;
            }
            set += 1;
        }
        wide
    };

    const fn chosen_first<const LANES: usize, const SETS: usize>() -> [[u32; LANES]; SETS] {
        let mut table = [[0; LANES]; SETS];
        let mut set = 0;
        while set < SETS {
            let (mut lane, mut to) = (0, 0);
            while lane < LANES {
                if set >> lane & 1 == 1 {
                    table[set][to] = lane as u32;
                    to += 1;
                }
                lane += 1;
            }
            set += 1;
        }
        table
    }

    /// Whole blocks of eight; returns how many points went left and how many were seen.
    ///
    /// # Safety
    /// See the only caller.
    #[target_feature(enable = "avx2,popcnt")]
    pub unsafe fn halves_f32(
        to: &Place,
        columns: *mut f32,
        spares: *mut f32,
        projections: *const f32,
        cut: f32,
    ) -> (usize, usize) {
        let cut = _mm256_set1_ps(cut);
        let (mut left, mut right, mut i) = (0, 0, 0);
        while i + 8 <= to.m {
            // SAFETY: i + 8 <= m, left <= i and right <= i, so that no access passes m or m + SLACK.
            unsafe {
                let set =
                    _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(_mm256_loadu_ps(projections.add(i)), cut));
                let set = set as usize;
                let below = _mm256_loadu_si256(CHOSEN_FIRST[set].as_ptr().cast());
                let above = _mm256_loadu_si256(CHOSEN_FIRST[255 ^ set].as_ptr().cast());
                let ids = _mm256_loadu_si256(to.ids.add(i).cast());
                _mm256_storeu_si256(to.ids.add(left).cast(), _mm256_permutevar8x32_epi32(ids, below));
                _mm256_storeu_si256(to.spare_ids.add(right).cast(), _mm256_permutevar8x32_epi32(ids, above));
                for c in 0..to.d {
                    let column = columns.add(c * to.stride);
                    let values = _mm256_loadu_ps(column.add(i));
                    _mm256_storeu_ps(column.add(left), _mm256_permutevar8x32_ps(values, below));
                    let spare = spares.add(c * to.room + right);
                    _mm256_storeu_ps(spare, _mm256_permutevar8x32_ps(values, above));
                }
                let chosen = set.count_ones() as usize;
                left += chosen;
                right += 8 - chosen;
            }
            i += 8;
        }
        (left, i)
    }

    /// Whole blocks of four.
    ///
    /// # Safety
    /// See the only caller.
    #[target_feature(enable = "avx2,popcnt")]
    pub unsafe fn halves_f64(
        to: &Place,
        columns: *mut f64,
        spares: *mut f64,
        projections: *const f64,
        cut: f64,
    ) -> (usize, usize) {
        let cut = _mm256_set1_pd(cut);
        let (mut left, mut right, mut i) = (0, 0, 0);
        while i + 4 <= to.m {
            // SAFETY: as above, with four.
            unsafe {
                let set =
                    _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(_mm256_loadu_pd(projections.add(i)), cut));
                let set = set as usize;
                let below = _mm256_loadu_si256(FOUR_WIDE[set].as_ptr().cast());
                let above = _mm256_loadu_si256(FOUR_WIDE[15 ^ set].as_ptr().cast());
                let ids = _mm_loadu_ps(to.ids.add(i).cast());
                let narrow = |set: usize| _mm_loadu_si128(FOUR[set].as_ptr().cast());
                _mm_storeu_ps(to.ids.add(left).cast(), _mm_permutevar_ps(ids, narrow(set)));
                _mm_storeu_ps(to.spare_ids.add(right).cast(), _mm_permutevar_ps(ids, narrow(15 ^ set)));
                for c in 0..to.d {
                    let column = columns.add(c * to.stride);
                    let values = _mm256_castpd_ps(_mm256_loadu_pd(column.add(i)));
                    let packed = _mm256_castps_pd(_mm256_permutevar8x32_ps(values, below));
                    _mm256_storeu_pd(column.add(left), packed);
                    let packed = _mm256_castps_pd(_mm256_permutevar8x32_ps(values, above));
                    _mm256_storeu_pd(spares.add(c * to.room + right), packed);
                }
                let chosen = set.count_ones() as usize;
                left += chosen;
                right += 4 - chosen;
            }
            i += 4;
        }
        (left, i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stable<R: Real>(from: fn(f64) -> R) {
        for m in [0usize, 1, 3, 4, 7, 8, 9, 31, 64, 100] {
            for shift in 0..5u32 {
                let key = |i: usize| f64::from((i as u32 * 2654435 + shift * 77) >> 3 & 7);
                let mut ids: Vec<u32> = (0..m as u32).collect();
                let projections: Vec<R> = (0..m).map(|i| from(key(i))).collect();
                // Two columns with a neighbour on both sides that must stay.
                let (stride, at) = (m + 9, 5);
                let mut columns = vec![from(-1.0); 2 * stride];
                for i in 0..m {
                    columns[at + i] = from(i as f64);
                    columns[stride + at + i] = from(1000.0 + i as f64);
                }
                let moved = Moved { ids: &mut ids, columns: &mut columns, stride, at };
                let cut = f64::from(shift) * 2.0;
                let left = partition(moved, &projections, from(cut), &mut Spare::default());
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
    fn keeps_order_on_both_sides_and_touches_nothing_else() {
        stable::<f32>(|v| v as f32);
        stable::<f64>(|v| v);
    }
}
