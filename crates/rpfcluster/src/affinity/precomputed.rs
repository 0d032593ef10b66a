//! Precomputed similarity matrices, dense or CSR, as sparse affinities. Every entry is checked to be finite,
//! non-negative and symmetric up to rounding, every row to have a positive entry; an error names the entry (counted
//! from 1). O(n²) time for a dense matrix, O(log n) per stored entry for a sparse one.

use crate::error::{Error, Result};
use crate::graph::{CANCEL_CHECK_ROWS, SparseAffinity, Weights, check_rows};
use crate::observe::{Observer, check};

/// Largest difference of `A_ij` and `A_ji` that is taken for rounding, relative to the larger: about the square root of
/// the f64 precision.
const ASYMMETRY_TOLERANCE: f64 = 1e-8;

/// A matrix with an entry above this is multiplied by [`SCALE`], since sums of its entries could overflow.
const LARGE: f64 = 1e150;
/// 2^-600: a power of two keeps every bit, and only ratios of similarities count.
const SCALE: f64 = f64::from_bits((1023 - 600) << 52);

/// What a matrix of these entries is multiplied by.
fn scale_of(values: &[f64]) -> f64 {
    if values.iter().any(|value| *value > LARGE) { SCALE } else { 1.0 }
}

fn refuse<T>(problem: String) -> Result<T> {
    Err(Error::Similarity { problem })
}

fn check_value(i: usize, j: usize, value: f64) -> Result<()> {
    if value.is_nan() || value.is_infinite() || value < 0.0 {
        return refuse(format!(
            "has {value} in row {}, column {}; every entry must be finite and not negative",
            i + 1,
            j + 1
        ));
    }
    Ok(())
}

fn check_pair(i: usize, j: usize, one: f64, other: f64) -> Result<()> {
    if (one - other).abs() > ASYMMETRY_TOLERANCE * one.max(other) {
        return refuse(format!(
            "is not symmetric: row {}, column {} is {one}, but row {}, column {} is {other}",
            i + 1,
            j + 1,
            j + 1,
            i + 1
        ));
    }
    Ok(())
}

impl SparseAffinity {
    /// From a dense n x n matrix, row-major; zeros are not stored. An error names the first entry that is not finite,
    /// negative or not symmetric, or the first row without a positive entry.
    pub fn precomputed_dense(matrix: &[f64], n: usize, observer: &dyn Observer) -> Result<Self> {
        if n == 0 {
            return Err(Error::Empty { n: 0, d: 0 });
        }
        if n.checked_mul(n) != Some(matrix.len()) {
            return refuse(format!(
                "is not square: {} values do not make {n} rows of {n} columns",
                matrix.len()
            ));
        }
        for (i, row) in matrix.chunks_exact(n).enumerate() {
            check(observer)?;
            for (j, value) in row.iter().enumerate() {
                check_value(i, j, *value)?;
            }
        }
        let mut indptr = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let scale = scale_of(matrix);
        for (i, row) in matrix.chunks_exact(n).enumerate() {
            check(observer)?;
            for (j, value) in row.iter().enumerate() {
                let mirror = matrix[j * n + i];
                if j > i {
                    check_pair(i, j, *value, mirror)?;
                }
                // The mean of both triangles is exactly symmetric.
                let value = 0.5 * (scale * value + scale * mirror);
                if value > 0.0 {
                    indices.push(j as u32);
                    values.push(value);
                }
            }
            if indices.len() == indptr[i] {
                return refuse(format!("has only zeros in row {}; every point needs some similarity", i + 1));
            }
            indptr.push(indices.len());
        }
        Self::checked(0.0, indptr, indices, Weights::Values(values), observer)
    }

    /// From CSR arrays with both triangles; the columns of a row may come in any order, without duplicates. The checks
    /// are those of [`SparseAffinity::precomputed_dense`].
    pub fn precomputed_sparse(
        indptr: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
        n: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        if indptr.len() != n + 1 {
            return Err(Error::Length {
                what: "row offsets of the similarity matrix",
                got: indptr.len(),
                expected: n + 1,
            });
        }
        let (indices, values) = sorted_rows(&indptr, indices, values, observer)?;
        check_rows(&indptr, &indices, values.len(), observer)?;
        let entry = |i: usize, j: usize| {
            let columns = &indices[indptr[i]..indptr[i + 1]];
            columns.binary_search(&(j as u32)).map_or(0.0, |at| values[indptr[i] + at])
        };
        let mut symmetric = values.clone();
        let scale = scale_of(&values);
        for i in 0..n {
            if i.is_multiple_of(CANCEL_CHECK_ROWS) {
                check(observer)?;
            }
            let mut sum = 0.0;
            for e in indptr[i]..indptr[i + 1] {
                let j = indices[e] as usize;
                check_value(i, j, values[e])?;
                let mirror = entry(j, i);
                check_value(j, i, mirror)?;
                check_pair(i, j, values[e], mirror)?;
                symmetric[e] = 0.5 * (scale * values[e] + scale * mirror);
                sum += symmetric[e];
            }
            if sum <= 0.0 {
                return refuse(format!("has only zeros in row {}; every point needs some similarity", i + 1));
            }
        }
        Ok(SparseAffinity::from_checked_rows(0.0, indptr, indices, Weights::Values(symmetric)))
    }
}

/// Sorts the entries of each row by column.
fn sorted_rows(
    indptr: &[usize],
    indices: Vec<u32>,
    values: Vec<f64>,
    observer: &dyn Observer,
) -> Result<(Vec<u32>, Vec<f64>)> {
    let ordered = indptr.windows(2).all(|w| {
        w[0] <= w[1] && w[1] <= indices.len() && indices[w[0]..w[1]].windows(2).all(|pair| pair[0] < pair[1])
    });
    if ordered || indices.len() != values.len() {
        return Ok((indices, values));
    }
    let mut entries: Vec<(u32, f64)> = indices.into_iter().zip(values).collect();
    for (row, w) in indptr.windows(2).enumerate() {
        if row.is_multiple_of(CANCEL_CHECK_ROWS) {
            check(observer)?;
        }
        match entries.get_mut(w[0]..w[1]) {
            Some(part) => part.sort_by_key(|entry| entry.0),
            None => return refuse(format!("has row offsets that do not fit its entries at row {}", row + 1)),
        }
    }
    Ok(entries.into_iter().unzip())
}
