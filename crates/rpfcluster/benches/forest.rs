//! Benchmarks of the hot paths at moderate sizes. `examples/speed.rs` has the full sizes.
//!
//! `cargo bench -p rpfcluster`
#![allow(clippy::unwrap_used, missing_docs)] // a failing benchmark panics; the macros generate undocumented items

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{Direction, Forest, ForestParams, Points, Silent, Split};

fn normals(n: usize, d: usize) -> Vec<f32> {
    let mut stream = Stream::new(1, Purpose::Shapes, n as u64, d as u64);
    (0..n * d).map(|_| stream.normal() as f32).collect()
}

fn grow(c: &mut Criterion) {
    let mut group = c.benchmark_group("grow");
    group.sample_size(10);
    for (name, n, d, trees) in [("narrow", 100_000, 10, 10), ("wide", 4_000, 784, 10)] {
        let values = normals(n, d);
        let points = Points::new(&values, n, d).unwrap();
        for (kind, split, direction) in [
            ("uniform", Split::Uniform, Direction::Gaussian),
            ("median", Split::Median, Direction::Gaussian),
            ("sparse", Split::Uniform, Direction::Sparse),
        ] {
            let params = ForestParams { trees, split, direction, ..Default::default() };
            group.bench_function(format!("{name}/{kind}"), |b| {
                b.iter(|| Forest::grow(black_box(&points), &params).unwrap());
            });
        }
    }
    group.finish();
}

fn kernel(c: &mut Criterion) {
    let values = normals(50_000, 10);
    let points = Points::new(&values, 50_000, 10).unwrap();
    let forest = Forest::grow(&points, &ForestParams { trees: 50, ..Default::default() }).unwrap();
    let leaves = forest.leaves();
    let mut group = c.benchmark_group("kernel");
    group.sample_size(10);
    group.bench_function("top-10", |b| b.iter(|| leaves.top_k(black_box(10), &Silent).unwrap()));
    group.bench_function("sparse 0.1", |b| b.iter(|| leaves.sparse(black_box(0.1), &Silent).unwrap()));
    let x = vec![1.0; 50_000 * 8];
    let mut y = vec![0.0; 50_000 * 8];
    leaves.leaf_ids();
    group.bench_function("product with 8 vectors", |b| {
        b.iter(|| leaves.apply(black_box(&x), &mut y, 8, &Silent))
    });
    group.bench_function("route", |b| b.iter(|| forest.route(black_box(&points)).unwrap()));
    group.finish();
}

criterion_group!(benches, grow, kernel);
criterion_main!(benches);
