//! A graph with its points taken together in small groups: where the eigenvectors of a large graph begin.
//!
//! Every point goes with its heaviest neighbour, and the groups are the trees that grow from it (the first round of
//! Borůvka's algorithm), four points on average. What a cluster is can be told from the groups nearly as well as
//! from the points: their graph, a weight between two groups being the sum of those between their points, has a
//! quarter of the points and eigenvectors that differ by a few hundredths. Ranges of one tree's leaves as groups were
//! ten times further off, since a leaf of one tree may hold two clusters.

use rayon::prelude::*;

use super::csr::{ASK, CHUNK};
use super::{SparseAffinity, Weights};
use crate::observe::Observer;
use crate::random::mix;

/// The graph of the groups, and who is in them.
pub(crate) struct Grouped {
    pub graph: SparseAffinity,
    pub group_of: Vec<u32>,
    /// Where each group begins in `members`; one more entry holds their number.
    pub starts: Vec<u32>,
    pub members: Vec<u32>,
}

impl SparseAffinity {
    /// Groups of points that are each other's heaviest neighbours. Means nothing once `observer` wanted to stop.
    pub(crate) fn grouped(&self, observer: &dyn Observer) -> Grouped {
        let heaviest = self.heaviest_neighbors(observer);
        let (group_of, count) = joined(&heaviest);
        let mut starts = vec![0u32; count + 1];
        for group in &group_of {
            starts[*group as usize + 1] += 1;
        }
        for group in 0..count {
            starts[group + 1] += starts[group];
        }
        let mut members = vec![0u32; group_of.len()];
        let mut next = starts.clone();
        for (point, group) in (0..).zip(&group_of) {
            let at = &mut next[*group as usize];
            members[*at as usize] = point;
            *at += 1;
        }
        let graph = self.between_groups(&group_of, (&starts, &members), observer);
        Grouped { graph, group_of, starts, members }
    }

    /// The share of each point's weight that is its own.
    pub(crate) fn own_shares(&self) -> Vec<f64> {
        (0..self.indptr.len() - 1)
            .into_par_iter()
            .map(|i| {
                let (mut own, mut all) = (0.0, 0.0);
                for e in self.indptr[i]..self.indptr[i + 1] {
                    let weight = self.weights.get(e);
                    all += weight;
                    own += if self.indices[e] as usize == i { weight } else { 0.0 };
                }
                if all > 0.0 { own / all } else { 0.0 }
            })
            .collect()
    }

    /// The neighbour each point has the most weight with, itself if it has none. Equal weights are told apart by the
    /// hash of the pair: by number, all points of a ring would follow one another into one group.
    fn heaviest_neighbors(&self, observer: &dyn Observer) -> Vec<u32> {
        let n = self.indptr.len() - 1;
        let mut heaviest: Vec<u32> = (0..n as u32).collect();
        heaviest.par_chunks_mut(ASK).with_min_len(CHUNK / ASK).enumerate().for_each(|(run, out)| {
            if observer.cancelled() {
                return;
            }
            for (i, out) in (run * ASK..).zip(out) {
                let mut best = (0.0, 0);
                for e in self.indptr[i]..self.indptr[i + 1] {
                    let (j, weight) = (self.indices[e], self.weights.get(e));
                    if j as usize == i || weight < best.0 || weight <= 0.0 {
                        continue;
                    }
                    let (low, high) = (u64::from(j).min(i as u64), u64::from(j).max(i as u64));
                    let this = (weight, mix(low << 32 | high));
                    if this.0 > best.0 || this.1 > best.1 {
                        best = this;
                        *out = j;
                    }
                }
            }
        });
        heaviest
    }

    /// The sums of the weights between groups, those within a group on the diagonal.
    fn between_groups(
        &self,
        group_of: &[u32],
        (starts, members): (&[u32], &[u32]),
        observer: &dyn Observer,
    ) -> SparseAffinity {
        let count = starts.len() - 1;
        let runs: Vec<(Vec<usize>, Vec<u32>, Vec<f64>)> = (0..count.div_ceil(CHUNK))
            .into_par_iter()
            .map_init(
                || vec![0.0f64; count],
                |sums, run| {
                    let own = run * CHUNK..((run + 1) * CHUNK).min(count);
                    let (mut lengths, mut indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
                    for group in own {
                        let first = indices.len();
                        if !(group.is_multiple_of(ASK) && observer.cancelled()) {
                            for &point in &members[starts[group] as usize..starts[group + 1] as usize] {
                                for e in self.indptr[point as usize]..self.indptr[point as usize + 1] {
                                    let weight = self.weights.get(e);
                                    if weight > 0.0 {
                                        let other = group_of[self.indices[e] as usize];
                                        let sum = &mut sums[other as usize];
                                        if *sum == 0.0 {
                                            indices.push(other);
                                        }
                                        *sum += weight;
                                    }
                                }
                            }
                        }
                        indices[first..].sort_unstable();
                        values
                            .extend(indices[first..].iter().map(|j| std::mem::take(&mut sums[*j as usize])));
                        lengths.push(indices.len() - first);
                    }
                    (lengths, indices, values)
                },
            )
            .collect();
        let pairs = runs.iter().map(|run| run.1.len()).sum();
        let (mut indptr, mut indices, mut values) =
            (Vec::with_capacity(count + 1), Vec::with_capacity(pairs), Vec::with_capacity(pairs));
        indptr.push(0);
        for (lengths, some, their) in runs {
            for length in lengths {
                indptr.push(indptr[indptr.len() - 1] + length);
            }
            indices.extend(some);
            values.extend(their);
        }
        let weights = Weights::Values(values);
        SparseAffinity { constant: 0.0, indptr, indices, weights, of_neighbors: false }
    }
}

/// The group of each point when every point goes with the one it names, numbered in the order of their first points.
fn joined(with: &[u32]) -> (Vec<u32>, usize) {
    fn root(parent: &mut [u32], mut i: u32) -> u32 {
        while parent[i as usize] != i {
            parent[i as usize] = parent[parent[i as usize] as usize];
            i = parent[i as usize];
        }
        i
    }
    let mut parent: Vec<u32> = (0..with.len() as u32).collect();
    for (i, j) in (0..).zip(with) {
        let (a, b) = (root(&mut parent, i), root(&mut parent, *j));
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut count = 0;
    let mut group_of = vec![0u32; with.len()];
    for i in 0..with.len() as u32 {
        let root = root(&mut parent, i);
        // The root is the first point of its group.
        group_of[i as usize] = if root == i {
            count += 1;
            count - 1
        } else {
            group_of[root as usize]
        };
    }
    (group_of, count as usize)
}
