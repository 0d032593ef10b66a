//! Projections r·x with one fixed order of summation, whatever the instruction set, the batch or the storage.
//!
//! The rule: feature j adds to lane j mod 16 by a plain multiply and a plain add (never fused), and the lanes are
//! summed by one tree, l + (l + 8), then 4, 2, 1. Sixteen lanes are one AVX-512 register, two of AVX2 or four of
//! SSE: the compiler vectorises the same sums on each, so that the bits agree. Absent features are exact zeros, so
//! that a padded row, a sparse row and a dense row give the same sum.

use crate::points::{Points, Real, Storage};

/// Lanes of a sum; part of the definition of a projection, not a tuning knob.
pub(crate) const LANES: usize = 16;

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
pub(crate) enum Rows<'a, R> {
    Padded { values: Vec<R>, stride: usize },
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
                let mut padded = vec![R::default(); points.n() * stride];
                for (to, from) in padded.chunks_exact_mut(stride).zip(values.chunks_exact(d)) {
                    to[..d].copy_from_slice(from);
                }
                Rows::Padded { values: padded, stride }
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
    match rows {
        Rows::Padded { values, stride } => match stride {
            1 => padded::<R, 1>(values, ids, direction, out),
            2 => padded::<R, 2>(values, ids, direction, out),
            4 => padded::<R, 4>(values, ids, direction, out),
            8 => padded::<R, 8>(values, ids, direction, out),
            _ => padded::<R, 16>(values, ids, direction, out),
        },
        Rows::Wide { values, d } if direction.support.is_empty() => {
            let (whole, r) = (d - d % LANES, &direction.dense);
            each(ids, out, |id| wide(&values[id * d..(id + 1) * d], r, whole))
        }
        Rows::Wide { values, d } => {
            let support = &direction.support;
            each(ids, out, |id| {
                let row = &values[id * d..(id + 1) * d];
                let mut lanes = [R::default(); LANES];
                for &j in support {
                    let (j, lane) = (j as usize, j as usize % LANES);
                    lanes[lane] = lanes[lane] + row[j] * direction.dense[j];
                }
                tree_sum(lanes)
            })
        }
        Rows::Sparse { starts, columns, values } => each(ids, out, |id| {
            let mut lanes = [R::default(); LANES];
            for at in starts[id]..starts[id + 1] {
                let (j, lane) = (columns[at] as usize, columns[at] as usize % LANES);
                lanes[lane] = lanes[lane] + values[at] * direction.dense[j];
            }
            tree_sum(lanes)
        }),
    }
}

/// Calls `dot` for each id and keeps the range. Adding zero turns -0 into +0: equal points compare equal in bits.
#[inline(always)]
fn each<R: Real>(ids: &[u32], out: &mut [R], mut dot: impl FnMut(usize) -> R) -> (R, R) {
    let mut range: Option<(R, R)> = None;
    for (&id, out) in ids.iter().zip(out.iter_mut()) {
        let p = dot(id as usize) + R::default();
        *out = p;
        let (low, high) = range.unwrap_or((p, p));
        range = Some((if p < low { p } else { low }, if p > high { p } else { high }));
    }
    range.unwrap_or_default()
}

#[inline(always)]
fn padded<R: Real, const S: usize>(
    values: &[R],
    ids: &[u32],
    direction: &DirectionVector<R>,
    out: &mut [R],
) -> (R, R) {
    let mut r = [R::default(); S];
    r.copy_from_slice(&direction.dense[..S]);
    let (rows, _) = values.as_chunks::<S>();
    each(ids, out, |id| {
        let row = &rows[id];
        let mut lanes = [R::default(); LANES];
        for j in 0..S {
            lanes[j] = row[j] * r[j];
        }
        tree_sum(lanes)
    })
}

#[inline(always)]
fn wide<R: Real>(row: &[R], r: &[R], whole: usize) -> R {
    let mut lanes = [R::default(); LANES];
    let (xs, _) = row.as_chunks::<LANES>();
    let (rs, _) = r.as_chunks::<LANES>();
    for (x, r) in xs.iter().zip(rs) {
        for l in 0..LANES {
            lanes[l] = lanes[l] + x[l] * r[l];
        }
    }
    if whole < row.len() {
        let mut tail = [R::default(); LANES];
        tail[..row.len() - whole].copy_from_slice(&row[whole..]);
        let last = &rs[whole / LANES];
        for l in 0..LANES {
            lanes[l] = lanes[l] + tail[l] * last[l];
        }
    }
    tree_sum(lanes)
}

#[inline(always)]
fn tree_sum<R: Real>(lanes: [R; LANES]) -> R {
    let mut eight = [R::default(); 8];
    for l in 0..8 {
        eight[l] = lanes[l] + lanes[l + 8];
    }
    let mut four = [R::default(); 4];
    for l in 0..4 {
        four[l] = eight[l] + eight[l + 4];
    }
    (four[0] + four[2]) + (four[1] + four[3])
}
