//! Trees grown on a sample of the rows, down which all rows are routed.
//!
//! The sample is bottom-k (`random::sample_places`): whether a row is in it depends on the seed and on the number of the row
//! in the table alone, so a fit that sees the table in parts draws the same sample. A tree is grown until no node has two
//! rows of the sample; all rows are routed, and nodes of fewer than `min_node` of all rows are then leaves. `min_node`
//! thus means the same with and without a sample, and merging leaves gives the tree of a larger `min_node`. The scale of
//! the directions and the column means of rows with gaps are those of all rows; the moments of the nodes are those of
//! the sample. Rows outside the sample may lie beyond the extremes of a node; they join the nearer side.
//!
//! Growing costs O(m d log m) a tree, and routing one projection per row and level, which is about what growing on all
//! rows costs with one direction a node. A sample saves time where growing costs more than routing: with several
//! candidates, the median, or rows that are read from elsewhere.

use rayon::prelude::*;

use super::projection::fixed_order::RowStorage;
use super::route::{RouteScratch, RoutedRows, route_tree};
use super::{Forest, ForestParams};
use crate::error::Result;
use crate::observe::{Observer, Stage, StageGuard};
use crate::points::{Points, Real};
use crate::random::sample_places;

/// The smallest node of the sample that is split.
const MIN_SAMPLE_NODE: usize = 2;

impl Forest {
    /// Grows the trees on `most` rows and routes all of them. `numbers` are the numbers of the rows in the table, where
    /// these are not their places.
    pub(super) fn grow_sampled<R: Real>(
        points: &Points<R>,
        params: &ForestParams,
        most: usize,
        numbers: Option<&[u32]>,
        exponent: i32,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let n = points.n();
        let sample = match numbers {
            Some(numbers) => sample_places(params.seed, numbers.iter().copied(), most),
            None => sample_places(params.seed, 0..n as u32, most),
        };
        let of_sample = ForestParams { min_node: MIN_SAMPLE_NODE, ..params.clone() };
        let mut forest =
            points.with_rows(&sample, |sample| Self::grow_all(sample, &of_sample, exponent, observer))??;
        let stage = StageGuard::begin(observer, Stage::Route, params.trees as u64);
        let storage = RowStorage::new(points);
        let routed = RoutedRows::new(&storage, n, &forest);
        let buffers = || (RouteScratch::default(), vec![0u32; n]);
        let trees: Result<Vec<_>> = (0..params.trees)
            .into_par_iter()
            .with_max_len(1)
            .map_init(buffers, |(scratch, leaves), tree| {
                route_tree(&forest, tree, &routed, scratch, leaves, observer)?;
                stage.advance(1);
                Ok(forest.trees[tree].over_rows(leaves, params.min_node))
            })
            .collect();
        forest.trees = trees?;
        (forest.params, forest.n) = (params.clone(), n);
        Ok(forest)
    }
}
