//! Shared by several test files: generated data, every kind of forest, and the kernel by brute force.
#![allow(dead_code, clippy::unwrap_used)]

use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{Direction, Forest, ForestParams, LeafIds, LeafMatrix, Points, Real, Split};

/// n x d standard normal values, row after row.
pub fn normals(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut values = vec![0.0; n * d];
    Stream::new(seed, Purpose::Shapes, 100, 0).normals(&mut values);
    values
}

/// Normal values of which about `share` are not zero; some rows have none.
pub fn mostly_zero(n: usize, d: usize, share: f64, seed: u64) -> Vec<f64> {
    let mut coin = Stream::new(seed, Purpose::Shapes, 101, 0);
    let mut values = normals(n, d, seed);
    for value in &mut values {
        if coin.uniform() >= share {
            *value = 0.0;
        }
    }
    values
}

/// Few distinct integers: many ties, many equal rows.
pub fn integers(n: usize, d: usize, distinct: u64, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, Purpose::Shapes, 102, 0);
    (0..n * d).map(|_| stream.below(distinct) as f64 - 1.0).collect()
}

pub fn to_f32(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&v| v as f32).collect()
}

/// A dense table as compressed rows; zeros are left out.
pub struct Csr<R> {
    pub starts: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<R>,
    pub n: usize,
    pub d: usize,
}

impl<R: Real> Csr<R> {
    pub fn of(dense: &[R], n: usize, d: usize) -> Self {
        let mut csr = Csr { starts: vec![0], columns: Vec::new(), values: Vec::new(), n, d };
        for row in dense.chunks_exact(d) {
            for (j, &x) in row.iter().enumerate() {
                if x != R::default() {
                    csr.columns.push(j as u32);
                    csr.values.push(x);
                }
            }
            csr.starts.push(csr.columns.len());
        }
        csr
    }

    pub fn points(&self) -> Points<'_, R> {
        Points::sparse(&self.starts, &self.columns, &self.values, self.n, self.d).unwrap()
    }
}

/// Every combination of split, direction and number of candidates that has a code path of its own.
pub fn kinds(trees: usize, min_node: usize, seed: u64) -> Vec<ForestParams> {
    let mut all = Vec::new();
    for split in [Split::Uniform, Split::Median] {
        for direction in [Direction::Gaussian, Direction::Sparse] {
            for candidates in [1, 3] {
                all.push(ForestParams {
                    trees,
                    min_node,
                    split,
                    direction,
                    candidates,
                    max_samples: None,
                    seed,
                });
            }
        }
    }
    all
}

pub fn grow<R: Real>(values: &[R], n: usize, d: usize, params: &ForestParams) -> Forest {
    Forest::grow(&Points::new(values, n, d).unwrap(), params).unwrap()
}

/// In how many trees row i of `a` and row j of `b` share a leaf, by comparing every tree.
pub fn brute_counts(a: &LeafIds, b: &LeafIds) -> Vec<Vec<usize>> {
    (0..a.n())
        .map(|i| (0..b.n()).map(|j| (0..a.trees()).filter(|&t| a.get(i, t) == b.get(j, t)).count()).collect())
        .collect()
}

/// The k largest of `counts`, ties by lowest index, without zeros and without the entry `without`.
pub fn brute_top(counts: &[usize], without: Option<usize>, k: usize) -> Vec<(u32, u16)> {
    let mut all: Vec<(u32, u16)> = counts
        .iter()
        .enumerate()
        .filter(|&(j, &c)| c > 0 && Some(j) != without)
        .map(|(j, &c)| (j as u32, c as u16))
        .collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(k);
    all
}

/// The sorted members of every leaf of every tree.
pub fn leaf_lists(leaves: &LeafMatrix) -> Vec<Vec<Vec<u32>>> {
    (0..leaves.trees())
        .map(|t| {
            let count = leaves.first_column(t + 1) - leaves.first_column(t);
            (0..count)
                .map(|leaf| {
                    let mut members = leaves.members(t, leaf as u32).to_vec();
                    members.sort_unstable();
                    members
                })
                .collect()
        })
        .collect()
}
