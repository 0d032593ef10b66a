//! Charts of `rpf plot` and `rpf sweep`, from results in memory or from printed JSON.

pub mod bars;
pub mod sweep_map;
