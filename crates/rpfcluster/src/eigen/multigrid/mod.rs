//! Aggregation multigrid on similarity graphs: start vectors by nested iteration, with LOBPCG on every level,
//! preconditioned by a V-cycle.
//!
//! `hierarchy` coarsens the graph and runs the nested iteration, `lobpcg` refines the vectors of a level, `v_cycle` is
//! the preconditioner, `isolated_groups` supplies extra start vectors.
//!
//! References: Brandt, Multi-level adaptive solutions (1977); Notay, ETNA 37 (2010); Livne and Brandt, LAMG, SIAM J.
//! Sci. Comput. 34(4) (2012); Knyazev, LOBPCG, SIAM J. Sci. Comput. 23(2) (2001).

mod hierarchy;
mod isolated_groups;
mod lobpcg;
mod v_cycle;

pub(crate) use hierarchy::initial_block;
