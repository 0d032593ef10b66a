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

    /// The bound c of the whole where it is not negative: `A - c D` is positive semi-definite, hence also its principal
    /// submatrix, even with the smaller degrees there. With these a negative bound need not hold: -1 then.
    fn lower_bound(&self, observer: &dyn Observer) -> Result<f64> {
        let whole = self.whole.lower_bound(observer)?;
        Ok(if whole >= 0.0 { whole } else { -1.0 })
    }

    fn submatrix(&self, rows: &[u32], _observer: &dyn Observer) -> Result<Affinity<'_>> {
        let rows: Vec<u32> = rows.iter().map(|r| self.rows[*r as usize]).collect();
        Ok(Affinity::operator(Submatrix { whole: self.whole, rows }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;

    /// Three points, each pair of similarity 1: the normalised matrix has the eigenvalues 1, -1/2 and -1/2.
    struct Triangle;

    impl SimilarityOperator for Triangle {
        fn n(&self) -> usize {
            3
        }

        fn degrees(&self, _observer: &dyn Observer) -> Result<Vec<f64>> {
            Ok(vec![2.0; 3])
        }

        fn apply(&self, x: &[f64], y: &mut [f64], b: usize, _observer: &dyn Observer) -> Result<()> {
            for (i, y) in y.iter_mut().enumerate() {
                *y = x[(i + b) % x.len()] + x[(i + 2 * b) % x.len()];
            }
            Ok(())
        }

        fn column(&self, j: usize, out: &mut [f64], _observer: &dyn Observer) -> Result<()> {
            out.fill(1.0);
            out[j] = 0.0;
            Ok(())
        }

        fn components(&self, _observer: &dyn Observer) -> Result<Option<Components>> {
            Ok(None)
        }

        fn lower_bound(&self, _observer: &dyn Observer) -> Result<f64> {
            Ok(-0.5)
        }

        fn submatrix(&self, rows: &[u32], _observer: &dyn Observer) -> Result<Affinity<'_>> {
            Ok(Affinity::operator(Submatrix::new(self, rows)))
        }
    }

    #[test]
    fn negative_bound_of_a_triangle_is_not_that_of_its_edge() {
        let edge = Submatrix::new(&Triangle, &[0, 2]);
        let mut product = [0.0; 2];
        edge.apply(&[1.0, -1.0], &mut product, 1, &Silent).unwrap();
        assert_eq!(edge.degrees(&Silent).unwrap(), [1.0, 1.0]);
        assert_eq!(product, [-1.0, 1.0], "an eigenvector with eigenvalue -1");
        assert_eq!(edge.lower_bound(&Silent).unwrap(), -1.0);
    }
}
