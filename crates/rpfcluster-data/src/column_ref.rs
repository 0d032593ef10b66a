//! Column references: by name, by 1-based number or by a range of numbers. A name takes precedence over a number. The
//! error for an unknown name suggests similar names.

use std::str::FromStr;

use crate::error::{DataError, Result, excerpt};
use crate::frame::Frame;

/// A column as the user writes it: `species`, `5` or, where several are allowed, `3-7`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ColumnRef(pub String);

impl FromStr for ColumnRef {
    type Err = DataError;

    fn from_str(s: &str) -> Result<ColumnRef> {
        if s.trim().is_empty() {
            return Err(DataError::Option {
                name: "a column".into(),
                problem: "needs a name or a number from 1".into(),
            });
        }
        Ok(ColumnRef(s.trim().to_string()))
    }
}

impl From<&str> for ColumnRef {
    fn from(s: &str) -> ColumnRef {
        ColumnRef(s.trim().to_string())
    }
}

impl ColumnRef {
    /// The column referred to, from 0; an error when there are several.
    pub(crate) fn resolve_one(&self, frame: &Frame) -> Result<usize> {
        match self.resolve(frame)?.as_slice() {
            [one] => Ok(*one),
            _ => Err(DataError::Option {
                name: format!("\"{}\"", excerpt(&self.0)),
                problem: "names several columns where one is needed".into(),
            }),
        }
    }

    /// The columns referred to, from 0.
    pub fn resolve(&self, frame: &Frame) -> Result<Vec<usize>> {
        let wanted = self.0.as_str();
        let named: Vec<usize> = if frame.has_header() {
            frame.names().iter().enumerate().filter(|(_, n)| *n == wanted).map(|(i, _)| i).collect()
        } else {
            Vec::new()
        };
        match named[..] {
            [one] => return Ok(vec![one]),
            [] => {}
            _ => {
                let places: Vec<String> = named.iter().map(|i| (i + 1).to_string()).collect();
                let problem =
                    format!("occurs more than once (columns {}); give its number", places.join(", "));
                return Err(self.error(frame, problem));
            }
        }
        let range = match wanted.split_once('-') {
            Some((a, b)) => a.trim().parse::<usize>().ok().zip(b.trim().parse::<usize>().ok()),
            None => wanted.parse::<usize>().ok().map(|i| (i, i)),
        };
        if let Some((from, to)) = range {
            if from >= 1 && from <= to && to <= frame.width() {
                return Ok((from - 1..to).collect());
            }
            return Err(self.error(frame, format!("does not exist; the columns are 1 to {}", frame.width())));
        }
        let problem = if frame.has_header() {
            match close_names(wanted, frame.names()).as_slice() {
                [] => format!("does not exist; the columns are {}", listed(frame.names())),
                close => format!("does not exist; did you mean {}?", close.join(" or ")),
            }
        } else {
            format!(
                "does not exist: the file names no columns; give a number from 1 to {}, or --header yes if its first line names \
                 them",
                frame.width()
            )
        };
        Err(self.error(frame, problem))
    }

    fn error(&self, frame: &Frame, problem: String) -> DataError {
        DataError::Column { path: frame.source.clone(), column: format!("\"{}\"", excerpt(&self.0)), problem }
    }
}

/// The columns that several references mean, in order; a repeated column is an error.
pub(crate) fn resolve_all(frame: &Frame, refs: &[ColumnRef]) -> Result<Vec<usize>> {
    let mut columns = Vec::new();
    for r in refs {
        for column in r.resolve(frame)? {
            if columns.contains(&column) {
                return Err(frame.column_error(column, "is named twice"));
            }
            columns.push(column);
        }
    }
    Ok(columns)
}

/// The first few names, quoted.
pub(crate) fn listed(names: &[String]) -> String {
    let mut shown: Vec<String> = names.iter().take(8).map(|n| format!("\"{}\"", excerpt(n))).collect();
    if names.len() > 8 {
        shown.push(format!("… ({} in all)", names.len()));
    }
    shown.join(", ")
}

/// Up to three names, the closest first, within an edit distance of a third of the letters of `wanted` (at least 1),
/// ignoring case.
pub(crate) fn close_names(wanted: &str, names: &[String]) -> Vec<String> {
    let lower = wanted.to_lowercase();
    let allowed = (lower.chars().count() / 3).max(1);
    let mut close: Vec<(usize, &String)> = names
        .iter()
        .filter(|n| n.chars().count().abs_diff(lower.chars().count()) <= allowed)
        .map(|n| (distance(&lower, &n.to_lowercase()), n))
        .filter(|(d, _)| *d <= allowed)
        .collect();
    close.sort_by_key(|(d, _)| *d);
    close.into_iter().take(3).map(|(_, n)| format!("\"{}\"", excerpt(n))).collect()
}

/// The Levenshtein distance by dynamic programming (Wagner and Fischer, J. ACM 21(1), 1974), in one row of memory.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_insertions_deletions_and_changes() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }
}
