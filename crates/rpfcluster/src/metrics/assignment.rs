//! The Hungarian method (Kuhn 1955; shortest augmenting paths, Jonker and Volgenant 1987): the best matching of
//! clusters to classes. Exact; O(r² c) time for r <= c, and a dense table of r c cells.

use super::Contingency;
use crate::error::{Error, Result};

/// Largest dense table, in cells of 8 bytes (512 MB).
const LIMIT: usize = 1 << 26;

/// For each row of a rows x columns table the column it is matched to (`None` when there are more rows than
/// columns and it is left over), such that the matched entries add up to the most.
pub fn assign_max(values: &[i64], rows: usize, columns: usize) -> Result<Vec<Option<usize>>> {
    if values.len() != rows * columns {
        return Err(Error::Shape { len: values.len(), n: rows, d: columns });
    }
    if rows <= columns {
        let matched = shortest_paths(rows, columns, |i, j| -values[i * columns + j]);
        Ok(matched.into_iter().map(Some).collect())
    } else {
        let mut found = vec![None; rows];
        for (j, i) in shortest_paths(columns, rows, |j, i| -values[i * columns + j]).into_iter().enumerate() {
            found[i] = Some(j);
        }
        Ok(found)
    }
}

/// Rows in matched cells under the best matching.
pub fn best_matching(table: &Contingency) -> Result<u64> {
    let (r, c) = (table.row_sums().len(), table.column_sums().len());
    if r.saturating_mul(c) > LIMIT {
        return Err(Error::Memory {
            what: "matching clusters to classes",
            needed: (r as u64).saturating_mul(c as u64).saturating_mul(8),
            limit: LIMIT as u64 * 8,
            remedy: format!("{r} clusters and {c} classes are too many to match"),
        });
    }
    let mut values = vec![0i64; r * c];
    for (i, j, count) in table.cells() {
        values[*i as usize * c + *j as usize] = *count as i64;
    }
    let matched = assign_max(&values, r, c)?;
    let sum: i64 = matched.iter().enumerate().filter_map(|(i, j)| j.map(|j| values[i * c + j])).sum();
    Ok(sum as u64)
}

/// The column of each row in the cheapest matching, rows <= columns: one augmenting path per row, each found by
/// Dijkstra's algorithm on costs that potentials keep non-negative.
fn shortest_paths(rows: usize, columns: usize, cost: impl Fn(usize, usize) -> i64) -> Vec<usize> {
    const FREE: usize = usize::MAX;
    let mut row_potential = vec![0i64; rows];
    let mut column_potential = vec![0i64; columns];
    let mut row_of = vec![FREE; columns];
    for first in 0..rows {
        let mut distance = vec![i64::MAX; columns];
        let mut before = vec![FREE; columns];
        let mut done = vec![false; columns];
        let (mut row, mut reached, mut base) = (first, FREE, 0i64);
        // Grow the tree of shortest paths until it touches a free column.
        let end = loop {
            let mut next = (i64::MAX, FREE);
            for j in (0..columns).filter(|j| !done[*j]) {
                let through = base + cost(row, j) - row_potential[row] - column_potential[j];
                if through < distance[j] {
                    distance[j] = through;
                    before[j] = reached;
                }
                if distance[j] < next.0 {
                    next = (distance[j], j);
                }
            }
            let (length, column) = next;
            if column == FREE {
                break FREE;
            }
            done[column] = true;
            base = length;
            if row_of[column] == FREE {
                break column;
            }
            reached = column;
            row = row_of[column];
        };
        for j in (0..columns).filter(|j| done[*j]) {
            let slack = base - distance[j];
            column_potential[j] -= slack;
            if row_of[j] != FREE {
                row_potential[row_of[j]] += slack;
            }
        }
        row_potential[first] += base;
        // Augment: each column on the path takes the row of the previous one.
        let mut column = end;
        while column != FREE {
            let previous = before[column];
            row_of[column] = if previous == FREE { first } else { row_of[previous] };
            column = previous;
        }
    }
    let mut column_of = vec![0; rows];
    for (j, i) in row_of.iter().enumerate().filter(|(_, i)| **i != FREE) {
        column_of[*i] = j;
    }
    column_of
}
