//! Model files and pickles of the classes `Forest` and `Cluster`.
//!
//! Both use the container of the library, which the command `rpf` reads and writes too. A file is written completely or
//! not at all.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rpfcluster::model_file::{Container, read};
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Fitted, Observer};

use crate::cluster::Cluster;
use crate::forest::Forest;
use crate::gate::gate;

/// The section that describes the columns of the training data, as JSON.
const META: &str = "meta";

/// A `Cluster` or a `Forest`, and the [`META`] section if present.
type ModelParts<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyBytes>>);

/// The content of a model file.
enum Model {
    Forest(rpfcluster::Forest),
    Cluster(Box<Fitted>),
}

/// The output of `write` as Python bytes.
pub fn bytes_of<'py>(
    py: Python<'py>,
    write: impl FnOnce(&mut Vec<u8>, &dyn Observer) -> rpfcluster::Result<()> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = gate(py, None, |o| {
        let mut bytes = Vec::new();
        write(&mut bytes, o).map(|()| bytes)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Writes a model file with a [`META`] section.
pub fn save_to(
    py: Python<'_>,
    meta: &[u8],
    write: impl FnOnce(&[(&str, &[u8])], &dyn Observer) -> rpfcluster::Result<()> + Send,
) -> PyResult<()> {
    gate(py, None, |o| write(&[(META, meta)], o))
}

/// Reads a model file. `threads` sets the thread count of later calls, which a file does not hold.
#[pyfunction]
#[pyo3(signature = (path, threads=None))]
pub fn open_model<'py>(py: Python<'py>, path: PathBuf, threads: Option<usize>) -> PyResult<ModelParts<'py>> {
    let open = |o: &dyn Observer| {
        let bytes = read(&path, o)?;
        let file = Container::parse(&bytes, o)?;
        let meta = file.has(META).then(|| file.section(META).map(<[u8]>::to_vec)).transpose()?;
        let model = if file.has("cluster") {
            Model::Cluster(Box::new(Fitted::from_container(&file, o)?))
        } else {
            Model::Forest(rpfcluster::Forest::from_container(&file, o)?)
        };
        Ok((model, meta))
    };
    let (model, meta) = gate(py, None, |o| in_pool(threads, || open(o))?)?;
    let object = match model {
        Model::Forest(forest) => Bound::new(py, Forest::new(forest))?.into_any(),
        Model::Cluster(fitted) => Bound::new(py, Cluster::new(*fitted, threads))?.into_any(),
    };
    Ok((object, meta.map(|m| PyBytes::new(py, &m))))
}
