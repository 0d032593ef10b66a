//! The paper's methods of comparison: NJW spectral clustering (Ng, Jordan and Weiss 2002) and Cluster Forests (Yan,
//! Chen and Jordan 2013).

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rpfcluster::thread_pool::in_pool;
use rpfcluster_paper::rivals::{ClusterForests, Njw};

use crate::arrays::{LabelArray, label_array};
use crate::gate::{ProgressCallback, gate};
use crate::json::parse;

type FloatArray<'py> = Bound<'py, PyArray1<f64>>;
/// Labels, eigenvalues, the bandwidth if all rows share one, distortion, landmarks if the fit is approximate.
type NjwParts<'py> = (LabelArray<'py>, FloatArray<'py>, Option<f64>, f64, Option<usize>);
/// Labels, bandwidth, features and final kappa of each instance, landmarks if the fit is approximate.
type ClusterForestsParts<'py> = (LabelArray<'py>, f64, Vec<Vec<usize>>, FloatArray<'py>, Option<usize>);

/// Fits NJW. `params` is the JSON of `Njw`.
#[pyfunction]
#[pyo3(signature = (rows, params, threads=None, progress=None))]
pub fn njw<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f64>,
    params: &str,
    threads: Option<usize>,
    progress: ProgressCallback,
) -> PyResult<NjwParts<'py>> {
    let params: Njw = parse(params)?;
    let (values, d) = (rows.as_slice()?, rows.shape()[1]);
    let fit = gate(py, progress, |o| in_pool(threads, || params.fit(values, d, o))?)?;
    let eigenvalues = fit.eigenvalues.into_pyarray(py);
    Ok((label_array(py, &fit.labels), eigenvalues, fit.sigma, fit.distortion, fit.landmarks))
}

/// Fits Cluster Forests. `params` is the JSON of `ClusterForests`.
#[pyfunction]
#[pyo3(signature = (rows, params, threads=None, progress=None))]
pub fn cluster_forests<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f64>,
    params: &str,
    threads: Option<usize>,
    progress: ProgressCallback,
) -> PyResult<ClusterForestsParts<'py>> {
    let params: ClusterForests = parse(params)?;
    let (values, d) = (rows.as_slice()?, rows.shape()[1]);
    let fit = gate(py, progress, |o| in_pool(threads, || params.fit(values, d, o))?)?;
    let kappas: Vec<f64> = fit.instances.iter().filter_map(|i| i.kappas.last().copied()).collect();
    let features = fit.instances.into_iter().map(|i| i.features).collect();
    Ok((label_array(py, &fit.labels), fit.beta2, features, kappas.into_pyarray(py), fit.landmarks))
}
