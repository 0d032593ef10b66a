//! Hartigan and Wong's k-means against Lloyd's iteration, and against the definition of its local minimum.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use proptest::prelude::*;
use rpfcluster::kmeans::{KMeans, KMeansFit};
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{Error, Silent};
use rpfcluster_paper::rivals::{HartiganWong, Start};

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

const STARTS: [Start; 2] = [Start::RandomRows, Start::Lloyd];

fn lloyd_and_wong(data: &[f64], d: usize, k: usize, start: Start, centers: &[f64]) -> (KMeansFit, KMeansFit) {
    let lloyd = KMeans { k, tolerance: 0.0, ..KMeans::default() }.fit_from(data, d, centers).unwrap();
    let wong = HartiganWong { k, start, ..HartiganWong::default() }.fit_from(data, d, centers).unwrap();
    (lloyd, wong)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_single_transfer_lowers_the_sum_of_squares(
        data in prop::collection::vec(-10.0..10.0f64, 24..160), k in 1..6usize, d in 1..4usize
    ) {
        let n = data.len() / d;
        let data = &data[..n * d];
        for start in STARTS {
            let (lloyd, fit) = lloyd_and_wong(data, d, k, start, &data[..k * d]);
            // From Lloyd's fixed point every transfer lowers the sum of squares.
            prop_assert!(start == Start::RandomRows || fit.inertia <= lloyd.inertia * (1.0 + 1e-9));
            let mut sizes = vec![0usize; k];
            for l in &fit.labels {
                sizes[*l as usize] += 1;
            }
            prop_assert!(sizes.iter().all(|s| *s > 0));
            for (i, row) in data.chunks(d).enumerate() {
                let own = fit.labels[i] as usize;
                let n_own = sizes[own] as f64;
                if sizes[own] > 1 {
                    let saving = n_own / (n_own - 1.0) * distance(row, &fit.centers[own * d..][..d]);
                    for c in (0..k).filter(|c| *c != own) {
                        let m = sizes[c] as f64;
                        let cost = m / (m + 1.0) * distance(row, &fit.centers[c * d..][..d]);
                        prop_assert!(cost >= saving - 1e-7 * saving.max(1.0), "row {i}: {cost} < {saving}");
                    }
                }
            }
        }
    }
}

/// Single transfers leave fixed points of Lloyd's iteration: from the same random rows of Iris, AS 136 ends lower more
/// often than higher, and from Lloyd's own end never higher and sometimes lower.
#[test]
fn single_transfers_improve_on_lloyds_iteration() {
    let (table, _) = rpfcluster_data::iris().unwrap();
    let data = table.values.to_f64().into_owned();
    let (mut lower, mut higher, mut continued) = (0, 0, 0);
    for seed in 0..100 {
        let rows = rpfcluster::random::sample_rows(seed, 150, 6);
        let centers: Vec<f64> = rows.iter().flat_map(|i| data[*i as usize * 4..][..4].to_vec()).collect();
        let (lloyd, wong) = lloyd_and_wong(&data, 4, 6, Start::RandomRows, &centers);
        lower += usize::from(wong.inertia < lloyd.inertia * (1.0 - 1e-9));
        higher += usize::from(wong.inertia > lloyd.inertia * (1.0 + 1e-9));
        let (_, after) = lloyd_and_wong(&data, 4, 6, Start::Lloyd, &centers);
        assert!(after.inertia <= lloyd.inertia * (1.0 + 1e-9), "{} {}", after.inertia, lloyd.inertia);
        continued += usize::from(after.inertia < lloyd.inertia * (1.0 - 1e-9));
    }
    assert!(lower > 2 * higher && lower >= 20, "lower {lower}, higher {higher}");
    assert!(continued >= 10, "{continued}");
}

/// `tot.withinss` of R 4.2.2 on Iris by number of clusters.
const R_IRIS: [(usize, f64); 4] = [
    (2, 152.347_951_760_357_9),
    (3, 78.851_441_426_146_1),
    (5, 46.446_182_051_282),
    (6, 39.039_987_246_087_2),
];

/// R's own `kmeans(x, k, iter.max = 1000, nstart = 100)` on Iris; ten seeds of
/// R all give this sum.
#[test]
fn best_of_many_starts_on_iris_has_the_sum_of_squares_of_r() {
    let (table, _) = rpfcluster_data::iris().unwrap();
    let data = table.values.to_f64().into_owned();
    for (k, expected) in R_IRIS {
        for start in STARTS {
            let fit = HartiganWong { k, start, ..HartiganWong::default() }.fit(&data, 4, &Silent).unwrap();
            assert!((fit.inertia - expected).abs() < 1e-9 * expected, "k {k}, {start:?}: {}", fit.inertia);
        }
    }
}

/// Rows that differ by so little that their squared distance is zero: one of the two centers attracts no row.
#[test]
fn centers_without_rows_are_moved() {
    let data = [0.0, 1e-200, 5.0, 6.0, 7.0, 5.5];
    let wong = HartiganWong { k: 3, ..HartiganWong::default() };
    let fit = wong.fit_from(&data, 1, &[0.0, 1e-200, 5.0]).unwrap();
    assert!((0..3).all(|c| fit.labels.contains(&c)), "{:?}", fit.labels);
}

#[test]
fn distant_blobs_are_found_and_numbered_by_first_appearance() {
    let mut stream = Stream::new(2, Purpose::Shapes, 1, 0);
    let centers: Vec<f64> = (0..15).map(|_| 25.0 * stream.normal()).collect();
    let data: Vec<f64> = (0..1800).map(|i| centers[i / 3 % 5 * 3 + i % 3] + stream.normal()).collect();
    let fit = HartiganWong { k: 5, ..HartiganWong::default() }.fit(&data, 3, &Silent).unwrap();
    assert!(fit.labels.iter().enumerate().all(|(i, l)| *l as usize == i % 5));
    for (i, row) in data.chunks(3).enumerate() {
        let own = distance(row, &fit.centers[fit.labels[i] as usize * 3..][..3]);
        assert!((0..5).all(|c| own <= distance(row, &fit.centers[c * 3..][..3])));
    }
}

#[test]
fn fewer_distinct_rows_than_clusters_are_refused() {
    for start in STARTS {
        let refused = HartiganWong { start, ..HartiganWong::default() }.fit(&[1.0; 20], 2, &Silent).err();
        assert_eq!(refused, Some(Error::TooManyClusters { k: 2, distinct: 1 }));
    }
    // Zero and minus zero are equal.
    let refused = HartiganWong::default().fit(&[0.0, -0.0], 1, &Silent).err();
    assert_eq!(refused, Some(Error::TooManyClusters { k: 2, distinct: 1 }));
}
