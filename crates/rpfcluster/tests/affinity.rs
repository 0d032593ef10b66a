//! The sparse affinity against its dense matrix, refusal of invalid precomputed matrices, connected components.

#![allow(clippy::unwrap_used)]

#[path = "common/graphs.rs"]
mod common;

use common::{clique, graph, random_graph};
use rpfcluster::Silent;
use rpfcluster::affinity::{Components, SimilarityOperator, SparseAffinity, Submatrix, Weights};
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::spectral::{self, SpectralParams};

fn full(a: &dyn SimilarityOperator) -> Vec<f64> {
    let n = a.n();
    let mut m = vec![0.0; n * n];
    for (j, column) in m.chunks_mut(n).enumerate() {
        a.column(j, column, &Silent).unwrap();
    }
    m
}

fn equals_dense(a: &dyn SimilarityOperator) {
    let (n, m) = (a.n(), full(a));
    let mut s = Stream::new(3, Purpose::Shapes, 0, 0);
    for b in 1..=20 {
        let x: Vec<f64> = (0..n * b).map(|_| s.normal()).collect();
        let mut y = vec![f64::NAN; n * b];
        a.apply(&x, &mut y, b, &Silent).unwrap();
        for i in 0..n {
            for c in 0..b {
                let sum: f64 = (0..n).map(|j| m[j * n + i] * x[j * b + c]).sum();
                assert!((sum - y[i * b + c]).abs() < 1e-11, "b = {b}");
            }
        }
    }
    for (i, d) in a.degrees(&Silent).unwrap().iter().enumerate() {
        assert!((d - m[i * n..][..n].iter().sum::<f64>()).abs() < 1e-11);
    }
}

#[test]
fn products_and_submatrices_equal_the_dense_ones() {
    for constant in [0.0, 0.25] {
        let a = graph(70, constant, &random_graph(70, 100, 4));
        equals_dense(&a);
        let rows: Vec<u32> = (0..70).filter(|i| i % 3 != 1).collect();
        let (part, masked) = (a.submatrix(&rows, &Silent).unwrap(), Submatrix::new(&a, &rows));
        equals_dense(&*part);
        equals_dense(&masked);
        let (m, whole) = (full(&*part), full(&a));
        assert_eq!(m, full(&masked));
        for (i, r) in rows.iter().enumerate() {
            for (j, c) in rows.iter().enumerate() {
                assert_eq!(m[i * rows.len() + j], whole[*r as usize * 70 + *c as usize]);
            }
        }
        let components = part.components(&Silent).unwrap();
        assert_eq!(components, masked.components(&Silent).unwrap());
        assert_eq!(components.is_none(), constant > 0.0);
        let inner = masked.submatrix(&[0, 5, 7], &Silent).unwrap();
        let copied = a.submatrix(&[rows[0], rows[5], rows[7]], &Silent).unwrap();
        assert_eq!(full(&*inner), full(&*copied));
    }
}

#[test]
fn a_table_of_weights_equals_a_list_of_values() {
    let a = graph(30, 0.1, &random_graph(30, 40, 9));
    let counts: Vec<u16> = (0..a.indices().len()).map(|e| (a.weights().get(e) * 10.0) as u16).collect();
    let table: Vec<f64> = (0..100).map(|c| f64::from(c) * 0.5).collect();
    let values: Vec<f64> = counts.iter().map(|c| table[*c as usize]).collect();
    let make = |w| SparseAffinity::new(0.1, a.indptr().to_vec(), a.indices().to_vec(), w).unwrap();
    let by_table = make(Weights::Table { counts: counts.clone(), table });
    assert_eq!(full(&by_table), full(&make(Weights::Values(values))));
    let double = by_table.with_table(0.2, (0..100).map(f64::from).collect()).unwrap();
    assert!(
        (double.degrees(&Silent).unwrap()[3]
            - 2.0 * make(Weights::Values(vec![0.0; counts.len()])).degrees(&Silent).unwrap()[3]
            - counts[a.indptr()[3]..a.indptr()[4]].iter().map(|c| f64::from(*c)).sum::<f64>())
        .abs()
            < 1e-12
    );
    assert!(
        SparseAffinity::new(0.0, vec![0, 1], vec![0], Weights::Table { counts: vec![3], table: vec![1.0] })
            .is_err()
    );
}

#[test]
fn invalid_precomputed_matrices_are_refused_naming_the_entry() {
    let dense = |m: &[f64], n| SparseAffinity::precomputed_dense(m, n, &Silent).map_err(|e| e.to_string());
    assert!(dense(&[1.0, 0.5, 0.5, 1.0], 2).is_ok());
    assert!(dense(&[1.0, 0.5, 0.5 + 1e-10, 1.0], 2).is_ok());
    let says = |m: &[f64], n, words: &str| {
        let message = dense(m, n).err().unwrap();
        assert!(message.contains(words), "{message}");
    };
    says(&[1.0, 0.5, 0.5], 2, "not square");
    says(&[1.0, 0.5, 0.4, 1.0], 2, "row 1, column 2 is 0.5");
    says(&[1.0, 0.5, 0.5 - 1.5e-8, 1.0], 2, "row 1, column 2 is 0.5");
    says(&[1.0, 1e-12, 1.1e-12, 1.0], 2, "row 1, column 2 is 0.000000000001");
    says(&[1.0, f64::NAN, 0.4, 1.0], 2, "NaN in row 1, column 2");
    says(&[1.0, f64::INFINITY, 0.4, 1.0], 2, "inf in row 1, column 2");
    says(&[], 0, "0 rows");
    says(&[1.0, 0.5, 0.5, -1.0], 2, "-1 in row 2, column 2");
    says(&[1.0, 0.0, 0.0, 0.0], 2, "only zeros in row 2");
    let sparse = |p: &[usize], i: &[u32], v: &[f64], n| {
        SparseAffinity::precomputed_sparse(p.to_vec(), i.to_vec(), v.to_vec(), n, &Silent)
            .map_err(|e| e.to_string())
    };
    let a = sparse(&[0, 2, 4], &[1, 0, 0, 1], &[0.5, 1.0, 0.5, 1.0], 2).unwrap();
    assert_eq!(full(&a), [1.0, 0.5, 0.5, 1.0]);
    let mean = sparse(&[0, 2, 4], &[0, 1, 0, 1], &[1.0, 0.5, 0.5 + 2f64.powi(-30), 1.0], 2).unwrap();
    assert_eq!(full(&mean), [1.0, 0.5 + 2f64.powi(-31), 0.5 + 2f64.powi(-31), 1.0]);
    let says = |p: &[usize], i: &[u32], v: &[f64], words: &str| {
        let message = sparse(p, i, v, 2).err().unwrap();
        assert!(message.contains(words), "{message}");
    };
    says(&[0, 1], &[0], &[1.0], "2 given, 3 needed");
    says(&[0, 1, 2], &[0, 2], &[1.0, 1.0], "not square: row 2 has an entry in column 3");
    says(&[0, 2, 3], &[0, 1, 1], &[1.0, 0.5, 1.0], "row 1, column 2 is 0.5, but row 2, column 1 is 0");
    says(&[0, 1, 1], &[0], &[1.0], "only zeros in row 2");
    says(&[0, 1, 2], &[0, 1], &[1.0, -2.0], "-2 in row 2, column 2");
    says(&[0, 2, 2], &[0, 0], &[1.0, 1.0], "row 1 out of order at column 1");
    says(&[0, 5, 2], &[0, 1], &[1.0, 1.0], "row 1");
    says(&[0, 1, 2], &[0, 1], &[1.0], "1 given, 2 needed");
}

#[test]
fn precomputed_matrices_of_huge_entries_are_scaled() {
    // Two pairs of points; the sum of the entries, and of an entry and its mirror, is infinite.
    let (near, far) = (f64::MAX, f64::MAX / 1e6);
    let huge = [0.0, near, far, 0.0, near, 0.0, 0.0, far, far, 0.0, 0.0, near, 0.0, far, near, 0.0];
    let (indices, indptr) = (vec![1, 2, 0, 3, 0, 3, 1, 2], vec![0, 2, 4, 6, 8]);
    let values = huge.into_iter().filter(|value| *value > 0.0).collect();
    let params = SpectralParams { k: 2, ..SpectralParams::default() };
    for affinity in [
        SparseAffinity::precomputed_dense(&huge, 4, &Silent).unwrap(),
        SparseAffinity::precomputed_sparse(indptr, indices, values, 4, &Silent).unwrap(),
    ] {
        let embedding = spectral::embed(&affinity, &params, &Default::default(), &Silent).unwrap();
        assert!((embedding.eigenvalues[1] - (1.0 - 2e-6)).abs() < 1e-9, "{:?}", embedding.eigenvalues);
        assert_eq!(spectral::label(&affinity, &embedding, &params, &Silent).unwrap(), [0, 0, 1, 1]);
    }
}

#[test]
fn components_merge_by_similarity_or_into_the_largest() {
    let mut edges = clique(2, 4, 1.0);
    edges.extend([(0, 7, 1.0), (1, 1, 1.0), (6, 8, 1.0), (8, 9, 1.0)]);
    let c = graph(10, 0.0, &edges).components(&Silent).unwrap().unwrap();
    assert_eq!(c, Components { of: vec![0, 1, 2, 2, 2, 2, 3, 0, 3, 3], sizes: vec![2, 1, 4, 3] });
    assert_eq!(c.rows()[3], [6, 8, 9]);
    // 1 (one point) joins 3, the most similar; then 0 (two points) joins the largest of 2 and {1, 3}, on a tie the lowest.
    let alike = |a: usize, b: usize| if (a.min(b), a.max(b)) == (1, 3) { 1.0 } else { 0.0 };
    let two = c.merge_to(2, alike);
    assert_eq!(two.of, [0, 1, 0, 0, 0, 0, 1, 0, 1, 1]);
    assert_eq!(two.sizes, [6, 4]);
    assert_eq!(c.merge_into_largest(2).of, [0, 0, 0, 0, 0, 0, 1, 0, 1, 1]);
    assert_eq!(c.merge_to(2, |_, _| 0.0), c.merge_into_largest(2));
    assert_eq!(c.merge_to(9, |_, _| 0.0), c);
    assert_eq!(c.merge_to(1, |_, _| 0.0).sizes, [10]);
}
