//! From a similarity to eigenvectors, and from eigenvectors to labels.
//!
//! [`embed`] finds the largest eigenpairs of `D^-1/2 A D^-1/2`; [`label`] makes K clusters of them. A graph that
//! falls apart is handled before any eigen-solver sees it: the top K of the whole is the union of the pieces'
//! spectra, so each piece gets as many columns, and as many clusters, as it has eigenvalues among the K largest.
//!
//! Two ways to label: [`Method::Kway`] (Ng, Jordan and Weiss), the default because it uses all K eigenvectors at
//! once and errs less often on more than two clusters; and [`Method::Ncut`], the paper's recursive bipartition.

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

pub(crate) use operator::Operator;

use crate::affinity::Affinity;
use crate::error::{Error, Result};
use crate::observe::{Observer, Stage, check};

pub use params::{Method, Solver, SpectralParams};
pub use sign::fix_signs;

/// Bytes the dense solver may take.
const DENSE_LIMIT: u64 = 8 << 30;

/// Some largest eigenpairs, as every solver returns them.
pub(crate) struct Pairs {
    pub values: Vec<f64>,
    /// n x values.len(), row-major.
    pub vectors: Vec<f64>,
    pub residual: f64,
    pub converged: bool,
    pub iterations: usize,
    pub uncovered: f64,
}

/// The largest eigenpairs of a similarity, and how they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// The K largest eigenvalues of the normalised operator, the largest first.
    pub eigenvalues: Vec<f64>,
    /// Their vectors, n x K row-major, orthonormal, signs fixed.
    pub vectors: Vec<f64>,
    /// Row sums of the affinity.
    pub degrees: Vec<f64>,
    /// The largest `|N u - λ u|` (Nystrom: of the approximation, 0).
    pub residual: f64,
    /// Whether every pair reached the tolerance.
    pub converged: bool,
    /// Products with the operator, over all pieces of the graph.
    pub iterations: usize,
    /// The solver that did it (never `Auto`; the one of the largest piece).
    pub solver: Solver,
    /// Nystrom: the share of rows that see no landmark. 0 otherwise.
    pub uncovered: f64,
    /// The piece of the graph each point belongs to; all zero for a connected graph.
    pub piece_of: Vec<u32>,
    /// The columns of each piece; its vectors are zero outside of it.
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

    /// The first `k` columns of an embedding in one piece: the embedding for k clusters.
    pub fn first(&self, k: usize) -> Embedding {
        let k = k.min(self.k());
        Embedding {
            eigenvalues: self.eigenvalues[..k].to_vec(),
            vectors: (0..self.n()).flat_map(|i| &self.row(i)[..k]).copied().collect(),
            columns: self.columns.iter().map(|c| c.iter().copied().filter(|at| *at < k).collect()).collect(),
            degrees: self.degrees.clone(),
            piece_of: self.piece_of.clone(),
            ..*self
        }
    }

    /// Eigenvectors of the random walk, n x (k - 1): those of the normalised affinity over the root of the degree, the
    /// first, which is constant on a connected graph, left out; scaled so that a coordinate's mean square is one.
    pub fn coordinates(&self) -> Vec<f64> {
        let (n, width) = (self.n(), self.k().saturating_sub(1));
        let mut out = Vec::with_capacity(n * width);
        for i in 0..n {
            let degree = self.degrees[i];
            let scale = if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 };
            out.extend(self.row(i)[1..].iter().map(|v| v * scale));
        }
        // Row by row, whatever the width: a column alone would pass over the whole memory.
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

    /// Start vectors on `n` rows of a connected affinity, n x eigenvalues.len(). Only eigenvalues and vectors are known.
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
            piece_of: vec![0; n],
        }
    }

    /// The start vectors with row `order[i]` at place `i`.
    pub(crate) fn reordered(&self, order: &[u32]) -> Embedding {
        let vectors = order.iter().flat_map(|&row| self.row(row as usize)).copied().collect();
        Embedding::start(self.n(), self.eigenvalues.clone(), vectors)
    }

    /// The same with row `i` at place `order[i]`.
    pub(crate) fn with_rows_at(self, order: &[u32]) -> Embedding {
        let k = self.k();
        let mut there = Embedding {
            vectors: vec![0.0; self.vectors.len()],
            degrees: vec![0.0; self.n()],
            piece_of: vec![0; self.n()],
            eigenvalues: self.eigenvalues,
            columns: self.columns,
            ..self
        };
        for (i, &place) in order.iter().enumerate() {
            let place = place as usize;
            there.vectors[place * k..][..k].copy_from_slice(&self.vectors[i * k..][..k]);
            there.degrees[place] = self.degrees[i];
            there.piece_of[place] = self.piece_of[i];
        }
        fix_signs(&mut there.vectors, k);
        there
    }

    /// The embedding of point `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.vectors[i * self.k()..][..self.k()]
    }
}

/// What a caller may know beforehand.
#[derive(Clone, Copy, Default)]
pub struct Hints<'a> {
    /// Eigenvectors of a similar affinity on the same points (another bandwidth): the iteration starts there.
    pub start: Option<&'a Embedding>,
    /// How similar two connected components are (by their numbers in [`Affinity::components`]), asked when there
    /// are more of them than clusters. Without it, surplus components join the largest.
    pub similarity: Option<&'a dyn Fn(usize, usize) -> f64>,
    /// Whether the affinity is known to be in one piece; else its pieces are looked for.
    pub connected: bool,
}

/// The K largest eigenpairs of the normalised affinity.
pub fn embed(
    affinity: &dyn Affinity,
    params: &SpectralParams,
    hints: &Hints,
    observer: &dyn Observer,
) -> Result<Embedding> {
    params.validate()?;
    let n = affinity.n();
    if n == 0 {
        return Err(Error::Empty { n: 0, d: 0 });
    }
    if params.k > n {
        return Err(Error::TooManyClusters { k: params.k, distinct: n });
    }
    let watched = affinity.watched(observer);
    let affinity = watched.as_deref().unwrap_or(affinity);
    observer.begin(Stage::Spectral, params.max_iterations as u64);
    let embedding = per_component::embed(affinity, params, hints, observer);
    observer.end(Stage::Spectral);
    // Work that was left out is neither a result nor a fault of the data.
    check(observer)?;
    let mut embedding = embedding?;
    fix_signs(&mut embedding.vectors, params.k);
    Ok(embedding)
}

/// The `m` largest eigenpairs of a connected affinity by the solver that suits it, the degrees, the solver's name.
pub(crate) fn largest(
    affinity: &dyn Affinity,
    m: usize,
    params: &SpectralParams,
    start: Option<(&[f64], usize)>,
    observer: &dyn Observer,
) -> Result<(Pairs, Vec<f64>, Solver)> {
    let operator = Operator::new(affinity)?;
    let n = operator.n();
    let wanted = block_krylov::Wanted {
        pairs: m,
        guards: params.guards,
        tolerance: params.tolerance,
        angle: params.angle,
        resolved: block_krylov::RESOLVED,
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
    let solver = if solver == Solver::Block && !wanted.fits(n) { Solver::Dense } else { solver };
    let pairs = match solver {
        Solver::Nystrom => {
            let (pairs, degrees) = nystrom::largest(affinity, operator.into_degrees(), m, params, observer)?;
            return Ok((pairs, degrees, solver));
        }
        Solver::Block => {
            let found = match start {
                None => begin(affinity, &operator, &wanted, observer)?,
                Some(_) => None,
            };
            block_krylov::largest(&operator, &wanted, found, observer)?
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
    Ok((pairs, operator.into_degrees(), solver))
}

/// Start vectors for the block solver where a smaller problem has nearly the same ones.
fn begin(
    affinity: &dyn Affinity,
    operator: &Operator,
    wanted: &block_krylov::Wanted,
    observer: &dyn Observer,
) -> Result<Option<block_krylov::Begun>> {
    match (affinity.graph(), affinity.kernel()) {
        (Some(graph), _) => multigrid::start(graph, operator, wanted, observer),
        (_, Some(leaves)) => sampled_start::start(leaves, operator, wanted, observer),
        _ => Ok(None),
    }
}
