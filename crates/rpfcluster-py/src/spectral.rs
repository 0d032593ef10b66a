//! Spectral clustering of a precomputed similarity matrix.

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use rpfcluster::Observer;
use rpfcluster::affinity::SparseAffinity;
use rpfcluster::leiden::{communities, communities_at_k};
use rpfcluster::spectral::{Embedding, Method, SpectralParams, cluster};
use rpfcluster::thread_pool::in_pool;

use crate::arrays::{LabelArray, label_array};
use crate::gate::{ProgressCallback, gate};
use crate::json::{parse, to_json};
use crate::table::index_vec;

/// Labels, eigenvectors, eigenvalues, and the JSON of the eigensolver's outcome.
type SpectralParts<'py> = (LabelArray<'py>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, String);

/// Labels, eigenvectors, and the resolution of the Leiden algorithm, which has no eigenvectors.
fn labelled(
    affinity: &SparseAffinity,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> rpfcluster::Result<(Vec<u32>, Embedding, Option<f64>)> {
    if params.method != Method::Leiden {
        let (labels, embedding) = cluster(affinity, params, observer)?;
        return Ok((labels, embedding, None));
    }
    let (labels, resolution) = match params.resolution {
        Some(at) => (communities(affinity, params.quality, at, params.seed, observer)?, at),
        None => communities_at_k(affinity, params.quality, params.k, params.seed, observer)?,
    };
    Ok((labels, Embedding::without_vectors(affinity.n()), Some(resolution)))
}

/// Clusters by a similarity matrix, either a dense array or the CSR parts (indptr, indices, data). `params` is the
/// JSON of `SpectralParams`.
#[pyfunction]
#[pyo3(signature = (matrix, params, threads=None, progress=None))]
pub fn spectral<'py>(
    py: Python<'py>,
    matrix: &Bound<'py, PyAny>,
    params: &str,
    threads: Option<usize>,
    progress: ProgressCallback,
) -> PyResult<SpectralParts<'py>> {
    let params: SpectralParams = parse(params)?;
    let affinity = if let Ok(dense) = matrix.extract::<PyReadonlyArray2<'_, f64>>() {
        let n = dense.shape()[0];
        let values = dense.as_slice()?;
        gate(py, None, |o| SparseAffinity::precomputed_dense(values, n, o))?
    } else {
        let (indptr, indices, values): (Bound<'_, PyAny>, Bound<'_, PyAny>, PyReadonlyArray1<'_, f64>) =
            matrix.extract()?;
        let starts: Vec<usize> = index_vec(&indptr, "indptr")?;
        let columns = index_vec(&indices, "indices")?;
        let values = values.as_slice()?.to_vec();
        let n = starts.len().saturating_sub(1);
        gate(py, None, |o| SparseAffinity::precomputed_sparse(starts, columns, values, n, o))?
    };
    let (labels, e, resolution) =
        gate(py, progress, |o| in_pool(threads, || labelled(&affinity, &params, o))?)?;
    let used = to_json(&serde_json::json!({
        "method": params.method,
        "resolution": resolution,
        "solver": (e.k() > 0).then_some(e.solver),
        "converged": e.converged,
        "residual": e.residual,
        "iterations": e.iterations,
        "uncovered": e.uncovered,
    }))?;
    let shape = [e.n(), e.k()];
    Ok((
        label_array(py, &labels),
        e.vectors.into_pyarray(py).reshape(shape)?,
        e.eigenvalues.into_pyarray(py),
        used,
    ))
}
