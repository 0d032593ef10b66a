//! The methods the paper compares with, as functions of an array: NJW spectral clustering and Cluster Forests.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rpfcluster::thread_pool::in_pool;
use rpfcluster_paper::rivals::{ClusterForests, Njw};

use crate::functions::{parse, signed};
use crate::gate::{Progress, gate};

type Labels<'py> = Bound<'py, PyArray1<i64>>;
type Numbers<'py> = Bound<'py, PyArray1<f64>>;
/// Labels, eigenvalues, the bandwidth where one served all rows, distortion, landmarks where they stood for all rows.
type NjwParts<'py> = (Labels<'py>, Numbers<'py>, Option<f64>, f64, Option<usize>);
/// Labels, bandwidth, features of each pursuit, kappa where each ended, landmarks where they stood for all rows.
type ForestsParts<'py> = (Labels<'py>, f64, Vec<Vec<usize>>, Numbers<'py>, Option<usize>);

/// NJW; `params` is the JSON of `Njw`.
#[pyfunction]
#[pyo3(signature = (rows, params, threads=None, progress=None))]
pub fn njw<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f64>,
    params: &str,
    threads: Option<usize>,
    progress: Progress,
) -> PyResult<NjwParts<'py>> {
    let params: Njw = parse(params)?;
    let (values, d) = (rows.as_slice()?, rows.shape()[1]);
    let fit = gate(py, progress, |o| in_pool(threads, || params.fit(values, d, o))?)?;
    let eigenvalues = fit.eigenvalues.into_pyarray(py);
    Ok((signed(py, &fit.labels), eigenvalues, fit.sigma, fit.distortion, fit.landmarks))
}

/// Cluster Forests; `params` is the JSON of `ClusterForests`.
#[pyfunction]
#[pyo3(signature = (rows, params, threads=None, progress=None))]
pub fn cluster_forests<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f64>,
    params: &str,
    threads: Option<usize>,
    progress: Progress,
) -> PyResult<ForestsParts<'py>> {
    let params: ClusterForests = parse(params)?;
    let (values, d) = (rows.as_slice()?, rows.shape()[1]);
    let fit = gate(py, progress, |o| in_pool(threads, || params.fit(values, d, o))?)?;
    let kappas: Vec<f64> = fit.instances.iter().filter_map(|i| i.kappas.last().copied()).collect();
    let features = fit.instances.into_iter().map(|i| i.features).collect();
    Ok((signed(py, &fit.labels), fit.beta2, features, kappas.into_pyarray(py), fit.landmarks))
}
