//! What the spectral step needs to know of a similarity, and nothing more.
//!
//! Every affinity is symmetric and non-negative. The spectral code never sees which one it works on: it asks for
//! degrees, for products with a block of vectors, and (Nystrom, small dense problems) for single columns.

mod cancellable;
mod linear;
mod paper;
mod precomputed;
mod sparse;
mod submatrix;
mod top_k;
mod transform;

pub use linear::LinearAffinity;
pub use submatrix::Masked;
pub use transform::Diagonal;
pub(crate) use transform::{exponential, powers};

pub use crate::graph::{Components, SparseAffinity, Weights};
use crate::kernel::LeafMatrix;
use crate::observe::Observer;

/// A symmetric, non-negative similarity over `n` points.
///
/// All results must be the same bits for any number of threads: a sum runs in one fixed order.
pub trait Affinity: Sync {
    /// Number of points.
    fn n(&self) -> usize;

    /// Row sums.
    fn degrees(&self) -> Vec<f64>;

    /// `y = A x` for `b` vectors at once; `x` and `y` are n x b, row-major.
    fn apply(&self, x: &[f64], y: &mut [f64], b: usize);

    /// Column `j` in full, into `out` (length n).
    fn column(&self, j: usize, out: &mut [f64]);

    /// The connected components, or `None` when the graph cannot fall apart (a positive constant everywhere).
    fn components(&self) -> Option<Components>;

    /// The constant that every pair of points has at least (a row that sees nothing more of a landmark does not
    /// see it at all).
    fn constant(&self) -> f64 {
        0.0
    }

    /// A lower bound of the eigenvalues of `D^-1/2 A D^-1/2`; -1 always is one, 0 for a positive semi-definite
    /// similarity. The closer, the fewer iterations the eigen-solver needs.
    fn lower_bound(&self) -> f64 {
        -1.0
    }

    /// The graph itself when it is one of each row's strongest neighbours: the similarities it was weighted by can then be
    /// asked as well. `None` for all others.
    fn neighbor_graph(&self) -> Option<&SparseAffinity> {
        None
    }

    /// The similarity among these rows only (ascending, no repeats). The default masks the whole; an affinity that
    /// can really be cut out should be.
    fn restrict<'a>(&'a self, rows: &[u32]) -> Box<dyn Affinity + 'a>;

    /// The same similarity with the rows in another order, for affinities whose products are the faster the nearer
    /// neighbours lie to each other in memory. `None` for all others.
    fn in_order<'a>(&'a self, order: &[u32]) -> Option<Box<dyn Affinity + 'a>> {
        let _ = order;
        None
    }

    /// The graph itself when the similarity is nothing but its stored pairs: the eigen-solver can then begin at a smaller
    /// one. `None` for all others.
    fn graph(&self) -> Option<&SparseAffinity> {
        None
    }

    /// The leaves when the similarity is their kernel itself: a sample of rows then has nearly the same eigenvectors.
    /// `None` for all others.
    fn kernel(&self) -> Option<&LeafMatrix> {
        None
    }

    /// The same similarity, but work is left out once `observer` wants to stop: what it then returns means nothing,
    /// and the observer must be asked before it is used. `None` when nothing here takes long.
    fn watched<'a>(&'a self, observer: &'a dyn Observer) -> Option<Box<dyn Affinity + 'a>> {
        let _ = observer;
        None
    }
}
