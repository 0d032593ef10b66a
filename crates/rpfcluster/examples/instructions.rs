//! One hot path at a small size, for bench/instructions.py to count its instructions.
//!
//! Only the work inside `counted` is counted. The function is never inlined and runs on the single thread of a pool, so
//! that data generation and start-up are excluded.

use std::hint::black_box;

use rpfcluster::kmeans::KMeans;
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Forest, ForestParams, Points, Silent};
use rpfcluster_data::shapes::Shape;

const ROWS: usize = 5_000;
const COLUMNS: usize = 10;

type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome {
    let stage = std::env::args().nth(1).unwrap_or_default();
    in_pool(Some(1), || run(&stage))?
}

fn run(stage: &str) -> Outcome {
    let generated = Shape::Blobs { k: 8, d: COLUMNS, sd: 3.0 }.generate(ROWS, 1).values;
    let values: Vec<f32> = generated.iter().map(|&v| v as f32).collect();
    let points = Points::new(&values, ROWS, COLUMNS)?;
    let params = ForestParams { trees: 20, ..Default::default() };
    if stage == "grow" {
        counted(|| Forest::grow(&points, &params))?;
        return Ok(());
    }
    let leaves = Forest::grow(&points, &params)?.leaves();
    match stage {
        "top-k" => {
            counted(|| leaves.top_k(10, &Silent))?;
        }
        "product" => {
            leaves.leaf_ids();
            let (x, mut y) = (vec![1.0; ROWS * 8], vec![0.0; ROWS * 8]);
            counted(|| leaves.apply(&x, &mut y, 8, &Silent))?;
        }
        "k-means" => {
            let params = KMeans { k: 8, restarts: 2, ..Default::default() };
            counted(|| params.fit(&generated, COLUMNS, &Silent))?;
        }
        other => return Err(format!("no such stage: {other:?}").into()),
    }
    Ok(())
}

#[inline(never)]
fn counted<T>(work: impl FnOnce() -> T) -> T {
    black_box(black_box(work)())
}
