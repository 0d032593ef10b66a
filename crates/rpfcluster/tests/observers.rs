//! Progress adds up to the announced total, and cancelled work returns `Error::Cancelled`.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{grow, normals};
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{Error, Forest, ForestParams, Observer, Points, Silent, Stage};

/// Records every call and cancels once `limit` units are done.
struct Recorder {
    limit: u64,
    done: AtomicU64,
    events: Mutex<Vec<(Stage, &'static str, u64)>>,
}

impl Recorder {
    fn new(limit: u64) -> Self {
        Recorder { limit, done: AtomicU64::new(0), events: Mutex::new(Vec::new()) }
    }

    fn units(&self) -> u64 {
        self.done.load(Ordering::SeqCst)
    }

    /// Asserts one begin, one end and nothing outside them, all of one stage; returns the announced total.
    fn total(&self, stage: Stage) -> u64 {
        let events = self.events.lock().unwrap();
        assert!(events.iter().all(|s| s.0 == stage), "{events:?}");
        assert_eq!(events[0].1, "begin");
        assert_eq!(events[events.len() - 1].1, "end");
        assert_eq!(events.iter().filter(|s| s.1 != "advance").count(), 2);
        events[0].2
    }
}

impl Observer for Recorder {
    fn begin(&self, stage: Stage, total: u64) {
        self.events.lock().unwrap().push((stage, "begin", total));
    }
    fn advance(&self, stage: Stage, units: u64) {
        self.events.lock().unwrap().push((stage, "advance", units));
        self.done.fetch_add(units, Ordering::SeqCst);
    }
    fn end(&self, stage: Stage) {
        self.events.lock().unwrap().push((stage, "end", 0));
    }
    fn cancelled(&self) -> bool {
        self.units() >= self.limit
    }
}

const N: usize = 70_000;
const TREES: usize = 12;

/// Work that reports to an observer.
type Work = Box<dyn Fn(&Recorder) -> Result<(), Error> + Send + Sync>;

/// Every long operation, with its stage and its number of units.
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
            let recorder = Recorder::new(u64::MAX);
            in_pool(Some(threads), || work(&recorder)).unwrap().unwrap();
            assert_eq!(recorder.total(stage), units, "{name}");
            assert_eq!(recorder.units(), units, "{name}");
        }
    }
}

#[test]
fn cancelled_work_returns_an_error_and_ends_its_stage() {
    for (name, stage, units, work) in works() {
        for limit in [0, 1, units / 2] {
            for threads in [1, 2] {
                let recorder = Recorder::new(limit);
                let result = in_pool(Some(threads), || work(&recorder)).unwrap();
                assert_eq!(result, Err(Error::Cancelled), "{name}, limit {limit}");
                assert_eq!(recorder.total(stage), units, "{name}");
                assert!(recorder.units() < units, "{name} ran to the end");
            }
        }
    }
}

#[test]
fn growing_after_a_cancelled_grow_gives_the_same_forest() {
    let values = normals(500, 3, 1);
    let points = Points::new(&values, 500, 3).unwrap();
    let params = ForestParams { trees: 20, ..Default::default() };
    let whole = Forest::grow(&points, &params).unwrap();
    assert!(Forest::grow(points.observed(&Recorder::new(5)), &params).is_err());
    assert_eq!(Forest::grow(&points, &params).unwrap(), whole);
}

#[test]
fn cancelled_products_leaf_ids_and_dense_rows_return_an_error() {
    let values = normals(300, 2, 1);
    let leaves = grow(&values, 300, 2, &ForestParams { trees: 9, ..Default::default() }).leaves();
    let cancelled = Recorder::new(0);
    let (x, mut y) = (vec![1.0; 300], vec![0.0; 300]);
    assert_eq!(leaves.prepare_leaf_ids(&cancelled).unwrap_err(), Error::Cancelled);
    assert_eq!(leaves.degrees(&cancelled), Err(Error::Cancelled));
    assert_eq!(leaves.apply(&x, &mut y, 1, &cancelled), Err(Error::Cancelled));
    let ids = leaves.leaf_ids();
    assert_eq!(leaves.apply_to(ids, &x, &mut y, 1, &cancelled), Err(Error::Cancelled));
    assert_eq!(leaves.dense_above::<f32>(ids, 0.5, &cancelled), Err(Error::Cancelled));
    // Cancelled between two groups of trees.
    let later = CancelAfter { asked: AtomicU64::new(0), limit: 3 };
    assert_eq!(leaves.apply(&x, &mut y, 1, &later), Err(Error::Cancelled));
    assert_eq!(leaves.degrees(&Silent).unwrap().len(), 300);
}

/// Cancels after `limit` calls of `cancelled`, and counts them.
struct CancelAfter {
    asked: AtomicU64,
    limit: u64,
}

impl Observer for CancelAfter {
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst) >= self.limit
    }
}

/// One candidate takes seconds with many rows, so cancellation is checked within it.
#[test]
fn selection_of_settings_and_k_can_be_cancelled_within_a_candidate() {
    use rpfcluster::RpfCluster;
    let values = normals(1500, 3, 5);
    let points = Points::new(&values, 1500, 3).unwrap();
    type Run<'a> = Box<dyn Fn(&dyn Observer) -> Result<(), Error> + 'a>;
    let tuned = RpfCluster { k: 3, trees: Some(40), tune: true, ..Default::default() };
    let open = RpfCluster { max_k: Some(5), ..tuned.clone() };
    let runs: [(&str, Run, u64); 2] = [
        ("settings", Box::new(|o| tuned.fit(points.observed(o)).map(|_| ())), 100),
        ("number of clusters", Box::new(|o| open.fit(points.observed(o)).map(|_| ())), 300),
    ];
    for (name, run, least) in runs {
        let never = CancelAfter { asked: AtomicU64::new(0), limit: u64::MAX };
        run(&never).unwrap();
        let all = never.asked.load(Ordering::SeqCst);
        assert!(all >= least, "{name} asked {all} times");
        for share in 1..10 {
            let limit = all * share / 10;
            let end = run(&CancelAfter { asked: AtomicU64::new(0), limit });
            assert_eq!(end, Err(Error::Cancelled), "{name} after {limit} of {all}");
        }
    }
}
