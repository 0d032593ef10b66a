//! The error type. A message is one sentence that names the file, the row, the column and a remedy where they apply.

use std::fmt;
use std::path::Path;

/// An error of the data crate. Each message is one sentence.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system reported an error.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: String,
        /// The system's message.
        problem: String,
    },
    /// The file as a whole cannot be read.
    #[error("{path}: {problem}")]
    Format {
        /// The file.
        path: String,
        /// What is wrong and how to fix it.
        problem: String,
    },
    /// A row cannot be read.
    #[error("{path}: {row}: {problem}")]
    Row {
        /// The file.
        path: String,
        /// Where.
        row: Place,
        /// What is wrong.
        problem: String,
    },
    /// A cell cannot be used.
    #[error("{path}: {row}, column {column}: {problem}")]
    Cell {
        /// The file.
        path: String,
        /// Where.
        row: Place,
        /// The column's number and name.
        column: String,
        /// What is wrong and how to fix it.
        problem: String,
    },
    /// A column cannot be used or does not exist.
    #[error("{path}: column {column} {problem}")]
    Column {
        /// The file.
        path: String,
        /// The column's number and name, or the reference to it.
        column: String,
        /// What is wrong and how to fix it.
        problem: String,
    },
    /// The options contradict each other or the data.
    #[error("{name} {problem}")]
    Option {
        /// The option or its value.
        name: String,
        /// What is wrong and how to fix it.
        problem: String,
    },
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, DataError>;

/// A row of a file: its number among the data rows and, in a text file, its line. Both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Number among the data rows, as in a labels file.
    pub row: usize,
    /// Line of the text file; the same as `row` where there are no lines.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.row == self.line {
            write!(f, "row {}", self.row)
        } else {
            write!(f, "row {} (line {})", self.row, self.line)
        }
    }
}

/// A [`DataError::File`] from an error of the operating system.
pub(crate) fn file(path: impl AsRef<Path>, problem: &std::io::Error) -> DataError {
    let problem = match problem.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => problem.to_string(),
    };
    DataError::File { path: path.as_ref().display().to_string(), problem }
}

/// A [`DataError::Format`].
pub(crate) fn format(path: &str, problem: impl Into<String>) -> DataError {
    DataError::Format { path: path.to_string(), problem: problem.into() }
}

/// At most 40 characters of a name or cell, safe to print in one line.
pub(crate) fn excerpt(cell: &str) -> String {
    rpfcluster::printable::excerpt(cell, 40)
}

/// At most 160 characters of what another crate says of a file: it may quote the file.
pub(crate) fn shortened(problem: &impl fmt::Display) -> String {
    rpfcluster::printable::excerpt(&problem.to_string(), 160)
}

/// `1 column`, `2 columns`.
pub(crate) fn counted(many: usize, what: &str) -> String {
    format!("{many} {what}{}", if many == 1 { "" } else { "s" })
}

/// The message for a row of `got` cells among rows of `width` cells.
pub(crate) fn ragged(got: usize, width: usize) -> String {
    format!("{}, but the rows above have {width}", counted(got, "cell"))
}
