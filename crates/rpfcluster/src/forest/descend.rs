//! Narrow rows going down a grown tree, each on its own way: nothing is moved, and a row costs what its own path is long.
//!
//! Some rows are under way at a time, one step each in turn, so that no step waits for the one before; a row that has
//! reached its leaf makes room for the next. Needs AVX2 and 5 to 15 columns; everything else goes in blocks (`route`).
//! The sums are those of `project`: the same products, added in the same order, hence the same bits, but for the sign
//! of a zero, which no comparison sees.

use super::project::Rows;
use super::tree::Tree;
use crate::points::Real;

/// The inner nodes of a tree, as a walk needs them: directions padded like the rows.
#[derive(Default)]
pub(crate) struct Steps<R> {
    directions: Vec<R>,
    cuts: Vec<R>,
}

impl<R: Real> Steps<R> {
    pub fn clear(&mut self) {
        self.directions.clear();
        self.cuts.clear();
    }

    /// Adds the next inner node; `direction` is padded with zeros to `stride` at least.
    pub fn push(&mut self, direction: &[R], stride: usize, cut: R) {
        self.directions.extend_from_slice(&direction[..stride]);
        self.cuts.push(cut);
    }
}

/// Values a row takes up, where rows of this kind can go down on their own here.
pub(crate) fn stride<R: Real>(rows: &Rows<R>) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Rows::Padded { stride: stride @ (8 | 16), .. } = rows
        && std::arch::is_x86_feature_detected!("avx2")
    {
        return Some(*stride);
    }
    let _ = rows;
    None
}

/// The leaves of the rows from `first` on; only for rows that have a [`stride`].
pub(crate) fn descend<R: Real>(
    tree: &Tree,
    steps: &Steps<R>,
    rows: &Rows<R>,
    first: usize,
    leaves: &mut [u32],
) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(stride), Rows::Padded { values, first: begin, .. }) = (stride(rows), rows) {
        let values = &values[begin + first * stride..][..leaves.len() * stride];
        let nodes = tree.right.len();
        // The walk reads by address; every number it can come to is checked here.
        assert!(steps.cuts.len() == nodes && steps.directions.len() == nodes * stride);
        assert!(tree.right.iter().all(|&right| right as usize <= nodes));
        if nodes == 0 {
            return leaves.fill(0);
        }
        // SAFETY: the processor has the instructions, which `stride` says. The slices are as long as the assertions
        // say, and a node is the next one or a `right`, and is looked at only while it is below `nodes`.
        #[allow(unsafe_code)]
        unsafe {
            match stride {
                8 => avx2::walk::<R, 8>(values, steps, &tree.right, leaves),
                _ => avx2::walk::<R, 16>(values, steps, &tree.right, leaves),
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::Steps;
    use crate::points::{Precision, Real};

    /// Rows of one group, and groups under way at a time.
    const WIDTH: usize = 8;
    const GROUPS: usize = 4;
    /// The end of the subtree of a place where nobody is.
    const NOBODY: u32 = u32::MAX;

    /// Where eight rows stand: inner nodes `node..end` of the subtree, its first leaf, and which rows they are. A place
    /// where nobody is takes the first step of row 0 again and again.
    #[derive(Clone, Copy)]
    #[repr(align(32))]
    struct Eight {
        node: [u32; WIDTH],
        end: [u32; WIDTH],
        leaf: [u32; WIDTH],
        row: [u32; WIDTH],
    }

    impl Eight {
        /// Puts the next row into the place, if there is one; tells whether there was.
        fn enter(&mut self, slot: usize, next: &mut u32, n: u32, nodes: u32) -> bool {
            let there = *next < n;
            (self.node[slot], self.leaf[slot]) = (0, 0);
            (self.row[slot], self.end[slot]) = if there { (*next, nodes) } else { (0, NOBODY) };
            *next += u32::from(there);
            there
        }
    }

    /// # Safety
    /// AVX2; `values` holds `leaves.len()` rows of `S` values; directions, cuts and `right` are of the same nodes, at
    /// least one, and no `right` is beyond their number.
    #[target_feature(enable = "avx2")]
    #[allow(unsafe_code)]
    pub unsafe fn walk<R: Real, const S: usize>(
        values: &[R],
        steps: &Steps<R>,
        right: &[u32],
        leaves: &mut [u32],
    ) {
        let (n, nodes) = (leaves.len() as u32, right.len() as u32);
        let nowhere = Eight { node: [0; WIDTH], end: [NOBODY; WIDTH], leaf: [0; WIDTH], row: [0; WIDTH] };
        let mut groups = [nowhere; GROUPS];
        let (mut next, mut live) = (0, 0);
        for group in &mut groups {
            for slot in 0..WIDTH {
                live += usize::from(group.enter(slot, &mut next, n, nodes));
            }
        }
        while live > 0 {
            for group in &mut groups {
                // SAFETY: see above; rows are below n, nodes below `nodes`: who has reached the end leaves at once.
                let mut done = unsafe {
                    let below = match R::PRECISION {
                        Precision::F32 => below_f32::<S>(values.as_ptr().cast(), address(steps), group),
                        Precision::F64 => below_f64::<S>(values.as_ptr().cast(), address(steps), group),
                    };
                    go_on(right, group, below)
                };
                while done != 0 {
                    let slot = done.trailing_zeros() as usize;
                    done &= done - 1;
                    let left = group.end[slot] != NOBODY;
                    if left {
                        leaves[group.row[slot] as usize] = group.leaf[slot];
                    }
                    let came = group.enter(slot, &mut next, n, nodes);
                    live -= usize::from(left && !came);
                }
            }
        }
    }

    fn address<R, T>(steps: &Steps<R>) -> (*const T, *const T) {
        (steps.directions.as_ptr().cast(), steps.cuts.as_ptr().cast())
    }

    /// Which of the rows have a projection below the cut of their node; all bits of a number set, or none.
    #[target_feature(enable = "avx2")]
    #[inline]
    #[allow(unsafe_code)]
    unsafe fn below_f32<const S: usize>(
        values: *const f32,
        (directions, cuts): (*const f32, *const f32),
        at: &Eight,
    ) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let lanes = |slot: usize| {
                let (row, along) =
                    (values.add(at.row[slot] as usize * S), directions.add(at.node[slot] as usize * S));
                let low = _mm256_mul_ps(_mm256_loadu_ps(row), _mm256_loadu_ps(along));
                if S == 8 {
                    return low;
                }
                let high = _mm256_mul_ps(_mm256_loadu_ps(row.add(8)), _mm256_loadu_ps(along.add(8)));
                _mm256_add_ps(low, high)
            };
            // l + (l + 4), two rows in one register.
            let fours = |a: __m256, b: __m256| {
                _mm256_add_ps(_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b))
            };
            // l + (l + 2), four rows in one register.
            let twos = |a: __m256, b: __m256| {
                _mm256_add_ps(_mm256_shuffle_ps::<0x44>(a, b), _mm256_shuffle_ps::<0xEE>(a, b))
            };
            let one = twos(fours(lanes(0), lanes(4)), fours(lanes(1), lanes(5)));
            let two = twos(fours(lanes(2), lanes(6)), fours(lanes(3), lanes(7)));
            let sums =
                _mm256_add_ps(_mm256_shuffle_ps::<0x88>(one, two), _mm256_shuffle_ps::<0xDD>(one, two));
            let cut = _mm256_i32gather_ps::<4>(cuts, _mm256_load_si256(at.node.as_ptr().cast()));
            _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(sums, cut))
        }
    }

    /// The same in f64: four rows make a register.
    #[target_feature(enable = "avx2")]
    #[inline]
    #[allow(unsafe_code)]
    unsafe fn below_f64<const S: usize>(
        values: *const f64,
        (directions, cuts): (*const f64, *const f64),
        at: &Eight,
    ) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            // l + (l + 8), then l + (l + 4).
            let lanes = |slot: usize| {
                let (row, along) =
                    (values.add(at.row[slot] as usize * S), directions.add(at.node[slot] as usize * S));
                let product = |from: usize| {
                    _mm256_mul_pd(_mm256_loadu_pd(row.add(from)), _mm256_loadu_pd(along.add(from)))
                };
                if S == 8 {
                    return _mm256_add_pd(product(0), product(4));
                }
                _mm256_add_pd(_mm256_add_pd(product(0), product(8)), _mm256_add_pd(product(4), product(12)))
            };
            // l + (l + 2), two rows in one register.
            let twos = |a: __m256d, b: __m256d| {
                _mm256_add_pd(_mm256_permute2f128_pd::<0x20>(a, b), _mm256_permute2f128_pd::<0x31>(a, b))
            };
            let half = |first: usize| {
                let (one, two) =
                    (twos(lanes(first), lanes(first + 2)), twos(lanes(first + 1), lanes(first + 3)));
                let sums = _mm256_add_pd(_mm256_unpacklo_pd(one, two), _mm256_unpackhi_pd(one, two));
                let node = _mm_load_si128(at.node.as_ptr().add(first).cast());
                _mm256_castpd_ps(_mm256_cmp_pd::<_CMP_LT_OQ>(sums, _mm256_i32gather_pd::<8>(cuts, node)))
            };
            let halves = _mm256_shuffle_ps::<0x88>(half(0), half(4));
            _mm256_permute4x64_epi64::<0xD8>(_mm256_castps_si256(halves))
        }
    }

    /// Every row to the child on its side; the bits of those that are done, and of places where nobody is.
    #[target_feature(enable = "avx2")]
    #[inline]
    #[allow(unsafe_code)]
    unsafe fn go_on(right: &[u32], at: &mut Eight, below: __m256i) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            let node = _mm256_load_si256(at.node.as_ptr().cast());
            let end = _mm256_load_si256(at.end.as_ptr().cast());
            let leaf = _mm256_load_si256(at.leaf.as_ptr().cast());
            let right = _mm256_i32gather_epi32::<4>(right.as_ptr().cast(), node);
            let nobody = _mm256_cmpeq_epi32(end, _mm256_set1_epi32(-1));
            let end = _mm256_blendv_epi8(end, right, _mm256_andnot_si256(nobody, below));
            let past = _mm256_andnot_si256(below, _mm256_sub_epi32(right, node));
            let node = _mm256_blendv_epi8(right, _mm256_add_epi32(node, _mm256_set1_epi32(1)), below);
            _mm256_store_si256(at.node.as_mut_ptr().cast(), node);
            _mm256_store_si256(at.end.as_mut_ptr().cast(), end);
            _mm256_store_si256(at.leaf.as_mut_ptr().cast(), _mm256_add_epi32(leaf, past));
            let done = _mm256_or_si256(_mm256_cmpeq_epi32(node, end), nobody);
            _mm256_movemask_ps(_mm256_castsi256_ps(done)) as u32
        }
    }
}
