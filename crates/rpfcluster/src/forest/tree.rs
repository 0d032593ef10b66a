//! A grown tree in three flat arrays and one permutation.
//!
//! Inner nodes are numbered in pre-order, leaves from left to right. An inner node stores its cut and the number at
//! which the inner nodes of its right subtree begin; everything else follows while walking. A walk keeps the range
//! `node..end` of inner nodes of the current subtree and the number of its first leaf: the subtree is a leaf when
//! the range is empty, and it has one leaf more than inner nodes. That is 8 bytes an inner node in f32 and 4 a leaf;
//! neither children, sizes nor paths are stored, and the directions are drawn again from their keys.

use std::sync::Arc;

use crate::points::{Precision, Real};
use crate::random::{ROOT_PATH, child_path};

/// The cuts in the width of the data the tree was grown on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cuts {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Cuts {
    pub fn precision(&self) -> Precision {
        match self {
            Cuts::F32(_) => Precision::F32,
            Cuts::F64(_) => Precision::F64,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Cuts::F32(cuts) => cuts.len(),
            Cuts::F64(cuts) => cuts.len(),
        }
    }

    fn all_finite(&self) -> bool {
        match self {
            Cuts::F32(cuts) => cuts.iter().all(|c| c.is_finite()),
            Cuts::F64(cuts) => cuts.iter().all(|c| c.is_finite()),
        }
    }

    /// Cut `node` in width `R`; exact when `R` is the tree's own width.
    #[inline(always)]
    pub fn get<R: Real>(&self, node: usize) -> R {
        match self {
            Cuts::F32(cuts) => R::from_f64(f64::from(cuts[node])),
            Cuts::F64(cuts) => R::from_f64(cuts[node]),
        }
    }

    pub fn from_real<R: Real>(cuts: Vec<R>) -> Self {
        match R::PRECISION {
            Precision::F32 => Cuts::F32(cuts.into_iter().map(|c| c.to_f64() as f32).collect()),
            Precision::F64 => Cuts::F64(cuts.into_iter().map(Real::to_f64).collect()),
        }
    }
}

/// One tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tree {
    /// For each inner node, where the inner nodes of its right subtree begin.
    pub right: Vec<u32>,
    /// For each inner node, its cut.
    pub cuts: Cuts,
    /// For each inner node whose first direction told nothing apart or was not the widest, which draw it uses:
    /// (inner node, draw), ascending. Nearly always empty unless `candidates` is over 1.
    pub draws: Vec<(u32, u32)>,
    /// For each leaf, where its points begin in `members`; one more entry holds their number.
    pub starts: Arc<[u32]>,
    /// The points, leaf by leaf.
    pub members: Arc<[u32]>,
}

/// Where a walk stands: a subtree.
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

    /// One more than the last leaf of the subtree.
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

    /// Number of points below.
    pub fn size(&self, at: Cursor) -> usize {
        (self.starts[at.leaf_end() as usize] - self.starts[at.leaf as usize]) as usize
    }

    /// Which draw the inner node uses.
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

    /// The leaves of the tree as it would be with a larger `min_node`: their starts, and for each leaf of this tree
    /// the number of the leaf it becomes part of.
    pub fn coarser(&self, min_node: usize) -> (Vec<u32>, Vec<u32>) {
        let mut starts = Vec::new();
        let mut becomes = vec![0u32; self.leaves()];
        let mut stack = vec![self.root()];
        while let Some(at) = stack.pop() {
            if at.is_leaf() || self.size(at) < min_node {
                becomes[at.leaf as usize..at.leaf_end() as usize].fill(starts.len() as u32);
                starts.push(self.starts[at.leaf as usize]);
            } else {
                stack.push(self.right(at));
                stack.push(self.left(at));
            }
        }
        starts.push(self.members.len() as u32);
        (starts, becomes)
    }

    /// The sum over points of the depth of their leaves: the number of projections it took to grow.
    pub fn point_levels(&self) -> u64 {
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

    /// The deepest leaf; the root is at depth 0.
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

    /// Whether the arrays describe one tree over `n` points with fewer than `draws` directions drawn for a node; what
    /// a model file must pass before it is used.
    pub fn check(&self, n: usize, draws: usize) -> Result<(), String> {
        let inner = self.right.len();
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
        let stray = self.starts.windows(2).any(|w| w[0] >= w[1]);
        if self.starts[0] != 0 || self.starts[inner + 1] as usize != n || stray {
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
                return Err("the points are not a permutation".into());
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
