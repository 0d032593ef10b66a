//! Data for rpfcluster: readers (one file a format), preparation, the paper's data sets, made-up shapes, writers.
//!
//! A file becomes a [`Frame`] (every column, gaps and text included), a [`Prepare`] makes a [`Table`] of finite
//! numbers of it, and what it learned on the way is a [`Preparation`] for the next file.

mod error;
mod frame;
mod iris;
mod prepare;
mod read;
mod select;
mod table;

pub mod catalog;
pub mod shapes;
pub mod write;

pub use error::{DataError, Place, Result};
pub use frame::Frame;
pub use iris::iris;
pub use prepare::{Missing, Preparation, Prepare, Standardize};
pub use read::{
    Format, ReadOptions, RowLabels, Similarity, read_frame, read_frame_bytes, read_labels, read_labels_bytes,
    read_similarity, read_similarity_bytes,
};
pub use select::ColumnRef;
pub use table::{Labels, ScaleHint, Table, Values};
