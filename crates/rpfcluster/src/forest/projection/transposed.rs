//! The rows of a subtree that fits the cache, column by column: growing and routing go through them with full-width
//! instructions, and every cut moves the rows themselves, so that a node's rows always lie side by side.
//!
//! The sums are those of `project`: the same products, added in the same order, hence the same bits.

use std::ops::Range;

use crate::forest::projection::fixed_order::{DirectionVector, LANES, Rows, extremes};
use crate::points::Real;
use crate::simd::stable_partition::{Moved, Spare, partition};

/// Rows summed side by side.
const WIDTH: usize = 8;

/// Some rows, side by side in columns.
pub(crate) struct Columns<R> {
    /// Column after column, each `stride` long; a column ends with at least `WIDTH` values that mean nothing.
    values: Vec<R>,
    d: usize,
    stride: usize,
    /// The number of each row, moved along.
    pub ids: Vec<u32>,
    projections: Vec<R>,
    spare: Spare<R>,
}

impl<R: Real> Default for Columns<R> {
    fn default() -> Self {
        Columns {
            values: Vec::new(),
            d: 0,
            stride: 0,
            ids: Vec::new(),
            projections: Vec::new(),
            spare: Spare::default(),
        }
    }
}

impl<R: Real> Columns<R> {
    /// The most rows to take together: as many as fit the cache of one core next to everything else; 0 where the
    /// rows are too wide for it to pay.
    pub fn most(rows: &Rows<R>, d: usize) -> usize {
        const CACHE: usize = 768 << 10;
        if rows.dense_width().is_some() && d <= 4 * LANES { CACHE / ((d + 1) * size_of::<R>()) } else { 0 }
    }

    /// Takes these rows in; whatever was here is forgotten.
    pub fn load(&mut self, rows: &Rows<R>, d: usize, ids: &[u32]) {
        let m = ids.len();
        self.d = d;
        self.stride = m + WIDTH;
        self.ids.clear();
        self.ids.extend_from_slice(ids);
        // What is left from before is overwritten, or is never looked at.
        if self.values.len() < d * self.stride {
            self.values.resize(d * self.stride, R::default());
        }
        if self.projections.len() < m + WIDTH {
            self.projections.resize(m + WIDTH, R::default());
        }
        rows.transpose(ids, self.stride, &mut self.values[..d * self.stride]);
    }

    /// Projects the rows of a node, kept until the next node is; returns the smallest and the largest.
    pub fn project(&mut self, node: &Range<usize>, direction: &DirectionVector<R>) -> (R, R) {
        self.project_along(node, &direction.dense[..self.d]);
        ends(&self.projections[..node.len()])
    }

    /// The same for a direction of `d` values where the ends are not asked for.
    pub fn project_along(&mut self, node: &Range<usize>, direction: &[R]) {
        let out = &mut self.projections[..node.len().next_multiple_of(WIDTH)];
        project((&self.values[..self.d * self.stride], self.stride, node.start), direction, out);
    }

    /// The projections made last, of `m` rows.
    pub fn projections(&self, m: usize) -> &[R] {
        &self.projections[..m]
    }

    /// Divides the node at the cut by the projections made last; returns how many rows are below.
    pub fn divide(&mut self, node: &Range<usize>, cut: R) -> usize {
        let moved = Moved {
            ids: &mut self.ids[node.clone()],
            columns: &mut self.values[..self.d * self.stride],
            stride: self.stride,
            at: node.start,
        };
        partition(moved, &self.projections, cut, &mut self.spare)
    }
}

type Place<'a, R> = (&'a [R], usize, usize);

fn project<R: Real>(from: Place<R>, direction: &[R], out: &mut [R]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions the function is compiled for; nothing else is asked.
        #[allow(unsafe_code)]
        return unsafe { project_avx2(from, direction, out) };
    }
    project_any(from, direction, out);
}

/// The same code compiled for wider registers: same sums, same order, same bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn project_avx2<R: Real>(from: Place<R>, direction: &[R], out: &mut [R]) {
    project_any(from, direction, out);
}

#[inline(always)]
fn project_any<R: Real>(from: Place<R>, direction: &[R], out: &mut [R]) {
    macro_rules! by_width {
        ($($d:literal)*) => {
            match direction.len() {
                $($d => blocks::<R, $d>(from, direction, out),)*
                _ => blocks::<R, 0>(from, direction, out),
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
}

/// `D` columns, known beforehand so that the loops unroll; 0 when they are as many as the direction is long.
#[inline(always)]
fn blocks<R: Real, const D: usize>((values, stride, at): Place<R>, direction: &[R], out: &mut [R]) {
    let d = if D == 0 { direction.len() } else { D };
    let direction = &direction[..d];
    for (block, out) in out.as_chunks_mut::<WIDTH>().0.iter_mut().enumerate() {
        let i = at + block * WIDTH;
        // The tree of sums of `project`, from the leaves up: lane l is every sixteenth column from l on.
        let even = add(fourth(values, stride, i, direction, 0), fourth(values, stride, i, direction, 2));
        let odd = add(fourth(values, stride, i, direction, 1), fourth(values, stride, i, direction, 3));
        *out = add(add(even, odd), [R::default(); WIDTH]);
    }
}

/// Lanes l, l + 8, l + 4 and l + 12. A function and not a closure, which would not be compiled for wider registers.
#[inline(always)]
fn fourth<R: Real>(values: &[R], stride: usize, i: usize, direction: &[R], l: usize) -> [R; WIDTH] {
    let first = add(lane(values, stride, i, direction, l), lane(values, stride, i, direction, l + 8));
    let second = add(lane(values, stride, i, direction, l + 4), lane(values, stride, i, direction, l + 12));
    add(first, second)
}

/// One lane of the sum for `WIDTH` rows.
#[inline(always)]
fn lane<R: Real>(values: &[R], stride: usize, i: usize, direction: &[R], l: usize) -> [R; WIDTH] {
    let mut sum = [R::default(); WIDTH];
    let mut j = l;
    while j < direction.len() {
        let column = &values[j * stride + i..][..WIDTH];
        for w in 0..WIDTH {
            sum[w] = sum[w] + column[w] * direction[j];
        }
        j += LANES;
    }
    sum
}

#[inline(always)]
fn add<R: Real>(a: [R; WIDTH], b: [R; WIDTH]) -> [R; WIDTH] {
    let mut sum = a;
    for w in 0..WIDTH {
        sum[w] = a[w] + b[w];
    }
    sum
}

/// The smallest and the largest.
fn ends<R: Real>(values: &[R]) -> (R, R) {
    let first = values.first().copied().unwrap_or_default();
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn wide<R: Real>(values: &[R], first: R) -> (R, R) {
            extremes(values, first, first)
        }
        // SAFETY: the processor has the instructions.
        #[allow(unsafe_code)]
        return unsafe { wide(values, first) };
    }
    extremes(values, first, first)
}
