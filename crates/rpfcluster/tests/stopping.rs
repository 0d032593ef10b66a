//! Long operations check for cancellation often, and a cancelled one returns `Error::Cancelled` wherever it is stopped.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{grow, normals};
use rpfcluster::Setting;
use rpfcluster::affinity::{Affinity, Diagonal, LinearAffinity, SimilarityOperator, SparseAffinity};
use rpfcluster::kmeans::KMeans;
use rpfcluster::model_file::Container;
use rpfcluster::partitions;
use rpfcluster::spectral::{Method, Solver, SpectralParams, cluster};
use rpfcluster::{AffinityParams, Error, Fitted, ForestParams, Observer, Points, RpfCluster, Silent};

/// Counts the checks and cancels after `limit` of them.
struct StopAfter {
    asked: AtomicU64,
    limit: u64,
}

impl StopAfter {
    fn new(limit: u64) -> Self {
        StopAfter { asked: AtomicU64::new(0), limit }
    }

    fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Observer for StopAfter {
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst) >= self.limit
    }
}

type Run<'a> = Box<dyn Fn(&dyn Observer) -> Result<(), Error> + 'a>;
type Work<'a> = (&'static str, u64, Run<'a>);

/// Asserts that every operation checks at least `least` times and returns `Cancelled` at each of [`STOPS`] moments.
fn stops_anywhere(works: &[Work]) {
    for (name, least, work) in works {
        // The first run fills caches.
        work(&StopAfter::new(u64::MAX)).unwrap();
        let never = StopAfter::new(u64::MAX);
        work(&never).unwrap();
        let all = never.asked();
        assert!(all >= *least, "{name} checked only {all} times, not {least}");
        for limit in (0..STOPS).map(|i| all * i / STOPS) {
            let end = work(&StopAfter::new(limit));
            assert_eq!(end, Err(Error::Cancelled), "{name}, stopped after {limit} of {all}");
        }
    }
}

const N: usize = 600;
/// Moments at which each operation is cancelled.
const STOPS: u64 = 12;

fn spectral(solver: Solver, method: Method) -> SpectralParams {
    SpectralParams { k: 4, solver, method, landmarks: 450, ..Default::default() }
}

#[test]
fn eigenvectors_and_labels_of_every_affinity_can_be_cancelled() {
    let values = normals(N, 3, 7);
    let forest = grow(&values, N, 3, &ForestParams { trees: 60, min_node: 60, ..Default::default() });
    let leaves = Arc::new(forest.leaves());
    let paper =
        SparseAffinity::paper(&leaves.sparse(0.05, &Silent).unwrap(), 0.3, Diagonal::Keep, &Silent).unwrap();
    let top = SparseAffinity::top_k(&leaves.top_k(10, &Silent).unwrap(), 10, 2.0, &Silent).unwrap();
    let linear = LinearAffinity::new(leaves.clone());
    let all: [(&'static str, Affinity); 3] =
        [("paper", (&paper).into()), ("top-k", (&top).into()), ("linear", (&linear).into())];
    for (name, affinity) in &all {
        let work = |solver, method| -> Run<'_> {
            Box::new(move |o| cluster(affinity, &spectral(solver, method), o).map(|_| ()))
        };
        stops_anywhere(&[
            (name, 50, work(Solver::Block, Method::Kway)),
            (name, 50, work(Solver::Block, Method::Ncut)),
            (name, 50, work(Solver::Nystrom, Method::Kway)),
            (name, 50, work(Solver::Dense, Method::Kway)),
        ]);
    }
}

/// A single operation checks every few rows, since a row may hold all points.
#[test]
fn single_operations_check_every_few_rows() {
    let values = normals(N, 3, 7);
    let forest = grow(&values, N, 3, &ForestParams { trees: 20, min_node: 40, ..Default::default() });
    let kernel = forest.leaves().sparse(0.0, &Silent).unwrap();
    let paper = SparseAffinity::paper(&kernel, 0.3, Diagonal::Drop, &Silent).unwrap();
    let rows: Vec<u32> = (0..N as u32).collect();
    let checks = N as u64 / 64;
    let product = |o: &dyn Observer| paper.apply(&vec![1.0; 3 * N], &mut vec![0.0; 3 * N], 3, o);
    stops_anywhere(&[
        ("product", checks, Box::new(product)),
        ("degrees", checks, Box::new(|o| paper.degrees(o).map(drop))),
        ("submatrix", checks, Box::new(|o| paper.submatrix(&rows, o).map(drop))),
        ("lower bound", checks, Box::new(|o| paper.lower_bound(o).map(drop))),
        ("copying", 18, Box::new(|o| SparseAffinity::paper(&kernel, 0.3, Diagonal::Keep, o).map(drop))),
        ("counting", 35, Box::new(|o| forest.leaves().sparse(0.0, o).map(drop))),
    ]);
}

#[test]
fn reading_and_writing_models_can_be_cancelled() {
    let values = normals(N, 3, 7);
    let points = Points::new(&values, N, 3).unwrap();
    let fitted =
        RpfCluster { k: 3, trees: Some(40), tune: false, ..Default::default() }.fit(&points).unwrap();
    let mut bytes = Vec::new();
    fitted.write_with(&mut bytes, &[], &StopAfter::new(u64::MAX)).unwrap();
    let folder = std::env::temp_dir().join(format!("rpf-stopping-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.rpf");
    let read = |o: &dyn Observer| Fitted::from_container(&Container::parse(&bytes, o)?, o);
    stops_anywhere(&[
        ("writing", 80, Box::new(|o| fitted.write_with(&mut Vec::new(), &[], o))),
        ("saving", 80, Box::new(|o| fitted.save_with(&path, &[], o))),
        ("reading", 80, Box::new(|o| read(o).map(drop))),
        ("reading a file", 2, Box::new(|o| rpfcluster::model_file::read(&path, o).map(drop))),
    ]);
    // The file saved before is unchanged, and no other file is left.
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn fits_predictions_and_searches_can_be_cancelled() {
    let values = normals(N, 3, 7);
    let points = Points::new(&values, N, 3).unwrap();
    let fixed = RpfCluster { k: 3, trees: Some(40), tune: false, ..Default::default() };
    let fitted = fixed.fit(&points).unwrap();
    // More components than clusters, which are then merged.
    let apart: Vec<f64> = (0..N).map(|i| (i % 30) as f64 * 1e6 + (i / 30) as f64).collect();
    let apart = Points::new(&apart, N, 1).unwrap();
    let open_trees = RpfCluster { max_trees: Some(200), ..fixed.clone() };
    let dense: Vec<f64> = (0..400 * 400).map(|i| 1.0 + ((i / 400) * (i % 400) % 7) as f64).collect();
    let kmeans = KMeans { k: 20, restarts: 2, ..Default::default() };
    let setting = Setting { min_node: 30, affinity: AffinityParams::Linear, method: Method::Kway };
    stops_anywhere(&[
        ("fit", 80, Box::new(|o| fixed.fit(points.observed(o)).map(drop))),
        ("components", 80, Box::new(|o| fixed.fit(apart.observed(o)).map(drop))),
        ("trees", 200, Box::new(|o| open_trees.fit(points.observed(o)).map(drop))),
        ("confidence", 40, Box::new(|o| fitted.confidence(o).map(drop))),
        ("predict", 60, Box::new(|o| fitted.predict(points.observed(o)).map(drop))),
        (
            "partitions",
            50,
            Box::new(|o| partitions(fitted.forest(), setting, &fixed, &[2, 3, 4], o).map(drop)),
        ),
        ("k-means", 100, Box::new(|o| kmeans.fit(&values, 3, o).map(drop))),
        ("dense matrix", 800, Box::new(|o| SparseAffinity::precomputed_dense(&dense, 400, o).map(drop))),
    ]);
}
