//! Large results on their way to numpy. There may be 10⁸ pairs, so they are laid out behind the gate, asking between
//! pieces whether to go on; what is left to do under the GIL is to hand over vectors.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rpfcluster::observe::{Observer, check};
use rpfcluster::{LeafIds, Neighbors, Result, SparseKernel};

/// Pairs laid out before it is asked again.
const PIECE: usize = 1 << 20;

/// A compressed sparse matrix in Python: indptr, indices, data.
pub type CsrArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>);
/// Indices and values in Python, a row of each for every row.
pub type PairArrays<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f64>>);

/// Row offsets and columns in the width scipy would choose.
enum Places {
    Narrow(Vec<i32>, Vec<i32>),
    Wide(Vec<i64>, Vec<i64>),
}

/// A compressed sparse matrix, ready for numpy.
pub struct Csr {
    places: Places,
    values: Vec<f64>,
}

impl Csr {
    /// From compressed rows over so many columns.
    pub fn new(
        (starts, indices): (&[usize], &[u32]),
        values: Vec<f64>,
        columns: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let narrow = indices.len().max(columns) <= i32::MAX as usize;
        let places = if narrow {
            Places::Narrow(each(starts, |s| *s as i32, observer)?, each(indices, |j| *j as i32, observer)?)
        } else {
            Places::Wide(each(starts, |s| *s as i64, observer)?, each(indices, |j| i64::from(*j), observer)?)
        };
        Ok(Csr { places, values })
    }

    /// The similarities of counted pairs.
    pub fn of_kernel(kernel: &SparseKernel, observer: &dyn Observer) -> Result<Self> {
        let trees = kernel.trees as f64;
        let values = each(&kernel.counts, |c| f64::from(*c) / trees, observer)?;
        Self::new((&kernel.starts, &kernel.indices), values, kernel.columns, observer)
    }

    /// The three arrays.
    pub fn into_arrays(self, py: Python<'_>) -> CsrArrays<'_> {
        let (starts, indices) = match self.places {
            Places::Narrow(s, j) => (s.into_pyarray(py).into_any(), j.into_pyarray(py).into_any()),
            Places::Wide(s, j) => (s.into_pyarray(py).into_any(), j.into_pyarray(py).into_any()),
        };
        (starts, indices, self.values.into_pyarray(py))
    }
}

/// What `f` makes of each entry.
pub fn each<A, B>(from: &[A], f: impl Fn(&A) -> B, observer: &dyn Observer) -> Result<Vec<B>> {
    let mut out = Vec::with_capacity(from.len());
    for piece in from.chunks(PIECE) {
        check(observer)?;
        out.extend(piece.iter().map(&f));
    }
    Ok(out)
}

/// Rows of (index, value) pairs as two tables of k columns, short rows filled up.
pub struct Pairs {
    n: usize,
    k: usize,
    indices: Vec<i64>,
    values: Vec<f64>,
}

impl Pairs {
    /// Short rows end with -1 and `nothing`.
    fn new(
        (n, k): (usize, usize),
        nothing: f64,
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
            values.resize((i + 1) * k, nothing);
        }
        Ok(Pairs { n, k, indices, values })
    }

    /// The strongest neighbours with their similarities; 0 where there are fewer.
    pub fn of_neighbors(found: &Neighbors, observer: &dyn Observer) -> Result<Self> {
        let trees = found.trees() as f64;
        Self::new((found.n(), found.k()), 0.0, observer, |i, take| {
            let (js, counts) = found.row(i);
            js.iter().zip(counts).for_each(|(&j, &count)| take(j, f64::from(count) / trees));
        })
    }

    /// The nearest of each row; infinitely far where there are fewer.
    pub fn of_nearest(found: &[Vec<(u32, f64)>], k: usize, observer: &dyn Observer) -> Result<Self> {
        Self::new((found.len(), k), f64::INFINITY, observer, |i, take| {
            found[i].iter().for_each(|&(j, distance)| take(j, distance));
        })
    }

    /// The two tables.
    pub fn into_arrays(self, py: Python<'_>) -> PyResult<PairArrays<'_>> {
        let shape = [self.n, self.k];
        Ok((self.indices.into_pyarray(py).reshape(shape)?, self.values.into_pyarray(py).reshape(shape)?))
    }
}

/// Leaf numbers row after row, each as `f(tree, leaf)`.
pub fn by_rows<T: Copy + Default>(
    codes: &LeafIds,
    observer: &dyn Observer,
    f: impl Fn(usize, u32) -> T,
) -> Result<Vec<T>> {
    const BAND: usize = 512;
    let trees = codes.trees();
    let mut out = vec![T::default(); codes.n() * trees];
    // Tree after tree within a band of rows: both sides stay in the cache.
    for band in (0..codes.n()).step_by(BAND) {
        check(observer)?;
        let end = (band + BAND).min(codes.n());
        for t in 0..trees {
            for (row, &leaf) in (band..end).zip(&codes.tree(t)[band..end]) {
                out[row * trees + t] = f(t, leaf);
            }
        }
    }
    Ok(out)
}
