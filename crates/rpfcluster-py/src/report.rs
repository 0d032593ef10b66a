//! The HTML report of `RPFCluster.report()`, the same page that `rpf cluster --report` writes, from a fitted
//! clustering, the training rows if given, and a description as JSON.

use std::io::Write;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rpfcluster::atomic_file;
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Error, Fitted, Observer, Points, Real};
use rpfcluster_report::{Again, Classes, Clustering, ColumnScaling, Columns, Subject, build, html};
use serde::Deserialize;

use crate::errors::to_python;
use crate::gate::{ProgressCallback, gate};
use crate::json::parse;
use crate::table::{InputTable, with_view};

/// Writes a page, whole or not at all.
#[pyfunction]
pub fn write_page(path: std::path::PathBuf, page: &str) -> PyResult<()> {
    Ok(atomic_file::replace(&path, |out| out.write_all(page.as_bytes()))?)
}

/// The description of a clustering that Python passes as JSON.
#[derive(Deserialize)]
pub struct About {
    /// The name of the data.
    source: String,
    /// The Python code that reproduces the clustering.
    again: String,
    /// Column names, for the views of the rows and for warnings.
    columns: Vec<String>,
    /// Center and scale of each column, if the model standardises its input.
    units: Option<(Vec<f64>, Vec<f64>)>,
    /// Known classes: the code of each row, and class names.
    classes: Option<(Vec<u32>, Vec<String>)>,
}

/// The page as text. `table` holds the training rows, if they are available.
pub fn page(
    py: Python<'_>,
    fitted: &Arc<Fitted>,
    about: &str,
    table: Option<InputTable<'_>>,
    progress: ProgressCallback,
) -> PyResult<String> {
    let about: About = parse(about)?;
    let n = fitted.labels().len();
    let wrong = |what: &str, got: usize, right: usize| {
        Err(PyValueError::new_err(format!("{what} has {got} entries, but the clustering needs {right}")))
    };
    if let Some((codes, names)) = &about.classes {
        if codes.len() != n {
            return wrong("y", codes.len(), n);
        }
        if let Some(&code) = codes.iter().find(|code| **code as usize >= names.len()) {
            return wrong("the names of the classes", names.len(), code as usize + 1);
        }
    }
    let Some(table) = table else {
        return gate(py, progress, |o| {
            in_pool(fitted.params().threads, || written(fitted, &about, None, o))?
        });
    };
    with_view!(table, view => {
        let points = view.points().map_err(to_python)?;
        if points.n() != n {
            return wrong("X", points.n(), n);
        }
        if points.d() != about.columns.len() {
            return wrong("the names of the columns", about.columns.len(), points.d());
        }
        gate(py, progress, |o| in_pool(fitted.params().threads, || with_rows(fitted, &about, &points, o))?)
    })
}

fn with_rows<R: Real>(
    fitted: &Arc<Fitted>,
    about: &About,
    points: &Points<'_, R>,
    observer: &dyn Observer,
) -> rpfcluster::Result<String> {
    let row = |i: usize, out: &mut [f64]| points.copy_row(i, out);
    let scaling = about.units.as_ref().map(|(center, scale)| ColumnScaling { center, scale });
    let columns = Columns { names: &about.columns, row: &row, scaling };
    written(fitted, about, Some(columns), observer)
}

fn written(
    fitted: &Arc<Fitted>,
    about: &About,
    columns: Option<Columns<'_>>,
    observer: &dyn Observer,
) -> rpfcluster::Result<String> {
    let clustering = Clustering::Rows(Arc::clone(fitted));
    let mut facts = clustering.facts();
    let s = fitted.seconds();
    for (stage, seconds) in [
        ("grow", s.grow),
        ("tune", s.tune),
        ("kernel", s.kernel),
        ("spectral", s.spectral),
        ("label", s.label),
        ("assess", s.assess),
    ] {
        if seconds > 0.0 {
            facts.push((format!("seconds to {stage}"), format!("{seconds:.3}")));
        }
    }
    facts.push(("version".into(), format!("rpfcluster {}", env!("CARGO_PKG_VERSION"))));
    let warnings = fitted.hints(&about.columns, |row| row + 1);
    let subject = Subject {
        source: about.source.clone(),
        clustering: &clustering,
        confidence: None,
        columns,
        classes: about.classes.as_ref().map(|(codes, names)| Classes { codes, names }),
        rows: None,
        warnings,
        sweep: None,
        facts,
        again: Again { what: "These lines of Python reproduce".into(), text: about.again.clone() },
    };
    let page = build(subject, observer).and_then(|report| html(&report));
    page.map_err(|error| match error {
        rpfcluster_report::Error::Library(error) => error,
        other => Error::System { what: "making the page".into(), problem: other.to_string() },
    })
}
