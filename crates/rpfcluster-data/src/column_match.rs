//! The columns of a new table that a fitted [`Preparation`] needs.
//!
//! Where both tables have names, columns are found by name, in any order; a missing or an ambiguous name is an error,
//! and columns that are not used are returned, so that the caller can say so. Otherwise columns are found by position,
//! and their number must be that of the features or, where neither table has names, that of the fitted table. A table
//! of any other width is refused, since its first columns need not be the features.

use std::collections::{HashMap, HashSet};

use crate::column_ref::{ColumnRef, listed, resolve_all};
use crate::error::{DataError, Result, excerpt, format};
use crate::frame::Frame;
use crate::prepare::Preparation;

/// Which columns of a new table are considered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// The column of known classes, which is not a feature.
    pub label: Option<ColumnRef>,
    /// Columns that are ignored.
    pub drop: Vec<ColumnRef>,
    /// The columns considered, in this order; empty means all.
    pub columns: Vec<ColumnRef>,
}

/// The columns of a new table, from 0.
pub(crate) struct Matched {
    pub label: Option<usize>,
    /// The features, in the order of the model.
    pub features: Vec<usize>,
    /// Columns that are ignored although neither the caller nor a name of the fitted table says so.
    pub unknown: Vec<usize>,
}

/// Finds the features of `fitted` in `frame`.
pub(crate) fn match_columns(fitted: &Preparation, frame: &Frame, selection: &Selection) -> Result<Matched> {
    let d = fitted.columns.len();
    if !fitted.is_consistent() {
        return Err(format(
            &frame.source,
            "the preparation of its columns is inconsistent; the model is damaged",
        ));
    }
    let label = selection.label.as_ref().map(|l| l.resolve_one(frame)).transpose()?;
    let dropped = resolve_all(frame, &selection.drop)?;
    let mut considered = if selection.columns.is_empty() {
        (0..frame.width()).collect()
    } else {
        resolve_all(frame, &selection.columns)?
    };
    considered.retain(|c| !dropped.contains(c) && Some(*c) != label);
    if fitted.named && frame.has_header {
        let features = by_name(fitted, frame, &considered)?;
        let known: HashSet<&String> = fitted.columns.iter().chain(&fitted.left_out).collect();
        considered.retain(|c| !known.contains(&frame.names[*c]));
        return Ok(Matched { label, features, unknown: considered });
    }
    if considered.len() == d {
        return Ok(Matched { label, features: considered, unknown: Vec::new() });
    }
    let untouched = dropped.is_empty() && selection.columns.is_empty();
    let alike = !fitted.named && !frame.has_header && fitted.width == Some(frame.width());
    if untouched && alike && fitted.positions.iter().all(|p| *p < frame.width()) {
        if let Some(column) = label.filter(|c| fitted.positions.contains(c)) {
            return Err(frame.column_error(column, "cannot be the label: the model was fitted on it"));
        }
        considered.retain(|c| !fitted.positions.contains(c));
        return Ok(Matched { label, features: fitted.positions.clone(), unknown: considered });
    }
    Err(format(&frame.source, wrong_width(fitted, considered.len())))
}

/// By name, in the order of the model.
fn by_name(fitted: &Preparation, frame: &Frame, considered: &[usize]) -> Result<Vec<usize>> {
    let error = |name: &str, problem: String| DataError::Column {
        path: frame.source.clone(),
        column: format!("\"{}\"", excerpt(name)),
        problem,
    };
    let (mut features, mut missing) = (Vec::with_capacity(fitted.columns.len()), Vec::new());
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for &c in considered {
        places.entry(&frame.names[c]).or_default().push(c);
    }
    let existing: HashSet<&String> = frame.names.iter().collect();
    let mut seen = HashSet::new();
    if let Some(name) = fitted.columns.iter().find(|name| !seen.insert(name.as_str())) {
        let problem = "is ambiguous: the model was fitted on several columns of this name; rename them and fit the model \
                       again";
        return Err(error(name, problem.into()));
    }
    for name in &fitted.columns {
        match places.get(name.as_str()).map(Vec::as_slice) {
            Some([one]) => features.push(*one),
            Some(several) => {
                let numbers: Vec<String> = several.iter().map(|c| (c + 1).to_string()).collect();
                let problem = format!(
                    "occurs more than once (columns {}), but the model was fitted on one; leave out the others with --drop",
                    numbers.join(", ")
                );
                return Err(error(name, problem));
            }
            None if existing.contains(name) => {
                let problem = "is not to be used, but the model was fitted on it";
                return Err(error(name, problem.into()));
            }
            None => missing.push(name.clone()),
        }
    }
    let columns = listed(&frame.names);
    match missing.as_slice() {
        [] => Ok(features),
        [one] => {
            let problem =
                format!("does not exist, but the model was fitted on it; the columns are {columns}");
            Err(error(one, problem))
        }
        several => {
            let problem = format!(
                "{} of the {} columns that the model was fitted on do not exist: {}; the columns are {columns}",
                several.len(),
                fitted.columns.len(),
                listed(several)
            );
            Err(format(&frame.source, problem))
        }
    }
}

/// The sentence for a number of columns that does not say which are the features.
fn wrong_width(fitted: &Preparation, got: usize) -> String {
    let d = fitted.columns.len();
    let count = |n: usize| if n == 1 { "1 column".to_string() } else { format!("{n} columns") };
    let remedy = if got > d {
        format!("leave out the others with --drop, or name the {d} with --columns")
    } else {
        format!("the table must have these {d} in the same order")
    };
    format!("has {}, but the model was fitted on {}; {remedy}", count(got), count(d))
}
