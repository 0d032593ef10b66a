//! Times the growth of a forest and the kernel operations at full size; prints seconds and peak memory. Source of the
//! tables in docs/background/performance.md.
//!
//! `cargo run --release -p rpfcluster --example speed -- DATA TREES [THREADS]`. DATA is a number of rows of a Gaussian
//! mixture (8 centres, 10 columns, standard deviation 3) or the name of a data set (`mnist`, `covertype`, …) in the
//! folder RPF_DATA.
#![allow(clippy::print_stdout)] // prints its measurements

use std::time::Instant;

use rpfcluster::{Forest, ForestParams, Points, Silent};
use rpfcluster_data::Values;
use rpfcluster_data::catalog::{Scaling, find};
use rpfcluster_data::shapes::Shape;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (Some(data), Some(Ok(trees))) = (args.first(), args.get(1).map(|t| t.parse::<usize>())) else {
        return Err("usage: speed ROWS|DATASET TREES [THREADS]".into());
    };
    let threads = args.get(2).map(|t| t.parse()).transpose()?;
    let (values, n, d): (Vec<f32>, usize, usize) = match data.parse::<usize>() {
        Ok(n) => {
            let generated = Shape::Blobs { k: 8, d: 10, sd: 3.0 }.generate(n, 1);
            (generated.values.iter().map(|&v| v as f32).collect(), n, generated.d)
        }
        Err(_) => {
            let folder = std::env::var("RPF_DATA").unwrap_or_else(|_| "../shared/data".into());
            let table = find(data)?.load(folder, Scaling::Raw)?;
            let (n, d) = (table.n, table.d());
            match table.values {
                Values::F32(values) => (values, n, d),
                other => (other.to_f64().iter().map(|&v| v as f32).collect(), n, d),
            }
        }
    };
    let points = Points::new(&values, n, d)?;
    println!("{data}: {n} x {d}, {trees} trees, min_node 30, {} MB of data", (n * d * 4) >> 20);
    rpfcluster::thread_pool::in_pool(threads, || measure(&points, trees))??;
    Ok(())
}

fn measure(points: &Points<f32>, trees: usize) -> rpfcluster::Result<()> {
    let n = points.n();
    reset_peak();
    println!("data             peak {} bytes a row, with the program itself", peak() / n);
    let clock = Instant::now();
    let forest = Forest::grow(points, &ForestParams { trees, ..Default::default() })?;
    let seconds = clock.elapsed().as_secs_f64();
    let leaves = forest.leaves();
    let depth: f64 = forest.mean_depth();
    println!(
        "grow    {seconds:8.2} s   peak {} bytes a row; mean depth {depth:.1}, {:.2} ns a projection and core-pair, {:.1} points share a leaf",
        peak() / n,
        seconds * 1e9 / (n as f64 * trees as f64 * depth),
        leaves.mean_leaf()
    );
    let clock = Instant::now();
    drop(leaves.top_k(10, &Silent)?);
    println!("top-10  {:8.2} s   peak {} bytes a row", clock.elapsed().as_secs_f64(), peak() / n);
    let clock = Instant::now();
    let sparse = leaves.sparse(0.1, &Silent)?;
    println!(
        "sparse  {:8.2} s   peak {} bytes a row; {:.1} pairs a row with S >= 0.1",
        clock.elapsed().as_secs_f64(),
        peak() / n,
        sparse.pairs() as f64 / n as f64
    );
    drop(sparse);
    let (x, mut y) = (vec![1.0; n * 8], vec![0.0; n * 8]);
    // The first product computes the leaf ids.
    leaves.apply(&x, &mut y, 8, &Silent)?;
    let clock = Instant::now();
    leaves.apply(&x, &mut y, 8, &Silent)?;
    println!("product {:8.2} s   S times 8 vectors", clock.elapsed().as_secs_f64());
    let clock = Instant::now();
    forest.route(points)?;
    println!("route   {:8.2} s   all rows down all trees", clock.elapsed().as_secs_f64());
    Ok(())
}

/// Resets the peak to the present resident size, so that reading a file does not count (Linux only).
fn reset_peak() {
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        println!("the peak includes reading");
    }
}

/// Peak resident bytes of this process; 0 where the system does not report them.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<usize>().ok()).unwrap_or(0) << 10
}
