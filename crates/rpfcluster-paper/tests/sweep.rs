//! The grid search against single settings, and refined against complete.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use std::sync::Arc;

use rpfcluster::affinity::{Diagonal, SparseAffinity};
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::spectral::{Method, Solver, SpectralParams, cluster};
use rpfcluster::{Forest, ForestParams, LeafMatrix, Points, Silent};
use rpfcluster_paper::sweep::{Sweep, paper_bandwidths};

fn three_clouds(n: usize, apart: f64) -> (Arc<LeafMatrix>, Vec<u32>) {
    let mut stream = Stream::new(3, Purpose::Shapes, 0, 0);
    let classes: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
    let values: Vec<f64> =
        classes.iter().flat_map(|c| [f64::from(*c) * apart + stream.normal(), stream.normal()]).collect();
    let points = Points::new(&values, n, 2).unwrap();
    let params = ForestParams { trees: 60, min_node: 20, ..Default::default() };
    (Arc::new(Forest::grow(&points, &params).unwrap().leaves()), classes)
}

/// The single setting is solved densely, without a warm start.
#[test]
fn labels_of_a_setting_equal_those_of_the_setting_alone() {
    let (leaves, _) = three_clouds(150, 9.0);
    let sweep = Sweep { k: 3, beta1: vec![0.0, 0.2], tolerance: 1e-8, ..Default::default() };
    let found = sweep.run(&leaves, None, &Silent).unwrap();
    assert!(found.failed.is_none() && found.best_by_labels.is_none());
    let mut same = 0;
    for (at, entry) in found.entries.iter().enumerate() {
        let kernel = leaves.sparse(entry.beta1, &Silent).unwrap();
        let affinity = SparseAffinity::paper(&kernel, entry.beta2, Diagonal::Keep, &Silent).unwrap();
        let params =
            SpectralParams { k: 3, solver: Solver::Dense, method: entry.method, ..Default::default() };
        let (labels, _) = cluster(&affinity, &params, &Silent).unwrap();
        same += usize::from(labels == found.labels_of(at));
    }
    assert!(found.entries.iter().all(|e| e.converged));
    // A row on the border of two clusters may fall to either side by rounding.
    assert!(same * 20 >= found.entries.len() * 19, "{same} of {}", found.entries.len());
}

#[test]
fn picks_from_the_papers_grid_recover_separated_clouds() {
    let (leaves, classes) = three_clouds(150, 6.0);
    let sweep = Sweep { k: 3, beta2: paper_bandwidths(), ..Default::default() };
    let found = sweep.run(&leaves, Some(&classes), &Silent).unwrap();
    assert_eq!(found.entries.len(), 5 * 2090 * 2);
    let best = found.scores_of(found.best_by_labels.unwrap()).unwrap().rho_c;
    let free = found.scores_of(found.label_free).unwrap().rho_c;
    assert!(best >= 98.0 && free >= best - 3.0, "best {best}, label-free {free}");
    assert!(found.scores.as_ref().unwrap().iter().all(|s| s.rho_c <= best));
    assert!(found.entries.iter().any(|e| e.reused) && found.partitions.len() < found.entries.len() / 4);
    for (at, entry) in found.entries.iter().enumerate() {
        let mut sizes = [0usize; 3];
        found.labels_of(at).iter().for_each(|&label| sizes[label as usize] += 1);
        assert_eq!(entry.sizes, sizes);
        assert_eq!(sizes.iter().sum::<usize>(), 150);
    }
}

/// Bisection finds as good a setting in fewer than half the solves, and reused labels are those of a solved bandwidth.
#[test]
fn refined_search_scores_like_the_complete_search() {
    let (leaves, classes) = three_clouds(150, 4.0);
    let whole =
        Sweep { k: 3, beta2: paper_bandwidths().into_iter().step_by(10).collect(), ..Default::default() };
    let all = whole.run(&leaves, Some(&classes), &Silent).unwrap();
    let few = Sweep { refine: true, ..whole }.run(&leaves, Some(&classes), &Silent).unwrap();
    let named = |e: &rpfcluster_paper::sweep::GridEntry| (e.beta1, e.beta2, e.method == Method::Ncut);
    assert!(all.entries.iter().map(named).eq(few.entries.iter().map(named)));
    let solved =
        |found: &rpfcluster_paper::sweep::SweepResult| found.entries.iter().filter(|e| !e.reused).count();
    assert!(2 * solved(&few) < solved(&all), "{} against {}", solved(&few), solved(&all));
    let best = |found: &rpfcluster_paper::sweep::SweepResult| {
        found.scores_of(found.best_by_labels.unwrap()).unwrap().rho_c
    };
    assert!((best(&few) - best(&all)).abs() <= 1.0, "{} against {}", best(&few), best(&all));
    let fresh: Vec<usize> = few.entries.iter().filter(|e| !e.reused).map(|e| e.partition).collect();
    assert!(few.entries.iter().all(|e| fresh.contains(&e.partition)));
}

#[test]
fn refined_search_does_not_depend_on_thread_count_and_can_be_cancelled() {
    let (leaves, classes) = three_clouds(120, 4.0);
    let sweep = Sweep { k: 3, refine: true, ..Default::default() };
    let run = |threads| {
        rpfcluster::thread_pool::in_pool(Some(threads), || sweep.run(&leaves, Some(&classes), &Silent))
            .unwrap()
            .unwrap()
    };
    assert_eq!(run(1), run(4));
    struct Stopped;
    impl rpfcluster::Observer for Stopped {
        fn cancelled(&self) -> bool {
            true
        }
    }
    assert!(matches!(sweep.run(&leaves, None, &Stopped), Err(rpfcluster::Error::Cancelled)));
}

#[test]
fn complete_search_does_not_depend_on_thread_count() {
    let (leaves, classes) = three_clouds(120, 4.0);
    let sweep =
        Sweep { k: 3, beta2: paper_bandwidths().into_iter().step_by(20).collect(), ..Default::default() };
    let run = |threads| {
        rpfcluster::thread_pool::in_pool(Some(threads), || sweep.run(&leaves, Some(&classes), &Silent))
            .unwrap()
            .unwrap()
    };
    assert_eq!(run(1), run(4));
}

#[test]
fn thresholds_with_too_many_pairs_are_left_out_and_reported() {
    let (leaves, _) = three_clouds(150, 6.0);
    let sweep = Sweep { k: 3, most_pairs: 10_000, methods: vec![Method::Kway], ..Default::default() };
    let found = sweep.run(&leaves, None, &Silent).unwrap();
    assert!(found.left_out.contains(&0.0) && !found.left_out.contains(&0.4));
    assert!(found.entries.iter().all(|e| !found.left_out.contains(&e.beta1)));
}

#[test]
fn invalid_grids_are_refused_by_name() {
    let (leaves, classes) = three_clouds(60, 6.0);
    let refused = |sweep: Sweep| sweep.run(&leaves, None, &Silent).unwrap_err().to_string();
    assert!(refused(Sweep { beta2: vec![], ..Default::default() }).contains("grid"));
    assert!(refused(Sweep { beta2: vec![0.0], ..Default::default() }).contains("beta2"));
    assert!(refused(Sweep { beta1: vec![1.5], ..Default::default() }).contains("beta1"));
    assert!(refused(Sweep { k: 61, ..Default::default() }).contains("61"));
    assert!(Sweep::default().run(&leaves, Some(&classes[1..]), &Silent).is_err());
}
