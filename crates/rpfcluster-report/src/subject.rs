//! What a report is made of: a clustering and what is known about it. The command fills it from files, Python from
//! arrays; neither a file format nor an array type is known here.

use rpfcluster::Fitted;
use rpfcluster::spectral::{Embedding, Solver, SpectralParams};
use serde_json::Value;

use crate::model::SweepMap;

/// A clustering with everything the page can say of it.
pub struct Subject<'a> {
    /// What the data is called.
    pub source: String,
    /// The clustering.
    pub basis: Basis<'a>,
    /// The columns it was made from, where they are at hand.
    pub columns: Option<Columns<'a>>,
    /// Known classes.
    pub classes: Option<Classes<'a>>,
    /// The row of the input, from 1, of each point; `None` when they are 1, 2, ….
    pub rows: Option<&'a [usize]>,
    /// Sentences on what to distrust, and hints.
    pub warnings: Vec<String>,
    /// A search over beta1 and beta2, where one was run.
    pub sweep: Option<SweepMap>,
    /// Parameters, times and the like: name and value.
    pub facts: Vec<(String, String)>,
    /// What makes the same again.
    pub again: Again,
}

/// How the same result is had again.
pub struct Again {
    /// "This command", "These lines of Python".
    pub what: String,
    /// Its text.
    pub text: String,
}

/// What was clustered.
pub enum Basis<'a> {
    /// Rows that went the whole walk.
    Forest(&'a Fitted),
    /// Points that came as a matrix.
    Matrix {
        /// The similarities.
        pairs: Pairs<'a>,
        /// What the spectral step was told.
        params: &'a SpectralParams,
        /// A cluster for each point.
        labels: &'a [u32],
        /// Eigenvectors.
        embedding: &'a Embedding,
    },
}

/// A similarity matrix in compressed rows, columns ascending.
#[derive(Clone, Copy)]
pub struct Pairs<'a> {
    /// Where each row begins; n + 1 numbers.
    pub starts: &'a [usize],
    /// Column of each entry.
    pub indices: &'a [u32],
    /// Its similarity.
    pub values: &'a [f64],
}

impl Pairs<'_> {
    /// The similarity of two points.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let row = self.starts[i]..self.starts[i + 1];
        let at = self.indices[row.clone()].binary_search(&(j as u32));
        at.map_or(0.0, |at| self.values[row.start + at])
    }
}

/// The columns of the data.
pub struct Columns<'a> {
    /// Their names.
    pub names: &'a [String],
    /// Writes a row, as it was clustered, into a slice with a place for each column.
    pub row: &'a (dyn Fn(usize, &mut [f64]) + Sync),
    /// For each column what was subtracted, and then what it was divided by, before clustering; the page shows values
    /// as they were in the file.
    pub units: Option<(&'a [f64], &'a [f64])>,
}

impl Columns<'_> {
    /// A value of column `j` in the units of the file.
    pub fn in_file(&self, j: usize, value: f64) -> f64 {
        match self.units {
            Some((center, scale)) => value * scale[j] + center[j],
            None => value,
        }
    }
}

/// Known classes of the points.
#[derive(Clone, Copy)]
pub struct Classes<'a> {
    /// For every point the number of its class.
    pub codes: &'a [u32],
    /// Names of the classes.
    pub names: &'a [String],
}

impl Subject<'_> {
    /// Number of points.
    pub fn n(&self) -> usize {
        self.labels().len()
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.embedding().k()
    }

    /// The cluster of each point.
    pub fn labels(&self) -> &[u32] {
        match &self.basis {
            Basis::Forest(fitted) => fitted.labels(),
            Basis::Matrix { labels, .. } => labels,
        }
    }

    /// Eigenvalues and eigenvectors.
    pub fn embedding(&self) -> &Embedding {
        match &self.basis {
            Basis::Forest(fitted) => fitted.embedding(),
            Basis::Matrix { embedding, .. } => embedding,
        }
    }

    /// The input row, from 1, of point `i`.
    pub fn input_row(&self, i: usize) -> usize {
        self.rows.and_then(|rows| rows.get(i).copied()).unwrap_or(i + 1)
    }

    /// The similarity of two points, from 0 to 1 for a forest's.
    pub fn similarity(&self, i: usize, j: usize) -> f64 {
        match &self.basis {
            Basis::Forest(fitted) => fitted.leaves().pair(i, j),
            Basis::Matrix { pairs, .. } => pairs.get(i, j),
        }
    }

    /// Points of each cluster.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.k()];
        self.labels().iter().for_each(|&l| sizes[l as usize] += 1);
        sizes
    }
}

/// The parameters of a fitted clustering as facts: name and value.
pub fn parameters(fitted: &Fitted) -> Vec<(String, String)> {
    let p = fitted.params();
    let mut facts = vec![
        ("trees".to_string(), p.trees.to_string()),
        ("min-node".to_string(), fitted.min_node().to_string()),
        ("split".to_string(), word(&p.split)),
        ("direction".to_string(), word(&p.direction)),
        ("candidates".to_string(), p.candidates.to_string()),
        ("affinity".to_string(), word(&fitted.affinity().kind())),
    ];
    if let Ok(Value::Object(numbers)) = serde_json::to_value(fitted.affinity()) {
        let numbers = numbers.into_iter().filter(|(name, _)| name != "kind");
        facts.extend(numbers.map(|(name, value)| (name, word(&value))));
    }
    facts.push(("method".to_string(), word(&fitted.method())));
    facts.push(("solver".to_string(), word(&fitted.embedding().solver)));
    if fitted.embedding().solver == Solver::Nystrom {
        facts.push(("landmarks".to_string(), p.landmarks.to_string()));
    }
    facts.push(("seed".to_string(), p.seed.to_string()));
    facts
}

/// A value of the library as the word it is written with.
pub fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
