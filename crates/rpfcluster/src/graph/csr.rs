//! A constant for every pair plus a sparse symmetric part: `A = c 11ᵀ + E`.
//!
//! The paper's `exp` turns the zeros of the thresholded kernel into ones, which looks dense and is not: the same
//! constant everywhere has rank one, and only the pairs above it are stored. Degrees and products stay exact and
//! cost what the stored pairs cost.

use crate::error::{Error, Result, parameter};
use crate::observe::{Observer, Silent, check};
use crate::simd::dispatch;

/// Rows worked on as one piece. Fixed, so that results do not depend on the number of threads.
pub(super) const CHUNK: usize = 1024;
/// Rows after which it is asked whether to go on; a row may have as many pairs as there are points.
pub(crate) const ASK: usize = 64;

/// The weights of the stored pairs.
#[derive(Debug, Clone, PartialEq)]
pub enum Weights {
    /// A count of trees for each pair and the weight of each possible count: two bytes a pair, and another
    /// bandwidth needs only another table.
    Table {
        /// One count a stored pair.
        counts: Vec<u16>,
        /// The weight of count 0, 1, 2, ….
        table: Vec<f64>,
    },
    /// One weight a stored pair.
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
    /// Whether the pairs are each row's strongest neighbours, the weights a power of the share of trees.
    pub(super) of_neighbors: bool,
}

impl SparseAffinity {
    /// From compressed rows: row `i` holds the pairs `indptr[i]..indptr[i + 1]`. Both triangles must be there, each
    /// row's columns ascending. Symmetry is the caller's promise; shapes and ranges are checked.
    pub fn new(constant: f64, indptr: Vec<usize>, indices: Vec<u32>, weights: Weights) -> Result<Self> {
        Self::checked(constant, indptr, indices, weights, &Silent)
    }

    /// As [`SparseAffinity::new`], asking `observer` whether to go on.
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

    /// From rows whose shapes and ranges were checked before.
    pub(crate) fn from_checked_rows(
        constant: f64,
        indptr: Vec<usize>,
        indices: Vec<u32>,
        weights: Weights,
    ) -> Self {
        SparseAffinity { constant, indptr, indices, weights, of_neighbors: false }
    }

    /// The same, known to hold each row's strongest neighbours, weighted by a power of the share of trees.
    pub(crate) fn with_neighbors(self) -> Self {
        SparseAffinity { of_neighbors: true, ..self }
    }

    /// Number of points.
    pub fn n(&self) -> usize {
        self.indptr.len() - 1
    }

    /// The constant that every pair of points has at least.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// Whether the pairs are each row's strongest neighbours, the weights a power of the share of trees.
    pub(crate) fn is_of_neighbors(&self) -> bool {
        self.of_neighbors
    }

    /// The offsets of the rows.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// The columns of the stored pairs.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The weights of the stored pairs, on top of the constant.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The same pairs with other weights for the counts and another constant: the next bandwidth of a search.
    /// An affinity of single values cannot be changed so.
    pub fn with_table(mut self, constant: f64, table: Vec<f64>) -> Result<Self> {
        self.set_table(constant, table)?;
        Ok(self)
    }

    /// As [`SparseAffinity::with_table`], in place. The pairs were checked when they came and are not looked at again.
    pub(crate) fn set_table(&mut self, constant: f64, fresh: Vec<f64>) -> Result<()> {
        check_constant(constant)?;
        let Weights::Table { counts, table } = &mut self.weights else {
            return Err(Error::Similarity {
                problem: "has single weights, so no table of weights fits it".to_string(),
            });
        };
        if fresh.len() < table.len() {
            check_table(counts, &fresh)?;
        }
        *table = fresh;
        self.constant = constant;
        Ok(())
    }

    /// Adds E x to the `B` columns from `offset` of the rows of one chunk.
    #[inline(always)]
    fn rows_product<const B: usize>(
        &self,
        weight: impl Fn(usize) -> f64,
        first: usize,
        (x, y): (&[f64], &mut [f64]),
        (stride, offset): (usize, usize),
    ) {
        for (row, out) in y.chunks_exact_mut(stride).enumerate() {
            let mut sum = [0.0; B];
            for e in self.indptr[first + row]..self.indptr[first + row + 1] {
                let w = weight(e);
                let from = self.indices[e] as usize * stride + offset;
                if let Some(other) = x.get(from..from + B) {
                    for (s, v) in sum.iter_mut().zip(other) {
                        *s += w * v;
                    }
                }
            }
            for (o, s) in out[offset..offset + B].iter_mut().zip(sum) {
                *o += s;
            }
        }
    }

    /// E x for one run of rows, in tiles of columns whose sums stay in registers.
    #[inline(always)]
    fn chunk_product(
        &self,
        weight: impl Fn(usize) -> f64 + Copy,
        first: usize,
        x: &[f64],
        y: &mut [f64],
        b: usize,
    ) {
        let mut offset = 0;
        while offset < b {
            let xy = (x, &mut *y);
            let at = (b, offset);
            offset += match b - offset {
                1 => {
                    self.rows_product::<1>(weight, first, xy, at);
                    1
                }
                2 => {
                    self.rows_product::<2>(weight, first, xy, at);
                    2
                }
                3 => {
                    self.rows_product::<3>(weight, first, xy, at);
                    3
                }
                4..=5 => {
                    self.rows_product::<4>(weight, first, xy, at);
                    4
                }
                6..=7 => {
                    self.rows_product::<6>(weight, first, xy, at);
                    6
                }
                8..=9 => {
                    self.rows_product::<8>(weight, first, xy, at);
                    8
                }
                10..=11 => {
                    self.rows_product::<10>(weight, first, xy, at);
                    10
                }
                12..=15 => {
                    self.rows_product::<12>(weight, first, xy, at);
                    12
                }
                _ => {
                    self.rows_product::<16>(weight, first, xy, at);
                    16
                }
            };
        }
    }
}

dispatch! {
    pub(super) fn table_product(
        pairs: &SparseAffinity,
        weights: (&[u16], &[f64]),
        first: usize,
        x: &[f64],
        y: &mut [f64],
        b: usize,
    ) {
        pairs.chunk_product(|e| weights.1[weights.0[e] as usize], first, x, y, b);
    }
}

dispatch! {
    pub(super) fn values_product(
        pairs: &SparseAffinity,
        weights: &[f64],
        first: usize,
        x: &[f64],
        y: &mut [f64],
        b: usize,
    ) {
        pairs.chunk_product(|e| weights[e], first, x, y, b);
    }
}

fn check_constant(constant: f64) -> Result<()> {
    if !constant.is_finite() || constant < 0.0 {
        return Err(parameter("constant", constant, "zero or a positive number"));
    }
    Ok(())
}

/// Every count must have its weight.
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

/// Shapes and ranges of compressed rows.
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
        return problem(format!("has row offsets that go down at row {}", row + 1));
    }
    for row in 0..n {
        if row.is_multiple_of(ASK) {
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
