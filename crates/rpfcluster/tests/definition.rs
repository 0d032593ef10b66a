//! A reference implementation of Algorithm 1: boxed nodes, recursion, one row at a time. It uses the random streams of
//! the library and its documented rules (sixteen lanes, scaling by a power of two, cut in f64 rounded once) and nothing
//! else. The library must give the same leaves and the same cuts, bit for bit.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Csr, integers, kinds, mostly_zero, normals, to_f32};
use rpfcluster::model_file::Container;
use rpfcluster::random::{Purpose, ROOT_PATH, Stream, child_path, mix};
use rpfcluster::{ColumnKey, Direction, Forest, ForestParams, Points, Precision, Real, Silent, Split};

enum Node<R> {
    Leaf(Vec<u32>),
    Inner { direction: Vec<R>, cut: R, left: Box<Node<R>>, right: Box<Node<R>> },
}

/// r·x: column j into lane j mod 16, then lanes l + (l + 8), 4, 2, 1.
fn project<R: Real>(row: &[R], direction: &[R]) -> R {
    let mut lanes = [R::default(); 16];
    for (j, (&x, &r)) in row.iter().zip(direction).enumerate() {
        lanes[j % 16] = lanes[j % 16] + x * r;
    }
    for half in [8, 4, 2, 1] {
        for l in 0..half {
            lanes[l] = lanes[l] + lanes[l + half];
        }
    }
    lanes[0] + R::default()
}

/// The power of two that directions are multiplied by: 1 unless the largest value is outside 2^±40.
fn scale<R: Real>(values: &[R]) -> f64 {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.to_f64().abs()));
    if largest == 0.0 {
        return 1.0;
    }
    let mut exponent = -1023;
    if largest >= f64::MIN_POSITIVE {
        exponent = (largest.to_bits() >> 52) as i32 - 1023;
    }
    if (-40..=40).contains(&exponent) { 1.0 } else { 2f64.powi((-exponent).clamp(-1000, 120)) }
}

/// What directions depend on besides the node.
struct Columns<'a> {
    d: usize,
    scale: f64,
    keys: &'a [ColumnKey],
}

/// The coefficient of a column by its key: the first Box-Muller deviate of two SplitMix64 numbers, here from a stream.
fn by_key(node: u64, key: ColumnKey) -> f64 {
    let own = mix(node ^ key.id());
    let golden = 0x9e37_79b9_7f4a_7c15u64;
    let [a, b] = [1u64, 2].map(|i| mix(own.wrapping_add(golden.wrapping_mul(i))));
    let u = ((a >> 11) + 1) as f64 / (1u64 << 53) as f64;
    let angle = (b & ((1 << 62) - 1)) as f64 / (1u64 << 62) as f64 - 0.5 + (b >> 62) as f64;
    (-2.0 * u.ln()).sqrt() * (angle * std::f64::consts::FRAC_PI_2).cos()
}

/// As `direction`, by the keys of the columns.
fn keyed_direction(params: &ForestParams, mut stream: Stream, keys: &[ColumnKey]) -> Vec<f64> {
    let node = stream.bits();
    // The bits are those of the library; that they are these deviates is a test of its own.
    let mut z = vec![0.0; keys.len()];
    rpfcluster::random::normals_by_name(node, keys.iter().map(|key| key.id()), &mut z);
    for (z, key) in z.iter().zip(keys) {
        assert!((z - by_key(node, *key)).abs() < 1e-9, "{z} and {}", by_key(node, *key));
    }
    if params.direction == Direction::Sparse {
        let mut features: Vec<u32> = keys.iter().map(|key| key.feature()).collect();
        features.dedup();
        let wanted = (features.len() as f64).sqrt().ceil() as usize;
        let mut support = std::collections::BTreeSet::new();
        while support.len() < wanted {
            support.insert(features[stream.below(features.len() as u64) as usize]);
        }
        z.iter_mut()
            .zip(keys)
            .filter(|(_, key)| !support.contains(&key.feature()))
            .for_each(|(z, _)| *z = 0.0);
    }
    z
}

/// Direction number `draw` of a node and its length before scaling.
fn direction<R: Real>(
    params: &ForestParams,
    tree: usize,
    path: u64,
    draw: u64,
    columns: &Columns<'_>,
) -> (Vec<R>, f64) {
    let Columns { d, scale, keys } = *columns;
    if !keys.is_empty() {
        let stream = Stream::new(params.seed, Purpose::Column, tree as u64, path ^ (draw << 1));
        let z = keyed_direction(params, stream, keys);
        // A category counts 1, whatever its levels.
        let mut squares = 0.0;
        for (j, key) in keys.iter().enumerate() {
            let is_other = j > 0 && keys[j - 1].is_level() && keys[j - 1].feature() == key.feature();
            squares += match key.is_level() {
                false => z[j] * z[j],
                true => f64::from(u8::from(!is_other && z[j] != 0.0)),
            };
        }
        let length = f64::sqrt(squares);
        return (z.into_iter().map(|z| R::from_f64(z * scale)).collect(), length);
    }
    let mut stream = Stream::new(params.seed, Purpose::Direction, tree as u64, path ^ (draw << 1));
    let mut z = vec![0.0; d];
    match params.direction {
        Direction::Gaussian => z.iter_mut().for_each(|z| *z = stream.normal()),
        Direction::Sparse => {
            let wanted = (d as f64).sqrt().ceil() as usize;
            let mut support = std::collections::BTreeSet::new();
            while support.len() < wanted {
                support.insert(stream.below(d as u64) as usize);
            }
            support.into_iter().for_each(|j| z[j] = stream.normal());
        }
    }
    let length = z.iter().fold(0.0, |s, z| s + z * z).sqrt();
    (z.into_iter().map(|z| R::from_f64(z * scale)).collect(), length)
}

/// The direction with the widest projections so far.
struct Best<R> {
    spread: f64,
    r: Vec<R>,
    projections: Vec<R>,
    low: R,
    high: R,
}

fn grow_node<R: Real>(
    rows: &[&[R]],
    ids: Vec<u32>,
    params: &ForestParams,
    tree: usize,
    path: u64,
    columns: &Columns<'_>,
) -> Node<R> {
    if ids.len() < params.min_node {
        return Node::Leaf(ids);
    }
    let mut best: Option<Best<R>> = None;
    for draw in 0..params.candidates.max(4) {
        if draw >= params.candidates && best.is_some() {
            break;
        }
        let (r, length) = direction::<R>(params, tree, path, draw as u64, columns);
        let projections: Vec<R> = ids.iter().map(|&i| project(rows[i as usize], &r)).collect();
        let low = projections.iter().fold(projections[0], |m, &p| if p < m { p } else { m });
        let high = projections.iter().fold(projections[0], |m, &p| if p > m { p } else { m });
        let spread = (high.to_f64() - low.to_f64()) / length;
        if high > low && best.as_ref().is_none_or(|b| spread > b.spread) {
            best = Some(Best { spread, r, projections, low, high });
        }
    }
    let Some(Best { r, projections, low, high, .. }) = best else { return Node::Leaf(ids) };
    let mut cut = match params.split {
        Split::Uniform => {
            let u = Stream::new(params.seed, Purpose::Cut, tree as u64, path).uniform();
            R::from_f64(low.to_f64() + u * (high.to_f64() - low.to_f64()))
        }
        Split::Median => {
            let mut sorted = projections.clone();
            sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let median = sorted[sorted.len() / 2];
            // The smallest value above `low` where at least half of the projections equal `low`.
            if median > low { median } else { *sorted.iter().find(|&&p| p > low).unwrap() }
        }
    };
    // A cut rounded to an extreme would leave one side empty.
    if cut <= low || cut > high {
        cut = high;
    }
    let side = |left: bool| {
        ids.iter()
            .zip(&projections)
            .filter(|&(_, &p)| (p < cut) == left)
            .map(|(&i, _)| i)
            .collect::<Vec<u32>>()
    };
    let left = grow_node(rows, side(true), params, tree, child_path(path, false), columns);
    let right = grow_node(rows, side(false), params, tree, child_path(path, true), columns);
    Node::Inner { direction: r, cut, left: Box::new(left), right: Box::new(right) }
}

/// The leaves from left to right, and the cuts of the inner nodes in pre-order.
fn collect<R: Real>(node: &Node<R>, leaves: &mut Vec<Vec<u32>>, cuts: &mut Vec<f64>) {
    match node {
        Node::Leaf(ids) => leaves.push(ids.clone()),
        Node::Inner { left, right, cut, .. } => {
            cuts.push(cut.to_f64());
            collect(left, leaves, cuts);
            collect(right, leaves, cuts);
        }
    }
}

/// The leaf of a row.
fn route<R: Real>(node: &Node<R>, row: &[R]) -> usize {
    fn count<R>(node: &Node<R>) -> usize {
        match node {
            Node::Leaf(_) => 1,
            Node::Inner { left, right, .. } => count(left) + count(right),
        }
    }
    match node {
        Node::Leaf(_) => 0,
        Node::Inner { direction, cut, left, right } => {
            if project(row, direction) < *cut {
                route(left, row)
            } else {
                count(left) + route(right, row)
            }
        }
    }
}

/// All cuts of a forest, from its model file.
fn stored_cuts<R: Real>(forest: &Forest) -> Vec<f64> {
    let bytes = forest.to_bytes().unwrap();
    let file = Container::parse(&bytes, &Silent).unwrap();
    match R::PRECISION {
        Precision::F32 => file.f32s("cuts").unwrap().into_iter().map(f64::from).collect(),
        Precision::F64 => file.f64s("cuts").unwrap(),
    }
}

/// Asserts that the forest of the library has the leaves and, bit for bit, the cuts of the reference, and routes unseen
/// rows to the same leaves.
fn agree<R: Real>(values: &[R], unseen: &[R], d: usize, params: &ForestParams) {
    agree_by_keys(values, unseen, d, &[], params);
}

/// As `agree`, with coefficients by the keys of the columns.
fn agree_by_keys<R: Real>(values: &[R], unseen: &[R], d: usize, keys: &[ColumnKey], params: &ForestParams) {
    let n = values.len() / d;
    let rows: Vec<&[R]> = values.chunks_exact(d).collect();
    let forest = Forest::grow(&Points::new(values, n, d).unwrap().with_keys(keys).unwrap(), params).unwrap();
    let leaves = forest.leaves();
    let routed = forest.route(&Points::new(unseen, unseen.len() / d, d).unwrap()).unwrap();
    let columns = Columns { d, scale: scale(values), keys };
    let mut cuts = Vec::new();
    for tree in 0..params.trees {
        let reference = grow_node(&rows, (0..n as u32).collect(), params, tree, ROOT_PATH, &columns);
        let mut expected = Vec::new();
        collect(&reference, &mut expected, &mut cuts);
        let found: Vec<Vec<u32>> = (0..leaves.first_column(tree + 1) - leaves.first_column(tree))
            .map(|leaf| leaves.members(tree, leaf as u32).to_vec())
            .collect();
        assert_eq!(found, expected, "leaves of tree {tree}, n {n}, d {d}, {params:?}");
        for (i, row) in unseen.chunks_exact(d).enumerate() {
            assert_eq!(routed.get(i, tree) as usize, route(&reference, row), "unseen row {i}, tree {tree}");
        }
    }
    // A rounding difference rarely changes a leaf, but always a cut.
    assert!(stored_cuts::<R>(&forest) == cuts, "cuts, n {n}, d {d}, {params:?}");
}

#[test]
fn reference_gives_the_same_forest_in_f64() {
    // Widths on both sides of every padding (1, 2, 4, 8, 16 lanes) and of the lane count.
    for d in [1, 2, 3, 5, 8, 9, 15, 16, 17, 33, 70] {
        let (values, unseen) = (normals(150, d, d as u64), normals(40, d, 1000 + d as u64));
        for params in kinds(3, 6, 7) {
            agree(&values, &unseen, d, &params);
        }
    }
}

#[test]
fn reference_gives_the_same_forest_in_f32() {
    for d in [1, 3, 5, 7, 8, 9, 12, 15, 16, 31, 50] {
        let (values, unseen) = (to_f32(&normals(150, d, d as u64)), to_f32(&normals(40, d, 1000 + d as u64)));
        for params in kinds(3, 6, 8) {
            agree(&values, &unseen, d, &params);
        }
    }
    // Fewer rows than a block, many more, and a tree without a cut.
    let values = to_f32(&normals(300, 10, 1));
    for (unseen, min_node) in [(1, 6), (9, 6), (3000, 6), (33, 400)] {
        let params = ForestParams { trees: 3, min_node, seed: 2, ..Default::default() };
        agree(&values, &to_f32(&normals(unseen, 10, 2)), 10, &params);
    }
}

#[test]
fn reference_agrees_on_ties_and_constant_columns() {
    for d in [1, 4, 20] {
        // Sparse directions often have only constant columns here, so that later draws are used.
        let mut values = integers(200, d, 3, d as u64);
        values.chunks_exact_mut(d).for_each(|row| row[..d / 2].fill(5.0));
        let unseen = integers(50, d, 4, 99);
        for params in kinds(4, 2, 11) {
            agree(&values, &unseen, d, &params);
            agree(&to_f32(&values), &to_f32(&unseen), d, &params);
        }
    }
}

#[test]
fn reference_agrees_at_very_large_and_very_small_scales() {
    let values = normals(120, 5, 3);
    for factor in [1e300, 1e15, 1e-15, 1e-300, 1e-310] {
        let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
        for params in kinds(2, 5, 1) {
            agree(&scaled, &scaled[..50], 5, &params);
        }
    }
    for factor in [1e37, 1e15, 1e-15, 1e-38, 1e-42] {
        let scaled: Vec<f32> = values.iter().map(|v| (v * factor) as f32).collect();
        for params in kinds(2, 5, 1) {
            agree(&scaled, &scaled[..50], 5, &params);
        }
    }
}

#[test]
fn reference_agrees_on_tree_batches_and_transposed_blocks() {
    // More than twice the rows of a transposed block (1,512 of 64 f64 values, twice as many of f32): the upper levels
    // are grown as a batch, the rest in transposed blocks. The unseen rows are several blocks.
    let (values, unseen) = (normals(5000, 64, 5), normals(4000, 64, 6));
    let params = ForestParams { trees: 3, min_node: 200, seed: 4, ..Default::default() };
    agree(&values, &unseen, 64, &params);
    agree(&to_f32(&normals(7000, 64, 5)), &to_f32(&unseen), 64, &params);
    let few = ForestParams { trees: 2, min_node: 20, ..params.clone() };
    agree(&values, &unseen[..6400], 64, &few);
    // Not batched.
    agree(&values, &unseen[..6400], 64, &ForestParams { split: Split::Median, candidates: 2, ..few.clone() });
    // Too wide for a transposed block, and sparse directions.
    agree(&normals(4500, 70, 5), &normals(100, 70, 6), 70, &few);
    agree(&values, &unseen[..640], 64, &ForestParams { direction: Direction::Sparse, ..few.clone() });
    // Large nodes of equal rows.
    let mut flat = values;
    flat[..64 * 4000].fill(1.0);
    agree(&flat, &unseen[..640], 64, &few);
}

#[test]
fn reference_agrees_on_quantized_large_nodes() {
    let few = ForestParams { trees: 2, min_node: 3000, ..Default::default() };
    let (values, unseen) = (normals(20_000, 10, 7), normals(300, 10, 8));
    agree(&values, &unseen, 10, &few);
    agree(&to_f32(&normals(40_000, 10, 9)), &to_f32(&unseen), 10, &few);
    agree(&normals(4_500, 62, 5), &normals(50, 62, 6), 62, &few);
    // Ties at the extremes and at the cuts; values far from zero; an outlier.
    agree(&values.iter().map(|v| v.round()).collect::<Vec<f64>>(), &unseen, 10, &few);
    agree(&values.iter().map(|v| 1e6 + v).collect::<Vec<f64>>(), &unseen, 10, &few);
    let mut with_outlier = values;
    with_outlier[70] = 1e5;
    agree(&with_outlier, &unseen, 10, &few);
}

#[test]
fn reference_agrees_on_quantized_wide_rows() {
    let few = ForestParams { trees: 2, min_node: 300, ..Default::default() };
    let (d, values, unseen) = (300, normals(4_200, 300, 3), normals(150, 300, 4));
    agree(&values, &unseen, d, &few);
    agree(&to_f32(&values), &to_f32(&unseen), d, &few);
    agree(&values, &unseen, d, &ForestParams { direction: Direction::Sparse, ..few.clone() });
    // Image-like rows: small integers, columns that are always or nearly always zero.
    let pixels = |values: &[f64]| -> Vec<f64> {
        let ink =
            |(at, v): (usize, &f64)| (v * 90.0).round().clamp(0.0, 255.0) * f64::from(u8::from(at % d > 40));
        let mut pixels: Vec<f64> = values.iter().enumerate().map(ink).collect();
        pixels[7] = 255.0;
        pixels
    };
    agree(&pixels(&values), &pixels(&unseen), d, &few);
    agree(&to_f32(&pixels(&values)), &to_f32(&pixels(&unseen)), d, &few);
}

#[test]
fn reference_agrees_on_columns_with_keys() {
    let keys = |d: usize| -> Vec<ColumnKey> {
        let level = |j: usize| ColumnKey::level(j as u32 / 3, &format!("level {j}"));
        (0..d).map(|j| if j % 7 == 0 { ColumnKey::number(j as u32 / 3) } else { level(j) }).collect()
    };
    for d in [1, 4, 9, 16, 17, 50] {
        let (values, unseen) = (normals(150, d, d as u64), normals(40, d, 1000 + d as u64));
        for params in kinds(3, 6, 7) {
            agree_by_keys(&values, &unseen, d, &keys(d), &params);
            agree_by_keys(&to_f32(&values), &to_f32(&unseen), d, &keys(d), &params);
        }
    }
    // Batches, transposed blocks and quantized rows.
    let few = ForestParams { trees: 2, min_node: 100, seed: 4, ..Default::default() };
    agree_by_keys(&normals(5000, 64, 5), &normals(4000, 64, 6), 64, &keys(64), &few);
    agree_by_keys(&normals(20_000, 10, 7), &normals(300, 10, 8), 10, &keys(10), &few);
    agree_by_keys(&to_f32(&normals(4_200, 100, 3)), &to_f32(&normals(150, 100, 4)), 100, &keys(100), &few);
}

#[test]
fn sparse_rows_give_the_forest_of_the_dense_table() {
    for d in [3, 16, 40, 64] {
        let n = 2500;
        let values = mostly_zero(n, d, 0.2, d as u64);
        let unseen = mostly_zero(60, d, 0.3, 77);
        for params in kinds(2, 9, 5) {
            let dense = common::grow(&values, n, d, &params);
            let csr = Csr::of(&values, n, d);
            let sparse = Forest::grow(&csr.points(), &params).unwrap();
            assert_eq!(dense, sparse, "d {d}, {params:?}");
            assert_eq!(dense.to_bytes().unwrap(), sparse.to_bytes().unwrap());
            let other = Csr::of(&unseen, 60, d);
            let routed = dense.route(&Points::new(&unseen, 60, d).unwrap()).unwrap();
            assert_eq!(routed, sparse.route(&other.points()).unwrap());
            // The same in f32, and sparse f64 rows routed down an f32 forest.
            let narrow = to_f32(&values);
            let dense = common::grow(&narrow, n, d, &params);
            assert_eq!(dense, Forest::grow(&Csr::of(&narrow, n, d).points(), &params).unwrap());
            let narrow_unseen = to_f32(&unseen);
            let routed = dense.route(&Points::new(&narrow_unseen, 60, d).unwrap()).unwrap();
            assert_eq!(routed, dense.route(&other.points()).unwrap());
        }
    }
}
