//! The work of [`SparseAffinity`] on all its pairs, each asking between short runs of rows whether to go on. What is
//! returned after the observer wanted to stop is of the right shape and means nothing.

use rayon::prelude::*;

use super::csr::{ASK, CHUNK, table_product, values_product};
use super::{Components, SparseAffinity, Weights};
use crate::observe::Observer;

impl SparseAffinity {
    /// Row sums.
    pub(crate) fn degrees_until(&self, observer: &dyn Observer) -> Vec<f64> {
        let everywhere = self.constant() * self.n() as f64;
        let (indptr, weights) = (self.indptr(), self.weights());
        let mut degrees = vec![0.0; self.n()];
        degrees.par_chunks_mut(ASK).with_min_len(CHUNK / ASK).enumerate().for_each(|(run, out)| {
            if observer.cancelled() {
                return;
            }
            for (degree, ends) in out.iter_mut().zip(indptr[run * ASK..].windows(2)) {
                *degree = everywhere + (ends[0]..ends[1]).map(|e| weights.get(e)).sum::<f64>();
            }
        });
        degrees
    }

    /// `y = A x` for `b` vectors.
    pub(crate) fn apply_until(&self, x: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) {
        let mut base = vec![0.0; b];
        if self.constant() > 0.0 {
            let partial: Vec<Vec<f64>> = x
                .par_chunks(CHUNK * b)
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
                    *total += self.constant() * s;
                }
            }
        }
        y.par_chunks_mut(CHUNK * b).enumerate().for_each(|(c, rows)| {
            for row in rows.chunks_exact_mut(b) {
                row.copy_from_slice(&base);
            }
            for (run, rows) in rows.chunks_mut(ASK * b).enumerate() {
                if observer.cancelled() {
                    return;
                }
                let first = c * CHUNK + run * ASK;
                match self.weights() {
                    Weights::Table { counts, table } => {
                        table_product(self, (counts, table), first, x, rows, b)
                    }
                    Weights::Values(values) => values_product(self, values, first, x, rows, b),
                }
            }
        });
    }

    /// The pieces of the graph; `None` as well when it was told to stop.
    pub(crate) fn components_until(&self, observer: &dyn Observer) -> Option<Components> {
        if self.constant() > 0.0 {
            return None;
        }
        let (indptr, weights) = (self.indptr(), self.weights());
        let found = Components::by_walk(self.n(), |point, see| {
            // A walk that finds no more edges ends.
            if observer.cancelled() {
                return;
            }
            for e in indptr[point]..indptr[point + 1] {
                if weights.get(e) > 0.0 {
                    see(self.indices()[e] as usize);
                }
            }
        });
        (!observer.cancelled()).then_some(found)
    }

    /// Gershgorin's circles of the random walk: `min 2 A_ii / d_i - 1`. A heavy diagonal crowds all eigenvalues near
    /// 1, and only this bound shows how close together they are.
    pub(crate) fn lower_bound_until(&self, observer: &dyn Observer) -> f64 {
        let bound = |(i, degree): (usize, &f64)| {
            let row = self.indptr()[i]..self.indptr()[i + 1];
            let own = self.indices()[row.clone()].binary_search(&(i as u32));
            let diagonal = self.constant() + own.map_or(0.0, |at| self.weights().get(row.start + at));
            if *degree > 0.0 { 2.0 * diagonal / degree - 1.0 } else { -1.0 }
        };
        self.degrees_until(observer).iter().enumerate().map(bound).fold(1.0, f64::min)
    }

    /// The pairs among these rows (no repeats), with weights of their own. Where the rows do not ascend, neither do the
    /// columns of a row.
    pub(crate) fn cut_out(&self, rows: &[u32], observer: &dyn Observer) -> SparseAffinity {
        let (indptr, indices, weights) = match self.weights() {
            Weights::Table { counts, table } => {
                let (indptr, indices, counts) = self.pairs_among(rows, counts, observer);
                (indptr, indices, Weights::Table { counts, table: table.clone() })
            }
            Weights::Values(values) => {
                let (indptr, indices, values) = self.pairs_among(rows, values, observer);
                (indptr, indices, Weights::Values(values))
            }
        };
        SparseAffinity {
            constant: self.constant(),
            indptr,
            indices,
            weights,
            of_neighbors: self.of_neighbors,
        }
    }

    fn pairs_among<T: Copy>(
        &self,
        rows: &[u32],
        carried: &[T],
        observer: &dyn Observer,
    ) -> (Vec<usize>, Vec<u32>, Vec<T>) {
        const OUTSIDE: u32 = u32::MAX;
        let mut new_number = vec![OUTSIDE; self.n()];
        for (new, old) in rows.iter().enumerate() {
            new_number[*old as usize] = new as u32;
        }
        let mut indptr = Vec::with_capacity(rows.len() + 1);
        let most =
            rows.iter().map(|&row| self.indptr()[row as usize + 1] - self.indptr()[row as usize]).sum();
        let (mut indices, mut kept) = (Vec::with_capacity(most), Vec::with_capacity(most));
        indptr.push(0);
        for run in rows.chunks(ASK) {
            if observer.cancelled() {
                indptr.resize(rows.len() + 1, indices.len());
                break;
            }
            for row in run {
                for e in self.indptr()[*row as usize]..self.indptr()[*row as usize + 1] {
                    let new = new_number[self.indices()[e] as usize];
                    if new != OUTSIDE {
                        indices.push(new);
                        kept.push(carried[e]);
                    }
                }
                indptr.push(indices.len());
            }
        }
        (indptr, indices, kept)
    }
}
