//! Selection without classes: the medoid of a set of partitions under the adjusted Rand index (Hubert and Arabie, J.
//! Classif. 2, 1985).

use rayon::prelude::*;

use rpfcluster::Result;
use rpfcluster::metrics::Scores;
use rpfcluster::observe::{Observer, check};

/// The index of the partition with the highest mean adjusted Rand index to all, each counted with its weight; the first
/// of equals. Those of weight 0 are left out, and of more than `compared` partitions only the heaviest are compared. Costs
/// O(n · compared²).
///
/// ```
/// let partitions = vec![vec![0, 0, 0, 1], vec![0, 0, 1, 1], vec![0, 1, 1, 1]];
/// // The outer two agree more with the middle one than with each other.
/// assert_eq!(rpfcluster_paper::sweep::most_agreed(&partitions, &[1.0; 3], 100, &rpfcluster::Silent)?, 1);
/// # Ok::<(), rpfcluster::Error>(())
/// ```
pub fn most_agreed(
    partitions: &[Vec<u32>],
    weights: &[f64],
    compared: usize,
    observer: &dyn Observer,
) -> Result<usize> {
    let mut taken: Vec<usize> = (0..partitions.len()).collect();
    let weight = |at: usize| weights.get(at).copied().unwrap_or(0.0);
    taken.retain(|at| weight(*at) > 0.0);
    taken.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)).then(a.cmp(b)));
    taken.truncate(compared.max(1));
    let pairs: Vec<(usize, usize)> =
        (0..taken.len()).flat_map(|a| (a + 1..taken.len()).map(move |b| (a, b))).collect();
    let agreements: Result<Vec<f64>> = pairs
        .par_iter()
        .map(|(a, b)| {
            check(observer)?;
            Scores::new(&partitions[taken[*a]], &partitions[taken[*b]]).map(|s| s.ari)
        })
        .collect();
    let mut sums: Vec<f64> = taken.iter().map(|at| weight(*at)).collect();
    for ((a, b), ari) in pairs.into_iter().zip(agreements?) {
        sums[a] += ari * weight(taken[b]);
        sums[b] += ari * weight(taken[a]);
    }
    let best = (0..taken.len()).reduce(|best, at| {
        let better = sums[at] > sums[best] || (sums[at] == sums[best] && taken[at] < taken[best]);
        if better { at } else { best }
    });
    Ok(best.map_or(0, |at| taken[at]))
}
