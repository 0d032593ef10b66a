//! Products with a CSR graph, its degrees, components, Gershgorin bound and principal submatrices.
//!
//! Every function costs O(stored pairs), products times the number of vectors. Long loops check for cancellation at
//! least every [`CANCEL_CHECK_ROWS`] rows and return [`Error::Cancelled`](crate::error::Error::Cancelled). Sums run
//! along the rows in stored order, so the bits do not depend on the number of threads.

use rayon::prelude::*;

use super::csr::{CANCEL_CHECK_ROWS, CHUNK_ROWS};
use super::{Components, SparseAffinity, Weights};
use crate::error::Result;
use crate::observe::{Observer, check};
use crate::simd::dispatch;

impl SparseAffinity {
    /// Row sums.
    pub fn degrees(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        let base = self.constant * self.n() as f64;
        let (indptr, weights) = (&self.indptr, &self.weights);
        let mut degrees = vec![0.0; self.n()];
        let runs = degrees.par_chunks_mut(CANCEL_CHECK_ROWS).with_min_len(CHUNK_ROWS / CANCEL_CHECK_ROWS);
        runs.enumerate().try_for_each(|(run, out)| {
            check(observer)?;
            for (degree, ends) in out.iter_mut().zip(indptr[run * CANCEL_CHECK_ROWS..].windows(2)) {
                *degree = base + (ends[0]..ends[1]).map(|e| weights.get(e)).sum::<f64>();
            }
            Ok(())
        })?;
        Ok(degrees)
    }

    /// `y = A x` for `b` vectors at once; `x` and `y` are n x b, row-major.
    pub fn apply(&self, x: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) -> Result<()> {
        let base = self.constant_product(x, b);
        y.par_chunks_mut(CHUNK_ROWS * b).enumerate().try_for_each(|(chunk, rows)| {
            for row in rows.chunks_exact_mut(b) {
                row.copy_from_slice(&base);
            }
            for (run, rows) in rows.chunks_mut(CANCEL_CHECK_ROWS * b).enumerate() {
                check(observer)?;
                let first = chunk * CHUNK_ROWS + run * CANCEL_CHECK_ROWS;
                match &self.weights {
                    Weights::Table { counts, table } => table_product(self, counts, table, first, x, rows, b),
                    Weights::Values(values) => values_product(self, values, first, x, rows, b),
                }
            }
            Ok(())
        })
    }

    /// One row of `c 11ᵀ x`; all its rows are equal.
    fn constant_product(&self, x: &[f64], b: usize) -> Vec<f64> {
        let mut base = vec![0.0; b];
        if self.constant > 0.0 {
            let partial: Vec<Vec<f64>> = x
                .par_chunks(CHUNK_ROWS * b)
                .map(|chunk| {
                    let mut sums = vec![0.0; b];
                    for row in chunk.chunks_exact(b) {
                        for (s, v) in sums.iter_mut().zip(row) {
                            *s += v;
                        }
                    }
                    sums
                })
                .collect();
            for sums in partial {
                for (total, s) in base.iter_mut().zip(sums) {
                    *total += self.constant * s;
                }
            }
        }
        base
    }

    /// The connected components; `None` with a positive constant, which connects all points.
    pub fn components(&self, observer: &dyn Observer) -> Result<Option<Components>> {
        if self.constant > 0.0 {
            return Ok(None);
        }
        let found = Components::by_search(self.n(), |point, visit| {
            check(observer)?;
            for e in self.indptr[point]..self.indptr[point + 1] {
                if self.weights.get(e) > 0.0 {
                    visit(self.indices[e] as usize);
                }
            }
            Ok(())
        })?;
        Ok(Some(found))
    }

    /// A lower bound of the eigenvalues of the random walk by Gershgorin's theorem (1931): `min 2 A_ii / d_i - 1`. A
    /// heavy diagonal moves all eigenvalues towards 1, and the bound follows.
    pub fn lower_bound(&self, observer: &dyn Observer) -> Result<f64> {
        let bound = |(i, degree): (usize, &f64)| {
            let row = self.indptr[i]..self.indptr[i + 1];
            let own = self.indices[row.clone()].binary_search(&(i as u32));
            let diagonal = self.constant + own.map_or(0.0, |at| self.weights.get(row.start + at));
            if *degree > 0.0 { 2.0 * diagonal / degree - 1.0 } else { -1.0 }
        };
        Ok(self.degrees(observer)?.iter().enumerate().map(bound).fold(1.0, f64::min))
    }

    /// The principal submatrix of these rows (no repeats) in this order; of all rows, a symmetric permutation. Where
    /// the rows do not ascend, neither do the columns of a row.
    pub(crate) fn principal_submatrix(
        &self,
        rows: &[u32],
        observer: &dyn Observer,
    ) -> Result<SparseAffinity> {
        let (indptr, indices, weights) = match &self.weights {
            Weights::Table { counts, table } => {
                let (indptr, indices, counts) = self.pairs_among(rows, counts, observer)?;
                (indptr, indices, Weights::Table { counts, table: table.clone() })
            }
            Weights::Values(values) => {
                let (indptr, indices, values) = self.pairs_among(rows, values, observer)?;
                (indptr, indices, Weights::Values(values))
            }
        };
        let neighbor_graph = self.neighbor_graph;
        Ok(SparseAffinity { constant: self.constant, indptr, indices, weights, neighbor_graph })
    }

    /// The CSR arrays of a principal submatrix; `data` has one entry for each stored pair.
    fn pairs_among<T: Copy>(
        &self,
        rows: &[u32],
        data: &[T],
        observer: &dyn Observer,
    ) -> Result<(Vec<usize>, Vec<u32>, Vec<T>)> {
        const OUTSIDE: u32 = u32::MAX;
        let mut new_index = vec![OUTSIDE; self.n()];
        for (new, old) in rows.iter().enumerate() {
            new_index[*old as usize] = new as u32;
        }
        let mut indptr = Vec::with_capacity(rows.len() + 1);
        let most = rows.iter().map(|&row| self.indptr[row as usize + 1] - self.indptr[row as usize]).sum();
        let (mut indices, mut kept) = (Vec::with_capacity(most), Vec::with_capacity(most));
        indptr.push(0);
        for run in rows.chunks(CANCEL_CHECK_ROWS) {
            check(observer)?;
            for row in run {
                for e in self.indptr[*row as usize]..self.indptr[*row as usize + 1] {
                    let new = new_index[self.indices[e] as usize];
                    if new != OUTSIDE {
                        indices.push(new);
                        kept.push(data[e]);
                    }
                }
                indptr.push(indices.len());
            }
        }
        Ok((indptr, indices, kept))
    }

    /// Adds E x to the columns `offset..offset + B` of `y`, the rows from `first` on; a row of `x` and `y` has `stride`
    /// columns. Returns B.
    #[inline(always)]
    fn add_columns<const B: usize>(
        &self,
        weight: impl Fn(usize) -> f64,
        first: usize,
        x: &[f64],
        y: &mut [f64],
        stride: usize,
        offset: usize,
    ) -> usize {
        for (row, out) in y.chunks_exact_mut(stride).enumerate() {
            let mut sum = [0.0; B];
            for e in self.indptr[first + row]..self.indptr[first + row + 1] {
                let w = weight(e);
                let from = self.indices[e] as usize * stride + offset;
                if let Some(other) = x.get(from..from + B) {
                    for (s, v) in sum.iter_mut().zip(other) {
                        *s += w * v;
                    }
                }
            }
            for (o, s) in out[offset..offset + B].iter_mut().zip(sum) {
                *o += s;
            }
        }
        B
    }

    /// Adds E x to the rows from `first` on, in tiles of columns whose sums stay in registers.
    #[inline(always)]
    fn add_rows(
        &self,
        weight: impl Fn(usize) -> f64 + Copy,
        first: usize,
        x: &[f64],
        y: &mut [f64],
        b: usize,
    ) {
        let mut offset = 0;
        while offset < b {
            offset += match b - offset {
                1 => self.add_columns::<1>(weight, first, x, y, b, offset),
                2 => self.add_columns::<2>(weight, first, x, y, b, offset),
                3 => self.add_columns::<3>(weight, first, x, y, b, offset),
                4..=5 => self.add_columns::<4>(weight, first, x, y, b, offset),
                6..=7 => self.add_columns::<6>(weight, first, x, y, b, offset),
                8..=9 => self.add_columns::<8>(weight, first, x, y, b, offset),
                10..=11 => self.add_columns::<10>(weight, first, x, y, b, offset),
                12..=15 => self.add_columns::<12>(weight, first, x, y, b, offset),
                _ => self.add_columns::<16>(weight, first, x, y, b, offset),
            };
        }
    }
}

dispatch! {
    fn table_product(
        graph: &SparseAffinity,
        counts: &[u16],
        table: &[f64],
        first: usize,
        x: &[f64],
        y: &mut [f64],
        b: usize,
    ) {
        graph.add_rows(|e| table[counts[e] as usize], first, x, y, b);
    }
}

dispatch! {
    fn values_product(graph: &SparseAffinity, values: &[f64], first: usize, x: &[f64], y: &mut [f64], b: usize) {
        graph.add_rows(|e| values[e], first, x, y, b);
    }
}
