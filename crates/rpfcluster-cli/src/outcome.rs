//! The outcome of every command that clusters or embeds: a clustering and the table it came from. Summary, JSON object
//! and report are made from it; confidence is computed once, when the first of them needs it.

use std::sync::{Arc, OnceLock};

use rpfcluster::affinity::SparseAffinity;
use rpfcluster::metrics::Scores;
use rpfcluster::spectral::{self, Embedding, Method, Solver, SpectralParams};
use rpfcluster::{RpfCluster, Silent, leiden};
use rpfcluster_data::{Labels, Preparation, Similarity, Table, read_similarity};
use rpfcluster_report::{Clustering, MatrixClustering};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::args::DataArgs;
use crate::exit::{Failure, Result};
use crate::session::Session;
use crate::session::clock::peak_bytes;
use crate::{library, resolve};

/// A clustering and the data it came from.
pub struct Outcome {
    /// The name of the data in messages.
    pub source: String,
    /// The clustering.
    pub clustering: Clustering,
    /// The table, for a clustering of rows.
    pub prepared: Option<PreparedTable>,
    /// What `--standardize auto` chose.
    pub scaling: Option<ScalingChoice>,
    confidence: OnceLock<Vec<f64>>,
}

/// The choice between columns as they are and standardised ones, by the verdicts of both clusterings.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ScalingChoice {
    /// `none` or `all`.
    pub standardize: &'static str,
    /// The score of the verdict on the columns as they are.
    pub none: f64,
    /// The score of the verdict on standardised columns.
    pub all: f64,
}

/// A table as it was clustered.
pub struct PreparedTable {
    /// The rows.
    pub table: Table,
    /// How they were made from the file.
    pub preparation: Preparation,
}

impl Outcome {
    /// Clusters the rows of a table.
    pub fn of_rows(
        session: &Session,
        table: Table,
        preparation: Preparation,
        params: &RpfCluster,
    ) -> Result<Self> {
        check_dense(session, table.n, params.solver)?;
        let fitted = library::fit(session, &table, params)?;
        Ok(Outcome {
            source: table.source.clone(),
            clustering: Clustering::Rows(Arc::new(fitted)),
            prepared: Some(PreparedTable { table, preparation }),
            scaling: None,
            confidence: OnceLock::new(),
        })
    }

    /// Clusters a table as it is and standardised, and keeps the clustering whose verdict has the higher score; the one of
    /// the columns as they are if they are equal. docs/notes/2026-11-scale.md compares this rule with others.
    pub fn of_better_scaling(
        session: &Session,
        [raw, standardized]: [(Table, Preparation); 2],
        params: &RpfCluster,
    ) -> Result<Self> {
        let none = Self::of_rows(session, raw.0, raw.1, params)?;
        let all = Self::of_rows(session, standardized.0, standardized.1, params)?;
        let score = |outcome: &Outcome| {
            outcome
                .clustering
                .fitted()
                .and_then(|fitted| fitted.verdict())
                .map_or(0.0, |verdict| verdict.score)
        };
        let scores = (score(&none), score(&all));
        let (standardize, better) = if scores.1 > scores.0 { ("all", all) } else { ("none", none) };
        Ok(Outcome { scaling: Some(ScalingChoice { standardize, none: scores.0, all: scores.1 }), ..better })
    }

    /// Clusters the points of a similarity matrix.
    pub fn of_matrix(session: &Session, data: &DataArgs, params: SpectralParams) -> Result<Self> {
        let source = data.data.display().to_string();
        let failed = |e: rpfcluster::Error| Failure::of_file(&source, e);
        let (clock, observer) = (&session.clock, &session.progress);
        let reading = resolve::reading(&data.read, session.memory_limit());
        let similarity = clock.time("read", || read_similarity(&data.data, &reading))?;
        check_dense(session, similarity.n, params.solver)?;
        clock.book("grow", 0.0);
        let Similarity { n, indptr, indices, data } = similarity;
        let affinity = clock
            .time("kernel", || SparseAffinity::precomputed_sparse(indptr, indices, data, n, &Silent))
            .map_err(failed)?;
        if params.method == Method::Leiden {
            let (quality, seed) = (params.quality, params.seed);
            let found = || match params.resolution {
                Some(at) => Ok((leiden::communities(&affinity, quality, at, seed, observer)?, at)),
                None => leiden::communities_at_k(&affinity, quality, params.k, seed, observer),
            };
            let (labels, resolution) = clock.time("label", found).map_err(failed)?;
            let k = labels.iter().max().map_or(0, |most| *most as usize + 1);
            let params = SpectralParams { k, resolution: Some(resolution), ..params };
            let embedding = Embedding::without_vectors(n);
            return Ok(Self::of_clustered_matrix(source, affinity, params, labels, embedding));
        }
        let embed = || spectral::embed(&affinity, &params, &Default::default(), observer);
        let embedding = clock.time("spectral", embed).map_err(failed)?;
        let label = || spectral::label(&affinity, &embedding, &params, observer);
        let labels = clock.time("label", label).map_err(failed)?;
        Ok(Self::of_clustered_matrix(source, affinity, params, labels, embedding))
    }

    fn of_clustered_matrix(
        source: String,
        affinity: SparseAffinity,
        params: SpectralParams,
        labels: Vec<u32>,
        embedding: Embedding,
    ) -> Self {
        let matrix = MatrixClustering { affinity, params, labels, embedding };
        let clustering = Clustering::Matrix(Box::new(matrix));
        Outcome { source, clustering, prepared: None, scaling: None, confidence: OnceLock::new() }
    }

    /// The table, for a clustering of rows.
    pub fn table(&self) -> Option<&Table> {
        self.prepared.as_ref().map(|prepared| &prepared.table)
    }

    /// Number of columns of the input that are clustered on, for a clustering of rows.
    pub fn input_columns(&self) -> Option<usize> {
        self.prepared.as_ref().map(|prepared| prepared.preparation.columns.len())
    }

    /// Number of features, for a clustering of rows. Each level of a category is one.
    pub fn d(&self) -> Option<usize> {
        self.table().map(Table::d)
    }

    /// The input row, counted from 1, of point `i`.
    pub fn input_row(&self, i: usize) -> usize {
        self.table().map_or(i + 1, |table| table.input_row(i))
    }

    /// Known classes.
    pub fn classes(&self) -> Option<&Labels> {
        self.table().and_then(|table| table.labels.as_ref())
    }

    /// Scores against known classes.
    pub fn scores(&self) -> Result<Option<Scores>> {
        let Some(classes) = self.classes() else { return Ok(None) };
        Ok(Some(Scores::new(self.clustering.labels(), &classes.codes)?))
    }

    /// The confidence of each row, from 0 to 1; `None` for a matrix. The first call computes it.
    pub fn confidence(&self, session: &Session) -> Result<Option<&[f64]>> {
        let Some(fitted) = self.clustering.fitted() else { return Ok(None) };
        if let Some(confidence) = self.confidence.get() {
            return Ok(Some(confidence));
        }
        let confidence = fitted.confidence(&session.progress)?;
        Ok(Some(self.confidence.get_or_init(|| confidence)))
    }

    /// The object that `--json` prints.
    pub fn json(&self, session: &Session, command: &str, hints: &[String]) -> Result<Value> {
        let clustering = &self.clustering;
        let e = clustering.embedding();
        let params = clustering.params().into_iter().map(|(name, value)| (name.to_string(), value));
        let mut object = json!({
            "command": command,
            "version": env!("CARGO_PKG_VERSION"),
            "n": clustering.n(),
            "d": self.d(),
            "k": clustering.k(),
            "seed": clustering.seed(),
            "params": params.collect::<Map<String, Value>>(),
            "chosen": clustering.evidence().map_or(json!({}), |evidence| json!(evidence)),
            "verdict": clustering.fitted().and_then(|fitted| fitted.verdict()),
            "hints": hints,
            "cluster_sizes": clustering.sizes(),
            "eigenvalues": e.eigenvalues,
            "converged": e.converged,
            "residual": e.residual,
            "seconds": session.clock.seconds(),
            "peak_bytes": peak_bytes(),
        });
        if let Some(scaling) = &self.scaling {
            object["chosen"]["standardize"] = json!(scaling);
        }
        if let Some(scores) = self.scores()? {
            object["scores"] = json!(scores);
        }
        Ok(object)
    }
}

/// The dense solver holds four matrices of n x n doubles.
fn check_dense(session: &Session, n: usize, solver: Solver) -> Result {
    if solver != Solver::Dense {
        return Ok(());
    }
    let bytes = (n as u64).saturating_mul(n as u64).saturating_mul(4 * 8);
    session.check_memory(&format!("--solver dense for {n} rows"), bytes, "use --solver block")
}
