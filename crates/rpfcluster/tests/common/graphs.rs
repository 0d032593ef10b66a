//! Graphs for the tests of affinities and eigen-solvers.
#![allow(dead_code)] // each test file uses some of them
#![allow(clippy::unwrap_used)] // a failed unwrap here is a failed test

use rpfcluster::Silent;
use rpfcluster::affinity::{SparseAffinity, Weights};
use rpfcluster::random::{Purpose, Stream};

/// A symmetric graph from undirected edges; the weights of repeated edges add up.
pub fn graph(n: usize, constant: f64, edges: &[(usize, usize, f64)]) -> SparseAffinity {
    let mut rows: Vec<std::collections::BTreeMap<u32, f64>> = vec![Default::default(); n];
    for (a, b, w) in edges {
        *rows[*a].entry(*b as u32).or_insert(0.0) += w;
        if a != b {
            *rows[*b].entry(*a as u32).or_insert(0.0) += w;
        }
    }
    let mut indptr = vec![0];
    let (mut indices, mut values) = (vec![], vec![]);
    for row in rows {
        for (j, w) in row {
            indices.push(j);
            values.push(w);
        }
        indptr.push(indices.len());
    }
    SparseAffinity::new(constant, indptr, indices, Weights::Values(values)).unwrap()
}

/// The edges of a ring of `size` points, numbered from `first`.
pub fn ring(first: usize, size: usize) -> Vec<(usize, usize, f64)> {
    (0..size).map(|i| (first + i, first + (i + 1) % size, 1.0)).collect()
}

/// All pairs of `size` points, self-loops included.
pub fn clique(first: usize, size: usize, w: f64) -> Vec<(usize, usize, f64)> {
    (0..size).flat_map(|i| (i..size).map(move |j| (first + i, first + j, w))).collect()
}

/// A connected random graph: a path and random edges.
pub fn random_graph(n: usize, edges: usize, seed: u64) -> Vec<(usize, usize, f64)> {
    let mut s = Stream::new(seed, Purpose::Shapes, 0, 0);
    let mut out: Vec<(usize, usize, f64)> = (1..n).map(|i| (i - 1, i, 0.05 + s.uniform())).collect();
    for _ in 0..edges {
        out.push((s.below(n as u64) as usize, s.below(n as u64) as usize, s.uniform()));
    }
    out
}

/// The example of nine points in the paper.
pub fn nine_points() -> SparseAffinity {
    let mut m = vec![0.0; 81];
    for i in 0..9 {
        m[i * 10] = 1.0;
    }
    for i in 0..8 {
        let w = if i == 3 { 0.3 } else { 0.9 };
        m[i * 9 + i + 1] = w;
        m[(i + 1) * 9 + i] = w;
    }
    SparseAffinity::precomputed_dense(&m, 9, &Silent).unwrap()
}
