//! Dividing the rows of a node at its cut by rough sums (`coarse`): only the rows' numbers are moved, and who is too near
//! the cut for a rough sum to tell is summed exactly. Needs AVX2.

use std::ops::Range;

use crate::forest::quantized::grid::CoarseRows;
use crate::simd::in_wide_registers;

/// Numbers that may be written behind the last.
const SLACK: usize = 8;

/// Whether rows can be divided here.
pub(crate) fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The numbers of some rows, those of a node side by side.
#[derive(Default)]
pub(crate) struct Sieve {
    /// The rows, and `SLACK` zeros.
    ids: Vec<u32>,
    spare: Vec<u32>,
    /// One more than the largest.
    end: usize,
}

impl Sieve {
    /// Takes these rows in; whatever was here is forgotten.
    pub fn load(&mut self, rows: impl Iterator<Item = u32>) {
        self.ids.clear();
        self.ids.extend(rows);
        self.end = self.ids.iter().max().map_or(0, |&last| last as usize + 1);
        self.ids.resize(self.ids.len() + SLACK, 0);
        if self.spare.len() < self.ids.len() {
            self.spare.resize(self.ids.len(), 0);
        }
    }

    pub fn ids(&self, node: Range<usize>) -> &[u32] {
        &self.ids[node]
    }

    /// Rows below the cut of the rounded node `along` go to the front of `node`, both sides in their old order; returns
    /// how many. `exactly` tells whether a row is below.
    pub fn divide(
        &mut self,
        coarse: &CoarseRows,
        along: &[i16],
        node: &Range<usize>,
        exactly: impl Fn(u32) -> bool,
    ) -> usize {
        let ids = &mut self.ids[node.start..node.end + SLACK];
        let rough = coarse.values();
        // Rows are read by address; every number that can be met is checked here.
        assert!(available() && along.len() == coarse.width() && self.end * coarse.width() <= rough.len());
        #[cfg(target_arch = "x86_64")]
        {
            let (margin, spare) = (coarse.grid.margin, &mut self.spare[..]);
            // SAFETY: the processor has the instructions. Directions are as wide as rows, of which there are more than
            // any number in `ids` says, and both lists are `SLACK` longer than the node.
            #[allow(unsafe_code)]
            return unsafe {
                match coarse.grid.registers {
                    1 => avx2::divide::<1>(rough, along, margin, ids, spare, exactly),
                    2 => avx2::divide::<2>(rough, along, margin, ids, spare, exactly),
                    3 => avx2::divide::<3>(rough, along, margin, ids, spare, exactly),
                    4 => avx2::divide::<4>(rough, along, margin, ids, spare, exactly),
                    _ => avx2::divide::<0>(rough, along, margin, ids, spare, exactly),
                }
            };
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (ids, exactly);
            0
        }
    }
}

in_wide_registers! {
    fn largest(ids: &[u32], most: &mut u32) {
        for &id in ids {
            *most = if id > *most { id } else { *most };
        }
    }
}

/// Rough sums of the rows `ids` along a rounded direction, as f32; returns the smallest and the largest.
pub(crate) fn project(coarse: &CoarseRows, along: &[i16], ids: &[u32], out: &mut [f32]) -> (f32, f32) {
    let rough = coarse.values();
    // Rows are read by address; every number that can be met is checked here.
    let rows = rough.len() / coarse.width();
    let mut last = 0;
    largest(ids, &mut last);
    assert!(available() && along.len() == coarse.width() && out.len() == ids.len());
    assert!((last as usize) < rows);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the processor has the instructions. The direction is as wide as rows, of which there are more than any of
    // `ids` says.
    #[allow(unsafe_code)]
    return unsafe {
        match coarse.grid.registers {
            1 => avx2::project::<1>(rough, along, ids, out),
            2 => avx2::project::<2>(rough, along, ids, out),
            3 => avx2::project::<3>(rough, along, ids, out),
            4 => avx2::project::<4>(rough, along, ids, out),
            _ => avx2::project::<0>(rough, along, ids, out),
        }
    };
    #[cfg(not(target_arch = "x86_64"))]
    (0.0, 0.0)
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // loads and stores by address; what they may touch is the caller's promise
mod avx2 {
    use std::arch::x86_64::*;

    use crate::forest::quantized::grid::WIDTH;
    use crate::simd::stable_partition::CHOSEN_FIRST;

    /// Rows summed side by side.
    const GROUP: usize = 8;
    /// Groups after which one that is asked for now is summed.
    const LATER: usize = 4;

    /// # Safety
    /// See the only caller.
    #[target_feature(enable = "avx2,popcnt")]
    pub unsafe fn divide<const W: usize>(
        rough: &[i16],
        along: &[i16],
        margin: i32,
        ids: &mut [u32],
        spare: &mut [u32],
        exactly: impl Fn(u32) -> bool,
    ) -> usize {
        let m = ids.len() - super::SLACK;
        // SAFETY: the caller's promise: W registers of a direction, and no more than m + SLACK numbers either way.
        unsafe {
            let direction = Direction::<W>::new(along);
            let margin = _mm256_set1_epi32(margin);
            let behind = _mm256_loadu_si256(ids.as_ptr().add(m).cast());
            let (mut left, mut right, mut i) = (0, 0, 0);
            while i < m {
                let there = 0xff >> (GROUP - (m - i).min(GROUP));
                let here = ids.as_ptr().add(i);
                let sums = sums::<W>(
                    rough,
                    &direction,
                    (here, if i + 2 * GROUP <= m { here.add(GROUP) } else { here }),
                );
                let mut below = set(sums);
                let near = !set(_mm256_cmpgt_epi32(_mm256_abs_epi32(sums), margin)) & there;
                if near != 0 {
                    below = looked_at_again(below, near, &ids[i..i + GROUP], &exactly);
                }
                let (below, above) = (below & there, !below & there);
                let group = _mm256_loadu_si256(ids.as_ptr().add(i).cast());
                append(group, below, ids.as_mut_ptr().add(left));
                append(group, above, spare.as_mut_ptr().add(right));
                left += below.count_ones() as usize;
                right += above.count_ones() as usize;
                i += GROUP;
            }
            ids[left..m].copy_from_slice(&spare[..right]);
            _mm256_storeu_si256(ids.as_mut_ptr().add(m).cast(), behind);
            left
        }
    }

    /// # Safety
    /// See the only caller.
    #[target_feature(enable = "avx2")]
    pub unsafe fn project<const W: usize>(
        rough: &[i16],
        along: &[i16],
        ids: &[u32],
        out: &mut [f32],
    ) -> (f32, f32) {
        let (mut lows, mut highs) = (_mm256_set1_ps(f32::INFINITY), _mm256_set1_ps(f32::NEG_INFINITY));
        let (groups, rest) = ids.as_chunks::<GROUP>();
        let (outs, rest_out) = out.as_chunks_mut::<GROUP>();
        // SAFETY: the caller's promise: W registers of a direction, and rows that are there.
        unsafe {
            let direction = Direction::<W>::new(along);
            for (at, (ids, out)) in groups.iter().zip(outs).enumerate() {
                let next = groups.get(at + 1).unwrap_or(ids);
                if let Some(later) = groups.get(at + LATER).filter(|_| W > 0) {
                    for &id in later {
                        _mm_prefetch::<_MM_HINT_T0>(rough.as_ptr().add(id as usize * along.len()).cast());
                    }
                }
                let sums = _mm256_cvtepi32_ps(sums::<W>(rough, &direction, (ids.as_ptr(), next.as_ptr())));
                (lows, highs) = (_mm256_min_ps(lows, sums), _mm256_max_ps(highs, sums));
                _mm256_storeu_ps(out.as_mut_ptr(), sums);
            }
            if let Some(&last) = rest.last() {
                // The last row again and again, so that a whole group is there.
                let mut group = [last; GROUP];
                group[..rest.len()].copy_from_slice(rest);
                let sums = _mm256_cvtepi32_ps(sums::<W>(rough, &direction, (group.as_ptr(), group.as_ptr())));
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

    /// A direction of W registers, or with W = 0 of any number of them.
    struct Direction<'a, const W: usize> {
        few: [__m256i; W],
        all: &'a [i16],
    }

    impl<'a, const W: usize> Direction<'a, W> {
        /// # Safety
        /// `all` has at least W registers.
        #[target_feature(enable = "avx2")]
        #[inline]
        unsafe fn new(all: &'a [i16]) -> Self {
            let mut few = [_mm256_setzero_si256(); W];
            for (w, register) in few.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                *register = unsafe { _mm256_loadu_si256(all.as_ptr().add(w * WIDTH).cast()) };
            }
            Direction { few, all }
        }

        /// Products with a group of rows, eight sums of each still to be added up.
        ///
        /// # Safety
        /// The group's rows are there, each as long as the direction.
        #[target_feature(enable = "avx2")]
        #[inline]
        unsafe fn products(&self, rough: &[i16], ids: *const u32, next: *const u32) -> [__m256i; GROUP] {
            let mut sums = [_mm256_setzero_si256(); GROUP];
            let mut rows = [rough.as_ptr(); GROUP];
            // SAFETY: the caller's promise.
            unsafe {
                for (slot, row) in rows.iter_mut().enumerate() {
                    *row = row.add(*ids.add(slot) as usize * self.all.len());
                }
                if W == 0 {
                    // Each part of the direction is read once for the group; the next group is asked for meanwhile.
                    let mut ahead = [rough.as_ptr(); GROUP];
                    for (slot, row) in ahead.iter_mut().enumerate() {
                        *row = row.add(*next.add(slot) as usize * self.all.len());
                    }
                    for at in (0..self.all.len()).step_by(WIDTH) {
                        if at % (2 * WIDTH) == 0 {
                            for row in ahead {
                                _mm_prefetch::<_MM_HINT_T0>(row.add(at).cast());
                            }
                        }
                        let along = _mm256_loadu_si256(self.all.as_ptr().add(at).cast());
                        for (sum, row) in sums.iter_mut().zip(rows) {
                            let product = _mm256_madd_epi16(_mm256_loadu_si256(row.add(at).cast()), along);
                            *sum = _mm256_add_epi32(*sum, product);
                        }
                    }
                } else {
                    for (sum, row) in sums.iter_mut().zip(rows) {
                        *sum = _mm256_madd_epi16(_mm256_loadu_si256(row.cast()), self.few[0]);
                        for (w, &along) in self.few.iter().enumerate().skip(1) {
                            let part = _mm256_loadu_si256(row.add(w * WIDTH).cast());
                            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(part, along));
                        }
                    }
                }
            }
            sums
        }
    }

    /// The rows of the set, side by side at `to`; what comes behind them there means nothing.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn append(group: __m256i, set: usize, to: *mut u32) {
        // SAFETY: the caller has room for a group there.
        unsafe {
            let order = _mm256_loadu_si256(CHOSEN_FIRST[set].as_ptr().cast());
            _mm256_storeu_si256(to.cast(), _mm256_permutevar8x32_epi32(group, order));
        }
    }

    #[cold]
    fn looked_at_again(
        mut below: usize,
        mut near: usize,
        ids: &[u32],
        exactly: &impl Fn(u32) -> bool,
    ) -> usize {
        while near != 0 {
            let slot = near.trailing_zeros() as usize;
            near &= near - 1;
            below = below & !(1 << slot) | usize::from(exactly(ids[slot])) << slot;
        }
        below
    }

    /// The numbers with their highest bit set.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn set(numbers: __m256i) -> usize {
        _mm256_movemask_ps(_mm256_castsi256_ps(numbers)) as usize
    }

    /// Rough sums of a group of rows.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn sums<const W: usize>(
        rough: &[i16],
        direction: &Direction<W>,
        (ids, next): (*const u32, *const u32),
    ) -> __m256i {
        // SAFETY: the caller's promise.
        let rows = unsafe { direction.products(rough, ids, next) };
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
