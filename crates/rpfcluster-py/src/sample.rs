//! The sample of a table that is read in parts: rows by the hash of the seed and the number of the row.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use rpfcluster::random::{self, RowHash};

/// The largest hash of a sample of `m` of `n` rows.
#[pyfunction]
pub fn sample_limit(py: Python<'_>, seed: u64, n: u64, m: u64) -> u64 {
    py.detach(|| random::sample_limit(seed, n, m))
}

/// The places of the sample among `count` rows of which the first has number `first` in the table.
#[pyfunction]
pub fn sampled_places(
    py: Python<'_>,
    seed: u64,
    limit: u64,
    first: u64,
    count: u64,
) -> Bound<'_, PyArray1<i64>> {
    let hash = RowHash::new(seed);
    let places = || (0..count).filter(|place| hash.of(first + place) <= limit).map(|at| at as i64).collect();
    let places: Vec<i64> = py.detach(places);
    places.into_pyarray(py)
}
