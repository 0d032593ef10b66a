//! Selection of what the user left open, without labels: affinity and its numbers, min_node, K, the number of trees.
//!
//! Settings are selected by consensus in a cluster ensemble (Strehl and Ghosh, JMLR 3, 2002): every setting of a small
//! grid is fitted on one forest, and the partition that agrees most with the others (root mean square of the adjusted
//! Rand index) wins. Settings fail in different ways, so what many of them find is more likely to be there. Two halves
//! of the forest are two independent kernels of the same rows; the agreement of their partitions, the stability, is
//! reported for the winner and decides where the consensus is accidental.
//!
//! `candidates` is the grid, `score` the consensus, `clusters` selects K by `evidence`, `trees` selects T. The fit is passed in as a
//! closure: this module knows the parameters, not the pipeline.

mod candidates;
mod clusters;
mod evidence;
mod score;
mod trees;

pub(crate) use candidates::settings;
pub use clusters::KChoice;
pub(crate) use clusters::choose_k;
pub(crate) use evidence::KEvidence;
pub use evidence::{KCandidate, numbers_of_clusters};
pub(crate) use score::choose;
pub use score::{Candidate, Choice};
pub(crate) use trees::choose_trees;
pub use trees::{TreesChoice, TreesTried};

/// Above this many rows, settings are tried on a sample, whose fits cost little beside that of all rows.
pub(crate) const SAMPLE_ABOVE: usize = 100_000;
/// Rows of that sample.
pub(crate) const SAMPLE: usize = 20_000;
/// Values of `min_node`, in rows. The trial forest is grown at the first; `paper`, when given, is tried at both.
pub(crate) const MIN_NODES: [usize; 2] = [24, 60];
