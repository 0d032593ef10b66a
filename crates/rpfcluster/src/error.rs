//! The error type of the library. Messages name the offending value and the accepted range.

/// An error of the library. Each message is one sentence that states the problem and what is accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The buffer does not hold n × d values.
    #[error("{len} values do not make {n} rows of {d} columns")]
    Shape {
        /// Values given.
        len: usize,
        /// Rows requested.
        n: usize,
        /// Columns requested.
        d: usize,
    },
    /// No rows or no columns.
    #[error("the data has {n} rows and {d} columns; at least one of each is needed")]
    Empty {
        /// Rows.
        n: usize,
        /// Columns.
        d: usize,
    },
    /// A NaN or an infinity.
    #[error("row {row}, column {column} is {value}; every value must be finite")]
    NotFinite {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A column without a value, which has no mean.
    #[error("column {column} has no value; leave it out")]
    NoValue {
        /// Column, from 1.
        column: usize,
    },
    /// Rows with gaps for a model that has no node means.
    #[error("the data has missing values, but the model was fitted without `missing` native")]
    Gaps,
    /// More rows than 32-bit row indices address.
    #[error("{n} rows exceed the limit of {limit}")]
    TooManyRows {
        /// Rows given.
        n: usize,
        /// Rows allowed.
        limit: usize,
    },
    /// More columns than 32-bit column indices address.
    #[error("{d} columns exceed the limit of {limit}")]
    TooManyColumns {
        /// Columns given.
        d: usize,
        /// Columns allowed.
        limit: usize,
    },
    /// A parameter out of its range.
    #[error("{name} is {value}, but must be {expected}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The value given.
        value: String,
        /// The accepted values.
        expected: String,
    },
    /// A parameter that was set but has no effect beside another one.
    #[error("{name} applies only to {parameter} {needs}, but the {parameter} is {value}")]
    DoesNotApply {
        /// The parameter that was set.
        name: &'static str,
        /// The parameter that decides whether it applies.
        parameter: &'static str,
        /// The value of `parameter` that `name` belongs to.
        needs: &'static str,
        /// The value `parameter` has.
        value: &'static str,
    },
    /// New points have another number of columns than the fitted ones.
    #[error("the data has {got} columns, but the model was fitted on {expected}")]
    Columns {
        /// Columns of the new data.
        got: usize,
        /// Columns of the model.
        expected: usize,
    },
    /// Two arguments that must have the same length do not.
    #[error("{what}: {got} given, {expected} needed")]
    Length {
        /// Which argument.
        what: &'static str,
        /// Length given.
        got: usize,
        /// Length needed.
        expected: usize,
    },
    /// More clusters than there are distinct points.
    #[error("k is {k}, but there are only {distinct} distinct point{}", plural(*distinct))]
    TooManyClusters {
        /// Clusters requested.
        k: usize,
        /// Distinct points.
        distinct: usize,
    },
    /// More clusters than there are groups of rows that share all their leaves.
    #[error(
        "k is {k}, but the trees tell only {groups} group{} of rows apart: rows are equal, trees are few or min_node is large",
        plural(*groups)
    )]
    Inseparable {
        /// Clusters requested.
        k: usize,
        /// Groups of rows that share their leaf in every tree.
        groups: usize,
    },
    /// A matrix that is not a similarity matrix.
    #[error("the similarity matrix {problem}")]
    Similarity {
        /// The problem, naming the entry.
        problem: String,
    },
    /// Bytes that are not a readable model.
    #[error("the model {problem}")]
    Model {
        /// The problem.
        problem: String,
    },
    /// The work needs more memory than allowed.
    #[error("{what} needs about {needed} bytes, but the limit is {limit}; {remedy}")]
    Memory {
        /// The step.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
        /// What to change.
        remedy: String,
    },
    /// A decomposition failed.
    #[error("the {what} failed: {problem}")]
    Numerical {
        /// The computation.
        what: &'static str,
        /// The problem.
        problem: String,
    },
    /// The operating system refused a request (threads, a file).
    #[error("{what}: {problem}")]
    System {
        /// What was attempted.
        what: String,
        /// The message of the system.
        problem: String,
    },
    /// The observer cancelled the work.
    #[error("cancelled")]
    Cancelled,
}

/// A result of the library.
pub type Result<T> = std::result::Result<T, Error>;

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Builds an [`Error::Parameter`].
pub(crate) fn parameter(
    name: &'static str,
    value: impl std::fmt::Display,
    expected: impl Into<String>,
) -> Error {
    Error::Parameter { name, value: value.to_string(), expected: expected.into() }
}

/// Builds an [`Error::Model`] for a file whose content contradicts itself.
pub(crate) fn damaged(problem: impl std::fmt::Display) -> Error {
    Error::Model { problem: format!("is damaged: {problem}") }
}
