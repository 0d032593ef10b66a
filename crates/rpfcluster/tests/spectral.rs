//! Eigenpairs and labels: the block solver against the dense one, known answers, degenerate inputs.
#![allow(clippy::unwrap_used)] // a failed unwrap here is a failed test

#[path = "common/graphs.rs"]
mod common;

use common::{clique, graph, nine_points, random_graph, ring};
use rpfcluster::affinity::SparseAffinity;
use rpfcluster::observe::{Observer, Silent};
use rpfcluster::spectral::{
    EmbedOptions, Embedding, Method, Solver, SpectralParams, cluster, embed, label, ncut_value,
};
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Error, Result};

fn params(k: usize, solver: Solver) -> SpectralParams {
    SpectralParams { k, solver, tolerance: 1e-10, ..SpectralParams::default() }
}

fn run(a: &SparseAffinity, k: usize, solver: Solver) -> Embedding {
    embed(a, &params(k, solver), &EmbedOptions::default(), &Silent).unwrap()
}

/// Largest |N u - λ u| and deviation from orthonormality, by plain loops.
fn check_pairs(a: &SparseAffinity, e: &Embedding, tolerance: f64) {
    let (n, k) = (a.n(), e.k());
    let root: Vec<f64> =
        a.degrees(&Silent).unwrap().iter().map(|d| if *d > 0.0 { d.sqrt() } else { f64::INFINITY }).collect();
    let x: Vec<f64> = e.vectors.iter().enumerate().map(|(at, v)| v / root[at / k]).collect();
    let mut y = vec![0.0; n * k];
    a.apply(&x, &mut y, k, &Silent).unwrap();
    for j in 0..k {
        let r: f64 =
            (0..n).map(|i| (y[i * k + j] / root[i] - e.eigenvalues[j] * e.vectors[i * k + j]).powi(2)).sum();
        assert!(r.sqrt() <= tolerance, "residual {} of pair {j} of {k}, n = {n}", r.sqrt());
        for l in 0..k {
            let dot: f64 = (0..n).map(|i| e.vectors[i * k + j] * e.vectors[i * k + l]).sum();
            assert!((dot - f64::from(u8::from(j == l))).abs() < 1e-10, "columns {j} and {l}: {dot}");
        }
    }
}

/// Thirty graphs with repeated and crowded spectra. A tiny constant connects those that would be disconnected, so that the
/// solver itself has to find the repeated eigenvalues.
fn hard_graphs() -> Vec<(String, SparseAffinity)> {
    let mut all = Vec::new();
    for parts in 2..8 {
        let edges: Vec<_> = (0..parts).flat_map(|p| clique(p * 40, 40, 1.0)).collect();
        all.push((format!("{parts} cliques"), graph(parts * 40, 1e-13, &edges)));
    }
    for parts in 1..6 {
        let edges: Vec<_> = (0..parts).flat_map(|p| ring(p * 60, 60)).collect();
        all.push((format!("{parts} rings"), graph(parts * 60, 1e-12, &edges)));
    }
    for n in [100, 300] {
        all.push((format!("ring of {n}"), graph(n, 0.0, &ring(0, n))));
        all.push((format!("identical rows {n}"), graph(n, 1.0, &[])));
        let star: Vec<_> = (1..n).map(|i| (0, i, 1.0)).collect();
        all.push((format!("star of {n}"), graph(n, 0.0, &star)));
        let looped: Vec<_> = star.iter().copied().chain((0..n).map(|i| (i, i, 2.0))).collect();
        all.push((format!("looped star of {n}"), graph(n, 0.0, &looped)));
        let path: Vec<_> = (1..n).map(|i| (i - 1, i, 1.0)).collect();
        all.push((format!("path of {n}"), graph(n, 0.0, &path)));
    }
    for seed in 0..9 {
        let n = 120 + 40 * seed as usize;
        all.push((
            format!("random {seed}"),
            graph(n, 0.0, &random_graph(n, n * (1 + seed as usize % 3), seed)),
        ));
    }
    all
}

#[test]
fn block_equals_dense_on_thirty_graphs() {
    let graphs = hard_graphs();
    assert_eq!(graphs.len(), 30);
    for (name, a) in &graphs {
        for k in [2, 5, 8] {
            let (dense, block) = (run(a, k, Solver::Dense), run(a, k, Solver::Block));
            assert_eq!(block.solver, Solver::Block, "{name}");
            assert!(block.converged, "{name}, k = {k}: residual {}", block.residual);
            for (x, y) in dense.eigenvalues.iter().zip(&block.eigenvalues) {
                assert!(
                    (x - y).abs() < 1e-9,
                    "{name}, k = {k}: {:?} {:?}",
                    dense.eigenvalues,
                    block.eigenvalues
                );
            }
            check_pairs(a, &block, 1e-9);
            check_pairs(a, &dense, 1e-9);
        }
    }
}

#[test]
fn three_rings_have_eigenvalue_one_three_times_and_three_clusters() {
    let edges: Vec<_> = (0..3).flat_map(|p| ring(p * 50, 50)).collect();
    for constant in [0.0, 1e-13] {
        let a = graph(150, constant, &edges);
        for solver in [Solver::Auto, Solver::Dense, Solver::Block] {
            for method in [Method::Kway, Method::Ncut] {
                let p = SpectralParams { method, ..params(3, solver) };
                let (labels, e) = cluster(&a, &p, &Silent).unwrap();
                assert!(e.eigenvalues.iter().all(|v| (v - 1.0).abs() < 1e-9), "{:?}", e.eigenvalues);
                for (i, l) in labels.iter().enumerate() {
                    assert_eq!(*l as usize, i / 50, "constant {constant} {solver:?} {method:?}");
                }
            }
        }
    }
}

#[test]
fn components_share_the_clusters_by_eigenvalue() {
    // One component of two clusters and one of one cluster: k = 3 cuts the first.
    let mut edges = clique(0, 30, 1.0);
    edges.extend(clique(30, 30, 1.0));
    edges.push((0, 30, 0.1));
    edges.extend(clique(60, 25, 1.0));
    let a = graph(85, 0.0, &edges);
    for method in [Method::Kway, Method::Ncut] {
        let p = SpectralParams { method, ..params(3, Solver::Auto) };
        let (labels, e) = cluster(&a, &p, &Silent).unwrap();
        assert_eq!(e.columns.len(), 2);
        check_pairs(&a, &e, 1e-9);
        assert!((0..85).all(|i| labels[i] as usize == i / 30), "{labels:?}");
    }
}

#[test]
fn surplus_components_merge_by_similarity_or_into_the_largest() {
    let mut edges = clique(0, 10, 1.0);
    edges.extend(clique(10, 8, 1.0));
    edges.extend(clique(18, 2, 1.0));
    let a = graph(20, 0.0, &edges);
    for method in [Method::Kway, Method::Ncut] {
        let p = SpectralParams { method, ..params(2, Solver::Auto) };
        let (labels, _) = cluster(&a, &p, &Silent).unwrap();
        let expected: Vec<u32> = (0..20).map(|i| u32::from((10..18).contains(&i))).collect();
        assert_eq!(labels, expected);
        // The small component is similar to the second one and joins it.
        let alike = |x: usize, y: usize| if (x.min(y), x.max(y)) == (1, 2) { 1.0 } else { 0.0 };
        let e = embed(&a, &p, &EmbedOptions { similarity: Some(&alike), ..EmbedOptions::default() }, &Silent)
            .unwrap();
        let labels = label(&a, &e, &p, &Silent).unwrap();
        assert!((0..20).all(|i| labels[i] == u32::from(i >= 10)));
    }
}

#[test]
fn nine_points_have_the_eigenvector_printed_in_the_paper() {
    let printed = [0.340, 0.469, 0.392, 0.219, -0.098, -0.249, -0.351, -0.419, -0.304];
    let a = nine_points();
    let e = run(&a, 2, Solver::Auto);
    let v: Vec<f64> = (0..9).map(|i| e.degrees[i].sqrt() * e.row(i)[1]).collect();
    let length = v.iter().map(|x| x * x).sum::<f64>().sqrt() * v[0].signum();
    for (x, y) in v.iter().zip(printed) {
        assert!((x / length - y).abs() < 0.0006, "{} against {y}", x / length);
    }
    for method in [Method::Kway, Method::Ncut] {
        let (labels, _) =
            cluster(&a, &SpectralParams { method, ..params(2, Solver::Auto) }, &Silent).unwrap();
        assert_eq!(labels, [0, 0, 0, 0, 1, 1, 1, 1, 1], "{method:?}");
    }
    let degrees = a.degrees(&Silent).unwrap();
    let (left, right): (f64, f64) = (degrees[..4].iter().sum(), degrees[4..].iter().sum());
    let value = ncut_value(&a, &[0, 0, 0, 0, 1, 1, 1, 1, 1], 2, &Silent).unwrap();
    assert!((value - (0.3 / left + 0.3 / right)).abs() < 1e-12);
}

#[test]
fn four_groups_of_duplicates_are_four_clusters_and_never_five() {
    let edges: Vec<_> = (0..4).flat_map(|g| clique(g * 25, 25, 1.0)).collect();
    for constant in [0.0, 0.01] {
        let a = graph(100, constant, &edges);
        for method in [Method::Kway, Method::Ncut] {
            for solver in [Solver::Auto, Solver::Block] {
                let p = SpectralParams { method, ..params(4, solver) };
                let (labels, _) = cluster(&a, &p, &Silent).unwrap();
                assert!((0..100).all(|i| labels[i] as usize == i / 25), "{method:?} {solver:?} {constant}");
                let five = cluster(&a, &SpectralParams { k: 5, ..p }, &Silent);
                assert_eq!(five.err(), Some(Error::TooManyClusters { k: 5, distinct: 4 }));
            }
        }
    }
}

#[test]
fn nystrom_with_all_landmarks_equals_dense() {
    // A positive semi-definite similarity: a Gaussian kernel on the line.
    let n = 80;
    let x: Vec<f64> =
        (0..n).map(|i| (i as f64 * 0.37).sin() * 3.0 + if i % 2 == 0 { 5.0 } else { 0.0 }).collect();
    let m: Vec<f64> = (0..n * n).map(|at| (-(x[at / n] - x[at % n]).powi(2)).exp()).collect();
    let a = SparseAffinity::precomputed_dense(&m, n, &Silent).unwrap();
    let dense = run(&a, 4, Solver::Dense);
    let nystrom = embed(
        &a,
        &SpectralParams { landmarks: n, rank_cut: 1e-13, ..params(4, Solver::Nystrom) },
        &EmbedOptions::default(),
        &Silent,
    )
    .unwrap();
    assert_eq!(nystrom.uncovered, 0.0);
    for (x, y) in dense.eigenvalues.iter().zip(&nystrom.eigenvalues) {
        assert!((x - y).abs() < 1e-9, "{x} {y}");
    }
    for (x, y) in dense.vectors.iter().zip(&nystrom.vectors) {
        assert!((x - y).abs() < 1e-6, "{x} {y}");
    }
    // Half of the landmarks give the same two clusters.
    let half = SpectralParams { landmarks: n / 2, ..params(2, Solver::Nystrom) };
    let (labels, e) = cluster(&a, &half, &Silent).unwrap();
    assert!(e.uncovered < 0.1);
    let (exact, _) = cluster(&a, &params(2, Solver::Dense), &Silent).unwrap();
    assert_eq!(labels, exact);
}

#[test]
fn nystrom_reports_the_share_of_uncovered_rows() {
    let a = graph(100, 0.5, &(0..100).map(|i| (i, i, 1.0)).collect::<Vec<_>>());
    let p = SpectralParams { landmarks: 10, ..params(2, Solver::Nystrom) };
    let e = embed(&a, &p, &EmbedOptions::default(), &Silent).unwrap();
    assert!((e.uncovered - 0.9).abs() < 1e-12);
}

#[test]
fn embedding_bits_do_not_depend_on_thread_count() {
    let mut edges = random_graph(9000, 30_000, 7);
    edges.extend((0..4).flat_map(|p| {
        random_graph(2000, 20_000, p)
            .into_iter()
            .map(move |(a, b, w)| (a + 2000 * p as usize, b + 2000 * p as usize, w))
    }));
    let p = SpectralParams { k: 4, tolerance: 1e-6, ..SpectralParams::default() };
    // Multigrid starts the solver on a graph without a constant only.
    for constant in [0.0, 1e-6] {
        let a = graph(9000, constant, &edges);
        let outcome = |threads: usize| in_pool(Some(threads), || cluster(&a, &p, &Silent)).unwrap().unwrap();
        let one = outcome(1);
        assert_eq!(one.1.solver, Solver::Block);
        assert!(one.1.converged);
        for threads in [2, 3, 8] {
            let more = outcome(threads);
            assert_eq!(one.0, more.0);
            assert!(one.1.vectors.iter().zip(&more.1.vectors).all(|(x, y)| x.to_bits() == y.to_bits()));
            assert_eq!(one.1, more.1);
        }
    }
}

#[test]
fn start_vectors_save_products_and_give_the_same_eigenvalues() {
    let a = graph(3000, 0.0, &random_graph(3000, 9000, 3));
    let p = SpectralParams { k: 6, tolerance: 1e-8, ..SpectralParams::default() };
    let cold = embed(&a, &p, &EmbedOptions::default(), &Silent).unwrap();
    let warm =
        embed(&a, &p, &EmbedOptions { start: Some(&cold), ..EmbedOptions::default() }, &Silent).unwrap();
    assert!(warm.iterations < cold.iterations, "{} {}", warm.iterations, cold.iterations);
    for (x, y) in cold.eigenvalues.iter().zip(&warm.eigenvalues) {
        assert!((x - y).abs() < 1e-12);
    }
}

#[test]
fn crowded_spectrum_of_a_long_ring_converges() {
    // A long ring: the eight largest eigenvalues lie within 2e-5 of 1.
    let a = graph(4000, 0.0, &ring(0, 4000));
    let p = SpectralParams { k: 8, tolerance: 1e-7, ..SpectralParams::default() };
    let e = embed(&a, &p, &EmbedOptions::default(), &Silent).unwrap();
    assert!(e.converged, "{} after {}", e.residual, e.iterations);
    for (j, v) in e.eigenvalues.iter().enumerate() {
        let exact = (std::f64::consts::TAU * j.div_ceil(2) as f64 / 4000.0).cos();
        assert!((v - exact).abs() < 1e-7, "{j}: {v} {exact}");
    }
}

#[test]
fn degenerate_inputs_give_labels_or_a_clear_error() -> Result<()> {
    let point = graph(1, 0.0, &[(0, 0, 1.0)]);
    assert_eq!(cluster(&point, &params(1, Solver::Auto), &Silent)?.0, [0]);
    for method in [Method::Kway, Method::Ncut] {
        for solver in [Solver::Auto, Solver::Dense, Solver::Block, Solver::Nystrom] {
            let p = |k| SpectralParams { method, ..params(k, solver) };
            // k = 1: one cluster.
            let a = graph(12, 0.0, &random_graph(12, 20, 1));
            assert_eq!(cluster(&a, &p(1), &Silent)?.0, [0; 12]);
            // k = n: every point its own (positive definite: heavy diagonal).
            let own: Vec<_> = (0..6).map(|i| (i, i, 5.0 + i as f64)).chain(ring(0, 6)).collect();
            let a = graph(6, 0.0, &own);
            assert_eq!(cluster(&a, &p(6), &Silent)?.0, [0, 1, 2, 3, 4, 5], "{method:?} {solver:?}");
            assert_eq!(cluster(&a, &p(7), &Silent).err(), Some(Error::TooManyClusters { k: 7, distinct: 6 }));
        }
        // All points equal: one cluster, or an error.
        let a = graph(20, 1.0, &[]);
        let p = |k| SpectralParams { method, ..params(k, Solver::Auto) };
        assert_eq!(cluster(&a, &p(1), &Silent)?.0, [0; 20]);
        assert_eq!(cluster(&a, &p(2), &Silent).err(), Some(Error::TooManyClusters { k: 2, distinct: 1 }));
        // Points without any similarity are components of their own.
        let a = graph(4, 0.0, &[(0, 1, 1.0)]);
        assert_eq!(cluster(&a, &p(3), &Silent)?.0, [0, 0, 1, 2]);
    }
    let a = graph(4, 0.0, &ring(0, 4));
    let zero = cluster(&a, &params(0, Solver::Auto), &Silent).err().unwrap();
    assert_eq!(zero.to_string(), "k is 0, but must be at least 1");
    Ok(())
}

struct Stop;
impl Observer for Stop {
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn cancelled_solver_returns_cancelled() {
    let a = graph(2000, 0.0, &random_graph(2000, 5000, 3));
    assert_eq!(cluster(&a, &params(3, Solver::Block), &Stop).err(), Some(Error::Cancelled));
}

#[test]
fn an_unreachable_tolerance_ends_at_the_iteration_limit_unconverged() {
    let a = graph(2000, 0.0, &ring(0, 2000));
    let p = SpectralParams { max_iterations: 60, tolerance: 1e-14, ..params(4, Solver::Block) };
    let e = embed(&a, &p, &EmbedOptions::default(), &Silent).unwrap();
    assert!(!e.converged && e.iterations < 200 && e.residual > 1e-14);
}

#[test]
fn two_groups_are_found_under_a_heavy_diagonal() {
    // Two noisy groups under a diagonal a hundred thousand times heavier: all eigenvalues within 1e-3 of 1.
    let mut edges: Vec<_> = (0..400).map(|i| (i, i, 1e5)).collect();
    edges.extend(random_graph(200, 3000, 1));
    edges.extend(random_graph(200, 3000, 2).into_iter().map(|(a, b, w)| (a + 200, b + 200, w)));
    edges.extend((0..20).map(|i| (i * 7, 200 + i * 9, 0.5)));
    let a = graph(400, 0.0, &edges);
    for method in [Method::Kway, Method::Ncut] {
        let p = SpectralParams { method, solver: Solver::Block, ..SpectralParams::default() };
        let (labels, e) = cluster(&a, &p, &Silent).unwrap();
        assert!(e.converged && e.eigenvalues[1] > 0.999, "{:?} {}", e.eigenvalues, e.residual);
        assert!((0..400).all(|i| labels[i] as usize == i / 200), "{method:?}");
    }
}

#[test]
fn a_small_graph_on_which_the_iteration_fails_is_decomposed() {
    let a = graph(900, 0.0, &ring(0, 900));
    let few = |solver| SpectralParams { max_iterations: 2, dense_below: 0, ..params(5, solver) };
    let block = embed(&a, &few(Solver::Block), &EmbedOptions::default(), &Silent).unwrap();
    assert!(!block.converged, "the solver that is asked for is kept");
    let auto = embed(&a, &few(Solver::Auto), &EmbedOptions::default(), &Silent).unwrap();
    assert!(auto.converged && auto.solver == Solver::Dense);
    check_pairs(&a, &auto, 1e-10);
}

/// Forty rows beside two groups of five, weakly linked. Splitting the forty costs much; the rule "split the largest" would.
#[test]
fn the_next_cluster_to_be_split_is_the_one_with_the_smallest_ncut() {
    let group = |i: usize| {
        if i < 40 {
            0
        } else if i < 45 {
            1
        } else {
            2
        }
    };
    let similarity = |i: usize, j: usize| match (group(i), group(j)) {
        (a, b) if a == b => 1.0,
        (0, 1) | (1, 0) => 0.001,
        (1, 2) | (2, 1) => 0.1,
        _ => 0.0,
    };
    let matrix: Vec<f64> = (0..50 * 50).map(|at| similarity(at / 50, at % 50)).collect();
    let graph = SparseAffinity::precomputed_dense(&matrix, 50, &Silent).unwrap();
    let (labels, _) =
        cluster(&graph, &SpectralParams { method: Method::Ncut, ..params(3, Solver::Dense) }, &Silent)
            .unwrap();
    assert!(labels.iter().enumerate().all(|(i, label)| *label as usize == group(i)), "{labels:?}");
}
