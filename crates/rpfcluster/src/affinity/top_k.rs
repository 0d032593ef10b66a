//! `top-k`: each point's k strongest co-leaf neighbours, made symmetric (an edge when either names the other), the
//! share of trees raised to a power as its weight.

use super::transform::powers;
use crate::error::Result;
use crate::graph::ASK;
use crate::graph::{SparseAffinity, Weights};
use crate::kernel::Neighbors;
use crate::observe::{Observer, check};

impl SparseAffinity {
    /// The graph of the first `k` neighbours of each row.
    pub fn top_k(neighbors: &Neighbors, k: usize, power: f64, observer: &dyn Observer) -> Result<Self> {
        let table = powers(power, neighbors.trees())?;
        let n = neighbors.n();
        let ask = |row: usize| if row.is_multiple_of(ASK) { check(observer) } else { Ok(()) };
        let first = |row: usize| {
            let (js, counts) = neighbors.row(row);
            js.iter().copied().zip(counts.iter().copied()).take(k)
        };
        // Every row gets its own neighbours and those that name it; twice named is once too often.
        let mut starts = vec![0usize; n + 1];
        for row in 0..n {
            ask(row)?;
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
            ask(row)?;
            for (j, count) in first(row) {
                edges[next[row]] = (j, count);
                next[row] += 1;
                edges[next[j as usize]] = (row as u32, count);
                next[j as usize] += 1;
            }
        }
        let (mut indptr, mut indices, mut counts) = (vec![0], Vec::new(), Vec::new());
        for row in 0..n {
            ask(row)?;
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
        Ok(SparseAffinity::checked(0.0, indptr, indices, weights, observer)?.with_neighbors())
    }

    /// The same graph with another power.
    pub fn at_power(self, power: f64) -> Result<Self> {
        let trees = match self.weights() {
            Weights::Table { table, .. } => table.len() - 1,
            Weights::Values(_) => 0,
        };
        let constant = self.constant();
        Ok(self.with_table(constant, powers(power, trees)?)?.with_neighbors())
    }
}
