//! One error enum: what can go wrong between a clustering and its page.

/// Why there is no report or no figure.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library said no; [`rpfcluster::Error::Cancelled`] comes this way too.
    #[error(transparent)]
    Library(#[from] rpfcluster::Error),
    /// A picture could not be made.
    #[error("the {what} cannot be drawn: {problem}")]
    Picture {
        /// Which.
        what: &'static str,
        /// Why.
        problem: String,
    },
    /// The page's data could not be written down.
    #[error("the report cannot be written: {0}")]
    Data(#[from] serde_json::Error),
}

/// What everything here returns.
pub type Result<T> = std::result::Result<T, Error>;
