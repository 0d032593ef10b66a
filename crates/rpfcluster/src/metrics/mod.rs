//! External evaluation: agreement of labels with known classes, computed from the contingency table.
//!
//! The paper reports the clustering accuracy `rho_c` (best matching of clusters to classes, by the Hungarian method)
//! and the co-cluster accuracy `rho_r`, whose printed numbers show it to be the Rand index (Rand 1971). Both reward
//! useless answers on skewed data: one giant cluster scores the fraction of the largest class. [`Scores`] therefore
//! holds the majority baseline, the adjusted Rand index (Hubert and Arabie 1985) and the normalised mutual information
//! (Fred and Jain 2003) as well. Costs O(n), the table and the matching; pairs of rows are never enumerated.

mod assignment;
mod contingency;

use crate::error::Result;

pub use assignment::{assign_max, best_matching};
pub use contingency::Contingency;

/// Every score of one labelling against known classes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Scores {
    /// Clustering accuracy: rows in matched cells, best matching of clusters to classes, percent.
    pub rho_c: f64,
    /// Rand index: pairs of rows on which both labellings agree, percent.
    pub rho_r: f64,
    /// Adjusted Rand index: 0 for chance, 1 for agreement.
    pub ari: f64,
    /// Normalised mutual information, divided by the mean of the two entropies.
    pub nmi: f64,
    /// The share of the largest class, percent: what a single cluster would score as `rho_c`.
    pub majority: f64,
}

impl Scores {
    /// Scores of `labels` against `classes`; the numbers that name clusters and classes do not matter.
    pub fn new(labels: &[u32], classes: &[u32]) -> Result<Self> {
        Self::of(&Contingency::new(labels, classes)?)
    }

    /// Scores from a contingency table (rows are clusters, columns are classes).
    pub fn of(table: &Contingency) -> Result<Self> {
        let n = table.n() as f64;
        let matched = best_matching(table)?;
        let majority = table.column_sums().iter().max().copied().unwrap_or(0);
        Ok(Scores {
            rho_c: 100.0 * matched as f64 / n,
            rho_r: 100.0 * rand_index(table),
            ari: adjusted_rand(table),
            nmi: mutual_information(table),
            majority: 100.0 * majority as f64 / n,
        })
    }
}

/// The number of rows of each of `k` clusters. Labels from `k` on are not counted.
pub fn cluster_sizes(labels: &[u32], k: usize) -> Vec<usize> {
    let mut sizes = vec![0; k];
    for &label in labels {
        if let Some(size) = sizes.get_mut(label as usize) {
            *size += 1;
        }
    }
    sizes
}

/// Pairs within groups of these sizes.
fn pairs(sizes: impl Iterator<Item = u64>) -> u128 {
    sizes.map(|s| u128::from(s) * u128::from(s.saturating_sub(1)) / 2).sum()
}

/// Pairs together in both, in the clusters, in the classes, and in all.
fn pair_counts(table: &Contingency) -> [u128; 4] {
    [
        pairs(table.cells().iter().map(|c| c.2)),
        pairs(table.row_sums().iter().copied()),
        pairs(table.column_sums().iter().copied()),
        pairs(std::iter::once(table.n())),
    ]
}

/// Integers until the last division: exact at any n.
fn rand_index(table: &Contingency) -> f64 {
    let [both, rows, columns, all] = pair_counts(table);
    if all == 0 { 1.0 } else { (all + 2 * both - rows - columns) as f64 / all as f64 }
}

fn adjusted_rand(table: &Contingency) -> f64 {
    let [both, rows, columns, all] = pair_counts(table).map(|c| c as f64);
    let expected = if all > 0.0 { rows * columns / all } else { 0.0 };
    let most = 0.5 * (rows + columns);
    // One cluster and one class, or singletons on both sides: nothing to adjust, and they agree.
    if most == expected { 1.0 } else { (both - expected) / (most - expected) }
}

fn entropy(sizes: &[u64], n: f64) -> f64 {
    sizes.iter().filter(|s| **s > 0).map(|s| *s as f64 / n).map(|p| -p * libm::log(p)).sum()
}

fn mutual_information(table: &Contingency) -> f64 {
    let n = table.n() as f64;
    let (of_rows, of_columns) = (entropy(table.row_sums(), n), entropy(table.column_sums(), n));
    let mean = 0.5 * (of_rows + of_columns);
    if mean <= 0.0 {
        return 1.0;
    }
    let shared: f64 = table
        .cells()
        .iter()
        .map(|(i, j, count)| {
            let c = *count as f64;
            let (r, s) = (table.row_sums()[*i as usize] as f64, table.column_sums()[*j as usize] as f64);
            c / n * libm::log(c * n / (r * s))
        })
        .sum();
    (shared / mean).clamp(0.0, 1.0)
}
