//! The silhouette (Rousseeuw, J. Comput. Appl. Math. 20, 1987) with similarities in place of distances:
//! (a - b) / max(a, b), where a is the mean similarity of a point to the other points of its own cluster and b that to
//! the most similar other cluster. Computed for the drawn points, in one pass over the leaves or their matrix rows.

use rpfcluster::LeafMatrix;
use rpfcluster::metrics::cluster_sizes;

use crate::clustering::{Clustering, MatrixClustering};

/// The mean similarity of each drawn point to each cluster.
pub struct ClusterSimilarity {
    k: usize,
    /// The cluster of each point.
    own: Vec<u32>,
    /// Points x k; NaN where a cluster has no other point.
    means: Vec<f64>,
}

impl ClusterSimilarity {
    fn new(sums: Vec<f64>, shown: &[usize], labels: &[u32], k: usize) -> Self {
        let sizes = cluster_sizes(labels, k);
        let own: Vec<u32> = shown.iter().map(|&i| labels[i]).collect();
        let mut means = sums;
        for (point, row) in means.chunks_exact_mut(k.max(1)).enumerate() {
            for (cluster, mean) in row.iter_mut().enumerate() {
                let others = sizes[cluster] - usize::from(own[point] as usize == cluster);
                *mean = if others > 0 { *mean / others as f64 } else { f64::NAN };
            }
        }
        ClusterSimilarity { k, own, means }
    }

    /// The cluster a point is most similar to apart from its own.
    pub fn next(&self, point: usize) -> Option<u32> {
        let row = &self.means[point * self.k..][..self.k];
        let others = row.iter().enumerate().filter(|(c, _)| *c != self.own[point] as usize);
        let best = others.filter(|(_, m)| **m > 0.0).max_by(|a, b| a.1.total_cmp(b.1));
        best.map(|(cluster, _)| cluster as u32)
    }

    /// The mean similarity of the points of each cluster to each other cluster, k x k; 0 where there is none.
    pub fn between_clusters(&self) -> Vec<f64> {
        let (k, mut sums, mut counts) = (self.k, vec![0.0; self.k * self.k], vec![0.0; self.k]);
        for (row, &own) in self.means.chunks_exact(k.max(1)).zip(&self.own) {
            let of_cluster = &mut sums[own as usize * k..][..k];
            of_cluster.iter_mut().zip(row).filter(|(_, m)| !m.is_nan()).for_each(|(sum, m)| *sum += m);
            counts[own as usize] += 1.0;
        }
        sums.iter().enumerate().map(|(at, sum)| sum / f64::max(counts[at / k], 1.0)).collect()
    }

    /// The silhouette of each point, from -1 to 1; 0 for a point alone in its cluster, or when there is one cluster.
    pub fn silhouette(&self) -> Vec<f64> {
        self.own
            .iter()
            .enumerate()
            .map(|(point, &own)| {
                let a = self.means[point * self.k + own as usize];
                let b = self.next(point).map_or(0.0, |c| self.means[point * self.k + c as usize]);
                let larger = a.max(b);
                if self.k < 2 || a.is_nan() || larger <= 0.0 { 0.0 } else { (a - b) / larger }
            })
            .collect()
    }
}

/// For the clustering's own labels.
pub fn of_clustering(clustering: &Clustering, shown: &[usize]) -> ClusterSimilarity {
    let (labels, k) = (clustering.labels(), clustering.k());
    match clustering {
        Clustering::Rows(fitted) => of_leaves(fitted.leaves(), labels, k, shown),
        Clustering::Matrix(matrix) => of_matrix(matrix, labels, k, shown),
    }
}

/// By shared leaves, one pass over the leaf matrix.
pub fn of_leaves(leaves: &LeafMatrix, labels: &[u32], k: usize, shown: &[usize]) -> ClusterSimilarity {
    const NOT_SHOWN: u32 = u32::MAX;
    let mut place = vec![NOT_SHOWN; leaves.n()];
    shown.iter().zip(0..).for_each(|(&i, at)| place[i] = at);
    let mut sums = vec![0.0; shown.len() * k];
    let mut here = vec![0.0; k];
    for tree in 0..leaves.trees() {
        let end = if tree + 1 < leaves.trees() { leaves.first_column(tree + 1) } else { leaves.columns() };
        for leaf in 0..(end - leaves.first_column(tree)) as u32 {
            let members = leaves.members(tree, leaf);
            if members.iter().all(|&i| place[i as usize] == NOT_SHOWN) {
                continue;
            }
            here.fill(0.0);
            members.iter().for_each(|&i| here[labels[i as usize] as usize] += 1.0);
            for &i in members.iter().filter(|&&i| place[i as usize] != NOT_SHOWN) {
                let row = &mut sums[place[i as usize] as usize * k..][..k];
                row.iter_mut().zip(&here).for_each(|(sum, count)| *sum += count);
                row[labels[i as usize] as usize] -= 1.0;
            }
        }
    }
    let trees = leaves.trees() as f64;
    sums.iter_mut().for_each(|s| *s /= trees);
    ClusterSimilarity::new(sums, shown, labels, k)
}

/// By the entries of a matrix.
pub fn of_matrix(matrix: &MatrixClustering, labels: &[u32], k: usize, shown: &[usize]) -> ClusterSimilarity {
    let mut sums = vec![0.0; shown.len() * k];
    for (&i, row) in shown.iter().zip(sums.chunks_exact_mut(k.max(1))) {
        for (j, similarity) in matrix.row(i).filter(|(j, _)| *j != i) {
            row[labels[j] as usize] += similarity;
        }
    }
    ClusterSimilarity::new(sums, shown, labels, k)
}

#[cfg(test)]
mod tests {
    use rpfcluster::Silent;
    use rpfcluster::affinity::SparseAffinity;
    use rpfcluster::spectral::{EmbedOptions, SpectralParams, embed};

    use super::*;

    #[test]
    fn leaves_and_their_dense_kernel_give_the_same_silhouette() {
        let values: Vec<f64> = (0..60).map(|i| f64::from(i % 2) * 9.0 + f64::from(i) * 0.03).collect();
        let points = rpfcluster::Points::new(&values, 60, 1).unwrap();
        let params = rpfcluster::ForestParams { trees: 50, min_node: 12, ..Default::default() };
        let leaves = rpfcluster::Forest::grow(&points, &params).unwrap().leaves();
        let labels: Vec<u32> = (0..60).map(|i| if i == 59 { 2 } else { i % 2 }).collect();
        let shown = [3, 59, 10];
        let affinity = SparseAffinity::precomputed_dense(&leaves.dense(), 60, &Silent).unwrap();
        let params = SpectralParams { k: 3, ..Default::default() };
        let embedding = embed(&affinity, &params, &EmbedOptions::default(), &Silent).unwrap();
        let matrix = MatrixClustering { affinity, params, labels: labels.clone(), embedding };
        let (a, b) = (of_leaves(&leaves, &labels, 3, &shown), of_matrix(&matrix, &labels, 3, &shown));
        for (x, y) in a.silhouette().iter().zip(b.silhouette()) {
            assert!((x - y).abs() < 1e-12, "{x} {y}");
        }
        assert!(a.silhouette()[2] > 0.9, "{:?}", a.silhouette());
        assert_eq!(a.silhouette()[1], 0.0, "alone in its cluster");
        // Row 59 shares leaves with cluster 1; row 3 shares none with another cluster.
        assert_eq!((a.next(1), a.next(0)), (Some(1), None));
    }
}
