//! Times growing a forest on a Gaussian mixture, and what is made of it; prints seconds and peak memory.
//!
//! `cargo run --release -p rpfcluster --example speed -- N D TREES [THREADS]`

#![allow(clippy::print_stdout, reason = "a program that prints its measurements")]

use std::time::Instant;

use rpfcluster::rng::{Purpose, Stream};
use rpfcluster::{Forest, ForestParams, Points};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let [n, d, trees] = args[..3] else { return Err("usage: speed N D TREES [THREADS]".into()) };
    let values = mixture(n, d, 8, 3.0);
    let points = Points::new(&values, n, d)?;
    rpfcluster::parallel::in_pool(args.get(3).copied(), || -> rpfcluster::Result<()> {
        let clock = Instant::now();
        let forest = Forest::grow(&points, &ForestParams { trees, ..Default::default() })?;
        let depths = forest.depths();
        let leaves = forest.leaves();
        println!(
            "grow    {:8.2} s   {} MB forest, mean leaves {:.0}, deepest {}, mean co-leaf {:.1}, peak {} MB",
            clock.elapsed().as_secs_f64(),
            forest.bytes() >> 20,
            leaves.columns() as f64 / trees as f64,
            depths.iter().max().unwrap_or(&0),
            leaves.mean_leaf(),
            peak() >> 20
        );
        let clock = Instant::now();
        let graph = leaves.top_k(10)?;
        println!("top-10  {:8.2} s   peak {} MB", clock.elapsed().as_secs_f64(), peak() >> 20);
        drop(graph);
        let clock = Instant::now();
        let sparse = leaves.sparse(0.1)?;
        println!(
            "sparse  {:8.2} s   {:.1} pairs a row, peak {} MB",
            clock.elapsed().as_secs_f64(),
            sparse.pairs() as f64 / n as f64,
            peak() >> 20
        );
        drop(sparse);
        let clock = Instant::now();
        leaves.codes();
        println!("codes   {:8.2} s   peak {} MB", clock.elapsed().as_secs_f64(), peak() >> 20);
        let (x, mut y) = (vec![1.0; n * 8], vec![0.0; n * 8]);
        let clock = Instant::now();
        leaves.apply(&x, &mut y, 8);
        println!("apply 8 {:8.2} s", clock.elapsed().as_secs_f64());
        let clock = Instant::now();
        forest.route(&points)?;
        println!("route   {:8.2} s", clock.elapsed().as_secs_f64());
        Ok(())
    })??;
    Ok(())
}

/// k centres uniform in [-10, 10]^d, points normal around them: scikit-learn's make_blobs.
fn mixture(n: usize, d: usize, k: usize, spread: f64) -> Vec<f32> {
    let mut stream = Stream::new(1, Purpose::Shapes, 0, 0);
    let centres: Vec<f64> = (0..k * d).map(|_| stream.uniform() * 20.0 - 10.0).collect();
    (0..n)
        .flat_map(|i| (0..d).map(move |j| (i % k) * d + j))
        .map(|c| (centres[c] + spread * stream.normal()) as f32)
        .collect()
}

/// Peak resident bytes of this process, where the system tells.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<usize>().ok()).unwrap_or(0) << 10
}
