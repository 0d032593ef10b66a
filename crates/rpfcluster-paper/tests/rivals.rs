//! The rivals: known clusters, agreement with definitions, thread counts, invalid input and cancellation.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use rpfcluster::Silent;
use rpfcluster::metrics::Scores;
use rpfcluster_data::shapes::Shape;
use rpfcluster_paper::compare::{ComparedMethod, Comparison, Experiment};
use rpfcluster_paper::rivals::{Bandwidth, ClusterForests, Gaussian, HartiganWong, Njw, kappa};

fn iris() -> (Vec<f64>, Vec<u32>) {
    let (table, _) = rpfcluster_data::iris().unwrap();
    (table.values.to_f64().into_owned(), table.labels.unwrap().codes)
}

/// Three clusters far apart, of 40 rows each, in 3 columns.
fn separable() -> (Vec<f64>, Vec<u32>) {
    let mut stream = rpfcluster::random::Stream::new(1, rpfcluster::random::Purpose::Shapes, 0, 0);
    let mut values = Vec::new();
    let mut classes = Vec::new();
    for i in 0..120u32 {
        let class = i % 3;
        for column in 0..3 {
            values.push(stream.normal() + if column == class { 12.0 } else { 0.0 });
        }
        classes.push(class);
    }
    (values, classes)
}

/// The paper's scores for the Gaussian kernel correspond to 12 errors. Normalised cuts of the kernel with ones on its
/// diagonal have exactly these scores at a bandwidth near 0.36.
#[test]
fn some_bandwidth_of_the_gaussian_kernel_on_iris_gives_the_papers_scores() {
    use rpfcluster::spectral::{Method, SpectralParams, cluster};
    let (values, classes) = iris();
    let params = SpectralParams { k: 3, method: Method::Ncut, ..Default::default() };
    let found = (40..70).map(|i| 0.25 + 0.002 * f64::from(i)).any(|sigma| {
        let kernel = Gaussian::new(&values, 4, sigma).unwrap().with_unit_diagonal().dense(&Silent).unwrap();
        let scores = Scores::new(
            &cluster(rpfcluster::affinity::Affinity::operator(&kernel), &params, &Silent).unwrap().0,
            &classes,
        )
        .unwrap();
        (scores.rho_c - 92.0).abs() < 0.005 && (scores.rho_r - 90.55).abs() < 0.01
    });
    assert!(found, "no bandwidth gives 92.00 / 90.55");
}

#[test]
fn every_method_finds_separated_clusters() {
    let (values, classes) = separable();
    let comparison = Comparison { k: 3, ..Default::default() };
    let mut methods = Vec::new();
    for experiment in Experiment::ALL {
        for answer in comparison.run(experiment, &values, 3, &classes, &Silent).unwrap() {
            assert_eq!(answer.scores.ari, 1.0, "{}", answer.method.name());
            methods.push(answer.method);
        }
    }
    assert_eq!(methods, ComparedMethod::ALL);
    for (bandwidth, one) in [
        (Bandwidth::Search { tried: 12 }, true),
        (Bandwidth::KernlabAutomatic, true),
        (Bandwidth::KernlabLocal, false),
        (Bandwidth::Local { neighbor: 7 }, false),
    ] {
        let fit = Njw { k: 3, bandwidth, ..Default::default() }.fit(&values, 3, &Silent).unwrap();
        assert_eq!(Scores::new(&fit.labels, &classes).unwrap().ari, 1.0, "{bandwidth:?}");
        assert_eq!(fit.sigma.is_some(), one);
    }
}

#[test]
fn kappa_decreases_with_every_step_and_matches_its_definition() {
    let (values, _) = iris();
    for seed in 0..20 {
        let forest = ClusterForests { k: 3, instances: 20, seed, ..Default::default() };
        let fit = forest.fit(&values, 4, &Silent).unwrap();
        assert_eq!(fit.instances.len(), 20);
        for instance in &fit.instances {
            assert!(instance.kappas.windows(2).all(|w| w[1] < w[0]), "{:?}", instance.kappas);
            let mut seen = instance.features.clone();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), instance.features.len(), "a feature was added twice");
            let part: Vec<f64> =
                values.chunks_exact(4).flat_map(|r| instance.features.iter().map(|f| r[*f])).collect();
            let again = kappa(&part, instance.features.len(), &instance.labels, &instance.centers);
            assert!((again - instance.kappas.last().unwrap()).abs() <= 1e-9 * again);
        }
    }
}

/// Feature competition: of twenty start sets the best begins no worse than one set does on average.
#[test]
fn competing_start_features_begin_with_a_smaller_kappa() {
    let (values, _) = iris();
    let first = |start_candidates| {
        let forest = ClusterForests { k: 3, instances: 20, start_candidates, ..Default::default() };
        let fit = forest.fit(&values, 4, &Silent).unwrap();
        fit.instances.iter().map(|i| i.kappas[0]).sum::<f64>() / 20.0
    };
    assert!(first(20) < 0.8 * first(1), "{} {}", first(20), first(1));
    assert!(ClusterForests { start_candidates: 0, ..Default::default() }.validate().is_err());
}

#[test]
fn cluster_forests_do_not_depend_on_thread_count() {
    let (values, _) = iris();
    let run = |threads| {
        let forest = ClusterForests { k: 3, instances: 30, ..Default::default() };
        rpfcluster::thread_pool::in_pool(Some(threads), || forest.fit(&values, 4, &Silent)).unwrap().unwrap()
    };
    assert_eq!(run(1), run(3));
    let other = ClusterForests { k: 3, instances: 30, seed: 9, ..Default::default() };
    assert_ne!(run(1).instances, other.fit(&values, 4, &Silent).unwrap().instances);
}

#[test]
fn njw_separates_moons_and_rings_and_k_means_does_not() {
    // With few points the outermost ring is so sparse that its local scale reaches the next ring.
    for (name, n) in [("moons", 400), ("rings", 1000)] {
        let shape = Shape::ALL.into_iter().find(|s| s.name() == name).unwrap();
        let mut solved = 0;
        for seed in 0..20 {
            let made = shape.generate(n, seed);
            let fit = Njw { k: shape.k(), ..Default::default() }.fit(&made.values, made.d, &Silent).unwrap();
            solved += usize::from(Scores::new(&fit.labels, &made.labels).unwrap().ari > 0.98);
            let means = HartiganWong { k: shape.k(), restarts: 10, ..Default::default() };
            let means = means.fit(&made.values, made.d, &Silent).unwrap();
            assert!(Scores::new(&means.labels, &made.labels).unwrap().ari < 0.9);
        }
        assert!(solved >= 18, "{name}: {solved} of 20");
    }
}

#[test]
fn landmarks_find_the_same_clusters_and_are_reported() {
    let (values, classes) = separable();
    let njw =
        Njw { k: 3, dense_limit: 50, landmarks: 60, ..Default::default() }.fit(&values, 3, &Silent).unwrap();
    assert_eq!(njw.landmarks, Some(60));
    assert_eq!(Scores::new(&njw.labels, &classes).unwrap().ari, 1.0);
    let forest = ClusterForests { k: 3, dense_limit: 50, landmarks: 60, ..Default::default() };
    let fit = forest.fit(&values, 3, &Silent).unwrap();
    assert_eq!(fit.landmarks, Some(60));
    assert_eq!(Scores::new(&fit.labels, &classes).unwrap().ari, 1.0);
}

#[test]
fn dense_matrix_equals_the_kernel() {
    use rpfcluster::affinity::SimilarityOperator;
    let (values, _) = iris();
    for kernel in [Gaussian::new(&values, 4, 0.7).unwrap(), Gaussian::local(&values, 4, 7, &Silent).unwrap()]
    {
        let dense = kernel.dense(&Silent).unwrap();
        let x: Vec<f64> = (0..150 * 6).map(|i| f64::from(i % 11) - 5.0).collect();
        let (mut y, mut z) = (vec![0.0; 900], vec![0.0; 900]);
        kernel.apply(&x, &mut y, 6, &Silent).unwrap();
        dense.apply(&x, &mut z, 6, &Silent).unwrap();
        assert!(y.iter().zip(&z).all(|(a, b)| (a - b).abs() < 1e-9));
        assert!((0..150).all(|i| dense.row(i)[i] == 0.0));
        let rows: Vec<u32> = (0..150).step_by(3).collect();
        let part = dense.submatrix(&rows, &Silent).unwrap();
        let mut column = vec![0.0; 50];
        part.column(4, &mut column, &Silent).unwrap();
        assert!(column.iter().zip(&rows).all(|(v, i)| *v == dense.row(12)[*i as usize]));
    }
}

#[test]
fn invalid_input_is_refused() {
    let duplicates = vec![1.0; 40];
    assert!(Njw { k: 2, ..Default::default() }.fit(&duplicates, 1, &Silent).is_err());
    assert!(ClusterForests { k: 2, ..Default::default() }.fit(&duplicates, 1, &Silent).is_err());
    assert!(Njw { k: 2, ..Default::default() }.fit(&[1.0, f64::NAN], 1, &Silent).is_err());
    assert!(Njw { k: 5, ..Default::default() }.fit(&[1.0, 2.0], 1, &Silent).is_err());
    assert!(ClusterForests { beta1: 2.0, ..Default::default() }.validate().is_err());
    assert!(Njw { bandwidth: Bandwidth::Fixed { sigma: 0.0 }, ..Default::default() }.validate().is_err());
    assert!(HartiganWong { restarts: 0, ..Default::default() }.validate().is_err());
}

/// Cancels after this number of checks.
struct CancelAfter(std::sync::atomic::AtomicUsize);

impl rpfcluster::Observer for CancelAfter {
    fn cancelled(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.0.fetch_update(Relaxed, Relaxed, |left| Some(left.saturating_sub(1))) == Ok(0)
    }
}

/// A cancelled rival returns `Cancelled` or its full result, never an error about the data.
#[test]
fn cancelled_rivals_return_cancelled_or_their_full_result() {
    let (values, _) = iris();
    let bandwidths = [
        Bandwidth::Local { neighbor: 7 },
        Bandwidth::Search { tried: 3 },
        Bandwidth::KernlabAutomatic,
        Bandwidth::KernlabLocal,
        Bandwidth::Fixed { sigma: 0.7 },
    ];
    let mut stopped = 0;
    for checks in [0, 1, 10, 100, 140, 160, 200, 290, 310, 600] {
        let after = || CancelAfter(checks.into());
        let mut ends = Vec::new();
        for dense_limit in [1000, 50] {
            for bandwidth in bandwidths {
                let njw = Njw { k: 3, bandwidth, dense_limit, landmarks: 40, ..Default::default() };
                ends.push(
                    njw.fit(&values, 4, &after())
                        .map(|f| f.labels == njw.fit(&values, 4, &Silent).unwrap().labels),
                );
            }
            let forests =
                ClusterForests { k: 3, instances: 10, dense_limit, landmarks: 40, ..Default::default() };
            let whole = forests.fit(&values, 4, &Silent).unwrap();
            ends.push(forests.fit(&values, 4, &after()).map(|f| f == whole));
        }
        for end in ends {
            assert!(matches!(end, Ok(true) | Err(rpfcluster::Error::Cancelled)), "after {checks}: {end:?}");
            stopped += usize::from(end.is_err());
        }
    }
    assert!(stopped >= 30, "{stopped}");
}
