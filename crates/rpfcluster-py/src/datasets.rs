//! Data sets: Fisher's Iris, synthetic shapes with known clusters, and the catalog of published sets.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rpfcluster::printable::escaped_lines;
use rpfcluster::thread_pool::in_pool;
use rpfcluster_data::catalog::{Scaling, entries, find};
use rpfcluster_data::shapes::Shape;
use rpfcluster_data::{Table, Values};

use crate::arrays::{LabelArray, label_array};
use crate::errors::to_python;

type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// Rows in float32 or float64, class codes, column names, class names.
type DataSet<'py> = (Bound<'py, PyAny>, LabelArray<'py>, Vec<String>, Vec<String>);

/// The names of the synthetic shapes.
#[pyfunction]
pub fn shapes() -> Vec<&'static str> {
    Shape::ALL.iter().map(Shape::name).collect()
}

/// Generates a synthetic shape: rows and the cluster of each row.
#[pyfunction]
pub fn shape<'py>(
    py: Python<'py>,
    name: &str,
    n: usize,
    seed: u64,
) -> PyResult<(Matrix<'py>, LabelArray<'py>)> {
    let shape: Shape = name.parse().map_err(data_error)?;
    let made = py.detach(|| shape.generate(n, seed));
    Ok((made.values.into_pyarray(py).reshape([made.n, made.d])?, label_array(py, &made.labels)))
}

/// Fisher's Iris: rows, species codes, column names, species names.
#[pyfunction]
pub fn iris(py: Python<'_>) -> PyResult<DataSet<'_>> {
    data_set(py, || rpfcluster_data::iris().map(|(table, _)| table))
}

/// The names of the sets in the catalog.
#[pyfunction]
pub fn catalog() -> Vec<&'static str> {
    entries().iter().map(|e| e.name).collect()
}

/// Reads a set of the catalog from its distributor's files in `folder`.
#[pyfunction]
pub fn catalogued<'py>(
    py: Python<'py>,
    name: &str,
    folder: std::path::PathBuf,
    scaling: &str,
) -> PyResult<DataSet<'py>> {
    let Some((_, scaling)) = Scaling::ALL.into_iter().find(|(known, _)| *known == scaling) else {
        return Err(PyValueError::new_err(format!(
            "scaling is {scaling:?}, but must be raw, standardized or paper"
        )));
    };
    let entry = find(name).map_err(data_error)?;
    data_set(py, || entry.load(folder, scaling))
}

/// Reads a table, in threads that end with the call, and returns its arrays in its float type.
fn data_set(
    py: Python<'_>,
    read: impl FnOnce() -> rpfcluster_data::Result<Table> + Send,
) -> PyResult<DataSet<'_>> {
    let table = py.detach(|| in_pool(None, read)).map_err(to_python)?.map_err(data_error)?;
    let shape = [table.n, table.d()];
    let rows = match table.values {
        Values::F32(v) => v.into_pyarray(py).reshape(shape)?.into_any(),
        Values::F64(v) => v.into_pyarray(py).reshape(shape)?.into_any(),
        narrow => narrow.to_f64().into_owned().into_pyarray(py).reshape(shape)?.into_any(),
    };
    let (codes, names) = table.labels.map(|l| (l.codes, l.names)).unwrap_or_default();
    Ok((rows, label_array(py, &codes), table.columns, names))
}

fn data_error(error: rpfcluster_data::DataError) -> PyErr {
    PyValueError::new_err(escaped_lines(&error.to_string()).into_owned())
}
