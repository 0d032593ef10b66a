//! The class `Forest`: a grown forest with its leaves, and everything that is counted on them.

use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rpfcluster::kernel::rerank;
use rpfcluster::model_file::Container;
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Error, ForestParams, LeafIds, LeafMatrix, Neighbors, Observer, Precision, Real};

use crate::arrays::{Csr, CsrArrays, PairArrays, Pairs, by_rows};
use crate::data::{Table, View, each_width};
use crate::functions::{parse, to_json};
use crate::gate::{Progress, gate, to_python};
use crate::model::{bytes_of, save_to};

/// A grown forest.
#[pyclass(module = "rpfcluster._rpfcluster", frozen)]
pub struct Forest {
    inner: rpfcluster::Forest,
    leaves: LeafMatrix,
}

impl Forest {
    pub fn new(inner: rpfcluster::Forest) -> Self {
        let leaves = inner.leaves();
        Forest { inner, leaves }
    }

    /// The forest itself.
    pub fn grown(&self) -> &rpfcluster::Forest {
        &self.inner
    }

    /// Leaf numbers of new rows, or of the training rows, shown to `work` in a pool; all behind the gate.
    fn counted<T: Send>(
        &self,
        py: Python<'_>,
        table: Option<Table<'_>>,
        threads: Option<usize>,
        progress: Progress,
        work: impl FnOnce(&LeafMatrix, &LeafIds, &dyn Observer) -> rpfcluster::Result<T> + Send,
    ) -> PyResult<T> {
        let leaves = &self.leaves;
        match table {
            None => {
                gate(py, progress, |o| in_pool(threads, || work(leaves, leaves.prepare_leaf_ids(o)?, o))?)
            }
            Some(table) => each_width!(table, view => gate(py, progress, |o| {
                in_pool(threads, || {
                    let codes = self.inner.route(view.points()?.observed(o))?;
                    work(leaves, &codes, o)
                })?
            })),
        }
    }

    /// As `counted`, but with the leaves of the rows `against`, where there are any, instead of the training rows'.
    fn compared<T: Send>(
        &self,
        py: Python<'_>,
        (table, against): (Option<Table<'_>>, Option<Table<'_>>),
        threads: Option<usize>,
        progress: Progress,
        work: impl FnOnce(&LeafMatrix, &LeafIds, &dyn Observer) -> rpfcluster::Result<T> + Send,
    ) -> PyResult<T> {
        let Some(against) = against else { return self.counted(py, table, threads, progress, work) };
        each_width!(against, view => self.counted(py, table, threads, progress, |leaves, codes, o| {
            let others = self.inner.route(view.points()?.observed(o))?;
            work(&leaves.of_rows(others, o)?, codes, o)
        }))
    }

    /// A matrix of similarities of one width.
    fn dense_as<'py, R: Real + Element>(
        &self,
        py: Python<'py>,
        tables: (Option<Table<'py>>, Option<Table<'py>>),
        threshold: f64,
        threads: Option<usize>,
        progress: Progress,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (all, columns) = self.compared(py, tables, threads, progress, |leaves, codes, o| {
            Ok((leaves.dense_above::<R>(codes, threshold, o)?, leaves.n()))
        })?;
        let rows = all.len() / columns;
        Ok(all.into_pyarray(py).reshape([rows, columns])?.into_any())
    }
}

#[pymethods]
impl Forest {
    /// Grows a forest; `params` is the JSON of the library's `ForestParams`.
    #[staticmethod]
    #[pyo3(signature = (table, params, threads=None, progress=None))]
    fn grow(
        py: Python<'_>,
        table: Table<'_>,
        params: &str,
        threads: Option<usize>,
        progress: Progress,
    ) -> PyResult<Self> {
        let params: ForestParams = parse(params)?;
        let forest = each_width!(table, view => gate(py, progress, |o| {
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

    /// "float32" or "float64".
    #[getter]
    fn dtype(&self) -> &'static str {
        match self.inner.precision() {
            Precision::F32 => "float32",
            Precision::F64 => "float64",
        }
    }

    /// The JSON of its parameters.
    #[getter]
    fn params(&self) -> PyResult<String> {
        to_json(self.inner.params())
    }

    /// The first column of each tree in the feature map; one more entry holds the number of columns.
    #[getter]
    fn offsets(&self) -> Vec<usize> {
        (0..=self.leaves.trees()).map(|t| self.leaves.first_column(t)).collect()
    }

    /// Depth of the deepest leaf of each tree.
    #[getter]
    fn depths(&self) -> Vec<usize> {
        self.inner.depths()
    }

    /// Bytes held.
    #[getter]
    fn nbytes(&self) -> usize {
        self.inner.bytes()
    }

    /// The leaf of each row in each tree, rows x trees.
    #[pyo3(signature = (table=None, threads=None, progress=None))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        table: Option<Table<'py>>,
        threads: Option<usize>,
        progress: Progress,
    ) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let (n, leaves) = self.counted(py, table, threads, progress, |_, codes, o| {
            Ok((codes.n(), by_rows(codes, o, |_, leaf| leaf)?))
        })?;
        leaves.into_pyarray(py).reshape([n, self.leaves.trees()])
    }

    /// The columns of the feature map, one a row and tree, row after row.
    #[pyo3(signature = (table=None, threads=None, progress=None))]
    fn features<'py>(
        &self,
        py: Python<'py>,
        table: Option<Table<'py>>,
        threads: Option<usize>,
        progress: Progress,
    ) -> PyResult<Bound<'py, PyAny>> {
        let first = |t: usize| self.leaves.first_column(t);
        // scipy uses 32 bits where they suffice.
        if self.leaves.columns() <= i32::MAX as usize {
            let columns = self.counted(py, table, threads, progress, |_, codes, o| {
                by_rows(codes, o, |t, leaf| (first(t) + leaf as usize) as i32)
            })?;
            return Ok(columns.into_pyarray(py).into_any());
        }
        let columns = self.counted(py, table, threads, progress, |_, codes, o| {
            by_rows(codes, o, |t, leaf| (first(t) + leaf as usize) as i64)
        })?;
        Ok(columns.into_pyarray(py).into_any())
    }

    /// The nodes each row passes, one tree: (indptr, nodes). Inner nodes come first, then leaves.
    #[pyo3(signature = (tree, leaves))]
    fn paths<'py>(&self, py: Python<'py>, tree: usize, leaves: Vec<u32>) -> PyResult<PathsOf<'py>> {
        let (mut starts, mut nodes) = (vec![0i64], Vec::new());
        for leaf in leaves {
            let path = self.inner.path(tree, leaf).map_err(to_python)?;
            nodes.extend(path.into_iter().map(i64::from));
            starts.push(nodes.len() as i64);
        }
        Ok((starts.into_pyarray(py), nodes.into_pyarray(py)))
    }

    /// The k strongest neighbours of each row: (indices, similarities), rows x k, strongest first; -1 and 0 where
    /// there are fewer.
    #[pyo3(signature = (k, table=None, threads=None, progress=None))]
    fn neighbors<'py>(
        &self,
        py: Python<'py>,
        k: usize,
        table: Option<Table<'py>>,
        threads: Option<usize>,
        progress: Progress,
    ) -> PyResult<PairArrays<'py>> {
        let new = table.is_some();
        let pairs = self.counted(py, table, threads, progress, |leaves, codes, o| {
            let found = if new { leaves.top_k_of(codes, k, o)? } else { leaves.top_k(k, o)? };
            Pairs::of_neighbors(&found, o)
        })?;
        pairs.into_arrays(py)
    }

    /// Co-leaf neighbours by Euclidean distance: (indices, distances). `counts` is (k, candidates): the k nearest of
    /// so many strongest are kept.
    #[pyo3(signature = (counts, training, table=None, threads=None, progress=None))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        counts: (usize, usize),
        training: Table<'py>,
        table: Option<Table<'py>>,
        threads: Option<usize>,
        progress: Progress,
    ) -> PyResult<PairArrays<'py>> {
        let found = match (training, table) {
            (Table::F32(all), None) => {
                let view = all.view()?;
                gate(py, progress, |o| self.rerank(view, None, counts, threads, o))?
            }
            (Table::F64(all), None) => {
                let view = all.view()?;
                gate(py, progress, |o| self.rerank(view, None, counts, threads, o))?
            }
            (Table::F32(all), Some(Table::F32(new))) => {
                let (view, new) = (all.view()?, new.view()?);
                gate(py, progress, |o| self.rerank(view, Some(new), counts, threads, o))?
            }
            (Table::F64(all), Some(Table::F64(new))) => {
                let (view, new) = (all.view()?, new.view()?);
                gate(py, progress, |o| self.rerank(view, Some(new), counts, threads, o))?
            }
            _ => {
                let what = "new rows must have the width of the training rows";
                return Err(pyo3::exceptions::PyTypeError::new_err(what));
            }
        };
        found.into_arrays(py)
    }

    /// All pairs with a similarity of at least `threshold`, rows against the training rows or those `against`.
    #[pyo3(signature = (threshold, table=None, threads=None, progress=None, against=None))]
    fn sparse<'py>(
        &self,
        py: Python<'py>,
        threshold: f64,
        table: Option<Table<'py>>,
        threads: Option<usize>,
        progress: Progress,
        against: Option<Table<'py>>,
    ) -> PyResult<CsrArrays<'py>> {
        let new = table.is_some();
        let pairs = self.compared(py, (table, against), threads, progress, |leaves, codes, o| {
            let found = match new {
                true => leaves.sparse_of(codes, threshold, o)?,
                false => leaves.sparse(threshold, o)?,
            };
            Csr::of_kernel(&found, o)
        })?;
        Ok(pairs.into_arrays(py))
    }

    /// The similarity of each row to every training row, or to those `against`; zero below `threshold`. As wide as
    /// the rows are.
    #[pyo3(signature = (threshold, table, threads=None, progress=None, against=None))]
    fn dense<'py>(
        &self,
        py: Python<'py>,
        threshold: f64,
        table: Table<'py>,
        threads: Option<usize>,
        progress: Progress,
        against: Option<Table<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match table {
            Table::F32(_) => self.dense_as::<f32>(py, (Some(table), against), threshold, threads, progress),
            Table::F64(_) => self.dense_as::<f64>(py, (Some(table), against), threshold, threads, progress),
        }
    }

    /// Writes a model file, whole or not at all; `meta` says what the columns are.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf, meta: &[u8]) -> PyResult<()> {
        save_to(py, meta, |extra, o| self.inner.save_with(path, extra, o))
    }

    /// The model file's bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, |bytes, o| self.inner.write_with(bytes, &[], o))
    }

    /// A forest from a model file's bytes, checked.
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

type PathsOf<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

impl Forest {
    fn rerank<R: Real>(
        &self,
        training: View<'_, R>,
        new: Option<View<'_, R>>,
        (k, candidates): (usize, usize),
        threads: Option<usize>,
        observer: &dyn Observer,
    ) -> rpfcluster::Result<Pairs> {
        let training = training.points()?;
        if training.n() != self.leaves.n() {
            return Err(Error::Length {
                what: "training rows",
                got: training.n(),
                expected: self.leaves.n(),
            });
        }
        let queries = new.map(View::points).transpose()?;
        in_pool(threads, || {
            let found: Neighbors = match &queries {
                Some(new) => {
                    let codes = self.inner.route(new.observed(observer))?;
                    self.leaves.top_k_of(&codes, candidates, observer)?
                }
                None => self.leaves.top_k(candidates, observer)?,
            };
            let rows = queries.as_ref().unwrap_or(&training);
            let nearest = rerank(rows, &training, &found, k, observer)?.neighbors;
            Pairs::of_nearest(&nearest, k, observer)
        })?
    }
}
