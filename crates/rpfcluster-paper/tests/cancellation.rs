//! Long work checks for cancellation often, and returns `Error::Cancelled` wherever it is cancelled.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{Error, Forest, ForestParams, Observer, Points, Result};
use rpfcluster_paper::rivals::HartiganWong;
use rpfcluster_paper::sweep::{Sweep, most_agreed};

/// Cancels after `limit` checks, and counts the checks.
struct CancelAfter {
    checks: AtomicU64,
    limit: u64,
}

impl CancelAfter {
    fn new(limit: u64) -> Self {
        CancelAfter { checks: AtomicU64::new(0), limit }
    }
}

impl Observer for CancelAfter {
    fn cancelled(&self) -> bool {
        self.checks.fetch_add(1, Ordering::SeqCst) >= self.limit
    }
}

/// `work` checks at least `least` times, and stops at each of ten moments spread over its run.
fn stops_anywhere(name: &str, least: u64, work: impl Fn(&dyn Observer) -> Result<()>) {
    let never = CancelAfter::new(u64::MAX);
    work(&never).unwrap();
    let checks = never.checks.into_inner();
    assert!(checks >= least, "{name} checked {checks} times, not {least}");
    for limit in (0..10).map(|tenth| checks * tenth / 10) {
        let end = work(&CancelAfter::new(limit));
        assert_eq!(end, Err(Error::Cancelled), "{name}, cancelled after {limit} of {checks} checks");
    }
}

fn normals(n: usize) -> Vec<f64> {
    let mut values = vec![0.0; n * 3];
    Stream::new(5, Purpose::Shapes, 100, 0).normals(&mut values);
    values
}

#[test]
fn sweep_stops_in_the_middle_of_a_setting() {
    let values = normals(1500);
    let points = Points::new(&values, 1500, 3).unwrap();
    let forest = Forest::grow(&points, &ForestParams { trees: 40, ..Default::default() }).unwrap();
    let leaves = Arc::new(forest.leaves());
    let sweep = Sweep { k: 3, beta1: vec![0.1], beta2: vec![0.1, 0.5, 2.0], ..Default::default() };
    stops_anywhere("sweep", 30, |o| sweep.run(&leaves, None, o).map(drop));
}

#[test]
fn hartigan_wong_stops_in_the_middle_of_a_pass() {
    let values = normals(600);
    let kmeans = HartiganWong { k: 20, restarts: 2, ..Default::default() };
    stops_anywhere("Hartigan-Wong", 150, |o| kmeans.fit(&values, 3, o).map(drop));
}

#[test]
fn agreement_stops_between_two_pairs_of_partitions() {
    let partitions: Vec<Vec<u32>> = (2..9).map(|k| (0..600).map(|i| i % k).collect()).collect();
    stops_anywhere("agreement", 21, |o| most_agreed(&partitions, &[1.0; 7], 7, o).map(drop));
}
