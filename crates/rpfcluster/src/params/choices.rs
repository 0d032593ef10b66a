//! The values that parameters of a clustering choose between, and one combination of them, a [`Setting`].

use crate::affinity::Diagonal;
use crate::eigen::Method;

/// Which affinity is clustered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum AffinityKind {
    /// The kernel S itself in factored form: O(n T) time and memory.
    Linear,
    /// S thresholded at beta1, then exp(S / beta2) (Algorithm 3 of the paper).
    Paper,
    /// The graph of each row's strongest co-leaf neighbours, weights S^power.
    TopK,
}

/// An affinity with all its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum AffinityParams {
    /// See [`AffinityKind::Linear`].
    Linear,
    /// See [`AffinityKind::Paper`].
    Paper {
        /// Pairs below this similarity are removed.
        beta1: f64,
        /// The bandwidth.
        beta2: f64,
        /// Whether the diagonal of S is kept.
        diagonal: Diagonal,
    },
    /// See [`AffinityKind::TopK`].
    TopK {
        /// Neighbours of each row.
        top: usize,
        /// Exponent of the edge weights.
        power: f64,
    },
}

impl AffinityParams {
    /// The affinity without its numbers.
    pub fn kind(&self) -> AffinityKind {
        match self {
            AffinityParams::Linear => AffinityKind::Linear,
            AffinityParams::Paper { .. } => AffinityKind::Paper,
            AffinityParams::TopK { .. } => AffinityKind::TopK,
        }
    }
}

/// What a fit does with rows that occur several times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Duplicates {
    /// Grows the forest on the distinct rows and counts each as often as it occurs. `min_node` counts distinct rows. Rows
    /// that differ by less than a millionth of the spread of every column count as equal; predict, which sees one row at
    /// a time, may give such a row another label than the fit.
    #[default]
    Weigh,
    /// Grows the forest on all rows (Algorithm 1 of the paper as printed). `min_node` or more equal rows are then a leaf
    /// of their own in every tree, without a connection to other rows.
    Keep,
}

/// The columns that the forest is grown on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Components {
    /// The leading principal components of a wide table, as many as stand out of the noise; else the columns themselves.
    #[default]
    Auto,
    /// The columns themselves (Algorithm 1 of the paper).
    None,
    /// This many leading principal components.
    Count(usize),
}

/// The distance that random directions measure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Metric {
    /// `Cosine` on the principal components of a table with more than 95 % zeros (latent semantic analysis: Deerwester et
    /// al., JASIS 41(6), 1990), else `Euclidean`.
    #[default]
    Auto,
    /// Rows as they are.
    Euclidean,
    /// The rows that the forest is grown on are scaled to unit length, so that only their angles count. On principal
    /// components the scores are scaled. A row of zeros stays as it is.
    Cosine,
}

/// One combination of the parameters that decide a clustering on a grown forest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// n_s, the smallest node that is split.
    pub min_node: usize,
    /// The affinity with its numbers.
    pub affinity: AffinityParams,
    /// How the affinity becomes labels.
    pub method: Method,
}

/// The name of an affinity in JSON and in messages.
pub(super) fn affinity_name(kind: AffinityKind) -> &'static str {
    match kind {
        AffinityKind::Linear => "linear",
        AffinityKind::Paper => "paper",
        AffinityKind::TopK => "top-k",
    }
}
