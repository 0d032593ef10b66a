//! Files that commands write and read: labels, kernels, model files and the report page.

pub mod command_line;
pub mod kernel;
pub mod labels;
pub mod model;
pub mod report;
pub mod table;
