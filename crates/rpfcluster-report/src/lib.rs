//! A clustering to look at: one page that needs nothing else, and figures for papers.
//!
//! `subject` is what a report is made of, `model` what it says, `build` computes the one from the other, `page` renders
//! it. `figures` draws single figures, `draw` holds what all pictures share, `files` turns figures into files whose
//! letters are outlined, .png and .pdf among them (feature `files`).

mod build;
mod draw;
mod error;
pub mod figures;
#[cfg(feature = "files")]
pub mod files;
pub mod model;
mod page;
mod subject;

pub use build::build;
pub use draw::{Ink, colour, escaped, number};
pub use error::{Error, Result};
pub use model::Report;
pub use page::html;
pub use subject::{Again, Basis, Classes, Columns, Pairs, Subject, parameters, word};
