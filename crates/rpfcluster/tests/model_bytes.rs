//! Model files: what is written is read back, and truncated, altered, forged or arbitrary bytes are refused without
//! a panic.
#![allow(clippy::unwrap_used)]

mod common;

use common::{grow, kinds, normals, to_f32};
use proptest::prelude::*;
use rpfcluster::model_file::{Container, Piece, Sections, VERSION};
use rpfcluster::{Error, Forest, ForestParams, Points, Precision, Silent};

fn small() -> Forest {
    // Candidates, so that there are draws to store.
    grow(
        &normals(24, 3, 1),
        24,
        3,
        &ForestParams { trees: 3, min_node: 5, candidates: 3, ..Default::default() },
    )
}

fn sentence(bytes: &[u8]) -> String {
    match Forest::from_bytes(bytes).unwrap_err() {
        Error::Model { problem } => problem,
        other => format!("{other:?}"),
    }
}

#[test]
fn written_models_are_read_back_unchanged() {
    for d in [1, 4, 20] {
        let (values, unseen) = (normals(200, d, 1), normals(30, d, 2));
        for params in kinds(5, 6, u64::MAX - 3) {
            let wide = grow(&values, 200, d, &params);
            let narrow = grow(&to_f32(&values), 200, d, &params);
            for (forest, precision) in [(wide, Precision::F64), (narrow, Precision::F32)] {
                assert_eq!(forest.precision(), precision);
                let bytes = forest.to_bytes().unwrap();
                let back = Forest::from_bytes(&bytes).unwrap();
                assert_eq!(back, forest);
                assert_eq!(back.to_bytes().unwrap(), bytes);
                let unseen = Points::new(&unseen, 30, d).unwrap();
                assert_eq!(back.route(&unseen).unwrap(), forest.route(&unseen).unwrap());
                assert_eq!(back.leaves().dense(), forest.leaves().dense());
            }
        }
    }
    // Scaled directions come back too.
    let huge: Vec<f64> = normals(50, 2, 1).iter().map(|v| v * 1e300).collect();
    let forest = grow(&huge, 50, 2, &ForestParams { trees: 3, min_node: 4, ..Default::default() });
    let back = Forest::from_bytes(&forest.to_bytes().unwrap()).unwrap();
    assert_eq!(&back.route(&Points::new(&huge, 50, 2).unwrap()).unwrap(), forest.leaves().leaf_ids());
}

/// The forest of the stored files: integers only, so the data do not depend on the platform's math library.
fn stored() -> (Vec<f64>, ForestParams) {
    let values = (0..150u64).map(|i| ((i * i * 31 + i * 7) % 101) as f64).collect();
    (values, ForestParams { trees: 4, min_node: 6, candidates: 2, seed: 20, ..Default::default() })
}

#[test]
fn version_1_files_load_and_regrow_bit_for_bit() {
    let (values, params) = stored();
    let files: [(&[u8], Forest); 2] = [
        (include_bytes!("fixtures/model-v1-f64.rpf"), grow(&values, 50, 3, &params)),
        (include_bytes!("fixtures/model-v1-f32.rpf"), grow(&to_f32(&values), 50, 3, &params)),
    ];
    for (bytes, fresh) in files {
        let forest = Forest::from_bytes(bytes).unwrap();
        let codes = forest.route(&Points::new(&values, 50, 3).unwrap()).unwrap();
        assert_eq!(&codes, forest.leaves().leaf_ids());
        // The same data and seed make the same trees in every release; a new format version may change the bytes only.
        assert_eq!(forest, fresh);
    }
}

#[test]
fn sections_begin_at_multiples_of_64() {
    let bytes = small().to_bytes().unwrap();
    assert_eq!(bytes.len() % 64, 0);
    let count = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    assert_eq!(count, Container::parse(&bytes, &Silent).unwrap().sections().len());
    for entry in bytes[64..64 + 32 * count].chunks_exact(32) {
        assert_eq!(u64::from_le_bytes(entry[8..16].try_into().unwrap()) % 64, 0);
    }
}

#[test]
fn flipped_bit_outside_padding_is_refused() {
    let forest = small();
    let bytes = forest.to_bytes().unwrap();
    let mut refused = 0;
    for at in 0..bytes.len() {
        for flip in [1u8, 0x80, 0xff] {
            let mut altered = bytes.clone();
            altered[at] ^= flip;
            match Forest::from_bytes(&altered) {
                Ok(read) => assert_eq!(read, forest, "byte {at}"),
                Err(Error::Model { .. }) => refused += 1,
                Err(other) => panic!("byte {at}: {other:?}"),
            }
        }
    }
    // Everything but the padding: at most 63 bytes after each of 7 sections, the table and in the header.
    assert!(refused / 3 > bytes.len() - 9 * 63, "{} of {}", refused / 3, bytes.len());
}

#[test]
fn truncated_model_is_refused() {
    let bytes = small().to_bytes().unwrap();
    for length in 0..bytes.len() {
        let said = sentence(&bytes[..length]);
        if length >= 8 {
            assert!(said.contains("cut short"), "{length}: {said}");
        } else {
            assert!(said.contains("not an rpf model"), "{length}: {said}");
        }
    }
    let mut longer = bytes.clone();
    longer.extend([0; 5]);
    assert!(sentence(&longer).contains("bytes follow its end"));
}

#[test]
fn newer_version_is_refused_by_number() {
    let mut bytes = small().to_bytes().unwrap();
    for version in [VERSION + 1, 77, u32::MAX] {
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        let said = sentence(&bytes);
        let known = format!("has format version {version}, but this program reads versions 1 to {VERSION}");
        assert!(said.starts_with(&known) && said.contains("newer rpf"), "{said}");
    }
}

/// The file with the checksum of its table recomputed.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let count = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let end = (64 + 32 * count).min(bytes.len());
    let mut crc = crc32fast::Hasher::new();
    crc.update(&bytes[..24]);
    crc.update(&bytes[64..end]);
    let crc = crc.finalize();
    bytes[24..28].copy_from_slice(&crc.to_le_bytes());
    bytes
}

#[test]
fn section_tables_with_false_lengths_are_refused() {
    let bytes = small().to_bytes().unwrap();
    // More sections than the file has (the padding behind the table reads as one empty section).
    for count in [9u32, 1000, u32::MAX] {
        let mut forged = bytes.clone();
        forged[12..16].copy_from_slice(&count.to_le_bytes());
        assert!(Forest::from_bytes(&sealed(forged)).is_err());
    }
    // Sections that begin or end outside, or wrap around.
    for value in [u64::MAX, u64::MAX - 63, 1 << 63, bytes.len() as u64, bytes.len() as u64 + 1] {
        for field in [8, 16] {
            for entry in 0..7 {
                let mut forged = bytes.clone();
                let at = 64 + 32 * entry + field;
                forged[at..at + 8].copy_from_slice(&value.to_le_bytes());
                assert!(Forest::from_bytes(&sealed(forged)).is_err());
            }
        }
    }
    for length in [0u64, u64::MAX] {
        let mut forged = bytes.clone();
        forged[16..24].copy_from_slice(&length.to_le_bytes());
        assert!(Forest::from_bytes(&sealed(forged)).is_err());
    }
}

/// A file with valid checksums and the sections of `bytes` after `change`.
fn forge(bytes: &[u8], change: impl Fn(&str, Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let file = Container::parse(bytes, &Silent).unwrap();
    let parts: Vec<(String, Vec<u8>)> = file
        .sections()
        .into_iter()
        .map(|(name, _)| {
            let content = change(&name, file.section(&name).unwrap().to_vec());
            (name, content)
        })
        .collect();
    let mut sections = Sections::default();
    for (name, content) in &parts {
        sections.add(name, vec![Piece::Bytes(content)]);
    }
    let mut out = Vec::new();
    sections.write(&mut out, &Silent).unwrap();
    out
}

fn with_head(bytes: &[u8], pointer: &str, value: serde_json::Value) -> Vec<u8> {
    forge(bytes, |name, content| {
        if name != "forest" {
            return content;
        }
        let mut head: serde_json::Value = serde_json::from_slice(&content).unwrap();
        *head.pointer_mut(pointer).unwrap() = value.clone();
        serde_json::to_vec(&head).unwrap()
    })
}

#[test]
fn forged_headers_are_refused() {
    let forest = small();
    let bytes = forest.to_bytes().unwrap();
    assert_eq!(Forest::from_bytes(&forge(&bytes, |_, content| content)).unwrap(), forest);
    let huge = serde_json::json!(u64::MAX);
    for pointer in
        ["/n", "/d", "/trees", "/params/trees", "/params/min_node", "/params/candidates", "/exponent"]
    {
        for value in [huge.clone(), serde_json::json!(0), serde_json::json!(-1), serde_json::json!("x")] {
            if pointer == "/exponent" && value.as_i64().is_some_and(|v| v.abs() < 2) {
                continue;
            }
            let forged = with_head(&bytes, pointer, value.clone());
            assert!(Forest::from_bytes(&forged).is_err(), "{pointer} = {value}");
        }
    }
    for exponent in [-1001, 121, 5000, i32::MIN, i32::MAX] {
        assert!(Forest::from_bytes(&with_head(&bytes, "/exponent", exponent.into())).is_err(), "{exponent}");
    }
    assert!(Forest::from_bytes(&with_head(&bytes, "/precision", "f32".into())).is_err());
    for head in ["", "{}", "[]", "null", "{\"params\":"] {
        let forged = forge(&bytes, |name, old| if name == "forest" { head.into() } else { old });
        assert!(sentence(&forged).contains("section forest"));
    }
}

#[test]
fn missing_section_is_named_and_truncated_section_is_refused() {
    let bytes = small().to_bytes().unwrap();
    let file = Container::parse(&bytes, &Silent).unwrap();
    for (left_out, _) in file.sections() {
        let mut sections = Sections::default();
        let parts: Vec<_> = file.sections().into_iter().filter(|(name, _)| *name != left_out).collect();
        parts
            .iter()
            .for_each(|(name, _)| sections.add(name, vec![Piece::Bytes(file.section(name).unwrap())]));
        let mut out = Vec::new();
        sections.write(&mut out, &Silent).unwrap();
        assert_eq!(sentence(&out), format!("has no section {left_out}"));
    }
    for name in ["inner", "right", "cuts", "starts", "members", "draws"] {
        // One byte too few, one number too few, none at all.
        for less in [1, 4, usize::MAX] {
            let forged = forge(&bytes, |section, mut content| {
                if section == name {
                    content.truncate(content.len().saturating_sub(less));
                }
                content
            });
            let read = Forest::from_bytes(&forged);
            assert!(read.is_err() || (name == "draws" && less == usize::MAX), "{name} less {less}");
        }
    }
}

#[test]
fn arrays_that_are_no_forest_are_refused() {
    let bytes = small().to_bytes().unwrap();
    let with = |name: &str, at: usize, value: &[u8]| {
        forge(&bytes, |section, mut content| {
            if section == name {
                content[at..at + value.len()].copy_from_slice(value);
            }
            content
        })
    };
    for cut in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let said = sentence(&with("cuts", 0, &cut.to_le_bytes()));
        assert!(said.contains("tree 1"), "{said}");
    }
    // Draws: a tree, a node or a draw that is not there, and an order that lookups do not expect.
    assert!(Container::parse(&bytes, &Silent).unwrap().section("draws").unwrap().len() >= 24);
    for (at, value) in [(0, 3u32), (4, 1000), (8, 4), (8, u32::MAX), (16, 0)] {
        assert!(Forest::from_bytes(&with("draws", at, &value.to_le_bytes())).is_err(), "{at}: {value}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn arbitrary_bytes_are_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..400), valid in any::<bool>()) {
        if valid && bytes.len() >= 64 {
            let length = bytes.len() as u64;
            bytes[..8].copy_from_slice(b"RPFMODEL");
            bytes[8..12].copy_from_slice(&1u32.to_le_bytes());
            let count = u32::from(bytes[12]) % 9;
            bytes[12..16].copy_from_slice(&count.to_le_bytes());
            bytes[16..24].copy_from_slice(&length.to_le_bytes());
            bytes = sealed(bytes);
        }
        prop_assert!(Forest::from_bytes(&bytes).is_err());
    }

    /// Changed numbers under valid checksums: refused, or a forest that works.
    #[test]
    fn forged_arrays_never_panic(
        section in prop_oneof![Just("inner"), Just("draws"), Just("right"), Just("cuts"), Just("starts"), Just("members")],
        at in any::<prop::sample::Index>(),
        value in prop_oneof![0u32..30, any::<u32>()],
    ) {
        let bytes = small().to_bytes().unwrap();
        let forged = forge(&bytes, |name, mut content| {
            if name == section {
                let numbers = content.len() / 4;
                let at = at.index(numbers) * 4;
                content[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
            content
        });
        if let Ok(forest) = Forest::from_bytes(&forged) {
            let values = normals(40, 3, 5);
            let codes = forest.route(&Points::new(&values, 40, 3).unwrap()).unwrap();
            let leaves = forest.leaves();
            prop_assert_eq!(leaves.dense_of(&codes).len(), 40 * 24);
            prop_assert!(leaves.dense().iter().all(|s| (0.0..=1.0).contains(s)));
            forest.leaves_at(9).unwrap().top_k(3, &Silent).unwrap();
            forest.depths();
        }
    }
}

#[test]
fn saving_leaves_one_file_and_a_missing_folder_is_refused() {
    let forest = small();
    let folder = std::env::temp_dir().join(format!("rpf-model-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.rpf");
    forest.save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), forest.to_bytes().unwrap());
    assert_eq!(Forest::load(&path).unwrap(), forest);
    // Saving over it leaves one file.
    forest.save(&path).unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    let nowhere = folder.join("no").join("b.rpf");
    let said = forest.save(&nowhere).unwrap_err().to_string();
    assert!(said.contains("b.rpf"), "{said}");
    assert!(Forest::load(&nowhere).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}
