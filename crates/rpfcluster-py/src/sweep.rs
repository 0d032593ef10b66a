//! Grid search over the threshold beta1 and the bandwidth beta2 of the paper's affinity, on one forest.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rpfcluster::thread_pool::in_pool;
use rpfcluster_paper::sweep::{
    Sweep, SweepResult, coarse_bandwidths, medium_bandwidths, paper_bandwidths, paper_thresholds,
};

use crate::forest::Forest;
use crate::gate::{ProgressCallback, gate};
use crate::json::{parse, to_json};

/// The values of beta1 and beta2 in a named grid.
#[pyfunction]
pub fn sweep_grid(name: &str) -> PyResult<(Vec<f64>, Vec<f64>)> {
    let bandwidths = match name {
        "coarse" => coarse_bandwidths(),
        "medium" => medium_bandwidths(),
        "paper" => paper_bandwidths(),
        other => {
            let message = format!("grid is {other:?}, but must be one of 'coarse', 'medium', 'paper'");
            return Err(PyValueError::new_err(message));
        }
    };
    Ok((paper_thresholds(), bandwidths))
}

/// Runs the grid. `params` is the JSON of `Sweep`; `classes` only score. Returns the JSON of all entries and the
/// distinct partitions, one per row.
#[pyfunction]
#[pyo3(signature = (forest, params, classes=None, threads=None, progress=None))]
pub fn sweep<'py>(
    py: Python<'py>,
    forest: &Forest,
    params: &str,
    classes: Option<Vec<u32>>,
    threads: Option<usize>,
    progress: ProgressCallback,
) -> PyResult<(String, Bound<'py, PyArray2<u32>>)> {
    let params: Sweep = parse(params)?;
    let leaves = Arc::new(forest.grown().leaves());
    let found = gate(py, progress, |o| in_pool(threads, || params.run(&leaves, classes.as_deref(), o))?)?;
    let SweepResult { entries, partitions, scores, label_free, best_by_labels, left_out, failed } = found;
    let json = to_json(&serde_json::json!({
        "entries": entries,
        "scores": scores,
        "label_free": label_free,
        "best_by_labels": best_by_labels,
        "left_out": left_out,
        "failed": failed,
    }))?;
    let shape = [partitions.len(), leaves.n()];
    Ok((json, partitions.concat().into_pyarray(py).reshape(shape)?))
}
