//! Fisher's Iris data, embedded, so that the demonstration needs no file.
//!
//! These are the measurements of Fisher's own table (Annals of Eugenics 7(2), 1936), as R and scikit-learn have them.
//! The UCI repository's copy differs in rows 35 (petal width 0.1 instead of 0.2) and 38 (sepal width 3.1 instead of
//! 3.6, petal length 1.5 instead of 1.4).

use crate::error::Result;
use crate::prepare::{Preparation, Prepare};
use crate::read::{Format, ReadOptions, read_frame_bytes};
use crate::table::Table;

const CSV: &[u8] = include_bytes!("../data/iris.csv");

/// 150 flowers, 4 measurements in centimetres, 3 species; and the preparation, which changes nothing.
pub fn iris() -> Result<(Table, Preparation)> {
    let options = ReadOptions { format: Some(Format::Text), header: Some(true), ..Default::default() };
    let frame = read_frame_bytes(CSV.to_vec(), "iris", &options)?;
    let prepare = Prepare { label: Some("species".into()), ..Prepare::default() };
    prepare.fit(frame)
}
