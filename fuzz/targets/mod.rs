//! What the fuzz targets do with their bytes. A target panics when a property does not hold; an error that the library
//! returns is a fine outcome.

mod algorithms;
mod archive;
mod models;
mod readers;
mod workbook;

pub use readers::MEMORY;

/// A name, and what is done with the bytes.
type Target = (&'static str, fn(&[u8]));

/// All targets but those of the command line.
pub const TARGETS: [Target; 15] = [
    ("text", readers::text),
    ("npy", readers::npy),
    ("npz", readers::npz),
    ("mtx", readers::mtx),
    ("parquet", readers::parquet),
    ("arrow", readers::arrow),
    ("json", readers::json),
    ("workbook", workbook::workbook),
    ("gzip", readers::gzip),
    ("labels", readers::labels),
    ("similarity", readers::similarity),
    ("model", models::model),
    ("forest", algorithms::forest),
    ("graph", algorithms::graph),
    ("quantized", algorithms::quantized),
];

/// Runs the target of this name.
pub fn run(name: &str, bytes: &[u8]) {
    match TARGETS.iter().find(|(target, _)| *target == name) {
        Some((_, target)) => target(bytes),
        None => panic!("there is no target {name}"),
    }
}
