//! Encodes a clustering as sections of a model file, beside those of its forest, and decodes it. Decoding validates the
//! forest and the lengths of all arrays; evidence and times are not stored.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::extent::Extent;
use super::fit::{Labelling, Seconds};
use super::fitted::{Fitted, FittedRows};
use super::{Assessment, Evidence, Verdict};
use crate::distinct::DistinctRows;
use crate::eigen::{Embedding, Method, Solver};
use crate::error::{Error, Result, damaged};
use crate::forest::Forest;
use crate::model_file::{Container, Piece, Sections, read};
use crate::observe::{Observer, Silent, check};
use crate::params::{AffinityParams, RpfCluster, Setting};
use crate::pca::Pca;

/// The scalars of a clustering, stored as JSON in the section `cluster`.
#[derive(serde::Serialize, serde::Deserialize)]
struct ClusterHead {
    params: RpfCluster,
    min_node: usize,
    affinity: AffinityParams,
    method: Method,
    eigenvalues: Vec<f64>,
    residual: f64,
    converged: bool,
    iterations: usize,
    solver: Solver,
    uncovered: f64,
    columns: Vec<Vec<usize>>,
    #[serde(default, rename = "regrouped", alias = "untied")]
    refined: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resolution: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
}

impl Fitted {
    /// Writes a model file atomically. `extra` sections are stored beside it; read them with
    /// [`crate::model_file::Container::section`].
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        extra: &[(&str, &[u8])],
        observer: &dyn Observer,
    ) -> Result<()> {
        self.with_sections(extra, |sections| sections.save(path.as_ref(), observer))
    }

    /// Writes the bytes of [`Fitted::save_with`] to `out`.
    pub fn write_with(
        &self,
        out: &mut dyn Write,
        extra: &[(&str, &[u8])],
        observer: &dyn Observer,
    ) -> Result<()> {
        self.with_sections(extra, |sections| sections.write(out, observer))
    }

    fn with_sections(
        &self,
        extra: &[(&str, &[u8])],
        write: impl FnOnce(&Sections<'_>) -> Result<()>,
    ) -> Result<()> {
        let e = &self.embedding;
        let head = ClusterHead {
            params: self.params.clone(),
            min_node: self.setting.min_node,
            affinity: self.setting.affinity,
            method: self.setting.method,
            eigenvalues: e.eigenvalues.clone(),
            residual: e.residual,
            converged: e.converged,
            iterations: e.iterations,
            solver: e.solver,
            uncovered: e.uncovered,
            columns: e.columns.clone(),
            refined: self.refined,
            resolution: self.resolution,
            verdict: self.verdict().cloned(),
        };
        let head = serde_json::to_string(&head)
            .map_err(|e| Error::Model { problem: format!("cannot be written: {e}") })?;
        let small = self.forest.encode()?;
        let mut sections = Sections::default();
        self.forest.add_sections(&small, &mut sections);
        sections.add("cluster", vec![Piece::Bytes(head.as_bytes())]);
        sections.add("labels", vec![Piece::U32(&self.labels)]);
        if e.k() > 0 {
            sections.add("vectors", vec![Piece::F64(&e.vectors)]);
            sections.add("degrees", vec![Piece::F64(&e.degrees)]);
            sections.add("pieces", vec![Piece::U32(&e.component_of)]);
        }
        if let Some(rows) = &self.rows.distinct {
            sections.add("groups", vec![Piece::U32(&rows.group_of)]);
        }
        let extent: Vec<f64> =
            self.extent.iter().flat_map(|extent| extent.0.iter().flatten().copied()).collect();
        if !extent.is_empty() {
            sections.add("extent", vec![Piece::F64(&extent)]);
        }
        if let Some(pca) = &self.pca {
            let total = Piece::F64(std::slice::from_ref(&pca.total));
            let arrays = [&pca.variances, &pca.mean, &pca.axes].map(|array| Piece::F64(array));
            sections.add("pca", std::iter::once(total).chain(arrays).collect());
        }
        for &(name, bytes) in extra {
            sections.add(name, vec![Piece::Bytes(bytes)]);
        }
        write(&sections)
    }

    /// Writes a model file atomically.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, &[], &Silent)
    }

    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_container(&Container::parse(&read(path.as_ref(), &Silent)?, &Silent)?, &Silent)
    }

    /// Decodes a clustering from a checked container.
    pub fn from_container(file: &Container<'_>, observer: &dyn Observer) -> Result<Self> {
        if !file.has("cluster") {
            return Err(Error::Model {
                problem: "holds a forest but no clustering; make one with `rpf cluster --model`".into(),
            });
        }
        let forest = Forest::from_container(file, observer)?;
        let head: ClusterHead = serde_json::from_slice(file.section("cluster")?)
            .map_err(|e| damaged(format!("section cluster: {e}")))?;
        let distinct = match file.has("groups") {
            true => match DistinctRows::from_groups(file.u32s("groups")?) {
                Some(rows) if rows.len() == forest.n() => Some(Arc::new(rows)),
                _ => return Err(damaged("section groups does not fit the forest")),
            },
            false => None,
        };
        let (n, k) = (distinct.as_ref().map_or(forest.n(), |rows| rows.group_of.len()), head.params.k);
        let labels = file.u32s("labels")?;
        // `leiden` has no eigenvectors.
        let width = if head.method == Method::Leiden { 0 } else { k };
        let embedding = match width {
            0 => Embedding::without_vectors(n),
            _ => Embedding {
                eigenvalues: head.eigenvalues,
                vectors: file.f64s("vectors")?,
                degrees: file.f64s("degrees")?,
                residual: head.residual,
                converged: head.converged,
                iterations: head.iterations,
                solver: head.solver,
                uncovered: head.uncovered,
                component_of: file.u32s("pieces")?,
                columns: head.columns,
            },
        };
        let fits = labels.len() == n
            && k > 0
            && labels.iter().all(|&l| (l as usize) < k)
            && embedding.eigenvalues.len() == width
            && embedding.vectors.len() == n * width
            && embedding.degrees.len() == n
            && embedding.component_of.len() == n;
        if !fits {
            return Err(damaged("its sections do not fit each other"));
        }
        check(observer)?;
        let leaves = Arc::new(forest.leaves_at(head.min_node)?);
        let setting = Setting { min_node: head.min_node, affinity: head.affinity, method: head.method };
        let labelling = Labelling { labels, embedding, refined: head.refined, resolution: None };
        let (seconds, evidence) = (Seconds::default(), Evidence::default());
        let rows = FittedRows::new(leaves, distinct);
        let mut fitted =
            Fitted::new(head.params, Arc::new(forest), setting, rows, labelling, seconds, evidence);
        fitted.resolution = head.resolution;
        if file.has("pca") {
            let pca = Pca::from_numbers(&file.f64s("pca")?, fitted.forest.d());
            fitted.pca = Some(Arc::new(pca.ok_or_else(|| damaged("section pca does not fit the forest"))?));
        }
        if file.has("extent") {
            let extent = file.f64s("extent")?;
            let (pairs, rest) = extent.as_chunks::<2>();
            if pairs.len() != fitted.d() || !rest.is_empty() {
                return Err(damaged("section extent does not fit the columns"));
            }
            fitted.extent = Some(Extent(pairs.to_vec()));
        }
        if let Some(verdict) = head.verdict {
            fitted.set_assessment(Assessment { verdict, evidence: None, columns: Vec::new() }, 0.0);
        }
        Ok(fitted)
    }
}
