//! The cut of a node from quantized dot products.
//!
//! Two sets of rows need exact projections: those that can be the smallest or the largest of the node, which determine
//! the cut, and those within the error bound of the cut. All others keep their quantized sums. The cut and both sides
//! equal those of exact projections.

use super::grid::{ProjectionScale, QuantizedRows};
use super::partition;
use crate::forest::grow::Job;
use crate::forest::projection::fixed_order::{DirectionVector, RowStorage};
use crate::forest::split::{NodeKey, cut};
use crate::points::Real;
use crate::simd::dispatch;
use crate::simd::stable_partition::{PartitionBuffer, RowBlock, partition};

/// A quantized direction, with the extremes of the sums projected along it so far.
pub(crate) struct QuantizedDirection {
    values: Vec<i16>,
    scale: ProjectionScale,
    error_bound: f32,
    low: f32,
    high: f32,
}

impl QuantizedDirection {
    /// `None` where the error bound does not hold along the direction. `largest_cut` bounds the cuts that the sums will
    /// be compared with.
    pub fn new<R: Real>(
        rows: &QuantizedRows,
        direction: &DirectionVector<R>,
        largest_cut: f64,
    ) -> Option<Self> {
        let mut values = vec![0; rows.width()];
        let scale =
            rows.grid.quantize_direction(&direction.dense[..rows.grid.d()], largest_cut, &mut values)?;
        let error_bound = rows.grid.error_bound_f32();
        Some(QuantizedDirection { values, scale, error_bound, low: f32::INFINITY, high: f32::NEG_INFINITY })
    }

    /// Writes the sums of these rows and extends the extremes.
    pub fn project(&mut self, rows: &QuantizedRows, ids: &[u32], sums: &mut [f32]) {
        let (low, high) = partition::project(rows, &self.values, ids, sums);
        (self.low, self.high) = (low.min(self.low), high.max(self.high));
    }
}

/// Cuts nodes; holds the buffers for it.
#[derive(Default)]
pub(crate) struct NodeCutter<R> {
    buffer: PartitionBuffer<f32>,
    /// The rows selected for exact projection, and their positions in the node.
    ids: Vec<u32>,
    positions: Vec<u32>,
    exact: Vec<R>,
}

impl<R: Real> NodeCutter<R> {
    /// Chooses the cut of a node and partitions its rows. Returns the cut and the number of rows below it, or `None` if
    /// all projections are equal. `sums` are those of `ids` along `approx`.
    pub fn choose_cut(
        &mut self,
        job: &Job<R>,
        node: NodeKey,
        direction: &DirectionVector<R>,
        approx: &QuantizedDirection,
        ids: &mut [u32],
        sums: &mut [f32],
    ) -> Option<(R, usize)> {
        // The row with the smallest projection has a sum within two error bounds of the smallest sum.
        let reach = 2.0 * approx.error_bound;
        self.positions.clear();
        positions_outside(sums, approx.low + reach, approx.high - reach, &mut self.positions);
        self.select(ids);
        let (low, high) = job.rows.project(&self.ids, direction, &mut self.exact);
        let cut = (high > low).then(|| cut(job.params, node, low, high, &mut []))?;
        Some((cut, self.partition(&job.rows, direction, approx, cut, ids, sums)))
    }

    /// Moves the rows below the cut to the front and returns their number. `sums` are those of `ids` along `approx`.
    pub fn partition(
        &mut self,
        rows: &RowStorage<R>,
        direction: &DirectionVector<R>,
        approx: &QuantizedDirection,
        cut: R,
        ids: &mut [u32],
        sums: &mut [f32],
    ) -> usize {
        let (place, bound) = (approx.scale.sum_of(cut) as f32, approx.error_bound);
        self.positions.clear();
        positions_between(sums, place - bound, place + bound, &mut self.positions);
        self.select(ids);
        rows.project(&self.ids, direction, &mut self.exact);
        for (&at, &exact) in self.positions.iter().zip(&self.exact) {
            sums[at as usize] = if exact < cut { f32::NEG_INFINITY } else { f32::INFINITY };
        }
        partition(RowBlock::ids(ids), sums, place, &mut self.buffer)
    }

    /// Copies the ids at the selected positions.
    fn select(&mut self, ids: &[u32]) {
        self.ids.clear();
        self.ids.extend(self.positions.iter().map(|&at| ids[at as usize]));
        self.exact.resize(self.ids.len(), R::default());
    }
}

dispatch! {
    fn positions_between(sums: &[f32], from: f32, to: f32, positions: &mut Vec<u32>) {
        positions_of::<true>(sums, from, to, positions);
    }
}

dispatch! {
    fn positions_outside(sums: &[f32], from: f32, to: f32, positions: &mut Vec<u32>) {
        positions_of::<false>(sums, from, to, positions);
    }
}

#[inline(always)]
fn positions_of<const BETWEEN: bool>(sums: &[f32], from: f32, to: f32, positions: &mut Vec<u32>) {
    // Sums tested per branch: few groups contain a selected sum.
    const GROUP: usize = 32;
    for (group, sums) in sums.chunks(GROUP).enumerate() {
        let mut any = false;
        for &sum in sums {
            any |= is_selected::<BETWEEN>(sum, from, to);
        }
        if any {
            for (at, &sum) in sums.iter().enumerate() {
                if is_selected::<BETWEEN>(sum, from, to) {
                    positions.push((group * GROUP + at) as u32);
                }
            }
        }
    }
}

#[inline(always)]
fn is_selected<const BETWEEN: bool>(sum: f32, from: f32, to: f32) -> bool {
    if BETWEEN { (sum >= from) & (sum <= to) } else { (sum <= from) | (sum >= to) }
}
