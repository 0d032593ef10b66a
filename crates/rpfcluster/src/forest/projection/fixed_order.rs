//! Projections r·x with fixed-order summation: the bits do not depend on instruction set, batch or storage.
//!
//! Column j is added to lane j mod 16 by a multiplication and an addition, never fused. The lanes are reduced by a
//! binary tree: l + (l + 8), then 4, 2, 1. Sixteen f32 lanes are one AVX-512 register, two of AVX2 or four of SSE, and
//! the compiler vectorises the same sums on each. Absent entries are exact zeros, so padded, sparse and dense rows give
//! the same sum. O(stored values) per row; dense rows are prefetched.

use std::borrow::Cow;

use crate::forest::gaps::{CoinKey, GapRows, Moments};
use crate::points::{Points, Real, Storage};
use crate::simd::{dispatch, prefetch};

/// Lanes of a sum. Part of the definition of a projection: another value gives other bits.
pub(crate) const LANES: usize = 16;

/// Bytes of a cache line.
pub(in crate::forest) const LINE: usize = 64;

/// A direction, padded with zeros, and what rows with gaps need at its node.
#[derive(Debug, Clone, Default)]
pub(crate) struct DirectionVector<R> {
    /// `d` values, padded to a multiple of [`LANES`].
    pub dense: Vec<R>,
    /// The columns that are not zero, ascending; empty for a dense direction.
    pub support: Vec<u32>,
    /// Means and variances of the columns at the node; empty where rows have no gaps.
    pub moments: Moments<R>,
    /// The key of the coins of the node.
    pub coin: CoinKey,
}

/// The rows in the layout that projections read. Rows of fewer than 16 columns are copied and padded to 1, 2, 4, 8 or
/// 16 values, so that no row crosses a cache line; compact rows are widened; wider and sparse rows and those with gaps are
/// borrowed.
pub(crate) enum RowStorage<'a, R: Clone> {
    Padded { values: Vec<R>, stride: usize, first: usize },
    Wide { values: Cow<'a, [R]>, d: usize },
    Sparse { starts: &'a [usize], columns: &'a [u32], values: &'a [R] },
    Gaps(GapRows<'a, R>),
}

impl<'a, R: Real> RowStorage<'a, R> {
    pub fn new(points: &Points<'a, R>) -> Self {
        let d = points.d();
        match points.storage() {
            Storage::Sparse { starts, columns, values } => RowStorage::Sparse { starts, columns, values },
            Storage::Gaps { values, .. } => RowStorage::Gaps(GapRows::new(values, d)),
            Storage::Dense(values) => Self::dense_rows(Cow::Borrowed(values), points.n(), d),
            Storage::Compact(values) => Self::dense_rows(Cow::Owned(values.widened()), points.n(), d),
        }
    }

    fn dense_rows(values: Cow<'a, [R]>, n: usize, d: usize) -> Self {
        match d {
            LANES.. => RowStorage::Wide { values, d },
            _ => {
                let stride = d.next_power_of_two();
                let mut padded = vec![R::default(); n * stride + LINE / size_of::<R>()];
                // Aligned to cache lines.
                let first = padded.as_ptr().align_offset(LINE).min(LINE / size_of::<R>());
                for (to, from) in padded[first..].chunks_exact_mut(stride).zip(values.chunks_exact(d)) {
                    to[..d].copy_from_slice(from);
                }
                RowStorage::Padded { values: padded, stride, first }
            }
        }
    }

    /// The stride of dense rows.
    pub fn dense_width(&self) -> Option<usize> {
        self.dense().map(|(_, width)| width)
    }

    /// The values and the stride of dense rows.
    pub fn dense(&self) -> Option<(&[R], usize)> {
        match self {
            RowStorage::Padded { values, stride, first } => Some((&values[*first..], *stride)),
            RowStorage::Wide { values, d } => Some((values, *d)),
            RowStorage::Sparse { .. } | RowStorage::Gaps(_) => None,
        }
    }

    /// The rows, where they may have gaps.
    pub fn gaps(&self) -> Option<&GapRows<'a, R>> {
        match self {
            RowStorage::Gaps(rows) => Some(rows),
            _ => None,
        }
    }

    /// Transposes some dense rows: column j of row `ids[i]` goes to `out[j * stride + i]`. Leaves `out` unchanged for
    /// sparse rows.
    pub fn transpose(&self, ids: &[u32], stride: usize, out: &mut [R]) {
        let Some((values, width)) = self.dense() else { return };
        let d = out.len() / stride;
        for (i, &id) in ids.iter().enumerate() {
            if let Some(&next) = ids.get(i + PREFETCH_ROWS) {
                let row = &values[next as usize * width..][..d];
                row.iter().step_by(LINE / size_of::<R>()).for_each(prefetch);
            }
            let row = &values[id as usize * width..][..d];
            for (column, &value) in out.chunks_exact_mut(stride).zip(row) {
                column[i] = value;
            }
        }
    }

    /// `out[i] = r · x(ids[i])`; returns the smallest and the largest projection.
    pub fn project(&self, ids: &[u32], direction: &DirectionVector<R>, out: &mut [R]) -> (R, R) {
        project_rows(self, ids, direction, out)
    }
}

dispatch! {
    fn project_rows<R: Real>(
        rows: &RowStorage<R>,
        ids: &[u32],
        direction: &DirectionVector<R>,
        out: &mut [R],
    ) -> (R, R) {
        let r = &direction.dense[..];
        match rows {
            RowStorage::Padded { values, stride, first } => {
                let values = &values[*first..];
                match stride {
                    1 => project_each(&Padded::<R, 1>::new(values, r), ids, out),
                    2 => project_each(&Padded::<R, 2>::new(values, r), ids, out),
                    4 => project_each(&Padded::<R, 4>::new(values, r), ids, out),
                    8 => project_each(&Padded::<R, 8>::new(values, r), ids, out),
                    _ => project_each(&Padded::<R, 16>::new(values, r), ids, out),
                }
            }
            RowStorage::Wide { values, d } if direction.support.is_empty() => {
                project_each(&Wide { values, d: *d, r }, ids, out)
            }
            RowStorage::Wide { values, d } => {
                project_each(&SparseDirection { values, d: *d, r, support: &direction.support }, ids, out)
            }
            RowStorage::Sparse { starts, columns, values } => {
                project_each(&SparseRows { starts, columns, values, r }, ids, out)
            }
            RowStorage::Gaps(rows) => rows.project(ids, direction, out),
        }
    }
}

/// The dot product of a row and a direction, reduced to eight lanes. A trait and not a closure: closures are not
/// compiled for AVX2.
trait Dot<R> {
    fn lanes(&self, id: usize) -> [R; 8];
    /// Prefetches a row.
    fn prefetch_row(&self, id: usize);
}

/// Rows between the prefetch of a row and its use: covers the memory latency, and the rows are still in the cache.
const PREFETCH_ROWS: usize = 16;
/// Largest number of rows that are projected one by one; a batch would cost more than it saves.
const UNBATCHED: usize = 8;
/// Rows per batch. The lanes of 64 rows in f64 take 4 KB of the first-level cache.
const BATCH: usize = 64;

/// Projects each row and returns the extremes. Adding zero turns -0 into +0, so that equal rows have equal bits.
///
/// The lanes are reduced for a batch of rows, one level of the tree at a time; the compiler vectorises each level.
#[inline(always)]
fn project_each<R: Real>(rows: &impl Dot<R>, ids: &[u32], out: &mut [R]) -> (R, R) {
    let zero = R::default();
    if ids.len() <= UNBATCHED {
        for (out, &id) in out.iter_mut().zip(ids) {
            let eight = rows.lanes(id as usize);
            let four: [R; 4] = std::array::from_fn(|l| eight[l] + eight[l + 4]);
            *out = (four[0] + four[2]) + (four[1] + four[3]) + zero;
        }
        return out.first().map_or_else(Default::default, |&first| extremes(out, first, first));
    }
    let mut eights = [[zero; 8]; BATCH];
    let mut fours = [[zero; 4]; BATCH];
    let mut twos = [[zero; 2]; BATCH];
    let mut range: Option<(R, R)> = None;
    for (batch, (ids_here, out)) in ids.chunks(BATCH).zip(out.chunks_mut(BATCH)).enumerate() {
        let size = ids_here.len();
        let ahead = ids.get(batch * BATCH + PREFETCH_ROWS..).unwrap_or_default();
        for ((lanes, &id), next) in
            eights.iter_mut().zip(ids_here).zip(ahead.iter().map(Some).chain(std::iter::repeat(None)))
        {
            if let Some(&next) = next {
                rows.prefetch_row(next as usize);
            }
            *lanes = rows.lanes(id as usize);
        }
        for (four, eight) in fours[..size].iter_mut().zip(&eights) {
            for l in 0..4 {
                four[l] = eight[l] + eight[l + 4];
            }
        }
        for (two, four) in twos[..size].iter_mut().zip(&fours) {
            for l in 0..2 {
                two[l] = four[l] + four[l + 2];
            }
        }
        for (out, two) in out.iter_mut().zip(&twos) {
            *out = (two[0] + two[1]) + zero;
        }
        let (low, high) = range.unwrap_or((out[0], out[0]));
        range = Some(extremes(out, low, high));
    }
    range.unwrap_or_default()
}

/// The smallest and the largest of `values`, `low` and `high`, eight values at a time.
#[inline(always)]
pub(crate) fn extremes<R: Real>(values: &[R], mut low: R, mut high: R) -> (R, R) {
    let (whole, rest) = values.as_chunks::<8>();
    let (mut lows, mut highs) = ([low; 8], [high; 8]);
    for chunk in whole {
        for l in 0..8 {
            lows[l] = if chunk[l] < lows[l] { chunk[l] } else { lows[l] };
            highs[l] = if chunk[l] > highs[l] { chunk[l] } else { highs[l] };
        }
    }
    for &p in rest.iter().chain(&lows).chain(&highs) {
        low = if p < low { p } else { low };
        high = if p > high { p } else { high };
    }
    (low, high)
}

/// Dot products of rows padded to `S` values.
struct Padded<'a, R, const S: usize> {
    rows: &'a [[R; S]],
    r: [R; S],
}

impl<'a, R: Real, const S: usize> Padded<'a, R, S> {
    #[inline(always)]
    fn new(values: &'a [R], direction: &[R]) -> Self {
        let mut r = [R::default(); S];
        r.copy_from_slice(&direction[..S]);
        Padded { rows: values.as_chunks::<S>().0, r }
    }
}

impl<R: Real, const S: usize> Dot<R> for Padded<'_, R, S> {
    #[inline(always)]
    fn lanes(&self, id: usize) -> [R; 8] {
        let row = &self.rows[id];
        let mut lanes = [R::default(); 8];
        for l in 0..S.min(8) {
            lanes[l] = row[l] * self.r[l];
        }
        for l in 8..S {
            lanes[l - 8] = lanes[l - 8] + row[l] * self.r[l];
        }
        lanes
    }

    #[inline(always)]
    fn prefetch_row(&self, id: usize) {
        if let Some(row) = self.rows.get(id) {
            prefetch(row);
        }
    }
}

/// Dot products of rows of 16 columns or more.
struct Wide<'a, R> {
    values: &'a [R],
    d: usize,
    r: &'a [R],
}

impl<R: Real> Dot<R> for Wide<'_, R> {
    #[inline(always)]
    fn lanes(&self, id: usize) -> [R; 8] {
        let row = &self.values[id * self.d..(id + 1) * self.d];
        let mut lanes = [R::default(); LANES];
        let (xs, tail) = row.as_chunks::<LANES>();
        let (rs, _) = self.r.as_chunks::<LANES>();
        for (x, r) in xs.iter().zip(rs) {
            for l in 0..LANES {
                lanes[l] = lanes[l] + x[l] * r[l];
            }
        }
        if !tail.is_empty() {
            let mut padded = [R::default(); LANES];
            padded[..tail.len()].copy_from_slice(tail);
            let last = &rs[xs.len()];
            for l in 0..LANES {
                lanes[l] = lanes[l] + padded[l] * last[l];
            }
        }
        halve(lanes)
    }

    #[inline(always)]
    fn prefetch_row(&self, id: usize) {
        prefetch(&self.values[id * self.d]);
    }
}

/// Dot products of dense rows with a sparse direction.
struct SparseDirection<'a, R> {
    values: &'a [R],
    d: usize,
    r: &'a [R],
    support: &'a [u32],
}

impl<R: Real> Dot<R> for SparseDirection<'_, R> {
    #[inline(always)]
    fn lanes(&self, id: usize) -> [R; 8] {
        let row = &self.values[id * self.d..(id + 1) * self.d];
        let mut lanes = [R::default(); LANES];
        for &j in self.support {
            let (j, lane) = (j as usize, j as usize % LANES);
            lanes[lane] = lanes[lane] + row[j] * self.r[j];
        }
        halve(lanes)
    }

    #[inline(always)]
    fn prefetch_row(&self, id: usize) {
        for &j in self.support {
            prefetch(&self.values[id * self.d + j as usize]);
        }
    }
}

/// Dot products of CSR rows.
struct SparseRows<'a, R> {
    starts: &'a [usize],
    columns: &'a [u32],
    values: &'a [R],
    r: &'a [R],
}

impl<R: Real> Dot<R> for SparseRows<'_, R> {
    #[inline(always)]
    fn lanes(&self, id: usize) -> [R; 8] {
        let mut lanes = [R::default(); LANES];
        let range = self.starts[id]..self.starts[id + 1];
        for (&j, &x) in self.columns[range.clone()].iter().zip(&self.values[range]) {
            let (j, lane) = (j as usize, j as usize % LANES);
            lanes[lane] = lanes[lane] + x * self.r[j];
        }
        halve(lanes)
    }

    #[inline(always)]
    fn prefetch_row(&self, _: usize) {}
}

/// The projection of a single row.
pub(crate) fn sum<R: Real>(row: &[R], direction: &[R]) -> R {
    let mut lanes = [R::default(); LANES];
    for (xs, rs) in row.chunks(LANES).zip(direction.chunks(LANES)) {
        for ((lane, &x), &r) in lanes.iter_mut().zip(xs).zip(rs) {
            *lane = *lane + x * r;
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for l in 0..width {
            lanes[l] = lanes[l] + lanes[l + width];
        }
        width /= 2;
    }
    lanes[0]
}

/// The first level of the reduction tree.
#[inline(always)]
fn halve<R: Real>(lanes: [R; LANES]) -> [R; 8] {
    let mut eight = [R::default(); 8];
    for l in 0..8 {
        eight[l] = lanes[l] + lanes[l + 8];
    }
    eight
}
