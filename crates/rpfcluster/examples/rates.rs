//! Throughput of the two inner loops against the peak of the machine: projections against an in-cache loop of
//! multiply-adds, products with S against a memory copy.
//!
//! `cargo run --release -p rpfcluster --example rates`
#![allow(clippy::print_stdout)] // prints its measurements

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Forest, ForestParams, Points, Silent};
use rpfcluster_data::shapes::Shape;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    println!("one core, f32, 10^9 multiply-adds per second");
    let (fused, plain) = (peak(true), peak(false));
    println!("  in-cache loop, fused                  {fused:7.2}");
    println!(
        "  in-cache loop, multiply then add      {plain:7.2}   used by projections, for reproducible bits"
    );
    for (rows, d) in [(4_000, 8), (4_000, 10), (4_000, 16), (1_000_000, 10), (500, 784), (50_000, 784)] {
        let rate = in_pool(Some(1), || projections(rows, d))??;
        let (of_fused, of_plain) = (100.0 * rate / fused, 100.0 * rate / plain);
        println!(
            "  projections, {rows:9} x {d:3}          {rate:7.2}   {of_fused:.0} % of fused, {of_plain:.0} % of plain"
        );
    }
    println!("all cores, 10^9 bytes per second");
    let copy = in_pool(None, copied)?;
    println!("  copy of 512 MB, read and written      {copy:7.2}");
    for (n, trees) in [(20_000, 100), (1_000_000, 50)] {
        for columns in [1, 8, 16] {
            let (asked, least) = in_pool(None, || products(n, trees, columns))??;
            let share = 100.0 * least / copy;
            println!(
                "  S times {columns:2} vectors, n = {n:9}        {least:7.2}   {share:.0} % of the copy; {asked:.2} including cache hits"
            );
        }
    }
    Ok(())
}

/// The best of five runs, in 10^9 units of work per second.
fn best(work: f64, mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let clock = Instant::now();
        run();
        clock.elapsed().as_secs_f64()
    };
    (0..5).map(|_| work / time(&mut run) / 1e9).fold(0.0, f64::max)
}

/// Independent sums, enough to hide the latency of an addition.
const SUMS: usize = 12;
const WIDTH: usize = 8;
const ROUNDS: usize = 20_000_000;

/// Multiply-adds per second on values in registers.
fn peak(fused: bool) -> f64 {
    best((ROUNDS * SUMS * WIDTH) as f64, || {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the CPU has AVX2 and FMA, the only requirements of the function.
            #[allow(unsafe_code)]
            black_box(unsafe { sums_avx2(fused) });
            return;
        }
        black_box(sums(fused));
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn sums_avx2(fused: bool) -> [[f32; WIDTH]; SUMS] {
    sums(fused)
}

#[inline(always)]
fn sums(fused: bool) -> [[f32; WIDTH]; SUMS] {
    if fused { rounds(f32::mul_add) } else { rounds(|a, b, c| a * b + c) }
}

#[inline(always)]
fn rounds(step: impl Fn(f32, f32, f32) -> f32) -> [[f32; WIDTH]; SUMS] {
    let (a, b) = (black_box([0.5f32; WIDTH]), black_box([1.0f32; WIDTH]));
    let mut sums = [[0.0f32; WIDTH]; SUMS];
    for _ in 0..ROUNDS {
        for sum in &mut sums {
            for l in 0..WIDTH {
                sum[l] = step(a[l], sum[l], b[l]);
            }
        }
    }
    sums
}

/// Multiply-adds per second of projections alone: the time of trees with one cut and many candidate directions, less
/// that with one candidate.
fn projections(n: usize, d: usize) -> rpfcluster::Result<f64> {
    const MANY: usize = 33;
    let values = generated(n, d);
    let points = Points::new(&values, n, d)?;
    let trees = (200_000_000 / (n * d * MANY)).max(1);
    let grow = |candidates| {
        let params = ForestParams { trees, min_node: n, candidates, ..Default::default() };
        (0..3)
            .map(|_| {
                let clock = Instant::now();
                black_box(Forest::grow(&points, &params)?);
                Ok(clock.elapsed().as_secs_f64())
            })
            .try_fold(f64::INFINITY, |least, took: rpfcluster::Result<f64>| Ok(least.min(took?)))
    };
    let seconds = grow(MANY)? - grow(1)?;
    Ok((n * d * trees * (MANY - 1)) as f64 / seconds / 1e9)
}

fn generated(n: usize, d: usize) -> Vec<f32> {
    Shape::Blobs { k: 8, d, sd: 3.0 }.generate(n, 1).values.iter().map(|&v| v as f32).collect()
}

/// Bytes per second, read and written, of a copy larger than the caches.
fn copied() -> f64 {
    const NUMBERS: usize = 64 << 20;
    const CHUNK: usize = 1 << 20;
    let from = vec![1.0f64; NUMBERS];
    let mut to = vec![0.0f64; NUMBERS];
    best((2 * 8 * NUMBERS) as f64, || {
        to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).for_each(|(to, from)| to.copy_from_slice(from));
        black_box(&to);
    })
}

/// Bytes per second of a product with S: all accesses, and those that must come from memory where the vectors exceed the
/// caches.
fn products(n: usize, trees: usize, columns: usize) -> rpfcluster::Result<(f64, f64)> {
    const GROUP_TREES: usize = 8;
    let values = generated(n, 10);
    let points = Points::new(&values, n, 10)?;
    let leaves = Forest::grow(&points, &ForestParams { trees, ..Default::default() })?.leaves();
    leaves.leaf_ids();
    let (x, mut y) = (vec![1.0; n * columns], vec![0.0; n * columns]);
    let rate = best(1.0, || {
        // Never cancelled.
        let _ = black_box(leaves.apply(black_box(&x), &mut y, columns, &Silent));
    });
    let vector = (8 * n * columns) as f64;
    let numbers = (4 * n) as f64;
    // Per tree: leaf ids twice, x into the leaf sums, these into y. y is read and written once per group of trees; the
    // sums stay in the cache.
    let asked = trees as f64 * (2.0 * numbers + 6.0 * vector);
    let least = trees as f64 * (2.0 * numbers + vector) + 2.0 * vector * trees.div_ceil(GROUP_TREES) as f64;
    Ok((rate * asked, rate * least))
}
