//! LOBPCG with a multigrid preconditioner (Knyazev, SIAM J. Sci. Comput. 23(2), 2001).
//!
//! Refines a block of approximate eigenvectors of the normalised graph. Every iteration solves a Rayleigh-Ritz problem
//! on the span of the block, its preconditioned residuals and the previous search directions. The preconditioner is one
//! V-cycle on the aggregation hierarchy, so the number of iterations hardly depends on the number of points; a
//! polynomial method needs about `1/sqrt(gap)` products, and the eigenvalues of a large graph crowd. The first
//! Rayleigh-Ritz problem also contains the indicators of isolated groups.
//!
//! Reports whether the wanted pairs have converged; a block that has not is the start of the block Krylov solver. Two
//! graph products and one V-cycle per iteration; memory 5 · n · width doubles beside the V-cycle.

use rayon::prelude::*;

use super::v_cycle::VCycle;
use crate::eigen::block_krylov::EigenRequest;
use crate::eigen::dense::{SymmetricEigen, symmetric};
use crate::eigen::operator::NormalizedAffinity;
use crate::eigen::orthonormal::{RandomColumns, orthonormalise};
use crate::eigen::tall_skinny::{Block, CHUNK, column_sums, gram, pack, rotate, scale_rows, unpack};
use crate::error::Result;
use crate::observe::{Observer, Stage, check};

/// Iterations on the whole block; later ones work on the wanted vectors and one guard.
const FULL_BLOCK_ITERATIONS: usize = 2;
/// A residual below this share of the tolerance does not gain from another iteration.
const SETTLED: f64 = 0.01;

/// Ritz vectors X, search directions P and preconditioned residuals W: an orthonormal basis `v` and `t = Vᵀ N V`.
struct Basis {
    v: Vec<f64>,
    stride: usize,
    used: usize,
    t: Vec<f64>,
}

/// The outcome of [`refine`].
pub(crate) struct Refined {
    /// Products with the operator.
    pub products: usize,
    /// The Ritz values of the block.
    pub values: Vec<f64>,
    /// The largest residual of a wanted pair, when all of them converged.
    pub converged: Option<f64>,
}

/// Iteration limit and extra start vectors of [`refine`].
pub(crate) struct Refinement<'a> {
    pub request: &'a EigenRequest<'a>,
    pub max_iterations: usize,
    /// Sets of points whose indicators join the first Rayleigh-Ritz problem.
    pub isolated_groups: &'a [Vec<u32>],
}

/// Refines the block `x`, n x width, until the wanted vectors have converged or the iteration limit is reached.
pub(crate) fn refine(
    operator: &NormalizedAffinity,
    preconditioner: &mut VCycle,
    x: &mut [f64],
    refinement: &Refinement,
    random: &mut RandomColumns,
    observer: &dyn Observer,
) -> Result<Refined> {
    let Refinement { request, max_iterations, isolated_groups } = *refinement;
    let (n, width, k) = (operator.n(), request.width(), request.pairs);
    let stride = 3 * width;
    let mut basis = Basis { v: vec![0.0; n * stride], stride, used: 0, t: vec![0.0; stride * stride] };
    let mut z = [vec![0.0; n * width], vec![0.0; n * width]];
    z[0].copy_from_slice(x);
    basis.append(operator, &mut z, width, random, observer)?;
    let mut products = 1;
    let b = isolated_groups.len();
    if b > 0 {
        z[0][..n * b].fill(0.0);
        for (j, points) in isolated_groups.iter().enumerate() {
            for &point in points {
                z[0][point as usize * b + j] = operator.degrees()[point as usize].sqrt();
            }
        }
        basis.append(operator, &mut z, b, random, observer)?;
        products += 1;
    }
    let mut values = basis.ritz(width, observer)?;
    let mut converged = None;
    for iteration in 0..max_iterations {
        let tolerance = request.tolerance_at(&values);
        let measured = if iteration < FULL_BLOCK_ITERATIONS { width } else { (k + 1).min(width) };
        let columns: Vec<usize> = (0..measured).collect();
        let residuals = basis.residuals(operator, &mut z, &columns, &values, observer)?;
        products += 1;
        let mut active: Vec<usize> = (0..measured).filter(|j| residuals[*j] > tolerance).collect();
        if active.iter().all(|j| *j >= k) {
            converged = Some(residuals[..k].iter().fold(0.0f64, |most, r| most.max(*r)));
            break;
        }
        // Fill up to a multiple of four columns, the width of a register tile.
        let settled = |j: &usize| residuals[*j] <= SETTLED * tolerance || active.contains(j);
        let others: Vec<usize> = (0..measured).rev().filter(|j| !settled(j)).collect();
        let missing = active.len().next_multiple_of(4) - active.len();
        active.extend(others.into_iter().take(missing));
        let b = active.len();
        // Scaled to unit length: single precision would lose small residuals.
        let right = preconditioner.right_hand_side(b).par_chunks_mut(CHUNK * b);
        right.zip(z[1][..n * measured].par_chunks(CHUNK * measured)).for_each(|(to, from)| {
            for (to, from) in to.chunks_exact_mut(b).zip(from.chunks_exact(measured)) {
                for (to, j) in to.iter_mut().zip(&active) {
                    *to = (from[*j] / residuals[*j]) as f32;
                }
            }
        });
        let found = preconditioner.solve(b, observer)?;
        let degrees = operator.degrees();
        let to = z[0][..n * b].par_chunks_mut(CHUNK * b).zip(degrees.par_chunks(CHUNK));
        to.zip(found.par_chunks(CHUNK * b)).for_each(|((to, degrees), from)| {
            for ((to, degree), from) in to.chunks_exact_mut(b).zip(degrees).zip(from.chunks_exact(b)) {
                let root = degree.sqrt();
                to.iter_mut().zip(from).for_each(|(to, from)| *to = root * f64::from(*from));
            }
        });
        basis.append(operator, &mut z, b, random, observer)?;
        products += 1;
        values = basis.ritz(width, observer)?;
    }
    let first: Vec<usize> = (0..width).collect();
    pack(&basis.v, stride, &first, |_| 1.0, x);
    Ok(Refined { products, values, converged })
}

impl Basis {
    /// Orthonormalises the `b` vectors in z[0], appends them to the basis and completes `t`.
    fn append(
        &mut self,
        operator: &NormalizedAffinity,
        z: &mut [Vec<f64>; 2],
        b: usize,
        random: &mut RandomColumns,
        observer: &dyn Observer,
    ) -> Result<()> {
        let n = operator.n();
        let w = &mut z[0][..n * b];
        orthonormalise(Block::new(&self.v, self.stride, self.used), w, b, random, observer)?;
        unpack(w, b, &mut self.v, self.stride, self.used);
        let first = self.used;
        self.used += b;
        self.product(operator, z, &(first..self.used).collect::<Vec<_>>(), observer)?;
        let degrees = operator.degrees();
        scale_rows(&mut z[1][..n * b], b, |i| degrees[i].sqrt());
        let h =
            gram(Block::new(&self.v, self.stride, self.used), Block::new(&z[1][..n * b], b, b), observer)?;
        for i in 0..self.used {
            for j in 0..b {
                self.t[i * self.stride + first + j] = h[i * b + j];
                self.t[(first + j) * self.stride + i] = h[i * b + j];
            }
        }
        Ok(())
    }

    /// Copies the named columns, in the variables of the random walk, to z[0] and their product to z[1].
    fn product(
        &self,
        operator: &NormalizedAffinity,
        z: &mut [Vec<f64>; 2],
        columns: &[usize],
        observer: &dyn Observer,
    ) -> Result<()> {
        check(observer)?;
        let length = operator.n() * columns.len();
        let [z0, z1] = z;
        pack(&self.v, self.stride, columns, |i| operator.inverse_root(i), &mut z0[..length]);
        operator.walk(&z0[..length], &mut z1[..length], columns.len(), observer)?;
        observer.advance(Stage::Spectral, 1);
        Ok(())
    }

    /// Writes `P z - λ z` of the named Ritz vectors to z[1]; returns the residual norms.
    fn residuals(
        &self,
        operator: &NormalizedAffinity,
        z: &mut [Vec<f64>; 2],
        columns: &[usize],
        values: &[f64],
        observer: &dyn Observer,
    ) -> Result<Vec<f64>> {
        self.product(operator, z, columns, observer)?;
        let (b, degrees) = (columns.len(), operator.degrees());
        let [z0, z1] = z;
        let length = operator.n() * b;
        z1[..length].par_chunks_mut(CHUNK * b).zip(z0[..length].par_chunks(CHUNK * b)).for_each(
            |(rows, own)| {
                for (row, own) in rows.chunks_exact_mut(b).zip(own.chunks_exact(b)) {
                    for ((r, z), column) in row.iter_mut().zip(own).zip(columns) {
                        *r -= values[*column] * z;
                    }
                }
            },
        );
        let squares = column_sums(&z1[..length], &z0[..length], b, |i, _, r, _| degrees[i] * r * r);
        Ok(squares.into_iter().map(f64::sqrt).collect())
    }

    /// Rayleigh-Ritz: the basis becomes the `width` best Ritz vectors and the search directions, which are the parts of
    /// the Ritz vectors outside the previous block.
    fn ritz(&mut self, width: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
        let (p, stride) = (self.used, self.stride);
        let mut small = vec![0.0; p * p];
        for (i, row) in small.chunks_exact_mut(p).enumerate() {
            row.copy_from_slice(&self.t[i * stride..][..p]);
        }
        let SymmetricEigen { values, vectors } = symmetric(&small, p, width, observer)?;
        // Coefficients of the Ritz vectors, then of the search directions, orthonormal to them.
        let mut columns: Vec<Vec<f64>> =
            (0..width).map(|j| (0..p).map(|i| vectors[i * width + j]).collect()).collect();
        for j in 0..width {
            let mut direction = columns[j].clone();
            direction[..width].fill(0.0);
            if let Some(unit) = orthogonal_part(&columns, direction) {
                columns.push(unit);
            }
        }
        let kept = columns.len().min(2 * width).min(p);
        let mut m = vec![0.0; p * kept];
        for (i, row) in m.chunks_exact_mut(kept).enumerate() {
            for (v, column) in row.iter_mut().zip(&columns) {
                *v = column[i];
            }
        }
        rotate(&mut self.v, stride, p, &m, kept, observer)?;
        let mut projected = vec![0.0; kept * kept];
        for (a, one) in columns[..kept].iter().enumerate() {
            let image: Vec<f64> =
                small.chunks_exact(p).map(|row| row.iter().zip(one).map(|(t, v)| t * v).sum()).collect();
            for (b, other) in columns[..kept].iter().enumerate() {
                projected[a * kept + b] = image.iter().zip(other).map(|(t, v)| t * v).sum();
            }
        }
        self.t.fill(0.0);
        for (i, row) in projected.chunks_exact(kept).enumerate() {
            self.t[i * stride..][..kept].copy_from_slice(row);
        }
        self.used = kept;
        Ok(values[..width].to_vec())
    }
}

/// The part of `v` orthogonal to the orthonormal `columns`, scaled to unit length; `None` when it is rounding only.
fn orthogonal_part(columns: &[Vec<f64>], mut v: Vec<f64>) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let before = dot(&v, &v).sqrt();
    for _ in 0..2 {
        for column in columns {
            let share = dot(column, &v);
            v.iter_mut().zip(column).for_each(|(v, c)| *v -= share * c);
        }
    }
    let length = dot(&v, &v).sqrt();
    if length <= 1e-6 * before || length <= 1e-13 {
        return None;
    }
    v.iter_mut().for_each(|v| *v /= length);
    Some(v)
}
