//! Hartigan and Wong's k-means against Lloyd's iteration, and against the definition of its local minimum.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use proptest::prelude::*;
use rpfcluster::kmeans::KMeans;
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{Error, Silent};
use rpfcluster_paper::rivals::HartiganWong;

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn inertia_never_exceeds_lloyds_and_no_single_transfer_lowers_it(
        data in prop::collection::vec(-10.0..10.0f64, 24..160), k in 1..6usize, d in 1..4usize
    ) {
        let n = data.len() / d;
        let data = &data[..n * d];
        let start = &data[..k * d];
        let lloyd = KMeans { k, tolerance: 0.0, ..KMeans::default() }.fit_from(data, d, start).unwrap();
        let fit = HartiganWong { k, ..HartiganWong::default() }.fit_from(data, d, start).unwrap();
        prop_assert!(fit.inertia <= lloyd.inertia * (1.0 + 1e-12), "{} {}", fit.inertia, lloyd.inertia);
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
    let refused = HartiganWong::default().fit(&[1.0; 20], 2, &Silent).err();
    assert_eq!(refused, Some(Error::TooManyClusters { k: 2, distinct: 1 }));
}
