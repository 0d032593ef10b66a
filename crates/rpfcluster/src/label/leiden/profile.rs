//! The resolution profile: the number of communities and the quality on a grid of resolutions. A number of communities
//! that lasts over a wide range of resolutions is evidence for it (Traag, Krings and Van Dooren 2013).

use super::{Leiden, check_resolution, count};
use crate::affinity::SparseAffinity;
use crate::eigen::Quality;
use crate::error::{Result, parameter};
use crate::observe::{Observer, check};

/// Iterations at each resolution but the first: the partition of the next finer one is close.
const ITERATIONS: usize = 2;

/// One resolution of a profile.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ResolutionLevel {
    /// The resolution.
    pub resolution: f64,
    /// The number of communities.
    pub communities: usize,
    /// The quality at this resolution: modularity, or the CPM sum.
    pub quality: f64,
}

/// `count` resolutions in geometric progression from `lowest` to `highest`.
pub fn geometric_resolutions(lowest: f64, highest: f64, count: usize) -> Result<Vec<f64>> {
    check_resolution(lowest)?;
    check_resolution(highest)?;
    if highest < lowest {
        return Err(parameter("highest", highest, format!("at least the lowest, which is {lowest}")));
    }
    let steps = count.saturating_sub(1).max(1) as f64;
    let span = libm::log(highest / lowest);
    Ok((0..count).map(|at| lowest * libm::exp(span * at as f64 / steps)).collect())
}

/// The profile of a graph at these resolutions, in their order. Computed from the highest to the lowest; each starts from
/// the partition of the one before.
pub fn resolution_profile(
    graph: &SparseAffinity,
    quality: Quality,
    resolutions: &[f64],
    seed: u64,
    observer: &dyn Observer,
) -> Result<Vec<ResolutionLevel>> {
    resolutions.iter().try_for_each(|resolution| check_resolution(*resolution))?;
    let leiden = Leiden::new(graph, None, quality, seed, observer)?;
    let mut order: Vec<usize> = (0..resolutions.len()).collect();
    order.sort_by(|a, b| resolutions[*b].total_cmp(&resolutions[*a]).then(a.cmp(b)));
    let mut levels = vec![None; resolutions.len()];
    let mut labels: Option<Vec<u32>> = None;
    for at in order {
        check(observer)?;
        let resolution = resolutions[at];
        let found = match labels.take() {
            None => leiden.communities(resolution, observer)?,
            Some(start) => leiden.optimised(&leiden.network, start, resolution, ITERATIONS, observer)?,
        };
        levels[at] = Some(ResolutionLevel {
            resolution,
            communities: count(&found),
            quality: leiden.quality(&found, resolution),
        });
        labels = Some(found);
    }
    Ok(levels.into_iter().flatten().collect())
}
