//! The Python class `Forest` (PyO3): grows a forest on a table and answers questions about it.
//!
//! It returns leaf ids, the one-hot feature map of the leaves, the kernel (dense or CSR) and neighbours, by the kernel
//! or re-ranked by exact Euclidean distance, for training rows or new rows; and the paths from the root of a tree to
//! its leaves. It is serialised as a model file (a path, bytes or pickle).

use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rpfcluster::model_file::Container;
use rpfcluster::rerank;
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Error, ForestParams, LeafIds, LeafMatrix, Neighbors, Observer, Precision, Real};

use crate::arrays::{CsrArrays, CsrBuffers, NeighborArrays, NeighborBuffers, transpose};
use crate::errors::to_python;
use crate::gate::{ProgressCallback, gate};
use crate::json::{parse, to_json};
use crate::model::{bytes_of, save_to};
use crate::table::{InputTable, TableView, with_view};

/// Offsets into the node ids, and the node ids on the path from the root to each leaf.
type PathArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// The numpy name of the float type a forest was grown on.
pub fn dtype_name(forest: &rpfcluster::Forest) -> &'static str {
    match forest.precision() {
        Precision::F32 => "float32",
        Precision::F64 => "float64",
    }
}

/// The numbers of an exact re-ranking: the `k` nearest among the `candidates` strongest co-leaf neighbours. A dict in
/// Python.
#[derive(Clone, Copy, FromPyObject)]
#[pyo3(from_item_all)]
struct RerankCounts {
    k: usize,
    candidates: usize,
}

/// A grown forest.
#[pyclass(module = "rpfcluster._rpfcluster", frozen)]
pub struct Forest {
    inner: rpfcluster::Forest,
    leaves: LeafMatrix,
}

impl Forest {
    /// Wraps a forest and builds its leaf matrix.
    pub fn new(inner: rpfcluster::Forest) -> Self {
        let leaves = inner.leaves();
        Forest { inner, leaves }
    }

    /// The library's forest.
    pub fn grown(&self) -> &rpfcluster::Forest {
        &self.inner
    }

    /// Runs `work` on the leaf ids of the rows of `table`, or of the training rows, in a thread pool behind the gate.
    fn with_leaf_ids<T: Send>(
        &self,
        py: Python<'_>,
        table: Option<InputTable<'_>>,
        threads: Option<usize>,
        progress: ProgressCallback,
        work: impl FnOnce(&LeafMatrix, &LeafIds, &dyn Observer) -> rpfcluster::Result<T> + Send,
    ) -> PyResult<T> {
        let leaves = &self.leaves;
        match table {
            None => {
                gate(py, progress, |o| in_pool(threads, || work(leaves, leaves.prepare_leaf_ids(o)?, o))?)
            }
            Some(table) => with_view!(table, view => gate(py, progress, |o| {
                in_pool(threads, || {
                    let leaf_ids = self.inner.route(view.points()?.observed(o))?;
                    work(leaves, &leaf_ids, o)
                })?
            })),
        }
    }

    /// As `with_leaf_ids`, with the leaf matrix of the rows `against`, if given, in place of the training rows.
    fn with_leaves_of<T: Send>(
        &self,
        py: Python<'_>,
        table: Option<InputTable<'_>>,
        against: Option<InputTable<'_>>,
        threads: Option<usize>,
        progress: ProgressCallback,
        work: impl FnOnce(&LeafMatrix, &LeafIds, &dyn Observer) -> rpfcluster::Result<T> + Send,
    ) -> PyResult<T> {
        let Some(against) = against else { return self.with_leaf_ids(py, table, threads, progress, work) };
        with_view!(against, view => self.with_leaf_ids(py, table, threads, progress, |leaves, leaf_ids, o| {
            let others = self.inner.route(view.points()?.observed(o))?;
            work(&leaves.of_rows(others, o)?, leaf_ids, o)
        }))
    }

    /// The dense kernel matrix in float type `R`.
    fn dense_as<'py, R: Real + Element>(
        &self,
        py: Python<'py>,
        table: Option<InputTable<'py>>,
        against: Option<InputTable<'py>>,
        threshold: f64,
        threads: Option<usize>,
        progress: ProgressCallback,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (all, columns) =
            self.with_leaves_of(py, table, against, threads, progress, |leaves, leaf_ids, o| {
                Ok((leaves.dense_above::<R>(leaf_ids, threshold, o)?, leaves.n()))
            })?;
        let rows = all.len() / columns;
        Ok(all.into_pyarray(py).reshape([rows, columns])?.into_any())
    }
}

#[pymethods]
impl Forest {
    /// Grows a forest. `params` is the JSON of the library's `ForestParams`.
    #[staticmethod]
    #[pyo3(signature = (table, params, threads=None, progress=None))]
    fn grow(
        py: Python<'_>,
        table: InputTable<'_>,
        params: &str,
        threads: Option<usize>,
        progress: ProgressCallback,
    ) -> PyResult<Self> {
        let params: ForestParams = parse(params)?;
        let forest = with_view!(table, view => gate(py, progress, |o| {
            let points = view.points()?;
            in_pool(threads, || rpfcluster::Forest::grow(points.observed(o), &params))?
        }))?;
        Ok(Forest::new(forest))
    }

    /// Rows and columns of the training data.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.inner.n(), self.inner.d())
    }

    /// The float type of the training data, "float32" or "float64".
    #[getter]
    fn dtype(&self) -> &'static str {
        dtype_name(&self.inner)
    }

    /// The JSON of the parameters.
    #[getter]
    fn forest_params(&self) -> PyResult<String> {
        to_json(self.inner.params())
    }

    /// The first column of each tree in the feature map, then the number of columns.
    #[getter]
    fn offsets(&self) -> Vec<usize> {
        (0..=self.leaves.trees()).map(|t| self.leaves.first_column(t)).collect()
    }

    /// The depth of each tree.
    #[getter]
    fn depths(&self) -> Vec<usize> {
        self.inner.depths()
    }

    /// The leaf id of each row in each tree, rows × trees.
    #[pyo3(signature = (table=None, threads=None, progress=None))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        table: Option<InputTable<'py>>,
        threads: Option<usize>,
        progress: ProgressCallback,
    ) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let (n, leaves) = self.with_leaf_ids(py, table, threads, progress, |_, leaf_ids, o| {
            Ok((leaf_ids.n(), transpose(leaf_ids, o, |_, leaf| leaf)?))
        })?;
        leaves.into_pyarray(py).reshape([n, self.leaves.trees()])
    }

    /// The column indices of the feature map in row-major order, one for each row and tree.
    #[pyo3(signature = (table=None, threads=None, progress=None))]
    fn features<'py>(
        &self,
        py: Python<'py>,
        table: Option<InputTable<'py>>,
        threads: Option<usize>,
        progress: ProgressCallback,
    ) -> PyResult<Bound<'py, PyAny>> {
        let first = |t: usize| self.leaves.first_column(t);
        // scipy uses int32 indices where they suffice.
        if self.leaves.columns() <= i32::MAX as usize {
            let columns = self.with_leaf_ids(py, table, threads, progress, |_, leaf_ids, o| {
                transpose(leaf_ids, o, |t, leaf| (first(t) + leaf as usize) as i32)
            })?;
            return Ok(columns.into_pyarray(py).into_any());
        }
        let columns = self.with_leaf_ids(py, table, threads, progress, |_, leaf_ids, o| {
            transpose(leaf_ids, o, |t, leaf| (first(t) + leaf as usize) as i64)
        })?;
        Ok(columns.into_pyarray(py).into_any())
    }

    /// The paths from the root of a tree to some of its leaves. Inner nodes are numbered first, then leaves.
    #[pyo3(signature = (tree, leaves))]
    fn paths<'py>(&self, py: Python<'py>, tree: usize, leaves: Vec<u32>) -> PyResult<PathArrays<'py>> {
        let (mut starts, mut nodes) = (vec![0i64], Vec::new());
        for leaf in leaves {
            let path = self.inner.path(tree, leaf).map_err(to_python)?;
            nodes.extend(path.into_iter().map(i64::from));
            starts.push(nodes.len() as i64);
        }
        Ok((starts.into_pyarray(py), nodes.into_pyarray(py)))
    }

    /// The k most similar training rows of each row: indices and similarities, in descending order of similarity. Rows
    /// with fewer neighbours are padded with index -1 and similarity 0.
    #[pyo3(signature = (k, table=None, threads=None, progress=None))]
    fn neighbors<'py>(
        &self,
        py: Python<'py>,
        k: usize,
        table: Option<InputTable<'py>>,
        threads: Option<usize>,
        progress: ProgressCallback,
    ) -> PyResult<NeighborArrays<'py>> {
        let new = table.is_some();
        let pairs = self.with_leaf_ids(py, table, threads, progress, |leaves, leaf_ids, o| {
            let found = if new { leaves.top_k_of(leaf_ids, k, o)? } else { leaves.top_k(k, o)? };
            NeighborBuffers::from_neighbors(&found, o)
        })?;
        pairs.into_arrays(py)
    }

    /// Co-leaf neighbours re-ranked by Euclidean distance: indices and distances, in ascending order of distance. Rows
    /// with fewer neighbours are padded with index -1 and infinity.
    #[pyo3(signature = (counts, training, table=None, threads=None, progress=None))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        counts: RerankCounts,
        training: InputTable<'py>,
        table: Option<InputTable<'py>>,
        threads: Option<usize>,
        progress: ProgressCallback,
    ) -> PyResult<NeighborArrays<'py>> {
        let found = match (training, table) {
            (all, None) => with_view!(all, view => {
                gate(py, progress, |o| self.rerank(view, None, counts, threads, o))?
            }),
            (InputTable::F32(all), Some(InputTable::F32(new))) => {
                let (view, new) = (all.view()?, new.view()?);
                gate(py, progress, |o| self.rerank(view, Some(new), counts, threads, o))?
            }
            (InputTable::F64(all), Some(InputTable::F64(new))) => {
                let (view, new) = (all.view()?, new.view()?);
                gate(py, progress, |o| self.rerank(view, Some(new), counts, threads, o))?
            }
            _ => {
                let what = "new rows must have the float type of the training rows";
                return Err(pyo3::exceptions::PyTypeError::new_err(what));
            }
        };
        found.into_arrays(py)
    }

    /// The kernel between the rows of `table` and the training rows, or the rows `against`, as a CSR matrix. Values
    /// below `threshold` are dropped.
    #[pyo3(signature = (threshold, table=None, threads=None, progress=None, against=None))]
    fn sparse<'py>(
        &self,
        py: Python<'py>,
        threshold: f64,
        table: Option<InputTable<'py>>,
        threads: Option<usize>,
        progress: ProgressCallback,
        against: Option<InputTable<'py>>,
    ) -> PyResult<CsrArrays<'py>> {
        let new = table.is_some();
        let pairs = self.with_leaves_of(py, table, against, threads, progress, |leaves, leaf_ids, o| {
            let found = match new {
                true => leaves.sparse_of(leaf_ids, threshold, o)?,
                false => leaves.sparse(threshold, o)?,
            };
            CsrBuffers::from_kernel(&found, o)
        })?;
        Ok(pairs.into_arrays(py))
    }

    /// The kernel between the rows of `table` and the training rows, or the rows `against`, as a dense array in the
    /// float type of `table`. Values below `threshold` are zero.
    #[pyo3(signature = (threshold, table, threads=None, progress=None, against=None))]
    fn dense<'py>(
        &self,
        py: Python<'py>,
        threshold: f64,
        table: InputTable<'py>,
        threads: Option<usize>,
        progress: ProgressCallback,
        against: Option<InputTable<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match table {
            InputTable::F32(_) => {
                self.dense_as::<f32>(py, Some(table), against, threshold, threads, progress)
            }
            InputTable::F64(_) => {
                self.dense_as::<f64>(py, Some(table), against, threshold, threads, progress)
            }
        }
    }

    /// Writes a model file; `meta` is the JSON that describes the columns.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf, meta: &[u8]) -> PyResult<()> {
        save_to(py, meta, |extra, o| self.inner.save_with(path, extra, o))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, |bytes, o| self.inner.write_with(bytes, &[], o))
    }

    /// Reads a forest from the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = |o: &dyn Observer| rpfcluster::Forest::from_container(&Container::parse(bytes, o)?, o);
        gate(py, None, read).map(Forest::new)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Forest>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }
}

impl Forest {
    /// See [`Forest::nearest`].
    fn rerank<R: Real>(
        &self,
        training: TableView<'_, R>,
        new: Option<TableView<'_, R>>,
        RerankCounts { k, candidates }: RerankCounts,
        threads: Option<usize>,
        observer: &dyn Observer,
    ) -> rpfcluster::Result<NeighborBuffers> {
        let training = training.points()?;
        if training.n() != self.leaves.n() {
            return Err(Error::Length {
                what: "training rows",
                got: training.n(),
                expected: self.leaves.n(),
            });
        }
        let queries = new.map(TableView::points).transpose()?;
        in_pool(threads, || {
            let found: Neighbors = match &queries {
                Some(new) => {
                    let leaf_ids = self.inner.route(new.observed(observer))?;
                    self.leaves.top_k_of(&leaf_ids, candidates, observer)?
                }
                None => self.leaves.top_k(candidates, observer)?,
            };
            let rows = queries.as_ref().unwrap_or(&training);
            let nearest = rerank(rows, &training, &found, k, observer)?.neighbors;
            NeighborBuffers::from_nearest(&nearest, k, observer)
        })?
    }
}
