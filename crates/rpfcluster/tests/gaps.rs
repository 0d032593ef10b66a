//! Rows with gaps: same bits without gaps, training rows reach their leaves, the path of a row depends on nothing but the
//! row, threads change nothing, models keep the moments of nodes, and every step of a fit has a defined answer.
#![allow(clippy::unwrap_used)]

mod common;

use common::{kinds, normals, to_f32};
use rpfcluster::metrics::Scores;
use rpfcluster::thread_pool::in_pool;
use rpfcluster::{
    Components, Direction, Duplicates, Error, Fitted, Forest, ForestParams, Metric, Points, Real, RpfCluster,
    Silent, column_means,
};

/// Three clouds of six columns, and the cloud of each row.
fn clouds(n: usize) -> (Vec<f64>, Vec<u32>) {
    let mut values = normals(n, 6, 5);
    for (i, row) in values.chunks_exact_mut(6).enumerate() {
        row.iter_mut().enumerate().for_each(|(j, x)| *x += 7.0 * f64::from(u8::from(i % 3 == j % 3)));
    }
    (values, (0..n as u32).map(|i| i % 3).collect())
}

/// The values with about `percent` % of them missing.
fn with_holes(values: &[f64], percent: u64) -> Vec<f64> {
    let hole = |at: u64| rpfcluster::random::mix(at + 1) % 100 < percent;
    values.iter().zip(0..).map(|(x, at)| if hole(at) { f64::NAN } else { *x }).collect()
}

fn grown<R: Real>(values: &[R], d: usize, params: &ForestParams) -> Forest {
    let means = column_means(values, d).unwrap();
    Forest::grow(&Points::with_gaps(values, values.len() / d, d, &means).unwrap(), params).unwrap()
}

#[test]
fn rows_without_gaps_have_the_bits_of_plain_rows() {
    for d in [3, 8, 20] {
        let values = normals(600, d, 1);
        let (narrow, points) = (to_f32(&values), Points::new(&values, 600, d).unwrap());
        for params in kinds(6, 10, 3) {
            let plain = Forest::grow(&points, &params).unwrap();
            let gaps = grown(&values, d, &params);
            assert_eq!(gaps.leaves().leaf_ids(), plain.leaves().leaf_ids(), "{d} columns, {params:?}");
            assert_eq!(gaps.route(&points).unwrap(), plain.route(&points).unwrap());
            let single = Forest::grow(&Points::new(&narrow, 600, d).unwrap(), &params).unwrap();
            assert_eq!(grown(&narrow, d, &params).leaves().leaf_ids(), single.leaves().leaf_ids());
        }
    }
    let (values, _) = clouds(300);
    let means = column_means(&values, 6).unwrap();
    let params = RpfCluster { k: 3, trees: Some(50), ..Default::default() };
    let plain = params.fit(&Points::new(&values, 300, 6).unwrap()).unwrap();
    let gaps = params.fit(&Points::with_gaps(&values, 300, 6, &means).unwrap()).unwrap();
    assert_eq!((gaps.labels(), gaps.verdict()), (plain.labels(), plain.verdict()));
}

#[test]
fn a_training_row_reaches_its_leaf_and_its_path_depends_on_the_row_alone() {
    let d = 6;
    for percent in [10, 40, 80] {
        let values = with_holes(&clouds(400).0, percent);
        for params in kinds(8, 12, 7) {
            let forest = grown(&values, d, &params);
            let means = column_means(&values, d).unwrap();
            let ids = forest.route(&Points::with_gaps(&values, 400, d, &means).unwrap()).unwrap();
            assert_eq!(&ids, forest.leaves().leaf_ids(), "{percent} %, {params:?}");
            let narrow = grown(&to_f32(&values), d, &params);
            let single = to_f32(&values);
            let rows = Points::with_gaps(&single, 400, d, &[0.0; 6]).unwrap();
            assert_eq!(&narrow.route(&rows).unwrap(), narrow.leaves().leaf_ids());
            for row in [0, 17, 399] {
                let alone = Points::with_gaps(&values[row * d..][..d], 1, d, &means).unwrap();
                let alone = forest.route(&alone).unwrap();
                assert!((0..ids.trees()).all(|tree| alone.get(0, tree) == ids.get(row, tree)), "row {row}");
            }
        }
    }
}

#[test]
fn equal_rows_stay_together_and_coins_spread_rows_that_a_direction_misses() {
    let d = 9;
    let mut values = with_holes(&normals(300, d, 3), 50);
    // Rows 0 to 9 are equal, 0 being written in both ways; rows 10 to 19 have no value.
    let first: Vec<f64> = (0..d).map(|j| if j % 3 == 0 { 0.0 } else { f64::NAN }).collect();
    for row in 0..10 {
        values[row * d..][..d].copy_from_slice(&first);
        values[row * d] = if row % 2 == 0 { 0.0 } else { -0.0 };
        values[(row + 10) * d..][..d].fill(f64::NAN);
    }
    for direction in [Direction::Gaussian, Direction::Sparse] {
        let params = ForestParams { trees: 40, min_node: 15, direction, ..Default::default() };
        let forest = grown(&values, d, &params);
        let leaves = forest.leaves();
        let ids = leaves.leaf_ids();
        for tree in 0..ids.trees() {
            assert!((1..10).all(|row| ids.get(row, tree) == ids.get(0, tree)));
            assert!((11..20).all(|row| ids.get(row, tree) == ids.get(10, tree)));
        }
        // A row without values goes to the left at the root of about half of the trees.
        let at_root = |tree: usize| forest.path(tree, ids.get(10, tree)).unwrap().get(1) == Some(&1);
        let left = (0..40).filter(|tree| at_root(*tree)).count();
        assert!((8..=32).contains(&left), "{left} of 40");
    }
}

#[test]
fn threads_change_no_bit_and_models_keep_the_moments() {
    let values = with_holes(&clouds(900).0, 30);
    for params in kinds(6, 12, 2) {
        let run = |threads| in_pool(Some(threads), || grown(&values, 6, &params)).unwrap();
        let one = run(1);
        let bytes = one.to_bytes().unwrap();
        assert_eq!(bytes, run(4).to_bytes().unwrap());
        assert_eq!(Forest::from_bytes(&bytes).unwrap(), one);
        assert!(one.bytes() > grown(&clouds(900).0, 6, &ForestParams { trees: 1, ..params }).bytes());
    }
}

#[test]
fn models_without_moments_refuse_gaps_and_gaps_are_checked() {
    let (values, _) = clouds(60);
    let holes = with_holes(&values, 20);
    let means = column_means(&holes, 6).unwrap();
    let plain = Forest::grow(&Points::new(&values, 60, 6).unwrap(), &ForestParams::default()).unwrap();
    let gaps = Points::with_gaps(&holes, 60, 6, &means).unwrap();
    assert_eq!(plain.route(&gaps), Err(Error::Gaps));
    assert!(plain.route(&Points::with_gaps(&values, 60, 6, &means).unwrap()).is_ok());
    assert!(matches!(Points::new(&holes, 60, 6), Err(Error::NotFinite { .. })));
    let endless = [0.0, f64::INFINITY, 1.0, f64::NAN];
    let found = Points::with_gaps(&endless, 2, 2, &[0.0; 2]);
    assert!(matches!(found, Err(Error::NotFinite { row: 1, column: 2, .. })));
    assert!(matches!(Points::with_gaps(&endless, 2, 2, &[0.0; 3]), Err(Error::Length { .. })));
    assert_eq!(column_means(&[1.0, f64::NAN, 3.0, f64::NAN], 2), Err(Error::NoValue { column: 2 }));
    assert_eq!(column_means(&[1.0f32, f32::NAN, 3.0, 5.0], 2), Ok(vec![2.0, 5.0]));
}

fn fitted(values: &[f64], d: usize, params: &RpfCluster) -> Fitted {
    let means = column_means(values, d).unwrap();
    params.fit(&Points::with_gaps(values, values.len() / d, d, &means).unwrap()).unwrap()
}

#[test]
fn clusters_are_found_in_spite_of_gaps_and_predicted() {
    let (values, classes) = clouds(450);
    let holes = with_holes(&values, 30);
    let params = RpfCluster { k: 3, trees: Some(100), ..Default::default() };
    let found = fitted(&holes, 6, &params);
    let ari = Scores::new(&classes, found.labels()).unwrap().ari;
    assert!(ari > 0.9, "{ari}");
    let means = column_means(&holes, 6).unwrap();
    let rows = Points::with_gaps(&holes, 450, 6, &means).unwrap();
    assert_eq!(found.predict(&rows).unwrap(), found.labels());
    let mut bytes = Vec::new();
    found.write_with(&mut bytes, &[], &Silent).unwrap();
    let file = rpfcluster::model_file::Container::parse(&bytes, &Silent).unwrap();
    let again = Fitted::from_container(&file, &Silent).unwrap();
    assert_eq!(again.predict(&rows).unwrap(), found.labels());
    // Complete rows need no moments.
    assert!(again.predict(&Points::new(&values, 450, 6).unwrap()).is_ok());
}

#[test]
fn copies_components_and_unit_rows_have_defined_answers() {
    // Copies: a gap equals a gap and nothing else, not even the mean.
    let values: Vec<f64> = with_holes(&clouds(60).0, 30).repeat(5);
    let found = fitted(&values, 6, &RpfCluster { k: 3, trees: Some(50), ..Default::default() });
    assert_eq!(found.distinct(), Some(60));
    assert!((0..60).all(|row| found.labels()[row] == found.labels()[row + 60]));
    let keep = RpfCluster { k: 3, trees: Some(50), duplicates: Duplicates::Keep, ..Default::default() };
    assert_eq!(fitted(&values, 6, &keep).distinct(), None);
    // Components and unit rows: gaps are means, and the forest has none.
    let (values, classes) = clouds(300);
    let holes = with_holes(&values, 20);
    let components =
        RpfCluster { k: 3, trees: Some(50), components: Components::Count(3), ..Default::default() };
    let cosine = RpfCluster { k: 3, trees: Some(50), metric: Metric::Cosine, ..Default::default() };
    let means = column_means(&holes, 6).unwrap();
    let filled: Vec<f64> =
        holes.iter().zip(means.iter().cycle()).map(|(x, m)| if x.is_nan() { *m } else { *x }).collect();
    for params in [components, cosine] {
        let found = fitted(&holes, 6, &params);
        let same = params.fit(&Points::new(&filled, 300, 6).unwrap()).unwrap();
        assert_eq!(found.labels(), same.labels());
        assert!(Scores::new(&classes, found.labels()).unwrap().ari > 0.5);
        let rows = Points::with_gaps(&holes, 300, 6, &means).unwrap();
        assert_eq!(found.predict(&rows).unwrap(), found.labels());
    }
}
