//! The error type of the crate: an error of the library, a picture that cannot be drawn, or data that cannot be
//! serialised.

/// Why there is no report or no figure.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the library, [`rpfcluster::Error::Cancelled`] included.
    #[error(transparent)]
    Library(#[from] rpfcluster::Error),
    /// A picture could not be drawn.
    #[error("the {what} cannot be drawn: {problem}")]
    Picture {
        /// Which picture.
        what: &'static str,
        /// Why.
        problem: String,
    },
    /// The data of the page could not be serialised.
    #[error("the report cannot be written: {0}")]
    Data(#[from] serde_json::Error),
}

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;
