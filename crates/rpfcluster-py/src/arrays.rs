//! Results of the library as numpy arrays: labels, CSR matrices, neighbour lists and leaf ids.
//!
//! A CSR matrix, neighbour list or table of leaf ids can hold 10⁸ entries. Its buffers are filled with the GIL
//! released, checking for cancellation between chunks; under the GIL the finished vectors are only handed over to
//! numpy, without a copy. Labels, one number per row, are converted under the GIL.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rpfcluster::observe::{Observer, check};
use rpfcluster::{LeafIds, Neighbors, Result, SparseKernel};

/// Entries converted between two checks for cancellation: a few milliseconds of work.
const CHUNK: usize = 1 << 20;

/// Rows transposed together, so that the source columns and the target rows stay in cache.
const ROW_BLOCK: usize = 512;

/// Labels as int64, the type of scikit-learn's labels.
pub type LabelArray<'py> = Bound<'py, PyArray1<i64>>;
/// A CSR matrix: indptr, indices, data.
pub type CsrArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>);
/// Neighbour lists: indices and values, each rows × k.
pub type NeighborArrays<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f64>>);

/// Labels as a numpy array.
pub fn label_array<'py>(py: Python<'py>, labels: &[u32]) -> LabelArray<'py> {
    labels.iter().map(|&l| i64::from(l)).collect::<Vec<_>>().into_pyarray(py)
}

/// Index arrays of a CSR matrix in the type scipy chooses: int32 where it suffices.
enum CsrIndices {
    I32 { starts: Vec<i32>, columns: Vec<i32> },
    I64 { starts: Vec<i64>, columns: Vec<i64> },
}

/// The vectors of a CSR matrix, laid out for scipy.
pub struct CsrBuffers {
    indices: CsrIndices,
    values: Vec<f64>,
}

impl CsrBuffers {
    /// From row starts, the column index of each value, and the values; `width` is the number of columns.
    pub fn new(
        starts: &[usize],
        columns: &[u32],
        values: Vec<f64>,
        width: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let indices = if columns.len().max(width) <= i32::MAX as usize {
            CsrIndices::I32 {
                starts: convert(starts, |s| *s as i32, observer)?,
                columns: convert(columns, |j| *j as i32, observer)?,
            }
        } else {
            CsrIndices::I64 {
                starts: convert(starts, |s| *s as i64, observer)?,
                columns: convert(columns, |j| i64::from(*j), observer)?,
            }
        };
        Ok(CsrBuffers { indices, values })
    }

    /// The similarities of a counted kernel: the fraction of trees in which two rows have the same leaf.
    pub fn from_kernel(kernel: &SparseKernel, observer: &dyn Observer) -> Result<Self> {
        let trees = kernel.trees as f64;
        let values = convert(&kernel.counts, |c| f64::from(*c) / trees, observer)?;
        Self::new(&kernel.starts, &kernel.indices, values, kernel.columns, observer)
    }

    /// Hands the vectors over to numpy.
    pub fn into_arrays(self, py: Python<'_>) -> CsrArrays<'_> {
        let (starts, columns) = match self.indices {
            CsrIndices::I32 { starts, columns } => {
                (starts.into_pyarray(py).into_any(), columns.into_pyarray(py).into_any())
            }
            CsrIndices::I64 { starts, columns } => {
                (starts.into_pyarray(py).into_any(), columns.into_pyarray(py).into_any())
            }
        };
        (starts, columns, self.values.into_pyarray(py))
    }
}

/// Maps `f` over a slice, with a check for cancellation before every chunk.
pub fn convert<A, B>(from: &[A], f: impl Fn(&A) -> B, observer: &dyn Observer) -> Result<Vec<B>> {
    let mut out = Vec::with_capacity(from.len());
    for chunk in from.chunks(CHUNK) {
        check(observer)?;
        out.extend(chunk.iter().map(&f));
    }
    Ok(out)
}

/// The vectors of neighbour lists, padded to k entries per row.
pub struct NeighborBuffers {
    n: usize,
    k: usize,
    indices: Vec<i64>,
    values: Vec<f64>,
}

impl NeighborBuffers {
    /// Collects what `row` emits for each row; shorter lists are padded with index -1 and the value `padding`.
    fn new(
        n: usize,
        k: usize,
        padding: f64,
        observer: &dyn Observer,
        mut row: impl FnMut(usize, &mut dyn FnMut(u32, f64)),
    ) -> Result<Self> {
        let (mut indices, mut values) = (Vec::with_capacity(n * k), Vec::with_capacity(n * k));
        for i in 0..n {
            check(observer)?;
            row(i, &mut |j, value| {
                indices.push(i64::from(j));
                values.push(value);
            });
            indices.resize((i + 1) * k, -1);
            values.resize((i + 1) * k, padding);
        }
        Ok(NeighborBuffers { n, k, indices, values })
    }

    /// Co-leaf neighbours with their similarities, padded with similarity 0.
    pub fn from_neighbors(found: &Neighbors, observer: &dyn Observer) -> Result<Self> {
        let trees = found.trees() as f64;
        Self::new(found.n(), found.k(), 0.0, observer, |i, emit| {
            let (js, counts) = found.row(i);
            js.iter().zip(counts).for_each(|(&j, &count)| emit(j, f64::from(count) / trees));
        })
    }

    /// Nearest rows with their distances, padded with infinity.
    pub fn from_nearest(found: &[Vec<(u32, f64)>], k: usize, observer: &dyn Observer) -> Result<Self> {
        Self::new(found.len(), k, f64::INFINITY, observer, |i, emit| {
            found[i].iter().for_each(|&(j, distance)| emit(j, distance));
        })
    }

    /// Hands the vectors over to numpy.
    pub fn into_arrays(self, py: Python<'_>) -> PyResult<NeighborArrays<'_>> {
        let shape = [self.n, self.k];
        Ok((self.indices.into_pyarray(py).reshape(shape)?, self.values.into_pyarray(py).reshape(shape)?))
    }
}

/// Leaf ids in row-major order, each mapped by `f(tree, leaf)`. The library stores them tree by tree.
pub fn transpose<T: Copy + Default>(
    leaf_ids: &LeafIds,
    observer: &dyn Observer,
    f: impl Fn(usize, u32) -> T,
) -> Result<Vec<T>> {
    let trees = leaf_ids.trees();
    let mut out = vec![T::default(); leaf_ids.n() * trees];
    for first in (0..leaf_ids.n()).step_by(ROW_BLOCK) {
        check(observer)?;
        let end = (first + ROW_BLOCK).min(leaf_ids.n());
        for t in 0..trees {
            for (row, &leaf) in (first..end).zip(&leaf_ids.tree(t)[first..end]) {
                out[row * trees + t] = f(t, leaf);
            }
        }
    }
    Ok(out)
}
