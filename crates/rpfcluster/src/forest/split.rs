//! The two random choices of a node: its direction and its cut.
//!
//! The direction is a function of seed, tree and path from the root, the cut of these and of the projections; neither
//! depends on the order in which nodes are grown. Sparse directions follow the very sparse random projections of Li,
//! Hastie and Church (KDD 2006): exactly √d coordinates are not zero, and they are normal instead of ±1.
//!
//! Where columns have keys, a coefficient is a function of the node and the key of its column, and a sparse direction
//! takes √f of the f features with all their columns.

use super::gaps::CoinKey;
use super::params::{Direction, ForestParams, Split};
use super::projection::fixed_order::{DirectionVector, LANES};
use crate::points::{ColumnKey, Real};
use crate::random::{Purpose, Stream, normals_by_name};

/// Directions tried while all projections of a node are equal. Distinct rows that four Gaussian directions do not
/// separate differ by less than the rounding of a projection. Sparse directions may miss the columns in which rows
/// differ; such a node becomes a leaf.
pub(crate) const ATTEMPTS: usize = 4;

/// Exponents of the powers of two that directions may be scaled by. 120 leaves f32, which reaches 2^127, room for the
/// normal deviates; -1000 keeps the scale a normal f64.
pub(crate) const EXPONENTS: std::ops::RangeInclusive<i32> = -1000..=120;

/// Identifies a node: its tree and its path from the root.
#[derive(Clone, Copy)]
pub(crate) struct NodeKey {
    pub tree: usize,
    pub path: u64,
}

/// Draws the directions of the nodes of one tree.
pub(crate) struct DirectionSource<'a> {
    seed: u64,
    tree: u64,
    d: usize,
    kind: Direction,
    /// Directions are multiplied by this power of two, so that projections of very large or very small values neither
    /// overflow nor underflow. Otherwise 1.
    scale: f64,
    normals: Vec<f64>,
    /// The keys of the columns; empty where coefficients are drawn by place.
    keys: &'a [ColumnKey],
    /// The columns of each feature, where columns have keys and directions are sparse.
    features: Vec<std::ops::Range<u32>>,
    /// With keys, what a column adds to the squared length: 1 for the first level of a category, 0 for its other levels;
    /// `None` for the square of the coefficient of a number.
    squares: Vec<Option<f64>>,
}

impl<'a> DirectionSource<'a> {
    pub fn new(params: &ForestParams, tree: usize, d: usize, exponent: i32, keys: &'a [ColumnKey]) -> Self {
        let features = match params.direction {
            Direction::Gaussian => Vec::new(),
            Direction::Sparse => columns_of_features(keys),
        };
        DirectionSource {
            keys,
            features,
            squares: squares_of(keys),
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

    /// Writes direction number `draw` of the node at `path`; returns its length before scaling. With keys, a category
    /// counts 1 whatever its levels, so that these do not decide which candidate is the widest.
    pub fn draw<R: Real>(&mut self, path: u64, draw: usize, out: &mut DirectionVector<R>) -> f64 {
        let purpose = if self.keys.is_empty() { Purpose::Direction } else { Purpose::Column };
        let mut stream = Stream::new(self.seed, purpose, self.tree, path ^ ((draw as u64) << 1));
        out.dense.clear();
        out.support.clear();
        out.coin = CoinKey { seed: self.seed, tree: self.tree, path };
        let mut squares = 0.0;
        if !self.keys.is_empty() {
            normals_by_name(stream.bits(), self.keys.iter().map(|key| key.id), &mut self.normals);
        }
        match self.kind {
            Direction::Gaussian => {
                if self.keys.is_empty() {
                    stream.normals(&mut self.normals);
                }
                out.dense.extend(self.normals.iter().map(|&z| R::from_f64(z * self.scale)));
                out.dense.resize(self.d.next_multiple_of(LANES), R::default());
                squares = match self.squares.is_empty() {
                    true => self.normals.iter().fold(squares, |sum, z| sum + z * z),
                    false => {
                        self.normals.iter().zip(&self.squares).map(|(z, own)| own.unwrap_or(z * z)).sum()
                    }
                };
            }
            Direction::Sparse => {
                out.dense.resize(self.d.next_multiple_of(LANES), R::default());
                let choices = if self.keys.is_empty() { self.d } else { self.features.len() };
                let wanted = support_size(choices);
                while out.support.len() < wanted {
                    let j = stream.below(choices as u64) as u32;
                    if !out.support.contains(&j) {
                        out.support.push(j);
                    }
                }
                out.support.sort_unstable();
                if !self.keys.is_empty() {
                    let chosen = std::mem::take(&mut out.support);
                    out.support.extend(chosen.iter().flat_map(|j| self.features[*j as usize].clone()));
                }
                for &j in &out.support {
                    let z = if self.keys.is_empty() { stream.normal() } else { self.normals[j as usize] };
                    squares += self.squares.get(j as usize).copied().flatten().unwrap_or(z * z);
                    out.dense[j as usize] = R::from_f64(z * self.scale);
                }
                // Narrow rows are padded and projected as dense rows.
                if self.d < LANES {
                    out.support.clear();
                }
            }
        }
        squares.sqrt()
    }
}

/// See [`DirectionSource::squares`].
fn squares_of(keys: &[ColumnKey]) -> Vec<Option<f64>> {
    let mut before = None;
    keys.iter()
        .map(|key| {
            let category = key.is_level().then_some(key.feature);
            let is_first = category != std::mem::replace(&mut before, category);
            category.map(|_| f64::from(u8::from(is_first)))
        })
        .collect()
}

/// The columns of each feature, in the order of the columns.
pub(crate) fn columns_of_features(keys: &[ColumnKey]) -> Vec<std::ops::Range<u32>> {
    let mut start = 0;
    let runs = keys.chunk_by(|a, b| a.feature == b.feature);
    runs.map(|run| {
        let first = start;
        start += run.len() as u32;
        first..start
    })
    .collect()
}

/// Number of coordinates of a sparse direction: √d, rounded up.
fn support_size(d: usize) -> usize {
    let root = (d as f64).sqrt().ceil() as usize;
    root.clamp(1, d)
}

/// The exponent of the power of two that brings values of magnitude `largest` near 1; 0 for magnitudes of 2^-40 to
/// 2^40, whose projections neither overflow nor underflow.
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

/// The cut of a node: rows with a projection below it go left. `low < high` are the extremes of the projections; both
/// sides are non-empty. Only the median reads, and reorders, `projections`.
pub(crate) fn cut<R: Real>(
    params: &ForestParams,
    node: NodeKey,
    low: R,
    high: R,
    projections: &mut [R],
) -> R {
    let c = match params.split {
        Split::Uniform => {
            let u = Stream::new(params.seed, Purpose::Cut, node.tree as u64, node.path).uniform();
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
                // At least half of the projections equal the smallest: cut at the next larger value.
                above.iter().copied().filter(|&p| p > low).fold(high, |c, p| if p < c { p } else { c })
            }
        }
    };
    if c > low && c <= high { c } else { high }
}
