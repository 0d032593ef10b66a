//! The similarity that is clustered: the factored kernel, a sparse graph, or a user-supplied operator.
//!
//! Every affinity is symmetric and non-negative. [`SimilarityOperator`] provides what every solver needs: degrees,
//! products with a block of vectors, single columns, submatrices, connected components, the constant part and a bound
//! of the spectrum. [`Affinity`] is an enum over the three kinds, so that solvers can exploit their structure:
//! aggregation hierarchies of graphs, tree leaves of the kernel.

mod linear;
mod paper;
mod precomputed;
mod sparse;
mod submatrix;
mod top_k;
mod transform;

use std::borrow::Cow;
use std::ops::Deref;

pub use linear::LinearAffinity;
pub use submatrix::Submatrix;
pub use transform::Diagonal;
pub(crate) use transform::{exponential, powers};

use crate::error::Result;
pub use crate::graph::{Components, SparseAffinity, Weights};
use crate::observe::Observer;

/// A symmetric, non-negative similarity matrix over `n` points, given by its products.
///
/// Results must have the same bits for any number of threads: every sum runs in one fixed order. Methods with an
/// observer return [`Error::Cancelled`](crate::Error::Cancelled) when it cancels.
pub trait SimilarityOperator: Sync {
    /// Number of points.
    fn n(&self) -> usize;

    /// Row sums.
    fn degrees(&self, observer: &dyn Observer) -> Result<Vec<f64>>;

    /// `y = A x` for `b` vectors at once; `x` and `y` are n x b, row-major.
    fn apply(&self, x: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) -> Result<()>;

    /// Writes column `j` to `out` (length n).
    fn column(&self, j: usize, out: &mut [f64], observer: &dyn Observer) -> Result<()>;

    /// The connected components, or `None` when the matrix is known to be connected.
    fn components(&self, observer: &dyn Observer) -> Result<Option<Components>>;

    /// The constant part of the similarity of every pair.
    fn constant(&self) -> f64 {
        0.0
    }

    /// A lower bound of the eigenvalues of `D^-1/2 A D^-1/2`: 0 for a positive semi-definite similarity, -1 for any.
    /// The closer the bound, the fewer iterations the block solver needs.
    fn lower_bound(&self, _observer: &dyn Observer) -> Result<f64> {
        Ok(-1.0)
    }

    /// The principal submatrix of these rows (ascending, no repeats). [`Submatrix`] suits an operator that has no
    /// entries to copy.
    fn submatrix(&self, rows: &[u32], observer: &dyn Observer) -> Result<Affinity<'_>>;
}

/// The similarity that is clustered, owned or borrowed. Its operations are those of [`SimilarityOperator`].
///
/// ```
/// use rpfcluster::Silent;
/// use rpfcluster::affinity::{Affinity, SparseAffinity};
/// let graph = SparseAffinity::precomputed_dense(&[1.0, 0.5, 0.5, 1.0], 2, &Silent)?;
/// let affinity = Affinity::from(&graph);
/// assert_eq!(affinity.degrees(&Silent)?, [1.5, 1.5]);
/// # Ok::<(), rpfcluster::Error>(())
/// ```
pub enum Affinity<'a> {
    /// The rpf-kernel S, factored through the leaves.
    Kernel(LinearAffinity),
    /// Stored pairs and a constant.
    Graph(Cow<'a, SparseAffinity>),
    /// An operator known by its products alone.
    Operator(Box<dyn SimilarityOperator + 'a>),
}

impl<'a> Affinity<'a> {
    /// Any operator, owned or borrowed.
    pub fn operator(operator: impl SimilarityOperator + 'a) -> Self {
        Affinity::Operator(Box::new(operator))
    }
}

impl<'a> Deref for Affinity<'a> {
    type Target = dyn SimilarityOperator + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Affinity::Kernel(kernel) => kernel,
            Affinity::Graph(graph) => graph.as_ref(),
            Affinity::Operator(operator) => operator.as_ref(),
        }
    }
}

impl<'a, 'b: 'a> From<&'a Affinity<'b>> for Affinity<'a> {
    fn from(affinity: &'a Affinity<'b>) -> Self {
        match affinity {
            Affinity::Kernel(kernel) => Affinity::Kernel(kernel.clone()),
            Affinity::Graph(graph) => Affinity::Graph(Cow::Borrowed(graph)),
            Affinity::Operator(operator) => Affinity::operator(operator.as_ref()),
        }
    }
}

impl<'a> From<&'a SparseAffinity> for Affinity<'a> {
    fn from(graph: &'a SparseAffinity) -> Self {
        Affinity::Graph(Cow::Borrowed(graph))
    }
}

impl From<SparseAffinity> for Affinity<'_> {
    fn from(graph: SparseAffinity) -> Self {
        Affinity::Graph(Cow::Owned(graph))
    }
}

impl From<&LinearAffinity> for Affinity<'_> {
    fn from(kernel: &LinearAffinity) -> Self {
        Affinity::Kernel(kernel.clone())
    }
}

impl From<LinearAffinity> for Affinity<'_> {
    fn from(kernel: LinearAffinity) -> Self {
        Affinity::Kernel(kernel)
    }
}

impl<T: SimilarityOperator + ?Sized> SimilarityOperator for &T {
    fn n(&self) -> usize {
        (**self).n()
    }

    fn degrees(&self, observer: &dyn Observer) -> Result<Vec<f64>> {
        (**self).degrees(observer)
    }

    fn apply(&self, x: &[f64], y: &mut [f64], b: usize, observer: &dyn Observer) -> Result<()> {
        (**self).apply(x, y, b, observer)
    }

    fn column(&self, j: usize, out: &mut [f64], observer: &dyn Observer) -> Result<()> {
        (**self).column(j, out, observer)
    }

    fn components(&self, observer: &dyn Observer) -> Result<Option<Components>> {
        (**self).components(observer)
    }

    fn constant(&self) -> f64 {
        (**self).constant()
    }

    fn lower_bound(&self, observer: &dyn Observer) -> Result<f64> {
        (**self).lower_bound(observer)
    }

    fn submatrix(&self, rows: &[u32], observer: &dyn Observer) -> Result<Affinity<'_>> {
        (**self).submatrix(rows, observer)
    }
}
