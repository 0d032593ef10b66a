//! Model files of the command: a forest or a clustering, and a section `meta` with the columns and their preparation.

use std::path::Path;

use rpfcluster::model_file::{self, Container};
use rpfcluster::{AffinityParams, Error, Fitted, Forest, RpfCluster, Silent};
use rpfcluster_data::{Preparation, Table, check_reading};
use serde::{Deserialize, Serialize};

use crate::exit::{Failure, Result};
use crate::transaction::Transaction;

/// Name of the section with columns and preparation.
const META: &str = "meta";

/// The content of the section `meta`, stored as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Meta {
    /// Program and version that wrote the file.
    pub written_by: String,
    /// The label column, as it was named.
    pub label: Option<String>,
    /// Columns, missing values and scaling, to be applied to new rows.
    pub preparation: Preparation,
    /// The input rows that were fitted, counted from 1; `None` when all were.
    pub rows: Option<Vec<usize>>,
}

impl Meta {
    /// The metadata of a table.
    pub fn new(table: &Table, preparation: Preparation, label: Option<String>) -> Self {
        let written_by = format!("rpf {}", env!("CARGO_PKG_VERSION"));
        Meta { written_by, label, preparation, rows: table.rows.clone() }
    }

    /// The input row, counted from 1, of fitted row `i`.
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
    /// Columns and preparation; `None` in a file written by the library rather than the command.
    pub meta: Option<Meta>,
    /// Names and lengths of the sections.
    pub sections: Vec<(String, usize)>,
    /// Version of the format.
    pub version: u32,
    /// Size of the file in bytes.
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

    /// The clustering, if there is one.
    pub fn clustering(&self) -> Option<&Fitted> {
        match &self.held {
            Held::Forest(_) => None,
            Held::Clustering(fitted) => Some(fitted),
        }
    }

    /// The clustering and its metadata by value; an error for a model without them.
    pub fn into_clustering(self, path: &Path) -> Result<(Fitted, Meta)> {
        let meta = self.columns(path)?.clone();
        Ok((self.into_fitted(path)?, meta))
    }

    /// The clustering by value; an error for a model without one.
    pub fn into_fitted(self, path: &Path) -> Result<Fitted> {
        match self.held {
            Held::Clustering(fitted) => Ok(*fitted),
            Held::Forest(_) => Err(Failure::data(format!(
                "{}: the model contains a forest but no clustering; create one with rpf cluster --model",
                path.display()
            ))),
        }
    }

    /// The metadata; an error for a model without it.
    pub fn columns(&self, path: &Path) -> Result<&Meta> {
        self.meta.as_ref().ok_or_else(|| {
            Failure::data(format!(
                "{}: the model does not name its columns; create it with --model of rpf cluster or rpf kernel",
                path.display()
            ))
        })
    }
}

/// Stages a clustering with its metadata.
pub fn save_clustering<'a>(
    transaction: &mut Transaction<'a>,
    path: &Path,
    fitted: &'a Fitted,
    meta: &Meta,
) -> Result {
    let meta = encoded(path, meta)?;
    transaction.file(path, move |out| {
        fitted.write_with(out, &[(META, &meta)], &Silent).map_err(std::io::Error::other)
    })
}

fn encoded(path: &Path, meta: &Meta) -> Result<Vec<u8>> {
    serde_json::to_vec(meta).map_err(|e| Failure::data(format!("{}: {e}", path.display())))
}

/// Stages a forest with its metadata.
pub fn save<'a>(transaction: &mut Transaction<'a>, path: &Path, forest: &'a Forest, meta: &Meta) -> Result {
    let meta = encoded(path, meta)?;
    transaction.file(path, move |out| {
        forest.write_with(out, &[(META, &meta)], &Silent).map_err(std::io::Error::other)
    })
}

/// Reads and checks a model file; the bytes and what is made from them may take `memory` bytes, or what is free.
pub fn load(path: &Path, memory: Option<u64>) -> Result<Model> {
    let name = path.display().to_string();
    let found = std::fs::metadata(path).map_err(|e| {
        let missing = e.kind() == std::io::ErrorKind::NotFound;
        Failure::data(format!("{name}: {}", if missing { "no such file".to_string() } else { e.to_string() }))
    })?;
    if found.is_dir() {
        return Err(Failure::data(format!("{name}: is a folder, not a file")));
    }
    check_reading(&name, found.len().saturating_mul(2), memory)?;
    let bytes = model_file::read(path, &Silent)?;
    let container = Container::parse(&bytes, &Silent).map_err(|e| Failure::of_model(&name, e))?;
    let held = if container.has("cluster") {
        Fitted::from_container(&container, &Silent).map(|fitted| Held::Clustering(Box::new(fitted)))
    } else {
        Forest::from_container(&container, &Silent).map(Held::Forest)
    };
    let held = held.map_err(|e| Failure::of_model(&name, e))?;
    check_ranges(&held).map_err(|e| Failure::of_model(&name, e))?;
    let meta = container.has(META).then(|| container.section(META)).transpose();
    let meta = meta.map_err(|e| Failure::of_model(&name, e))?;
    let meta: Option<Meta> = meta
        .map(serde_json::from_slice)
        .transpose()
        .map_err(|e| Failure::data(format!("{name}: the model is damaged: section {META}: {e}")))?;
    let sections = container.sections();
    let model = Model { held, meta, sections, version: container.version, size: bytes.len() };
    if let Some(meta) = &model.meta {
        let p = &meta.preparation;
        let n = model.clustering().map_or(model.forest().n(), |fitted| fitted.n());
        let d = model.clustering().map_or(model.forest().d(), |fitted| fitted.d());
        let fits = p.is_consistent()
            && p.table_columns().len() == d
            && (p.fill.is_empty() || p.fill.len() == p.columns.len() - p.categories.len())
            && meta.rows.as_ref().is_none_or(|rows| rows.len() == n);
        if !fits {
            return Err(Failure::data(format!(
                "{name}: the model is damaged: its columns do not fit its forest"
            )));
        }
    }
    Ok(model)
}

/// Checks the numbers of a model that its sections do not imply: parameters as given, and the affinity as used.
fn check_ranges(held: &Held) -> Result<(), Error> {
    let fitted = match held {
        Held::Forest(forest) => return forest.params().validate(),
        Held::Clustering(fitted) => fitted,
    };
    fitted.forest().params().validate()?;
    let given = fitted.params();
    let mut used = RpfCluster { beta1: None, beta2: None, top: None, power: None, ..given.clone() };
    match *fitted.affinity() {
        AffinityParams::Paper { beta1, beta2, .. } => (used.beta1, used.beta2) = (Some(beta1), Some(beta2)),
        AffinityParams::TopK { top, power } => (used.top, used.power) = (Some(top), Some(power)),
        _ => {}
    }
    for params in [given, &used] {
        match params.validate() {
            // Earlier versions stored parameters that did not apply.
            Ok(()) | Err(Error::DoesNotApply { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
