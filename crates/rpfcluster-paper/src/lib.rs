//! The paper's experiments.

pub mod compare;
pub mod reproduce;
pub mod rivals;
pub mod sweep;
