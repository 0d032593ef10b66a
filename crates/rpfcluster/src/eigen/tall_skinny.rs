//! Dense linear algebra on tall-skinny blocks (n rows, a few dozen columns, row-major): Gram matrices, rotation by a
//! small matrix, subtraction of a projection, row scaling, column sums and copies between strides.
//!
//! The eigen-solvers spend their time here and in products with the affinity. Rows are processed in chunks of a fixed
//! size, and partial sums are added in the order of the chunks, so the bits do not depend on the number of threads.
//! Within a chunk, register tiles of 4 x 4 sums run over rows that stay in the cache. Long operations check for
//! cancellation.

use rayon::prelude::*;

use crate::error::Result;
use crate::observe::{Observer, check};
use crate::simd::dispatch;

/// Rows of one parallel task. Fixed, so that the sums do not depend on the number of threads.
pub(crate) const CHUNK: usize = 2048;
/// Rows that stay in the cache while the tiles of a Gram matrix pass over them.
const RUN: usize = 32;
/// Rows and columns of a register tile: the 16 sums fill four AVX2 registers.
const TILE: usize = 4;
/// Multiply-adds of a Gram matrix between two checks for cancellation, about a millisecond.
const CHECK_PRODUCTS: usize = 1 << 22;
/// Entries of one task of an entrywise operation: 256 KB of each block.
const ENTRIES: usize = 1 << 15;

/// A view of the first `columns` of a row-major block with `stride` entries per row.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    pub data: &'a [f64],
    pub stride: usize,
    pub columns: usize,
}

impl<'a> Block<'a> {
    pub fn new(data: &'a [f64], stride: usize, columns: usize) -> Self {
        Block { data, stride, columns }
    }

    /// The same columns of the rows in `data`.
    fn with_rows(&self, data: &'a [f64]) -> Self {
        Block { data, ..*self }
    }
}

/// Adds the P x Q tile at (p, q) of `aᵀ b` to `out`, which has b.columns columns.
#[inline(always)]
fn gram_tile<const P: usize, const Q: usize>(a: Block, p: usize, b: Block, q: usize, out: &mut [f64]) {
    let mut sum = [[0.0; Q]; P];
    for (row_a, row_b) in a.data.chunks_exact(a.stride).zip(b.data.chunks_exact(b.stride)) {
        let (Some(va), Some(vb)) = (row_a[p..].first_chunk::<P>(), row_b[q..].first_chunk::<Q>()) else {
            return;
        };
        for (s, x) in sum.iter_mut().zip(va) {
            for (t, y) in s.iter_mut().zip(vb) {
                *t += x * y;
            }
        }
    }
    for (r, s) in sum.iter().enumerate() {
        for (c, t) in s.iter().enumerate() {
            out[(p + r) * b.columns + q + c] += t;
        }
    }
}

dispatch! {
fn gram_chunk(a: Block<'_>, b: Block<'_>, out: &mut [f64]) {
    for (rows_a, rows_b) in a.data.chunks(RUN * a.stride).zip(b.data.chunks(RUN * b.stride)) {
        let (a, b) = (a.with_rows(rows_a), b.with_rows(rows_b));
        let mut p = 0;
        while p < a.columns {
            let wide = a.columns - p >= TILE;
            let mut q = 0;
            while q < b.columns {
                match (wide, b.columns - q >= TILE) {
                    (true, true) => gram_tile::<TILE, TILE>(a, p, b, q, out),
                    (true, false) => gram_tile::<TILE, 1>(a, p, b, q, out),
                    (false, true) => gram_tile::<1, TILE>(a, p, b, q, out),
                    (false, false) => gram_tile::<1, 1>(a, p, b, q, out),
                }
                q += if b.columns - q >= TILE { TILE } else { 1 };
            }
            p += if wide { TILE } else { 1 };
        }
    }
}
}

/// The Gram matrix `aᵀ b`, a.columns x b.columns, row-major.
pub(crate) fn gram(a: Block, b: Block, observer: &dyn Observer) -> Result<Vec<f64>> {
    let size = a.columns * b.columns;
    // A multiple of RUN, so that the order of the sums does not depend on the size.
    let rows = (CHECK_PRODUCTS / size.max(1) / RUN * RUN).clamp(RUN, CHUNK);
    let partial: Result<Vec<Vec<f64>>> = a
        .data
        .par_chunks(CHUNK * a.stride)
        .zip(b.data.par_chunks(CHUNK * b.stride))
        .map(|(rows_a, rows_b)| {
            let mut out = vec![0.0; size];
            for (rows_a, rows_b) in rows_a.chunks(rows * a.stride).zip(rows_b.chunks(rows * b.stride)) {
                check(observer)?;
                gram_chunk(a.with_rows(rows_a), b.with_rows(rows_b), &mut out);
            }
            Ok(out)
        })
        .collect();
    let mut total = vec![0.0; size];
    for part in partial? {
        for (t, s) in total.iter_mut().zip(part) {
            *t += s;
        }
    }
    Ok(total)
}

/// One row times a small matrix with `width` columns: `out[q..q + Q] += sign * Σ_p row[p] m[p][q..q + Q]`.
#[inline(always)]
fn row_times<const Q: usize>(row: &[f64], m: &[f64], width: usize, q: usize, sign: f64, out: &mut [f64]) {
    let mut sum = [0.0; Q];
    for (x, line) in row.iter().zip(m.chunks_exact(width)) {
        let Some(line) = line[q..].first_chunk::<Q>() else { return };
        for (s, v) in sum.iter_mut().zip(line) {
            *s += x * v;
        }
    }
    for (o, s) in out[q..q + Q].iter_mut().zip(sum) {
        *o += sign * s;
    }
}

#[inline(always)]
fn row_product(row: &[f64], m: &[f64], width: usize, sign: f64, out: &mut [f64]) {
    let mut q = 0;
    while width - q >= 8 {
        row_times::<8>(row, m, width, q, sign, out);
        q += 8;
    }
    while width - q >= 4 {
        row_times::<4>(row, m, width, q, sign, out);
        q += 4;
    }
    while q < width {
        row_times::<1>(row, m, width, q, sign, out);
        q += 1;
    }
}

dispatch! {
    fn subtract_rows(a: Block<'_>, m: &[f64], w: &mut [f64], width: usize) {
        for (out, row) in w.chunks_exact_mut(width).zip(a.data.chunks_exact(a.stride)) {
            row_product(&row[..a.columns], m, width, -1.0, out);
        }
    }
}

/// `w -= a m` for a dense n x width block `w` and a small matrix `m`, a.columns x width.
pub(crate) fn subtract(
    a: Block,
    m: &[f64],
    w: &mut [f64],
    width: usize,
    observer: &dyn Observer,
) -> Result<()> {
    let chunks = w.par_chunks_mut(CHUNK * width).zip(a.data.par_chunks(CHUNK * a.stride));
    chunks.try_for_each(|(rows_w, rows_a)| {
        check(observer)?;
        subtract_rows(a.with_rows(rows_a), m, rows_w, width);
        Ok(())
    })
}

dispatch! {
    fn rotate_rows(rows: &mut [f64], stride: usize, columns: usize, m: &[f64], width: usize) {
        let mut product = vec![0.0; width];
        for row in rows.chunks_exact_mut(stride) {
            product.fill(0.0);
            row_product(&row[..columns], m, width, 1.0, &mut product);
            row[..width].copy_from_slice(&product);
        }
    }
}

/// `v[:, ..width] = v[:, ..columns] m` in place for a small matrix `m`, columns x width; width is at most the stride.
pub(crate) fn rotate(
    v: &mut [f64],
    stride: usize,
    columns: usize,
    m: &[f64],
    width: usize,
    observer: &dyn Observer,
) -> Result<()> {
    v.par_chunks_mut(CHUNK * stride).try_for_each(|rows| {
        check(observer)?;
        rotate_rows(rows, stride, columns, m, width);
        Ok(())
    })
}

/// Copies the named columns of `v`, each row multiplied by `scale(i)`, into the dense block `out`.
pub(crate) fn pack(
    v: &[f64],
    stride: usize,
    columns: &[usize],
    scale: impl Fn(usize) -> f64 + Sync,
    out: &mut [f64],
) {
    let width = columns.len();
    out.par_chunks_mut(CHUNK * width).zip(v.par_chunks(CHUNK * stride)).enumerate().for_each(
        |(c, (rows, from))| {
            for (r, (row, source)) in rows.chunks_exact_mut(width).zip(from.chunks_exact(stride)).enumerate()
            {
                let s = scale(c * CHUNK + r);
                for (o, column) in row.iter_mut().zip(columns) {
                    *o = s * source[*column];
                }
            }
        },
    );
}

/// Copies the dense block `w` into the columns of `v` from `first` on.
pub(crate) fn unpack(w: &[f64], width: usize, v: &mut [f64], stride: usize, first: usize) {
    v.par_chunks_mut(CHUNK * stride).zip(w.par_chunks(CHUNK * width)).for_each(|(rows, from)| {
        for (row, source) in rows.chunks_exact_mut(stride).zip(from.chunks_exact(width)) {
            row[first..first + width].copy_from_slice(source);
        }
    });
}

/// Multiplies row `i` of a dense block by `scale(i)`.
pub(crate) fn scale_rows(w: &mut [f64], width: usize, scale: impl Fn(usize) -> f64 + Sync) {
    w.par_chunks_mut(CHUNK * width).enumerate().for_each(|(c, rows)| {
        for (r, row) in rows.chunks_exact_mut(width).enumerate() {
            let s = scale(c * CHUNK + r);
            for v in row {
                *v *= s;
            }
        }
    });
}

/// Column sums of `f(row, column, a, b)` over two dense blocks of the same width.
pub(crate) fn column_sums(
    a: &[f64],
    b: &[f64],
    width: usize,
    f: impl Fn(usize, usize, f64, f64) -> f64 + Sync,
) -> Vec<f64> {
    let partial: Vec<Vec<f64>> = a
        .par_chunks(CHUNK * width)
        .zip(b.par_chunks(CHUNK * width))
        .enumerate()
        .map(|(c, (rows_a, rows_b))| {
            let mut sums = vec![0.0; width];
            for (r, (one, other)) in rows_a.chunks_exact(width).zip(rows_b.chunks_exact(width)).enumerate() {
                for (j, s) in sums.iter_mut().enumerate() {
                    *s += f(c * CHUNK + r, j, one[j], other[j]);
                }
            }
            sums
        })
        .collect();
    let mut total = vec![0.0; width];
    for part in partial {
        for (t, s) in total.iter_mut().zip(part) {
            *t += s;
        }
    }
    total
}

/// `z[1] = f(z[0], z[1], z[2])`, entry by entry.
pub(crate) fn combine(z: &mut [Vec<f64>; 3], length: usize, f: impl Fn(f64, f64, f64) -> f64 + Sync) {
    let [z0, z1, z2] = z;
    z1[..length]
        .par_chunks_mut(ENTRIES)
        .zip(z0[..length].par_chunks(ENTRIES))
        .zip(z2[..length].par_chunks(ENTRIES))
        .for_each(|((out, a), c)| {
            for ((o, x), y) in out.iter_mut().zip(a).zip(c) {
                *o = f(*x, *o, *y);
            }
        });
}
