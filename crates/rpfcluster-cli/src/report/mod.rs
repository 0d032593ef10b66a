//! Pictures and pages for people.

pub mod heatmap;
