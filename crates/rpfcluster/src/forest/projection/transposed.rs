//! A transposed block: the rows of a subtree that fits the cache, column by column.
//!
//! Projections run over contiguous values of each column, and every cut moves the rows themselves, so that the rows of
//! a node stay contiguous. The sums have the order of `fixed_order`, hence the same bits. One projection costs m d
//! multiplications, one cut m (d + 1) moves. A block takes at most 768 KB per thread while trees grow and eight times
//! as much while rows are routed, its partition buffer as much again.

use std::ops::Range;

use crate::forest::projection::fixed_order::{DirectionVector, LANES, RowStorage, extremes};
use crate::points::Real;
use crate::simd::dispatch;
use crate::simd::stable_partition::{PartitionBuffer, RowBlock, partition};

/// Rows projected at once: an AVX2 register of f32.
const WIDTH: usize = 8;

/// Rows in column-major order.
#[derive(Default)]
pub(crate) struct TransposedBlock<R> {
    /// Columns of `stride` values; the last `WIDTH` of each are padding with unspecified content.
    values: Vec<R>,
    d: usize,
    stride: usize,
    /// The id of each row, in the order of the rows.
    pub ids: Vec<u32>,
    projections: Vec<R>,
    buffer: PartitionBuffer<R>,
}

impl<R: Real> TransposedBlock<R> {
    /// The largest number of rows of a block; 0 where rows are sparse or too wide for a block to pay.
    pub fn max_rows(rows: &RowStorage<R>, d: usize) -> usize {
        // Bytes of a block: most of a second-level cache of 1 MB.
        const CACHE: usize = 768 << 10;
        if rows.dense_width().is_some() && d <= 4 * LANES { CACHE / ((d + 1) * size_of::<R>()) } else { 0 }
    }

    /// Replaces the rows.
    pub fn load(&mut self, rows: &RowStorage<R>, d: usize, ids: &[u32]) {
        let m = ids.len();
        self.d = d;
        self.stride = m + WIDTH;
        self.ids.clear();
        self.ids.extend_from_slice(ids);
        // Old content is overwritten or is padding.
        if self.values.len() < d * self.stride {
            self.values.resize(d * self.stride, R::default());
        }
        if self.projections.len() < m + WIDTH {
            self.projections.resize(m + WIDTH, R::default());
        }
        rows.transpose(ids, self.stride, &mut self.values[..d * self.stride]);
    }

    /// Projects the rows of a node and returns the smallest and the largest projection. The projections are kept until
    /// the next call.
    pub fn project(&mut self, node: &Range<usize>, direction: &DirectionVector<R>) -> (R, R) {
        self.project_along(node, &direction.dense[..self.d]);
        extremes_of(&self.projections[..node.len()])
    }

    /// As [`TransposedBlock::project`] without the extremes, for a direction of `d` values.
    pub fn project_along(&mut self, node: &Range<usize>, direction: &[R]) {
        let out = &mut self.projections[..node.len().next_multiple_of(WIDTH)];
        let columns = ColumnView {
            values: &self.values[..self.d * self.stride],
            stride: self.stride,
            first: node.start,
        };
        project(columns, direction, out);
    }

    /// The `m` projections computed last.
    pub fn projections(&self, m: usize) -> &[R] {
        &self.projections[..m]
    }

    /// Partitions the rows of a node by the projections computed last; returns the number of rows below the cut. The values
    /// stay where they are if both sides have fewer than `min_node` rows: nothing reads them again.
    pub fn partition(&mut self, node: &Range<usize>, cut: R, min_node: usize) -> usize {
        let below = self.projections[..node.len()].iter().filter(|key| **key < cut).count();
        let ids = &mut self.ids[node.clone()];
        let rows = match below.max(node.len() - below) < min_node {
            true => RowBlock::ids(ids),
            false => RowBlock {
                ids,
                columns: &mut self.values[..self.d * self.stride],
                stride: self.stride,
                first: node.start,
            },
        };
        partition(rows, &self.projections, cut, &mut self.buffer)
    }
}

/// Columns of `stride` values, read from row `first` on.
#[derive(Clone, Copy)]
struct ColumnView<'a, R> {
    values: &'a [R],
    stride: usize,
    first: usize,
}

dispatch! {
    fn project<R: Real>(from: ColumnView<'_, R>, direction: &[R], out: &mut [R]) {
        project_by_width(from, direction, out);
    }
}

#[inline(always)]
fn project_by_width<R: Real>(from: ColumnView<R>, direction: &[R], out: &mut [R]) {
    macro_rules! by_width {
        ($($d:literal)*) => {
            match direction.len() {
                $($d => project_blocks::<R, $d>(from, direction, out),)*
                _ => project_blocks::<R, 0>(from, direction, out),
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
}

/// Projects with `D` columns, a constant so that the loops unroll; with D = 0 as many as the direction has.
#[inline(always)]
fn project_blocks<R: Real, const D: usize>(from: ColumnView<R>, direction: &[R], out: &mut [R]) {
    let ColumnView { values, stride, first } = from;
    let d = if D == 0 { direction.len() } else { D };
    let direction = &direction[..d];
    for (block, out) in out.as_chunks_mut::<WIDTH>().0.iter_mut().enumerate() {
        let i = first + block * WIDTH;
        // The reduction tree of `fixed_order`; lane l is every sixteenth column from l on.
        let even = add(quarter(values, stride, i, direction, 0), quarter(values, stride, i, direction, 2));
        let odd = add(quarter(values, stride, i, direction, 1), quarter(values, stride, i, direction, 3));
        *out = add(add(even, odd), [R::default(); WIDTH]);
    }
}

/// The sum of lanes l, l + 8, l + 4 and l + 12. Not a closure: closures are not compiled for AVX2.
#[inline(always)]
fn quarter<R: Real>(values: &[R], stride: usize, i: usize, direction: &[R], l: usize) -> [R; WIDTH] {
    let first = add(lane(values, stride, i, direction, l), lane(values, stride, i, direction, l + 8));
    let second = add(lane(values, stride, i, direction, l + 4), lane(values, stride, i, direction, l + 12));
    add(first, second)
}

/// One lane of the sums of `WIDTH` rows.
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

dispatch! {
    /// The smallest and the largest value.
    fn extremes_of<R: Real>(values: &[R]) -> (R, R) {
        let first = values.first().copied().unwrap_or_default();
        extremes(values, first, first)
    }
}
