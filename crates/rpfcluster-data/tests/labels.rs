//! The labels of generated sets, by hash. python/tests/test_same_labels.py reads the same file: the same seed gives
//! the same labels in Rust and in Python.

use rpfcluster::{AffinityKind, Points, RpfCluster};
use rpfcluster_data::shapes::Shape;

/// FNV-1a over the labels as little-endian 32-bit numbers.
fn hash(labels: &[u32]) -> u64 {
    labels
        .iter()
        .flat_map(|l| l.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn labels_equal_the_recorded_ones() {
    let record = include_str!("labels.txt");
    let mut found = String::new();
    for line in record.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [shape, n, k, seed, affinity, _] = words[..] else { panic!("{line}") };
        let made = shape.parse::<Shape>().unwrap().generate(n.parse().unwrap(), 0);
        let affinity = match affinity {
            "auto" => None,
            "linear" => Some(AffinityKind::Linear),
            "paper" => Some(AffinityKind::Paper),
            "top-k" => Some(AffinityKind::TopK),
            other => panic!("{other}"),
        };
        let params =
            RpfCluster { k: k.parse().unwrap(), seed: seed.parse().unwrap(), affinity, ..Default::default() };
        let fitted = params.fit(&Points::new(&made.values, made.n, made.d).unwrap()).unwrap();
        let kind = words[4];
        found += &format!("{shape} {n} {k} {seed} {kind} {:016x}\n", hash(fitted.labels()));
    }
    assert_eq!(found, record);
}
