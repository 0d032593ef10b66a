//! `top-k`: the symmetric k-nearest-neighbour graph of the kernel, weighted by a power of the fraction of trees in
//! which two points share a leaf.
//!
//! Two points have an edge when either is among the k nearest neighbours of the other (union). The same neighbour lists
//! serve every power. O(n k log n) time, at most 2 n k stored pairs.

use super::transform::powers;
use crate::error::Result;
use crate::graph::{CANCEL_CHECK_ROWS, SparseAffinity, Weights};
use crate::kernel::Neighbors;
use crate::observe::{Observer, check};

impl SparseAffinity {
    /// The graph of the first `k` neighbours of each row.
    pub fn top_k(neighbors: &Neighbors, k: usize, power: f64, observer: &dyn Observer) -> Result<Self> {
        let table = powers(power, neighbors.trees())?;
        let n = neighbors.n();
        let check_row =
            |row: usize| if row.is_multiple_of(CANCEL_CHECK_ROWS) { check(observer) } else { Ok(()) };
        let first = |row: usize| {
            let (js, counts) = neighbors.row(row);
            js.iter().copied().zip(counts.iter().copied()).take(k)
        };
        // Each row receives its own neighbours and the rows that name it; duplicates are dropped below.
        let mut starts = vec![0usize; n + 1];
        for row in 0..n {
            check_row(row)?;
            for (j, _) in first(row) {
                starts[row + 1] += 1;
                starts[j as usize + 1] += 1;
            }
        }
        for row in 0..n {
            starts[row + 1] += starts[row];
        }
        let mut edges = vec![(0u32, 0u16); starts[n]];
        let mut next = starts.clone();
        for row in 0..n {
            check_row(row)?;
            for (j, count) in first(row) {
                edges[next[row]] = (j, count);
                next[row] += 1;
                edges[next[j as usize]] = (row as u32, count);
                next[j as usize] += 1;
            }
        }
        let (mut indptr, mut indices, mut counts) = (vec![0], Vec::new(), Vec::new());
        for row in 0..n {
            check_row(row)?;
            let mine = &mut edges[starts[row]..starts[row + 1]];
            mine.sort_unstable();
            let mut last = None;
            for &(j, count) in mine.iter() {
                if last != Some(j) {
                    indices.push(j);
                    counts.push(count);
                    last = Some(j);
                }
            }
            indptr.push(indices.len());
        }
        indices.shrink_to_fit();
        counts.shrink_to_fit();
        let weights = Weights::Table { counts, table };
        Ok(SparseAffinity::checked(0.0, indptr, indices, weights, observer)?.into_neighbor_graph())
    }
}
