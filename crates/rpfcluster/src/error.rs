//! Everything that can go wrong in the library: one enum, messages with the value and the limit.

/// An error of the library. Each message is one sentence that says what was wrong and what would do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The buffer does not hold n x d values.
    #[error("{len} values do not make {n} rows of {d} columns")]
    Shape {
        /// How many values there were.
        len: usize,
        /// Rows asked for.
        n: usize,
        /// Columns asked for.
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
        /// 1-based row.
        row: usize,
        /// 1-based column.
        column: usize,
        /// What stood there.
        value: f64,
    },
    /// More rows than 32-bit row numbers hold.
    #[error("{n} rows are more than this version takes ({limit})")]
    TooManyRows {
        /// Rows given.
        n: usize,
        /// Rows allowed.
        limit: usize,
    },
    /// More columns than 32-bit column numbers hold.
    #[error("{d} columns are more than this version takes ({limit})")]
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
        /// What would do.
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
    /// Two things that must go together have different lengths.
    #[error("{what}: {got} given, {expected} needed")]
    Length {
        /// What was measured.
        what: &'static str,
        /// Length given.
        got: usize,
        /// Length needed.
        expected: usize,
    },
    /// More clusters than there are distinct points.
    #[error("k is {k}, but there are only {distinct} distinct points")]
    TooManyClusters {
        /// Clusters asked for.
        k: usize,
        /// Distinct points.
        distinct: usize,
    },
    /// A similarity matrix that is not one.
    #[error("the similarity matrix {problem}")]
    Similarity {
        /// What is wrong, naming the entry.
        problem: String,
    },
    /// A model's bytes that cannot be read.
    #[error("the model {problem}")]
    Model {
        /// What is wrong.
        problem: String,
    },
    /// The work would need more memory than allowed.
    #[error("{what} needs about {needed} bytes, but the limit is {limit}; {remedy}")]
    Memory {
        /// Which step.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
        /// What to change.
        remedy: String,
    },
    /// A decomposition did not succeed.
    #[error("the {what} failed: {problem}")]
    Numerical {
        /// Which computation.
        what: &'static str,
        /// What happened.
        problem: String,
    },
    /// The system refused something (threads, a file).
    #[error("{what}: {problem}")]
    System {
        /// What was attempted.
        what: String,
        /// The system's words.
        problem: String,
    },
    /// The observer asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;

/// A [`Error::Parameter`] in one line.
pub(crate) fn parameter(
    name: &'static str,
    value: impl std::fmt::Display,
    expected: impl Into<String>,
) -> Error {
    Error::Parameter { name, value: value.to_string(), expected: expected.into() }
}
