//! k-means against plain loops, with several thread counts, and on degenerate inputs.

use proptest::prelude::*;
use rpfcluster::Error;
use rpfcluster::kmeans::{KMeans, relabel_by_first_appearance};
use rpfcluster::observe::Silent;
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::thread_pool::in_pool;

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Lloyd's algorithm by plain loops; `None` when a cluster becomes empty.
fn plain_lloyd(data: &[f64], d: usize, start: &[f64]) -> Option<f64> {
    let k = start.len() / d;
    let mut centers = start.to_vec();
    let mut labels = vec![usize::MAX; data.len() / d];
    loop {
        let mut changed = false;
        for (i, row) in data.chunks(d).enumerate() {
            let mut best = (f64::INFINITY, labels[i]);
            for c in 0..k {
                let dd = distance(row, &centers[c * d..][..d]);
                if dd < best.0 || (dd == best.0 && c == labels[i]) {
                    best = (dd, c);
                }
            }
            changed |= labels[i] != best.1;
            labels[i] = best.1;
        }
        centers.fill(0.0);
        let mut counts = vec![0.0; k];
        for (row, l) in data.chunks(d).zip(&labels) {
            counts[*l] += 1.0;
            for j in 0..d {
                centers[l * d + j] += row[j];
            }
        }
        if counts.contains(&0.0) {
            return None;
        }
        for c in 0..k * d {
            centers[c] /= counts[c / d];
        }
        if !changed {
            return Some(data.chunks(d).zip(&labels).map(|(r, l)| distance(r, &centers[l * d..][..d])).sum());
        }
    }
}

fn blobs(n: usize, d: usize, k: usize, seed: u64) -> Vec<f64> {
    let mut s = Stream::new(seed, Purpose::Shapes, 1, 0);
    let centers: Vec<f64> = (0..k * d).map(|_| 25.0 * s.normal()).collect();
    (0..n).flat_map(|i| (0..d).map(|j| centers[i % k * d + j] + s.normal()).collect::<Vec<_>>()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn hamerly_bounds_do_not_change_the_inertia(
        data in prop::collection::vec(-10.0..10.0f64, 24..160), k in 1..6usize, d in 1..4usize
    ) {
        let n = data.len() / d;
        let data = &data[..n * d];
        let start = &data[..k * d];
        let lloyd = KMeans { k, tolerance: 0.0, ..KMeans::default() }.fit_from(data, d, start).unwrap();
        if let Some(plain) = plain_lloyd(data, d, start) {
            prop_assert!((lloyd.inertia - plain).abs() <= 1e-9 * plain.max(1.0));
        }
    }
}

#[test]
fn separated_groups_are_found() {
    let data = blobs(600, 3, 5, 2);
    let fit = KMeans { k: 5, ..KMeans::default() }.fit(&data, 3, &Silent).unwrap();
    assert!(fit.labels.iter().enumerate().all(|(i, l)| *l as usize == i % 5));
    for (i, row) in data.chunks(3).enumerate() {
        let own = distance(row, &fit.centers[fit.labels[i] as usize * 3..][..3]);
        assert!((0..5).all(|c| own <= distance(row, &fit.centers[c * 3..][..3])));
    }
}

#[test]
fn labels_of_a_sampled_fit_do_not_depend_on_thread_count() {
    let data = blobs(120_000, 2, 4, 5);
    let fit =
        in_pool(Some(1), || KMeans { k: 4, ..KMeans::default() }.fit(&data, 2, &Silent)).unwrap().unwrap();
    let mut sizes = [0; 4];
    fit.labels.iter().for_each(|l| sizes[*l as usize] += 1);
    assert!(sizes.iter().all(|s| (28_000..32_000).contains(s)), "{sizes:?}");
    for threads in [2, 8] {
        let more = in_pool(Some(threads), || KMeans { k: 4, ..KMeans::default() }.fit(&data, 2, &Silent));
        assert_eq!(more.unwrap().unwrap(), fit);
    }
}

#[test]
fn degenerate_inputs_give_labels_or_a_clear_error() {
    let k = |k| KMeans { k, ..KMeans::default() };
    assert_eq!(k(1).fit(&[3.0], 1, &Silent).unwrap().labels, [0]);
    assert_eq!(k(3).fit(&[3.0, 1.0, 2.0], 1, &Silent).unwrap().labels, [0, 1, 2]);
    assert_eq!(k(3).fit(&[3.0, 1.0, 2.0], 1, &Silent).unwrap().inertia, 0.0);
    let same = [1.0; 20];
    assert_eq!(k(1).fit(&same, 2, &Silent).unwrap().labels, [0; 10]);
    assert_eq!(k(2).fit(&same, 2, &Silent).err(), Some(Error::TooManyClusters { k: 2, distinct: 1 }));
    assert!(matches!(
        k(1).fit(&[1.0, f64::NAN], 1, &Silent),
        Err(Error::NotFinite { row: 2, column: 1, .. })
    ));
    assert!(matches!(k(1).fit(&[1.0, 2.0, 3.0], 2, &Silent), Err(Error::Shape { .. })));
    assert!(matches!(k(1).fit(&[], 2, &Silent), Err(Error::Empty { .. })));
    assert!(k(0).validate().is_err());
    // Equal start centers leave clusters empty; all are filled.
    let data = [0.0, 0.0, 0.0, 1.0, 100.0, 101.0];
    let fit = k(4).fit_from(&data, 1, &[0.0, 0.0, 0.0, 0.0]).unwrap();
    let mut seen = fit.labels.clone();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [0, 1, 2, 3]);
}

#[test]
fn labels_are_numbered_by_first_appearance() {
    let mut labels = [7, 7, 2, 9, 2, 7];
    assert_eq!(relabel_by_first_appearance(&mut labels), [7, 2, 9]);
    assert_eq!(labels, [0, 0, 1, 2, 1, 0]);
}
