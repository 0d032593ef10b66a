//! The native half of the Python package: translation only, no algorithm lives here.
//!
//! `data` turns numpy arrays into views without copying them, `gate` is the one way into long work (the GIL released,
//! Ctrl-C heard, errors mapped), `forest` and `cluster` are the two classes, `report` the page, `functions` the
//! rest. What users see, the
//! scikit-learn estimators, is python/rpfcluster.

mod cluster;
mod data;
mod forest;
mod functions;
mod gate;
mod report;

use pyo3::prelude::*;

/// Native part of rpfcluster; use the names of the package `rpfcluster` instead.
#[pymodule]
mod _rpfcluster {
    use super::*;

    #[pymodule_export]
    use super::cluster::Cluster;
    #[pymodule_export]
    use super::forest::Forest;
    #[pymodule_export]
    use super::functions::{iris, scores, sections, shape, shapes, spectral};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
