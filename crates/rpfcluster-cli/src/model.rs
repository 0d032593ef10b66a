//! Model files of the command: a forest or a whole clustering, and beside it the section `meta` that says from which
//! columns, prepared how.

use std::path::Path;

use rpfcluster::model_file::Container;
use rpfcluster::{Fitted, Forest, Silent};
use rpfcluster_data::{Preparation, Table};
use serde::{Deserialize, Serialize};

use crate::exit::{Failure, Outcome};
use crate::{output, progress};

/// Name of the section.
const META: &str = "meta";

/// What the section `meta` holds, as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Meta {
    /// Program and version that wrote the file.
    pub written_by: String,
    /// The column left out as label, as it was named.
    pub label: Option<String>,
    /// Columns, gaps and scales: what new rows go through.
    pub preparation: Preparation,
    /// The 1-based rows of the input that were fitted; `None` when all were.
    pub rows: Option<Vec<usize>>,
}

impl Meta {
    /// What is worth keeping of how a table was made.
    pub fn new(table: &Table, preparation: Preparation, label: Option<String>) -> Self {
        let written_by = format!("rpf {}", env!("CARGO_PKG_VERSION"));
        Meta { written_by, label, preparation, rows: table.rows.clone() }
    }

    /// The 1-based input row of fitted row `i`.
    pub fn input_row(&self, i: usize) -> usize {
        self.rows.as_ref().and_then(|rows| rows.get(i).copied()).unwrap_or(i + 1)
    }
}

enum Held {
    Forest(Forest),
    Clustering(Box<Fitted>),
}

/// A model file, read and checked.
pub struct Model {
    held: Held,
    /// Columns and preparation; not there in a file that a program wrote through the library.
    pub meta: Option<Meta>,
    /// Names and lengths of the sections.
    pub sections: Vec<(String, usize)>,
    /// Bytes of the file.
    pub size: usize,
}

impl Model {
    /// The forest.
    pub fn forest(&self) -> &Forest {
        match &self.held {
            Held::Forest(forest) => forest,
            Held::Clustering(fitted) => fitted.forest(),
        }
    }

    /// The clustering, when there is one.
    pub fn clustering(&self) -> Option<&Fitted> {
        match &self.held {
            Held::Forest(_) => None,
            Held::Clustering(fitted) => Some(fitted),
        }
    }

    /// The clustering as one's own, when there is one.
    pub fn into_fitted(self) -> Option<Fitted> {
        match self.held {
            Held::Forest(_) => None,
            Held::Clustering(fitted) => Some(*fitted),
        }
    }

    /// The clustering as one's own, its work on so many threads.
    pub fn into_clustering(self, path: &Path, threads: Option<usize>) -> Outcome<(Fitted, Meta)> {
        let meta = self.columns(path)?.clone();
        match self.held {
            Held::Clustering(mut fitted) => {
                fitted.set_threads(threads);
                Ok((*fitted, meta))
            }
            Held::Forest(_) => Err(Failure::data(format!(
                "{}: the model holds a forest but no clustering; make one with rpf cluster --model",
                path.display()
            ))),
        }
    }

    /// Columns and preparation, without which no new table can be read.
    pub fn columns(&self, path: &Path) -> Outcome<&Meta> {
        self.meta.as_ref().ok_or_else(|| {
            Failure::data(format!(
                "{}: the model does not say from which columns it was made; make it with --model of rpf cluster \
                 or rpf kernel",
                path.display()
            ))
        })
    }
}

/// Writes a clustering with its columns and preparation.
pub fn save_clustering(path: &Path, fitted: &Fitted, meta: &Meta) -> Outcome {
    let meta = encoded(path, meta)?;
    let _writing = progress::Writing::begin()?;
    Ok(fitted.save_with(path, &[(META, &meta)], &Silent)?)
}

fn encoded(path: &Path, meta: &Meta) -> Outcome<Vec<u8>> {
    serde_json::to_vec(meta).map_err(|e| Failure::data(format!("{}: {e}", path.display())))
}

/// Writes a forest with its columns and preparation.
pub fn save(path: &Path, forest: &Forest, meta: &Meta) -> Outcome {
    let meta = encoded(path, meta)?;
    output::to_file(path, |out| {
        forest.write_with(out, &[(META, &meta)], &Silent).map_err(|e| std::io::Error::other(e.to_string()))
    })
}

/// Reads a model file; what is wrong with it is said in one sentence that names it.
pub fn load(path: &Path) -> Outcome<Model> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| {
        let problem = match e.kind() {
            std::io::ErrorKind::NotFound => "no such file".to_string(),
            _ if path.is_dir() => "is a folder, not a file".to_string(),
            _ => e.to_string(),
        };
        Failure::data(format!("{name}: {problem}"))
    })?;
    let container = Container::parse(&bytes, &Silent).map_err(|e| Failure::of_file(&name, e))?;
    let held = if container.has("cluster") {
        Fitted::from_container(&container, &Silent).map(|fitted| Held::Clustering(Box::new(fitted)))
    } else {
        Forest::from_container(&container, &Silent).map(Held::Forest)
    };
    let held = held.map_err(|e| Failure::of_file(&name, e))?;
    let meta = container.has(META).then(|| container.section(META)).transpose()?;
    let meta: Option<Meta> = meta
        .map(serde_json::from_slice)
        .transpose()
        .map_err(|e| Failure::data(format!("{name}: the model is damaged: section {META}: {e}")))?;
    let model = Model { held, meta, sections: container.sections(), size: bytes.len() };
    if let Some(meta) = &model.meta {
        let p = &meta.preparation;
        let (n, d) = (model.forest().n(), model.forest().d());
        let fits =
            [p.columns.len(), p.positions.len(), p.center.len(), p.scale.len()].iter().all(|&l| l == d)
                && (p.fill.is_empty() || p.fill.len() == d)
                && meta.rows.as_ref().is_none_or(|rows| rows.len() == n);
        if !fits {
            return Err(Failure::data(format!(
                "{name}: the model is damaged: its columns do not fit its forest"
            )));
        }
    }
    Ok(model)
}
