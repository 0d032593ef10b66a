//! The pipeline from points to labels: prediction, models, selection, confidence, errors.

use rpfcluster::affinity::Diagonal;
use rpfcluster::metrics::Scores;
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::spectral::Method;
use rpfcluster::{AffinityKind, AffinityParams, Error, Fitted, Points, RpfCluster, Silent};

/// Values and classes of three concentric rings.
fn rings(n: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
    let mut stream = Stream::new(seed, Purpose::Shapes, 7, 0);
    let mut values = Vec::new();
    let classes = (0..n)
        .map(|i| {
            let class = (i % 3) as u32;
            let angle = stream.uniform() * std::f64::consts::TAU;
            let radius = f64::from(class) * 4.0 + 2.0 + 0.15 * stream.normal();
            values.extend([radius * angle.cos(), radius * angle.sin()]);
            class
        })
        .collect();
    (values, classes)
}

/// Values and classes of `k` round blobs.
fn blobs(n: usize, d: usize, k: usize, spread: f64, seed: u64) -> (Vec<f64>, Vec<u32>) {
    let mut stream = Stream::new(seed, Purpose::Shapes, 8, 0);
    let centres: Vec<f64> = (0..k * d).map(|_| stream.uniform() * 20.0 - 10.0).collect();
    let mut values = Vec::new();
    let classes = (0..n)
        .map(|i| {
            let class = i % k;
            values.extend((0..d).map(|j| centres[class * d + j] + spread * stream.normal()));
            class as u32
        })
        .collect();
    (values, classes)
}

fn settings() -> Vec<RpfCluster> {
    let base = RpfCluster { k: 4, trees: Some(60), tune: false, min_node: Some(20), ..Default::default() };
    let kinds = [AffinityKind::Linear, AffinityKind::Paper, AffinityKind::TopK];
    kinds
        .into_iter()
        .flat_map(|kind| {
            [Method::Kway, Method::Ncut].map(|method| RpfCluster {
                affinity: Some(kind),
                method: Some(method),
                ..base.clone()
            })
        })
        .collect()
}

#[test]
fn predict_returns_the_fitted_labels_of_training_rows() {
    let (mut values, _) = blobs(600, 5, 4, 3.0, 1);
    // The first ten rows again: copies must share their label.
    let first = values[..50].to_vec();
    values.extend(first);
    let points = Points::new(&values, 610, 5).unwrap();
    for params in settings() {
        let fitted = params.fit(&points).unwrap();
        assert_eq!(fitted.predict(&points).unwrap(), fitted.labels(), "{params:?}");
        let embedded = fitted.transform(&points).unwrap();
        assert_eq!(embedded.len(), 610 * 4);
        assert_eq!(fitted.labels()[..10], fitted.labels()[600..], "twins");
        let mut seen = fitted.labels().to_vec();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [0, 1, 2, 3], "{params:?}");
    }
}

#[test]
fn slightly_moved_rows_are_embedded_near_the_training_rows() {
    // Rows moved by 1e-4 fall into the same leaves in nearly all trees, so their embedding must be close.
    let (values, _) = blobs(800, 4, 3, 1.0, 2);
    let moved: Vec<f64> = values.iter().map(|v| v + 1e-4).collect();
    let points = Points::new(&values, 800, 4).unwrap();
    for kind in [AffinityKind::Linear, AffinityKind::Paper, AffinityKind::TopK] {
        // A higher power magnifies the few trees in which a moved row changes its leaf.
        let power = (kind == AffinityKind::TopK).then_some(4.0);
        let params = RpfCluster {
            k: 3,
            trees: Some(80),
            affinity: Some(kind),
            power,
            tune: false,
            ..Default::default()
        };
        let fitted = params.fit(&points).unwrap();
        let near = fitted.transform(&Points::new(&moved, 800, 4).unwrap()).unwrap();
        let mut off = 0.0f64;
        for (i, row) in near.chunks(3).enumerate() {
            for (a, b) in row.iter().zip(fitted.embedding().row(i)) {
                off += (a - b) * (a - b);
            }
        }
        // The whole embedding has squared length 3.
        assert!(off.sqrt() < 0.35, "{kind:?}: {}", off.sqrt());
        let same = fitted.predict(&Points::new(&moved, 800, 4).unwrap()).unwrap();
        let agree = same.iter().zip(fitted.labels()).filter(|(a, b)| a == b).count();
        assert!(agree >= 795, "{kind:?}: {agree}");
    }
}

#[test]
fn unseen_rows_of_rings_get_the_label_of_their_ring() {
    let (values, classes) = rings(3000, 3);
    let (train, test) = values.split_at(4000);
    let params = RpfCluster { k: 3, trees: Some(100), ..Default::default() };
    let fitted = params.fit(&Points::new(train, 2000, 2).unwrap()).unwrap();
    assert_eq!(Scores::new(fitted.labels(), &classes[..2000]).unwrap().rho_c, 100.0);
    let predicted = fitted.predict(&Points::new(test, 1000, 2).unwrap()).unwrap();
    assert!(Scores::new(&predicted, &classes[2000..]).unwrap().rho_c >= 99.9);
}

#[test]
fn labels_do_not_depend_on_thread_count() {
    let (values, _) = blobs(3000, 6, 5, 3.0, 4);
    let points = Points::new(&values, 3000, 6).unwrap();
    for kind in [AffinityKind::Linear, AffinityKind::Paper, AffinityKind::TopK] {
        let run = |threads| {
            let params = RpfCluster {
                k: 5,
                trees: Some(40),
                affinity: Some(kind),
                tune: false,
                threads: Some(threads),
                ..Default::default()
            };
            params.fit(&points).unwrap()
        };
        let one = run(1);
        for threads in [2, 8] {
            let many = run(threads);
            assert_eq!(one.labels(), many.labels());
            assert_eq!(one.embedding(), many.embedding(), "{kind:?} {threads}");
        }
    }
}

#[test]
fn saved_models_load_unchanged() {
    let (values, _) = blobs(500, 3, 3, 2.0, 5);
    let points = Points::new(&values, 500, 3).unwrap();
    let (other, _) = blobs(300, 3, 3, 4.0, 5);
    let other = Points::new(&other, 300, 3).unwrap();
    let folder = std::env::temp_dir().join(format!("rpf-cluster-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (i, params) in settings().into_iter().enumerate() {
        let fitted = RpfCluster { k: 3, ..params }.fit(&points).unwrap();
        let path = folder.join(format!("{i}.rpf"));
        fitted.save_with(&path, &[("note", b"hello")], &Silent).unwrap();
        let again = Fitted::load(&path).unwrap();
        assert_eq!(again.labels(), fitted.labels());
        assert_eq!(again.predict(&other).unwrap(), fitted.predict(&other).unwrap());
        assert_eq!(again.transform(&other).unwrap(), fitted.transform(&other).unwrap());
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(
            rpfcluster::model_file::Container::parse(&bytes, &Silent).unwrap().section("note").unwrap(),
            b"hello"
        );
    }
    // A forest alone is no clustering.
    let path = folder.join("forest.rpf");
    rpfcluster::Forest::grow(&points, &Default::default()).unwrap().save(&path).unwrap();
    assert!(Fitted::load(&path).unwrap_err().to_string().contains("no clustering"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn eight_blobs_are_found_in_2000_and_in_20000_rows() {
    for (n, trees) in [(2000, 60), (20_000, 60)] {
        let (values, classes) = blobs(n, 10, 8, 3.0, 6);
        let points = Points::new(&values, n, 10).unwrap();
        for kind in [AffinityKind::Linear, AffinityKind::TopK] {
            let params = RpfCluster {
                k: 8,
                trees: Some(trees),
                affinity: Some(kind),
                tune: false,
                ..Default::default()
            };
            let scores = Scores::new(params.fit(&points).unwrap().labels(), &classes).unwrap();
            assert!(scores.rho_c >= 98.5, "{kind:?} at {n}: {}", scores.rho_c);
        }
    }
}

#[test]
fn given_parameters_are_kept_and_open_ones_selected() {
    let (values, classes) = rings(900, 7);
    let points = Points::new(&values, 900, 2).unwrap();
    let fitted =
        RpfCluster { k: 3, trees: Some(100), tune: true, ..Default::default() }.fit(&points).unwrap();
    assert_eq!(Scores::new(fitted.labels(), &classes).unwrap().ari, 1.0);
    let choice = fitted.evidence().settings.as_ref().unwrap();
    assert_eq!(choice.candidates.len(), 1, "nothing is compared in the plane");
    assert_eq!(choice.affinity, *fitted.affinity());

    let params =
        RpfCluster { k: 3, trees: Some(100), power: Some(3.0), min_node: Some(40), ..Default::default() };
    let fitted = params.fit(&points).unwrap();
    assert_eq!(fitted.min_node(), 40);
    assert!(matches!(fitted.affinity(), AffinityParams::TopK { power: 3.0, .. }));

    let params = RpfCluster {
        k: 3,
        trees: Some(50),
        beta1: Some(0.2),
        diagonal: Diagonal::Drop,
        ..Default::default()
    };
    assert!(matches!(params.fit(&points).unwrap().affinity(), AffinityParams::Paper { beta1: 0.2, .. }));

    // The chosen setting, given by hand, is the same clustering.
    let chosen = RpfCluster { k: 3, trees: Some(100), ..Default::default() }.fit(&points).unwrap();
    let AffinityParams::TopK { top, power } = *chosen.affinity() else { panic!("{:?}", chosen.affinity()) };
    let again = RpfCluster {
        k: 3,
        trees: Some(100),
        min_node: Some(chosen.min_node()),
        affinity: Some(AffinityKind::TopK),
        top: Some(top),
        power: Some(power),
        ..Default::default()
    };
    assert_eq!(again.fit(&points).unwrap().labels(), chosen.labels());
}

#[test]
fn normal_and_uniform_clouds_are_one_cluster() {
    let mut stream = Stream::new(11, Purpose::Shapes, 9, 0);
    for d in [2, 5] {
        let normal: Vec<f64> = (0..800 * d).map(|_| stream.normal()).collect();
        let cube: Vec<f64> = (0..800 * d).map(|_| stream.uniform()).collect();
        for values in [normal, cube] {
            let params = RpfCluster { max_k: Some(8), trees: Some(100), ..Default::default() };
            let fitted = params.fit(&Points::new(&values, 800, d).unwrap()).unwrap();
            assert_eq!(fitted.k(), 1);
            assert!(fitted.labels().iter().all(|&l| l == 0));
        }
    }
}

#[test]
fn selected_k_of_three_rings_is_three() {
    let (values, classes) = rings(900, 12);
    let params = RpfCluster { max_k: Some(8), trees: Some(100), ..Default::default() };
    let fitted = params.fit(&Points::new(&values, 900, 2).unwrap()).unwrap();
    assert_eq!(fitted.k(), 3);
    assert_eq!(Scores::new(fitted.labels(), &classes).unwrap().ari, 1.0);
    let evidence = fitted.evidence().k.as_ref().unwrap();
    assert_eq!((evidence.k, evidence.candidates.len()), (3, 7));
    assert!(evidence.candidates[0].score > 0.5 && evidence.candidates[0].separated);
}

/// K of a wide table is selected on random projections, from dense and from sparse rows.
#[test]
fn wide_tables_give_the_same_k_dense_and_sparse() {
    let (n, d) = (240, 5000);
    let mut stream = Stream::new(3, Purpose::Shapes, 9, 0);
    let mut values = vec![0.0; n * d];
    for (i, row) in values.chunks_exact_mut(d).enumerate() {
        // Every group has words of its own; each row holds thirty of its group's hundred.
        for _ in 0..30 {
            row[(i % 3) * 1500 + (stream.uniform() * 100.0) as usize] = 1.0 + 0.2 * stream.normal();
        }
    }
    let (mut starts, mut columns, mut stored) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks_exact(d) {
        let kept = row.iter().enumerate().filter(|(_, v)| **v != 0.0);
        kept.for_each(|(j, v)| {
            columns.push(j as u32);
            stored.push(*v);
        });
        starts.push(stored.len());
    }
    let params = RpfCluster { max_k: Some(6), trees: Some(60), ..Default::default() };
    let dense = params.fit(&Points::new(&values, n, d).unwrap()).unwrap();
    let sparse = params.fit(&Points::sparse(&starts, &columns, &stored, n, d).unwrap()).unwrap();
    assert_eq!(dense.k(), 3, "{:?}", dense.evidence().k);
    assert_eq!(dense.evidence().k, sparse.evidence().k);
    assert_eq!(dense.labels(), sparse.labels());
}

#[test]
fn confidence_is_high_inside_clusters_and_lower_between_them() {
    // Two clouds that touch at 0.
    let mut stream = Stream::new(13, Purpose::Shapes, 10, 0);
    let values: Vec<f64> = (0..1000).map(|i| if i % 2 == 0 { -1.5 } else { 1.5 } + stream.normal()).collect();
    let (top, power) = (Some(10), Some(2.0));
    let fitted =
        RpfCluster { k: 2, trees: Some(100), top, power, tune: false, assess: false, ..Default::default() }
            .fit(&Points::new(&values, 1000, 1).unwrap())
            .unwrap();
    let confidence = fitted.confidence(&Silent).unwrap();
    assert!(confidence.iter().all(|c| (0.0..=1.0).contains(c)));
    let mean = |keep: &dyn Fn(f64) -> bool| {
        let kept: Vec<f64> =
            values.iter().zip(&confidence).filter(|(v, _)| keep(**v)).map(|(_, c)| *c).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    let (inside, border) = (mean(&|v| v.abs() > 1.5), mean(&|v| v.abs() < 0.15));
    assert!(inside > 0.97 && border < inside - 0.05, "{inside} {border}");
}

#[test]
fn two_small_groups_beside_a_large_one_are_found() {
    // 2,900 rows around the origin and two distant groups of 50: by entropy they count as fewer than 1.5 clusters.
    let mut stream = Stream::new(11, Purpose::Shapes, 0, 0);
    let (mut rows, mut truth) = (Vec::new(), Vec::new());
    for (label, (count, x, y, spread)) in
        [(2900, 0.0, 0.0, 1.0), (50, 7.0, 0.0, 0.4), (50, 0.0, 7.0, 0.4)].into_iter().enumerate()
    {
        for _ in 0..count {
            rows.extend([x + spread * stream.normal(), y + spread * stream.normal()]);
            truth.push(label as u32);
        }
    }
    let points = Points::new(&rows, 3000, 2).unwrap();
    for seed in 0..2 {
        let fitted = RpfCluster { k: 3, seed, ..RpfCluster::default() }.fit(&points).unwrap();
        let ari = Scores::new(fitted.labels(), &truth).unwrap().ari;
        assert!(ari > 0.95, "seed {seed}: {ari}");
    }
}

#[test]
fn impossible_parameters_are_refused() {
    let same = vec![1.0; 40];
    let points = Points::new(&same, 20, 2).unwrap();
    let refused = |params: RpfCluster| params.fit(&points).unwrap_err();
    let too_many = refused(RpfCluster { k: 2, ..Default::default() });
    assert_eq!(too_many.to_string(), "k is 2, but there are only 1 distinct point");
    assert!(matches!(refused(RpfCluster { k: 0, ..Default::default() }), Error::Parameter { name: "k", .. }));
    assert!(matches!(refused(RpfCluster { k: 21, ..Default::default() }), Error::TooManyClusters { .. }));
    for params in [
        RpfCluster { beta1: Some(1.5), ..Default::default() },
        RpfCluster { beta2: Some(0.0), ..Default::default() },
        RpfCluster { power: Some(f64::NAN), ..Default::default() },
        RpfCluster { top: Some(0), ..Default::default() },
        RpfCluster { max_k: Some(1), ..Default::default() },
        RpfCluster { trees: Some(0), ..Default::default() },
        RpfCluster { threads: Some(0), ..Default::default() },
    ] {
        assert!(matches!(refused(params), Error::Parameter { .. }));
    }
    let tight = refused(RpfCluster { k: 1, memory_limit: Some(1000), ..Default::default() });
    assert!(matches!(tight, Error::Memory { limit: 1000, .. }), "{tight}");
    let fitted = RpfCluster { k: 1, ..Default::default() }.fit(&points).unwrap();
    assert_eq!(fitted.labels(), [0; 20]);
    let wrong = Points::new(&same, 10, 4).unwrap();
    assert!(matches!(fitted.predict(&wrong), Err(Error::Columns { got: 4, expected: 2 })));
}

#[test]
fn groups_of_duplicates_are_the_clusters() {
    let values: Vec<f64> = (0..200).flat_map(|i| [(i % 4) as f64, ((i % 4) / 2) as f64 * 3.0]).collect();
    let points = Points::new(&values, 200, 2).unwrap();
    for params in [RpfCluster { k: 4, ..Default::default() }].into_iter().chain(settings()) {
        let fitted = params.fit(&points).unwrap();
        let expected: Vec<u32> = (0..200).map(|i| i % 4).collect();
        assert_eq!(fitted.labels(), expected, "{params:?}");
    }
}

#[test]
fn paper_affinity_gives_eigenvectors_and_three_clusters_at_every_bandwidth() {
    let (values, _) = blobs(300, 3, 3, 2.0, 15);
    let points = Points::new(&values, 300, 3).unwrap();
    for beta2 in [0.01, 0.02, 0.1, 1.0, 20.0, 200.0] {
        for diagonal in [Diagonal::Keep, Diagonal::Drop] {
            for method in [Method::Kway, Method::Ncut] {
                let params = RpfCluster {
                    k: 3,
                    trees: Some(100),
                    beta1: Some(0.1),
                    beta2: Some(beta2),
                    min_node: Some(30),
                    diagonal,
                    method: Some(method),
                    ..Default::default()
                };
                let fitted = params.fit(&points).unwrap();
                let embedding = fitted.embedding();
                assert!(embedding.eigenvalues.iter().all(|l| (-1.0..=1.0 + 1e-9).contains(l)));
                assert!(embedding.vectors.iter().all(|v| v.is_finite()));
                // 300 rows are solved densely, where `converged` is a constant: the residual is what can fail.
                assert!(embedding.converged && embedding.residual < 1e-7, "{}", embedding.residual);
                assert_eq!(fitted.sizes().len(), 3);
                assert!(fitted.sizes().iter().all(|&s| s > 0));
            }
        }
    }
}
