//! Spectral embedding: the largest eigenpairs of the normalised affinity `D^-1/2 A D^-1/2`.
//!
//! [`embed`] chooses a solver: dense for few points; a filtered block Krylov method for many, started by
//! aggregation multigrid on a graph and by a sample of rows on the kernel; the Nyström approximation on request. Each
//! connected component is solved on its own, since the spectrum of a disconnected graph is the union of the spectra of
//! its components.

mod block_krylov;
mod chebyshev;
mod dense;
mod multigrid;
mod nystrom;
mod operator;
mod orthonormal;
mod params;
mod per_component;
mod sampled_start;
mod sign;
mod tall_skinny;
mod tridiagonal;

pub(crate) use block_krylov::StartVectors;
use block_krylov::{EigenRequest, InitialBlock};
pub(crate) use dense::{SymmetricEigen, symmetric};
pub(crate) use operator::NormalizedAffinity;
pub(crate) use orthonormal::{RandomColumns, orthonormalise};

use crate::affinity::Affinity;
use crate::error::{Error, Result};
use crate::graph::Components;
use crate::observe::{Observer, Stage, StageGuard};

pub use params::{Method, Quality, Solver, SpectralParams};
pub use sign::fix_signs;
pub(crate) use tall_skinny::{Block, gram, rotate};

/// Largest memory of the dense solver, in bytes: four matrices of 16,384 rows.
const DENSE_LIMIT: u64 = 8 << 30;

/// The largest eigenpairs, as every solver returns them.
pub(crate) struct Eigenpairs {
    pub values: Vec<f64>,
    /// n x values.len(), row-major.
    pub vectors: Vec<f64>,
    /// The largest `|N u - λ u|`.
    pub residual: f64,
    pub converged: bool,
    /// Products with the operator.
    pub iterations: usize,
    /// Nyström: the share of rows without similarity to any landmark.
    pub uncovered: f64,
}

/// Eigenpairs, the degrees that normalise them, and the solver that was used.
pub(crate) struct Solution {
    pub pairs: Eigenpairs,
    pub degrees: Vec<f64>,
    pub solver: Solver,
}

/// The largest eigenpairs of an affinity and how they were computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// The K largest eigenvalues of the normalised affinity, the largest first.
    pub eigenvalues: Vec<f64>,
    /// Their eigenvectors, n x K row-major, orthonormal, with fixed signs.
    pub vectors: Vec<f64>,
    /// Row sums of the affinity.
    pub degrees: Vec<f64>,
    /// The largest `|N u - λ u|`; 0 for Nyström, which solves its approximation exactly.
    pub residual: f64,
    /// Whether every pair reached the tolerance.
    pub converged: bool,
    /// Products with the normalised affinity, summed over the components.
    pub iterations: usize,
    /// The solver of the largest component, never `Auto`.
    pub solver: Solver,
    /// Nyström: the share of rows without similarity to any landmark; 0 for other solvers.
    pub uncovered: f64,
    /// The connected component of each point; all zero for a connected graph.
    pub component_of: Vec<u32>,
    /// The columns of each component; they are zero outside it.
    pub columns: Vec<Vec<usize>>,
}

impl Embedding {
    /// Number of points.
    pub fn n(&self) -> usize {
        self.degrees.len()
    }

    /// Number of columns.
    pub fn k(&self) -> usize {
        self.eigenvalues.len()
    }

    /// The first `k` columns: the embedding for k clusters of a connected graph.
    pub fn first(&self, k: usize) -> Embedding {
        let k = k.min(self.k());
        Embedding {
            eigenvalues: self.eigenvalues[..k].to_vec(),
            vectors: (0..self.n()).flat_map(|i| &self.row(i)[..k]).copied().collect(),
            columns: self.columns.iter().map(|c| c.iter().copied().filter(|at| *at < k).collect()).collect(),
            degrees: self.degrees.clone(),
            component_of: self.component_of.clone(),
            ..*self
        }
    }

    /// Coordinates by the eigenvectors of the random walk, n x (k - 1): those of the normalised affinity divided by the
    /// root of the degree, without the first, which is constant on a connected graph. Each has mean square 1.
    pub fn coordinates(&self) -> Vec<f64> {
        let (n, width) = (self.n(), self.k().saturating_sub(1));
        let mut out = Vec::with_capacity(n * width);
        for i in 0..n {
            let degree = self.degrees[i];
            let scale = if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 };
            out.extend(self.row(i)[1..].iter().map(|v| v * scale));
        }
        // Row by row: one pass over memory for all columns.
        let mut squares = vec![0.0; width];
        for row in out.chunks_exact(width.max(1)) {
            squares.iter_mut().zip(row).for_each(|(s, v)| *s += v * v);
        }
        let scale = |square: &f64| if *square > 0.0 { (n as f64 / square).sqrt() } else { 0.0 };
        let scales: Vec<f64> = squares.iter().map(scale).collect();
        for row in out.chunks_exact_mut(width.max(1)) {
            row.iter_mut().zip(&scales).for_each(|(v, s)| *v *= s);
        }
        out
    }

    /// Start vectors on `n` rows of a connected affinity, n x eigenvalues.len(). Only eigenvalues and vectors are
    /// known.
    pub(crate) fn start(n: usize, eigenvalues: Vec<f64>, vectors: Vec<f64>) -> Embedding {
        Embedding {
            columns: vec![(0..eigenvalues.len()).collect()],
            eigenvalues,
            vectors,
            degrees: vec![0.0; n],
            residual: f64::INFINITY,
            converged: false,
            iterations: 0,
            solver: Solver::Auto,
            uncovered: 0.0,
            component_of: vec![0; n],
        }
    }

    /// The embedding of a clustering without eigenvectors: `n` points, no columns.
    pub fn without_vectors(n: usize) -> Embedding {
        Embedding {
            residual: 0.0,
            converged: true,
            columns: Vec::new(),
            ..Embedding::start(n, Vec::new(), Vec::new())
        }
    }

    /// The start vectors with row `order[i]` at place `i`.
    pub(crate) fn reordered(&self, order: &[u32]) -> Embedding {
        let vectors = order.iter().flat_map(|&row| self.row(row as usize)).copied().collect();
        Embedding::start(self.n(), self.eigenvalues.clone(), vectors)
    }

    /// The embedding with row `i` moved to `order[i]`.
    pub(crate) fn permuted(self, order: &[u32]) -> Embedding {
        let k = self.k();
        let mut permuted = Embedding {
            vectors: vec![0.0; self.vectors.len()],
            degrees: vec![0.0; self.n()],
            component_of: vec![0; self.n()],
            eigenvalues: self.eigenvalues,
            columns: self.columns,
            ..self
        };
        for (i, &place) in order.iter().enumerate() {
            let place = place as usize;
            permuted.vectors[place * k..][..k].copy_from_slice(&self.vectors[i * k..][..k]);
            permuted.degrees[place] = self.degrees[i];
            permuted.component_of[place] = self.component_of[i];
        }
        fix_signs(&mut permuted.vectors, k);
        permuted
    }

    /// The embedding of all rows, from that of the distinct ones: row i is a copy of row `group_of[i]`, which has
    /// `copies` of them. Vectors keep unit length.
    pub(crate) fn expanded(&self, group_of: &[u32], copies: &[u32]) -> Embedding {
        let k = self.k();
        let mut vectors = Vec::with_capacity(group_of.len() * k);
        for &group in group_of {
            let scale = 1.0 / f64::from(copies[group as usize]).sqrt();
            vectors.extend(self.row(group as usize).iter().map(|v| v * scale));
        }
        let per_copy = |group: &u32| self.degrees[*group as usize] / f64::from(copies[*group as usize]);
        Embedding {
            vectors,
            degrees: group_of.iter().map(per_copy).collect(),
            component_of: group_of.iter().map(|group| self.component_of[*group as usize]).collect(),
            eigenvalues: self.eigenvalues.clone(),
            columns: self.columns.clone(),
            ..*self
        }
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.vectors[i * self.k()..][..self.k()]
    }
}

/// What the caller knows about the affinity.
#[derive(Clone, Copy, Default)]
pub struct EmbedOptions<'a> {
    /// The embedding of a similar affinity on the same points, such as another bandwidth: the iteration starts there.
    pub start: Option<&'a Embedding>,
    /// The similarity of two connected components by their numbers in
    /// [`SimilarityOperator::components`](crate::affinity::SimilarityOperator::components). It decides which components
    /// merge when there are more than clusters; without it, surplus components join the largest.
    pub similarity: Option<&'a dyn Fn(usize, usize) -> f64>,
    /// Whether the affinity is known to be connected, so that the search for components can be left out.
    pub connected: bool,
    /// The components of the affinity, where they are known.
    pub components: Option<&'a Components>,
}

/// The K largest eigenpairs of the normalised affinity.
pub fn embed<'a>(
    affinity: impl Into<Affinity<'a>>,
    params: &SpectralParams,
    options: &EmbedOptions,
    observer: &dyn Observer,
) -> Result<Embedding> {
    let affinity = affinity.into();
    params.validate()?;
    let n = affinity.n();
    if n == 0 {
        return Err(Error::Empty { n: 0, d: 0 });
    }
    if params.k > n {
        return Err(Error::TooManyClusters { k: params.k, distinct: n });
    }
    let stage = StageGuard::begin(observer, Stage::Spectral, params.max_iterations as u64);
    let mut embedding = per_component::embed(&affinity, params, options, observer)?;
    drop(stage);
    fix_signs(&mut embedding.vectors, params.k);
    Ok(embedding)
}

/// Largest number of rows for which a block iteration that did not converge is replaced by a dense decomposition.
const DENSE_FALLBACK: usize = 2000;

/// The `m` largest eigenpairs of a connected affinity.
pub(crate) fn largest(
    affinity: &Affinity,
    m: usize,
    params: &SpectralParams,
    start: Option<StartVectors>,
    observer: &dyn Observer,
) -> Result<Solution> {
    let operator = NormalizedAffinity::new(&**affinity, observer)?;
    let n = operator.n();
    let request = EigenRequest {
        pairs: m,
        guards: params.guards,
        tolerance: params.tolerance,
        angle: params.angle,
        spread_fraction: block_krylov::SPREAD_FRACTION,
        max_iterations: params.max_iterations,
        seed: params.seed,
        start,
    };
    let solver = match params.solver {
        Solver::Auto if n <= params.dense_below => Solver::Dense,
        Solver::Auto => Solver::Block,
        named => named,
    };
    // A block method needs more rows than its basis has columns.
    let mut solver = if solver == Solver::Block && !request.fits(n) { Solver::Dense } else { solver };
    let pairs = match solver {
        Solver::Nystrom => {
            let degrees = operator.into_degrees();
            let (pairs, degrees) = nystrom::largest(&**affinity, degrees, m, params, observer)?;
            return Ok(Solution { pairs, degrees, solver });
        }
        Solver::Block => {
            let initial = match start {
                None => initial_block(affinity, &operator, &request, observer)?,
                Some(_) => None,
            };
            let pairs = block_krylov::largest(&operator, &request, initial, observer)?;
            if pairs.converged || params.solver != Solver::Auto || n > DENSE_FALLBACK {
                pairs
            } else {
                // Many eigenvalues next to each other, as of rows that hang together in small groups.
                solver = Solver::Dense;
                dense::largest(&operator, m, observer)?
            }
        }
        Solver::Dense | Solver::Auto => {
            let needed = (n as u64).saturating_mul(n as u64).saturating_mul(8 * 4);
            if needed > DENSE_LIMIT {
                return Err(Error::Memory {
                    what: "the dense eigen-decomposition",
                    needed,
                    limit: DENSE_LIMIT,
                    remedy: "use the block solver".to_string(),
                });
            }
            dense::largest(&operator, m, observer)?
        }
    };
    Ok(Solution { pairs, degrees: operator.into_degrees(), solver })
}

/// The start block from a smaller problem with nearly the same eigenvectors: the aggregation hierarchy of a graph
/// without a constant, a sample of the kernel's rows.
fn initial_block(
    affinity: &Affinity,
    operator: &NormalizedAffinity,
    request: &EigenRequest,
    observer: &dyn Observer,
) -> Result<Option<InitialBlock>> {
    match affinity {
        Affinity::Graph(graph) if graph.constant() == 0.0 => {
            multigrid::initial_block(graph, operator, request, observer)
        }
        Affinity::Kernel(kernel) => {
            sampled_start::initial_block(kernel.leaves(), operator, request, observer)
        }
        _ => Ok(None),
    }
}
