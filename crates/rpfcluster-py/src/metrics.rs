//! Agreement of labels with known classes: accuracy, Rand index, adjusted Rand index, normalised mutual information.

use pyo3::prelude::*;
use rpfcluster::metrics::Scores;

use crate::errors::to_python;
use crate::json::to_json;

/// The JSON of all scores: `rho_c`, `rho_r` and `majority` in percent, `ari`, `nmi`.
#[pyfunction]
pub fn scores(labels: Vec<u32>, classes: Vec<u32>) -> PyResult<String> {
    to_json(&Scores::new(&labels, &classes).map_err(to_python)?)
}
