//! A part of a similarity that cannot be cut out: products with the whole, zeros outside the part.
//!
//! Costs as much as the whole at every product. It exists so that recursive cuts work on any affinity; those with
//! entries at hand ([`SparseAffinity`](super::SparseAffinity)) extract the part instead.

use super::Affinity;
use crate::graph::Components;
use crate::observe::{Observer, Silent};

/// Some rows of a larger affinity.
pub struct Masked<'a> {
    whole: &'a dyn Affinity,
    rows: Vec<u32>,
    observer: &'a dyn Observer,
}

impl<'a> Masked<'a> {
    /// The similarity of `whole` among `rows` (ascending, no repeats).
    pub fn new(whole: &'a dyn Affinity, rows: &[u32]) -> Self {
        Self::watched(whole, rows, &Silent)
    }

    /// The same of a similarity that stops when `observer` wants it to: so does the walk over the part.
    pub fn watched(whole: &'a dyn Affinity, rows: &[u32], observer: &'a dyn Observer) -> Self {
        Masked { whole, rows: rows.to_vec(), observer }
    }
}

impl Affinity for Masked<'_> {
    fn n(&self) -> usize {
        self.rows.len()
    }

    fn degrees(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.rows.len()];
        self.apply(&vec![1.0; self.rows.len()], &mut sums, 1);
        sums
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize) {
        let mut wide = vec![0.0; self.whole.n() * b];
        for (row, from) in self.rows.iter().zip(x.chunks_exact(b)) {
            wide[*row as usize * b..][..b].copy_from_slice(from);
        }
        let mut product = vec![0.0; wide.len()];
        self.whole.apply(&wide, &mut product, b);
        for (row, to) in self.rows.iter().zip(y.chunks_exact_mut(b)) {
            to.copy_from_slice(&product[*row as usize * b..][..b]);
        }
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        let mut wide = vec![0.0; self.whole.n()];
        self.whole.column(self.rows[j] as usize, &mut wide);
        for (row, to) in self.rows.iter().zip(out) {
            *to = wide[*row as usize];
        }
    }

    /// A walk over the part, one whole column a point: exact, and slow on large parts.
    fn components(&self) -> Option<Components> {
        self.whole.components()?;
        let mut column = vec![0.0; self.rows.len()];
        let found = Components::by_walk(self.rows.len(), |point, see| {
            if self.observer.cancelled() {
                return;
            }
            self.column(point, &mut column);
            for (other, weight) in column.iter().enumerate() {
                if *weight > 0.0 {
                    see(other);
                }
            }
        });
        (!self.observer.cancelled()).then_some(found)
    }

    fn constant(&self) -> f64 {
        self.whole.constant()
    }

    /// Fewer rows have smaller degrees, which only raises the eigenvalues' bound of the whole.
    fn lower_bound(&self) -> f64 {
        self.whole.lower_bound()
    }

    fn restrict<'b>(&'b self, rows: &[u32]) -> Box<dyn Affinity + 'b> {
        let inner: Vec<u32> = rows.iter().map(|r| self.rows[*r as usize]).collect();
        Box::new(Masked::watched(self.whole, &inner, self.observer))
    }
}
