//! K-means and NJW of this crate on the paper's data sets, and the same tables as CSV files for R: half of
//! `bench/r_rivals.py`.
//!
//!     cargo run --release -p rpfcluster-paper --example rivals -- DATA FOLDER SEEDS SET…
//!
//! Writes FOLDER/SET.csv (prepared as in the paper, the class as a number from 0 in the last column) and prints one JSON
//! object for each set, method, rule and seed. NJW runs on sets of at most [`NJW_ROWS`] rows.
#![allow(clippy::print_stdout, reason = "a program")]

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use rpfcluster::Silent;
use rpfcluster_data::catalog::{Scaling, find};
use rpfcluster_paper::rivals::{Bandwidth, HartiganWong, Njw, Start};
use serde_json::{Value, json};

/// `specc()` decomposes n x n matrices with R's reference LAPACK for each of thirty bandwidths.
const NJW_ROWS: usize = 600;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [data, folder, seeds, sets @ ..] = words.as_slice() else {
        return Err("usage: rivals DATA FOLDER SEEDS SET…".into());
    };
    sets.iter().try_for_each(|set| run(Path::new(data), Path::new(folder), seeds.parse()?, set))
}

fn run(data: &Path, folder: &Path, seeds: u64, set: &str) -> Outcome {
    let entry = find(set)?;
    let table = entry.load(data, Scaling::Paper)?;
    let (values, d, k) = (table.values.to_f64().into_owned(), table.d(), entry.k);
    let classes = table.labels.map(|labels| labels.codes).unwrap_or_default();
    let mut text = String::new();
    for (row, class) in values.chunks_exact(d).zip(&classes) {
        row.iter().try_for_each(|value| write!(text, "{value:?},"))?;
        writeln!(text, "{class}")?;
    }
    std::fs::write(folder.join(format!("{set}.csv")), text)?;
    let report = |method: &str, rule: &str, seed: u64, labels: &[u32], seconds: f64, more: (&str, Value)| {
        let mut line = json!({
            "set": set, "n": entry.n, "d": d, "k": k, "by": "rpf", "method": method, "rule": rule, "seed": seed,
            "seconds": seconds, "labels": labels,
        });
        line[more.0] = more.1;
        println!("{line}");
    };
    for seed in 0..seeds {
        for (rule, start) in [("random rows", Start::RandomRows), ("k-means++ and Lloyd", Start::Lloyd)] {
            let clock = Instant::now();
            let fit = HartiganWong { k, start, seed, ..Default::default() }.fit(&values, d, &Silent)?;
            let seconds = clock.elapsed().as_secs_f64();
            report("K-means", rule, seed, &fit.labels, seconds, ("inertia", json!(fit.inertia)));
        }
        for (rule, bandwidth) in [
            ("automatic", Bandwidth::KernlabAutomatic),
            ("local", Bandwidth::KernlabLocal),
            ("seventh neighbour", Bandwidth::Local { neighbor: 7 }),
        ] {
            if entry.n > NJW_ROWS {
                continue;
            }
            let clock = Instant::now();
            let fit = Njw { k, bandwidth, seed, ..Default::default() }.fit(&values, d, &Silent)?;
            let seconds = clock.elapsed().as_secs_f64();
            report("NJW", rule, seed, &fit.labels, seconds, ("sigma", json!(fit.sigma)));
        }
    }
    Ok(())
}
