//! Projections r·x with one fixed order of summation, whatever the instruction set, the batch or the storage.
//!
//! The rule: feature j adds to lane j mod 16 by a plain multiply and a plain add (never fused), and the lanes are
//! summed by one tree, l + (l + 8), then 4, 2, 1. Sixteen lanes are one AVX-512 register, two of AVX2 or four of
//! SSE: the compiler vectorises the same sums on each, so that the bits agree. Absent features are exact zeros, so
//! that a padded row, a sparse row and a dense row give the same sum.

use crate::points::{Points, Real, Storage};
use crate::simd::prefetch;

/// Lanes of a sum; part of the definition of a projection, not a tuning knob.
pub(crate) const LANES: usize = 16;

/// Bytes of a line of the cache.
pub(in crate::forest) const LINE: usize = 64;

/// A direction, with zeros up to a whole number of lanes.
#[derive(Debug, Clone, Default)]
pub(crate) struct DirectionVector<R> {
    /// `d` values and zeros up to a multiple of [`LANES`].
    pub dense: Vec<R>,
    /// The columns that are not zero, ascending; empty when (nearly) all are.
    pub support: Vec<u32>,
}

/// The data as the projections want it: narrow rows padded to 1, 2, 4, 8 or 16 values (one cache line at most, no
/// remainder), everything else where it lies.
pub(crate) enum Rows<'a, R: Clone> {
    Padded { values: Vec<R>, stride: usize, first: usize },
    Wide { values: &'a [R], d: usize },
    Sparse { starts: &'a [usize], columns: &'a [u32], values: &'a [R] },
}

impl<'a, R: Real> Rows<'a, R> {
    pub fn new(points: &Points<'a, R>) -> Self {
        let d = points.d();
        match points.storage() {
            Storage::Sparse { starts, columns, values } => Rows::Sparse { starts, columns, values },
            Storage::Dense(values) if d >= LANES => Rows::Wide { values, d },
            Storage::Dense(values) => {
                let stride = d.next_power_of_two();
                let mut padded = vec![R::default(); points.n() * stride + LINE / size_of::<R>()];
                // A row that begins a line ends in it.
                let first = padded.as_ptr().align_offset(LINE).min(LINE / size_of::<R>());
                for (to, from) in padded[first..].chunks_exact_mut(stride).zip(values.chunks_exact(d)) {
                    to[..d].copy_from_slice(from);
                }
                Rows::Padded { values: padded, stride, first }
            }
        }
    }

    /// The columns of dense rows.
    pub fn dense_width(&self) -> Option<usize> {
        self.dense().map(|(_, width)| width)
    }

    /// Dense rows: their values, and how far a row is from the next.
    pub fn dense(&self) -> Option<(&[R], usize)> {
        match self {
            Rows::Padded { values, stride, first } => Some((&values[*first..], *stride)),
            Rows::Wide { values, d } => Some((values, *d)),
            Rows::Sparse { .. } => None,
        }
    }

    /// Some dense rows, column by column: column j of row `ids[i]` goes to `out[j * stride + i]`. Sparse rows are not
    /// asked for this.
    pub fn transpose(&self, ids: &[u32], stride: usize, out: &mut [R]) {
        let Some((values, width)) = self.dense() else { return };
        let d = out.len() / stride;
        for (i, &id) in ids.iter().enumerate() {
            if let Some(&next) = ids.get(i + AHEAD) {
                let row = &values[next as usize * width..][..d];
                row.iter().step_by(LINE / size_of::<R>()).for_each(prefetch);
            }
            let row = &values[id as usize * width..][..d];
            for (column, &value) in out.chunks_exact_mut(stride).zip(row) {
                column[i] = value;
            }
        }
    }

    /// `out[i] = r · x(ids[i])`; returns the smallest and the largest.
    pub fn project(&self, ids: &[u32], direction: &DirectionVector<R>, out: &mut [R]) -> (R, R) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions the function is compiled for; nothing else is asked.
            #[allow(unsafe_code)]
            return unsafe { project_avx2(self, ids, direction, out) };
        }
        project_any(self, ids, direction, out)
    }
}

/// The same code compiled for wider registers: same lanes, same order, same bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn project_avx2<R: Real>(
    rows: &Rows<R>,
    ids: &[u32],
    direction: &DirectionVector<R>,
    out: &mut [R],
) -> (R, R) {
    project_any(rows, ids, direction, out)
}

#[inline(always)]
fn project_any<R: Real>(
    rows: &Rows<R>,
    ids: &[u32],
    direction: &DirectionVector<R>,
    out: &mut [R],
) -> (R, R) {
    let r = &direction.dense[..];
    match rows {
        Rows::Padded { values, stride, first } => {
            let values = &values[*first..];
            match stride {
                1 => each(&Padded::<R, 1>::new(values, r), ids, out),
                2 => each(&Padded::<R, 2>::new(values, r), ids, out),
                4 => each(&Padded::<R, 4>::new(values, r), ids, out),
                8 => each(&Padded::<R, 8>::new(values, r), ids, out),
                _ => each(&Padded::<R, 16>::new(values, r), ids, out),
            }
        }
        Rows::Wide { values, d } if direction.support.is_empty() => {
            each(&Wide { values, d: *d, r }, ids, out)
        }
        Rows::Wide { values, d } => each(&Thin { values, d: *d, r, support: &direction.support }, ids, out),
        Rows::Sparse { starts, columns, values } => each(&Sparse { starts, columns, values, r }, ids, out),
    }
}

/// One way to multiply a row with the direction, down to the last eight lanes. A trait and not a closure: closures
/// are not compiled for the wider registers of the function they stand in.
trait Dot<R> {
    fn lanes(&self, id: usize) -> [R; 8];
    /// Asks for a row before it is needed.
    fn fetch(&self, id: usize);
}

/// Rows asked for before they are needed: enough to hide the way to memory, few enough to still be in the cache.
const AHEAD: usize = 16;
/// Rows for which a batch is not worth its buffers.
const FEW: usize = 8;
/// Rows whose lanes are summed together.
const BATCH: usize = 64;

/// Projects each row and keeps the range. Adding zero turns -0 into +0: equal points compare equal in bits.
///
/// The tree of sums is climbed for a batch of rows at a time, one level after the other: each level is a loop over
/// neighbouring numbers that the compiler turns into full-width instructions.
#[inline(always)]
fn each<R: Real>(rows: &impl Dot<R>, ids: &[u32], out: &mut [R]) -> (R, R) {
    let zero = R::default();
    if ids.len() <= FEW {
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
        let ahead = ids.get(batch * BATCH + AHEAD..).unwrap_or_default();
        for ((lanes, &id), next) in
            eights.iter_mut().zip(ids_here).zip(ahead.iter().map(Some).chain(std::iter::repeat(None)))
        {
            if let Some(&next) = next {
                rows.fetch(next as usize);
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

/// The smallest and the largest of `values`, `low` and `high`; eight at a time.
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

/// Narrow rows, padded to `S` values.
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
    fn fetch(&self, id: usize) {
        if let Some(row) = self.rows.get(id) {
            prefetch(row);
        }
    }
}

/// Rows where they lie, 16 values or more.
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
    fn fetch(&self, id: usize) {
        prefetch(&self.values[id * self.d]);
    }
}

/// Rows where they lie, few coordinates of the direction not zero.
struct Thin<'a, R> {
    values: &'a [R],
    d: usize,
    r: &'a [R],
    support: &'a [u32],
}

impl<R: Real> Dot<R> for Thin<'_, R> {
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
    fn fetch(&self, id: usize) {
        for &j in self.support {
            prefetch(&self.values[id * self.d + j as usize]);
        }
    }
}

/// Compressed sparse rows.
struct Sparse<'a, R> {
    starts: &'a [usize],
    columns: &'a [u32],
    values: &'a [R],
    r: &'a [R],
}

impl<R: Real> Dot<R> for Sparse<'_, R> {
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
    fn fetch(&self, _: usize) {}
}

/// One projection, where there is but one row to project.
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

/// The first level of the tree of sums.
#[inline(always)]
fn halve<R: Real>(lanes: [R; LANES]) -> [R; 8] {
    let mut eight = [R::default(); 8];
    for l in 0..8 {
        eight[l] = lanes[l] + lanes[l + 8];
    }
    eight
}
