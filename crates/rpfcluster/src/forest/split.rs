//! The two random choices of a node: its direction and its cut. Single machine and row partitions share them.
//!
//! Both are functions of (seed, tree, path from the root, range of the projections) alone.

use super::params::{Direction, ForestParams, Split};
use super::projection::fixed_order::{DirectionVector, LANES};
use crate::points::Real;
use crate::random::{Purpose, Stream};

/// Fresh directions tried when the points of a node all fall on one value of the first; distinct points that four
/// directions cannot tell apart differ by less than the rounding of a projection.
pub(crate) const ATTEMPTS: usize = 4;

/// Powers of two that directions may be scaled by; f32 directions reach 2^127.
pub(crate) const EXPONENTS: std::ops::RangeInclusive<i32> = -1000..=120;

/// Draws directions for the nodes of one tree.
pub(crate) struct DirectionSource {
    seed: u64,
    tree: u64,
    d: usize,
    kind: Direction,
    /// Directions are multiplied by this power of two, so that projections of huge or tiny data neither overflow
    /// nor vanish. 1 for ordinary data.
    scale: f64,
    normals: Vec<f64>,
}

impl DirectionSource {
    pub fn new(params: &ForestParams, tree: usize, d: usize, exponent: i32) -> Self {
        DirectionSource {
            seed: params.seed,
            tree: tree as u64,
            d,
            kind: params.direction,
            scale: power_of_two(exponent),
            normals: vec![0.0; d],
        }
    }

    /// The length of a direction.
    pub fn d(&self) -> usize {
        self.d
    }

    /// Direction number `draw` of the node at `path`, into `out`; returns its length before scaling.
    pub fn draw<R: Real>(&mut self, path: u64, draw: usize, out: &mut DirectionVector<R>) -> f64 {
        let mut stream = Stream::new(self.seed, Purpose::Direction, self.tree, path ^ ((draw as u64) << 1));
        out.dense.clear();
        out.support.clear();
        let mut squares = 0.0;
        match self.kind {
            Direction::Gaussian => {
                stream.normals(&mut self.normals);
                out.dense.extend(self.normals.iter().map(|&z| R::from_f64(z * self.scale)));
                out.dense.resize(self.d.next_multiple_of(LANES), R::default());
                squares = self.normals.iter().fold(squares, |sum, z| sum + z * z);
            }
            Direction::Sparse => {
                out.dense.resize(self.d.next_multiple_of(LANES), R::default());
                let wanted = support_size(self.d);
                while out.support.len() < wanted {
                    let j = stream.below(self.d as u64) as u32;
                    if !out.support.contains(&j) {
                        out.support.push(j);
                    }
                }
                out.support.sort_unstable();
                for &j in &out.support {
                    let z = stream.normal();
                    squares += z * z;
                    out.dense[j as usize] = R::from_f64(z * self.scale);
                }
                // Narrow rows are padded and projected whole.
                if self.d < LANES {
                    out.support.clear();
                }
            }
        }
        squares.sqrt()
    }
}

/// Coordinates of a sparse direction: the root of d, rounded up.
fn support_size(d: usize) -> usize {
    let root = (d as f64).sqrt().ceil() as usize;
    root.clamp(1, d)
}

/// The power of two that brings data of magnitude `largest` near 1, or 0 for ordinary data.
pub(crate) fn scale_exponent(largest: f64) -> i32 {
    if largest == 0.0 {
        return 0;
    }
    let exponent = ((largest.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    // A subnormal number has the smallest exponent.
    if (-40..=40).contains(&exponent) { 0 } else { (-exponent).clamp(*EXPONENTS.start(), *EXPONENTS.end()) }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + i64::from(exponent)) as u64) << 52)
}

/// The cut of the node at `path`: points with a projection below it go left. `low < high` are the ends of the
/// projections; both sides are non-empty. `projections` is only looked at (and reordered) for the median.
pub(crate) fn cut<R: Real>(
    params: &ForestParams,
    tree: usize,
    path: u64,
    (low, high): (R, R),
    projections: &mut [R],
) -> R {
    let c = match params.split {
        Split::Uniform => {
            let u = Stream::new(params.seed, Purpose::Cut, tree as u64, path).uniform();
            let (a, b) = (low.to_f64(), high.to_f64());
            R::from_f64(a + u * (b - a))
        }
        Split::Median => {
            let middle = projections.len() / 2;
            let (_, &mut median, above) =
                projections.select_nth_unstable_by(middle, |x, y| x.to_f64().total_cmp(&y.to_f64()));
            if median > low {
                median
            } else {
                // Over half of the points lie on the smallest value: cut just above it.
                above.iter().copied().filter(|&p| p > low).fold(high, |c, p| if p < c { p } else { c })
            }
        }
    };
    if c > low && c <= high { c } else { high }
}
