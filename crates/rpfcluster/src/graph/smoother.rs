//! One step of smoothing on a graph, in single precision.
//!
//! It improves guesses that the eigen-solver checks in double precision, so that half the bits are enough and half the
//! memory is passed over. Product, division by the degree and recurrence are one pass over the rows.

use rayon::prelude::*;

use super::csr::{ASK, CHUNK};
use super::{SparseAffinity, Weights};
use crate::observe::Observer;
use crate::simd::dispatch;

/// `old = z + alpha (z - old) + beta (c - z + P z)`, P being the random walk of the graph.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    /// Vectors side by side.
    pub b: usize,
    pub alpha: f32,
    pub beta: f32,
    /// One over the degree of each point.
    pub inverse: &'a [f32],
    pub c: &'a [f32],
    pub z: &'a [f32],
}

impl SparseAffinity {
    /// Takes the step. What was left out once `observer` wanted to stop means nothing.
    pub(crate) fn smooth(&self, step: &Step, old: &mut [f32], observer: &dyn Observer) {
        old.par_chunks_mut(ASK * step.b).with_min_len(CHUNK / ASK).enumerate().for_each(|(run, rows)| {
            if observer.cancelled() {
                return;
            }
            match &self.weights {
                Weights::Table { counts, table } => table_step(self, (counts, table), step, run * ASK, rows),
                Weights::Values(values) => values_step(self, values, step, run * ASK, rows),
            }
        });
    }

    #[inline(always)]
    fn steps(&self, weight: impl Fn(usize) -> f32 + Copy, step: &Step, first: usize, rows: &mut [f32]) {
        let mut offset = 0;
        while offset < step.b {
            let at = (first, offset);
            offset += match step.b - offset {
                16.. => {
                    self.tile::<16>(weight, step, at, rows);
                    16
                }
                8.. => {
                    self.tile::<8>(weight, step, at, rows);
                    8
                }
                4.. => {
                    self.tile::<4>(weight, step, at, rows);
                    4
                }
                _ => {
                    self.tile::<1>(weight, step, at, rows);
                    1
                }
            };
        }
    }

    #[inline(always)]
    fn tile<const B: usize>(
        &self,
        weight: impl Fn(usize) -> f32,
        step: &Step,
        (first, offset): (usize, usize),
        rows: &mut [f32],
    ) {
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
            let inverse = step.inverse[i];
            for (j, old) in row[offset..offset + B].iter_mut().enumerate() {
                let rest = c[j] - own[j] + inverse * sum[j];
                *old = own[j] + step.alpha * (own[j] - *old) + step.beta * rest;
            }
        }
    }
}

dispatch! {
    fn table_step(graph: &SparseAffinity, weights: (&[u16], &[f64]), step: &Step<'_>, first: usize, rows: &mut [f32]) {
        graph.steps(|e| weights.1[weights.0[e] as usize] as f32, step, first, rows);
    }
}

dispatch! {
    fn values_step(graph: &SparseAffinity, weights: &[f64], step: &Step<'_>, first: usize, rows: &mut [f32]) {
        graph.steps(|e| weights[e] as f32, step, first, rows);
    }
}
