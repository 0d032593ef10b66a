//! Selects the rows that are drawn: evenly spaced in cluster order (systematic sampling), at least one per cluster, and
//! the rows that tables refer to. The page stays small for any number of rows, and all views draw the same rows, so
//! that a row selected in one view can be marked in the others.

/// Approximate limit of the rows drawn as points.
pub const POINTS: usize = 3000;
/// Rows of the heat map.
const HEAT: usize = 400;

/// At most about [`POINTS`] rows, evenly spaced, ordered by cluster. Every cluster has a row, and the rows in `also`
/// are included.
pub fn points(labels: &[u32], k: usize, also: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|&i| labels[i]);
    let n = order.len();
    if n <= POINTS {
        return order;
    }
    let most = POINTS.saturating_sub(also.len()).max(k);
    let starts = |at: usize| at == 0 || labels[order[at]] != labels[order[at - 1]];
    let mut kept: Vec<usize> = (0..n)
        .filter(|&at| starts(at) || at * most / n != (at - 1) * most / n)
        .map(|at| order[at])
        .chain(also.iter().copied())
        .collect();
    kept.sort_by_key(|&i| (labels[i], i));
    kept.dedup();
    kept
}

/// The indices of the heat map's rows among `points` points.
pub fn spread(points: usize) -> Vec<u32> {
    let rows = points.min(HEAT);
    (0..rows).map(|at| (at * points / rows.max(1)) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cluster_and_every_requested_row_is_included() {
        let labels: Vec<u32> = (0..50_000).map(|i| if i == 7 { 2 } else { i % 2 }).collect();
        let kept = points(&labels, 3, &[49_999, 3]);
        assert!((2990..=3010).contains(&kept.len()), "{}", kept.len());
        for named in [7, 3, 49_999] {
            assert!(kept.contains(&named), "{named}");
        }
        assert!(kept.windows(2).all(|w| (labels[w[0]], w[0]) < (labels[w[1]], w[1])));
        assert_eq!(points(&[1, 0, 1], 2, &[0]), [1, 0, 2]);
        assert_eq!(spread(3), [0, 1, 2]);
        assert_eq!(spread(3000).len(), HEAT);
    }
}
