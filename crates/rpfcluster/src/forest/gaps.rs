//! Rows with gaps: projections that use the means of a node in place of missing values.
//!
//! A row without a value has, at every node, the mean of the values that the training rows of the node have in that
//! column. Deeper nodes hold more similar rows, so the estimate becomes local on the way down, as in imputation by trees
//! (Stekhoven and Buehlmann, Bioinformatics 28, 2012), without a model of its own. Means alone would move rows with gaps
//! to the middle of every node; their distance from the projection of the means is therefore multiplied by √(W / P),
//! where W is the variance along the direction, of independent columns, and P the part of it in the columns that the row
//! has. A column without a value in the node has mean and variance of the parent. Where P is zero, a coin decides, keyed
//! by seed, tree, node and the values of the row: equal rows stay together, and the path of a row does not depend on
//! other rows.
//!
//! Only nodes that hold a [`SHARE`] of the rows keep moments, and nodes below use those of the nearest one above; this
//! bounds their memory by O(d) per tree. Sums have the order of `projection::fixed_order`: rows without gaps get the
//! bits of any other path. One pass over the rows of a large node for its means, O(d) per projected row.

use super::projection::fixed_order::{DirectionVector, sum};
use super::tree::NodeValues;
use crate::points::{Precision, Real, add_present, value_or};
use crate::random::{Purpose, Stream, mix};

/// The smallest share of the rows, as a divisor, of a node that keeps moments.
pub(crate) const SHARE: usize = 64;
/// Variances are stored up to this limit, which f32 holds.
const LARGEST_VARIANCE: f64 = 1e38;

/// The means and variances of the columns at the large inner nodes of a tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeMoments {
    /// The nodes, ascending.
    pub nodes: Vec<u32>,
    /// `d` means, then `d` variances, for each of them.
    pub values: NodeValues,
}

impl NodeMoments {
    /// From the moments of these nodes.
    pub fn new<R: Real>(nodes: Vec<u32>, moments: &[Moments<R>]) -> Self {
        let values = moments.iter().flat_map(|of_node| of_node.means.iter().chain(&of_node.variances));
        NodeMoments { nodes, values: NodeValues::from_real(values.copied().collect::<Vec<R>>()) }
    }

    /// The number of a node among those that keep moments.
    pub fn find(&self, node: u32) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// Writes the moments of node number `at` of `d` columns into `out`.
    pub fn read<R: Real>(&self, at: usize, d: usize, out: &mut Moments<R>) {
        let values = |first: usize| (first..first + d).map(|at| self.values.get::<R>(at));
        out.means.clear();
        out.means.extend(values(2 * d * at));
        out.variances.clear();
        out.variances.extend(values(2 * d * at + d));
    }

    /// The moments of the nodes that `place` keeps, under the numbers that it gives them.
    pub fn of_nodes(&self, place: impl Fn(u32) -> Option<u32>) -> Self {
        let (mut nodes, mut places) = (Vec::new(), Vec::new());
        let width = (self.values.len() / self.nodes.len().max(1)) as u32;
        for (at, node) in (0..).zip(&self.nodes) {
            if let Some(place) = place(*node) {
                nodes.push(place);
                places.extend(at * width..(at + 1) * width);
            }
        }
        NodeMoments { nodes, values: self.values.at(&places) }
    }

    /// Whether the arrays of a model file fit a tree with `inner` nodes. The root has some, if it is an inner node.
    pub fn fits(&self, inner: usize, d: usize, precision: Precision) -> bool {
        self.nodes.len().checked_mul(2 * d) == Some(self.values.len())
            && self.values.precision() == precision
            && self.values.all_finite()
            && self.nodes.first().is_some_and(|node| *node == 0) == (inner > 0)
            && self.nodes.windows(2).all(|pair| pair[0] < pair[1])
            && self.nodes.last().is_none_or(|node| (*node as usize) < inner)
    }
}

/// Whether a node of this size keeps moments.
pub(crate) fn keeps_moments(size: usize, n: usize) -> bool {
    size * SHARE >= n
}

/// Mean and variance of each column at a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moments<R> {
    pub means: Vec<R>,
    pub variances: Vec<R>,
}

impl<R: Real> Moments<R> {
    /// What the root starts from: the means of the columns.
    pub fn at_root(means: &[R]) -> Self {
        Moments { means: means.to_vec(), variances: vec![R::default(); means.len()] }
    }
}

/// Identifies the coins of a node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CoinKey {
    pub seed: u64,
    pub tree: u64,
    pub path: u64,
}

impl CoinKey {
    /// The side of a row: infinitely far left or right of every cut.
    fn side<R: Real>(self, row: &[R]) -> R {
        // Adding zero turns -0 into 0, an equal value.
        let bits = |value: &R| if value.is_nan() { u64::MAX } else { (value.to_f64() + 0.0).to_bits() };
        let content = row.iter().fold(0, |hash, value| mix(hash ^ bits(value)));
        let coin = Stream::new(self.seed, Purpose::Gap, self.tree, self.path ^ content).bits();
        R::from_f64(if coin & 1 == 0 { f64::NEG_INFINITY } else { f64::INFINITY })
    }
}

/// Row-major rows of `d` values; NaN is a gap.
#[derive(Clone, Copy)]
pub(crate) struct GapRows<'a, R> {
    values: &'a [R],
    d: usize,
}

impl<'a, R: Real> GapRows<'a, R> {
    pub fn new(values: &'a [R], d: usize) -> Self {
        GapRows { values, d }
    }

    /// The values of a row.
    pub fn row(&self, id: u32) -> &'a [R] {
        &self.values[id as usize * self.d..][..self.d]
    }

    /// Replaces the moments of the parent by those of some rows; a column without a value keeps its own.
    pub fn update(&self, ids: &[u32], moments: &mut Moments<R>) {
        let (mut sums, mut counts) = (vec![0.0; self.d], vec![0u64; self.d]);
        for &id in ids {
            add_present(self.row(id), &mut sums, &mut counts);
        }
        for ((mean, sum), count) in
            moments.means.iter_mut().zip(sums).zip(&counts).filter(|(_, count)| **count > 0)
        {
            *mean = R::from_f64((sum / *count as f64).clamp(f64::MIN, f64::MAX));
        }
        let mut squares = vec![0.0; self.d];
        for &id in ids {
            for ((value, mean), square) in self.row(id).iter().zip(&moments.means).zip(&mut squares) {
                let off = if value.is_nan() { 0.0 } else { value.to_f64() - mean.to_f64() };
                *square += off * off;
            }
        }
        let found = squares.into_iter().zip(&counts).zip(&mut moments.variances);
        for ((square, count), variance) in found.filter(|((_, count), _)| **count > 0) {
            *variance = R::from_f64((square / *count as f64).min(LARGEST_VARIANCE));
        }
    }

    /// `out[i]` is the projection of row `ids[i]`; infinite where a coin decides. Returns the smallest and the largest
    /// finite projection. Without variances, gaps are means and nothing else.
    pub fn project(&self, ids: &[u32], direction: &DirectionVector<R>, out: &mut [R]) -> (R, R) {
        let (dense, moments) = (&direction.dense[..self.d], &direction.moments);
        if moments.variances.is_empty() {
            let mut range: Option<(R, R)> = None;
            let mut filled = vec![R::default(); self.d];
            for (out, &id) in out.iter_mut().zip(ids) {
                let values = self.row(id).iter().zip(&moments.means);
                filled.iter_mut().zip(values).for_each(|(to, (value, mean))| *to = value_or(*value, *mean));
                *out = sum(&filled, dense) + R::default();
                widen(&mut range, *out);
            }
            return range.unwrap_or_default();
        }
        let base = sum(&moments.means, dense).to_f64();
        let weights: Vec<f64> =
            dense.iter().zip(&moments.variances).map(|(r, v)| r.to_f64() * r.to_f64() * v.to_f64()).collect();
        let all: f64 = weights.iter().sum();
        let mut filled = vec![R::default(); self.d];
        let mut range: Option<(R, R)> = None;
        for (out, &id) in out.iter_mut().zip(ids) {
            let row = self.row(id);
            let (mut present, mut gaps) = (0.0, false);
            for (((to, &value), &mean), weight) in
                filled.iter_mut().zip(row).zip(&moments.means).zip(&weights)
            {
                *to = value_or(value, mean);
                gaps |= value.is_nan();
                present += if value.is_nan() { 0.0 } else { *weight };
            }
            *out = match gaps {
                false => sum(row, dense) + R::default(),
                true if present > 0.0 => {
                    let off = sum(&filled, dense).to_f64() - base;
                    R::from_f64(base + off * (all / present).sqrt())
                }
                true => direction.coin.side(row),
            };
            if out.is_finite() {
                widen(&mut range, *out);
            }
        }
        range.unwrap_or_default()
    }
}

/// Extends a range to a projection.
fn widen<R: Real>(range: &mut Option<(R, R)>, to: R) {
    let (low, high) = range.unwrap_or((to, to));
    *range = Some((if to < low { to } else { low }, if to > high { to } else { high }));
}
