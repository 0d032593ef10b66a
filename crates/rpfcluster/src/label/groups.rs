//! A neighbour graph whose isolated groups are points, with the number of rows of each point.
//!
//! Eigenvectors and labels of a large neighbour graph are computed on it (`graph/contraction` says why) and expanded to
//! all rows. Costs a pass over the graph for each round of contraction; the eigenproblem becomes smaller and its spectrum
//! less crowded.

use super::label_copies;
use crate::affinity::Affinity;
use crate::eigen::{Embedding, Method, SpectralParams};
use crate::error::Result;
use crate::graph::{Contraction, SparseAffinity};
use crate::observe::Observer;

/// Smallest number of rows whose isolated groups are contracted. The eigenvectors of smaller graphs are cheap.
const MIN_ROWS: usize = 4000;
/// Largest number of rows of an isolated group; more may be a cluster.
const MAX_GROUP_ROWS: usize = 50;
/// A group has at most one row in this many of an average cluster.
const CLUSTER_SHARE: usize = 20;

/// A contracted graph and its rows.
pub(crate) struct Groups {
    /// The contracted graph.
    pub graph: SparseAffinity,
    /// The point of each row.
    pub group_of: Vec<u32>,
    /// The number of rows of each point, copies included.
    pub copies: Vec<u32>,
}

impl Groups {
    /// The isolated groups of a neighbour graph to be cut into K clusters, row i counted `copies[i]` times. With an
    /// `order`, the graph is contracted in this order of its rows, and points are numbered by it. `None` for a small
    /// graph, other affinities and methods, and where no group is isolated.
    pub fn of_affinity(
        affinity: &Affinity,
        copies: Option<&[u32]>,
        order: Option<&[u32]>,
        params: &SpectralParams,
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let Affinity::Graph(graph) = affinity else { return Ok(None) };
        let n = graph.n();
        let max_rows = MAX_GROUP_ROWS.min(n / CLUSTER_SHARE / params.k.max(1));
        let applies = graph.is_neighbor_graph() && params.method == Method::Kway;
        if !applies || n < MIN_ROWS || max_rows < 2 {
            return Ok(None);
        }
        let found = match order {
            Some(order) => graph.principal_submatrix(order, observer)?.contracted(max_rows, observer)?,
            None => graph.contracted(max_rows, observer)?,
        };
        let Some(Contraction { graph, group_of: mut in_order }) = found else { return Ok(None) };
        if let Some(order) = order {
            let mut group_of = vec![0; n];
            order.iter().zip(&in_order).for_each(|(row, group)| group_of[*row as usize] = *group);
            in_order = group_of;
        }
        let mut rows = vec![0; graph.n()];
        for (row, group) in in_order.iter().enumerate() {
            rows[*group as usize] += copies.map_or(1, |copies| copies[row]);
        }
        Ok(Some(Groups { graph, group_of: in_order, copies: rows }))
    }

    /// The embedding of all rows, from that of the points: the rows of a point share its weight evenly.
    pub fn expand_embedding(&self, embedding: &Embedding) -> Embedding {
        let mut rows = vec![0; self.graph.n()];
        self.group_of.iter().for_each(|group| rows[*group as usize] += 1);
        embedding.expanded(&self.group_of, &rows)
    }

    /// The labels of all rows from an embedding of the points.
    pub fn labels(
        &self,
        embedding: &Embedding,
        params: &SpectralParams,
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        let cut = Affinity::from(&self.graph);
        let labels = label_copies(&cut, embedding, Some(&self.copies), params, observer)?;
        Ok(self.group_of.iter().map(|&group| labels[group as usize]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::Weights;
    use crate::eigen::{EmbedOptions, embed};
    use crate::observe::Silent;
    use crate::random::{Purpose, Stream};
    use crate::thread_pool::in_pool;

    /// Four rings of 1,100 rows with neighbours up to 20 steps away, sharp random weights and few edges between rings.
    fn sharp_rings() -> SparseAffinity {
        const RING: usize = 1100;
        let mut stream = Stream::new(2, Purpose::Shapes, 0, 0);
        let mut rows = vec![std::collections::BTreeMap::new(); 4 * RING];
        for i in 0..4 * RING {
            let ring = i / RING * RING;
            for step in [1, 1 + stream.below(20) as usize, 1 + stream.below(20) as usize] {
                let (j, w) = (ring + (i - ring + step) % RING, 0.01 + stream.uniform().powi(16));
                rows[i].insert(j as u32, w);
                rows[j].insert(i as u32, w);
            }
            if i % 275 == 0 {
                let j = (i + RING) % (4 * RING);
                rows[i].insert(j as u32, 1e-4);
                rows[j].insert(i as u32, 1e-4);
            }
        }
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            indices.extend(row.keys());
            values.extend(row.values());
            indptr.push(indices.len());
        }
        SparseAffinity::new(0.0, indptr, indices, Weights::Values(values)).unwrap().into_neighbor_graph()
    }

    fn groups(graph: &SparseAffinity, order: Option<&[u32]>) -> Option<Groups> {
        let params = SpectralParams { k: 4, ..Default::default() };
        Groups::of_affinity(&Affinity::from(graph), None, order, &params, &Silent).unwrap()
    }

    #[test]
    fn rows_of_a_group_share_a_label_and_the_embedding_stays_orthonormal() {
        let graph = sharp_rings();
        let found = groups(&graph, None).unwrap();
        assert!(found.graph.n() < graph.n() && found.copies.iter().sum::<u32>() as usize == graph.n());
        assert!(found.copies.iter().all(|rows| *rows as usize <= MAX_GROUP_ROWS));
        let params = SpectralParams { k: 4, ..Default::default() };
        let points = embed(&found.graph, &params, &EmbedOptions::default(), &Silent).unwrap();
        let labels = found.labels(&points, &params, &Silent).unwrap();
        assert_eq!(labels, (0..4400).map(|row| row / 1100).collect::<Vec<u32>>());
        let all = found.expand_embedding(&points);
        for a in 0..4 {
            for b in 0..4 {
                let dot: f64 = (0..all.n()).map(|i| all.row(i)[a] * all.row(i)[b]).sum();
                assert!((dot - f64::from(u8::from(a == b))).abs() < 1e-9, "{a}, {b}: {dot}");
            }
        }
    }

    #[test]
    fn groups_depend_neither_on_thread_count_nor_on_the_order_of_rows() {
        let graph = sharp_rings();
        let of = |threads| in_pool(Some(threads), || groups(&graph, None).unwrap()).unwrap();
        let (one, three) = (of(1), of(3));
        assert!(one.group_of == three.group_of && one.graph.indices() == three.graph.indices());
        let order: Vec<u32> = (0..graph.n() as u32).rev().collect();
        let reversed = groups(&graph, Some(&order)).unwrap();
        let mut name = vec![None; one.graph.n()];
        for (a, b) in one.group_of.iter().zip(&reversed.group_of) {
            assert_eq!(*name[*a as usize].get_or_insert(*b), *b);
        }
    }

    #[test]
    fn small_graphs_and_many_clusters_are_not_contracted() {
        let graph = sharp_rings();
        let params = SpectralParams { k: 200, ..Default::default() };
        let many = Groups::of_affinity(&Affinity::from(&graph), None, None, &params, &Silent).unwrap();
        let few: Vec<u32> = (0..3000).collect();
        let small = graph.principal_submatrix(&few, &Silent).unwrap();
        assert!(many.is_none() && groups(&small, None).is_none());
    }
}
