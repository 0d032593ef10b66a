//! Makes a new block orthonormal to a basis and in itself, whatever its rank.
//!
//! Classical Gram-Schmidt by blocks against the basis, then the eigen-decomposition of the block's own scaled Gram
//! matrix (the SVQB method of Stathopoulos and Wu, 2002), both at least twice. Directions that vanish are replaced
//! by random ones: when a Krylov space closes exactly, the search goes on elsewhere instead of dividing by zero.

use rayon::prelude::*;

use super::dense::symmetric;
use super::tall_skinny::{Block, CHUNK, gram, rotate, subtract};
use crate::error::{Error, Result};
use crate::observe::{Observer, check};
use crate::random::{Purpose, Stream};

/// Passes before giving up; two or three are usual.
const PASSES: usize = 12;
/// Eigenvalues of the scaled Gram matrix below this share of the largest count as vanished.
const VANISHED: f64 = 1e-13;
/// How close to orthonormal a pass must find the block to be the last one.
const CLOSE: f64 = 1e-7;

/// The random numbers of replaced directions: each is drawn once and never again.
pub(crate) struct Fresh {
    seed: u64,
    drawn: u64,
}

impl Fresh {
    pub fn new(seed: u64) -> Self {
        Fresh { seed, drawn: 0 }
    }

    /// Fills the named columns of a dense n x width block with random directions of about unit length.
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

/// Orthonormalises the dense n x width block `w` against the orthonormal columns of `basis` and in itself.
/// `basis.columns + width` must not exceed n.
pub(crate) fn orthonormalise(
    basis: Block,
    w: &mut [f64],
    width: usize,
    fresh: &mut Fresh,
    observer: &dyn Observer,
) -> Result<()> {
    for pass in 0..PASSES {
        check(observer)?;
        let mut overlap: f64 = 0.0;
        if basis.columns > 0 {
            let h = gram(basis, Block::new(w, width, width), observer);
            subtract(basis, &h, w, width, observer);
            overlap = h.iter().fold(0.0, |most, v| most.max(v.abs()));
        }
        let mut g = gram(Block::new(w, width, width), Block::new(w, width, width), observer);
        check(observer)?;
        let norms: Vec<f64> = (0..width).map(|j| g[j * width + j].max(0.0).sqrt()).collect();
        // A column that is nothing but rounding beside the others has no direction left.
        let longest = norms.iter().fold(0.0f64, |most, v| most.max(*v));
        let lost: Vec<usize> = (0..width)
            .filter(|j| !norms[*j].is_finite() || norms[*j] <= 1e-200 || norms[*j] <= 1e-15 * longest)
            .collect();
        if !lost.is_empty() {
            fresh.fill(w, width, &lost);
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
        let (values, vectors) = symmetric(&g, width)?;
        let vanished: Vec<usize> = (0..width).filter(|j| values[*j] <= VANISHED * values[0]).collect();
        let mut m = vec![0.0; width * width];
        for i in 0..width {
            for j in 0..width {
                if values[j] > VANISHED * values[0] {
                    m[i * width + j] = vectors[i * width + j] / (norms[i] * values[j].sqrt());
                }
            }
        }
        rotate(w, width, width, (&m, width), observer);
        if !vanished.is_empty() {
            fresh.fill(w, width, &vanished);
            continue;
        }
        if pass > 0 && overlap <= CLOSE && skew <= CLOSE {
            return Ok(());
        }
    }
    Err(Error::Numerical {
        what: "orthogonalisation of the eigen-solver's basis",
        problem: format!("{PASSES} passes did not make {width} directions independent"),
    })
}
