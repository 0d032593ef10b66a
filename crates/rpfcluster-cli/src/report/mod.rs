//! Pictures and pages for people: `model` what a report says, `build` made from a clustering, `page` rendered.

mod build;
mod command;
pub mod heatmap;
mod model;
mod page;
mod plots;
mod view;

use std::io::Write;
use std::path::Path;

pub use build::build;
pub use command::command_line;
pub use model::Report;

use crate::exit::Outcome;
use crate::output;

/// Writes the page, whole or not at all.
pub fn save(path: &Path, report: &Report) -> Outcome {
    let page = page::html(report)?;
    output::to_file(path, |out| out.write_all(page.as_bytes()))
}
