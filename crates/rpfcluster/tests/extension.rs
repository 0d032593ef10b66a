//! Predictions against their definition, summed over all training rows in dense arithmetic: the Nyström extension and the
//! nearest centre, the vote of the neighbours, and the confidence.
#![allow(clippy::unwrap_used)]

mod common;

use common::{brute_counts, brute_top, normals};
use rpfcluster::spectral::{Embedding, Method};
use rpfcluster::{AffinityKind, AffinityParams, Fitted, Points, RpfCluster, Silent};

const N: usize = 240;
const D: usize = 3;
const K: usize = 4;

/// Four clouds that overlap. The last 30 rows are copies of the first four.
fn training() -> Vec<f64> {
    let mut values = normals(N, D, 21);
    for (i, row) in values.chunks_exact_mut(D).enumerate() {
        if i % K > 0 {
            row[i % K - 1] += 3.0;
        }
    }
    for row in N - 30..N {
        values.copy_within(row % 4 * D..(row % 4 + 1) * D, row * D);
    }
    values
}

/// Some training rows, rows near and between the clouds, and three far outside.
fn unseen(training: &[f64]) -> Vec<f64> {
    let mut values = training[..20 * D].to_vec();
    values.extend(normals(60, D, 22).iter().map(|v| 1.5 * v + 0.5));
    values.extend([90.0, 0.0, 0.0, 0.0, -80.0, 0.0, 70.0, 70.0, 70.0]);
    values
}

fn fit(values: &[f64], affinity: AffinityKind, method: Method) -> Fitted {
    let params = RpfCluster {
        k: K,
        trees: Some(40),
        min_node: Some(12),
        affinity: Some(affinity),
        method: Some(method),
        tune: false,
        assess: false,
        ..Default::default()
    };
    params.fit(&Points::new(values, N, D).unwrap()).unwrap()
}

/// In how many trees each new row shares a leaf with each training row.
fn shared_leaves(fitted: &Fitted, new: &Points<f64>) -> Vec<Vec<usize>> {
    let ids = fitted.leaves().adapt(fitted.forest().route(new).unwrap());
    brute_counts(&ids, fitted.leaves().leaf_ids())
}

/// The similarity of a new row to every training row, and the part of it that pairs without an edge have too.
fn weights(fitted: &Fitted, counts: &[usize]) -> (Vec<f64>, f64) {
    let trees = fitted.leaves().trees() as f64;
    let share = |count: usize| count as f64 / trees;
    match *fitted.affinity() {
        AffinityParams::Linear => (counts.iter().map(|c| share(*c)).collect(), 0.0),
        AffinityParams::Paper { beta1, beta2, .. } => {
            let pruned = |s: f64| if s >= beta1 { s } else { 0.0 };
            let weight = |c: &usize| ((pruned(share(*c)) - 1.0) / beta2).exp();
            (counts.iter().map(weight).collect(), (-1.0 / beta2).exp())
        }
        AffinityParams::TopK { top, power } => {
            // The neighbours are distinct rows; a copy weighs as much as its original.
            let group_of = fitted.distinct_rows().unwrap();
            let mut groups = vec![0; fitted.distinct().unwrap()];
            group_of.iter().zip(counts).for_each(|(group, count)| groups[*group as usize] = *count);
            let nearest = brute_top(&groups, None, top);
            let weight = |group: &u32| match nearest.iter().find(|(near, _)| near == group) {
                Some((_, count)) => share(usize::from(*count)).powf(power),
                None => 0.0,
            };
            (group_of.iter().map(weight).collect(), 0.0)
        }
        ref other => unreachable!("no definition of {other:?}"),
    }
}

/// The first training row with the same leaf in every tree.
fn equal_row(fitted: &Fitted, counts: &[usize]) -> Option<usize> {
    counts.iter().position(|count| *count == fitted.leaves().trees())
}

/// `Σ_j a(x, j) u_j / (λ sqrt(d(x) d_j))`.
fn extended(embedding: &Embedding, weights: &[f64]) -> Vec<f64> {
    let degree: f64 = weights.iter().sum();
    (0..embedding.k())
        .map(|c| {
            let term =
                |(j, w): (usize, &f64)| w * embedding.row(j)[c] / (degree * embedding.degrees[j]).sqrt();
            weights.iter().enumerate().map(term).sum::<f64>() / embedding.eigenvalues[c]
        })
        .collect()
}

fn unit(row: &[f64]) -> Vec<f64> {
    let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
    row.iter().map(|v| v / length).collect()
}

/// The mean of the unit rows of each cluster.
fn centers(fitted: &Fitted) -> Vec<Vec<f64>> {
    let sizes = fitted.sizes();
    let mut centers = vec![vec![0.0; K]; K];
    for (i, label) in fitted.labels().iter().enumerate() {
        let own = &mut centers[*label as usize];
        own.iter_mut()
            .zip(unit(fitted.embedding().row(i)))
            .for_each(|(c, u)| *c += u / sizes[*label as usize] as f64);
    }
    centers
}

#[test]
fn embedding_and_label_of_new_rows_follow_the_nystrom_formula() {
    let values = training();
    let rows = unseen(&values);
    let new = Points::new(&rows, rows.len() / D, D).unwrap();
    for affinity in [AffinityKind::Linear, AffinityKind::Paper, AffinityKind::TopK] {
        let fitted = fit(&values, affinity, Method::Kway);
        let (labels, embedded) = (fitted.predict(&new).unwrap(), fitted.transform(&new).unwrap());
        let counts = shared_leaves(&fitted, &new);
        let centers = centers(&fitted);
        for (i, (counts, found)) in counts.iter().zip(embedded.chunks_exact(K)).enumerate() {
            if let Some(row) = equal_row(&fitted, counts) {
                assert_eq!(
                    (found, labels[i]),
                    (fitted.embedding().row(row), fitted.labels()[row]),
                    "row {i}"
                );
                continue;
            }
            let expected = extended(fitted.embedding(), &weights(&fitted, counts).0);
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-9, "{affinity:?}, row {i}: {found:?}, not {expected:?}");
            }
            let direction = unit(&expected);
            let distance = |c: &[f64]| c.iter().zip(&direction).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            let own = distance(&centers[labels[i] as usize]);
            assert!(centers.iter().all(|c| own <= distance(c) + 1e-9), "{affinity:?}, row {i}");
        }
        assert_eq!(labels[..20], fitted.labels()[..20]);
    }
}

#[test]
fn communities_of_new_rows_have_the_largest_weight_among_their_neighbours() {
    let values = training();
    let rows = unseen(&values);
    let new = Points::new(&rows, rows.len() / D, D).unwrap();
    for affinity in [AffinityKind::Paper, AffinityKind::TopK] {
        let fitted = fit(&values, affinity, Method::Leiden);
        let labels = fitted.predict(&new).unwrap();
        for (i, counts) in shared_leaves(&fitted, &new).iter().enumerate() {
            if let Some(row) = equal_row(&fitted, counts) {
                assert_eq!(labels[i], fitted.labels()[row], "row {i}");
                continue;
            }
            let (weights, constant) = weights(&fitted, counts);
            let mut votes = [0.0; K];
            weights.iter().zip(fitted.labels()).for_each(|(w, label)| votes[*label as usize] += w - constant);
            let most = votes.iter().copied().fold(0.0, f64::max);
            assert!(votes[labels[i] as usize] >= most - 1e-9, "{affinity:?}, row {i}: {votes:?}");
        }
    }
}

#[test]
fn confidence_of_new_rows_is_the_share_of_co_leaf_rows_in_their_cluster() {
    let values = training();
    let rows = unseen(&values);
    let (n, far) = (rows.len() / D, rows.len() / D - 3);
    let new = Points::new(&rows, n, D).unwrap();
    let fitted = fit(&values, AffinityKind::TopK, Method::Kway);
    let known = fitted.confidence(&Silent).unwrap();
    let (labels, confidence) = fitted.predict_with_confidence(&new).unwrap();
    assert_eq!(labels, fitted.predict(&new).unwrap());
    let chance = 1.0 / K as f64;
    for (i, counts) in shared_leaves(&fitted, &new).iter().enumerate() {
        let own =
            counts.iter().zip(fitted.labels()).filter(|(_, label)| **label == labels[i]).map(|(c, _)| c);
        let share = own.sum::<usize>() as f64 / counts.iter().sum::<usize>() as f64;
        let expected = equal_row(&fitted, counts).map_or(share, |row| known[row]);
        let expected = if i >= far { expected.min(chance) } else { expected };
        assert!((confidence[i] - expected).abs() < 1e-12, "row {i}: {}, not {expected}", confidence[i]);
    }
    assert!(confidence[far..].contains(&chance), "a row far outside is confident of nothing");
}

#[test]
fn a_tie_of_votes_goes_to_the_first_cluster() {
    // Two trees that cut two points apart at different places: a row between the cuts shares one leaf with each point.
    let params = RpfCluster {
        k: 2,
        trees: Some(2),
        min_node: Some(2),
        affinity: Some(AffinityKind::Linear),
        method: Some(Method::Ncut),
        tune: false,
        assess: false,
        ..Default::default()
    };
    for training in [[0.0, 10.0], [10.0, 0.0]] {
        let fitted = params.fit(&Points::new(&training, 2, 1).unwrap()).unwrap();
        assert_eq!(fitted.labels(), [0, 1]);
        let rows: Vec<f64> = (1..200).map(|i| 0.05 * f64::from(i)).collect();
        let new = Points::new(&rows, rows.len(), 1).unwrap();
        let (counts, labels) = (shared_leaves(&fitted, &new), fitted.predict(&new).unwrap());
        let ties = counts.iter().zip(&labels).filter(|(counts, _)| **counts == [1, 1]);
        assert!(ties.clone().count() > 5);
        assert!(ties.map(|(_, label)| label).all(|label| *label == 0));
    }
}
