//! Data for rpfcluster: readers and writers (one module per format), preparation, the data sets of the paper (Yan, Gu,
//! Xu and Qin, "Similarity Kernel and Clustering via Random Projection Forests"), and synthetic shapes.
//!
//! A file is read into a [`Frame`]: every column, missing cells and text included. A [`Prepare`] turns the frame into a
//! [`Table`] of finite numbers and returns a [`Preparation`], which applies the same steps to the next file. Label
//! files become [`RowLabels`], similarity matrices a [`Similarity`].
//!
//! The cargo features `arrow` (reads Arrow and Feather) and `parquet` (reads and writes Parquet) are on by default.

mod categories;
mod column_match;
mod column_ref;
mod error;
mod frame;
mod iris;
mod memory;
mod prepare;
mod read;
mod refusal;
mod scaling;
mod table;

pub mod catalog;
pub mod shapes;
pub mod write;

pub use categories::Category;
pub use column_match::Selection;
pub use column_ref::ColumnRef;
pub use error::{DataError, Place, Result};
pub use frame::Frame;
pub use iris::iris;
pub use memory::{MemoryLimit, byte_size, check_reading, memory_limit};
pub use prepare::{Missing, Preparation, Prepare, Standardize};
pub use read::{
    Batch, Batches, Decimal, Delimiter, Dialect, Format, ReadOptions, RowLabels, Similarity, read_batches,
    read_batches_bytes, read_bytes, read_frame, read_frame_bytes, read_labels, read_labels_bytes,
    read_similarity, read_similarity_bytes,
};
pub use table::{Labels, ScaleHint, Table, Values};
