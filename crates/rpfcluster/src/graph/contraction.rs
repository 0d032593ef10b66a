//! Contraction of isolated groups: small sets of points with nearly all their weight among themselves become one point.
//!
//! On S^power a pair of points that share most leaves has a thousand times the weight of its other edges, and the
//! indicator of every such group is nearly an eigenvector with eigenvalue 1. A large sharp graph has hundreds of them:
//! they fill the leading part of the spectrum, crowd it, and say nothing about clusters. Regularised spectral clustering
//! suppresses them by a constant (Zhang and Rohe, NeurIPS 31, 2018: dangling sets have small conductance). Here they are
//! taken out: an aggregate (`coarsen`) of few points whose conductance, outer weight / volume, is below
//! [`MAX_CONDUCTANCE`] becomes a point without its inner weight, again and again until none is left. The points of a
//! group get one label, as they would anyway.
//!
//! A whole connected component is never contracted, so the components stay what they are. One pass over the stored pairs
//! for each round; the result does not depend on the number of threads.

use super::coarsen::{Aggregates, connected_by};
use super::{SparseAffinity, Weights};
use crate::error::Result;
use crate::observe::{Observer, check};

/// Largest conductance of a group that is contracted. On MNIST and USPS, 0.1 and 0.3 contract a graph to a third and to a
/// sixth; 0.3 joins groups of different digits (docs/notes/2026-11-isolated-groups.md).
const MAX_CONDUCTANCE: f64 = 0.1;
/// Largest number of rounds. Fewer suffice: groups that grow soon exceed their largest size.
const MAX_ROUNDS: usize = 16;

/// A graph whose isolated groups are points.
#[derive(Debug)]
pub(crate) struct Contraction {
    pub graph: SparseAffinity,
    /// The point of `graph` of each original point, numbered in the order of their first points.
    pub group_of: Vec<u32>,
}

impl SparseAffinity {
    /// The graph with isolated groups of at most `max_points` points contracted; `None` when there are none.
    pub(crate) fn contracted(
        &self,
        max_points: usize,
        observer: &dyn Observer,
    ) -> Result<Option<Contraction>> {
        let mut volumes = self.degrees(observer)?;
        let mut sizes = vec![1usize; self.n()];
        let mut found: Option<Contraction> = None;
        for _ in 0..MAX_ROUNDS {
            let graph = found.as_ref().map_or(self, |found| &found.graph);
            let aggregates = connected_by(&graph.heaviest_neighbors(observer)?);
            let isolated = graph.isolated(&aggregates, &volumes, &sizes, max_points, observer)?;
            if !isolated.contains(&true) {
                break;
            }
            let groups = groups(&aggregates, &isolated);
            let next = graph.coarse_graph(&groups, observer)?.without_diagonal();
            let summed = |group: usize| groups.members(group).iter().map(|point| *point as usize);
            volumes = (0..groups.count()).map(|g| summed(g).map(|point| volumes[point]).sum()).collect();
            sizes = (0..groups.count()).map(|g| summed(g).map(|point| sizes[point]).sum()).collect();
            let group_of = match found {
                Some(found) => found.group_of.iter().map(|&group| groups.of[group as usize]).collect(),
                None => groups.of,
            };
            found = Some(Contraction { graph: next, group_of });
        }
        Ok(found)
    }

    /// Whether each aggregate is isolated. `volumes` and `sizes` belong to the points of this graph.
    fn isolated(
        &self,
        aggregates: &Aggregates,
        volumes: &[f64],
        sizes: &[usize],
        max_points: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<bool>> {
        let mut isolated = Vec::with_capacity(aggregates.count());
        for aggregate in 0..aggregates.count() {
            check(observer)?;
            let members = aggregates.members(aggregate);
            let (mut size, mut volume, mut outer) = (0, 0.0, 0.0);
            for &point in members {
                let point = point as usize;
                size += sizes[point];
                volume += volumes[point];
                for e in self.indptr[point]..self.indptr[point + 1] {
                    if aggregates.of[self.indices[e] as usize] as usize != aggregate {
                        outer += self.weights.get(e);
                    }
                }
            }
            let few = members.len() > 1 && size <= max_points;
            isolated.push(few && outer > 0.0 && outer < MAX_CONDUCTANCE * volume);
        }
        Ok(isolated)
    }

    /// The graph without the weights of points with themselves.
    fn without_diagonal(self) -> SparseAffinity {
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for point in 0..self.n() {
            for e in self.indptr[point]..self.indptr[point + 1] {
                if self.indices[e] as usize != point {
                    indices.push(self.indices[e]);
                    values.push(self.weights.get(e));
                }
            }
            indptr.push(indices.len());
        }
        SparseAffinity::from_checked_rows(0.0, indptr, indices, Weights::Values(values))
    }
}

/// The isolated aggregates, and every other point on its own, in the order of their first points.
fn groups(aggregates: &Aggregates, isolated: &[bool]) -> Aggregates {
    const NEW: u32 = u32::MAX;
    let mut number = vec![NEW; isolated.len()];
    let mut count = 0;
    let of = aggregates.of.iter().map(|&aggregate| {
        let known = &mut number[aggregate as usize];
        if isolated[aggregate as usize] && *known != NEW {
            return *known;
        }
        *known = count;
        count += 1;
        *known
    });
    let of = of.collect();
    Aggregates::new(of, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;
    use crate::random::{Purpose, Stream};

    fn graph(n: usize, edges: &[(usize, usize, f64)]) -> SparseAffinity {
        let mut rows = vec![std::collections::BTreeMap::new(); n];
        for &(i, j, w) in edges {
            rows[i].insert(j as u32, w);
            rows[j].insert(i as u32, w);
        }
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            indices.extend(row.keys());
            values.extend(row.values());
            indptr.push(indices.len());
        }
        SparseAffinity::new(0.0, indptr, indices, Weights::Values(values)).unwrap()
    }

    /// A ring of ten points, a heavy triangle tied to it twice, and a heavy pair of its own.
    fn ring_triangle_and_pair() -> SparseAffinity {
        let mut edges: Vec<_> = (0..10).map(|i| (i, (i + 1) % 10, 1.0 + i as f64 / 100.0)).collect();
        edges.extend([(10, 11, 50.0), (11, 12, 60.0), (10, 12, 70.0), (3, 10, 0.5), (8, 12, 0.25)]);
        edges.push((13, 14, 9.0));
        graph(15, &edges)
    }

    #[test]
    fn an_isolated_triangle_becomes_a_point_without_inner_weight() {
        let found = ring_triangle_and_pair().contracted(3, &Silent).unwrap().unwrap();
        assert_eq!(found.group_of, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 11, 12]);
        assert_eq!(found.graph.n(), 13);
        let row = found.graph.indptr()[10]..found.graph.indptr()[11];
        assert_eq!(found.graph.indices()[row.clone()], [3, 8]);
        assert_eq!(row.map(|e| found.graph.weights().get(e)).collect::<Vec<_>>(), [0.5, 0.25]);
    }

    #[test]
    fn larger_groups_and_whole_components_stay() {
        // The pair 13, 14 is a component; the triangle has more than two points.
        assert!(ring_triangle_and_pair().contracted(2, &Silent).unwrap().is_none());
    }

    #[test]
    fn no_isolated_group_is_left_and_outer_weights_are_sums() {
        let mut stream = Stream::new(4, Purpose::Shapes, 0, 0);
        let n = 2000;
        let mut edges = Vec::new();
        for i in 0..n {
            for _ in 0..5 {
                let j = (i + 1 + stream.below(60) as usize) % n;
                edges.push((i, j, stream.uniform().powi(12)));
            }
        }
        let whole = graph(n, &edges);
        let Contraction { graph: small, group_of } = whole.contracted(40, &Silent).unwrap().unwrap();
        assert!(small.n() < n && group_of.iter().all(|g| (*g as usize) < small.n()));
        assert!(small.contracted(1, &Silent).unwrap().is_none());
        let mut sums = std::collections::BTreeMap::new();
        for i in 0..n {
            for e in whole.indptr[i]..whole.indptr[i + 1] {
                let (a, b) = (group_of[i], group_of[whole.indices[e] as usize]);
                if a != b {
                    *sums.entry((a, b)).or_insert(0.0) += whole.weights.get(e);
                }
            }
        }
        let mut kept = 0;
        for a in 0..small.n() {
            for e in small.indptr[a]..small.indptr[a + 1] {
                let expected = sums[&(a as u32, small.indices[e])];
                assert!((small.weights.get(e) - expected).abs() < 1e-12 * expected.max(1e-12));
                kept += 1;
            }
        }
        assert_eq!(kept, sums.values().filter(|w| **w > 0.0).count());
        let groups = |graph: &SparseAffinity| graph.components(&Silent).unwrap().unwrap().count();
        assert_eq!(groups(&whole), groups(&small), "components");
    }
}
