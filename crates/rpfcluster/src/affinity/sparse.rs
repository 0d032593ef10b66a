//! A similarity graph as an affinity.

use std::borrow::Cow;

use super::Affinity;
use super::cancellable::WatchedSparse;
use crate::graph::{Components, SparseAffinity};
use crate::observe::{Observer, Silent};

impl Affinity for SparseAffinity {
    fn n(&self) -> usize {
        SparseAffinity::n(self)
    }

    fn degrees(&self) -> Vec<f64> {
        self.degrees_until(&Silent)
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize) {
        self.apply_until(x, y, b, &Silent);
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        out.fill(SparseAffinity::constant(self));
        for e in self.indptr()[j]..self.indptr()[j + 1] {
            out[self.indices()[e] as usize] += self.weights().get(e);
        }
    }

    fn components(&self) -> Option<Components> {
        self.components_until(&Silent)
    }

    fn constant(&self) -> f64 {
        SparseAffinity::constant(self)
    }

    fn lower_bound(&self) -> f64 {
        self.lower_bound_until(&Silent)
    }

    fn neighbor_graph(&self) -> Option<&SparseAffinity> {
        self.is_of_neighbors().then_some(self)
    }

    fn graph(&self) -> Option<&SparseAffinity> {
        (SparseAffinity::constant(self) == 0.0).then_some(self)
    }

    fn restrict<'a>(&'a self, rows: &[u32]) -> Box<dyn Affinity + 'a> {
        Box::new(self.cut_out(rows, &Silent))
    }

    fn in_order<'a>(&'a self, order: &[u32]) -> Option<Box<dyn Affinity + 'a>> {
        Some(self.restrict(order))
    }

    fn watched<'a>(&'a self, observer: &'a dyn Observer) -> Option<Box<dyn Affinity + 'a>> {
        Some(Box::new(WatchedSparse { pairs: Cow::Borrowed(self), observer }))
    }
}
