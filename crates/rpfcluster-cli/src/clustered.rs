//! What came out of a clustering, whatever it was made from: a table that went the whole walk, or a similarity matrix
//! that came in at Affinity. Summary, JSON and report are made from this alone.

use rpfcluster::Evidence;
use rpfcluster::affinity::SparseAffinity;
use rpfcluster::metrics::{Contingency, Scores};
use rpfcluster::spectral::{self, Embedding, Method, Solver, SpectralParams};
use rpfcluster::{AffinityParams, Fitted, RpfCluster, Silent};
use rpfcluster_data::{Labels, Preparation, Similarity, Table, read_similarity};
use serde_json::{Map, Value, json};

use crate::args::DataArgs;
use crate::clock::peak_bytes;
use crate::exit::{Failure, Outcome};
use crate::session::Session;
use crate::{engine, resolve};

/// A clustering with what it was made from.
pub struct Clustered {
    /// What messages call the data.
    pub source: String,
    /// The data.
    pub basis: Basis,
}

/// What was clustered.
pub enum Basis {
    /// Rows of a table.
    Rows {
        /// The table, prepared.
        table: Table,
        /// How it was prepared.
        preparation: Preparation,
        /// Its clustering.
        fitted: Box<Fitted>,
    },
    /// Points given by their similarities.
    Matrix {
        /// The similarities.
        similarity: Similarity,
        /// What the spectral step was told.
        params: SpectralParams,
        /// A cluster for each point.
        labels: Vec<u32>,
        /// Eigenvectors.
        embedding: Embedding,
    },
}

impl Clustered {
    /// Clusters the rows of a table.
    pub fn rows(
        session: &Session,
        table: Table,
        preparation: Preparation,
        params: &RpfCluster,
    ) -> Outcome<Self> {
        check_dense(session, table.n, params.solver)?;
        let fitted = Box::new(engine::fit(session, &table, params)?);
        Ok(Clustered { source: table.source.clone(), basis: Basis::Rows { table, preparation, fitted } })
    }

    /// Clusters the points of a similarity matrix.
    pub fn matrix(session: &Session, data: &DataArgs, params: &SpectralParams) -> Outcome<Self> {
        let source = data.data.display().to_string();
        let failed = |e: rpfcluster::Error| Failure::of_file(&source, e);
        let similarity =
            session.clock.time("read", || read_similarity(&data.data, &resolve::reading(data)))?;
        check_dense(session, similarity.n, params.solver)?;
        session.clock.book("grow", 0.0);
        let affinity = session.clock.time("kernel", || matrix_affinity(&similarity)).map_err(failed)?;
        let observer = &session.progress;
        let embedding = session
            .clock
            .time("spectral", || spectral::embed(&affinity, params, &Default::default(), observer))
            .map_err(failed)?;
        let labels = session
            .clock
            .time("label", || spectral::label(&affinity, &embedding, params, observer))
            .map_err(failed)?;
        let basis = Basis::Matrix { similarity, params: params.clone(), labels, embedding };
        Ok(Clustered { source, basis })
    }

    /// Number of points.
    pub fn n(&self) -> usize {
        self.labels().len()
    }

    /// Number of features, where there are any.
    pub fn d(&self) -> Option<usize> {
        self.table().map(Table::d)
    }

    /// The table, where there is one.
    pub fn table(&self) -> Option<&Table> {
        match &self.basis {
            Basis::Rows { table, .. } => Some(table),
            Basis::Matrix { .. } => None,
        }
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.embedding().k()
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        match &self.basis {
            Basis::Rows { fitted, .. } => fitted.params().seed,
            Basis::Matrix { params, .. } => params.seed,
        }
    }

    /// A cluster for each point.
    pub fn labels(&self) -> &[u32] {
        match &self.basis {
            Basis::Rows { fitted, .. } => fitted.labels(),
            Basis::Matrix { labels, .. } => labels,
        }
    }

    /// Eigenvalues and eigenvectors.
    pub fn embedding(&self) -> &Embedding {
        match &self.basis {
            Basis::Rows { fitted, .. } => fitted.embedding(),
            Basis::Matrix { embedding, .. } => embedding,
        }
    }

    /// Rows of each cluster.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.k()];
        self.labels().iter().for_each(|&l| sizes[l as usize] += 1);
        sizes
    }

    /// The input row, from 1, of point `i`.
    pub fn input_row(&self, i: usize) -> usize {
        self.table().map_or(i + 1, |table| table.input_row(i))
    }

    /// Known classes.
    pub fn classes(&self) -> Option<&Labels> {
        self.table().and_then(|table| table.labels.as_ref())
    }

    /// Scores against known classes.
    pub fn scores(&self) -> Outcome<Option<Scores>> {
        let Some(classes) = self.classes() else { return Ok(None) };
        Ok(Some(Scores::of(&Contingency::new(self.labels(), &classes.codes)?)?))
    }

    /// The similarity that was cut, in words.
    pub fn affinity(&self) -> String {
        match &self.basis {
            Basis::Rows { fitted, .. } => affinity(fitted),
            Basis::Matrix { .. } => "precomputed".into(),
        }
    }

    /// How labels were made.
    pub fn method(&self) -> Method {
        match &self.basis {
            Basis::Rows { fitted, .. } => fitted.method(),
            Basis::Matrix { params, .. } => params.method,
        }
    }

    /// Every parameter as it was used; what belongs to another affinity or solver is null.
    pub fn params(&self) -> Map<String, Value> {
        let nystrom = self.embedding().solver == Solver::Nystrom;
        let mut all = Map::new();
        let mut put = |key: &str, value: Value| {
            all.insert(key.into(), value);
        };
        match &self.basis {
            Basis::Rows { fitted, .. } => {
                let p = fitted.params();
                put("trees", p.trees.into());
                put("min_node", fitted.min_node().into());
                put("split", json!(p.split));
                put("direction", json!(p.direction));
                put("candidates", p.candidates.into());
                put("affinity", json!(fitted.affinity().kind()));
                let numbers = json!(fitted.affinity());
                for key in ["beta1", "beta2", "diagonal", "top", "power"] {
                    put(key, numbers.get(key).cloned().unwrap_or(Value::Null));
                }
                put("method", json!(fitted.method()));
                put("solver", json!(fitted.embedding().solver));
                put("landmarks", nystrom.then_some(p.landmarks).into());
            }
            Basis::Matrix { params, embedding, .. } => {
                put("affinity", "precomputed".into());
                put("method", json!(params.method));
                put("solver", json!(embedding.solver));
                put("landmarks", nystrom.then_some(params.landmarks).into());
            }
        }
        all
    }

    /// What was left to the program and what it took; the settings that were compared, when some were.
    pub fn chosen(&self) -> Value {
        match &self.basis {
            Basis::Rows { fitted, .. } => json!(fitted.evidence()),
            Basis::Matrix { .. } => json!({}),
        }
    }

    /// Why the settings and the number of clusters are what they are; `None` when nothing was left open.
    pub fn evidence(&self) -> Option<&Evidence> {
        match &self.basis {
            Basis::Rows { fitted, .. } => Some(fitted.evidence()),
            Basis::Matrix { .. } => None,
        }
    }

    /// How firmly the forest puts each row into its cluster, from 0 to 1.
    pub fn confidence(&self) -> Option<Vec<f64>> {
        match &self.basis {
            Basis::Rows { fitted, .. } => fitted.confidence(&Silent).ok(),
            Basis::Matrix { .. } => None,
        }
    }

    /// The object that `--json` prints.
    pub fn json(&self, session: &Session, command: &str) -> Outcome<Value> {
        let e = self.embedding();
        let mut object = json!({
            "command": command,
            "version": env!("CARGO_PKG_VERSION"),
            "n": self.n(),
            "d": self.d(),
            "k": self.k(),
            "seed": self.seed(),
            "params": self.params(),
            "chosen": self.chosen(),
            "cluster_sizes": self.sizes(),
            "eigenvalues": e.eigenvalues,
            "converged": e.converged,
            "residual": e.residual,
            "seconds": session.clock.seconds(),
            "peak_bytes": peak_bytes(),
        });
        if let Some(scores) = self.scores()? {
            object["scores"] = json!(scores);
        }
        Ok(object)
    }
}

/// The dense solver holds a few matrices of all pairs.
fn check_dense(session: &Session, n: usize, solver: Solver) -> Outcome {
    if solver != Solver::Dense {
        return Ok(());
    }
    let bytes = (n as u64).saturating_mul(n as u64).saturating_mul(4 * 8);
    session.check_memory(
        &format!("--solver dense for {n} rows"),
        bytes,
        "take --solver block, or raise --memory-limit",
    )
}

/// A checked matrix as the spectral step takes it.
pub fn matrix_affinity(similarity: &Similarity) -> rpfcluster::Result<SparseAffinity> {
    let Similarity { n, indptr, indices, data } = similarity.clone();
    SparseAffinity::precomputed_sparse(indptr, indices, data, n, &Silent)
}

/// The affinity of a clustering, in words.
pub fn affinity(fitted: &Fitted) -> String {
    affinity_words(fitted.affinity())
}

/// An affinity with its numbers, in words.
pub fn affinity_words(affinity: &AffinityParams) -> String {
    match *affinity {
        AffinityParams::Linear => "linear".into(),
        AffinityParams::Paper { beta1, beta2, diagonal } => {
            let diagonal = resolve::word(&diagonal).unwrap_or_default();
            format!("paper (beta1 {beta1}, beta2 {beta2}, diagonal {diagonal})")
        }
        AffinityParams::TopK { top, power } => format!("top-k (top {top}, power {power})"),
    }
}
