//! The largest eigenpairs of a large operator: a block Krylov method with thick restart and a Chebyshev filter.
//!
//! Thick restart keeps the best Ritz vectors across cycles (Wu and Simon, SIAM J. Matrix Anal. Appl. 22(2), 2000;
//! Stewart's Krylov-Schur method, 2002). Repeated eigenvalues are common here (nearly separate clusters, identical
//! points), so the block is wider than the number of wanted pairs, and every cycle solves an explicit Rayleigh-Ritz
//! problem on an explicitly orthonormal basis; there is no three-term recurrence whose orthogonality rounding destroys.
//! A crowded spectrum (0.9995, 0.9991, …) needs high polynomial degrees, which the Chebyshev filter on the unwanted
//! interval `[floor, cut]` supplies without a long basis. The interval is safe: the spectrum lies above the floor, and
//! Ritz values never exceed the eigenvalues they approximate.
//!
//! One cycle: residuals of the Ritz vectors X from one product; converged pairs are locked (they stay in the basis but
//! are not expanded); `V1 = p(N) X_active`, `V2 = p(N) V1`, … until the basis is full; Rayleigh-Ritz.
//!
//! Guarantees residuals of at most twice the tolerance, measured by a last product, or reports `converged: false`.
//! The tolerance is adapted to the spectral gap and the spread of the block (`tolerance_at`). A start block from a smaller
//! problem that has already converged is returned as it is.
//! Memory: n x (basis + 3 · width) doubles.

use super::Eigenpairs;
use super::chebyshev::ChebyshevFilter;
use super::dense::{SymmetricEigen, symmetric};
use super::operator::NormalizedAffinity;
use super::orthonormal::{RandomColumns, orthonormalise};
use super::tall_skinny::{Block, column_sums, combine, gram, pack, rotate, scale_rows, unpack};
use crate::error::Result;
use crate::observe::{Observer, Stage, check};

/// Logarithm of the factor by which the residuals should fall below the tolerance in the last cycle.
const MARGIN: f64 = 1.0;
/// The usual [`EigenRequest::spread_fraction`], about the angle to the eigenvectors beyond the block. A heavy diagonal
/// moves all eigenvalues close to 1 and makes every residual small, so an absolute tolerance is not enough. With a
/// quarter of this value, 5 labels of 10⁶ differ.
pub(crate) const SPREAD_FRACTION: f64 = 4e-3;
/// Smallest tolerance: residuals at the level of rounding do not fall further.
const ROUNDING: f64 = 2e-14;

/// Start vectors of the caller, n x columns row-major.
#[derive(Clone, Copy)]
pub(crate) struct StartVectors<'a> {
    pub vectors: &'a [f64],
    pub columns: usize,
}

/// The eigenpairs that are wanted, and how accurately.
pub(crate) struct EigenRequest<'a> {
    /// Number of eigenpairs.
    pub pairs: usize,
    /// Guard vectors: extra columns of the block.
    pub guards: usize,
    /// Largest residual `|N u - λ u|` of a converged pair.
    pub tolerance: f64,
    /// A pair is also converged when its residual is at most this share of the gap behind the last wanted value.
    pub angle: f64,
    /// A residual must also be below this share of the spread of the block's eigenvalues.
    pub spread_fraction: f64,
    /// Largest number of block products with the operator.
    pub max_iterations: usize,
    /// Seed of the start block.
    pub seed: u64,
    /// Start vectors of the caller.
    pub start: Option<StartVectors<'a>>,
}

impl EigenRequest<'_> {
    /// Columns of the block, rounded up to a multiple of four, the width of a register tile.
    pub fn width(&self) -> usize {
        (self.pairs + self.guards).next_multiple_of(4)
    }

    /// The largest residual of a converged pair, given the Ritz values of the whole block.
    pub fn tolerance_at(&self, values: &[f64]) -> f64 {
        let gap = values[self.pairs - 1] - values[self.pairs];
        let spread = 1.0 - values[self.width() - 1];
        self.tolerance.max(self.angle * gap).min(self.spread_fraction * spread).max(ROUNDING)
    }

    /// Columns of the full basis.
    fn basis(&self) -> usize {
        (3 * self.width()).max(40)
    }

    /// Whether `n` rows are enough for the basis; fewer need the dense solver.
    pub fn fits(&self, n: usize) -> bool {
        self.basis() + self.width() <= n
    }
}

struct BlockKrylov<'a> {
    operator: &'a NormalizedAffinity<'a>,
    /// The basis, n x stride; the first `used` columns are orthonormal.
    v: Vec<f64>,
    stride: usize,
    used: usize,
    /// `Vᵀ N V`, stride x stride.
    t: Vec<f64>,
    /// Three dense blocks in the variables of the random walk.
    z: [Vec<f64>; 3],
    random: RandomColumns,
    /// Products with the operator so far.
    products: usize,
    observer: &'a dyn Observer,
}

impl BlockKrylov<'_> {
    /// `z[1] = P z[0]`, counted and reported.
    fn multiply(&mut self, width: usize) -> Result<()> {
        check(self.observer)?;
        let n = self.operator.n();
        let [z0, z1, _] = &mut self.z;
        self.operator.walk(&z0[..n * width], &mut z1[..n * width], width, self.observer)?;
        self.products += 1;
        self.observer.advance(Stage::Spectral, 1);
        Ok(())
    }

    /// Copies the named columns of the basis to z[0] and their product to z[1].
    fn load(&mut self, columns: &[usize]) -> Result<()> {
        let n = self.operator.n();
        let operator = self.operator;
        pack(
            &self.v,
            self.stride,
            columns,
            |i| operator.inverse_root(i),
            &mut self.z[0][..n * columns.len()],
        );
        self.multiply(columns.len())
    }

    /// Completes T for the basis columns from `first` on, which are in z[0] and z[1].
    fn project(&mut self, first: usize, width: usize) -> Result<()> {
        let n = self.operator.n();
        let degrees = self.operator.degrees();
        // T needs D^1/2 z[1]; z[2] is free here.
        let (one, two) = self.z.split_at_mut(2);
        two[0][..n * width].copy_from_slice(&one[1][..n * width]);
        scale_rows(&mut two[0][..n * width], width, |i| degrees[i].sqrt());
        let h = gram(
            Block::new(&self.v, self.stride, self.used),
            Block::new(&two[0][..n * width], width, width),
            self.observer,
        )?;
        for i in 0..self.used {
            for j in 0..width {
                self.t[i * self.stride + first + j] = h[i * width + j];
                self.t[(first + j) * self.stride + i] = h[i * width + j];
            }
        }
        Ok(())
    }

    /// Filters the block in z[0], whose product is in z[1], orthonormalises it and appends it to the basis.
    fn expand(&mut self, width: usize, filter: &ChebyshevFilter) -> Result<()> {
        let n = self.operator.n();
        let (center, half) = ((filter.cut + filter.floor) / 2.0, (filter.cut - filter.floor) / 2.0);
        // T_1 = (P - c)/e z; T_{s+1} = 2 (P - c)/e T_s - T_{s-1}.
        combine(&mut self.z, n * width, |z0, z1, _| (z1 - center * z0) / half);
        for _ in 1..filter.degree {
            self.z.rotate_left(1);
            // Now z[2] is T_{s-1}, z[0] is T_s, z[1] is free.
            self.multiply(width)?;
            combine(&mut self.z, n * width, |z0, z1, z2| 2.0 * (z1 - center * z0) / half - z2);
        }
        let degrees = self.operator.degrees();
        let mut w = std::mem::take(&mut self.z[1]);
        scale_rows(&mut w[..n * width], width, |i| degrees[i].sqrt());
        let basis = Block::new(&self.v, self.stride, self.used);
        let done = orthonormalise(basis, &mut w[..n * width], width, &mut self.random, self.observer);
        unpack(&w[..n * width], width, &mut self.v, self.stride, self.used);
        self.z[1] = w;
        self.used += width;
        done
    }

    /// Rayleigh-Ritz on the start block, whose product in z[1] is rotated with it.
    fn ritz_with_product(&mut self, width: usize) -> Result<Vec<f64>> {
        let length = self.operator.n() * width;
        let (values, y) = self.projected_pairs(width)?;
        let [z0, z1, _] = &mut self.z;
        for z in [z0, z1] {
            rotate(&mut z[..length], width, width, &y, width, self.observer)?;
        }
        self.restart(values, &y)
    }

    /// Rayleigh-Ritz with thick restart: the basis becomes its `keep` best Ritz vectors. Returns their values, the
    /// largest first.
    fn ritz(&mut self, keep: usize) -> Result<Vec<f64>> {
        let (values, y) = self.projected_pairs(keep.min(self.used))?;
        self.restart(values, &y)
    }

    /// The `keep` largest Ritz values and the coefficients of their vectors, used x keep.
    fn projected_pairs(&self, keep: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let p = self.used;
        let mut small = vec![0.0; p * p];
        for (i, row) in small.chunks_exact_mut(p).enumerate() {
            row.copy_from_slice(&self.t[i * self.stride..][..p]);
        }
        let SymmetricEigen { mut values, vectors } = symmetric(&small, p, keep, self.observer)?;
        values.truncate(keep);
        Ok((values, vectors))
    }

    /// Rotates the basis to the Ritz vectors with coefficients `y`.
    fn restart(&mut self, values: Vec<f64>, y: &[f64]) -> Result<Vec<f64>> {
        let keep = values.len();
        rotate(&mut self.v, self.stride, self.used, y, keep, self.observer)?;
        self.t.fill(0.0);
        for (i, value) in values.iter().enumerate() {
            self.t[i * self.stride + i] = *value;
        }
        self.used = keep;
        Ok(values)
    }

    /// The residual norms of the named Ritz pairs, from z[0] and z[1].
    fn residuals(&self, columns: &[usize], values: &[f64]) -> Vec<f64> {
        let length = self.operator.n() * columns.len();
        let degrees = self.operator.degrees();
        column_sums(&self.z[0][..length], &self.z[1][..length], columns.len(), |i, j, z, product| {
            let r = product - values[columns[j]] * z;
            degrees[i] * r * r
        })
        .into_iter()
        .map(f64::sqrt)
        .collect()
    }

    /// Keeps only the columns of z[0] and z[1] at the positions `keep` (ascending).
    fn compact(&mut self, width: usize, keep: &[usize]) {
        if keep.len() == width {
            return;
        }
        let n = self.operator.n();
        for z in &mut self.z[..2] {
            for i in 0..n {
                for (to, from) in keep.iter().enumerate() {
                    z[i * keep.len() + to] = z[i * width + from];
                }
            }
        }
    }
}

/// A start block from a smaller problem. It is consumed, so that it need not be held to the end.
pub(crate) struct InitialBlock {
    pub vectors: Vec<f64>,
    pub columns: usize,
    /// Products with the whole operator spent on it.
    pub products: usize,
    /// The Ritz values, when the wanted vectors have converged already.
    pub converged: Option<ConvergedValues>,
}

/// Converged Ritz values.
pub(crate) struct ConvergedValues {
    pub values: Vec<f64>,
    /// The largest residual of a wanted pair.
    pub residual: f64,
}

/// The `request.pairs` largest eigenpairs of the operator. `request.fits(n)` must hold.
pub(crate) fn largest(
    operator: &NormalizedAffinity,
    request: &EigenRequest,
    initial: Option<InitialBlock>,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    if let Some(InitialBlock { vectors, columns, products, converged: Some(done) }) = &initial {
        let k = request.pairs;
        let mut wanted = vec![0.0; operator.n() * k];
        pack(vectors, *columns, &(0..k).collect::<Vec<_>>(), |_| 1.0, &mut wanted);
        return Ok(Eigenpairs {
            // No eigenvalue exceeds 1; a Ritz value may by rounding.
            values: done.values[..k].iter().map(|value| value.min(1.0)).collect(),
            vectors: wanted,
            residual: done.residual,
            converged: true,
            iterations: *products,
            uncovered: 0.0,
        });
    }
    solve(operator, request, initial, request.pairs, observer)
}

/// [`largest`] that also returns the guard vectors, which need not have converged.
pub(crate) fn whole_block(
    operator: &NormalizedAffinity,
    request: &EigenRequest,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    solve(operator, request, None, request.width(), observer)
}

/// The first `returned` Ritz pairs of the block, iterated until the wanted ones have converged.
fn solve(
    operator: &NormalizedAffinity,
    request: &EigenRequest,
    initial: Option<InitialBlock>,
    returned: usize,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    let n = operator.n();
    let (width, stride, k) = (request.width(), request.basis(), request.pairs);
    let mut random = RandomColumns::new(request.seed);
    let earlier_products = initial.as_ref().map_or(0, |b| b.products);
    // The last vector of an initial block is random: its Ritz value does not show where the unwanted spectrum ends.
    let mut reliable = if initial.is_some() { width - 1 } else { width };
    let first = start_block(operator, request, initial, &mut random, observer)?;
    let mut s = BlockKrylov {
        operator,
        v: vec![0.0; n * stride],
        stride,
        used: width,
        t: vec![0.0; stride * stride],
        z: [first, vec![0.0; n * width], vec![0.0; n * width]],
        random,
        products: 0,
        observer,
    };
    unpack(&s.z[0], width, &mut s.v, stride, 0);
    let floor = operator.lower_bound(observer)?;
    // Two blocks are appended in a cycle; the rest of the basis keeps directions of earlier cycles at no cost.
    let keep = (stride - 2 * width).max(width);
    let all: Vec<usize> = (0..width).collect();
    s.load(&all)?;
    s.project(0, width)?;
    let mut values = s.ritz_with_product(width)?;
    let mut loaded = true;
    let mut locked: Vec<Option<f64>> = vec![None; width];
    let mut residuals = vec![f64::INFINITY; width];
    loop {
        let tolerance = request.tolerance_at(&values);
        let active: Vec<usize> = (0..width).filter(|i| locked[*i].is_none()).collect();
        if !std::mem::take(&mut loaded) {
            s.load(&active)?;
        }
        for (i, r) in active.iter().zip(s.residuals(&active, &values)) {
            residuals[*i] = r;
            if r <= tolerance {
                locked[*i] = Some(values[*i]);
            }
        }
        let done = locked[..k].iter().all(Option::is_some);
        if done || s.products >= request.max_iterations {
            // Locked pairs are verified by one more product, unless all pairs were in the last one.
            if active.len() < width {
                let first = &all[..k];
                s.load(first)?;
                residuals[..k].copy_from_slice(&s.residuals(first, &values));
            }
            let worst = residuals[..k].iter().fold(0.0f64, |most, r| most.max(*r));
            if worst <= 2.0 * tolerance || s.products >= request.max_iterations {
                let mut vectors = vec![0.0; n * returned];
                pack(&s.v, stride, &all[..returned], |_| 1.0, &mut vectors);
                values.truncate(returned);
                let converged = worst <= 2.0 * tolerance;
                return Ok(Eigenpairs {
                    values,
                    vectors,
                    residual: worst,
                    converged,
                    iterations: earlier_products + s.products,
                    uncovered: 0.0,
                });
            }
            locked.fill(None);
            continue;
        }
        let kept: Vec<usize> = (0..active.len()).filter(|p| locked[active[*p]].is_none()).collect();
        let mut block = kept.len();
        s.compact(active.len(), &kept);
        let worst = residuals[..k].iter().fold(0.0f64, |most, r| most.max(*r));
        let reduction = libm::log(worst / tolerance) + MARGIN;
        let filter = ChebyshevFilter::new(&values, k, reliable, floor, reduction);
        reliable = width;
        // A narrow active block is expanded more often: the basis is filled in any case.
        while block > 0 && s.used + block <= stride {
            s.expand(block, &filter)?;
            let first = s.used - block;
            let columns: Vec<usize> = (first..s.used).collect();
            s.load(&columns)?;
            s.project(first, block)?;
            if s.products >= request.max_iterations {
                block = 0;
            }
        }
        values = s.ritz(keep)?;
        for (value, lock) in values.iter().zip(&mut locked) {
            // A locked value that changes belongs to another eigenpair that was found late.
            if lock.is_some_and(|old| (old - value).abs() > tolerance) {
                *lock = None;
            }
        }
    }
}

/// The start block: the known first vector, the initial block or the caller's vectors, random columns for the rest.
fn start_block(
    operator: &NormalizedAffinity,
    request: &EigenRequest,
    initial: Option<InitialBlock>,
    random: &mut RandomColumns,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let (n, width) = (operator.n(), request.width());
    let mut w = vec![0.0; n * width];
    let all: Vec<usize> = (0..width).collect();
    random.fill(&mut w, width, &all);
    for (row, first) in w.chunks_exact_mut(width).zip(operator.first_vector()) {
        row[0] = first;
    }
    let initial = initial.as_ref().map(|b| StartVectors { vectors: &b.vectors, columns: b.columns });
    if let Some(StartVectors { vectors, columns }) = initial.or(request.start)
        && vectors.len() == n * columns
        && columns > 0
    {
        // The first given vector is the known one. The last column stays random, so that poor start vectors cannot hide
        // an eigenvector.
        let taken = columns.saturating_sub(1).min(width.saturating_sub(2));
        for (row, from) in w.chunks_exact_mut(width).zip(vectors.chunks_exact(columns)) {
            row[1..1 + taken].copy_from_slice(&from[1..1 + taken]);
        }
    }
    orthonormalise(Block::new(&[], width, 0), &mut w, width, random, observer)?;
    Ok(w)
}
