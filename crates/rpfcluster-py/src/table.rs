//! Input tables from Python as the library's [`Points`], without copying values.
//!
//! Takes float32 and float64, dense C-contiguous arrays, such arrays with gaps (NaN) and column means, each with the keys
//! of the columns of categories, or CSR matrices; and dense arrays of float16, int8 and uint8, whose results are those of
//! float32. A dense array is borrowed as it is. Of a CSR matrix the values are
//! borrowed; row starts and column indices are copied, since scipy's index types are signed.

use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rpfcluster::{ColumnKey, CompactValues, Points, Real, f16};

/// Evaluates `$body` with `$view` bound to the [`TableView`] of the table, for either float type.
macro_rules! with_view {
    ($table:expr, $view:ident => $body:expr) => {
        match $table {
            $crate::table::InputTable::F32(table) => {
                let $view = table.view()?;
                $body
            }
            $crate::table::InputTable::F64(table) => {
                let $view = table.view()?;
                $body
            }
        }
    };
}
pub(crate) use with_view;

/// A table from Python: a two-dimensional array, the tuple (array, means or None, columns) of one with gaps or categories,
/// where `columns` has the feature and the level of each column, or the tuple (indptr, indices, data, n_features).
pub enum InputTable<'py> {
    /// float32, or less.
    F32(TypedTable<'py, f32>),
    /// float64.
    F64(TypedTable<'py, f64>),
}

/// A table of one float type. Keeps the numpy arrays borrowed.
pub enum TypedTable<'py, R: Element> {
    /// A C-contiguous array.
    Dense(PyReadonlyArray2<'py, R>, Vec<ColumnKey>),
    /// A C-contiguous array in which NaN is a gap, and the means of its columns.
    Gaps(PyReadonlyArray2<'py, R>, Vec<R>, Vec<ColumnKey>),
    /// A C-contiguous array of numbers of one or two bytes.
    Compact(CompactArray<'py>),
    /// A CSR matrix.
    Sparse {
        /// Offset of the first value of each row.
        starts: Vec<usize>,
        /// Column index of each value.
        columns: Vec<u32>,
        /// The stored values.
        values: PyReadonlyArray1<'py, R>,
        /// Number of columns.
        d: usize,
    },
}

/// An array of numbers of one or two bytes.
pub enum CompactArray<'py> {
    /// float16.
    F16(PyReadonlyArray2<'py, f16>),
    /// int8.
    I8(PyReadonlyArray2<'py, i8>),
    /// uint8.
    U8(PyReadonlyArray2<'py, u8>),
}

/// The slices of a [`TypedTable`]. Unlike the numpy handles, they can be sent to another thread.
#[derive(Clone, Copy)]
pub enum TableView<'a, R> {
    /// See [`TypedTable::Dense`].
    Dense {
        /// Row-major values.
        values: &'a [R],
        /// Number of rows.
        n: usize,
        /// Number of columns.
        d: usize,
        /// What the columns stand for.
        keys: &'a [ColumnKey],
    },
    /// See [`TypedTable::Gaps`].
    Gaps {
        /// Row-major values.
        values: &'a [R],
        /// Number of rows.
        n: usize,
        /// The mean of each column.
        means: &'a [R],
        /// What the columns stand for.
        keys: &'a [ColumnKey],
    },
    /// See [`TypedTable::Compact`].
    Compact {
        /// Row-major values.
        values: CompactValues<'a>,
        /// Number of rows.
        n: usize,
        /// Number of columns.
        d: usize,
    },
    /// See [`TypedTable::Sparse`].
    Sparse {
        /// Offset of the first value of each row.
        starts: &'a [usize],
        /// Column index of each value.
        columns: &'a [u32],
        /// The stored values.
        values: &'a [R],
        /// Number of columns.
        d: usize,
    },
}

impl<'a, 'py> FromPyObject<'a, 'py> for InputTable<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(parts) = object.cast::<PyTuple>() {
            return if parts.len() == 3 { prepared(&parts) } else { sparse(&parts) };
        }
        if let Ok(array) = object.extract::<PyReadonlyArray2<'py, f32>>() {
            return Ok(InputTable::F32(TypedTable::Dense(array, Vec::new())));
        }
        if let Ok(array) = object.extract::<PyReadonlyArray2<'py, f64>>() {
            return Ok(InputTable::F64(TypedTable::Dense(array, Vec::new())));
        }
        let compact = if let Ok(array) = object.extract::<PyReadonlyArray2<'py, f16>>() {
            CompactArray::F16(array)
        } else if let Ok(array) = object.extract::<PyReadonlyArray2<'py, i8>>() {
            CompactArray::I8(array)
        } else if let Ok(array) = object.extract::<PyReadonlyArray2<'py, u8>>() {
            CompactArray::U8(array)
        } else {
            return Err(PyTypeError::new_err(
                "the data must be a two-dimensional array of float64, float32, float16, int8 or uint8",
            ));
        };
        Ok(InputTable::F32(TypedTable::Compact(compact)))
    }
}

fn prepared<'py>(parts: &Bound<'py, PyTuple>) -> PyResult<InputTable<'py>> {
    type Columns = Vec<(u32, Option<String>)>;
    let (array, means, columns): (Bound<'py, PyAny>, Option<Vec<f64>>, Columns) = parts.extract()?;
    let key = |(feature, level): (u32, Option<String>)| match level {
        Some(name) => ColumnKey::level(feature, &name),
        None => ColumnKey::number(feature),
    };
    let keys = columns.into_iter().map(key).collect();
    if let Ok(array) = array.extract::<PyReadonlyArray2<'py, f32>>() {
        return Ok(InputTable::F32(match means {
            Some(means) => TypedTable::Gaps(array, means.into_iter().map(|mean| mean as f32).collect(), keys),
            None => TypedTable::Dense(array, keys),
        }));
    }
    let array = array.extract::<PyReadonlyArray2<'py, f64>>()?;
    Ok(InputTable::F64(match means {
        Some(means) => TypedTable::Gaps(array, means, keys),
        None => TypedTable::Dense(array, keys),
    }))
}

/// The mean of each column of an array, without its gaps.
#[pyfunction]
#[pyo3(name = "column_means")]
pub fn means_of_columns(table: InputTable<'_>) -> PyResult<Vec<f64>> {
    with_view!(table, view => match view {
        TableView::Dense { values, d, .. } => {
            let means = rpfcluster::column_means(values, d).map_err(crate::errors::to_python)?;
            Ok(means.into_iter().map(Real::to_f64).collect())
        }
        _ => Err(PyTypeError::new_err("the data must be a two-dimensional array")),
    })
}

fn sparse<'py>(parts: &Bound<'py, PyTuple>) -> PyResult<InputTable<'py>> {
    let (indptr, indices, values, d): (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize) =
        parts.extract()?;
    let starts = index_vec(&indptr, "indptr")?;
    let columns = index_vec(&indices, "indices")?;
    if let Ok(values) = values.extract::<PyReadonlyArray1<'py, f32>>() {
        return Ok(InputTable::F32(TypedTable::Sparse { starts, columns, values, d }));
    }
    let values = values.extract::<PyReadonlyArray1<'py, f64>>()?;
    Ok(InputTable::F64(TypedTable::Sparse { starts, columns, values, d }))
}

/// A scipy index array (int32 or int64) in the index type of the library.
pub fn index_vec<T: TryFrom<i64>>(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    let out_of_range =
        |_| PyValueError::new_err(format!("{name} holds an index that is negative or too large"));
    if let Ok(array) = array.extract::<PyReadonlyArray1<'_, i32>>() {
        let indices = array.as_slice()?.iter();
        return indices.map(|&i| T::try_from(i64::from(i))).collect::<Result<_, _>>().map_err(out_of_range);
    }
    let array = array.extract::<PyReadonlyArray1<'_, i64>>()?;
    array.as_slice()?.iter().map(|&i| T::try_from(i)).collect::<Result<_, _>>().map_err(out_of_range)
}

impl<R: Element + Real> TypedTable<'_, R> {
    /// The slices. Fails when an array is not contiguous and aligned.
    pub fn view(&self) -> PyResult<TableView<'_, R>> {
        Ok(match self {
            TypedTable::Dense(array, keys) => {
                TableView::Dense { values: array.as_slice()?, n: array.shape()[0], d: array.shape()[1], keys }
            }
            TypedTable::Gaps(array, means, keys) => {
                TableView::Gaps { values: array.as_slice()?, n: array.shape()[0], means, keys }
            }
            TypedTable::Compact(array) => array.view()?,
            TypedTable::Sparse { starts, columns, values, d } => {
                TableView::Sparse { starts, columns, values: values.as_slice()?, d: *d }
            }
        })
    }
}

impl CompactArray<'_> {
    fn view<R>(&self) -> PyResult<TableView<'_, R>> {
        let (values, shape) = match self {
            CompactArray::F16(array) => (CompactValues::F16(array.as_slice()?), array.shape()),
            CompactArray::I8(array) => (CompactValues::I8(array.as_slice()?), array.shape()),
            CompactArray::U8(array) => (CompactValues::U8(array.as_slice()?), array.shape()),
        };
        Ok(TableView::Compact { values, n: shape[0], d: shape[1] })
    }
}

impl<'a, R: Real> TableView<'a, R> {
    /// Checks shape and values.
    pub fn points(self) -> rpfcluster::Result<Points<'a, R>> {
        match self {
            TableView::Dense { values, n, d, keys } => Points::new(values, n, d)?.with_keys(keys),
            TableView::Gaps { values, n, means, keys } => {
                Points::with_gaps(values, n, means.len(), means)?.with_keys(keys)
            }
            TableView::Compact { values, n, d } => Points::compact(values, n, d),
            TableView::Sparse { starts, columns, values, d } => {
                Points::sparse(starts, columns, values, starts.len().saturating_sub(1), d)
            }
        }
    }
}
