//! Isolated groups: small sets of points with nearly all their weight among themselves.
//!
//! The indicator of such a set is close to one of the largest eigenvectors, and it is zero nearly everywhere. The
//! coarse graph cannot represent it when the points are part of a larger aggregate, and a random vector takes longer to
//! find it than all other eigenvectors together. The Rayleigh quotient of an indicator is the fraction of its weight
//! that the set has within itself, one minus its conductance, so the points and aggregates with the largest fractions
//! are tried as extra start vectors. One pass over the stored pairs.

use crate::error::Result;
use crate::graph::{Aggregation, SparseAffinity};
use crate::observe::{Observer, check};

/// The `count` points and aggregates of points with the largest share of weight within themselves.
pub(crate) fn isolated_groups(
    graph: &SparseAffinity,
    coarse: &Aggregation,
    count: usize,
    observer: &dyn Observer,
) -> Result<Vec<Vec<u32>>> {
    check(observer)?;
    // Aggregates first, then single points.
    let aggregates = coarse.graph.n();
    let mut shares = coarse.graph.diagonal_shares();
    shares.extend(graph.diagonal_shares());
    let order = |a: &usize, b: &usize| shares[*b].total_cmp(&shares[*a]).then(a.cmp(b));
    let mut all: Vec<usize> = (0..shares.len()).filter(|at| shares[*at] > 0.0).collect();
    if count < all.len() {
        all.select_nth_unstable_by(count, order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
    let points = |at: usize| match at.checked_sub(aggregates) {
        Some(point) => vec![point as u32],
        None => coarse.aggregates.members(at).to_vec(),
    };
    Ok(all.into_iter().map(points).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::Weights;
    use crate::observe::Silent;

    #[test]
    fn a_weakly_attached_pair_is_the_most_isolated() {
        // A ring of ten points, and a pair that is attached to it by a small weight.
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
        let coarse = graph.aggregate(&Silent).unwrap();
        let found = isolated_groups(&graph, &coarse, 2, &Silent).unwrap();
        assert_eq!((found.len(), &found[0]), (2, &vec![10, 11]));
        // Single points of this graph have no weight on the diagonal, so only the aggregates qualify.
        assert_eq!(isolated_groups(&graph, &coarse, 100, &Silent).unwrap().len(), coarse.graph.n());
    }
}
