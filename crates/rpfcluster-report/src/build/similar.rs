//! How similar points are to each cluster on average, by the kernel itself: what the silhouette is made of. A point's
//! silhouette is (a - b) / max(a, b), a being its mean similarity to its own cluster and b to the nearest other one.

use rpfcluster::LeafMatrix;

use crate::subject::{Basis, Pairs, Subject};

/// For each point shown the mean similarity to each cluster.
pub struct Similar {
    k: usize,
    /// The cluster of each point.
    own: Vec<u32>,
    /// Points x k; NaN where a cluster has no other point.
    means: Vec<f64>,
}

impl Similar {
    fn new(sums: Vec<f64>, shown: &[usize], labels: &[u32], k: usize) -> Self {
        let mut sizes = vec![0.0f64; k];
        labels.iter().for_each(|&l| sizes[l as usize] += 1.0);
        let own: Vec<u32> = shown.iter().map(|&i| labels[i]).collect();
        let mut means = sums;
        for (point, row) in means.chunks_exact_mut(k.max(1)).enumerate() {
            for (cluster, mean) in row.iter_mut().enumerate() {
                let others = sizes[cluster] - f64::from(u8::from(own[point] as usize == cluster));
                *mean = if others > 0.0 { *mean / others } else { f64::NAN };
            }
        }
        Similar { k, own, means }
    }

    /// The cluster a point is most similar to beside its own.
    pub fn next(&self, point: usize) -> Option<u32> {
        let row = &self.means[point * self.k..][..self.k];
        let others = row.iter().enumerate().filter(|(c, _)| *c != self.own[point] as usize);
        let best = others.filter(|(_, m)| **m > 0.0).max_by(|a, b| a.1.total_cmp(b.1));
        best.map(|(cluster, _)| cluster as u32)
    }

    /// From -1 to 1 for each point; 0 for one that is alone, or where there is one cluster only.
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

/// By the similarity the clustering was made of.
pub fn of_subject(subject: &Subject<'_>, shown: &[usize]) -> Similar {
    let (labels, k) = (subject.labels(), subject.k());
    match &subject.basis {
        Basis::Forest(fitted) => of_leaves(fitted.leaves(), labels, k, shown),
        Basis::Matrix { pairs, .. } => of_pairs(pairs, labels, k, shown),
    }
}

/// By shared leaves.
pub fn of_leaves(leaves: &LeafMatrix, labels: &[u32], k: usize, shown: &[usize]) -> Similar {
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
    Similar::new(sums, shown, labels, k)
}

/// By the entries of a matrix.
pub fn of_pairs(pairs: &Pairs<'_>, labels: &[u32], k: usize, shown: &[usize]) -> Similar {
    let mut sums = vec![0.0; shown.len() * k];
    for (&i, row) in shown.iter().zip(sums.chunks_exact_mut(k.max(1))) {
        for at in pairs.starts[i]..pairs.starts[i + 1] {
            let j = pairs.indices[at] as usize;
            if j != i {
                row[labels[j] as usize] += pairs.values[at];
            }
        }
    }
    Similar::new(sums, shown, labels, k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_leaves_and_their_matrix_say_the_same() {
        let values: Vec<f64> = (0..60).map(|i| f64::from(i % 2) * 9.0 + f64::from(i) * 0.03).collect();
        let points = rpfcluster::Points::new(&values, 60, 1).unwrap();
        let params = rpfcluster::ForestParams { trees: 50, min_node: 12, ..Default::default() };
        let leaves = rpfcluster::Forest::grow(&points, &params).unwrap().leaves();
        let labels: Vec<u32> = (0..60).map(|i| if i == 59 { 2 } else { i % 2 }).collect();
        let shown = [3, 59, 10];
        let dense = leaves.dense();
        let starts: Vec<usize> = (0..=60).map(|i| i * 60).collect();
        let indices: Vec<u32> = (0..3600).map(|at| at % 60).collect();
        let pairs = Pairs { starts: &starts, indices: &indices, values: &dense };
        let (a, b) = (of_leaves(&leaves, &labels, 3, &shown), of_pairs(&pairs, &labels, 3, &shown));
        for (x, y) in a.silhouette().iter().zip(b.silhouette()) {
            assert!((x - y).abs() < 1e-12, "{x} {y}");
        }
        assert!(a.silhouette()[2] > 0.9, "{:?}", a.silhouette());
        assert_eq!(a.silhouette()[1], 0.0, "alone in its cluster");
        // The one next to it, and none that is near enough to share a leaf.
        assert_eq!((a.next(1), a.next(0)), (Some(1), None));
    }
}
