//! Theorem 1 of the paper and the quantity that S estimates, by Monte Carlo with stated errors.
//!
//! With min_node = n only the root is cut, so 1 - S_AB is the fraction of cuts that separate A and B. Given a direction
//! r that fraction is |r·(A-B)| / width(r), and width(r) <= rho |r| with rho the diameter: P >= E|cos| d/rho. The paper
//! states E|cos| = 2/pi, which holds in the plane; in R^p it is Gamma(p/2) / (sqrt(pi) Gamma((p+1)/2)).
#![allow(clippy::unwrap_used)]

mod common;

use common::{grow, normals};
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{ForestParams, LeafMatrix};

const PI: f64 = std::f64::consts::PI;

/// Gamma(p/2) / (sqrt(pi) Gamma((p+1)/2)) by its recurrence c(p+2) = c(p) p/(p+1), c(1) = 1, c(2) = 2/pi.
fn mean_cosine(p: usize) -> f64 {
    let (mut at, mut c) = if p % 2 == 1 { (1, 1.0) } else { (2, 2.0 / PI) };
    while at < p {
        c *= at as f64 / (at + 1) as f64;
        at += 2;
    }
    c
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

fn diameter(values: &[f64], d: usize) -> f64 {
    let rows: Vec<&[f64]> = values.chunks_exact(d).collect();
    let mut most = 0.0f64;
    for (i, a) in rows.iter().enumerate() {
        rows[..i].iter().for_each(|b| most = most.max(distance(a, b)));
    }
    most
}

/// Points on the unit sphere, then A = -step/2 and B = +step/2 along the first axis.
fn sphere(points: Vec<f64>, d: usize, step: f64) -> Vec<f64> {
    let mut values = points;
    for row in values.chunks_exact_mut(d) {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().for_each(|x| *x /= length);
    }
    for x in [-0.5 * step, 0.5 * step] {
        values.push(x);
        values.extend(std::iter::repeat_n(0.0, d - 1));
    }
    values
}

/// The fraction of root cuts that separate the last two points, over 20 seeds, and its standard error.
fn separated(values: &[f64], d: usize, trees: usize) -> (f64, f64) {
    let n = values.len() / d;
    let mut sum = 0.0;
    for seed in 0..20 {
        let params = ForestParams { trees, min_node: n, seed, ..Default::default() };
        let leaves = grow(values, n, d, &params).leaves();
        assert_eq!(leaves.columns(), 2 * trees, "one cut a tree");
        sum += 1.0 - leaves.pair(n - 2, n - 1);
    }
    let p = sum / 20.0;
    (p, (p * (1.0 - p) / (20.0 * trees as f64)).sqrt())
}

/// The same probability without a forest, as the mean of |r·(A-B)| / width(r), and its standard error.
fn expected(values: &[f64], d: usize, draws: usize) -> (f64, f64) {
    let mut stream = Stream::new(77, Purpose::Shapes, 0, 0);
    let rows: Vec<&[f64]> = values.chunks_exact(d).collect();
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..draws {
        let r: Vec<f64> = (0..d).map(|_| stream.normal()).collect();
        let p: Vec<f64> = rows.iter().map(|row| row.iter().zip(&r).map(|(x, r)| x * r).sum()).collect();
        let low = p.iter().cloned().fold(f64::INFINITY, f64::min);
        let high = p.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
        let share = (p[p.len() - 2] - p[p.len() - 1]).abs() / (high - low);
        sum += share;
        squares += share * share;
    }
    let mean = sum / draws as f64;
    (mean, ((squares / draws as f64 - mean * mean) / draws as f64).sqrt())
}

#[test]
fn mean_cosine_agrees_with_simulation() {
    assert!((mean_cosine(2) - 2.0 / PI).abs() < 1e-15 && (mean_cosine(3) - 0.5).abs() < 1e-15);
    assert!((mean_cosine(1000) / (2.0 / (PI * 1000.0)).sqrt() - 1.0).abs() < 1e-3);
    for p in [2, 3, 10, 100] {
        let mut stream = Stream::new(5, Purpose::Shapes, p as u64, 0);
        let cosines: Vec<f64> = (0..20_000)
            .map(|_| {
                let r: Vec<f64> = (0..p).map(|_| stream.normal()).collect();
                r[0].abs() / r.iter().map(|x| x * x).sum::<f64>().sqrt()
            })
            .collect();
        let mean = cosines.iter().sum::<f64>() / 20_000.0;
        // The variance of |cos| is 1/p - c^2.
        let sigma = ((1.0 / p as f64 - mean_cosine(p).powi(2)) / 20_000.0).sqrt();
        assert!((mean - mean_cosine(p)).abs() < 5.0 * sigma, "p {p}: {mean}");
    }
}

#[test]
fn theorem_1_holds_in_the_plane_and_is_tight_on_a_circle() {
    // 64 points of a circle have width 2 within a factor cos(pi/64) = 0.9988 in every direction.
    let circle = (0..64).flat_map(|i| [(f64::from(i) * PI / 32.0).cos(), (f64::from(i) * PI / 32.0).sin()]);
    let circle: Vec<f64> = circle.collect();
    for step in [0.2, 0.7, 1.5] {
        let values = sphere(circle.clone(), 2, step);
        let bound = 2.0 * step / (PI * diameter(&values, 2));
        let (p, sigma) = separated(&values, 2, 2000);
        assert!(p > bound - 4.0 * sigma, "{p} ± {sigma} is below {bound}");
        assert!(p < bound / 0.9988 + 4.0 * sigma, "{p} ± {sigma} is above {bound}");
    }
    // Any other set: at least the bound.
    for seed in 0..5 {
        let values = normals(40, 2, seed);
        let step = distance(&values[76..78], &values[78..80]);
        let (p, sigma) = separated(&values, 2, 500);
        assert!(p > 2.0 * step / (PI * diameter(&values, 2)) - 4.0 * sigma);
    }
}

#[test]
fn theorem_1_corrected_is_tight_on_a_sphere_in_space() {
    // A spiral of 600 points: the width is 2 within about 1 %.
    let spiral = (0..600).flat_map(|i| {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / 600.0;
        let (angle, radius) = (f64::from(i) * PI * (3.0 - 5f64.sqrt()), (1.0 - z * z).sqrt());
        [radius * angle.cos(), radius * angle.sin(), z]
    });
    let values = sphere(spiral.collect(), 3, 1.0);
    let rho = diameter(&values, 3);
    let (p, sigma) = separated(&values, 3, 1000);
    let bound = 0.5 / rho;
    assert!(p > bound - 4.0 * sigma && p < bound * 1.01 + 4.0 * sigma, "{p} ± {sigma} against {bound}");
    // The constant of the plane is too large here: 0.318 against 0.25.
    assert!(p < 2.0 / (PI * rho) - 10.0 * sigma);
}

#[test]
fn theorem_1_corrected_holds_in_3_10_and_100_dimensions() {
    for d in [3, 10, 100] {
        let values = sphere(normals(150, d, d as u64), d, 1.0);
        let rho = diameter(&values, d);
        let (p, sigma) = separated(&values, d, 1000);
        let bound = mean_cosine(d) / rho;
        assert!(p > bound - 4.0 * sigma, "d {d}: {p} ± {sigma} is below {bound}");
        let (mean, error) = expected(&values, d, 20_000);
        assert!((p - mean).abs() < 4.0 * sigma.hypot(error), "d {d}: {p} against {mean}");
        if d == 100 {
            // The bound as printed in the paper does not hold.
            assert!(p < 2.0 / (PI * rho) - 20.0 * sigma, "{p} ± {sigma} against {}", 2.0 / (PI * rho));
        }
    }
}

/// A few pairs whose similarity is neither 0 nor 1, over `seeds` forests: each pair's values.
fn over_seeds(trees: usize, seeds: u64) -> Vec<Vec<f64>> {
    let (n, d) = (80, 3);
    let values = normals(n, d, 1);
    let mut found = vec![Vec::new(); 12];
    for seed in 0..seeds {
        let params = ForestParams { trees, min_node: 30, seed, ..Default::default() };
        let leaves: LeafMatrix = grow(&values, n, d, &params).leaves();
        for (pair, found) in found.iter_mut().enumerate() {
            found.push(leaves.pair(pair * 6, pair * 6 + 3));
        }
    }
    found
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let m = mean(values);
    values.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / (values.len() - 1) as f64
}

#[test]
fn a_similarity_is_a_binomial_proportion() {
    const SEEDS: u64 = 400;
    let (few, many) = (over_seeds(25, SEEDS), over_seeds(100, SEEDS));
    let mut used = 0;
    let (mut sum_few, mut sum_many) = (0.0, 0.0);
    for (few, many) in few.iter().zip(&many) {
        let p = mean(many);
        if !(0.05..0.95).contains(&p) {
            continue;
        }
        used += 1;
        // The expectation does not depend on T.
        let error = (p * (1.0 - p) / SEEDS as f64 * (1.0 / 25.0 + 1.0 / 100.0)).sqrt();
        assert!((mean(few) - p).abs() < 5.0 * error, "{} against {p}", mean(few));
        // A sample variance of 400 values has a relative error of sqrt(2/399) = 0.071 (binomial kurtosis adds little).
        for (values, trees) in [(few, 25.0), (many, 100.0)] {
            let ratio = variance(values) / (p * (1.0 - p) / trees);
            assert!((ratio - 1.0).abs() < 5.0 * 0.075, "T {trees}, p {p}: variance ratio {ratio}");
        }
        sum_few += variance(few);
        sum_many += variance(many);
    }
    assert!(used >= 6, "{used} pairs");
    // Four times the trees, a quarter of the variance; the pooled ratio is known to 0.1 even with correlated pairs.
    assert!((sum_few / sum_many - 4.0).abs() < 5.0 * 4.0 * 0.1, "{}", sum_few / sum_many);
}

#[test]
fn near_pairs_are_similar_and_far_pairs_are_not() {
    // Two Gaussian clusters of unit variance at distance 20; over 20 seeds.
    let (n, d) = (200, 5);
    let mut values = normals(n, d, 2);
    values.chunks_exact_mut(d).take(100).for_each(|row| row[0] += 20.0);
    // Row 1 is nearly equal to row 0.
    for j in 0..d {
        values[d + j] = values[j] + 1e-6;
    }
    let mut within = Vec::new();
    let mut between = Vec::new();
    for seed in 0..20 {
        let params = ForestParams { trees: 100, seed, ..Default::default() };
        let leaves = grow(&values, n, d, &params).leaves();
        assert!(leaves.pair(0, 1) > 0.98, "{}", leaves.pair(0, 1));
        let s = leaves.dense();
        let block = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
            let size = (rows.len() * columns.len()) as f64;
            rows.flat_map(|i| columns.clone().map(move |j| i * n + j)).map(|at| s[at]).sum::<f64>() / size
        };
        within.push(0.5 * (block(0..100, 0..100) + block(100..200, 100..200)));
        between.push(block(0..100, 100..200));
        assert!(between[between.len() - 1] < 0.2 * within[within.len() - 1]);
    }
    assert!(mean(&within) > 0.1 && mean(&between) < 0.03, "{} and {}", mean(&within), mean(&between));
    // Similarity decreases with distance along a line.
    let line: Vec<f64> = (0..200).map(f64::from).collect();
    let leaves = grow(&line, 200, 1, &ForestParams { trees: 2000, ..Default::default() }).leaves();
    let at = |step: usize| mean(&(50..100).map(|i| leaves.pair(i, i + step)).collect::<Vec<f64>>());
    assert!(at(1) > at(3) && at(3) > at(8) && at(8) > at(20) && at(20) >= at(60) && at(60) == 0.0);
}
