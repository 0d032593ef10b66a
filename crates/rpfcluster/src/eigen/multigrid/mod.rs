//! Aggregation multigrid on similarity graphs.

mod hierarchy;
mod isolated_groups;
mod lobpcg;
mod v_cycle;

pub(crate) use hierarchy::start;
