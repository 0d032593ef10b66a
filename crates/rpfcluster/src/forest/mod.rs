//! rpForests, Algorithm 1 of the paper: T random projection trees over the same points.
//!
//! `params` what can be chosen, `project` r·x in a fixed order, `split` directions and cuts, `grow` one tree,
//! `together` the upper levels of several, `columns` rows that fit the cache, `partition` rows to both sides of a cut,
//! `coarse`, `sieve` and `rough` sums in 16 bits that decide most comparisons, `tree` a tree's storage, `route` new points with
//! `descend` for narrow rows, `codec` bytes.

mod codec;
mod grow;
mod leaf_ids;
mod params;
mod projection;
mod quantized;
mod route;
mod split;
mod tree;
mod tree_batch;

use rayon::prelude::*;

pub use leaf_ids::LeafIds;
pub use params::{Direction, ForestParams, Split};
pub(crate) use quantized::grid::COLUMNS as ROUNDED_COLUMNS;
pub(crate) use tree::Tree;

use crate::error::{Error, Result};
use crate::observe::{Observed, Observer, Stage, check};
use crate::points::{Precision, Real, check_shape};
use projection::fixed_order::{self, Rows};
use quantized::{grid, partition as quantized_partition};

/// A grown forest.
///
/// ```
/// use rpfcluster::{Forest, ForestParams, Points};
/// let values: Vec<f32> = (0..400).map(|i| (i * i % 89) as f32).collect();
/// let points = Points::new(&values, 200, 2)?;
/// let forest = Forest::grow(&points, &ForestParams { trees: 20, ..Default::default() })?;
/// // A training row ends in the leaf it grew up in.
/// assert_eq!(forest.route(&points)?, forest.leaves().leaf_ids().clone());
/// # Ok::<(), rpfcluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    pub(crate) params: ForestParams,
    pub(crate) n: usize,
    pub(crate) d: usize,
    pub(crate) precision: Precision,
    /// Directions are scaled by two to this power; 0 for ordinary data.
    pub(crate) exponent: i32,
    pub(crate) trees: Vec<Tree>,
}

impl Forest {
    /// Grows a forest in the current thread pool.
    pub fn grow<'a, R: Real>(points: impl Into<Observed<'a, R>>, params: &ForestParams) -> Result<Self> {
        let Observed { points, observer } = points.into();
        params.validate()?;
        let (n, d) = (points.n(), points.d());
        let exponent = split::scale_exponent(points.largest());
        let mut job = grow::Job { rows: Rows::new(&points), coarse: None, n, d, params, exponent, observer };
        let large = tree_batch::smallest(&job);
        // A direction with few columns is added up faster than it is rounded.
        let thin = params.direction == Direction::Sparse && d >= fixed_order::LANES;
        let rounded = large.is_some() || tree_batch::many_plain(&job) && d >= grow::MANY_COLUMNS;
        if rounded && quantized_partition::available() && !thin {
            job.coarse = grid::CoarseRows::covering(&job.rows, n, d);
        }
        // As many groups for each thread as for the others.
        let threads = rayon::current_num_threads();
        let groups = match large {
            Some(_) => params.trees.div_ceil(tree_batch::TREES).next_multiple_of(threads).min(params.trees),
            None => params.trees,
        };
        observer.begin(Stage::Grow, params.trees as u64);
        let trees: Result<Vec<Vec<Tree>>> = (0..groups)
            .into_par_iter()
            .with_max_len(1)
            .map_init(grow::Scratch::default, |scratch, group| {
                check(observer)?;
                let numbers = params.trees * group / groups..params.trees * (group + 1) / groups;
                grow_group(&job, numbers, large, scratch)
            })
            .collect();
        observer.end(Stage::Grow);
        let trees = trees?.into_iter().flatten().collect();
        Ok(Forest { params: params.clone(), n, d, precision: R::PRECISION, exponent, trees })
    }

    /// What the forest was grown with.
    pub fn params(&self) -> &ForestParams {
        &self.params
    }

    /// Points it was grown on.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Columns of the data.
    pub fn d(&self) -> usize {
        self.d
    }

    /// Width of the data it was grown on.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Number of trees.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// Depth of the deepest leaf of each tree.
    pub fn depths(&self) -> Vec<usize> {
        self.trees.par_iter().map(Tree::depth).collect()
    }

    /// The nodes from the root of a tree to one of its leaves. Inner nodes are numbered in pre-order, the leaves
    /// follow them from left to right; a tree has twice as many nodes as leaves, less one.
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

    /// Depth of the leaf a point ends in, averaged over points and trees: how many projections a row costs a tree.
    pub fn mean_depth(&self) -> f64 {
        let total: u64 = self.trees.par_iter().map(Tree::point_levels).sum();
        total as f64 / (self.n as f64 * self.trees.len() as f64)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let width = match self.precision {
            Precision::F32 => 4,
            Precision::F64 => 8,
        };
        self.trees
            .iter()
            .map(|t| t.right.len() * (4 + width) + t.draws.len() * 8 + (t.starts.len() + t.members.len()) * 4)
            .sum()
    }

    /// The leaf of each row of `points` in each tree (leaves as grown). Rows of another width are rounded to the
    /// forest's own first.
    pub fn route<'a, R: Real>(&self, points: impl Into<Observed<'a, R>>) -> Result<LeafIds> {
        let Observed { points, observer } = points.into();
        if points.d() != self.d {
            return Err(Error::Columns { got: points.d(), expected: self.d });
        }
        if R::PRECISION == self.precision {
            return self.route_rows(&Rows::new(&points), points.n(), observer);
        }
        match self.precision {
            Precision::F32 => points.in_width::<f32, _>(|same| self.route(same.observed(observer)))?,
            Precision::F64 => points.in_width::<f64, _>(|same| self.route(same.observed(observer)))?,
        }
    }

    fn route_rows<R: Real>(&self, rows: &Rows<R>, n: usize, observer: &dyn Observer) -> Result<LeafIds> {
        observer.begin(Stage::Route, self.trees.len() as u64);
        let unseen = route::Unseen::new(rows, n, self);
        let mut codes = vec![0u32; n * self.trees.len()];
        let done: Result<()> = codes
            .par_chunks_exact_mut(n)
            .zip(&self.trees)
            .enumerate()
            .with_max_len(1)
            .map_init(route::RouteScratch::new, |scratch, (number, (leaves, tree))| {
                route::route_tree(self, number, tree, &unseen, scratch, (leaves, observer))?;
                observer.advance(Stage::Route, 1);
                Ok(())
            })
            .collect();
        observer.end(Stage::Route);
        done.map(|()| LeafIds::new(n, self.trees.len(), codes))
    }

    /// Whether the stored arrays describe a forest; what a model file must pass before it is used.
    pub fn check(&self, observer: &dyn Observer) -> Result<()> {
        let damaged = |problem: String| Error::Model { problem: format!("is damaged: {problem}") };
        self.params.validate().map_err(|e| damaged(e.to_string()))?;
        check_shape(self.n, self.d).map_err(|e| damaged(e.to_string()))?;
        if !split::EXPONENTS.contains(&self.exponent) {
            return Err(damaged(format!("directions are scaled by two to the power {}", self.exponent)));
        }
        let draws = self.params.candidates.max(split::ATTEMPTS);
        for (number, tree) in self.trees.iter().enumerate() {
            check(observer)?;
            let problem = match tree.check(self.n, draws) {
                Ok(()) if tree.cuts.precision() == self.precision => continue,
                Ok(()) => "has cuts of another width".into(),
                Err(problem) => problem,
            };
            return Err(damaged(format!("tree {}: {problem}", number + 1)));
        }
        Ok(())
    }
}

/// Some trees of a forest; `large` is the size down to which their nodes are grown side by side.
fn grow_group<R: Real>(
    job: &grow::Job<R>,
    trees: std::ops::Range<usize>,
    large: Option<usize>,
    scratch: &mut grow::Scratch<R>,
) -> Result<Vec<Tree>> {
    let begun = match large {
        Some(smallest) => tree_batch::begin(job, trees.clone(), smallest, scratch)?,
        None => {
            let new = |_| grow::Begun { members: (0..job.n as u32).collect(), known: Vec::new() };
            trees.clone().map(new).collect()
        }
    };
    let grow = |(tree, begun)| {
        let grown = grow::grow_tree(job, tree, begun, scratch);
        job.observer.advance(Stage::Grow, 1);
        grown
    };
    trees.zip(begun).map(grow).collect()
}
