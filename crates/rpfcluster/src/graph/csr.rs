//! A symmetric sparse matrix in CSR form plus a constant for every pair: `A = c 11ᵀ + E`.
//!
//! The paper's `exp` maps the zeros of the thresholded kernel to a positive constant. That makes the matrix dense, but
//! the constant part has rank one: only the pairs above it are stored. Degrees and products are exact and cost
//! O(stored pairs).

use crate::error::{Error, Result, parameter};
use crate::observe::{Observer, Silent, check};

/// Rows of one parallel task. Fixed, so that results do not depend on the number of threads.
pub(super) const CHUNK_ROWS: usize = 1024;
/// Rows between two checks for cancellation. Few, since a row may hold as many pairs as there are points.
pub(crate) const CANCEL_CHECK_ROWS: usize = 64;

/// The weights of the stored pairs.
#[derive(Debug, Clone, PartialEq)]
pub enum Weights {
    /// A tree count for each pair and a table with the weight of each count: two bytes per pair, and another bandwidth
    /// needs only another table.
    Table {
        /// The count of each stored pair.
        counts: Vec<u16>,
        /// The weight of the counts 0, 1, 2, ….
        table: Vec<f64>,
    },
    /// The weight of each stored pair.
    Values(Vec<f64>),
}

impl Weights {
    /// Number of stored pairs.
    pub fn len(&self) -> usize {
        match self {
            Weights::Table { counts, .. } => counts.len(),
            Weights::Values(values) => values.len(),
        }
    }

    /// True when nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The weight of stored pair `e`.
    #[inline]
    pub fn get(&self, e: usize) -> f64 {
        match self {
            Weights::Table { counts, table } => table[counts[e] as usize],
            Weights::Values(values) => values[e],
        }
    }
}

/// `constant · 11ᵀ` plus a symmetric sparse matrix by rows.
#[derive(Debug, Clone)]
pub struct SparseAffinity {
    pub(super) constant: f64,
    pub(super) indptr: Vec<usize>,
    pub(super) indices: Vec<u32>,
    pub(super) weights: Weights,
    /// Whether the pairs are the strongest neighbours of each row, weighted by a power of the share of trees.
    pub(super) neighbor_graph: bool,
}

impl SparseAffinity {
    /// From CSR arrays: row `i` holds the pairs `indptr[i]..indptr[i + 1]`, its columns ascending. Both triangles must
    /// be stored. Checks shapes and ranges; the caller guarantees symmetry.
    pub fn new(constant: f64, indptr: Vec<usize>, indices: Vec<u32>, weights: Weights) -> Result<Self> {
        Self::checked(constant, indptr, indices, weights, &Silent)
    }

    /// [`SparseAffinity::new`] that can be cancelled.
    pub(crate) fn checked(
        constant: f64,
        indptr: Vec<usize>,
        indices: Vec<u32>,
        weights: Weights,
        observer: &dyn Observer,
    ) -> Result<Self> {
        check_constant(constant)?;
        check_rows(&indptr, &indices, weights.len(), observer)?;
        if let Weights::Table { counts, table } = &weights {
            check_table(counts, table)?;
        }
        Ok(Self::from_checked_rows(constant, indptr, indices, weights))
    }

    /// From CSR arrays whose shapes and ranges are known to be right.
    pub(crate) fn from_checked_rows(
        constant: f64,
        indptr: Vec<usize>,
        indices: Vec<u32>,
        weights: Weights,
    ) -> Self {
        SparseAffinity { constant, indptr, indices, weights, neighbor_graph: false }
    }

    /// Marks the graph as one of the strongest neighbours of each row, weighted by a power of the share of trees.
    pub(crate) fn into_neighbor_graph(self) -> Self {
        SparseAffinity { neighbor_graph: true, ..self }
    }

    /// Number of points.
    pub fn n(&self) -> usize {
        self.indptr.len() - 1
    }

    /// The constant part of the similarity of every pair.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// Whether the pairs are the strongest neighbours of each row, weighted by a power of the share of trees.
    pub(crate) fn is_neighbor_graph(&self) -> bool {
        self.neighbor_graph
    }

    /// Row offsets.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// Column indices of the stored pairs.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Weights of the stored pairs, without the constant.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The same pairs with the weight of pair (i, j) multiplied by `copies[i] * copies[j]`: row i stands for that many
    /// equal rows, which are not connected among themselves.
    pub(crate) fn weighted(&self, copies: &[u32]) -> Self {
        let mut values = Vec::with_capacity(self.weights.len());
        for (row, &own) in copies.iter().enumerate() {
            for e in self.indptr[row]..self.indptr[row + 1] {
                let other = copies[self.indices[e] as usize];
                values.push(self.weights.get(e) * f64::from(own) * f64::from(other));
            }
        }
        let (indptr, indices) = (self.indptr.clone(), self.indices.clone());
        SparseAffinity { constant: self.constant, indptr, indices, weights: Weights::Values(values), ..*self }
    }

    /// The same pairs with another table of weights and another constant: the next bandwidth of a search. An error for
    /// [`Weights::Values`].
    pub fn with_table(mut self, constant: f64, table: Vec<f64>) -> Result<Self> {
        self.set_table(constant, table)?;
        Ok(self)
    }

    /// [`SparseAffinity::with_table`] in place. The pairs are not checked again.
    pub(crate) fn set_table(&mut self, constant: f64, weights: Vec<f64>) -> Result<()> {
        check_constant(constant)?;
        let Weights::Table { counts, table } = &mut self.weights else {
            return Err(Error::Similarity {
                problem: "has single weights, so no table of weights fits it".to_string(),
            });
        };
        if weights.len() < table.len() {
            check_table(counts, &weights)?;
        }
        *table = weights;
        self.constant = constant;
        Ok(())
    }
}

fn check_constant(constant: f64) -> Result<()> {
    if !constant.is_finite() || constant < 0.0 {
        return Err(parameter("constant", constant, "zero or a positive number"));
    }
    Ok(())
}

/// An error when a count has no weight in the table.
fn check_table(counts: &[u16], table: &[f64]) -> Result<()> {
    match counts.iter().max() {
        Some(most) if *most as usize >= table.len() => Err(Error::Length {
            what: "weights in the table",
            got: table.len(),
            expected: *most as usize + 1,
        }),
        _ => Ok(()),
    }
}

/// Checks shapes and ranges of CSR arrays.
pub(crate) fn check_rows(
    indptr: &[usize],
    indices: &[u32],
    weights: usize,
    observer: &dyn Observer,
) -> Result<()> {
    let n = indptr.len().saturating_sub(1);
    let problem = |problem: String| Err(Error::Similarity { problem });
    if n == 0 {
        return Err(Error::Empty { n: 0, d: 0 });
    }
    if n > u32::MAX as usize {
        return Err(Error::TooManyRows { n, limit: u32::MAX as usize });
    }
    if indptr[0] != 0 || indptr[n] != indices.len() {
        return problem(format!(
            "has row offsets from {} to {} for {} entries",
            indptr[0],
            indptr[n],
            indices.len()
        ));
    }
    if weights != indices.len() {
        return Err(Error::Length { what: "weights of the entries", got: weights, expected: indices.len() });
    }
    if let Some(row) = (0..n).find(|i| indptr[*i] > indptr[i + 1]) {
        return problem(format!("has decreasing row offsets at row {}", row + 1));
    }
    for row in 0..n {
        if row.is_multiple_of(CANCEL_CHECK_ROWS) {
            check(observer)?;
        }
        let columns = &indices[indptr[row]..indptr[row + 1]];
        if let Some(column) = columns.iter().find(|c| **c as usize >= n) {
            return problem(format!(
                "is not square: row {} has an entry in column {}, but there are {n} rows",
                row + 1,
                *column as usize + 1
            ));
        }
        if let Some(pair) = columns.windows(2).find(|w| w[0] >= w[1]) {
            return problem(format!("has row {} out of order at column {}", row + 1, pair[1] as usize + 1));
        }
    }
    Ok(())
}
