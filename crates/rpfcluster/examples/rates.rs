//! How near the two inner loops come to what this machine can do: projections against an in-cache loop of fused
//! multiply-adds, products with S against copying memory.
//!
//! `cargo run --release -p rpfcluster --example rates`
#![allow(clippy::print_stdout)] // an example that measures must tell

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Forest, ForestParams, Points};
use rpfcluster_data::shapes::Shape;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    println!("one core, f32, 10^9 multiply-adds a second");
    let (fused, plain) = (peak(true), peak(false));
    println!("  in-cache loop, fused                  {fused:7.2}");
    println!(
        "  in-cache loop, multiply then add      {plain:7.2}   what projections use, for the same bits everywhere"
    );
    for (rows, d) in [(4_000, 8), (4_000, 10), (4_000, 16), (1_000_000, 10), (500, 784), (50_000, 784)] {
        let rate = in_pool(Some(1), || projections(rows, d))??;
        let (of_fused, of_plain) = (100.0 * rate / fused, 100.0 * rate / plain);
        println!(
            "  projections, {rows:9} x {d:3}          {rate:7.2}   {of_fused:.0} % of fused, {of_plain:.0} % of plain"
        );
    }
    println!("all cores, 10^9 bytes a second");
    let copy = in_pool(None, copied)?;
    println!("  copy of 512 MB, read and written      {copy:7.2}");
    for (n, trees) in [(20_000, 100), (1_000_000, 50)] {
        for columns in [1, 8, 16] {
            let (asked, least) = in_pool(None, || products(n, trees, columns))??;
            let share = 100.0 * least / copy;
            println!(
                "  S times {columns:2} vectors, n = {n:9}        {least:7.2}   {share:.0} % of the copy; {asked:.2} with what the caches answer"
            );
        }
    }
    Ok(())
}

/// Best of some runs, in units of work a second.
fn best(work: f64, mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let clock = Instant::now();
        run();
        clock.elapsed().as_secs_f64()
    };
    (0..5).map(|_| work / time(&mut run) / 1e9).fold(0.0, f64::max)
}

/// Independent sums, enough to hide how long one takes.
const SUMS: usize = 12;
const WIDTH: usize = 8;
const ROUNDS: usize = 20_000_000;

/// Multiply-adds a second of numbers that never leave the registers.
fn peak(fused: bool) -> f64 {
    best((ROUNDS * SUMS * WIDTH) as f64, || {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the instructions the function is compiled for; nothing else is asked.
            #[allow(unsafe_code)]
            black_box(unsafe { sums_wide(fused) });
            return;
        }
        black_box(sums(fused));
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn sums_wide(fused: bool) -> [[f32; WIDTH]; SUMS] {
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

/// Multiply-adds a second of the projections alone. Trees of one cut, whose direction is the best of many: the time
/// of many less that of one is projections and nothing else.
fn projections(n: usize, d: usize) -> rpfcluster::Result<f64> {
    const MANY: usize = 33;
    let values = made(n, d);
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

fn made(n: usize, d: usize) -> Vec<f32> {
    Shape::Blobs { k: 8, d, sd: 3.0 }.generate(n, 1).values.iter().map(|&v| v as f32).collect()
}

/// Bytes a second, read and written, of a copy no cache holds.
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

/// Bytes a second of a product with S: all that is asked for, and what must come from memory where the vectors are
/// larger than the caches.
fn products(n: usize, trees: usize, columns: usize) -> rpfcluster::Result<(f64, f64)> {
    const TREES_A_PASS: usize = 8;
    let values = made(n, 10);
    let points = Points::new(&values, n, 10)?;
    let leaves = Forest::grow(&points, &ForestParams { trees, ..Default::default() })?.leaves();
    leaves.leaf_ids();
    let (x, mut y) = (vec![1.0; n * columns], vec![0.0; n * columns]);
    let rate = best(1.0, || leaves.apply(black_box(&x), &mut y, columns));
    let vector = (8 * n * columns) as f64;
    let numbers = (4 * n) as f64;
    // Each tree: leaf numbers twice, x into the sums of the leaves, these into y. y comes and goes once for several
    // trees; the sums stay near.
    let asked = trees as f64 * (2.0 * numbers + 6.0 * vector);
    let least = trees as f64 * (2.0 * numbers + vector) + 2.0 * vector * trees.div_ceil(TREES_A_PASS) as f64;
    Ok((rate * asked, rate * least))
}
