//! A step of Chebyshev iteration for `(1 - P) z = c` on a graph, the multigrid smoother (Adams, Brezina, Hu and
//! Tuminaro, J. Comput. Phys. 188, 2003; Saad, Iterative Methods for Sparse Linear Systems, section 12.3), with Jacobi
//! scaling and in single precision.
//!
//! The result preconditions an eigen-solver that measures residuals in double precision, so single precision is enough
//! and halves the memory traffic. Product, division by the degree and recurrence are one pass over the rows.

use rayon::prelude::*;

use super::csr::{CANCEL_CHECK_ROWS, CHUNK_ROWS};
use super::{SparseAffinity, Weights};
use crate::error::Result;
use crate::observe::{Observer, check};
use crate::simd::dispatch;

/// One step `next = z + alpha (z - previous) + beta (c - z + P z)` of the three-term recurrence for `(1 - P) z = c`, P
/// being the random walk of the graph.
#[derive(Clone, Copy)]
pub(crate) struct ChebyshevStep<'a> {
    /// Number of vectors, stored row-major.
    pub b: usize,
    pub alpha: f32,
    pub beta: f32,
    /// One over the degree of each point.
    pub inverse_degrees: &'a [f32],
    pub c: &'a [f32],
    pub z: &'a [f32],
}

impl SparseAffinity {
    /// Takes one step; `previous` holds the iterate before `step.z` and receives the one after it.
    pub(crate) fn smooth(
        &self,
        step: &ChebyshevStep,
        previous: &mut [f32],
        observer: &dyn Observer,
    ) -> Result<()> {
        let runs =
            previous.par_chunks_mut(CANCEL_CHECK_ROWS * step.b).with_min_len(CHUNK_ROWS / CANCEL_CHECK_ROWS);
        runs.enumerate().try_for_each(|(run, rows)| {
            check(observer)?;
            let first = run * CANCEL_CHECK_ROWS;
            match &self.weights {
                Weights::Table { counts, table } => table_step(self, counts, table, step, first, rows),
                Weights::Values(values) => values_step(self, values, step, first, rows),
            }
            Ok(())
        })
    }

    #[inline(always)]
    fn step_rows(
        &self,
        weight: impl Fn(usize) -> f32 + Copy,
        step: &ChebyshevStep,
        first: usize,
        rows: &mut [f32],
    ) {
        let mut offset = 0;
        while offset < step.b {
            offset += match step.b - offset {
                16.. => self.step_columns::<16>(weight, step, first, offset, rows),
                8.. => self.step_columns::<8>(weight, step, first, offset, rows),
                4.. => self.step_columns::<4>(weight, step, first, offset, rows),
                _ => self.step_columns::<1>(weight, step, first, offset, rows),
            };
        }
    }

    /// The step in the columns `offset..offset + B`. Returns B.
    #[inline(always)]
    fn step_columns<const B: usize>(
        &self,
        weight: impl Fn(usize) -> f32,
        step: &ChebyshevStep,
        first: usize,
        offset: usize,
        rows: &mut [f32],
    ) -> usize {
        for (i, row) in (first..).zip(rows.chunks_exact_mut(step.b)) {
            let mut sum = [0.0f32; B];
            for e in self.indptr[i]..self.indptr[i + 1] {
                let w = weight(e);
                let from = self.indices[e] as usize * step.b + offset;
                if let Some(other) = step.z.get(from..from + B) {
                    for (s, v) in sum.iter_mut().zip(other) {
                        *s += w * v;
                    }
                }
            }
            let from = i * step.b + offset;
            let (own, c) = (&step.z[from..from + B], &step.c[from..from + B]);
            let inverse = step.inverse_degrees[i];
            for (j, previous) in row[offset..offset + B].iter_mut().enumerate() {
                let residual = c[j] - own[j] + inverse * sum[j];
                *previous = own[j] + step.alpha * (own[j] - *previous) + step.beta * residual;
            }
        }
        B
    }
}

dispatch! {
    fn table_step(
        graph: &SparseAffinity,
        counts: &[u16],
        table: &[f64],
        step: &ChebyshevStep<'_>,
        first: usize,
        rows: &mut [f32],
    ) {
        graph.step_rows(|e| table[counts[e] as usize] as f32, step, first, rows);
    }
}

dispatch! {
    fn values_step(
        graph: &SparseAffinity,
        values: &[f64],
        step: &ChebyshevStep<'_>,
        first: usize,
        rows: &mut [f32],
    ) {
        graph.step_rows(|e| values[e] as f32, step, first, rows);
    }
}
