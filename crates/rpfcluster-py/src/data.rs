//! numpy arrays as the library's view of the data: f32 and f64, dense row-major arrays as they lie in memory, and
//! compressed sparse rows whose values are not copied (only the 4-byte column numbers and row starts are).

use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rpfcluster::{Points, Real};

/// Data from Python: an array of two dimensions, or the tuple (indptr, indices, data, n_features).
pub enum Table<'py> {
    /// 32 bits.
    F32(Rows<'py, f32>),
    /// 64 bits.
    F64(Rows<'py, f64>),
}

/// Data of one width; keeps the arrays borrowed.
pub enum Rows<'py, R: Element> {
    /// Row after row.
    Dense(PyReadonlyArray2<'py, R>),
    /// Compressed rows.
    Sparse {
        /// Where each row begins.
        starts: Vec<usize>,
        /// Column of each value.
        columns: Vec<u32>,
        /// The values.
        values: PyReadonlyArray1<'py, R>,
        /// Number of columns.
        d: usize,
    },
}

/// What [`Rows`] hold as plain slices, which may go to another thread.
#[derive(Clone, Copy)]
pub enum View<'a, R> {
    /// Row after row: values, n, d.
    Dense(&'a [R], usize, usize),
    /// Compressed rows: starts, columns, values, d.
    Sparse(&'a [usize], &'a [u32], &'a [R], usize),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Table<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(parts) = object.cast::<PyTuple>() {
            return sparse(&parts);
        }
        if let Ok(array) = object.extract::<PyReadonlyArray2<'py, f32>>() {
            return Ok(Table::F32(Rows::Dense(array)));
        }
        if let Ok(array) = object.extract::<PyReadonlyArray2<'py, f64>>() {
            return Ok(Table::F64(Rows::Dense(array)));
        }
        Err(PyTypeError::new_err("the data must be a float32 or float64 array of two dimensions"))
    }
}

fn sparse<'py>(parts: &Bound<'py, PyTuple>) -> PyResult<Table<'py>> {
    let (indptr, indices, values, d): (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize) =
        parts.extract()?;
    let starts = whole_numbers(&indptr, "indptr")?;
    let columns = whole_numbers(&indices, "indices")?;
    if let Ok(values) = values.extract::<PyReadonlyArray1<'py, f32>>() {
        return Ok(Table::F32(Rows::Sparse { starts, columns, values, d }));
    }
    let values = values.extract::<PyReadonlyArray1<'py, f64>>()?;
    Ok(Table::F64(Rows::Sparse { starts, columns, values, d }))
}

/// scipy's index arrays come in two widths.
pub fn whole_numbers<T: TryFrom<i64>>(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    let wrong = |_| PyValueError::new_err(format!("{name} holds a number that is negative or too large"));
    if let Ok(array) = array.extract::<PyReadonlyArray1<'_, i32>>() {
        let numbers = array.as_slice()?.iter();
        return numbers.map(|&i| T::try_from(i64::from(i))).collect::<Result<_, _>>().map_err(wrong);
    }
    let array = array.extract::<PyReadonlyArray1<'_, i64>>()?;
    array.as_slice()?.iter().map(|&i| T::try_from(i)).collect::<Result<_, _>>().map_err(wrong)
}

impl<R: Element + Real> Rows<'_, R> {
    /// The plain slices; an error when the array is not one contiguous, aligned block.
    pub fn view(&self) -> PyResult<View<'_, R>> {
        Ok(match self {
            Rows::Dense(array) => View::Dense(array.as_slice()?, array.shape()[0], array.shape()[1]),
            Rows::Sparse { starts, columns, values, d } => {
                View::Sparse(starts, columns, values.as_slice()?, *d)
            }
        })
    }
}

impl<'a, R: Real> View<'a, R> {
    /// The library's checked view.
    pub fn points(self) -> rpfcluster::Result<Points<'a, R>> {
        match self {
            View::Dense(values, n, d) => Points::new(values, n, d),
            View::Sparse(starts, columns, values, d) => {
                Points::sparse(starts, columns, values, starts.len().saturating_sub(1), d)
            }
        }
    }
}

/// Runs `$body` with `$view` the [`View`] of whichever width the table has.
macro_rules! each_width {
    ($table:expr, $view:ident => $body:expr) => {
        match $table {
            $crate::data::Table::F32(rows) => {
                let $view = rows.view()?;
                $body
            }
            $crate::data::Table::F64(rows) => {
                let $view = rows.view()?;
                $body
            }
        }
    };
}
pub(crate) use each_width;
