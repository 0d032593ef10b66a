//! What rough sums (`coarse`) leave open about a node: its ends, and who is near the cut. Those points are summed
//! exactly, all others keep their rough sums.

use crate::forest::grow::Job;
use crate::forest::projection::fixed_order::{DirectionVector, Rows};
use crate::forest::quantized::grid::{CoarseRows, Line};
use crate::forest::quantized::partition;
use crate::forest::split::cut;
use crate::points::Real;
use crate::simd::in_wide_registers;
use crate::simd::stable_partition::{Moved, Spare, partition};

/// A direction rounded, with the ends of the sums along it.
pub(crate) struct RoughDirection {
    along: Vec<i16>,
    line: Line,
    ends: (f32, f32),
}

impl RoughDirection {
    /// `None` where rough sums along it tell nothing. `cut` is the largest number that will be compared with sums.
    pub fn new<R: Real>(coarse: &CoarseRows, direction: &DirectionVector<R>, cut: f64) -> Option<Self> {
        let mut along = vec![0; coarse.width()];
        let line = coarse.grid.round_direction(&direction.dense[..coarse.grid.d()], cut, &mut along)?;
        Some(RoughDirection { along, line, ends: (f32::INFINITY, f32::NEG_INFINITY) })
    }

    /// The sums of these points.
    pub fn project(&mut self, coarse: &CoarseRows, ids: &[u32], sums: &mut [f32]) {
        let (low, high) = partition::project(coarse, &self.along, ids, sums);
        self.ends = (low.min(self.ends.0), high.max(self.ends.1));
    }
}

/// Buffers for dividing nodes.
#[derive(Default)]
pub(crate) struct Divider<R> {
    spare: Spare<f32>,
    /// Points picked out of a node, and their places in it.
    ids: Vec<u32>,
    places: Vec<u32>,
    exact: Vec<R>,
}

impl<R: Real> Divider<R> {
    /// Chooses the cut of a node from its sums and moves its points; returns it and how many are below, or `None` where
    /// all are on one value.
    pub fn choose(
        &mut self,
        job: &Job<R>,
        (tree, path): (usize, u64),
        (direction, rough): (&DirectionVector<R>, &RoughDirection),
        ids: &mut [u32],
        sums: &mut [f32],
    ) -> Option<(R, usize)> {
        let coarse = job.coarse.as_ref()?;
        // Whoever has the smallest projection is within two margins of the smallest rough sum.
        let reach = 2.0 * coarse.grid.margin_of_f32();
        self.pick::<false>(ids, sums, (rough.ends.0 + reach, rough.ends.1 - reach));
        let ends = job.rows.project(&self.ids, direction, &mut self.exact);
        let cut = (ends.1 > ends.0).then(|| cut(job.params, tree, path, ends, &mut []))?;
        Some((cut, self.divide((&job.rows, coarse), (direction, rough), cut, ids, sums)))
    }

    /// Moves points below the cut to the front; returns how many. `sums` are those along the direction.
    pub fn divide(
        &mut self,
        (rows, coarse): (&Rows<R>, &CoarseRows),
        (direction, rough): (&DirectionVector<R>, &RoughDirection),
        cut: R,
        ids: &mut [u32],
        sums: &mut [f32],
    ) -> usize {
        let (place, margin) = (rough.line.place(cut) as f32, coarse.grid.margin_of_f32());
        self.pick::<true>(ids, sums, (place - margin, place + margin));
        rows.project(&self.ids, direction, &mut self.exact);
        for (&at, &exact) in self.places.iter().zip(&self.exact) {
            sums[at as usize] = if exact < cut { f32::NEG_INFINITY } else { f32::INFINITY };
        }
        let moved = Moved { ids, columns: &mut [], stride: 0, at: 0 };
        partition(moved, sums, place, &mut self.spare)
    }

    /// Picks the points with sums between the two numbers, or those outside.
    fn pick<const BETWEEN: bool>(&mut self, ids: &[u32], sums: &[f32], (from, to): (f32, f32)) {
        self.places.clear();
        if BETWEEN {
            places_between(sums, from, to, &mut self.places);
        } else {
            places_outside(sums, from, to, &mut self.places);
        }
        self.ids.clear();
        self.ids.extend(self.places.iter().map(|&at| ids[at as usize]));
        self.exact.resize(self.ids.len(), R::default());
    }
}

in_wide_registers! {
    fn places_between(sums: &[f32], from: f32, to: f32, places: &mut Vec<u32>) {
        places_of::<true>(sums, from, to, places);
    }
}

in_wide_registers! {
    fn places_outside(sums: &[f32], from: f32, to: f32, places: &mut Vec<u32>) {
        places_of::<false>(sums, from, to, places);
    }
}

#[inline(always)]
fn places_of<const BETWEEN: bool>(sums: &[f32], from: f32, to: f32, places: &mut Vec<u32>) {
    const STEP: usize = 32;
    for (step, sums) in sums.chunks(STEP).enumerate() {
        // Few steps have any: one branch for all of a step.
        let mut any = false;
        for &sum in sums {
            any |= wanted::<BETWEEN>(sum, from, to);
        }
        if any {
            for (at, &sum) in sums.iter().enumerate() {
                if wanted::<BETWEEN>(sum, from, to) {
                    places.push((step * STEP + at) as u32);
                }
            }
        }
    }
}

#[inline(always)]
fn wanted<const BETWEEN: bool>(sum: f32, from: f32, to: f32) -> bool {
    if BETWEEN { (sum >= from) & (sum <= to) } else { (sum <= from) | (sum >= to) }
}
