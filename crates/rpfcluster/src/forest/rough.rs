//! What rough sums (`coarse`) leave open about a large node: its ends, and who is near the cut. Those points are summed
//! exactly, all others keep their rough sums.

use super::grow::Job;
use super::project::DirectionVector;
use crate::points::Real;

/// Points picked out of a node.
#[derive(Default)]
pub(crate) struct Picked<R> {
    ids: Vec<u32>,
    /// Their places in the node.
    places: Vec<u32>,
    exact: Vec<R>,
}

impl<R: Real> Picked<R> {
    /// The exact ends of a node whose rough sums end at `low` and `high`: whoever has the smallest projection is within
    /// two margins of the smallest rough sum.
    pub fn ends(
        &mut self,
        job: &Job<R>,
        direction: &DirectionVector<R>,
        (ids, sums): (&[u32], &[f32]),
        (low, high): (f32, f32),
        margin: f32,
    ) -> (R, R) {
        self.pick::<false>(ids, sums, (low + 2.0 * margin, high - 2.0 * margin));
        job.rows.project(&self.ids, direction, &mut self.exact)
    }

    /// Makes the sums of points near the cut, which lies at `place`, infinite: below or above it, as they are.
    pub fn decide(
        &mut self,
        job: &Job<R>,
        direction: &DirectionVector<R>,
        (ids, sums): (&[u32], &mut [f32]),
        (cut, place): (R, f32),
        margin: f32,
    ) {
        self.pick::<true>(ids, sums, (place - margin, place + margin));
        job.rows.project(&self.ids, direction, &mut self.exact);
        for (&at, &exact) in self.places.iter().zip(&self.exact) {
            sums[at as usize] = if exact < cut { f32::NEG_INFINITY } else { f32::INFINITY };
        }
    }

    /// Picks the points with sums between the two numbers, or those outside.
    fn pick<const BETWEEN: bool>(&mut self, ids: &[u32], sums: &[f32], (from, to): (f32, f32)) {
        const STEP: usize = 32;
        self.ids.clear();
        self.places.clear();
        for (step, (ids, sums)) in ids.chunks(STEP).zip(sums.chunks(STEP)).enumerate() {
            // Few steps have any: one branch for all of a step.
            let wanted =
                |&sum: &f32| if BETWEEN { (sum >= from) & (sum <= to) } else { (sum <= from) | (sum >= to) };
            if sums.iter().fold(false, |any, sum| any | wanted(sum)) {
                for (i, _) in sums.iter().enumerate().filter(|(_, sum)| wanted(sum)) {
                    self.ids.push(ids[i]);
                    self.places.push((step * STEP + i) as u32);
                }
            }
        }
        self.exact.resize(self.ids.len(), R::default());
    }
}
