//! The estimate of a fit's memory against what is allocated: never below the peak, since `memory_limit` relies on it,
//! and at most three times the peak, since a larger estimate would refuse fits that are possible.
#![allow(clippy::unwrap_used, unsafe_code)] // an allocator that counts cannot be written otherwise

#[path = "common/counting_allocator.rs"]
mod counting_allocator;

use counting_allocator::peak_copying;
use rpfcluster::spectral::Method;
use rpfcluster::{AffinityKind, CompactValues, Points, Real, RpfCluster, column_means};
use rpfcluster_data::shapes::Shape;

/// Bytes a fit held at its peak, the data included.
fn held<R: Real>(params: &RpfCluster, points: &Points<R>, width: usize) -> u64 {
    // The threads of the previous fit free their memory shortly after it ends.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let (_, bytes) = peak_copying(|| params.fit(points).unwrap());
    (bytes + points.n() * points.d() * width) as u64
}

// One test only, since the counters belong to the process.
#[test]
fn peak_memory_is_at_most_the_estimate_and_not_far_below() {
    let mut wrong = Vec::new();
    // 300 and 1,200 columns are replaced by principal components, by the covariance matrix and by the randomised method.
    for (n, d) in [(8000, 10), (20_000, 20), (60_000, 10), (6000, 300), (1000, 1200)] {
        let made = Shape::Blobs { k: 8, d, sd: 3.0 }.generate(n, 1);
        let points = Points::new(&made.values, n, d).unwrap();
        let kinds = [
            (AffinityKind::Linear, Method::Kway),
            (AffinityKind::TopK, Method::Kway),
            (AffinityKind::TopK, Method::Leiden),
            (AffinityKind::Paper, Method::Kway),
            (AffinityKind::Paper, Method::Leiden),
        ];
        for (affinity, method) in kinds {
            // The pairs of `paper` take minutes on more rows.
            if affinity == AffinityKind::Paper && n > 8000 {
                continue;
            }
            for (trees, k) in [(20, 20), (100, 8)] {
                let open = RpfCluster { tune: false, threads: Some(2), ..Default::default() };
                let (affinity_used, method_used) = (Some(affinity), Some(method));
                let params = RpfCluster {
                    k,
                    trees: Some(trees),
                    affinity: affinity_used,
                    method: method_used,
                    ..open
                };
                let (seen, stated) =
                    (held(&params, &points, 8), params.memory_needed(n, d, size_of::<f64>()));
                let (a_row, share) = (seen / n as u64, seen as f64 / stated as f64);
                let told = format!(
                    "{affinity:?}, {method:?}, {n} x {d}, {trees} trees, k = {k}: {a_row} bytes a row, {share:.2} of what is stated"
                );
                println!("{told}");
                // The pairs of `paper` above the threshold are bounded by the size of the leaves; data of few dimensions
                // have far fewer.
                let least = match (affinity, method) {
                    (AffinityKind::Paper, Method::Leiden) => 0.05,
                    (AffinityKind::Paper, _) => 0.15,
                    _ => 1.0 / 3.0,
                };
                if !(least..=1.0).contains(&share) {
                    wrong.push(told);
                }
            }
        }
    }
    // Trees keep the means of their large nodes for rows with gaps: most of the memory of few rows with many columns.
    for (n, d) in [(20_000, 10), (2000, 45)] {
        let mut values = Shape::Blobs { k: 8, d, sd: 3.0 }.generate(n, 1).values;
        values.iter_mut().step_by(7).for_each(|value| *value = f64::NAN);
        let means = column_means(&values, d).unwrap();
        let points = Points::with_gaps(&values, n, d, &means).unwrap();
        let params =
            RpfCluster { k: 8, trees: Some(200), tune: false, threads: Some(2), ..Default::default() };
        let (seen, stated) = (held(&params, &points, 8), params.memory_of(&points));
        let told = format!("gaps, {n} x {d}: {seen} bytes, stated are {stated}");
        println!("{told}");
        if !(stated / 3..=stated).contains(&seen) {
            wrong.push(told);
        }
    }
    // Compact rows are widened one by one for principal components, and as a whole for a forest on the columns.
    for (n, d) in [(20_000, 300), (20_000, 20)] {
        let made = Shape::Blobs { k: 8, d, sd: 3.0 }.generate(n, 1);
        let values: Vec<i8> = made.values.iter().map(|x| *x as i8).collect();
        let points = Points::<f32>::compact(CompactValues::I8(&values), n, d).unwrap();
        let params = RpfCluster { k: 8, trees: Some(100), threads: Some(2), ..Default::default() };
        let (seen, stated) = (held(&params, &points, 1), params.memory_of(&points));
        let told = format!("bytes, {n} x {d}: {seen} bytes, stated are {stated}");
        println!("{told}");
        if !(stated / 3..=stated).contains(&seen) {
            wrong.push(told);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
