//! The class `Cluster`: a finished clustering, able to place new rows.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rpfcluster::affinity::{SparseAffinity, Weights};
use rpfcluster::model_file::Container;
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{AffinityParams, Fitted, Observer, RpfCluster};

use crate::arrays::{Csr, CsrArrays, each};
use crate::data::{Table, each_width};
use crate::forest::Forest;
use crate::functions::{parse, signed, to_json};
use crate::gate::{Progress, gate};
use crate::model::{bytes_of, save_to};

/// A finished clustering.
#[pyclass(module = "rpfcluster._rpfcluster", frozen)]
pub struct Cluster {
    inner: Arc<Fitted>,
}

impl Cluster {
    pub fn new(mut inner: Fitted, threads: Option<usize>) -> Self {
        inner.set_threads(threads);
        Cluster { inner: Arc::new(inner) }
    }
}

#[pymethods]
impl Cluster {
    /// Clusters the rows; `params` is the JSON of the library's `RpfCluster`. Threads and a limit in bytes are no part
    /// of a model, so they come beside it.
    #[staticmethod]
    #[pyo3(signature = (table, params, threads=None, memory_limit=None, progress=None))]
    fn fit(
        py: Python<'_>,
        table: Table<'_>,
        params: &str,
        threads: Option<usize>,
        memory_limit: Option<u64>,
        progress: Progress,
    ) -> PyResult<Self> {
        let params = RpfCluster { threads, memory_limit, ..parse(params)? };
        let inner =
            each_width!(table, view => gate(py, progress, |o| params.fit(view.points()?.observed(o))))?;
        Ok(Cluster { inner: Arc::new(inner) })
    }

    /// Clusters the same rows by other settings, without growing again.
    #[pyo3(signature = (params, threads=None, memory_limit=None, progress=None))]
    fn recut(
        &self,
        py: Python<'_>,
        params: &str,
        threads: Option<usize>,
        memory_limit: Option<u64>,
        progress: Progress,
    ) -> PyResult<Self> {
        let params = RpfCluster { threads, memory_limit, ..parse(params)? };
        Ok(Cluster { inner: Arc::new(gate(py, progress, |o| self.inner.refit(&params, o))?) })
    }

    /// The cluster of each training row, numbered by first appearance.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        signed(py, self.inner.labels())
    }

    /// The eigenvectors, training rows x columns.
    #[getter]
    fn vectors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let embedding = self.inner.embedding();
        embedding.vectors.clone().into_pyarray(py).reshape([embedding.n(), embedding.k()])
    }

    /// Their eigenvalues, the largest first.
    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.embedding().eigenvalues.clone().into_pyarray(py)
    }

    /// Row sums of the affinity.
    #[getter]
    fn degrees<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.embedding().degrees.clone().into_pyarray(py)
    }

    /// Number of pieces the graph falls into.
    #[getter]
    fn pieces(&self) -> usize {
        self.inner.embedding().columns.len()
    }

    /// The forest.
    #[getter]
    fn forest(&self) -> Forest {
        Forest::new(self.inner.forest().clone())
    }

    /// The JSON of what was asked for.
    #[getter]
    fn params(&self) -> PyResult<String> {
        to_json(self.inner.params())
    }

    /// The JSON of what was used: affinity, min_node, method, solver, how the eigen-solver ended, seconds.
    #[getter]
    fn used(&self) -> PyResult<String> {
        let e = self.inner.embedding();
        to_json(&serde_json::json!({
            "affinity": self.inner.affinity(),
            "min_node": self.inner.min_node(),
            "method": self.inner.method(),
            "solver": e.solver,
            "converged": e.converged,
            "residual": e.residual,
            "iterations": e.iterations,
            "uncovered": e.uncovered,
            "seconds": self.inner.seconds(),
            "evidence": self.inner.evidence(),
        }))
    }

    /// Of each training row, the share of its leaf mates that are in its cluster.
    #[pyo3(signature = (progress=None))]
    fn confidence<'py>(&self, py: Python<'py>, progress: Progress) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let threads = self.inner.params().threads;
        Ok(gate(py, progress, |o| in_pool(threads, || self.inner.confidence(o))?)?.into_pyarray(py))
    }

    /// The report page; `about` is the JSON of what Python knows, `table` the rows it was fitted on.
    #[pyo3(signature = (about, table=None, progress=None))]
    fn report(
        &self,
        py: Python<'_>,
        about: &str,
        table: Option<Table<'_>>,
        progress: Progress,
    ) -> PyResult<String> {
        crate::report::page(py, &self.inner, about, table, progress)
    }

    /// The cluster of each new row.
    #[pyo3(signature = (table, progress=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: Table<'_>,
        progress: Progress,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let labels = each_width!(table, view => gate(py, progress, |o| {
            self.inner.predict(view.points()?.observed(o))
        }))?;
        Ok(signed(py, &labels))
    }

    /// The spectral embedding of each new row.
    #[pyo3(signature = (table, progress=None))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        table: Table<'_>,
        progress: Progress,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = each_width!(table, view => gate(py, progress, |o| {
            self.inner.transform(view.points()?.observed(o))
        }))?;
        let k = self.inner.embedding().k();
        let n = rows.len() / k;
        rows.into_pyarray(py).reshape([n, k])
    }

    /// The affinity that was cut: a constant for every pair, and what some pairs have on top of it.
    #[pyo3(signature = (progress=None))]
    fn affinity<'py>(&self, py: Python<'py>, progress: Progress) -> PyResult<(f64, CsrArrays<'py>)> {
        let leaves = self.inner.leaves();
        let affinity = *self.inner.affinity();
        let (constant, pairs) = gate(py, progress, |o| {
            in_pool(self.inner.params().threads, || {
                let matrix = match affinity {
                    AffinityParams::Linear => {
                        return Ok((0.0, Csr::of_kernel(&leaves.sparse(0.0, o)?, o)?));
                    }
                    AffinityParams::Paper { beta1, beta2, diagonal } => {
                        let kernel = leaves.sparse(beta1, o)?;
                        SparseAffinity::paper(&kernel, beta2, diagonal, o)?
                    }
                    AffinityParams::TopK { top, power } => {
                        SparseAffinity::top_k(&leaves.top_k(top, o)?, top, power, o)?
                    }
                };
                let values = match matrix.weights() {
                    Weights::Table { counts, table } => each(counts, |c| table[usize::from(*c)], o)?,
                    Weights::Values(values) => each(values, |v| *v, o)?,
                };
                let pairs = Csr::new((matrix.indptr(), matrix.indices()), values, matrix.n(), o)?;
                Ok((matrix.constant(), pairs))
            })?
        })?;
        Ok((constant, pairs.into_arrays(py)))
    }

    /// Writes a model file, whole or not at all; `meta` says what the columns are.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf, meta: &[u8]) -> PyResult<()> {
        save_to(py, meta, |extra, o| self.inner.save_with(path, extra, o))
    }

    /// The model file's bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, |bytes, o| self.inner.write_with(bytes, &[], o))
    }

    /// A clustering from a model file's bytes, checked; `threads` is for this machine.
    #[staticmethod]
    #[pyo3(signature = (bytes, threads=None))]
    fn from_bytes(py: Python<'_>, bytes: &[u8], threads: Option<usize>) -> PyResult<Self> {
        let read = |o: &dyn Observer| Fitted::from_container(&Container::parse(bytes, o)?, o);
        Ok(Cluster::new(gate(py, None, read)?, threads))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Cluster>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }
}
