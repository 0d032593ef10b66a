//! The native half of the Python package: translation only, no algorithm lives here.
//!
//! `data` turns numpy arrays into views without copying them, `gate` is the one way into long work (the GIL released,
//! Ctrl-C heard, errors mapped), `arrays` lays large results out for numpy, `forest` and `cluster` are the two classes, `model`
//! their files, `report` the page, `rivals`, `sweep` and `functions` what is no method of them. What users see, the scikit-learn estimators, is python/rpfcluster.

mod arrays;
mod cluster;
mod data;
mod forest;
mod functions;
mod gate;
mod model;
mod report;
mod rivals;
mod sweep;

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
    use super::functions::{catalog, catalogued, iris, scores, shape, shapes, spectral};

    #[pymodule_export]
    use super::model::open_model;
    #[pymodule_export]
    use super::rivals::{cluster_forests, njw};
    #[pymodule_export]
    use super::sweep::{sweep, sweep_grid};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
