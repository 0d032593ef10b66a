//! What is no method of a class: scores, made-up data, spectral clustering of a similarity made elsewhere, and the small
//! translations both classes use.

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rpfcluster::affinity::SparseAffinity;
use rpfcluster::metrics::Scores;
use rpfcluster::spectral::{SpectralParams, cluster};
use rpfcluster::thread_pool::in_pool;
use rpfcluster_data::Values;
use rpfcluster_data::catalog::{Scaling, entries, find};
use rpfcluster_data::shapes::Shape;

use crate::data::whole_numbers;
use crate::gate::{Progress, gate, to_python};

type Matrix<'py> = Bound<'py, PyArray2<f64>>;
type Labels<'py> = Bound<'py, PyArray1<i64>>;
/// Rows in their own width, classes, names of the columns, names of the classes.
pub type CataloguedSet<'py> = (Bound<'py, PyAny>, Labels<'py>, Vec<String>, Vec<String>);

/// Parameters from their JSON; what is wrong with them is a ValueError.
pub fn parse<T: serde::de::DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// A value of the library as JSON.
pub fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// Labels in Python's usual width.
pub fn signed<'py>(py: Python<'py>, labels: &[u32]) -> Labels<'py> {
    labels.iter().map(|&l| i64::from(l)).collect::<Vec<_>>().into_pyarray(py)
}

/// Spectral clustering of a similarity matrix, an array or the tuple (indptr, indices, data):
/// (labels, vectors, eigenvalues, JSON of how the eigen-solver ended). `params` is the JSON of `SpectralParams`.
#[pyfunction]
#[pyo3(signature = (matrix, params, threads=None, progress=None))]
pub fn spectral<'py>(
    py: Python<'py>,
    matrix: &Bound<'py, PyAny>,
    params: &str,
    threads: Option<usize>,
    progress: Progress,
) -> PyResult<(Labels<'py>, Matrix<'py>, Bound<'py, PyArray1<f64>>, String)> {
    let params: SpectralParams = parse(params)?;
    let affinity = if let Ok(dense) = matrix.extract::<PyReadonlyArray2<'_, f64>>() {
        let n = dense.shape()[0];
        let values = dense.as_slice()?;
        gate(py, None, |o| SparseAffinity::precomputed_dense(values, n, o))?
    } else {
        let (indptr, indices, values): (Bound<'_, PyAny>, Bound<'_, PyAny>, PyReadonlyArray1<'_, f64>) =
            matrix.extract()?;
        let starts: Vec<usize> = whole_numbers(&indptr, "indptr")?;
        let columns = whole_numbers(&indices, "indices")?;
        let values = values.as_slice()?.to_vec();
        let n = starts.len().saturating_sub(1);
        gate(py, None, |o| SparseAffinity::precomputed_sparse(starts, columns, values, n, o))?
    };
    let (labels, e) = gate(py, progress, |o| in_pool(threads, || cluster(&affinity, &params, o))?)?;
    let used = to_json(&serde_json::json!({
        "method": params.method,
        "solver": e.solver,
        "converged": e.converged,
        "residual": e.residual,
        "iterations": e.iterations,
        "uncovered": e.uncovered,
    }))?;
    let shape = [e.n(), e.k()];
    Ok((
        signed(py, &labels),
        e.vectors.into_pyarray(py).reshape(shape)?,
        e.eigenvalues.into_pyarray(py),
        used,
    ))
}

/// Every score of labels against classes: rho_c, rho_r and majority in percent, ari, nmi.
#[pyfunction]
pub fn scores(labels: Vec<u32>, classes: Vec<u32>) -> PyResult<String> {
    to_json(&Scores::new(&labels, &classes).map_err(to_python)?)
}

/// The names of the made-up sets.
#[pyfunction]
pub fn shapes() -> Vec<&'static str> {
    Shape::ALL.iter().map(Shape::name).collect()
}

/// Made-up data by name: (rows, labels).
#[pyfunction]
pub fn shape<'py>(py: Python<'py>, name: &str, n: usize, seed: u64) -> PyResult<(Matrix<'py>, Labels<'py>)> {
    let shape: Shape = name.parse().map_err(data_error)?;
    let made = py.detach(|| shape.generate(n, seed));
    Ok((made.values.into_pyarray(py).reshape([made.n, made.d])?, signed(py, &made.labels)))
}

/// Fisher's Iris: (rows, species as numbers, names of the columns, names of the species).
#[pyfunction]
pub fn iris(py: Python<'_>) -> PyResult<(Matrix<'_>, Labels<'_>, Vec<String>, Vec<String>)> {
    let table = rpfcluster_data::iris().map_err(data_error)?;
    let (n, d) = (table.n, table.d());
    let values = table.values.to_f64().into_owned();
    let (codes, names) = table.labels.map(|l| (l.codes, l.names)).unwrap_or_default();
    let rows = values.into_pyarray(py).reshape([n, d])?;
    Ok((rows, signed(py, &codes), table.columns, names))
}

/// The names of the sets the catalog can read.
#[pyfunction]
pub fn catalog() -> Vec<&'static str> {
    entries().iter().map(|e| e.name).collect()
}

/// A set of the catalog, read from a folder in its distributor's files.
#[pyfunction]
pub fn catalogued<'py>(
    py: Python<'py>,
    name: &str,
    folder: std::path::PathBuf,
    scaling: &str,
) -> PyResult<CataloguedSet<'py>> {
    let Some((_, scaling)) = Scaling::ALL.into_iter().find(|(known, _)| *known == scaling) else {
        return Err(PyValueError::new_err(format!(
            "scaling is {scaling:?}, but must be raw, standardized or paper"
        )));
    };
    let entry = find(name).map_err(data_error)?;
    let table = py.detach(|| entry.load(folder, scaling)).map_err(data_error)?;
    let shape = [table.n, table.d()];
    let rows = match table.values {
        Values::F32(v) => v.into_pyarray(py).reshape(shape)?.into_any(),
        Values::F64(v) => v.into_pyarray(py).reshape(shape)?.into_any(),
    };
    let (codes, names) = table.labels.map(|l| (l.codes, l.names)).unwrap_or_default();
    Ok((rows, signed(py, &codes), table.columns, names))
}

/// What is wrong with a name or a file; a ValueError with its sentence.
fn data_error(error: rpfcluster_data::DataError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
