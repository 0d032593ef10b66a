//! A principal submatrix of an operator that has no entries to copy: products with the whole, zeros outside the rows.
//!
//! Every product costs as much as one with the whole operator. Recursive cuts need it on operators without stored
//! entries; [`SparseAffinity`](super::SparseAffinity) copies its entries instead.

use super::{Affinity, SimilarityOperator};
use crate::error::Result;
use crate::graph::Components;
use crate::observe::{Observer, check};

/// Some rows of a larger operator.
pub struct Submatrix<'a> {
    whole: &'a dyn SimilarityOperator,
    rows: Vec<u32>,
}

impl<'a> Submatrix<'a> {
    /// The similarities of `whole` among `rows` (ascending, no repeats).
    pub fn new(whole: &'a dyn SimilarityOperator, rows: &[u32]) -> Self {
        Submatrix { whole, rows: rows.to_vec() }
    }
}

impl SimilarityOperator for Submatrix<'_> {
    fn n(&self) -> usize {
        self.rows.len()
    }

    fn degrees(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; self.rows.len()];
        self.apply(&vec![1.0; self.rows.len()], &mut sums, 1, observer)?;
        Ok(sums)
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) -> Result<()> {
        let mut padded = vec![0.0; self.whole.n() * b];
        for (row, from) in self.rows.iter().zip(x.chunks_exact(b)) {
            padded[*row as usize * b..][..b].copy_from_slice(from);
        }
        let mut product = vec![0.0; padded.len()];
        self.whole.apply(&padded, &mut product, b, observer)?;
        for (row, to) in self.rows.iter().zip(y.chunks_exact_mut(b)) {
            to.copy_from_slice(&product[*row as usize * b..][..b]);
        }
        Ok(())
    }

    fn column(&self, j: usize, out: &mut [f64], observer: &dyn Observer) -> Result<()> {
        let mut column = vec![0.0; self.whole.n()];
        self.whole.column(self.rows[j] as usize, &mut column, observer)?;
        for (row, to) in self.rows.iter().zip(out) {
            *to = column[*row as usize];
        }
        Ok(())
    }

    /// Depth-first search that reads one whole column for each point: exact, O(rows · n).
    fn components(&self, observer: &dyn Observer) -> Result<Option<Components>> {
        if self.whole.components(observer)?.is_none() {
            return Ok(None);
        }
        let mut column = vec![0.0; self.rows.len()];
        let found = Components::by_search(self.rows.len(), |point, visit| {
            check(observer)?;
            self.column(point, &mut column, observer)?;
            for (other, weight) in column.iter().enumerate() {
                if *weight > 0.0 {
                    visit(other);
                }
            }
            Ok(())
        })?;
        Ok(Some(found))
    }

    fn constant(&self) -> f64 {
        self.whole.constant()
    }

    /// The bound of the whole. It holds for the submatrix where it is 0, since a principal submatrix of a positive
    /// semi-definite matrix is positive semi-definite, and where it is -1. A bound in between need not hold, because
    /// the degrees of the submatrix are smaller.
    fn lower_bound(&self, observer: &dyn Observer) -> Result<f64> {
        self.whole.lower_bound(observer)
    }

    fn submatrix(&self, rows: &[u32], _observer: &dyn Observer) -> Result<Affinity<'_>> {
        let rows: Vec<u32> = rows.iter().map(|r| self.rows[*r as usize]).collect();
        Ok(Affinity::operator(Submatrix { whole: self.whole, rows }))
    }
}
