//! Errors of the library as Python exceptions, with the parameter names of Python.
//!
//! The library states every rule about parameters and names them as its own fields do. This module only chooses the
//! exception and translates the names, so that Rust, the command and Python refuse the same values.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rpfcluster::Error;
use rpfcluster::printable::escaped_lines;

/// The exception for a library error. Control characters of names and files are shown escaped, as `repr` does.
pub fn to_python(error: Error) -> PyErr {
    let text = escaped_lines(&error.to_string()).into_owned();
    match error {
        Error::System { .. } => PyOSError::new_err(text),
        Error::Memory { .. } => PyMemoryError::new_err(python_names(&text)),
        Error::Numerical { .. } => PyRuntimeError::new_err(text),
        Error::Cancelled => PyKeyboardInterrupt::new_err(()),
        Error::TooManyClusters { k, distinct } => PyValueError::new_err(format!(
            "n_clusters is {k}, but there are only {distinct} distinct sample{}",
            if distinct == 1 { "" } else { "s" }
        )),
        Error::Inseparable { k, groups } => PyValueError::new_err(format!(
            "n_clusters is {k}, but the trees tell only {groups} group{} of samples apart; use fewer clusters, more n_estimators or a \
             smaller min_samples_split, unless samples are equal",
            if groups == 1 { "" } else { "s" }
        )),
        Error::Parameter { name, value, expected } => PyValueError::new_err(format!(
            "{} is {}, but must be {}",
            python_name(name).unwrap_or(name),
            escaped_lines(&value),
            python_names(&expected)
        )),
        // Covers variants of parameter errors that the library adds: the enum is non-exhaustive.
        _ => PyValueError::new_err(python_names(&text)),
    }
}

/// Replaces the parameter names of the library within a sentence.
///
/// Names that are also English words ("trees", "landmarks") are replaced only where the sentence begins with them, as
/// messages about a parameter do. A hyphen belongs to a word, so that "top-k" stays.
fn python_names(sentence: &str) -> String {
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut out = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some(first) = rest.chars().next() {
        let inside = in_word(first);
        let (piece, tail) = rest.split_at(rest.find(|c| in_word(c) != inside).unwrap_or(rest.len()));
        let unambiguous = out.is_empty() || piece == "k" || piece.contains('_');
        out.push_str(python_name(piece).filter(|_| unambiguous).unwrap_or(piece));
        rest = tail;
    }
    out
}

/// The Python name of a library parameter, where it differs.
fn python_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "k" => "n_clusters",
        "max_k" => "max_clusters",
        "trees" | "max_trees" | "instances" => "n_estimators",
        "min_node" => "min_samples_split",
        "candidates" => "n_candidates",
        "components" => "n_components",
        "top" | "neighbor" => "n_neighbors",
        "landmarks" => "n_landmarks",
        "threads" => "n_jobs",
        "sigma" => "bandwidth",
        "tried" => "n_tried",
        "restarts" => "n_init",
        "max_iterations" => "kmeans_max_iter",
        "start_features" => "n_start_features",
        "step_features" => "n_step_features",
        _ => return None,
    })
}
