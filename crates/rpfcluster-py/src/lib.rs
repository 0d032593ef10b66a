//! The native module `rpfcluster._rpfcluster` of the Python package. It converts arguments, results and errors; it
//! implements no algorithm.
//!
//! The scikit-learn estimators in `python/rpfcluster` are the public interface and call this module.
//!
//! | module | content |
//! |---|---|
//! | `forest`, `cluster` | the classes `Forest` and `Cluster` |
//! | `spectral`, `rivals`, `sweep`, `metrics`, `datasets`, `sample` | functions |
//! | `report`, `model` | the HTML report; model files and pickles |
//! | `table` | input tables, borrowed from numpy and scipy |
//! | `arrays` | results as numpy arrays |
//! | `json` | parameters and records |
//! | `gate` | long calls: GIL released, Ctrl-C, progress |
//! | `errors` | exceptions, with the parameter names of Python |

mod arrays;
mod cluster;
mod datasets;
mod errors;
mod forest;
mod gate;
mod json;
mod metrics;
mod model;
mod report;
mod rivals;
mod sample;
mod spectral;
mod sweep;
mod table;

use pyo3::prelude::*;

/// Native half of rpfcluster. Not public: use the names of the package `rpfcluster`.
#[pymodule]
mod _rpfcluster {
    use super::*;

    #[pymodule_export]
    use super::cluster::Cluster;
    #[pymodule_export]
    use super::datasets::{catalog, catalogued, iris, shape, shapes};
    #[pymodule_export]
    use super::forest::Forest;
    #[pymodule_export]
    use super::metrics::scores;
    #[pymodule_export]
    use super::model::open_model;
    #[pymodule_export]
    use super::report::write_page;
    #[pymodule_export]
    use super::rivals::{cluster_forests, njw};
    #[pymodule_export]
    use super::sample::{sample_limit, sampled_places};
    #[pymodule_export]
    use super::spectral::spectral;
    #[pymodule_export]
    use super::sweep::{sweep, sweep_grid};
    #[pymodule_export]
    use super::table::means_of_columns;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
