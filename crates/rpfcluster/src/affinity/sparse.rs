//! The CSR graph as a similarity operator.

use std::borrow::Cow;

use super::{Affinity, SimilarityOperator};
use crate::error::Result;
use crate::graph::{Components, SparseAffinity};
use crate::observe::{Observer, check};

impl SimilarityOperator for SparseAffinity {
    fn n(&self) -> usize {
        SparseAffinity::n(self)
    }

    fn degrees(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        SparseAffinity::degrees(self, observer)
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) -> Result<()> {
        SparseAffinity::apply(self, x, y, b, observer)
    }

    fn column(&self, j: usize, out: &mut [f64], observer: &dyn Observer) -> Result<()> {
        check(observer)?;
        out.fill(SparseAffinity::constant(self));
        for e in self.indptr()[j]..self.indptr()[j + 1] {
            out[self.indices()[e] as usize] += self.weights().get(e);
        }
        Ok(())
    }

    fn components(&self, observer: &dyn Observer) -> Result<Option<Components>> {
        SparseAffinity::components(self, observer)
    }

    fn constant(&self) -> f64 {
        SparseAffinity::constant(self)
    }

    fn lower_bound(&self, observer: &dyn Observer) -> Result<f64> {
        SparseAffinity::lower_bound(self, observer)
    }

    fn submatrix(&self, rows: &[u32], observer: &dyn Observer) -> Result<Affinity<'_>> {
        Ok(Affinity::Graph(Cow::Owned(self.principal_submatrix(rows, observer)?)))
    }
}
