//! The Python class `Cluster` (PyO3): a fitted clustering with its labels, eigenvectors, confidence, affinity matrix
//! and HTML report. It predicts and embeds new rows, clusters again with other parameters, and is serialised as a model
//! file (a path, bytes or pickle).

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rpfcluster::affinity::{Affinity, Weights};
use rpfcluster::model_file::Container;
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{AffinityParams, Fitted, Observer, RpfCluster};

use crate::arrays::{CsrArrays, CsrBuffers, LabelArray, convert, label_array};
use crate::forest::dtype_name;
use crate::gate::{ProgressCallback, gate};
use crate::json::{parse, to_json};
use crate::model::{bytes_of, save_to};
use crate::table::{InputTable, with_view};

/// A fitted clustering.
#[pyclass(module = "rpfcluster._rpfcluster", frozen)]
pub struct Cluster {
    inner: Arc<Fitted>,
}

impl Cluster {
    /// Wraps a clustering whose later calls use `threads`.
    pub fn new(mut inner: Fitted, threads: Option<usize>) -> Self {
        inner.set_threads(threads);
        Cluster { inner: Arc::new(inner) }
    }
}

#[pymethods]
impl Cluster {
    /// Clusters the rows. `params` is the JSON of the library's `RpfCluster`; `threads` and `memory_limit` (in bytes)
    /// are separate, since a model does not hold them. `embedding` asks for a spectral embedding instead of clusters.
    #[staticmethod]
    #[pyo3(signature = (table, params, threads=None, memory_limit=None, progress=None, embedding=false))]
    fn fit(
        py: Python<'_>,
        table: InputTable<'_>,
        params: &str,
        threads: Option<usize>,
        memory_limit: Option<u64>,
        progress: ProgressCallback,
        embedding: bool,
    ) -> PyResult<Self> {
        let mut params = RpfCluster { threads, memory_limit, ..parse(params)? };
        if embedding {
            params = params.for_embedding();
        }
        let inner =
            with_view!(table, view => gate(py, progress, |o| params.fit(view.points()?.observed(o))))?;
        Ok(Cluster { inner: Arc::new(inner) })
    }

    /// Clusters the same rows with other parameters and the same forest.
    #[pyo3(signature = (params, threads=None, memory_limit=None, progress=None))]
    fn recut(
        &self,
        py: Python<'_>,
        params: &str,
        threads: Option<usize>,
        memory_limit: Option<u64>,
        progress: ProgressCallback,
    ) -> PyResult<Self> {
        let params = RpfCluster { threads, memory_limit, ..parse(params)? };
        Ok(Cluster { inner: Arc::new(gate(py, progress, |o| self.inner.refit(&params, o))?) })
    }

    /// The cluster of each training row, numbered in order of first appearance.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> LabelArray<'py> {
        label_array(py, self.inner.labels())
    }

    /// The eigenvectors, rows × k. After the Leiden algorithm the first call computes them.
    #[pyo3(signature = (progress=None))]
    fn vectors<'py>(
        &self,
        py: Python<'py>,
        progress: ProgressCallback,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let threads = self.inner.params().threads;
        let (vectors, shape) = gate(py, progress, |o| {
            in_pool(threads, || {
                let embedding = self.inner.spectral_embedding(o)?;
                Ok((embedding.vectors.clone(), [embedding.n(), embedding.k()]))
            })?
        })?;
        vectors.into_pyarray(py).reshape(shape)
    }

    /// The number of clusters.
    #[getter]
    fn clusters(&self) -> usize {
        self.inner.k()
    }

    /// The eigenvalues in descending order; none after the Leiden algorithm.
    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.embedding().eigenvalues.clone().into_pyarray(py)
    }

    /// The number of connected components of the affinity graph.
    #[getter]
    fn components(&self) -> usize {
        self.inner.embedding().columns.len()
    }

    /// Rows and columns of the training data.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.inner.n(), self.inner.d())
    }

    /// The float type of the training data, "float32" or "float64".
    #[getter]
    fn dtype(&self) -> &'static str {
        dtype_name(self.inner.forest())
    }

    /// The JSON of the parameters of the forest.
    #[getter]
    fn forest_params(&self) -> PyResult<String> {
        to_json(self.inner.forest().params())
    }

    /// The JSON of the parameters as given.
    #[getter]
    fn params(&self) -> PyResult<String> {
        to_json(self.inner.params())
    }

    /// The JSON of the parameters as resolved, the eigensolver's outcome, the seconds of each stage and the evidence
    /// behind automatic choices.
    #[getter]
    fn used(&self) -> PyResult<String> {
        let e = self.inner.embedding();
        to_json(&serde_json::json!({
            "affinity": self.inner.affinity(),
            "min_node": self.inner.min_node(),
            "method": self.inner.method(),
            "resolution": self.inner.resolution(),
            "solver": (e.k() > 0).then_some(e.solver),
            "converged": e.converged,
            "residual": e.residual,
            "iterations": e.iterations,
            "uncovered": e.uncovered,
            "seconds": self.inner.seconds(),
            "evidence": self.inner.evidence(),
        }))
    }

    /// The JSON of the verdict; `None` where the fit was not assessed.
    #[getter]
    fn verdict(&self) -> PyResult<Option<String>> {
        self.inner.verdict().map(to_json).transpose()
    }

    /// One sentence for each thing a user should know. Rows are counted from 0, columns without a name from 1.
    fn hints(&self, names: Vec<String>) -> Vec<String> {
        self.inner.hints(&names, |row| row)
    }

    /// The number of distinct rows; `None` where the forest was grown on all rows.
    #[getter]
    fn distinct(&self) -> Option<usize> {
        self.inner.distinct()
    }

    /// For each training row, the share of its co-leaf rows that belong to its cluster, shrunk by the verdict.
    #[pyo3(signature = (progress=None))]
    fn confidence<'py>(
        &self,
        py: Python<'py>,
        progress: ProgressCallback,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let threads = self.inner.params().threads;
        Ok(gate(py, progress, |o| in_pool(threads, || self.inner.confidence(o))?)?.into_pyarray(py))
    }

    /// The HTML report. `about` is the JSON of `report::About`, `table` the training rows.
    #[pyo3(signature = (about, table=None, progress=None))]
    fn report(
        &self,
        py: Python<'_>,
        about: &str,
        table: Option<InputTable<'_>>,
        progress: ProgressCallback,
    ) -> PyResult<String> {
        crate::report::page(py, &self.inner, about, table, progress)
    }

    /// The cluster of each new row.
    #[pyo3(signature = (table, progress=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: InputTable<'_>,
        progress: ProgressCallback,
    ) -> PyResult<LabelArray<'py>> {
        let labels = with_view!(table, view => gate(py, progress, |o| {
            self.inner.predict(view.points()?.observed(o))
        }))?;
        Ok(label_array(py, &labels))
    }

    /// The cluster and the confidence of each new row.
    #[pyo3(signature = (table, progress=None))]
    fn predict_with_confidence<'py>(
        &self,
        py: Python<'py>,
        table: InputTable<'_>,
        progress: ProgressCallback,
    ) -> PyResult<(LabelArray<'py>, Bound<'py, PyArray1<f64>>)> {
        let (labels, confidence) = with_view!(table, view => gate(py, progress, |o| {
            self.inner.predict_with_confidence(view.points()?.observed(o))
        }))?;
        Ok((label_array(py, &labels), confidence.into_pyarray(py)))
    }

    /// The rows that lie far outside the training rows.
    fn far_rows(&self, py: Python<'_>, table: InputTable<'_>) -> PyResult<Vec<usize>> {
        with_view!(table, view => gate(py, None, |_| self.inner.far_rows(&view.points()?)))
    }

    /// The spectral embedding of each new row (Nystrom extension).
    #[pyo3(signature = (table, progress=None))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        table: InputTable<'_>,
        progress: ProgressCallback,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rows, k) = with_view!(table, view => gate(py, progress, |o| {
            let rows = self.inner.transform(view.points()?.observed(o))?;
            Ok((rows, self.inner.spectral_embedding(o)?.k()))
        }))?;
        let n = rows.len() / k;
        rows.into_pyarray(py).reshape([n, k])
    }

    /// The distinct row that each row is a copy of, where the affinity matrix has one row for each distinct row.
    fn distinct_rows<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<u32>>> {
        let top_k = matches!(self.inner.affinity(), AffinityParams::TopK { .. });
        self.inner.distinct_rows().filter(|_| top_k).map(|rows| rows.to_vec().into_pyarray(py))
    }

    /// The affinity matrix: a constant common to all pairs, and the CSR matrix of what exceeds it.
    #[pyo3(signature = (progress=None))]
    fn affinity<'py>(&self, py: Python<'py>, progress: ProgressCallback) -> PyResult<(f64, CsrArrays<'py>)> {
        let (constant, csr) = gate(py, progress, |o| {
            in_pool(self.inner.params().threads, || {
                let Affinity::Graph(matrix) = self.inner.build_affinity(o)? else {
                    return Ok((0.0, CsrBuffers::from_kernel(&self.inner.leaves().sparse(0.0, o)?, o)?));
                };
                let values = match matrix.weights() {
                    Weights::Table { counts, table } => convert(counts, |c| table[usize::from(*c)], o)?,
                    Weights::Values(values) => convert(values, |v| *v, o)?,
                };
                let csr = CsrBuffers::new(matrix.indptr(), matrix.indices(), values, matrix.n(), o)?;
                Ok((matrix.constant(), csr))
            })?
        })?;
        Ok((constant, csr.into_arrays(py)))
    }

    /// Writes a model file; `meta` is the JSON that describes the columns.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf, meta: &[u8]) -> PyResult<()> {
        save_to(py, meta, |extra, o| self.inner.save_with(path, extra, o))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, |bytes, o| self.inner.write_with(bytes, &[], o))
    }

    /// Reads a clustering from the bytes of a model file. `threads` sets the thread count of later calls.
    #[staticmethod]
    #[pyo3(signature = (bytes, threads=None))]
    fn from_bytes(py: Python<'_>, bytes: &[u8], threads: Option<usize>) -> PyResult<Self> {
        let read = |o: &dyn Observer| Fitted::from_container(&Container::parse(bytes, o)?, o);
        Ok(Cluster::new(gate(py, None, |o| in_pool(threads, || read(o))?)?, threads))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Cluster>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }
}
