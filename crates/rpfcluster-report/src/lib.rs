//! Reports and figures of a clustering: one HTML page that needs no other file, and figures for papers.
//!
//! `clustering` is the result to show and `subject` the input of a report; `build` computes its content, `model`, and
//! `page` renders it. `figures` draws single figures as SVG, `draw` holds what all pictures share, and `files` writes
//! figures as SVG with text as outlines, PNG and PDF (feature `files`).

mod build;
mod clustering;
mod draw;
mod error;
pub mod figures;
#[cfg(feature = "files")]
pub mod files;
pub mod model;
mod page;
mod subject;

pub use build::build;
pub use clustering::{Clustering, MatrixClustering, affinity_in_words, word};
pub use draw::{Ink, colour, escaped, number};
pub use error::{Error, Result};
pub use model::Report;
pub use page::html;
pub use subject::{Again, Classes, ColumnScaling, Columns, Subject};
