//! Random projection forests, Algorithm 1 of the paper: T random projection trees (Dasgupta and Freund, STOC 2008) over
//! the same rows.
//!
//! [`Forest`] grows trees in parallel, alone or in batches, routes rows to leaves and lists the paths of a tree. A tree
//! is a function of data, parameters, seed and tree number: threads and instruction set do not change a bit. Growing
//! costs one projection per row, level and tree; a tree takes 4 bytes per row and 12 to 16 per leaf.
//!
//! `params` holds the parameters, `split` draws directions and cuts, `grow` grows a tree, `tree_batch` the upper levels
//! of several, `sampled` grows trees on a sample, `tree` stores a tree, `route` sends rows down a tree, `leaf_ids` holds the
//! result, `codec` writes model files. `gaps` projects rows with missing values, `levels` helps it with levels that no
//! training row has. `projection` computes exact projections, `quantized` 16-bit approximations that decide most
//! comparisons.

#[cfg(feature = "serde")]
mod codec;
mod gaps;
mod grow;
mod leaf_ids;
mod levels;
mod params;
mod projection;
mod quantized;
mod route;
mod sampled;
mod split;
mod tree;
mod tree_batch;

use std::ops::Range;

use rayon::prelude::*;

pub(crate) use gaps::SHARE as GAP_SHARE;
pub use leaf_ids::LeafIds;
pub use params::{Direction, ForestParams, Split};
pub(crate) use quantized::grid::MAX_COLUMNS as QUANTIZED_COLUMNS;
pub(crate) use tree::{Tree, leaf_lists};

use crate::error::{Error, Result, damaged};
use crate::observe::{Observed, Observer, Stage, StageGuard, check};
use crate::points::{AnyPoints, ColumnKey, Points, Precision, Real, check_shape, first_descent};
use levels::FittedLevels;
use projection::fixed_order::{self, RowStorage};
use quantized::{grid, partition as quantized_partition};

/// A grown random projection forest.
///
/// ```
/// use rpfcluster::{Forest, ForestParams, Points};
/// let values: Vec<f32> = (0..400).map(|i| (i * i % 89) as f32).collect();
/// let points = Points::new(&values, 200, 2)?;
/// let forest = Forest::grow(&points, &ForestParams { trees: 20, ..Default::default() })?;
/// // A training row is routed to its own leaf.
/// assert_eq!(forest.route(&points)?, forest.leaves().leaf_ids().clone());
/// # Ok::<(), rpfcluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    pub(crate) params: ForestParams,
    pub(crate) n: usize,
    pub(crate) d: usize,
    pub(crate) precision: Precision,
    /// Directions are scaled by two to this power; 0 unless the data is very large or very small.
    pub(crate) exponent: i32,
    /// What the columns stand for; empty where coefficients are drawn by place.
    pub(crate) keys: Vec<ColumnKey>,
    /// The levels of the training rows, where columns are indicators and the nodes keep no moments.
    pub(crate) levels: Option<FittedLevels>,
    pub(crate) trees: Vec<Tree>,
}

impl Forest {
    /// Grows a forest in the current thread pool.
    pub fn grow<'a, R: Real>(points: impl Into<Observed<'a, R>>, params: &ForestParams) -> Result<Self> {
        let Observed { points, observer } = points.into();
        Self::grow_any(R::any(points), params, None, observer)
    }

    /// [`Forest::grow`] on some rows of a table, whose numbers there decide which of them `max_samples` takes.
    pub(crate) fn grow_numbered<R: Real>(
        points: &Points<R>,
        params: &ForestParams,
        numbers: Option<&[u32]>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        Self::grow_any(R::any(*points), params, numbers, observer)
    }

    fn grow_any(
        points: AnyPoints<'_>,
        params: &ForestParams,
        numbers: Option<&[u32]>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        params.validate()?;
        match points {
            AnyPoints::F32(points) => Self::grow_points(&points, params, numbers, observer),
            AnyPoints::F64(points) => Self::grow_points(&points, params, numbers, observer),
        }
    }

    fn grow_points<R: Real>(
        points: &Points<R>,
        params: &ForestParams,
        numbers: Option<&[u32]>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let exponent = split::scale_exponent(points.largest());
        let mut forest = match params.max_samples {
            Some(most) if most < points.n() => {
                Self::grow_sampled(points, params, most, numbers, exponent, observer)?
            }
            _ => Self::grow_all(points, params, exponent, observer)?,
        };
        if points.means().is_empty() {
            forest.levels = FittedLevels::of(points);
        }
        Ok(forest)
    }

    /// Grows the trees on all of these rows.
    fn grow_all<R: Real>(
        points: &Points<R>,
        params: &ForestParams,
        exponent: i32,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (n, d) = (points.n(), points.d());
        let mut job = grow::Job {
            rows: RowStorage::new(points),
            quantized: None,
            means: points.means(),
            keys: points.keys(),
            n,
            d,
            params,
            exponent,
            observer,
        };
        let limit = tree_batch::node_limit(&job);
        // A sparse direction is projected faster than it is quantized.
        let is_sparse = params.direction == Direction::Sparse && d >= fixed_order::LANES;
        let is_large = limit.is_some() || tree_batch::is_batchable(&job) && d >= grow::MANY_COLUMNS;
        if is_large && !is_sparse && quantized_partition::available() {
            job.quantized = grid::QuantizedRows::covering(&job.rows, n, d);
        }
        // A multiple of the number of threads, so that every thread grows as many batches.
        let threads = rayon::current_num_threads();
        let batches = match limit {
            Some(_) => params.trees.div_ceil(tree_batch::TREES).next_multiple_of(threads).min(params.trees),
            None => params.trees,
        };
        let stage = StageGuard::begin(observer, Stage::Grow, params.trees as u64);
        let trees: Result<Vec<Vec<Tree>>> = (0..batches)
            .into_par_iter()
            .with_max_len(1)
            .map_init(grow::Scratch::default, |scratch, batch| {
                stage.check()?;
                let trees = params.trees * batch / batches..params.trees * (batch + 1) / batches;
                grow_batch(&job, trees, limit, &stage, scratch)
            })
            .collect();
        let trees = trees?.into_iter().flatten().collect();
        let keys = points.keys().to_vec();
        Ok(Forest {
            params: params.clone(),
            n,
            d,
            precision: R::PRECISION,
            exponent,
            keys,
            levels: None,
            trees,
        })
    }

    /// The parameters of the forest.
    pub fn params(&self) -> &ForestParams {
        &self.params
    }

    /// Number of training rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns.
    pub fn d(&self) -> usize {
        self.d
    }

    /// What the columns stand for ([`Points::with_keys`]); empty where coefficients are drawn by place.
    pub fn keys(&self) -> &[ColumnKey] {
        &self.keys
    }

    /// Precision of the training data.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Number of trees.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// The depth of the deepest leaf of each tree.
    pub fn depths(&self) -> Vec<usize> {
        self.trees.par_iter().map(Tree::depth).collect()
    }

    /// The nodes on the path from the root of a tree to a leaf. Inner nodes are numbered in pre-order; the leaves
    /// follow from left to right. A tree of m leaves has 2m - 1 nodes.
    ///
    /// ```
    /// # use rpfcluster::{Forest, ForestParams, Points};
    /// let points = Points::new(&[0.0, 1.0, 2.0], 3, 1)?;
    /// let forest = Forest::grow(&points, &ForestParams { trees: 1, min_node: 2, ..Default::default() })?;
    /// assert_eq!(forest.path(0, 0)?.first(), Some(&0));
    /// assert_eq!(forest.path(0, 0)?.last(), Some(&2)); // two inner nodes, so leaf 0 is node 2
    /// assert!(forest.path(0, 3).is_err());
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn path(&self, tree: usize, leaf: u32) -> Result<Vec<u32>> {
        let Some(tree) = self.trees.get(tree) else {
            let expected = format!("below {}, the number of trees", self.trees.len());
            return Err(crate::error::parameter("tree", tree, expected));
        };
        if leaf as usize >= tree.leaves() {
            let expected = format!("below {}, the number of leaves of the tree", tree.leaves());
            return Err(crate::error::parameter("leaf", leaf, expected));
        }
        let mut path = Vec::new();
        let mut at = tree.root();
        while !at.is_leaf() {
            path.push(at.node);
            let left = tree.left(at);
            at = if leaf < left.leaf_end() { left } else { tree.right(at) };
        }
        path.push(tree.right.len() as u32 + leaf);
        Ok(path)
    }

    /// The mean depth of the leaf of a row over rows and trees: the number of projections per row and tree.
    pub fn mean_depth(&self) -> f64 {
        let total: u64 = self.trees.par_iter().map(Tree::total_depth).sum();
        total as f64 / (self.n as f64 * self.trees.len() as f64)
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        let width = match self.precision {
            Precision::F32 => 4,
            Precision::F64 => 8,
        };
        let levels =
            self.levels.as_ref().map_or(0, |levels| 2 * levels.codes.len() + 8 * levels.values.len());
        let of_trees: usize = self
            .trees
            .iter()
            .map(|t| {
                let moments =
                    t.moments.as_ref().map_or(0, |found| found.nodes.len() * (4 + 2 * width * self.d));
                t.right.len() * (4 + width)
                    + t.draws.len() * 8
                    + (t.starts.len() + t.members.len()) * 4
                    + moments
            })
            .sum();
        of_trees + levels + self.keys.len() * size_of::<ColumnKey>()
    }

    /// The leaf of each row of `points` in each tree. Rows of another precision are converted to that of the forest
    /// first.
    pub fn route<'a, R: Real>(&self, points: impl Into<Observed<'a, R>>) -> Result<LeafIds> {
        let Observed { points, observer } = points.into();
        if points.d() != self.d {
            return Err(Error::Columns { got: points.d(), expected: self.d });
        }
        if R::PRECISION == self.precision {
            return self.route_any(R::any(points), observer);
        }
        match self.precision {
            Precision::F32 => {
                points.in_width::<f32, _>(|same| self.route_any(AnyPoints::F32(*same), observer))?
            }
            Precision::F64 => {
                points.in_width::<f64, _>(|same| self.route_any(AnyPoints::F64(*same), observer))?
            }
        }
    }

    fn route_any(&self, points: AnyPoints<'_>, observer: &dyn Observer) -> Result<LeafIds> {
        match points {
            AnyPoints::F32(points) => self.route_points(points, observer),
            AnyPoints::F64(points) => self.route_points(points, observer),
        }
    }

    fn route_points<R: Real>(&self, points: Points<'_, R>, observer: &dyn Observer) -> Result<LeafIds> {
        let has_moments = self.trees.iter().all(|tree| tree.moments.is_some());
        let points = match points.complete() {
            Some(complete) => complete,
            None if has_moments => points,
            None if !points.lacks_levels_only() => return Err(Error::Gaps),
            None if self.levels.is_some() => points,
            // A model of an earlier version.
            None => {
                return points.with_gaps_filled(|filled| self.route_points(*filled, observer))?;
            }
        };
        self.route_rows(&RowStorage::new(&points), points.n(), observer)
    }

    fn route_rows<R: Real>(
        &self,
        rows: &RowStorage<R>,
        n: usize,
        observer: &dyn Observer,
    ) -> Result<LeafIds> {
        let stage = StageGuard::begin(observer, Stage::Route, self.trees.len() as u64);
        let routed = route::RoutedRows::new(rows, n, self);
        let mut ids = vec![0u32; n * self.trees.len()];
        ids.par_chunks_exact_mut(n).enumerate().with_max_len(1).try_for_each_init(
            route::RouteScratch::default,
            |scratch, (tree, leaves)| {
                route::route_tree(self, tree, &routed, scratch, leaves, observer)?;
                stage.advance(1);
                Ok(())
            },
        )?;
        Ok(LeafIds::new(n, self.trees.len(), ids))
    }

    /// Validates the arrays of a forest that was read from a model file.
    pub fn check(&self, observer: &dyn Observer) -> Result<()> {
        self.params.validate().map_err(damaged)?;
        check_shape(self.n, self.d).map_err(damaged)?;
        if !split::EXPONENTS.contains(&self.exponent) {
            return Err(damaged(format!("directions are scaled by two to the power {}", self.exponent)));
        }
        if !(self.keys.is_empty() || self.keys.len() == self.d) || first_descent(&self.keys).is_some() {
            return Err(damaged("the keys of its columns do not fit"));
        }
        if self.levels.as_ref().is_some_and(|levels| !levels.fits(self.n)) {
            return Err(damaged("the levels of its rows do not fit"));
        }
        let draws = self.params.candidates.max(split::ATTEMPTS);
        for (number, tree) in self.trees.iter().enumerate() {
            check(observer)?;
            let problem = match tree.check(self.n, self.d, draws) {
                Ok(()) if tree.cuts.precision() == self.precision => continue,
                Ok(()) => "has cuts of another precision".into(),
                Err(problem) => problem,
            };
            return Err(damaged(format!("tree {}: {problem}", number + 1)));
        }
        Ok(())
    }
}

/// Grows some trees, the nodes of more than `limit` rows as a batch.
fn grow_batch<R: Real>(
    job: &grow::Job<R>,
    trees: Range<usize>,
    limit: Option<usize>,
    stage: &StageGuard<'_>,
    scratch: &mut grow::Scratch<R>,
) -> Result<Vec<Tree>> {
    let partial = match limit {
        Some(limit) => tree_batch::grow_upper_levels(job, trees.clone(), limit, scratch)?,
        None => trees.clone().map(|_| grow::PartialTree::new(job.n)).collect(),
    };
    let grow = |(tree, partial)| {
        let grown = grow::grow_tree(job, tree, partial, scratch);
        stage.advance(1);
        grown
    };
    trees.zip(partial).map(grow).collect()
}
