//! Points that are nearly cut off from their graph: the vectors a start from the graph of the groups cannot know of.
//!
//! Two rows that share the same shallow leaves have almost all of their weight with each other. Such a pocket is an
//! eigenvector of its own among the largest, zero nearly everywhere, and one that the next smaller graph has
//! lost: there its points are one among others of a larger group. Left to a random vector it takes longer to find than all
//! other eigenvectors together. The share of its weight that a point or a group has with itself is the Rayleigh quotient of
//! the vector that is constant on it, so the pockets worth trying are those with the largest share.

use crate::graph::{Grouped, SparseAffinity};

/// The points of each of the `count` points or groups of points that keep most of their weight to themselves.
pub(crate) fn pockets(graph: &SparseAffinity, groups: &Grouped, count: usize) -> Vec<Vec<u32>> {
    let first_point = groups.graph.n();
    let mut shares = groups.graph.own_shares();
    shares.extend(graph.own_shares());
    let order = |a: &usize, b: &usize| shares[*b].total_cmp(&shares[*a]).then(a.cmp(b));
    let mut all: Vec<usize> = (0..shares.len()).filter(|at| shares[*at] > 0.0).collect();
    if count < all.len() {
        all.select_nth_unstable_by(count, order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
    let points = |at: usize| match at.checked_sub(first_point) {
        Some(point) => vec![point as u32],
        None => groups.members[groups.starts[at] as usize..groups.starts[at + 1] as usize].to_vec(),
    };
    all.into_iter().map(points).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::Weights;
    use crate::observe::Silent;

    #[test]
    fn a_pair_with_weak_ties_comes_first() {
        // A ring of ten equal pairs of neighbours, and two points that hold to each other by its side.
        let mut rows: Vec<Vec<(u32, f64)>> =
            (0..10).map(|i| vec![((i + 1) % 10, 1.0), ((i + 9) % 10, 1.0)]).collect();
        rows[3].push((10, 0.01));
        rows.push(vec![(3, 0.01), (11, 1.0)]);
        rows.push(vec![(10, 1.0)]);
        let mut indptr = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for row in &mut rows {
            row.sort_by_key(|pair| pair.0);
            indices.extend(row.iter().map(|pair| pair.0));
            values.extend(row.iter().map(|pair| pair.1));
            indptr.push(indices.len());
        }
        let graph = SparseAffinity::new(0.0, indptr, indices, Weights::Values(values)).unwrap();
        let groups = graph.grouped(&Silent);
        let found = pockets(&graph, &groups, 2);
        assert_eq!((found.len(), &found[0]), (2, &vec![10, 11]));
        // Single points of this graph have no weight with themselves, so no more than its groups can be named.
        assert_eq!(pockets(&graph, &groups, 100).len(), groups.graph.n());
    }
}
