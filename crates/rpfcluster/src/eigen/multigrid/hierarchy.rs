//! Start vectors from an aggregation hierarchy (nested iteration; Brandt 1977).
//!
//! The graph is coarsened until a dense decomposition is cheap. From the coarsest level up, the eigenvectors of each
//! level are prolonged to the next finer one and refined there by LOBPCG. From random vectors a crowded spectrum needs
//! hundreds of products, most of them for the smooth shape of the eigenvectors, which a graph of a few thousand
//! aggregates shows as well. Each level costs a fraction of the next finer one. Accuracy does not depend on the
//! hierarchy: residuals on the graph itself decide, and a block that has not converged starts the block Krylov solver.

use rayon::prelude::*;

use super::isolated_groups::isolated_groups;
use super::lobpcg::{Refinement, refine};
use super::v_cycle::VCycle;
use crate::eigen::block_krylov::{ConvergedValues, EigenRequest, InitialBlock};
use crate::eigen::dense;
use crate::eigen::operator::NormalizedAffinity;
use crate::eigen::orthonormal::RandomColumns;
use crate::eigen::tall_skinny::{CHUNK, scale_rows};
use crate::error::Result;
use crate::graph::{Aggregation, SparseAffinity};
use crate::observe::{Observer, check};

/// Smallest number of points for which a hierarchy saves time.
const MIN_POINTS: usize = 4_000;
/// Largest average number of pairs per point. Denser graphs have no crowded spectrum and coarsen badly.
const MAX_PAIRS_PER_POINT: usize = 100;
/// Largest number of points of the coarsest level, which is solved densely.
const COARSEST_POINTS: usize = 300;
/// [`EigenRequest::spread_fraction`] on coarse levels: below the difference between neighbouring levels.
const COARSE_SPREAD_FRACTION: f64 = 1e-2;
/// Largest number of LOBPCG iterations on a coarse level; more do not improve the start of the next level.
const COARSE_ITERATIONS: usize = 4;
/// Largest number of LOBPCG iterations on the graph itself; then the block Krylov solver continues.
const FINE_ITERATIONS: usize = 40;

/// The start block; `None` for a small or a dense graph.
pub(crate) fn initial_block(
    graph: &SparseAffinity,
    operator: &NormalizedAffinity,
    request: &EigenRequest,
    observer: &dyn Observer,
) -> Result<Option<InitialBlock>> {
    if operator.n() < MIN_POINTS || graph.indices().len() > MAX_PAIRS_PER_POINT * operator.n() {
        return Ok(None);
    }
    nested_iteration(graph, operator, request, observer)
}

/// The levels below `graph`, finest first; `None` when coarsening stalls.
fn hierarchy(graph: &SparseAffinity, observer: &dyn Observer) -> Result<Option<Vec<Aggregation>>> {
    let mut levels: Vec<Aggregation> = Vec::new();
    loop {
        let finest = levels.last().map_or(graph, |level| &level.graph);
        if finest.n() <= COARSEST_POINTS {
            return Ok(Some(levels));
        }
        check(observer)?;
        let next = finest.aggregate(observer)?;
        // A connected graph has at most half as many aggregates; a disconnected one may have more.
        if next.graph.n() * 4 > finest.n() * 3 {
            return Ok(None);
        }
        levels.push(next);
    }
}

/// Solves the coarsest level densely and refines the eigenvectors from level to level.
fn nested_iteration(
    graph: &SparseAffinity,
    operator: &NormalizedAffinity,
    request: &EigenRequest,
    observer: &dyn Observer,
) -> Result<Option<InitialBlock>> {
    let Some(levels) = hierarchy(graph, observer)? else { return Ok(None) };
    let width = request.width();
    let rough = EigenRequest { tolerance: 1.0, spread_fraction: COARSE_SPREAD_FRACTION, ..*request };
    let mut random = RandomColumns::new(request.seed ^ 1);
    let mut vectors: Vec<f64> = Vec::new();
    let mut columns = 0;
    let (mut products, mut converged) = (0, None);
    // Between the levels the vectors are in the variables of the random walk, which prolong without scaling.
    for at in (0..=levels.len()).rev() {
        let level = if at == 0 { graph } else { &levels[at - 1].graph };
        let own;
        let operator = if at == 0 {
            operator
        } else {
            own = NormalizedAffinity::new(level, observer)?;
            &own
        };
        if let Some(coarse) = levels.get(at) {
            vectors = prolonged(&vectors, columns, &coarse.aggregates.of);
            if operator.n() >= 4 * width {
                vectors = widened(vectors, columns, width, &mut random);
                columns = width;
                scale_rows(&mut vectors, columns, |i| operator.degrees()[i].sqrt());
                let mut cycle = VCycle::new(level, &levels[at..], width, observer)?;
                let isolated_groups = isolated_groups(level, coarse, width, observer)?;
                let (request, max_iterations) =
                    if at == 0 { (request, FINE_ITERATIONS) } else { (&rough, COARSE_ITERATIONS) };
                let refinement = Refinement { request, max_iterations, isolated_groups: &isolated_groups };
                let refined = refine(operator, &mut cycle, &mut vectors, &refinement, &mut random, observer)?;
                products = refined.products;
                let values = refined.values;
                converged = refined.converged.map(|residual| ConvergedValues { values, residual });
                scale_rows(&mut vectors, columns, |i| operator.inverse_root(i));
            }
        } else {
            columns = width.min(operator.n());
            vectors = dense::largest(operator, columns, observer)?.vectors;
            scale_rows(&mut vectors, columns, |i| operator.inverse_root(i));
        }
    }
    scale_rows(&mut vectors, columns, |i| operator.degrees()[i].sqrt());
    Ok(Some(InitialBlock { vectors, columns, products, converged }))
}

/// Piecewise constant prolongation: every point receives the row of its aggregate.
fn prolonged(z: &[f64], columns: usize, aggregate_of: &[u32]) -> Vec<f64> {
    let mut out = vec![0.0; aggregate_of.len() * columns];
    out.par_chunks_mut(CHUNK * columns).zip(aggregate_of.par_chunks(CHUNK)).for_each(|(rows, aggregates)| {
        for (row, aggregate) in rows.chunks_exact_mut(columns).zip(aggregates) {
            row.copy_from_slice(&z[*aggregate as usize * columns..][..columns]);
        }
    });
    out
}

/// Fills up to `width` columns with random ones. The last is always random, to find what the coarse levels cannot show.
fn widened(z: Vec<f64>, columns: usize, width: usize, random: &mut RandomColumns) -> Vec<f64> {
    let rows = z.len() / columns;
    let mut out = vec![0.0; rows * width];
    let kept = columns.min(width - 1);
    random.fill(&mut out, width, &(kept..width).collect::<Vec<_>>());
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

    /// A graph from weighted edges.
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

    /// Rings of equal weights, each joined to the next by an edge of weight `bridge`.
    fn rings(count: usize, length: usize, bridge: f64) -> SparseAffinity {
        let mut edges = Vec::new();
        for r in 0..count {
            edges.extend((0..length).map(|i| (r * length + i, r * length + (i + 1) % length, 1.0)));
            if r > 0 {
                edges.push((r * length - 1, r * length, bridge));
            }
        }
        graph(count * length, &edges)
    }

    /// Groups with random edges of random weights, and a few weak edges between groups.
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

    /// A request with so few products that it converges only from good start vectors.
    fn request(pairs: usize) -> EigenRequest<'static> {
        EigenRequest {
            pairs,
            guards: 4,
            tolerance: 1e-7,
            max_iterations: 9,
            seed: 1,
            start: None,
            spread_fraction: block_krylov::SPREAD_FRACTION,
            angle: 0.0,
        }
    }

    /// Compares the eigenvalues from the start block with those of the dense solver.
    fn converges_to_dense(graph: &SparseAffinity, k: usize, by: f64) {
        let operator = NormalizedAffinity::new(graph, &Silent).unwrap();
        let request = request(k);
        let initial = nested_iteration(graph, &operator, &request, &Silent).unwrap().unwrap();
        let before = initial.products;
        let found = block_krylov::largest(&operator, &request, Some(initial), &Silent).unwrap();
        let truth = dense::largest(&operator, k, &Silent).unwrap();
        for (a, b) in found.values.iter().zip(&truth.values) {
            assert!((a - b).abs() < by, "{:?} instead of {:?}", found.values, truth.values);
        }
        assert!(found.converged && found.iterations < before + 9, "{} {}", found.residual, found.iterations);
    }

    #[test]
    fn nested_iteration_converges_to_the_dense_eigenvalues() {
        for seed in 0..4 {
            converges_to_dense(&blobs(5, 200, seed), 5, 1e-10);
        }
        converges_to_dense(&blobs(12, 60, 9), 7, 1e-10);
    }

    #[test]
    fn nested_iteration_finds_repeated_eigenvalues() {
        // A ring has each eigenvalue twice, and equal rings share theirs.
        converges_to_dense(&rings(1, 700, 1.0), 5, 1e-10);
        converges_to_dense(&rings(3, 400, 1e-3), 3, 1e-10);
        converges_to_dense(&rings(3, 400, 1e-9), 3, 1e-10);
    }

    #[test]
    fn start_vectors_do_not_depend_on_thread_count() {
        for seed in 0..2 {
            let graph = blobs(20, MIN_POINTS / 20 + 50, seed);
            let run = |threads| {
                let start = || {
                    let operator = NormalizedAffinity::new(&graph, &Silent).unwrap();
                    initial_block(&graph, &operator, &request(5), &Silent).unwrap().unwrap()
                };
                let start = crate::thread_pool::in_pool(Some(threads), start).unwrap();
                (start.products, start.vectors.into_iter().map(f64::to_bits).collect::<Vec<_>>())
            };
            let one = run(1);
            for threads in [2, 3, 8] {
                assert!(one == run(threads), "seed {seed}, {threads} threads");
            }
        }
    }

    #[test]
    fn a_star_that_coarsens_to_one_point_gives_finite_vectors() {
        let star = graph(500, &(1..500).map(|i| (0, i, 1.0)).collect::<Vec<_>>());
        let operator = NormalizedAffinity::new(&star, &Silent).unwrap();
        let initial = nested_iteration(&star, &operator, &request(2), &Silent).unwrap().unwrap();
        let InitialBlock { vectors, columns, .. } = initial;
        assert!(vectors.len() == 500 * columns && vectors.iter().all(|v| v.is_finite()));
    }
}
