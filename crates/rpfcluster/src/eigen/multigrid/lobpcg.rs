//! Better eigenvectors of a graph from good ones: a locally optimal block method with multigrid.
//!
//! A polynomial in the operator tells eigenvalues apart that lie `g` from each other after about `1/sqrt(g)` products,
//! and the eigenvalues of a large graph crowd. Here every residual is turned into a direction by a multigrid cycle,
//! which undoes that crowding, so that the number of steps hardly depends on the number of points. A step: residuals of
//! the Ritz vectors X (one product), directions W by the cycle, one product for W, Rayleigh-Ritz on X, W and the
//! last step's change of X. Where a vector may hide that none of X shows (`pockets`), Rayleigh-Ritz begins with it
//! beside X. Vectors that fell short after the last step are a start for the block solver, which has the last word then.

use rayon::prelude::*;

use super::v_cycle::Cycle;
use crate::eigen::block_krylov::Wanted;
use crate::eigen::dense::symmetric;
use crate::eigen::operator::Operator;
use crate::eigen::orthonormal::{Fresh, orthonormalise};
use crate::eigen::tall_skinny::{Block, CHUNK, column_sums, gram, pack, rotate, scale_rows, unpack};
use crate::error::Result;
use crate::observe::{Observer, Stage, check};

/// Steps in which all vectors are worked on; then only the wanted ones.
const ALL: usize = 2;

/// The basis: Ritz vectors, the last changes, new directions; its matrix.
struct Basis {
    v: Vec<f64>,
    stride: usize,
    used: usize,
    t: Vec<f64>,
}

/// How far [`polish`] came.
pub(crate) struct Polished {
    /// Products with the operator.
    pub products: usize,
    /// The Ritz values of the block.
    pub values: Vec<f64>,
    /// The largest residual of a wanted pair, when all of them converged.
    pub converged: Option<f64>,
}

/// Improves the whole block of vectors in `x`, with the help of those that are constant on one of the sets of points
/// in `pockets`, until the wanted ones converged, in at most `steps` steps.
pub(crate) fn polish(
    operator: &Operator,
    cycle: &mut Cycle,
    (x, pockets): (&mut [f64], &[Vec<u32>]),
    (wanted, steps): (&Wanted, usize),
    fresh: &mut Fresh,
    observer: &dyn Observer,
) -> Result<Polished> {
    let (n, width, k) = (operator.n(), wanted.width(), wanted.pairs);
    let stride = 3 * width;
    let mut basis = Basis { v: vec![0.0; n * stride], stride, used: 0, t: vec![0.0; stride * stride] };
    let mut z = [vec![0.0; n * width], vec![0.0; n * width]];
    z[0].copy_from_slice(x);
    basis.append(operator, &mut z, width, fresh, observer)?;
    let mut products = 1;
    let b = pockets.len();
    if b > 0 {
        z[0][..n * b].fill(0.0);
        for (j, points) in pockets.iter().enumerate() {
            for &point in points {
                z[0][point as usize * b + j] = operator.degrees()[point as usize].sqrt();
            }
        }
        basis.append(operator, &mut z, b, fresh, observer)?;
        products += 1;
    }
    let mut values = basis.ritz(width, observer)?;
    let mut converged = None;
    for step in 0..steps {
        let tolerance = wanted.tolerance_at(&values);
        let looked: Vec<usize> = (0..if step < ALL { width } else { (k + 1).min(width) }).collect();
        let residuals = basis.residuals(operator, &mut z, &looked, &values, observer)?;
        products += 1;
        let mut active: Vec<usize> = (0..looked.len()).filter(|j| residuals[*j] > tolerance).collect();
        if active.iter().all(|j| *j >= k) {
            converged = Some(residuals[..k].iter().fold(0.0f64, |most, r| most.max(*r)));
            break;
        }
        // Whole registers, as far as there are others that still change.
        let settled = |j: &usize| residuals[*j] <= 0.01 * tolerance || active.contains(j);
        let others: Vec<usize> = (0..looked.len()).rev().filter(|j| !settled(j)).collect();
        let room = active.len().next_multiple_of(4) - active.len();
        active.extend(others.into_iter().take(room));
        let b = active.len();
        let wide = residuals.len();
        // Unit length: single precision would lose what is small.
        let right = cycle.right_side(b).par_chunks_mut(CHUNK * b);
        right.zip(z[1][..n * wide].par_chunks(CHUNK * wide)).for_each(|(to, from)| {
            for (to, from) in to.chunks_exact_mut(b).zip(from.chunks_exact(wide)) {
                for (to, j) in to.iter_mut().zip(&active) {
                    *to = (from[*j] / residuals[*j]) as f32;
                }
            }
        });
        let found = cycle.solve(b, observer)?;
        let degrees = operator.degrees();
        let to = z[0][..n * b].par_chunks_mut(CHUNK * b).zip(degrees.par_chunks(CHUNK));
        to.zip(found.par_chunks(CHUNK * b)).for_each(|((to, degrees), from)| {
            for ((to, degree), from) in to.chunks_exact_mut(b).zip(degrees).zip(from.chunks_exact(b)) {
                let root = degree.sqrt();
                to.iter_mut().zip(from).for_each(|(to, from)| *to = root * f64::from(*from));
            }
        });
        basis.append(operator, &mut z, b, fresh, observer)?;
        products += 1;
        values = basis.ritz(width, observer)?;
    }
    let first: Vec<usize> = (0..width).collect();
    pack(&basis.v, stride, &first, |_| 1.0, x);
    Ok(Polished { products, values, converged })
}

impl Basis {
    /// Orthonormalises the `b` vectors in z[0], puts them behind the others and completes the matrix.
    fn append(
        &mut self,
        operator: &Operator,
        z: &mut [Vec<f64>; 2],
        b: usize,
        fresh: &mut Fresh,
        observer: &dyn Observer,
    ) -> Result<()> {
        let n = operator.n();
        let w = &mut z[0][..n * b];
        orthonormalise(Block::new(&self.v, self.stride, self.used), w, b, fresh, observer)?;
        unpack(w, b, &mut self.v, self.stride, self.used);
        let first = self.used;
        self.used += b;
        self.product(operator, z, &(first..self.used).collect::<Vec<_>>(), observer)?;
        let degrees = operator.degrees();
        scale_rows(&mut z[1][..n * b], b, |i| degrees[i].sqrt());
        let h = gram(Block::new(&self.v, self.stride, self.used), Block::new(&z[1][..n * b], b, b), observer);
        check(observer)?;
        for i in 0..self.used {
            for j in 0..b {
                self.t[i * self.stride + first + j] = h[i * b + j];
                self.t[(first + j) * self.stride + i] = h[i * b + j];
            }
        }
        Ok(())
    }

    /// The named columns in the variables of the walk into z[0], their product into z[1].
    fn product(
        &self,
        operator: &Operator,
        z: &mut [Vec<f64>; 2],
        columns: &[usize],
        observer: &dyn Observer,
    ) -> Result<()> {
        check(observer)?;
        let length = operator.n() * columns.len();
        let [z0, z1] = z;
        pack(&self.v, self.stride, columns, |i| operator.inverse_root(i), &mut z0[..length]);
        operator.walk(&z0[..length], &mut z1[..length], columns.len());
        observer.advance(Stage::Spectral, 1);
        check(observer)
    }

    /// `P z - λ z` of the named Ritz vectors into z[1]; their lengths.
    fn residuals(
        &self,
        operator: &Operator,
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

    /// Rayleigh-Ritz: the best `width` Ritz vectors, then how they differ from the first `width` columns before.
    fn ritz(&mut self, width: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
        let (p, stride) = (self.used, self.stride);
        let mut small = vec![0.0; p * p];
        for (i, row) in small.chunks_exact_mut(p).enumerate() {
            row.copy_from_slice(&self.t[i * stride..][..p]);
        }
        let (values, vectors) = symmetric(&small, p)?;
        // Columns of coefficients: the Ritz vectors, then their parts outside of the old ones, orthonormal to them.
        let mut columns: Vec<Vec<f64>> =
            (0..width).map(|j| (0..p).map(|i| vectors[i * p + j]).collect()).collect();
        for j in 0..width {
            let mut change = columns[j].clone();
            change[..width].fill(0.0);
            if let Some(unit) = outside(&columns, change) {
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
        rotate(&mut self.v, stride, p, (&m, kept), observer);
        check(observer)?;
        let mut fresh = vec![0.0; kept * kept];
        for (a, one) in columns[..kept].iter().enumerate() {
            let image: Vec<f64> =
                small.chunks_exact(p).map(|row| row.iter().zip(one).map(|(t, v)| t * v).sum()).collect();
            for (b, other) in columns[..kept].iter().enumerate() {
                fresh[a * kept + b] = image.iter().zip(other).map(|(t, v)| t * v).sum();
            }
        }
        self.t.fill(0.0);
        for (i, row) in fresh.chunks_exact(kept).enumerate() {
            self.t[i * stride..][..kept].copy_from_slice(row);
        }
        self.used = kept;
        Ok(values[..width].to_vec())
    }
}

/// What is left of `v` outside of the orthonormal `columns`, to unit length; `None` when that is next to nothing.
fn outside(columns: &[Vec<f64>], mut v: Vec<f64>) -> Option<Vec<f64>> {
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
