//! A dense affinity matrix, n x n doubles in memory, as an operator for the spectral solvers.
//!
//! A product with b vectors costs O(n² b). Products sum along rows in a fixed order, so their bits do not depend on the
//! number of threads. Connected components are searched only if some entry off the diagonal is zero.

use rayon::prelude::*;
use rpfcluster::Result;
use rpfcluster::affinity::{Affinity, Components, SimilarityOperator};
use rpfcluster::observe::{Observer, check};

/// Rows of one parallel task of a product.
const CHUNK: usize = 16;
/// Columns of a product summed at once: four doubles, one AVX2 register.
const TILE: usize = 4;

/// A symmetric, non-negative matrix.
#[derive(Debug, Clone)]
pub struct Dense {
    n: usize,
    values: Vec<f64>,
    connected: bool,
}

impl Dense {
    /// From `fill(i, row)`, which writes row `i`; the rows must make a symmetric matrix.
    pub fn from_rows(
        n: usize,
        observer: &dyn Observer,
        fill: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<Self> {
        let mut values = vec![0.0; n * n];
        values.par_chunks_mut(n.max(1)).enumerate().try_for_each(|(i, row)| {
            check(observer)?;
            fill(i, row);
            Ok(())
        })?;
        Ok(Self::new(n, values))
    }

    fn new(n: usize, values: Vec<f64>) -> Self {
        // When all pairs are positive, the common case, the graph is connected and needs no search.
        let connected = values
            .par_chunks(n.max(1))
            .enumerate()
            .all(|(i, row)| row.iter().enumerate().all(|(j, v)| i == j || *v > 0.0));
        Dense { n, values, connected }
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..][..self.n]
    }

    /// The similarities among these rows.
    fn part(&self, rows: &[u32]) -> Dense {
        let values =
            rows.iter().flat_map(|i| rows.iter().map(move |j| self.row(*i as usize)[*j as usize])).collect();
        Dense::new(rows.len(), values)
    }
}

impl SimilarityOperator for Dense {
    fn n(&self) -> usize {
        self.n
    }

    fn degrees(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        check(observer)?;
        Ok(self.values.par_chunks(self.n).map(|row| row.iter().sum()).collect())
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) -> Result<()> {
        y.par_chunks_mut(CHUNK * b).enumerate().try_for_each(|(chunk, out)| {
            check(observer)?;
            for (offset, to) in out.chunks_exact_mut(b).enumerate() {
                let row = self.row(chunk * CHUNK + offset);
                let mut first = 0;
                while first < b {
                    let width = TILE.min(b - first);
                    let mut sums = [0.0; TILE];
                    if width == TILE {
                        for (a, from) in row.iter().zip(x.chunks_exact(b)) {
                            for (s, v) in sums.iter_mut().zip(&from[first..first + TILE]) {
                                *s += a * v;
                            }
                        }
                    } else {
                        for (a, from) in row.iter().zip(x.chunks_exact(b)) {
                            for (s, v) in sums.iter_mut().zip(&from[first..]) {
                                *s += a * v;
                            }
                        }
                    }
                    to[first..first + width].copy_from_slice(&sums[..width]);
                    first += width;
                }
            }
            Ok(())
        })
    }

    fn column(&self, j: usize, out: &mut [f64], _observer: &dyn Observer) -> Result<()> {
        out.copy_from_slice(self.row(j));
        Ok(())
    }

    fn components(&self, observer: &dyn Observer) -> Result<Option<Components>> {
        if self.connected {
            return Ok(None);
        }
        let found = Components::by_search(self.n, |point, visit| {
            check(observer)?;
            for (other, weight) in self.row(point).iter().enumerate() {
                if *weight > 0.0 {
                    visit(other);
                }
            }
            Ok(())
        })?;
        Ok(Some(found))
    }

    fn submatrix(&self, rows: &[u32], observer: &dyn Observer) -> Result<Affinity<'_>> {
        check(observer)?;
        Ok(Affinity::operator(self.part(rows)))
    }
}
