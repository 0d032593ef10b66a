//! Progress adds up, and work that is told to stop stops with `Error::Cancelled`.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{grow, normals};
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Error, Forest, ForestParams, Observer, Points, Stage};

/// Writes down everything and asks to stop once `limit` units are done.
struct Watch {
    limit: u64,
    done: AtomicU64,
    said: Mutex<Vec<(Stage, &'static str, u64)>>,
}

impl Watch {
    fn new(limit: u64) -> Self {
        Watch { limit, done: AtomicU64::new(0), said: Mutex::new(Vec::new()) }
    }

    fn units(&self) -> u64 {
        self.done.load(Ordering::SeqCst)
    }

    /// One beginning, one end, nothing outside them, all of one stage; returns the total announced.
    fn total(&self, stage: Stage) -> u64 {
        let said = self.said.lock().unwrap();
        assert!(said.iter().all(|s| s.0 == stage), "{said:?}");
        assert_eq!(said[0].1, "begin");
        assert_eq!(said[said.len() - 1].1, "end");
        assert_eq!(said.iter().filter(|s| s.1 != "advance").count(), 2);
        said[0].2
    }
}

impl Observer for Watch {
    fn begin(&self, stage: Stage, total: u64) {
        self.said.lock().unwrap().push((stage, "begin", total));
    }
    fn advance(&self, stage: Stage, units: u64) {
        self.said.lock().unwrap().push((stage, "advance", units));
        self.done.fetch_add(units, Ordering::SeqCst);
    }
    fn end(&self, stage: Stage) {
        self.said.lock().unwrap().push((stage, "end", 0));
    }
    fn cancelled(&self) -> bool {
        self.units() >= self.limit
    }
}

const N: usize = 70_000;
const TREES: usize = 12;

/// A piece of work that can be watched.
type Work = Box<dyn Fn(&Watch) -> Result<(), Error> + Send + Sync>;

/// Every long piece of work, with its stage and its number of units.
fn works() -> Vec<(&'static str, Stage, u64, Work)> {
    let values: &'static [f64] = Box::leak(normals(N, 2, 1).into_boxed_slice());
    let points = Points::new(values, N, 2).unwrap();
    let params = ForestParams { trees: TREES, min_node: 20, ..Default::default() };
    let forest: &'static Forest = Box::leak(Box::new(grow(values, N, 2, &params)));
    let rows = N as u64;
    let routed = forest.route(&points).unwrap();
    let (of_sparse, of_top) = (routed.clone(), routed);
    vec![
        (
            "grow",
            Stage::Grow,
            TREES as u64,
            Box::new(move |w| Forest::grow(points.observed(w), &params).map(|_| ())),
        ),
        (
            "route",
            Stage::Route,
            TREES as u64,
            Box::new(move |w| forest.route(points.observed(w)).map(|_| ())),
        ),
        ("sparse", Stage::Kernel, rows, Box::new(|w| forest.leaves().sparse(0.5, w).map(|_| ()))),
        ("top_k", Stage::Kernel, rows, Box::new(|w| forest.leaves().top_k(3, w).map(|_| ()))),
        (
            "sparse_of",
            Stage::Kernel,
            rows,
            Box::new(move |w| forest.leaves().sparse_of(&of_sparse, 0.5, w).map(|_| ())),
        ),
        (
            "top_k_of",
            Stage::Kernel,
            rows,
            Box::new(move |w| forest.leaves().top_k_of(&of_top, 3, w).map(|_| ())),
        ),
    ]
}

#[test]
fn units_add_up_and_stages_end() {
    for (name, stage, units, work) in works() {
        for threads in [1, 2] {
            let watch = Watch::new(u64::MAX);
            in_pool(Some(threads), || work(&watch)).unwrap().unwrap();
            assert_eq!(watch.total(stage), units, "{name}");
            assert_eq!(watch.units(), units, "{name}");
        }
    }
}

#[test]
fn work_that_is_told_to_stop_stops() {
    for (name, stage, units, work) in works() {
        for limit in [0, 1, units / 2] {
            for threads in [1, 2] {
                let watch = Watch::new(limit);
                let result = in_pool(Some(threads), || work(&watch)).unwrap();
                assert_eq!(result, Err(Error::Cancelled), "{name}, limit {limit}");
                // A stage that was begun is ended even so: a progress bar is not left standing.
                assert_eq!(watch.total(stage), units, "{name}");
                assert!(watch.units() < units, "{name} went on to the end");
            }
        }
    }
}

#[test]
fn a_cancelled_grow_leaves_nothing_behind() {
    let values = normals(500, 3, 1);
    let points = Points::new(&values, 500, 3).unwrap();
    let params = ForestParams { trees: 20, ..Default::default() };
    let whole = Forest::grow(&points, &params).unwrap();
    assert!(Forest::grow(points.observed(&Watch::new(5)), &params).is_err());
    assert_eq!(Forest::grow(&points, &params).unwrap(), whole);
}

/// Says stop after being asked so many times; counts how often it was.
struct StopAfter {
    asked: AtomicU64,
    limit: u64,
}

impl Observer for StopAfter {
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst) >= self.limit
    }
}

/// Trying settings and numbers of clusters asks often, not once a setting: with many rows one setting takes seconds.
#[test]
fn choosing_stops_in_the_middle_of_a_setting() {
    use rpfcluster::RpfCluster;
    let values = normals(1500, 3, 5);
    let points = Points::new(&values, 1500, 3).unwrap();
    type Run<'a> = Box<dyn Fn(&dyn Observer) -> Result<(), Error> + 'a>;
    let tuned = RpfCluster { k: 3, trees: 40, ..Default::default() };
    let open = RpfCluster { max_k: Some(5), ..tuned.clone() };
    let runs: [(&str, Run, u64); 2] = [
        ("settings", Box::new(|o| tuned.fit(points.observed(o)).map(|_| ())), 100),
        ("number of clusters", Box::new(|o| open.fit(points.observed(o)).map(|_| ())), 300),
    ];
    for (name, run, least) in runs {
        let never = StopAfter { asked: AtomicU64::new(0), limit: u64::MAX };
        run(&never).unwrap();
        let all = never.asked.load(Ordering::SeqCst);
        assert!(all >= least, "{name} asked {all} times");
        for share in 1..10 {
            let limit = all * share / 10;
            let end = run(&StopAfter { asked: AtomicU64::new(0), limit });
            assert_eq!(end, Err(Error::Cancelled), "{name} after {limit} of {all}");
        }
    }
}
