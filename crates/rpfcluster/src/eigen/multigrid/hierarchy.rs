//! Where the block solver begins on a large graph: at the eigenvectors of the graph of its groups, which begin at
//! those of a still smaller one.
//!
//! From random vectors a crowded spectrum needs hundreds of products, most of them to find the rough shape of the
//! eigenvectors, which a graph of a few thousand groups has as well. Each step down costs a fraction of the one
//! above. On every rung the vectors are polished with the help of all rungs below. The answer is that of the whole in any
//! case: residuals decide, and where they are not small enough after the last step the block solver goes on.

use rayon::prelude::*;

use super::isolated_groups::pockets;
use super::lobpcg::polish;
use super::v_cycle::Cycle;
use crate::affinity::Affinity;
use crate::eigen::block_krylov::{Begun, Wanted};
use crate::eigen::dense;
use crate::eigen::operator::Operator;
use crate::eigen::orthonormal::Fresh;
use crate::eigen::tall_skinny::{CHUNK, scale_rows};
use crate::error::Result;
use crate::graph::{Grouped, SparseAffinity};
use crate::observe::{Observer, check};

/// Below this many points a search from random vectors is quick enough.
const FROM: usize = 4_000;
/// Graphs with more pairs a point do not crowd, and those of their groups would be hardly smaller.
const PAIRS_A_POINT: usize = 100;
/// The lowest rung has at most so many points and is solved densely.
const DENSE: usize = 300;
/// Residuals on the rungs below as a share of the spread of the block's eigenvalues: below what a rung differs from the
/// next one.
const ROUGH: f64 = 1e-2;
/// Most steps on the rungs below, where a vector that only just shows is not worth more, and on the graph itself.
const STEPS: usize = 4;
const LAST_STEPS: usize = 40;

/// Start vectors; `None` for a small or a dense graph.
pub(crate) fn start(
    graph: &SparseAffinity,
    operator: &Operator,
    wanted: &Wanted,
    observer: &dyn Observer,
) -> Result<Option<Begun>> {
    if operator.n() < FROM || graph.indices().len() > PAIRS_A_POINT * operator.n() {
        return Ok(None);
    }
    climb(graph, operator, wanted, observer)
}

/// Down to a small graph and up again.
fn climb(
    graph: &SparseAffinity,
    operator: &Operator,
    wanted: &Wanted,
    observer: &dyn Observer,
) -> Result<Option<Begun>> {
    let mut rungs: Vec<Grouped> = Vec::new();
    loop {
        let last = rungs.last().map_or(graph, |rung| &rung.graph);
        if last.n() <= DENSE {
            break;
        }
        let next = last.grouped(observer);
        check(observer)?;
        // A graph in one piece has at most half as many groups; of any other nothing is promised.
        if next.graph.n() * 4 > last.n() * 3 {
            return Ok(None);
        }
        rungs.push(next);
    }
    let width = wanted.width();
    let rough = Wanted { tolerance: 1.0, resolved: ROUGH, ..*wanted };
    let mut fresh = Fresh::new(wanted.seed ^ 1);
    let mut start: Vec<f64> = Vec::new();
    let mut columns = 0;
    let (mut products, mut converged) = (0, None);
    for at in (0..=rungs.len()).rev() {
        let this = if at == 0 { graph } else { &rungs[at - 1].graph };
        let own;
        let watched;
        let operator = if at == 0 {
            operator
        } else {
            watched = this.watched(observer);
            own = Operator::new(watched.as_deref().unwrap_or(this))?;
            &own
        };
        if let Some(below) = rungs.get(at) {
            start = carried(&start, columns, &below.group_of);
            if operator.n() >= 4 * width {
                start = widened(start, columns, width, &mut fresh);
                columns = width;
                scale_rows(&mut start, columns, |i| operator.degrees()[i].sqrt());
                let how = if at == 0 { (wanted, LAST_STEPS) } else { (&rough, STEPS) };
                let mut cycle = Cycle::new(this, &rungs[at..], width, observer)?;
                let pockets = pockets(this, below, width);
                let done = polish(operator, &mut cycle, (&mut start, &pockets), how, &mut fresh, observer)?;
                (products, converged) = (done.products, done.converged.map(|worst| (done.values, worst)));
                scale_rows(&mut start, columns, |i| operator.inverse_root(i));
            }
        } else {
            columns = width.min(operator.n());
            start = dense::largest(operator, columns, observer)?.vectors;
            scale_rows(&mut start, columns, |i| operator.inverse_root(i));
        }
    }
    scale_rows(&mut start, columns, |i| operator.degrees()[i].sqrt());
    Ok(Some(Begun { vectors: start, columns, products, converged }))
}

/// Every point gets the numbers of its group.
fn carried(z: &[f64], columns: usize, group_of: &[u32]) -> Vec<f64> {
    let mut out = vec![0.0; group_of.len() * columns];
    out.par_chunks_mut(CHUNK * columns).zip(group_of.par_chunks(CHUNK)).for_each(|(rows, groups)| {
        for (row, group) in rows.chunks_exact_mut(columns).zip(groups) {
            row.copy_from_slice(&z[*group as usize * columns..][..columns]);
        }
    });
    out
}

/// Random vectors for the columns that are missing, and always for the last: what the groups hide must be found.
fn widened(z: Vec<f64>, columns: usize, width: usize, fresh: &mut Fresh) -> Vec<f64> {
    let rows = z.len() / columns;
    let mut out = vec![0.0; rows * width];
    let kept = columns.min(width - 1);
    let random: Vec<usize> = (kept..width).collect();
    fresh.fill(&mut out, width, &random);
    for (row, from) in out.chunks_exact_mut(width).zip(z.chunks_exact(columns)) {
        row[..kept].copy_from_slice(&from[..kept]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::Weights;
    use crate::eigen::block_krylov;
    use crate::observe::Silent;
    use crate::random::{Purpose, Stream};

    /// A graph of the pairs that `edges` lists with their weights.
    fn graph(n: usize, edges: &[(usize, usize, f64)]) -> SparseAffinity {
        let mut rows = vec![std::collections::BTreeMap::new(); n];
        for &(i, j, w) in edges {
            rows[i].insert(j as u32, w);
            rows[j].insert(i as u32, w);
        }
        let mut indptr = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for row in rows {
            indices.extend(row.keys());
            values.extend(row.values());
            indptr.push(indices.len());
        }
        SparseAffinity::new(0.0, indptr, indices, Weights::Values(values)).unwrap()
    }

    /// Rings of equal weights, each hooked to the next one.
    fn rings(count: usize, length: usize, hook: f64) -> SparseAffinity {
        let mut edges = Vec::new();
        for r in 0..count {
            edges.extend((0..length).map(|i| (r * length + i, r * length + (i + 1) % length, 1.0)));
            if r > 0 {
                edges.push((r * length - 1, r * length, hook));
            }
        }
        graph(count * length, &edges)
    }

    /// Blobs with random pairs of random weights, few of them between blobs.
    fn blobs(count: usize, size: usize, seed: u64) -> SparseAffinity {
        let mut stream = Stream::new(seed, Purpose::Shapes, 0, 0);
        let mut edges = Vec::new();
        for i in 0..count * size {
            let blob = i / size * size;
            edges.push((i, blob + (i + 1 - blob) % size, 0.1 + stream.uniform()));
            for _ in 0..4 {
                let j = blob + stream.below(size as u64) as usize;
                if j != i {
                    edges.push((i, j, stream.uniform().powi(4)));
                }
            }
            if i % 50 == 0 {
                edges.push((i, (i + size) % (count * size), 0.01 * stream.uniform()));
            }
        }
        graph(count * size, &edges)
    }

    /// So few products that only a good start can do with them.
    fn wanted(pairs: usize) -> Wanted<'static> {
        Wanted {
            pairs,
            guards: 4,
            tolerance: 1e-7,
            max_iterations: 9,
            seed: 1,
            start: None,
            resolved: block_krylov::RESOLVED,
            angle: 0.0,
        }
    }

    /// The residual of the best vectors within the start, and its Ritz values, against all eigenvalues.
    fn compare(graph: &SparseAffinity, k: usize, by: f64) {
        let operator = Operator::new(graph).unwrap();
        let wanted = wanted(k);
        let begun = climb(graph, &operator, &wanted, &Silent).unwrap().unwrap();
        let before = begun.products;
        let found = block_krylov::largest(&operator, &wanted, Some(begun), &Silent).unwrap();
        let truth = dense::largest(&operator, k, &Silent).unwrap();
        for (a, b) in found.values.iter().zip(&truth.values) {
            assert!((a - b).abs() < by, "{:?} instead of {:?}", found.values, truth.values);
        }
        assert!(found.converged && found.iterations < before + 9, "{} {}", found.residual, found.iterations);
    }

    #[test]
    fn the_climb_ends_at_the_eigenvectors() {
        for seed in 0..4 {
            compare(&blobs(5, 200, seed), 5, 1e-10);
        }
        compare(&blobs(12, 60, 9), 7, 1e-10);
    }

    #[test]
    fn equal_weights_and_repeated_eigenvalues() {
        // Every ring has its eigenvalues twice, and all rings have the same ones.
        compare(&rings(1, 700, 1.0), 5, 1e-10);
        compare(&rings(3, 400, 1e-3), 3, 1e-10);
        compare(&rings(3, 400, 1e-9), 3, 1e-10);
    }

    #[test]
    fn a_star_is_one_group() {
        let star = graph(500, &(1..500).map(|i| (0, i, 1.0)).collect::<Vec<_>>());
        let operator = Operator::new(&star).unwrap();
        let wanted = wanted(2);
        let Begun { vectors, columns, .. } = climb(&star, &operator, &wanted, &Silent).unwrap().unwrap();
        assert!(vectors.len() == 500 * columns && vectors.iter().all(|v| v.is_finite()));
    }
}
