//! K communities: a resolution is searched at which the Leiden algorithm finds K.
//!
//! The number of communities grows with the resolution, though not strictly: the partitions are local optima. A fine
//! partition, of several times K communities, is found first; bisection of log γ on its network, which is small, starts
//! the search on the whole graph, where every partition starts from that of a nearby resolution. Where no resolution
//! gives K, the partition with the least number above K is merged, always the pair that gains most quality. Single rows
//! are the limit of high resolutions, so a finer partition always exists. As many connected components as K, or more, are
//! the communities themselves, merged where they are more.

use std::cmp::Ordering;

use super::network::Network;
use super::{Leiden, count, merging};
use crate::error::{Error, Result, parameter};
use crate::graph::Components;
use crate::kmeans::relabel_by_first_appearance;
use crate::observe::{Observer, check};

/// Communities of the fine partition for each of the K: enough that their unions come close to every partition into K.
const FINE: usize = 8;
/// Factor between the resolutions that are tried for the fine partition.
const FINER: f64 = 4.0;
/// Largest number of resolutions tried for the fine partition: 4^20 times the unit makes single rows of any graph.
const MAX_FINER: usize = 20;
/// Bisections on the small network, at most.
const SMALL_STEPS: usize = 40;
/// Resolutions tried on the whole graph, at most.
const WHOLE_STEPS: usize = 24;
/// Relative distance of two resolutions that have met.
const CLOSE: f64 = 1e-5;
/// First factor between resolutions on the whole graph; its logarithm doubles until K is passed.
const FIRST_FACTOR: f64 = 1.1;
/// Iterations of a partition that is only counted.
const COUNTED: usize = 2;
/// Iterations of the partition that is returned.
const RETURNED: usize = 10;

/// K communities and how they were found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AtK {
    /// The community of each row, numbered by first appearance.
    pub labels: Vec<u32>,
    /// The resolution; 0 where the communities are connected components.
    pub resolution: f64,
    /// The number of communities at that resolution, before merging.
    pub found: usize,
}

/// Merges connected components to K groups.
pub(crate) type MergeComponents<'a> = dyn Fn(&Components) -> Result<Components> + 'a;

/// Resolutions on both sides of K.
struct Bracket {
    /// The highest resolution with fewer than K communities; 0 where none is known.
    low: f64,
    /// The lowest resolution with more than K; infinite where none is known.
    high: f64,
    /// Factor of the last step outwards.
    step: f64,
}

impl Bracket {
    /// The resolution to try after `last`: the geometric mean, or a step outwards.
    fn next(&mut self, last: f64) -> f64 {
        if self.low > 0.0 && self.high.is_finite() {
            return (self.low * self.high).sqrt();
        }
        self.step *= self.step;
        if self.low > 0.0 { last * self.step } else { last / self.step }
    }

    /// Whether the two sides have met.
    fn is_closed(&self) -> bool {
        self.high <= self.low * (1.0 + CLOSE)
    }
}

impl Leiden {
    /// K communities. `merge` merges the connected components to K where there are more; without it, surplus components
    /// join the largest.
    pub fn at_k(&self, k: usize, merge: Option<&MergeComponents>, observer: &dyn Observer) -> Result<AtK> {
        let n = self.network.n();
        if k == 0 {
            return Err(parameter("k", k, "at least 1"));
        }
        if k > n {
            return Err(Error::TooManyClusters { k, distinct: n });
        }
        let components = self.components(observer)?;
        if components.count() >= k {
            let found = components.count();
            let merged = match merge.filter(|_| found > k) {
                Some(merge) => merge(&components)?,
                None => components.merge_into_largest(k),
            };
            return Ok(AtK { labels: merged.of, resolution: 0.0, found });
        }
        let (fine, finest) = self.fine_partition(k, observer)?;
        let (mut resolution, mut labels) = self.on_small_network(k, &fine, finest, observer)?;
        // The least number of communities above K so far.
        let mut more = (finest, fine);
        let mut bracket = Bracket { low: 0.0, high: f64::INFINITY, step: FIRST_FACTOR.sqrt() };
        for _ in 0..WHOLE_STEPS {
            check(observer)?;
            labels = self.optimised(&self.network, labels, resolution, COUNTED, observer)?;
            let found = count(&labels);
            match found.cmp(&k) {
                Ordering::Equal => {
                    let further =
                        self.optimised(&self.network, labels.clone(), resolution, RETURNED, observer)?;
                    // Further iterations gain quality, but may change the number of communities.
                    let labels = if count(&further) == k { further } else { labels };
                    return Ok(AtK { labels, resolution, found });
                }
                Ordering::Less => bracket.low = bracket.low.max(resolution),
                Ordering::Greater => {
                    bracket.high = bracket.high.min(resolution);
                    if found < count(&more.1) {
                        more = (resolution, labels.clone());
                    }
                }
            }
            if bracket.is_closed() {
                break;
            }
            resolution = bracket.next(resolution);
        }
        let (resolution, labels) = more;
        let found = count(&labels);
        let labels = self.merged(labels, resolution, k, observer)?;
        Ok(AtK { labels, resolution, found })
    }

    /// A partition of at least [`FINE`] K communities, or single rows where these are fewer, and its resolution.
    fn fine_partition(&self, k: usize, observer: &dyn Observer) -> Result<(Vec<u32>, f64)> {
        let n = self.network.n();
        let mut resolution = self.unit();
        for _ in 0..MAX_FINER {
            let single = (0..n as u32).collect();
            let labels = self.optimised(&self.network, single, resolution, 1, observer)?;
            if count(&labels) >= (FINE * k).min(n) {
                return Ok((labels, resolution));
            }
            resolution *= FINER;
        }
        Ok(((0..n as u32).collect(), resolution))
    }

    /// The resolution below `finest` at which unions of the fine communities are K, or nearly, and these unions.
    fn on_small_network(
        &self,
        k: usize,
        fine: &[u32],
        finest: f64,
        observer: &dyn Observer,
    ) -> Result<(f64, Vec<u32>)> {
        let groups = count(fine);
        let small = self.network.aggregated(fine, groups, observer)?;
        let (mut low, mut high) = (finest * 1e-9, finest);
        let mut best: Option<(usize, f64, Vec<u32>)> = None;
        for _ in 0..SMALL_STEPS {
            check(observer)?;
            let resolution = (low * high).sqrt();
            let single = (0..groups as u32).collect();
            let labels = self.optimised(&small, single, resolution, COUNTED, observer)?;
            let found = count(&labels);
            let distance = found.abs_diff(k);
            if best.as_ref().is_none_or(|(least, _, _)| distance < *least) {
                best = Some((distance, resolution, labels));
            }
            match found.cmp(&k) {
                Ordering::Equal => break,
                Ordering::Less => low = resolution,
                Ordering::Greater => high = resolution,
            }
            if high <= low * (1.0 + CLOSE) {
                break;
            }
        }
        let (_, resolution, unions) = best.unwrap_or((0, finest, (0..groups as u32).collect()));
        Ok((resolution, fine.iter().map(|community| unions[*community as usize]).collect()))
    }

    /// Merges the communities of `labels` to K.
    fn merged(
        &self,
        labels: Vec<u32>,
        resolution: f64,
        k: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        let network: Network = self.network.aggregated(&labels, count(&labels), observer)?;
        let group_of = merging::merged(&network, resolution * self.factor(), k, observer)?;
        let mut merged: Vec<u32> = labels.iter().map(|community| group_of[*community as usize]).collect();
        relabel_by_first_appearance(&mut merged);
        Ok(merged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_steps_outwards_ever_faster_until_both_sides_are_known() {
        let mut open = Bracket { low: 0.0, high: f64::INFINITY, step: 2.0 };
        assert_eq!(open.next(8.0), 2.0, "downwards while no resolution is known to be too low");
        open.low = 0.5;
        assert_eq!(open.next(0.5), 8.0, "upwards by the square of the last step");
        open.high = 8.0;
        assert_eq!(open.next(8.0), 2.0, "the geometric mean");
        assert!(!open.is_closed());
        let mut above = Bracket { low: 0.0, high: 8.0, step: 2.0 };
        assert_eq!(above.next(8.0), 2.0, "no mean with an unknown side");
        let closed = Bracket { low: 1.0, high: 1.0 + 0.5 * CLOSE, step: 2.0 };
        assert!(closed.is_closed());
        assert!(!Bracket { low: 1.0, high: 1.0 + 2.0 * CLOSE, step: 2.0 }.is_closed());
    }
}
