//! Selection of what the user left open, without labels: affinity and its numbers, min_node, K, the number of trees.
//!
//! Settings are selected by prediction strength on halves of a sample of the rows: the default setting is kept unless one of
//! another family is reproduced far better. `candidates` has the families, `score` the rule, `clusters` selects K by
//! `evidence`, `trees` selects T. The fit is passed in as a closure: this module knows the parameters, not the pipeline.

mod candidates;
mod clusters;
mod evidence;
mod score;
mod trees;

pub(crate) use candidates::families;
pub use clusters::KChoice;
pub(crate) use clusters::{K_SAMPLE_ROWS, choose_k};
pub(crate) use evidence::KEvidence;
pub use evidence::{KCandidate, numbers_of_clusters};
pub(crate) use score::choose;
pub use score::{Candidate, Choice};
pub(crate) use trees::choose_trees;
pub use trees::{TreesChoice, TreesTried};
