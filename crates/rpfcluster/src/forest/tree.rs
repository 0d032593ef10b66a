//! A grown tree in flat arrays: a pre-order encoding of the inner nodes and a permutation of the rows.
//!
//! Inner nodes are numbered in pre-order, leaves from left to right. An inner node stores its cut and the index at
//! which the inner nodes of its right subtree begin. A traversal keeps the range `node..end` of the inner nodes of the
//! current subtree and the index of its first leaf; the subtree is a leaf when the range is empty, and has one leaf
//! more than inner nodes. 8 bytes per inner node in f32 (12 in f64), 4 per leaf and 4 per row: children, sizes and
//! paths follow from the traversal, and directions are drawn again from their keys.

use std::sync::Arc;

use super::gaps::NodeMoments;
use crate::points::{Precision, Real};
use crate::random::{ROOT_PATH, child_path};

/// Numbers of the inner nodes, cuts or means, in the precision of the training data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeValues {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl NodeValues {
    pub fn precision(&self) -> Precision {
        match self {
            NodeValues::F32(_) => Precision::F32,
            NodeValues::F64(_) => Precision::F64,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            NodeValues::F32(values) => values.len(),
            NodeValues::F64(values) => values.len(),
        }
    }

    pub fn all_finite(&self) -> bool {
        match self {
            NodeValues::F32(values) => values.iter().all(|v| v.is_finite()),
            NodeValues::F64(values) => values.iter().all(|v| v.is_finite()),
        }
    }

    /// Value `at` in precision `R`; exact in the precision of the tree.
    #[inline(always)]
    pub fn get<R: Real>(&self, at: usize) -> R {
        match self {
            NodeValues::F32(values) => R::from_f64(f64::from(values[at])),
            NodeValues::F64(values) => R::from_f64(values[at]),
        }
    }

    /// The values at these places.
    pub fn at(&self, places: &[u32]) -> Self {
        match self {
            NodeValues::F32(values) => {
                NodeValues::F32(places.iter().map(|at| values[*at as usize]).collect())
            }
            NodeValues::F64(values) => {
                NodeValues::F64(places.iter().map(|at| values[*at as usize]).collect())
            }
        }
    }

    /// The values of a range.
    #[cfg(feature = "serde")]
    pub fn part(&self, range: std::ops::Range<usize>) -> Self {
        match self {
            NodeValues::F32(values) => NodeValues::F32(values[range].to_vec()),
            NodeValues::F64(values) => NodeValues::F64(values[range].to_vec()),
        }
    }

    pub fn from_real<R: Real>(values: Vec<R>) -> Self {
        match R::PRECISION {
            Precision::F32 => NodeValues::F32(values.into_iter().map(|v| v.to_f64() as f32).collect()),
            Precision::F64 => NodeValues::F64(values.into_iter().map(Real::to_f64).collect()),
        }
    }
}

/// A grown tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tree {
    /// For each inner node, the index at which the inner nodes of its right subtree begin.
    pub right: Vec<u32>,
    /// For each inner node, its cut.
    pub cuts: NodeValues,
    /// (inner node, draw), ascending, for the inner nodes that do not use their first direction: it separated no rows
    /// or was not the widest. Usually empty unless `candidates` is over 1.
    pub draws: Vec<(u32, u32)>,
    /// Means and variances at the large nodes, where the training rows may have gaps.
    pub moments: Option<NodeMoments>,
    /// Start of each leaf in `members`, and their number at the end.
    pub starts: Arc<[u32]>,
    /// The rows, leaf by leaf.
    pub members: Arc<[u32]>,
}

/// The position of a traversal: a subtree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor {
    pub node: u32,
    pub end: u32,
    pub leaf: u32,
    pub path: u64,
}

impl Cursor {
    #[inline(always)]
    pub fn is_leaf(self) -> bool {
        self.node == self.end
    }

    /// The index after the last leaf of the subtree.
    #[inline(always)]
    pub fn leaf_end(self) -> u32 {
        self.leaf + (self.end - self.node) + 1
    }
}

impl Tree {
    pub fn root(&self) -> Cursor {
        Cursor { node: 0, end: self.right.len() as u32, leaf: 0, path: ROOT_PATH }
    }

    #[inline(always)]
    pub fn left(&self, at: Cursor) -> Cursor {
        let right = self.right[at.node as usize];
        Cursor { node: at.node + 1, end: right, leaf: at.leaf, path: child_path(at.path, false) }
    }

    #[inline(always)]
    pub fn right(&self, at: Cursor) -> Cursor {
        let right = self.right[at.node as usize];
        Cursor {
            node: right,
            end: at.end,
            leaf: at.leaf + (right - at.node),
            path: child_path(at.path, true),
        }
    }

    /// Number of rows in the subtree.
    pub fn size(&self, at: Cursor) -> usize {
        (self.starts[at.leaf_end() as usize] - self.starts[at.leaf as usize]) as usize
    }

    /// The draw that the inner node uses.
    #[inline]
    pub fn draw_of(&self, node: u32) -> usize {
        if self.draws.is_empty() {
            return 0;
        }
        self.draws.binary_search_by_key(&node, |d| d.0).map_or(0, |i| self.draws[i].1 as usize)
    }

    pub fn leaves(&self) -> usize {
        self.starts.len() - 1
    }

    /// Merges the leaves that a larger `min_node` would not have split. Returns the starts of the merged leaves and,
    /// for each leaf, the merged leaf that contains it.
    pub fn merge_leaves(&self, min_node: usize) -> (Vec<u32>, Vec<u32>) {
        let mut starts = Vec::new();
        let mut merged_into = vec![0u32; self.leaves()];
        let mut stack = vec![self.root()];
        while let Some(at) = stack.pop() {
            if at.is_leaf() || self.size(at) < min_node {
                merged_into[at.leaf as usize..at.leaf_end() as usize].fill(starts.len() as u32);
                starts.push(self.starts[at.leaf as usize]);
            } else {
                stack.push(self.right(at));
                stack.push(self.left(at));
            }
        }
        starts.push(self.members.len() as u32);
        (starts, merged_into)
    }

    /// This tree over other rows, given by their leaf ids, without the nodes of fewer than `min_node` of these rows. Every
    /// leaf must have a row.
    pub fn over_rows(&self, ids: &[u32], min_node: usize) -> Tree {
        let mut starts = vec![0u32; self.leaves() + 1];
        ids.iter().for_each(|leaf| starts[*leaf as usize + 1] += 1);
        (0..self.leaves()).for_each(|leaf| starts[leaf + 1] += starts[leaf]);
        let size = |at: Cursor| starts[at.leaf_end() as usize] - starts[at.leaf as usize];
        let (mut right, mut kept, mut merged_into) = (Vec::new(), Vec::new(), vec![0; self.leaves()]);
        let mut count = 0;
        // With the inner node whose right child this is.
        let mut stack = vec![(self.root(), None::<usize>)];
        while let Some((at, right_of)) = stack.pop() {
            if let Some(parent) = right_of {
                right[parent] = right.len() as u32;
            }
            if at.is_leaf() || (size(at) as usize) < min_node {
                merged_into[at.leaf as usize..at.leaf_end() as usize].fill(count);
                count += 1;
            } else {
                stack.push((self.right(at), Some(right.len())));
                stack.push((self.left(at), None));
                right.push(0);
                kept.push(at.node);
            }
        }
        let ids: Vec<u32> = ids.iter().map(|leaf| merged_into[*leaf as usize]).collect();
        let (starts, members) = leaf_lists(&ids, count as usize);
        let place = |node: u32| kept.binary_search(&node).ok().map(|at| at as u32);
        Tree {
            right,
            cuts: self.cuts.at(&kept),
            draws: self.draws.iter().filter_map(|&(node, draw)| Some((place(node)?, draw))).collect(),
            moments: self.moments.as_ref().map(|moments| moments.of_nodes(place)),
            starts: Arc::from(starts),
            members: Arc::from(members),
        }
    }

    /// The sum over rows of the depth of their leaf: the number of projections of growing.
    pub fn total_depth(&self) -> u64 {
        let mut total = 0;
        let mut stack = vec![self.root()];
        while let Some(at) = stack.pop() {
            if !at.is_leaf() {
                total += self.size(at) as u64;
                stack.push(self.right(at));
                stack.push(self.left(at));
            }
        }
        total
    }

    /// The depth of the deepest leaf; the root has depth 0.
    pub fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut stack = vec![(self.root(), 0usize)];
        while let Some((at, depth)) = stack.pop() {
            deepest = deepest.max(depth);
            if !at.is_leaf() {
                stack.push((self.right(at), depth + 1));
                stack.push((self.left(at), depth + 1));
            }
        }
        deepest
    }

    /// Validates the arrays of a model file: a tree over `n` rows and `d` columns with fewer than `draws` directions per
    /// node.
    pub fn check(&self, n: usize, d: usize, draws: usize) -> Result<(), String> {
        let inner = self.right.len();
        if self.moments.as_ref().is_some_and(|moments| !moments.fits(inner, d, self.cuts.precision())) {
            return Err("the node moments do not fit its nodes".into());
        }
        if self.cuts.len() != inner || self.starts.len() != inner + 2 {
            return Err(format!(
                "{inner} inner nodes, {} cuts and {} leaf starts do not fit",
                self.cuts.len(),
                self.starts.len()
            ));
        }
        if !self.cuts.all_finite() {
            return Err("a cut is not finite".into());
        }
        let in_order = self.draws.windows(2).all(|w| w[0].0 < w[1].0)
            && self.draws.iter().all(|&(node, draw)| (node as usize) < inner && (draw as usize) < draws);
        if !in_order {
            return Err("the draws do not fit its nodes".into());
        }
        let unordered = self.starts.windows(2).any(|w| w[0] >= w[1]);
        if self.starts[0] != 0 || self.starts[inner + 1] as usize != n || unordered {
            return Err("leaf starts are out of order".into());
        }
        if !self.members.is_empty() {
            let mut seen = vec![false; n];
            let whole = self.members.len() == n
                && self
                    .members
                    .iter()
                    .all(|&i| (i as usize) < n && !std::mem::replace(&mut seen[i as usize], true));
            if !whole {
                return Err("the rows are not a permutation".into());
            }
        }
        let mut stack = vec![(0u32, inner as u32)];
        while let Some((node, end)) = stack.pop() {
            if node < end {
                let right = self.right[node as usize];
                if right <= node || right > end {
                    return Err(format!("inner node {node} points to {right}"));
                }
                stack.push((right, end));
                stack.push((node + 1, right));
            }
        }
        Ok(())
    }
}

/// The leaf lists of rows with these leaf ids, by counting sort: the start of each of `count` leaves, and the rows.
pub(crate) fn leaf_lists(ids: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; count + 1];
    for &leaf in ids {
        starts[leaf as usize + 1] += 1;
    }
    for leaf in 0..count {
        starts[leaf + 1] += starts[leaf];
    }
    let mut next = starts.clone();
    let mut members = vec![0u32; ids.len()];
    for (row, &leaf) in (0..).zip(ids) {
        members[next[leaf as usize] as usize] = row;
        next[leaf as usize] += 1;
    }
    (starts, members)
}
