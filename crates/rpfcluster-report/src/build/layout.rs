//! A two-dimensional layout of the spectral embedding, after LargeVis and UMAP (Tang et al. 2016, McInnes et al. 2018).
//!
//! Every point attracts its nearest neighbours in the spectral embedding and repels points drawn at random, by
//! stochastic gradient descent with the kernel 1 / (1 + d²). The eigenvectors of many clusters, or of a graph in several
//! components, separate one or two clusters each; the layout shows all of them. Neighbourhoods are kept; distances
//! between separate groups mean little.
//!
//! The same points give the same layout. Costs n² · d for the neighbours, with d at most 64, and n · 12 · 200 steps.

use rpfcluster::spectral::Embedding;

/// Neighbours of a point.
const NEIGHBOURS: usize = 12;
/// Passes over all pairs of neighbours.
const PASSES: usize = 200;
/// The distance from which neighbours attract each other; closer ones would cover each other.
const SPACING: f64 = 1.0;
/// Random points that are repelled for each neighbour.
const REPELLED: usize = 5;
/// The largest move of a point in one step, as in UMAP.
const STEP: f64 = 4.0;
/// Dimensions in which neighbours are searched; more columns are folded into these (feature hashing).
const DIMENSIONS: usize = 64;
/// Half the width of the layout at the start.
const START: f64 = 10.0;

/// The coordinates of the rows `shown`. `similarity` is the mean similarity of each of the `k` clusters to each other.
pub fn layout(
    embedding: &Embedding,
    shown: &[usize],
    clusters: &[u32],
    similarity: &[f64],
    k: usize,
) -> [Vec<f64>; 2] {
    let n = shown.len();
    if n < 3 {
        return [(0..n).map(|i| i as f64).collect(), vec![0.0; n]];
    }
    let neighbours = neighbours(&rows(embedding, shown), n);
    let centres = centres(similarity, k);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut at: Vec<[f64; 2]> =
        clusters.iter().map(|&c| centres[c as usize].map(|centre| centre + random.share() - 0.5)).collect();
    for pass in 0..PASSES {
        let rate = 1.0 - pass as f64 / PASSES as f64;
        for (i, near) in neighbours.iter().enumerate() {
            for &j in near {
                let (apart, square) = difference(at[i], at[j]);
                let pull = if square > SPACING * SPACING { -2.0 / (1.0 + square) } else { 0.0 };
                for axis in 0..2 {
                    let step = (pull * apart[axis]).clamp(-STEP, STEP) * rate;
                    at[i][axis] += step;
                    at[j][axis] -= step;
                }
                for _ in 0..REPELLED {
                    let other = random.below(n);
                    if other == i {
                        continue;
                    }
                    let (apart, square) = difference(at[i], at[other]);
                    let push = 2.0 / ((0.01 + square) * (1.0 + square));
                    for axis in 0..2 {
                        at[i][axis] += (push * apart[axis]).clamp(-STEP, STEP) * rate;
                    }
                }
            }
        }
    }
    [0, 1].map(|axis| at.iter().map(|p| p[axis]).collect())
}

fn difference(a: [f64; 2], b: [f64; 2]) -> ([f64; 2], f64) {
    let apart = [a[0] - b[0], a[1] - b[1]];
    (apart, apart[0] * apart[0] + apart[1] * apart[1])
}

/// The rows of the embedding, normalised to length 1 as for the labels, in at most [`DIMENSIONS`] columns.
fn rows(embedding: &Embedding, shown: &[usize]) -> Vec<Vec<f32>> {
    let width = embedding.k().min(DIMENSIONS);
    shown
        .iter()
        .map(|&i| {
            let row = embedding.row(i);
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            let mut folded = vec![0.0; width];
            for (column, value) in row.iter().enumerate() {
                let sign = if column < width || mixed(column as u64) & 1 == 0 { 1.0 } else { -1.0 };
                folded[column % width] += sign * value / length;
            }
            folded.into_iter().map(|v| v as f32).collect()
        })
        .collect()
}

/// The nearest neighbours of each row; of rows at the same distance, random ones.
fn neighbours(rows: &[Vec<f32>], n: usize) -> Vec<Vec<usize>> {
    let most = NEIGHBOURS.min(n - 1);
    let mut found: Vec<(f32, u64, usize)> = Vec::with_capacity(n);
    (0..n)
        .map(|i| {
            found.clear();
            found.extend((0..n).filter(|&j| j != i).map(|j| {
                let square: f32 = rows[i].iter().zip(&rows[j]).map(|(a, b)| (a - b) * (a - b)).sum();
                // Distances below the errors of the solver are equal.
                (if square < 1e-9 { 0.0 } else { square }, mixed((i * n + j) as u64), j)
            }));
            let order =
                |a: &(f32, u64, usize), b: &(f32, u64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if found.len() > most {
                found.select_nth_unstable_by(most - 1, order);
            }
            let mut near: Vec<usize> = found[..most].iter().map(|f| f.2).collect();
            near.sort_unstable();
            near
        })
        .collect()
}

/// Where the clusters start: the second and third eigenvector of the normalised matrix of their similarities (Laplacian
/// eigenmaps, Belkin and Niyogi 2003), by orthogonal iteration. Similar clusters start side by side.
fn centres(similarity: &[f64], k: usize) -> Vec<[f64; 2]> {
    let circle = |c: usize| {
        let angle = std::f64::consts::TAU * c as f64 / k as f64;
        [START * angle.cos(), START * angle.sin()]
    };
    if k < 4 {
        return (0..k).map(circle).collect();
    }
    // A small similarity of all pairs connects clusters that share no leaf.
    let between =
        |a: usize, b: usize| if a == b { 0.0 } else { similarity[a * k + b] + similarity[b * k + a] };
    let pairs = (0..k * k).map(|at| between(at / k, at % k));
    let floor = (pairs.sum::<f64>() / (k * k) as f64 * 0.02).max(f64::MIN_POSITIVE);
    let weight = |a: usize, b: usize| if a == b { 0.0 } else { between(a, b) + floor };
    let root: Vec<f64> = (0..k).map(|a| (0..k).map(|b| weight(a, b)).sum::<f64>().sqrt()).collect();
    let matrix: Vec<f64> =
        (0..k * k).map(|at| weight(at / k, at % k) / (root[at / k] * root[at % k])).collect();
    let mut vectors = [root.clone(), Vec::new(), Vec::new()];
    for (axis, vector) in vectors.iter_mut().enumerate().skip(1) {
        *vector = (0..k).map(|c| circle(c)[axis - 1] * root[c]).collect();
    }
    orthonormalise(&mut vectors);
    for _ in 0..300 {
        for vector in &mut vectors[1..] {
            // One half of the identity: the eigenvalues are then positive, and the largest ones are wanted.
            let product = (0..k).map(|a| {
                let row = &matrix[a * k..][..k];
                0.5 * (vector[a] + row.iter().zip(vector.iter()).map(|(m, v)| m * v).sum::<f64>())
            });
            *vector = product.collect();
        }
        orthonormalise(&mut vectors);
    }
    let scaled = |axis: usize, c: usize| vectors[axis][c] / root[c];
    let most = |axis: usize| (0..k).map(|c| scaled(axis, c).abs()).fold(f64::MIN_POSITIVE, f64::max);
    let widths = [most(1), most(2)];
    (0..k).map(|c| [1, 2].map(|axis| START * scaled(axis, c) / widths[axis - 1])).collect()
}

/// Gram and Schmidt.
fn orthonormalise(vectors: &mut [Vec<f64>; 3]) {
    for at in 0..vectors.len() {
        let (before, rest) = vectors.split_at_mut(at);
        let vector = &mut rest[0];
        for other in before {
            let dot: f64 = vector.iter().zip(other.iter()).map(|(a, b)| a * b).sum();
            vector.iter_mut().zip(other.iter()).for_each(|(v, o)| *v -= dot * o);
        }
        let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        vector.iter_mut().for_each(|v| *v /= length);
    }
}

/// SplitMix64 (Steele et al. 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (((self.next() >> 32) * n as u64) >> 32) as usize
    }
}

/// The last step of SplitMix64, a hash of a number.
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use rpfcluster::Silent;
    use rpfcluster::affinity::SparseAffinity;
    use rpfcluster::spectral::{EmbedOptions, SpectralParams, embed};

    use super::*;

    #[test]
    fn separate_components_are_laid_out_apart() {
        const K: usize = 12;
        const SIZE: usize = 20;
        let n = K * SIZE;
        let dense: Vec<f64> =
            (0..n * n).map(|at| f64::from(u8::from(at / n / SIZE == at % n / SIZE))).collect();
        let affinity = SparseAffinity::precomputed_dense(&dense, n, &Silent).unwrap();
        let params = SpectralParams { k: K, ..Default::default() };
        let embedding = embed(&affinity, &params, &EmbedOptions::default(), &Silent).unwrap();
        let clusters: Vec<u32> = (0..n).map(|i| (i / SIZE) as u32).collect();
        let shown: Vec<usize> = (0..n).collect();
        let [x, y] = layout(&embedding, &shown, &clusters, &[0.0; K * K], K);
        let nearest = |i: usize| {
            let distance = |j: usize| (x[i] - x[j]).powi(2) + (y[i] - y[j]).powi(2);
            (0..n).filter(|&j| j != i).min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        };
        let kept = (0..n).filter(|&i| clusters[nearest(i).unwrap()] == clusters[i]).count();
        assert!(kept == n, "the nearest point of {kept} of {n} is of the same cluster");
        assert_eq!(layout(&embedding, &shown, &clusters, &[0.0; K * K], K), [x, y]);
    }

    #[test]
    fn similar_clusters_start_side_by_side() {
        // A chain of six clusters.
        const K: usize = 6;
        let chain: Vec<f64> =
            (0..K * K).map(|at| if (at / K).abs_diff(at % K) == 1 { 0.1 } else { 0.0 }).collect();
        let at = centres(&chain, K);
        let distance = |a: usize, b: usize| difference(at[a], at[b]).1;
        assert!((0..K - 2).all(|c| distance(c, c + 1) < distance(c, c + 2)), "{at:?}");
    }
}
