//! Narrow rows going down a grown tree, each on its own way: nothing is moved, and a row costs what its own path is long.
//!
//! Some rows are under way at a time, one step each in turn, so that no step waits for the one before; a row that has
//! reached its leaf makes room for the next. Needs AVX2, f32, and 5 to 15 columns; everything else goes in blocks
//! (`route`). The sums are those of `project`: the same products, added in the same order, hence the same bits, but
//! for the sign of a zero, which no comparison sees.

use super::project::Rows;
use super::tree::Tree;
use crate::points::{Precision, Real};

/// The inner nodes of a tree, as a walk needs them: directions padded like the rows.
#[derive(Default)]
pub(crate) struct Steps {
    directions: Vec<f32>,
    cuts: Vec<f32>,
}

impl Steps {
    pub fn clear(&mut self) {
        self.directions.clear();
        self.cuts.clear();
    }

    /// Adds the next inner node; `direction` is padded with zeros to `stride` at least.
    pub fn push<R: Real>(&mut self, direction: &[R], stride: usize, cut: R) {
        self.directions.extend(direction[..stride].iter().map(|v| v.to_f64() as f32));
        self.cuts.push(cut.to_f64() as f32);
    }
}

/// Values a row takes up, where rows of this kind can go down on their own here.
pub(crate) fn stride<R: Real>(rows: &Rows<R>) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Rows::Padded { stride: stride @ (8 | 16), .. } = rows
        && R::PRECISION == Precision::F32
        && std::arch::is_x86_feature_detected!("avx2")
    {
        return Some(*stride);
    }
    let _ = rows;
    None
}

/// The leaves of the rows from `first` on; only for rows that have a [`stride`].
pub(crate) fn descend<R: Real>(tree: &Tree, steps: &Steps, rows: &Rows<R>, first: usize, leaves: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(stride), Rows::Padded { values, first: begin, .. }) = (stride(rows), rows) {
        let values = &values[begin + first * stride..][..leaves.len() * stride];
        let nodes = tree.right.len();
        // The walk reads by address; every number it can come to is checked here and by `Tree::check`.
        assert!(steps.cuts.len() == nodes && steps.directions.len() == nodes * stride);
        assert!(tree.right.iter().all(|&right| right as usize <= nodes));
        if nodes == 0 {
            return leaves.fill(0);
        }
        // SAFETY: the processor has the instructions and R is f32, which `stride` says. The slices are as long as the
        // assertions say, and a node is the next one or a `right`, and is looked at only while it is below `nodes`.
        #[allow(unsafe_code)]
        unsafe {
            let values = std::slice::from_raw_parts(values.as_ptr().cast::<f32>(), values.len());
            match stride {
                8 => avx2::walk::<8>(values, steps, &tree.right, leaves),
                _ => avx2::walk::<16>(values, steps, &tree.right, leaves),
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::Steps;

    /// Rows of one register, and registers under way at a time.
    const WIDTH: usize = 8;
    const GROUPS: usize = 4;

    /// Where eight rows stand: inner nodes `node..end` of the subtree, its first leaf, and which rows they are.
    #[derive(Clone, Copy)]
    #[repr(align(32))]
    struct Eight {
        node: [u32; WIDTH],
        end: [u32; WIDTH],
        leaf: [u32; WIDTH],
        row: [u32; WIDTH],
    }

    /// # Safety
    /// AVX2; `values` holds `leaves.len()` rows of `S` values; directions, cuts and `right` are of the same nodes, at
    /// least one, and no `right` is beyond their number.
    #[target_feature(enable = "avx2")]
    #[allow(unsafe_code)]
    pub unsafe fn walk<const S: usize>(values: &[f32], steps: &Steps, right: &[u32], leaves: &mut [u32]) {
        let n = leaves.len() as u32;
        let nodes = right.len() as u32;
        let begin = |row: u32| if row < n { (row, nodes) } else { (n, 0) };
        // A place without a row repeats the first step of row 0 and is never done: its end is out of reach.
        let mut places =
            [Eight { node: [0; WIDTH], end: [u32::MAX; WIDTH], leaf: [0; WIDTH], row: [0; WIDTH] }; GROUPS];
        let mut next = 0;
        let mut live = 0;
        for place in &mut places {
            for slot in 0..WIDTH {
                let (row, end) = begin(next);
                if end > 0 {
                    (place.row[slot], place.end[slot]) = (row, end);
                    next += 1;
                    live += 1;
                }
            }
        }
        while live > 0 {
            for place in &mut places {
                // SAFETY: see above; rows are below n, nodes below `nodes`.
                let done = unsafe { step::<S>(values, steps, right, place) };
                let mut done = done as u32;
                while done != 0 {
                    let slot = done.trailing_zeros() as usize;
                    done &= done - 1;
                    if place.end[slot] == u32::MAX {
                        // Nobody is here.
                        place.node[slot] = 0;
                        continue;
                    }
                    leaves[place.row[slot] as usize] = place.leaf[slot];
                    (place.node[slot], place.leaf[slot]) = (0, 0);
                    if next < n {
                        (place.row[slot], place.end[slot]) = (next, nodes);
                        next += 1;
                    } else {
                        (place.row[slot], place.end[slot]) = (0, u32::MAX);
                        live -= 1;
                    }
                }
            }
        }
    }

    /// One step of eight rows; the bits of those that are done, and of those that must not go on.
    #[target_feature(enable = "avx2")]
    #[inline]
    #[allow(unsafe_code)]
    unsafe fn step<const S: usize>(values: &[f32], steps: &Steps, right: &[u32], place: &mut Eight) -> i32 {
        // SAFETY: the caller's promise.
        unsafe {
            let lanes = |slot: usize| {
                let row = values.as_ptr().add(place.row[slot] as usize * S);
                let along = steps.directions.as_ptr().add(place.node[slot] as usize * S);
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
            let left = twos(fours(lanes(0), lanes(4)), fours(lanes(1), lanes(5)));
            let rest = twos(fours(lanes(2), lanes(6)), fours(lanes(3), lanes(7)));
            let sums =
                _mm256_add_ps(_mm256_shuffle_ps::<0x88>(left, rest), _mm256_shuffle_ps::<0xDD>(left, rest));

            let node = _mm256_load_si256(place.node.as_ptr().cast());
            let end = _mm256_load_si256(place.end.as_ptr().cast());
            let leaf = _mm256_load_si256(place.leaf.as_ptr().cast());
            let cut = _mm256_i32gather_ps::<4>(steps.cuts.as_ptr(), node);
            let right = _mm256_i32gather_epi32::<4>(right.as_ptr().cast(), node);
            let below = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(sums, cut));
            let next = _mm256_add_epi32(node, _mm256_set1_epi32(1));
            let past = _mm256_andnot_si256(below, _mm256_sub_epi32(right, node));
            let empty = _mm256_cmpeq_epi32(end, _mm256_set1_epi32(-1));
            let end = _mm256_blendv_epi8(end, right, _mm256_andnot_si256(empty, below));
            let node = _mm256_blendv_epi8(right, next, below);
            _mm256_store_si256(place.node.as_mut_ptr().cast(), node);
            _mm256_store_si256(place.end.as_mut_ptr().cast(), end);
            _mm256_store_si256(place.leaf.as_mut_ptr().cast(), _mm256_add_epi32(leaf, past));
            let done = _mm256_or_si256(_mm256_cmpeq_epi32(node, end), empty);
            _mm256_movemask_ps(_mm256_castsi256_ps(done))
        }
    }
}
