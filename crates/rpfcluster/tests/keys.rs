//! Coefficients by the keys of columns: levels that come or go, and their order, leave all other coefficients as they
//! are; rows with gaps, sparse rows and samples agree; models keep the keys.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Csr, kinds, normals};
use rpfcluster::model_file::{Container, Piece, Sections};
use rpfcluster::spectral::Method;
use rpfcluster::{
    AffinityParams, ColumnKey, Components, Direction, Error, Forest, ForestParams, LeafIds, Metric, Points,
    RpfCluster, Silent, column_means,
};

const N: usize = 240;
/// A number, a category, a number.
const NAMES: [&str; 4] = ["ash", "elm", "fir", "oak"];

/// The level of a row, a number of [`NAMES`].
fn level(row: usize) -> usize {
    (row * 7 + row / 5) % NAMES.len()
}

/// The table with the indicators of these levels, in this order, and its keys.
fn table(levels: &[&str]) -> (Vec<f64>, Vec<ColumnKey>) {
    let numbers = normals(N, 2, 3);
    let mut values = Vec::new();
    for (row, pair) in numbers.chunks_exact(2).enumerate() {
        values.push(pair[0]);
        values.extend(levels.iter().map(|name| 1.25 * f64::from(u8::from(*name == NAMES[level(row)]))));
        values.push(pair[1]);
    }
    let mut keys = vec![ColumnKey::number(0)];
    keys.extend(levels.iter().map(|name| ColumnKey::level(1, name)));
    keys.push(ColumnKey::number(2));
    (values, keys)
}

fn grown(values: &[f64], keys: &[ColumnKey], params: &ForestParams) -> Forest {
    let d = values.len() / N;
    Forest::grow(&Points::new(values, N, d).unwrap().with_keys(keys).unwrap(), params).unwrap()
}

/// The leaf of every row in every tree.
fn leaves(forest: &Forest) -> LeafIds {
    forest.leaves().leaf_ids().clone()
}

#[test]
fn order_of_levels_and_absent_levels_change_no_leaf() {
    for params in kinds(20, 8, 5) {
        let (values, keys) = table(&NAMES);
        let expected = grown(&values, &keys, &params);
        // An absent level first, in the middle and last; another order.
        for levels in [
            &["aaa", "ash", "elm", "fir", "oak"][..],
            &["ash", "elm", "elm2", "elm3", "fir", "oak", "zzz"],
            &["oak", "ash", "fir", "elm"],
        ] {
            let (values, keys) = table(levels);
            assert!(leaves(&grown(&values, &keys, &params)) == leaves(&expected), "{levels:?}, {params:?}");
            // By place, levels shift the coefficients of all that follow.
            assert_ne!(leaves(&grown(&values, &[], &params)), leaves(&expected));
        }
    }
}

#[test]
fn a_level_under_another_name_changes_its_own_coefficient() {
    let (values, keys) = table(&NAMES);
    let params = ForestParams { trees: 5, min_node: 8, ..Default::default() };
    let expected = grown(&values, &keys, &params);
    let mut other = keys.clone();
    other[2] = ColumnKey::level(1, "other");
    assert_ne!(leaves(&grown(&values, &other, &params)), leaves(&expected));
    // The same level of another feature, and a number, are other names.
    assert_ne!(ColumnKey::level(0, "ash").id(), ColumnKey::level(1, "ash").id());
    assert_ne!(ColumnKey::level(0, "").id(), ColumnKey::number(0).id());
    let names: std::collections::HashSet<u64> = (0..50)
        .flat_map(|feature| (0..200).map(move |name| ColumnKey::level(feature, &"ab".repeat(name)).id()))
        .collect();
    assert_eq!(names.len(), 10_000, "names of all lengths differ");
}

#[test]
fn gaps_sparse_rows_and_samples_agree() {
    let (values, keys) = table(&NAMES);
    let d = keys.len();
    let means = column_means(&values, d).unwrap();
    for kind in kinds(6, 8, 2) {
        for max_samples in [None, Some(100)] {
            let params = ForestParams { max_samples, ..kind.clone() };
            let expected = grown(&values, &keys, &params);
            assert_eq!(
                expected.route(&Points::new(&values, N, d).unwrap()).unwrap(),
                *expected.leaves().leaf_ids(),
                "training rows reach their leaves"
            );
            let gaps = Points::with_gaps(&values, N, d, &means).unwrap().with_keys(&keys).unwrap();
            assert_eq!(leaves(&Forest::grow(&gaps, &params).unwrap()), leaves(&expected));
            let csr = Csr::of(&values, N, d);
            let sparse = csr.points().with_keys(&keys).unwrap();
            assert_eq!(Forest::grow(&sparse, &params).unwrap(), expected);
        }
    }
}

#[test]
fn fits_use_keys_at_every_step_but_on_components() {
    let ((values, keys), (more, more_keys)) = (table(&NAMES), table(&["aaa", "ash", "elm", "fir", "oak"]));
    let (d, wide) = (keys.len(), more_keys.len());
    let points = Points::new(&values, N, d).unwrap().with_keys(&keys).unwrap();
    let others = Points::new(&more, N, wide).unwrap().with_keys(&more_keys).unwrap();
    let plain = RpfCluster { k: 4, trees: Some(40), ..Default::default() };
    for params in [
        plain.clone(),
        RpfCluster { metric: Metric::Cosine, ..plain.clone() },
        RpfCluster { tune: true, ..plain.clone() },
        RpfCluster { direction: Direction::Sparse, ..plain.clone() },
        RpfCluster { max_samples: Some(90), ..plain.clone() },
        RpfCluster { max_trees: Some(200), ..plain.clone() },
    ] {
        let (one, two) = (params.fit(&points).unwrap(), params.fit(&others).unwrap());
        assert_eq!(one.labels(), two.labels(), "{params:?}");
        assert_eq!(one.forest().keys(), keys);
        assert_eq!(one.predict(&points).unwrap(), one.labels());
    }
    let components = RpfCluster { components: Components::Count(2), ..plain };
    assert!(components.fit(&points).unwrap().forest().keys().is_empty());
}

#[test]
fn tables_with_categories_have_a_softer_graph_by_default() {
    let (values, keys) = table(&NAMES);
    let power = |params: &RpfCluster, keys: &[ColumnKey]| {
        let fitted =
            params.fit(&Points::new(&values, N, keys.len().max(6)).unwrap().with_keys(keys).unwrap());
        let fitted = fitted.unwrap();
        let AffinityParams::TopK { power, .. } = fitted.setting().affinity else { panic!("{params:?}") };
        let other = fitted.refit(&RpfCluster { k: 3, ..params.clone() }, &Silent).unwrap();
        assert_eq!(other.setting().affinity, fitted.setting().affinity);
        power
    };
    let plain = RpfCluster { k: 4, trees: Some(40), assess: false, ..Default::default() };
    let numbers: Vec<ColumnKey> = (0..6).map(ColumnKey::number).collect();
    assert_eq!(power(&plain, &keys), RpfCluster::CATEGORICAL_POWER);
    assert_eq!(power(&RpfCluster { components: Components::Count(2), ..plain.clone() }, &keys), 3.0);
    assert_eq!(power(&RpfCluster { power: Some(5.0), ..plain.clone() }, &keys), 5.0);
    assert_eq!(
        power(&RpfCluster { method: Some(Method::Leiden), ..plain.clone() }, &keys),
        RpfCluster::LEIDEN_POWER
    );
    assert_eq!(power(&plain, &numbers), RpfCluster::POWER);
    assert_eq!(power(&plain, &[]), RpfCluster::POWER);
}

#[test]
fn models_keep_keys_and_say_which_version_reads_them() {
    let (values, keys) = table(&NAMES);
    let params = ForestParams { trees: 3, min_node: 8, ..Default::default() };
    let forest = grown(&values, &keys, &params);
    let bytes = forest.to_bytes().unwrap();
    let version = |bytes: &[u8]| u32::from_le_bytes(bytes[8..12].try_into().unwrap());
    assert_eq!(version(&bytes), 2, "an older reader would draw other directions");
    assert_eq!(Forest::from_bytes(&bytes).unwrap(), forest);
    let plain = grown(&values, &[], &params).to_bytes().unwrap();
    assert_eq!(version(&plain), 1);
    assert!(!Container::parse(&plain, &Silent).unwrap().has("keys"));
}

#[test]
fn keys_that_do_not_fit_are_refused() {
    let (values, keys) = table(&NAMES);
    let points = || Points::new(&values, N, keys.len()).unwrap();
    assert!(matches!(points().with_keys(&keys[1..]), Err(Error::Length { got: 5, expected: 6, .. })));
    let mut descending = keys.clone();
    descending.swap(0, 5);
    let said = points().with_keys(&descending).unwrap_err().to_string();
    assert!(said.contains("feature 1 in column 2") && said.contains("ascend"), "{said}");
    assert!(points().with_keys(&[]).is_ok());
}

/// The rows without their levels, and the means of the columns.
fn unknown(values: &[f64], d: usize) -> (Vec<f64>, Vec<f64>) {
    let lost = |at: usize, value: &f64| if (1..d - 1).contains(&(at % d)) { f64::NAN } else { *value };
    let rows = values.iter().enumerate().map(|(at, value)| lost(at, value)).collect();
    (rows, column_means(values, d).unwrap())
}

#[test]
fn an_unknown_level_is_the_mean_of_each_node() {
    let (values, keys) = table(&NAMES);
    let (d, params) = (keys.len(), ForestParams { trees: 30, min_node: 12, ..Default::default() });
    let forest = grown(&values, &keys, &params);
    let (rows, means) = unknown(&values[..30 * d], d);
    let points = Points::with_gaps(&rows, 30, d, &means).unwrap().with_keys(&keys).unwrap();
    let found = forest.route(&points).unwrap();
    let members = forest.leaves();
    let leaf_path = |tree: usize, leaf: u32| forest.path(tree, leaf).unwrap();
    let (mut checked, mut other_than_column_means) = (0, 0);
    let filled = forest.route(&Points::new(&fill(&rows, &means), 30, d).unwrap()).unwrap();
    for tree in 0..params.trees {
        let count = (members.first_column(tree + 1) - members.first_column(tree)) as u32;
        let paths: Vec<Vec<u32>> = (0..count).map(|leaf| leaf_path(tree, leaf)).collect();
        for row in 0..30 {
            let path = &paths[found.get(row, tree) as usize];
            other_than_column_means += usize::from(filled.get(row, tree) != found.get(row, tree));
            for (depth, node) in path[..path.len() - 1].iter().enumerate() {
                let below = (0..count).filter(|leaf| paths[*leaf as usize].contains(node));
                let inside: Vec<u32> = below.flat_map(|leaf| members.members(tree, leaf).to_vec()).collect();
                let of_node: Vec<f64> =
                    inside.iter().flat_map(|i| values[*i as usize * d..][..d].to_vec()).collect();
                let explicit = fill(&rows[row * d..][..d], &column_means(&of_node, d).unwrap());
                let leaf = forest.route(&Points::new(&explicit, 1, d).unwrap()).unwrap().get(0, tree);
                let other = &paths[leaf as usize];
                // Where the row with the means of this node reaches the node, it leaves it on the same side.
                if other.get(depth) == Some(node) {
                    assert_eq!(other[depth + 1], path[depth + 1], "tree {tree}, row {row}, depth {depth}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 2000 && other_than_column_means > 30, "{checked}, {other_than_column_means}");
    // Beside rows with levels, and read back from a model, the paths are the same.
    let back = Forest::from_bytes(&forest.to_bytes().unwrap()).unwrap();
    assert_eq!((back.route(&points).unwrap(), &back), (found.clone(), &forest));
    let mixed: Vec<f64> = [&rows[..10 * d], &values[10 * d..40 * d]].concat();
    let mixed = Points::with_gaps(&mixed, 40, d, &means).unwrap().with_keys(&keys).unwrap();
    let routed = forest.route(&mixed).unwrap();
    for tree in 0..params.trees {
        assert_eq!(routed.tree(tree)[..10], found.tree(tree)[..10]);
        assert_eq!(routed.tree(tree)[10..], members.leaf_ids().tree(tree)[10..40]);
    }
}

/// The rows with these means in their gaps.
fn fill(rows: &[f64], means: &[f64]) -> Vec<f64> {
    let value = |(at, value): (usize, &f64)| if value.is_nan() { means[at % means.len()] } else { *value };
    rows.iter().enumerate().map(value).collect()
}

#[test]
fn other_gaps_are_refused_and_older_models_take_the_means_of_columns() {
    let (values, keys) = table(&NAMES);
    let (d, params) = (keys.len(), ForestParams { trees: 10, min_node: 12, ..Default::default() });
    let (rows, means) = unknown(&values, d);
    let points = Points::with_gaps(&rows, N, d, &means).unwrap();
    let forest = grown(&values, &keys, &params);
    // Whether a gap is a level is not known without keys; a number that is missing needs a forest on rows with gaps.
    assert!(matches!(forest.route(&points), Err(Error::Gaps)));
    let mut missing = rows.clone();
    missing[0] = f64::NAN;
    let missing = Points::with_gaps(&missing, N, d, &means).unwrap().with_keys(&keys).unwrap();
    assert!(matches!(forest.route(&missing), Err(Error::Gaps)));
    let older = grown(&values, &[], &params);
    let filled = older.route(&Points::new(&fill(&rows, &means), N, d).unwrap()).unwrap();
    assert_eq!(older.route(&points.with_keys(&keys).unwrap()).unwrap(), filled);
}

#[test]
fn damaged_keys_and_levels_are_refused() {
    let (values, keys) = table(&NAMES);
    let forest = grown(&values, &keys, &ForestParams { trees: 2, min_node: 30, ..Default::default() });
    let bytes = forest.to_bytes().unwrap();
    let file = Container::parse(&bytes, &Silent).unwrap();
    let with = |section: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut sections = Sections::default();
        let all: Vec<(String, Vec<u8>)> = file
            .sections()
            .iter()
            .map(|(name, _)| {
                let mut content = file.section(name).unwrap().to_vec();
                if name == section {
                    change(&mut content);
                }
                (name.clone(), content)
            })
            .collect();
        all.iter().for_each(|(name, content)| sections.add(name, vec![Piece::Bytes(content)]));
        let mut out = Vec::new();
        sections.write(&mut out, &Silent).unwrap();
        Forest::from_bytes(&out).map_err(|error| error.to_string())
    };
    assert_eq!(with("none", &|_| {}).unwrap(), forest);
    for (section, change, problem) in [
        ("keys", &(|bytes: &mut Vec<u8>| bytes.truncate(10)) as &dyn Fn(&mut Vec<u8>), "ends within"),
        ("keys", &|bytes: &mut Vec<u8>| bytes.truncate(12), "keys of its columns do not fit"),
        ("keys", &|bytes: &mut Vec<u8>| bytes[0] = 9, "keys of its columns do not fit"),
        ("levels", &|bytes: &mut Vec<u8>| bytes.truncate(3), "ends within"),
        ("levels", &|bytes: &mut Vec<u8>| bytes.truncate(4), "levels of its rows do not fit"),
        ("levels", &|bytes: &mut Vec<u8>| bytes[0] = 4, "levels of its rows do not fit"),
        ("units", &|bytes: &mut Vec<u8>| bytes.clear(), "levels of its rows do not fit"),
        ("units", &|bytes: &mut Vec<u8>| bytes.fill(0xff), "levels of its rows do not fit"),
    ] {
        let said = with(section, change).unwrap_err();
        assert!(said.contains(problem), "{section}: {said}");
    }
}
