//! A version 1 model file, made by the command, must always load and route rows to the recorded leaves.
//!
//! Made in `tests/fixtures` with: `rpf kernel v1.csv --label kind --trees 6 --min-node 8 --candidates 3 --standardize
//! height --seed 11 -o v1.npz --model v1.rpf`. Never regenerate it: a failure here means that old models are broken.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

use rpfcluster::model_file::Container;
use rpfcluster::{Forest, Points, Silent};

const MODEL: &[u8] = include_bytes!("fixtures/v1.rpf");
const TABLE: &str = include_str!("fixtures/v1.csv");

/// The rows of the table, standardised as the section `meta` says.
fn rows() -> Vec<f64> {
    let container = Container::parse(MODEL, &Silent).unwrap();
    let meta: serde_json::Value = serde_json::from_slice(container.section("meta").unwrap()).unwrap();
    let number = |key: &str, column: usize| meta["preparation"][key][column].as_f64().unwrap();
    TABLE
        .lines()
        .skip(1)
        .flat_map(|line| {
            line.split(',').take(2).enumerate().map(|(column, cell)| {
                (cell.parse::<f64>().unwrap() - number("center", column)) / number("scale", column)
            })
        })
        .collect()
}

#[test]
fn fixture_routes_training_rows_to_their_leaves() {
    let forest = Forest::from_bytes(MODEL).unwrap();
    assert_eq!((forest.n(), forest.d(), forest.trees()), (40, 2, 6));
    assert_eq!((forest.params().min_node, forest.params().candidates, forest.params().seed), (8, 3, 11));
    let values = rows();
    let points = Points::new(&values, 40, 2).unwrap();
    assert_eq!(forest.route(&points).unwrap(), *forest.leaves().leaf_ids());
    assert_eq!(Forest::grow(&points, forest.params()).unwrap(), forest, "grown again, it is the same forest");
}

#[test]
fn fixture_routes_new_rows_to_recorded_leaves() {
    let forest = Forest::from_bytes(MODEL).unwrap();
    let points = [0.0, 0.0, 3.0, -1.0, 6.0, 2.0, -4.0, 0.5];
    let codes = forest.route(&Points::new(&points, 4, 2).unwrap()).unwrap();
    let leaves: Vec<Vec<u32>> = (0..4).map(|i| (0..6).map(|t| codes.get(i, t)).collect()).collect();
    assert_eq!(leaves, LEAVES);
}

/// Leaf of each new row in each tree.
const LEAVES: [[u32; 6]; 4] =
    [[9, 1, 4, 11, 2, 1], [6, 7, 7, 5, 8, 8], [3, 3, 0, 2, 10, 3], [9, 0, 1, 12, 6, 1]];

#[test]
fn fixture_is_written_back_byte_for_byte() {
    let container = Container::parse(MODEL, &Silent).unwrap();
    let forest = Forest::from_bytes(MODEL).unwrap();
    let mut bytes = Vec::new();
    forest.write_with(&mut bytes, &[("meta", container.section("meta").unwrap())], &Silent).unwrap();
    assert!(bytes == MODEL);
}
