//! Choosing what the user did not: affinity and its numbers, min_node, K, the number of trees. No labels are used.
//!
//! One forest is grown, at the smallest min_node of interest; every larger one and both halves of the forest come
//! for nothing. Each setting of a small grid gives a partition, and the one that the others agree with most (root mean
//! square of the adjusted Rand index) is taken: settings fail in different ways, so what many of them find is more
//! likely there than what one of them finds. It is then run once more as if it had been given. How stable it is, two halves of
//! the forest being two independent kernels of the same points, is measured for the winner and reported; where the halves
//! find next to nothing of it, agreement was chance, and the most stable setting is taken instead.
//!
//! `candidates` the grid, `choose` the scores, `clusters` K, `trees` T, `confidence` how firmly each point is where it
//! is, `partitions` other numbers of clusters to look at.

mod candidates;
mod clusters;
mod confidence;
mod partitions;
mod score;
mod trees;

pub(crate) use clusters::choose_k;
pub use clusters::{KCandidate, KChoice};
pub(crate) use confidence::confidence;
pub use partitions::{Partition, Recipe, partitions};
pub(crate) use score::choose;
pub use score::{Candidate, Choice};
pub(crate) use trees::choose_trees;
pub use trees::{TreesChoice, TreesTried};

/// Above this many rows settings are tried on a sample.
pub const SAMPLE_ABOVE: usize = 100_000;
/// Rows of that sample.
pub const SAMPLE: usize = 20_000;
/// The forest that settings are tried on is grown at the first; `paper`, when asked for, is tried at both.
pub const MIN_NODES: [usize; 2] = [24, 60];
