//! The largest eigenpairs of a large operator: a thick-restarted block Krylov method with a Chebyshev filter.
//!
//! Repeated eigenvalues are the normal case here (clusters that hardly touch, identical points), so a block of more
//! vectors than the wanted multiplicity is iterated, and the space is made of explicit Rayleigh-Ritz steps on an
//! explicitly orthonormal basis: nothing relies on a recurrence that rounding breaks. A crowded spectrum (0.9995,
//! 0.9991, …) needs high polynomial degrees; the Chebyshev filter on the unwanted interval `[floor, cut]` supplies them
//! without storing a long basis. The spectrum of the operator lies above the floor the affinity knows (-1 at worst)
//! and Ritz values never exceed the eigenvalues they stand for, so this interval is always a safe one.
//!
//! One cycle: from the best Ritz vectors X (kept), residuals from one product; converged pairs stay in the basis but
//! are not expanded any more; `V1 = p(N) X_active`, `V2 = p(N) V1`, …, until the basis is full; Rayleigh-Ritz.

use super::Pairs;
use super::chebyshev::Filter;
use super::dense::symmetric;
use super::operator::Operator;
use super::orthonormal::{Fresh, orthonormalise};
use super::tall_skinny::{Block, column_sums, combine, gram, pack, rotate, scale_rows, unpack};
use crate::error::Result;
use crate::observe::{Observer, Stage, check};

/// What the residuals should fall by beyond the tolerance, as a logarithm, for a cycle to be the last.
const MARGIN: f64 = 1.0;
/// The usual [`Wanted::resolved`]: where a heavy diagonal crowds them all near 1, every vector has a small residual. It
/// is about the angle to what lies beyond the block: with a fourth of it five labels of a million differed.
pub(crate) const RESOLVED: f64 = 4e-3;
/// Residuals that rounding does not allow to fall much further.
const ROUNDING: f64 = 2e-14;

/// What the solver is asked for.
pub(crate) struct Wanted<'a> {
    /// How many pairs.
    pub pairs: usize,
    /// Extra vectors in the block.
    pub guards: usize,
    /// Largest residual `|N u - λ u|` of a converged pair.
    pub tolerance: f64,
    /// A pair is also converged when its residual is this share of the gap behind the last wanted value.
    pub angle: f64,
    /// How much smaller than the spread of the block's eigenvalues a residual must also be.
    pub resolved: f64,
    /// Most products with the operator (each with a whole block).
    pub max_iterations: usize,
    /// Seed of the start block.
    pub seed: u64,
    /// Start vectors, n x columns row-major, and how many columns.
    pub start: Option<(&'a [f64], usize)>,
}

impl Wanted<'_> {
    /// The block: a multiple of four wide, as the inner loops are.
    pub fn width(&self) -> usize {
        (self.pairs + self.guards).next_multiple_of(4)
    }

    /// The residual of a converged pair, by the Ritz values of the whole block.
    pub fn tolerance_at(&self, values: &[f64]) -> f64 {
        let gap = values[self.pairs - 1] - values[self.pairs];
        let spread = 1.0 - values[self.width() - 1];
        self.tolerance.max(self.angle * gap).min(self.resolved * spread).max(ROUNDING)
    }

    /// The most columns of the basis.
    fn basis(&self) -> usize {
        (3 * self.width()).max(40)
    }

    /// Whether `n` is large enough for the method; below, the dense solver must do it.
    pub fn fits(&self, n: usize) -> bool {
        self.basis() + self.width() <= n
    }
}

struct Solver<'a> {
    operator: &'a Operator<'a>,
    /// The basis, n x stride; the first `used` columns are orthonormal.
    v: Vec<f64>,
    stride: usize,
    used: usize,
    /// `Vᵀ N V`, stride x stride.
    t: Vec<f64>,
    /// Three dense blocks in the variables of the walk.
    z: [Vec<f64>; 3],
    fresh: Fresh,
    /// Products with the operator so far.
    products: usize,
    observer: &'a dyn Observer,
}

impl Solver<'_> {
    /// `z[1] = P z[0]`, counted and announced.
    fn step(&mut self, width: usize) -> Result<()> {
        check(self.observer)?;
        let n = self.operator.n();
        let [z0, z1, _] = &mut self.z;
        self.operator.walk(&z0[..n * width], &mut z1[..n * width], width);
        self.products += 1;
        self.observer.advance(Stage::Spectral, 1);
        Ok(())
    }

    /// Puts the named columns of the basis into z[0] and their product into z[1].
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
        self.step(columns.len())
    }

    /// Completes T for the columns in z[0], z[1], which are the basis columns from `first` on.
    fn project(&mut self, first: usize, width: usize) -> Result<()> {
        let n = self.operator.n();
        let degrees = self.operator.degrees();
        // T needs D^1/2 z[1]; z[2] is free at this moment.
        let (one, two) = self.z.split_at_mut(2);
        two[0][..n * width].copy_from_slice(&one[1][..n * width]);
        scale_rows(&mut two[0][..n * width], width, |i| degrees[i].sqrt());
        let h = gram(
            Block::new(&self.v, self.stride, self.used),
            Block::new(&two[0][..n * width], width, width),
            self.observer,
        );
        check(self.observer)?;
        for i in 0..self.used {
            for j in 0..width {
                self.t[i * self.stride + first + j] = h[i * width + j];
                self.t[(first + j) * self.stride + i] = h[i * width + j];
            }
        }
        Ok(())
    }

    /// From z[0] and z[1] = P z[0]: the filtered block, orthonormal, becomes the next columns of the basis.
    fn expand(&mut self, width: usize, filter: &Filter) -> Result<()> {
        let n = self.operator.n();
        let (center, half) = ((filter.cut + filter.floor) / 2.0, (filter.cut - filter.floor) / 2.0);
        // T_1 = (P - c)/e z; T_{s+1} = 2 (P - c)/e T_s - T_{s-1}.
        combine(&mut self.z, n * width, |z0, z1, _| (z1 - center * z0) / half);
        for _ in 1..filter.degree {
            self.z.rotate_left(1);
            // Now z[2] is T_{s-1}, z[0] is T_s, z[1] is free.
            self.step(width)?;
            combine(&mut self.z, n * width, |z0, z1, z2| 2.0 * (z1 - center * z0) / half - z2);
        }
        let degrees = self.operator.degrees();
        let mut w = std::mem::take(&mut self.z[1]);
        scale_rows(&mut w[..n * width], width, |i| degrees[i].sqrt());
        let basis = Block::new(&self.v, self.stride, self.used);
        let done = orthonormalise(basis, &mut w[..n * width], width, &mut self.fresh, self.observer);
        unpack(&w[..n * width], width, &mut self.v, self.stride, self.used);
        self.z[1] = w;
        self.used += width;
        done
    }

    /// Rayleigh-Ritz on the start block alone, whose product is at hand and turns with it.
    fn ritz_with_product(&mut self, width: usize) -> Result<Vec<f64>> {
        let length = self.operator.n() * width;
        let (values, y) = self.small_pairs(width)?;
        let [z0, z1, _] = &mut self.z;
        for z in [z0, z1] {
            rotate(&mut z[..length], width, width, (&y, width), self.observer);
        }
        self.turn(values, &y)
    }

    /// Rayleigh-Ritz: the basis becomes its `keep` best Ritz vectors. Returns their values, the largest first.
    fn ritz(&mut self, keep: usize) -> Result<Vec<f64>> {
        let (values, y) = self.small_pairs(keep.min(self.used))?;
        self.turn(values, &y)
    }

    /// The `keep` largest Ritz values, and the coefficients of their vectors, used x keep.
    fn small_pairs(&self, keep: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let p = self.used;
        let mut small = vec![0.0; p * p];
        for (i, row) in small.chunks_exact_mut(p).enumerate() {
            row.copy_from_slice(&self.t[i * self.stride..][..p]);
        }
        let (mut values, vectors) = symmetric(&small, p)?;
        let mut y = vec![0.0; p * keep];
        for (row, from) in y.chunks_exact_mut(keep).zip(vectors.chunks_exact(p)) {
            row.copy_from_slice(&from[..keep]);
        }
        values.truncate(keep);
        Ok((values, y))
    }

    /// Turns the basis to the Ritz vectors.
    fn turn(&mut self, values: Vec<f64>, y: &[f64]) -> Result<Vec<f64>> {
        let keep = values.len();
        rotate(&mut self.v, self.stride, self.used, (y, keep), self.observer);
        check(self.observer)?;
        self.t.fill(0.0);
        for (i, value) in values.iter().enumerate() {
            self.t[i * self.stride + i] = *value;
        }
        self.used = keep;
        Ok(values)
    }

    /// The residual of each named Ritz pair, from z[0] and z[1].
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

    /// Drops from z[0] and z[1] every column that is not in `keep` (positions, ascending).
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

/// Start vectors as in [`Wanted::start`], given away so that they need not be held to the end.
pub(crate) struct Begun {
    pub vectors: Vec<f64>,
    pub columns: usize,
    /// Products with the whole operator it took to find them.
    pub products: usize,
    /// When they are eigenvectors already: all their values and the largest residual of a wanted one.
    pub converged: Option<(Vec<f64>, f64)>,
}

/// The `wanted.pairs` largest eigenpairs of the operator. `wanted.fits(n)` must hold.
pub(crate) fn largest(
    operator: &Operator,
    wanted: &Wanted,
    begun: Option<Begun>,
    observer: &dyn Observer,
) -> Result<Pairs> {
    if let Some(Begun { vectors, columns, products, converged: Some((values, residual)) }) = &begun {
        let k = wanted.pairs;
        let mut first = vec![0.0; operator.n() * k];
        pack(vectors, *columns, &(0..k).collect::<Vec<_>>(), |_| 1.0, &mut first);
        return Ok(Pairs {
            // None is above 1; rounding does not know that.
            values: values[..k].iter().map(|value| value.min(1.0)).collect(),
            vectors: first,
            residual: *residual,
            converged: true,
            iterations: *products,
            uncovered: 0.0,
        });
    }
    solve(operator, wanted, (begun, wanted.pairs), observer)
}

/// As [`largest`], and the guard vectors too, as far as they got.
pub(crate) fn whole_block(operator: &Operator, wanted: &Wanted, observer: &dyn Observer) -> Result<Pairs> {
    solve(operator, wanted, (None, wanted.width()), observer)
}

fn solve(
    operator: &Operator,
    wanted: &Wanted,
    (begun, given): (Option<Begun>, usize),
    observer: &dyn Observer,
) -> Result<Pairs> {
    let n = operator.n();
    let (width, stride, k) = (wanted.width(), wanted.basis(), wanted.pairs);
    let mut fresh = Fresh::new(wanted.seed);
    let before = begun.as_ref().map_or(0, |b| b.products);
    // The last vector of a block that was begun is random and says nothing about where the rest of the spectrum ends.
    let mut edge = if begun.is_some() { width - 1 } else { width };
    let first = start(operator, wanted, begun, &mut fresh, observer)?;
    let mut s = Solver {
        operator,
        v: vec![0.0; n * stride],
        stride,
        used: width,
        t: vec![0.0; stride * stride],
        z: [first, vec![0.0; n * width], vec![0.0; n * width]],
        fresh,
        products: 0,
        observer,
    };
    unpack(&s.z[0], width, &mut s.v, stride, 0);
    let floor = operator.lower_bound();
    // One more block than two: what is kept beyond the block costs nothing and remembers earlier cycles.
    let keep = (stride - 2 * width).max(width);
    let all: Vec<usize> = (0..width).collect();
    s.load(&all)?;
    s.project(0, width)?;
    let mut values = s.ritz_with_product(width)?;
    let mut loaded = true;
    let mut locked: Vec<Option<f64>> = vec![None; width];
    let mut residuals = vec![f64::INFINITY; width];
    loop {
        let tolerance = wanted.tolerance_at(&values);
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
        if done || s.products >= wanted.max_iterations {
            // The word of every pair, the early ones too, against one last product unless all were in this one.
            if active.len() < width {
                let first = &all[..k];
                s.load(first)?;
                residuals[..k].copy_from_slice(&s.residuals(first, &values));
            }
            let worst = residuals[..k].iter().fold(0.0f64, |most, r| most.max(*r));
            if worst <= 2.0 * tolerance || s.products >= wanted.max_iterations {
                let mut vectors = vec![0.0; n * given];
                pack(&s.v, stride, &all[..given], |_| 1.0, &mut vectors);
                values.truncate(given);
                let converged = worst <= 2.0 * tolerance;
                return Ok(Pairs {
                    values,
                    vectors,
                    residual: worst,
                    converged,
                    iterations: before + s.products,
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
        let ahead = (worst / tolerance).ln() + MARGIN;
        let filter = Filter::new(&values, k, edge, (floor, ahead));
        edge = width;
        // Few vectors left: deeper, not wider; the basis has the same room.
        while block > 0 && s.used + block <= stride {
            s.expand(block, &filter)?;
            let first = s.used - block;
            let columns: Vec<usize> = (first..s.used).collect();
            s.load(&columns)?;
            s.project(first, block)?;
            if s.products >= wanted.max_iterations {
                block = 0;
            }
        }
        values = s.ritz(keep)?;
        for (value, lock) in values.iter().zip(&mut locked) {
            // A pair that moved is another pair: an eigenvalue was found late.
            if lock.is_some_and(|old| (old - value).abs() > tolerance) {
                *lock = None;
            }
        }
    }
}

/// The start block: the known first vector, the caller's vectors, random ones for the rest.
fn start(
    operator: &Operator,
    wanted: &Wanted,
    begun: Option<Begun>,
    fresh: &mut Fresh,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let (n, width) = (operator.n(), wanted.width());
    let mut w = vec![0.0; n * width];
    let all: Vec<usize> = (0..width).collect();
    fresh.fill(&mut w, width, &all);
    for (row, first) in w.chunks_exact_mut(width).zip(operator.first_vector()) {
        row[0] = first;
    }
    let begun = begun.as_ref().map(|b| (b.vectors.as_slice(), b.columns));
    if let Some((given, columns)) = begun.or(wanted.start)
        && given.len() == n * columns
        && columns > 0
    {
        // The first given vector is the known one again; the last columns stay random, so that a poor start
        // cannot hide an eigenvector.
        let taken = columns.saturating_sub(1).min(width.saturating_sub(2));
        for (row, from) in w.chunks_exact_mut(width).zip(given.chunks_exact(columns)) {
            row[1..1 + taken].copy_from_slice(&from[1..1 + taken]);
        }
    }
    orthonormalise(Block::new(&[], width, 0), &mut w, width, fresh, observer)?;
    Ok(w)
}
