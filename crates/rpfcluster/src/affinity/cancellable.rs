//! Similarities with an ear for their caller.
//!
//! A product with a hundred million pairs takes seconds, and no method of [`Affinity`] can fail. A watched similarity
//! leaves out the rest of its work once the observer wants to stop; what it returns then means nothing, and whoever
//! asked for it asks the observer before using it. [`embed`](crate::eigen::embed) and
//! [`label`](crate::label::label) watch whatever they are given.

use std::borrow::Cow;

use super::{Affinity, LinearAffinity, Masked, SparseAffinity};
use crate::graph::Components;
use crate::kernel::LeafMatrix;
use crate::observe::Observer;

/// A sparse similarity, or a part cut out of one, that stops when told to.
pub(super) struct WatchedSparse<'a> {
    pub pairs: Cow<'a, SparseAffinity>,
    pub observer: &'a dyn Observer,
}

impl Affinity for WatchedSparse<'_> {
    fn n(&self) -> usize {
        self.pairs.n()
    }

    fn degrees(&self) -> Vec<f64> {
        self.pairs.degrees_until(self.observer)
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize) {
        self.pairs.apply_until(x, y, b, self.observer);
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        if !self.observer.cancelled() {
            self.pairs.column(j, out);
        }
    }

    fn components(&self) -> Option<Components> {
        self.pairs.components_until(self.observer)
    }

    fn constant(&self) -> f64 {
        self.pairs.constant()
    }

    fn lower_bound(&self) -> f64 {
        self.pairs.lower_bound_until(self.observer)
    }

    fn neighbor_graph(&self) -> Option<&SparseAffinity> {
        self.pairs.neighbor_graph()
    }

    fn restrict<'b>(&'b self, rows: &[u32]) -> Box<dyn Affinity + 'b> {
        let pairs = Cow::Owned(self.pairs.cut_out(rows, self.observer));
        Box::new(WatchedSparse { pairs, observer: self.observer })
    }

    fn in_order<'b>(&'b self, order: &[u32]) -> Option<Box<dyn Affinity + 'b>> {
        Some(self.restrict(order))
    }

    fn graph(&self) -> Option<&SparseAffinity> {
        self.pairs.graph()
    }
}

/// The kernel itself.
pub(super) struct WatchedLinear<'a> {
    pub kernel: &'a LinearAffinity,
    pub observer: &'a dyn Observer,
}

impl Affinity for WatchedLinear<'_> {
    fn n(&self) -> usize {
        self.kernel.n()
    }

    fn degrees(&self) -> Vec<f64> {
        self.kernel.leaves.degrees(self.observer).unwrap_or_else(|_| vec![0.0; self.n()])
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize) {
        // Cancelled: the caller asks the observer before it uses y.
        let _ = self.kernel.leaves.apply(x, y, b, self.observer);
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        if self.kernel.leaves.prepare_leaf_ids(self.observer).is_ok() {
            self.kernel.column(j, out);
        }
    }

    fn components(&self) -> Option<Components> {
        self.kernel.components()
    }

    fn lower_bound(&self) -> f64 {
        self.kernel.lower_bound()
    }

    fn restrict<'b>(&'b self, rows: &[u32]) -> Box<dyn Affinity + 'b> {
        Box::new(Masked::watched(self, rows, self.observer))
    }

    fn kernel(&self) -> Option<&LeafMatrix> {
        self.kernel.kernel()
    }
}
