//! Block orthonormalisation: classical Gram-Schmidt against a basis, then SVQB within the block (Stathopoulos and Wu,
//! SIAM J. Sci. Comput. 23(6), 2002).
//!
//! SVQB scales the columns to unit length and multiplies the block by the eigenvectors of its Gram matrix, each
//! divided by the root of its eigenvalue. Both steps run at least twice. Directions that vanish are replaced by random
//! ones, so that an invariant Krylov space does not end the iteration. Guarantees orthonormality up to rounding for a
//! block of any rank, or returns an error. A pass costs O(n · width · (basis + width)).

use rayon::prelude::*;

use super::dense::{SymmetricEigen, symmetric};
use super::tall_skinny::{Block, CHUNK, gram, rotate, subtract};
use crate::error::{Error, Result};
use crate::observe::{Observer, check};
use crate::random::{Purpose, Stream};

/// Largest number of passes; two or three are usual.
const MAX_PASSES: usize = 12;
/// Eigenvalues of the scaled Gram matrix below this share of the largest count as zero.
const RANK_TOLERANCE: f64 = 1e-13;
/// Largest inner product at the start of the last pass, which reduces it to rounding.
const NEARLY_ORTHONORMAL: f64 = 1e-7;

/// A source of random columns. Every call draws from a stream of its own.
pub(crate) struct RandomColumns {
    seed: u64,
    drawn: u64,
}

impl RandomColumns {
    pub fn new(seed: u64) -> Self {
        RandomColumns { seed, drawn: 0 }
    }

    /// Fills the named columns of a dense n x width block with normal numbers; each column has about unit length.
    pub fn fill(&mut self, w: &mut [f64], width: usize, columns: &[usize]) {
        let (seed, drawn) = (self.seed, self.drawn);
        let scale = 1.0 / ((w.len() / width).max(1) as f64).sqrt();
        w.par_chunks_mut(CHUNK * width).enumerate().for_each(|(c, rows)| {
            let mut stream = Stream::new(seed, Purpose::Eigen, drawn, c as u64);
            for row in rows.chunks_exact_mut(width) {
                for column in columns {
                    row[*column] = scale * stream.normal();
                }
            }
        });
        self.drawn += 1;
    }
}

/// Orthonormalises the dense n x width block `w` against the orthonormal columns of `basis` and within itself.
/// `basis.columns + width` must not exceed n.
pub(crate) fn orthonormalise(
    basis: Block,
    w: &mut [f64],
    width: usize,
    random: &mut RandomColumns,
    observer: &dyn Observer,
) -> Result<()> {
    for pass in 0..MAX_PASSES {
        check(observer)?;
        let mut overlap: f64 = 0.0;
        if basis.columns > 0 {
            let h = gram(basis, Block::new(w, width, width), observer)?;
            subtract(basis, &h, w, width, observer)?;
            overlap = h.iter().fold(0.0, |most, v| most.max(v.abs()));
        }
        let mut g = gram(Block::new(w, width, width), Block::new(w, width, width), observer)?;
        let norms: Vec<f64> = (0..width).map(|j| g[j * width + j].max(0.0).sqrt()).collect();
        // A column at the level of rounding has no direction left.
        let longest = norms.iter().fold(0.0f64, |most, v| most.max(*v));
        let lost: Vec<usize> = (0..width)
            .filter(|j| !norms[*j].is_finite() || norms[*j] <= 1e-200 || norms[*j] <= 1e-15 * longest)
            .collect();
        if !lost.is_empty() {
            random.fill(w, width, &lost);
            continue;
        }
        for i in 0..width {
            for j in 0..width {
                g[i * width + j] /= norms[i] * norms[j];
            }
        }
        let skew = (0..width * width)
            .filter(|at| at / width != at % width)
            .fold(0.0f64, |most, at| most.max(g[at].abs()));
        let SymmetricEigen { values, vectors } = symmetric(&g, width, width, observer)?;
        let vanished: Vec<usize> = (0..width).filter(|j| values[*j] <= RANK_TOLERANCE * values[0]).collect();
        let mut m = vec![0.0; width * width];
        for i in 0..width {
            for j in 0..width {
                if values[j] > RANK_TOLERANCE * values[0] {
                    m[i * width + j] = vectors[i * width + j] / (norms[i] * values[j].sqrt());
                }
            }
        }
        rotate(w, width, width, &m, width, observer)?;
        if !vanished.is_empty() {
            random.fill(w, width, &vanished);
            continue;
        }
        if pass > 0 && overlap <= NEARLY_ORTHONORMAL && skew <= NEARLY_ORTHONORMAL {
            return Ok(());
        }
    }
    Err(Error::Numerical {
        what: "orthogonalisation of the eigen-solver's basis",
        problem: format!("{MAX_PASSES} passes did not make {width} directions independent"),
    })
}
