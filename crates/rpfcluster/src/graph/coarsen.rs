//! Aggregation of a graph for multigrid: coarsening by heaviest neighbours (the first round of Borůvka's algorithm).
//!
//! Every point joins its heaviest neighbour, and the aggregates are the connected components of these edges, four
//! points on average (compare Notay's pairwise aggregation, ETNA 37, 2010, and LAMG, Livne and Brandt 2012). The coarse
//! graph is the Galerkin product with piecewise constant interpolation: the weight between two aggregates is the sum of
//! the weights between their points, and the weight within an aggregate stands on the diagonal. It has about a quarter
//! of the points, and its leading eigenvectors differ from those of the graph by a few hundredths. The leaves of one
//! tree are worse aggregates, since a leaf may hold points of two clusters.
//!
//! Two passes over the stored pairs; the result does not depend on the number of threads.

use rayon::prelude::*;

use super::csr::{CANCEL_CHECK_ROWS, CHUNK_ROWS};
use super::{SparseAffinity, Weights, find_root};
use crate::error::Result;
use crate::observe::{Observer, check};
use crate::random::mix;

/// A coarse graph and the aggregates that are its points.
pub(crate) struct Aggregation {
    pub graph: SparseAffinity,
    pub aggregates: Aggregates,
}

/// A partition of the points of the fine graph.
pub(crate) struct Aggregates {
    /// The aggregate of each point, numbered in the order of their first points.
    pub of: Vec<u32>,
    /// Offsets of the aggregates in `members`, one more than there are aggregates.
    starts: Vec<u32>,
    /// The points of each aggregate, ascending.
    members: Vec<u32>,
}

impl Aggregates {
    pub(super) fn new(of: Vec<u32>, count: usize) -> Self {
        let mut starts = vec![0u32; count + 1];
        for aggregate in &of {
            starts[*aggregate as usize + 1] += 1;
        }
        for aggregate in 0..count {
            starts[aggregate + 1] += starts[aggregate];
        }
        let mut members = vec![0u32; of.len()];
        let mut next = starts.clone();
        for (point, aggregate) in (0..).zip(&of) {
            let at = &mut next[*aggregate as usize];
            members[*at as usize] = point;
            *at += 1;
        }
        Aggregates { of, starts, members }
    }

    /// The number of aggregates.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The points of an aggregate.
    #[inline]
    pub fn members(&self, aggregate: usize) -> &[u32] {
        &self.members[self.starts[aggregate] as usize..self.starts[aggregate + 1] as usize]
    }
}

impl SparseAffinity {
    /// Aggregates each point with its heaviest neighbour.
    pub(crate) fn aggregate(&self, observer: &dyn Observer) -> Result<Aggregation> {
        let aggregates = connected_by(&self.heaviest_neighbors(observer)?);
        let graph = self.coarse_graph(&aggregates, observer)?;
        Ok(Aggregation { graph, aggregates })
    }

    /// The diagonal of the random walk: the fraction of each point's weight that it has with itself.
    pub(crate) fn diagonal_shares(&self) -> Vec<f64> {
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

    /// The neighbour with the largest weight of each point, or the point itself if it has none. A hash of the pair
    /// breaks ties: by number, all points of a ring would follow one another into one aggregate.
    pub(super) fn heaviest_neighbors(&self, observer: &dyn Observer) -> Result<Vec<u32>> {
        let n = self.indptr.len() - 1;
        let mut heaviest: Vec<u32> = (0..n as u32).collect();
        let runs = heaviest.par_chunks_mut(CANCEL_CHECK_ROWS).with_min_len(CHUNK_ROWS / CANCEL_CHECK_ROWS);
        runs.enumerate().try_for_each(|(run, out)| {
            check(observer)?;
            for (i, out) in (run * CANCEL_CHECK_ROWS..).zip(out) {
                let mut best = (0.0, 0);
                for e in self.indptr[i]..self.indptr[i + 1] {
                    let (j, weight) = (self.indices[e], self.weights.get(e));
                    if j as usize == i || weight < best.0 || weight <= 0.0 {
                        continue;
                    }
                    let (low, high) = (u64::from(j).min(i as u64), u64::from(j).max(i as u64));
                    let candidate = (weight, mix(low << 32 | high));
                    if candidate.0 > best.0 || candidate.1 > best.1 {
                        best = candidate;
                        *out = j;
                    }
                }
            }
            Ok(())
        })?;
        Ok(heaviest)
    }

    /// The sums of the weights between aggregates; the weights within an aggregate stand on the diagonal.
    pub(super) fn coarse_graph(
        &self,
        aggregates: &Aggregates,
        observer: &dyn Observer,
    ) -> Result<SparseAffinity> {
        let count = aggregates.count();
        let chunks: Result<Vec<CoarseRows>> = (0..count.div_ceil(CHUNK_ROWS))
            .into_par_iter()
            .map_init(
                || vec![0.0f64; count],
                |sums, chunk| {
                    let mut rows = CoarseRows::default();
                    for aggregate in chunk * CHUNK_ROWS..((chunk + 1) * CHUNK_ROWS).min(count) {
                        if aggregate.is_multiple_of(CANCEL_CHECK_ROWS) {
                            check(observer)?;
                        }
                        self.add_coarse_row(aggregates, aggregate, sums, &mut rows);
                    }
                    Ok(rows)
                },
            )
            .collect();
        let chunks = chunks?;
        let pairs = chunks.iter().map(|chunk| chunk.indices.len()).sum();
        let (mut indptr, mut indices, mut values) =
            (Vec::with_capacity(count + 1), Vec::with_capacity(pairs), Vec::with_capacity(pairs));
        indptr.push(0);
        for chunk in chunks {
            for length in chunk.lengths {
                indptr.push(indptr[indptr.len() - 1] + length);
            }
            indices.extend(chunk.indices);
            values.extend(chunk.values);
        }
        Ok(SparseAffinity::from_checked_rows(0.0, indptr, indices, Weights::Values(values)))
    }

    /// Appends one row of the coarse graph. `sums` has one zero for each aggregate, before and after.
    fn add_coarse_row(
        &self,
        aggregates: &Aggregates,
        aggregate: usize,
        sums: &mut [f64],
        rows: &mut CoarseRows,
    ) {
        let start = rows.indices.len();
        for &point in aggregates.members(aggregate) {
            for e in self.indptr[point as usize]..self.indptr[point as usize + 1] {
                let weight = self.weights.get(e);
                if weight > 0.0 {
                    let other = aggregates.of[self.indices[e] as usize];
                    let sum = &mut sums[other as usize];
                    if *sum == 0.0 {
                        rows.indices.push(other);
                    }
                    *sum += weight;
                }
            }
        }
        rows.indices[start..].sort_unstable();
        rows.values.extend(rows.indices[start..].iter().map(|j| std::mem::take(&mut sums[*j as usize])));
        rows.lengths.push(rows.indices.len() - start);
    }
}

/// Some rows of a coarse graph.
#[derive(Default)]
struct CoarseRows {
    lengths: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// The connected components of the edges from each point to `neighbor[point]`, by union-find.
pub(super) fn connected_by(neighbor: &[u32]) -> Aggregates {
    let mut parent: Vec<u32> = (0..neighbor.len() as u32).collect();
    for (i, j) in (0..).zip(neighbor) {
        let (a, b) = (find_root(&mut parent, i), find_root(&mut parent, *j));
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut count = 0;
    let mut of = vec![0u32; neighbor.len()];
    for i in 0..neighbor.len() as u32 {
        let root = find_root(&mut parent, i);
        // The root is the first point of its aggregate.
        of[i as usize] = if root == i {
            count += 1;
            count - 1
        } else {
            of[root as usize]
        };
    }
    Aggregates::new(of, count as usize)
}
