//! The forest on arbitrary tables, the eigen-solvers on arbitrary graphs, and quantized against exact projections.

use rpfcluster::affinity::SparseAffinity;
use rpfcluster::spectral::{self, Embedding, Method, Solver, SpectralParams};
use rpfcluster::{Direction, Forest, ForestParams, LeafMatrix, Points, Real, Silent, Split};

/// Numbers from bytes: small integers, so that rows repeat, and any bits.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A finite number.
    fn number(&mut self) -> Option<f64> {
        let kind = self.byte()?;
        if kind < 0xc0 {
            return Some(f64::from(kind as i8) / 4.0);
        }
        let (bits, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        let x = f64::from_le_bytes(*bits);
        Some(if x.is_finite() { x } else { f64::from(bits[0]) })
    }
}

fn params(numbers: &mut Numbers<'_>) -> Option<ForestParams> {
    let (kind, trees, min_node, seed) = (numbers.byte()?, numbers.byte()?, numbers.byte()?, numbers.byte()?);
    Some(ForestParams {
        trees: 1 + usize::from(trees % 9),
        min_node: 2 + usize::from(min_node % 40),
        split: if kind & 1 == 0 { Split::Uniform } else { Split::Median },
        direction: if kind & 2 == 0 { Direction::Gaussian } else { Direction::Sparse },
        candidates: 1 + usize::from(kind >> 6),
        seed: seed.into(),
        max_samples: (kind & 4 != 0).then_some(2 + usize::from(seed)),
    })
}

/// A forest on an arbitrary finite table ends; identical rows stay together; S is a similarity.
pub fn forest(bytes: &[u8]) {
    let mut numbers = Numbers(bytes);
    let Some(params) = params(&mut numbers) else { return };
    let d = 1 + usize::from(numbers.byte().unwrap_or(0) % 12);
    let mut values: Vec<f64> = std::iter::from_fn(|| numbers.number()).take(4000).collect();
    values.truncate(values.len() / d * d);
    if values.is_empty() {
        return;
    }
    check_forest(&values, d, &params);
    let largest = f64::from(f32::MAX);
    let single: Vec<f32> = values.iter().map(|x| x.clamp(-largest, largest) as f32).collect();
    check_forest(&single, d, &params);
}

fn check_forest<R: Real>(values: &[R], d: usize, params: &ForestParams) {
    let n = values.len() / d;
    let points = Points::new(values, n, d).expect("finite numbers");
    let forest = Forest::grow(&points, params).expect("valid parameters");
    forest.check(&Silent).expect("a grown forest is valid");
    let leaves = forest.leaves();
    check_kernel(&leaves, values, d);
    assert_eq!(&forest.route(&points).expect("the same columns"), leaves.leaf_ids());
    let bytes = forest.to_bytes().expect("memory");
    assert_eq!(Forest::from_bytes(&bytes).expect("what was written"), forest);
}

fn check_kernel<R: Real>(leaves: &LeafMatrix, values: &[R], d: usize) {
    let n = leaves.n();
    let rows: Vec<&[R]> = values.chunks_exact(d).collect();
    for i in 0..n.min(24) {
        assert_eq!(leaves.pair(i, i), 1.0);
        for j in 0..n {
            let s = leaves.pair(i, j);
            assert!((0.0..=1.0).contains(&s), "S[{i}, {j}] = {s}");
            assert_eq!(s, leaves.pair(j, i));
            let same = rows[i].iter().zip(rows[j]).all(|(a, b)| a.to_f64() == b.to_f64());
            assert!(!same || s == 1.0, "the identical rows {i} and {j} have similarity {s}");
        }
    }
}

/// An arbitrary symmetric graph with weights of at least 0.
pub fn graph(bytes: &[u8]) {
    let mut numbers = Numbers(bytes);
    let n = 1 + usize::from(numbers.byte().unwrap_or(0) % 48);
    let mut weights = vec![0.0; n * n];
    while let (Some(i), Some(j), Some(s)) = (numbers.byte(), numbers.byte(), numbers.number()) {
        let (i, j) = (usize::from(i) % n, usize::from(j) % n);
        (weights[i * n + j], weights[j * n + i]) = (s.abs(), s.abs());
    }
    let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
    for row in weights.chunks_exact(n) {
        for (j, s) in row.iter().enumerate().filter(|(_, s)| **s > 0.0) {
            indices.push(j as u32);
            data.push(*s);
        }
        indptr.push(indices.len());
    }
    cluster(indptr, indices, data, n);
}

/// Embeds and labels a precomputed matrix by every solver: the residuals are as promised, or there is an error.
pub fn cluster(indptr: Vec<usize>, indices: Vec<u32>, data: Vec<f64>, n: usize) {
    let Ok(affinity) = SparseAffinity::precomputed_sparse(indptr, indices, data, n, &Silent) else { return };
    for (solver, method, k) in
        [(Solver::Dense, Method::Kway, 2), (Solver::Block, Method::Kway, 3), (Solver::Block, Method::Ncut, 2)]
    {
        let params = SpectralParams { k: k.min(n), solver, method, ..SpectralParams::default() };
        let Ok(embedding) = spectral::embed(&affinity, &params, &Default::default(), &Silent) else {
            continue;
        };
        assert_eq!(embedding.vectors.len(), n * embedding.k());
        assert!(embedding.vectors.iter().all(|x| x.is_finite()), "a vector is not finite");
        // The eigenvalues of a normalised similarity.
        assert!(embedding.eigenvalues.iter().all(|x| (-1.0 - 1e-6..=1.0 + 1e-6).contains(x)));
        if embedding.converged {
            assert!(embedding.residual <= promised(&params), "{solver:?}: {}", embedding.residual);
            // The vectors of several components are joined after they are solved.
            let components = affinity.components(&Silent).expect("not cancelled");
            if components.is_none_or(|components| components.count() == 1) {
                let measured = residual(&affinity, &embedding);
                assert!(
                    measured <= 1.01 * embedding.residual + 1e-9,
                    "{solver:?}: {measured}, {embedding:?}"
                );
            }
        }
        if let Ok(labels) = spectral::label(&affinity, &embedding, &params, &Silent) {
            assert_eq!(labels.len(), n);
            assert!(labels.iter().all(|label| (*label as usize) < params.k));
        }
    }
}

/// The largest residual of a pair that counts as converged: the tolerance, or a share of the gap, which is at most 2.
fn promised(params: &SpectralParams) -> f64 {
    2.0 * params.tolerance.max(2.0 * params.angle)
}

/// The largest `|N u - λ u|` of an embedding.
fn residual(affinity: &SparseAffinity, embedding: &Embedding) -> f64 {
    let (n, k) = (embedding.n(), embedding.k());
    let roots: Vec<f64> = embedding.degrees.iter().map(|degree| degree.sqrt()).collect();
    let x: Vec<f64> = embedding.vectors.iter().enumerate().map(|(at, u)| u / roots[at / k]).collect();
    let mut y = vec![0.0; n * k];
    affinity.apply(&x, &mut y, k, &Silent).expect("vectors of the right length");
    let squares = |column: usize| -> f64 {
        let lambda = embedding.eigenvalues[column];
        let difference = |i: usize| y[i * k + column] / roots[i] - lambda * embedding.vectors[i * k + column];
        (0..n).map(|i| difference(i).powi(2)).sum()
    };
    (0..k).map(|column| squares(column).sqrt()).fold(0.0, f64::max)
}

/// Quantized against exact dot products on rows made from a few adversarial numbers. Every eighth input has rows enough
/// to be grown by quantized dot products, in few nodes of many rows; the others are grown exactly, in many nodes.
pub fn quantized(bytes: &[u8]) {
    let mut numbers = Numbers(bytes);
    let (Some(seed), Some(columns)) = (numbers.byte(), numbers.byte()) else { return };
    let is_large = columns >= 0xe0;
    let (rows, min_node, d) = match is_large {
        true => (4096, 64, 6 + usize::from(columns % 30)),
        false => (200, 2, 1 + usize::from(columns % 64)),
    };
    let drawn: Vec<f64> = std::iter::from_fn(|| numbers.number()).take(64 * d).collect();
    if drawn.is_empty() {
        return;
    }
    // The i-th row begins at another number and is scaled a little differently, so that many rows nearly tie.
    let scale = |i: usize| 1.0 + (i / drawn.len()) as f64 * f64::EPSILON;
    let value = |i: usize, j: usize| drawn[(i + j * 7) % drawn.len()] * scale(i);
    let values: Vec<f64> = (0..rows * d).map(|at| value(at / d, at % d)).collect();
    if values.iter().any(|x| !x.is_finite()) {
        return;
    }
    let params = ForestParams { trees: 2, min_node, seed: seed.into(), ..ForestParams::default() };
    if seed & 1 == 0 {
        check_routes(&values, rows, d, &params);
    } else {
        let largest = f64::from(f32::MAX);
        let single: Vec<f32> = values.iter().map(|x| x.clamp(-largest, largest) as f32).collect();
        check_routes(&single, rows, d, &params);
    }
}

/// The leaves of a grown forest, of all its rows routed together, which is quantized, and of one row in 61 routed
/// alone, which is exact in a tree of more than 16 inner nodes.
fn check_routes<R: Real>(values: &[R], n: usize, d: usize, params: &ForestParams) {
    let points = Points::new(values, n, d).expect("finite numbers");
    let forest = Forest::grow(&points, params).expect("valid parameters");
    let leaves = forest.leaves();
    assert_eq!(&forest.route(&points).expect("the same columns"), leaves.leaf_ids());
    for row in (0..n).step_by(61) {
        let alone = Points::new(&values[row * d..(row + 1) * d], 1, d).expect("finite numbers");
        let routed = forest.route(&alone).expect("the same columns");
        for tree in 0..params.trees {
            assert_eq!(routed.get(0, tree), leaves.leaf_ids().get(row, tree), "row {row}");
        }
    }
}
