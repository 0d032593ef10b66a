//! Re-ranking: sorts the kernel neighbours of each row by Euclidean distance, the last step of nearest-neighbour search
//! by random projection forests (Yan et al. 2018). Exact within the candidates; O(candidates · d) time per row.

use rayon::prelude::*;

use super::neighbors::Neighbors;
use crate::error::{Error, Result};
use crate::observe::{Observer, check};
use crate::points::{Points, Real};

/// Neighbours by Euclidean distance.
#[derive(Debug, Clone, PartialEq)]
pub struct Reranked {
    /// For each row, the index and the distance of its neighbours, nearest first (ties to the lowest index).
    pub neighbors: Vec<Vec<(u32, f64)>>,
}

/// Sorts the candidates of each row of `queries`, rows of `points`, by Euclidean distance and keeps `k`.
pub fn rerank<R: Real>(
    queries: &Points<R>,
    points: &Points<R>,
    candidates: &Neighbors,
    k: usize,
    observer: &dyn Observer,
) -> Result<Reranked> {
    if queries.d() != points.d() {
        return Err(Error::Columns { got: queries.d(), expected: points.d() });
    }
    if queries.n() != candidates.n() {
        return Err(Error::Length {
            what: "rows with candidates",
            got: candidates.n(),
            expected: queries.n(),
        });
    }
    let d = points.d();
    let neighbors: Result<Vec<Vec<(u32, f64)>>> = (0..queries.n())
        .into_par_iter()
        .map_init(
            || (vec![0.0f64; d], vec![0.0f64; d]),
            |(query, point), row| {
                check(observer)?;
                queries.copy_row(row, query);
                let mut found: Vec<(u32, f64)> = candidates
                    .row(row)
                    .0
                    .iter()
                    .map(|&j| {
                        points.copy_row(j as usize, point);
                        let squares =
                            query.iter().zip(point.iter()).fold(0.0, |s, (a, b)| s + (a - b) * (a - b));
                        (j, squares.sqrt())
                    })
                    .collect();
                found.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
                found.truncate(k);
                Ok(found)
            },
        )
        .collect();
    Ok(Reranked { neighbors: neighbors? })
}
