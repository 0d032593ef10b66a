//! The co-association matrix of several clusterings (Fred and Jain, Combining multiple clusterings using evidence
//! accumulation, 2005).
//!
//! An entry is the fraction of clusterings that put two rows into the same cluster: the rpf-kernel with clusterings in
//! place of trees. Counts of at most T, a threshold and one table of `exp((s - 1) / beta2)` make the affinity a
//! constant plus a sparse part. Counting costs n² T comparisons and O(n) memory per thread.
//! If only landmarks were clustered, every other row joins the cluster of landmarks with the highest mean affinity.

use rayon::prelude::*;
use rpfcluster::Result;
use rpfcluster::affinity::{SparseAffinity, Weights};
use rpfcluster::observe::{Observer, check};

/// The labels of `n` rows in T clusterings, clustering by clustering.
pub(super) struct CoAssociation {
    pub n: usize,
    pub codes: Vec<Vec<u16>>,
}

impl CoAssociation {
    /// The same clusterings restricted to some rows.
    pub fn of_rows(&self, rows: &[u32]) -> CoAssociation {
        let codes = self.codes.iter().map(|c| rows.iter().map(|i| c[*i as usize]).collect()).collect();
        CoAssociation { n: rows.len(), codes }
    }

    /// The number of clusterings in which row `i` of `self` shares a cluster with each row of `others`.
    fn counts(&self, i: usize, others: &CoAssociation, out: &mut [u16]) {
        out.fill(0);
        for (own, theirs) in self.codes.iter().zip(&others.codes) {
            let label = own[i];
            for (count, other) in out.iter_mut().zip(theirs) {
                *count += u16::from(*other == label);
            }
        }
    }

    /// The pairs that share a cluster in at least `beta1` of the clusterings, weighted with bandwidth `beta2`.
    pub fn affinity(&self, beta1: f64, beta2: f64, observer: &dyn Observer) -> Result<SparseAffinity> {
        let instances = self.codes.len();
        let least = least_count(beta1, instances);
        let rows: Result<Vec<(Vec<u32>, Vec<u16>)>> = (0..self.n)
            .into_par_iter()
            .map_init(
                || vec![0u16; self.n],
                |counts, i| {
                    check(observer)?;
                    self.counts(i, self, counts);
                    let together = counts.iter().enumerate().filter(|(_, c)| **c >= least);
                    Ok(together.map(|(j, c)| (j as u32, *c)).unzip())
                },
            )
            .collect();
        let mut starts = vec![0];
        let (mut indices, mut counts) = (Vec::new(), Vec::new());
        for (columns, shared) in rows? {
            check(observer)?;
            indices.extend(columns);
            counts.extend(shared);
            starts.push(indices.len());
        }
        let table = (0..=instances).map(|_| 0.0).collect();
        SparseAffinity::new(0.0, starts, indices, Weights::Table { counts, table })?.at_bandwidth(beta2)
    }

    /// The label of every row: its own for one of the labelled `landmarks`, otherwise that of the cluster of landmarks
    /// with the highest mean similarity.
    pub fn extend(
        &self,
        landmarks: &[u32],
        labels: &[u32],
        k: usize,
        beta1: f64,
        beta2: f64,
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        let known = self.of_rows(landmarks);
        let instances = self.codes.len();
        let least = least_count(beta1, instances);
        let weights: Vec<f64> = (0..=instances)
            .map(|c| if c >= least as usize { c as f64 / instances as f64 } else { 0.0 })
            .map(|s| ((s - 1.0) / beta2).exp())
            .collect();
        let mut sizes = vec![0.0f64; k];
        labels.iter().for_each(|l| sizes[*l as usize] += 1.0);
        (0..self.n)
            .into_par_iter()
            .map_init(
                || (vec![0u16; known.n], vec![0.0f64; k]),
                |(counts, sums), i| {
                    check(observer)?;
                    if let Ok(at) = landmarks.binary_search(&(i as u32)) {
                        return Ok(labels[at]);
                    }
                    self.counts(i, &known, counts);
                    sums.fill(0.0);
                    for (count, label) in counts.iter().zip(labels) {
                        sums[*label as usize] += weights[*count as usize];
                    }
                    let mean = |c: usize| sums[c] / sizes[c].max(1.0);
                    Ok((1..k).fold(0, |best, c| if mean(c) > mean(best) { c } else { best }) as u32)
                },
            )
            .collect()
    }
}

/// The smallest count, at least 1, whose share of the instances reaches `beta1`.
fn least_count(beta1: f64, instances: usize) -> u16 {
    let wanted = |count: &usize| *count as f64 / instances as f64 >= beta1;
    (1..=instances).find(wanted).unwrap_or(instances).max(1) as u16
}
