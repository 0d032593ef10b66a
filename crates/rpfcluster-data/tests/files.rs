//! Files: gzipped ones of several members, cut short or followed by other bytes, and what is no file.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use std::io::Write;

use rpfcluster_data::{DataError, ReadOptions, read_frame};

fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

#[test]
fn gzip_is_decoded_and_truncated_gzip_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..5000).map(|i| format!("{i},{}\n", i * i % 97)).collect();
    let packed = gzipped(text.as_bytes());
    let path = folder.path().join("a.csv.gz");
    std::fs::write(&path, &packed).unwrap();
    assert_eq!(read_frame(&path, &ReadOptions::default()).unwrap().n(), 5000);
    std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let message = read_frame(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("a.csv.gz") && message.contains("cut short"), "{message}");
}

#[test]
fn bytes_after_gzip_data_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let read = |parts: &[&[u8]]| {
        let path = folder.path().join("x.csv.gz");
        std::fs::write(&path, parts.concat()).unwrap();
        read_frame(&path, &ReadOptions::default())
    };
    let (one, two) = (gzipped(b"1,2\n3,4\n"), gzipped(b"5,6\n"));
    let long = gzipped(&b"1,2\n".repeat(1 << 20));
    assert_eq!(read(&[&one, &two]).unwrap().n(), 3);
    assert_eq!(read(&[&one, &[0; 100_000]]).unwrap().n(), 2);
    assert_eq!(read(&[&long, &two, &[0; 7]]).unwrap().n(), (1 << 20) + 1);
    for (after, count) in [(b"trailing".to_vec(), 8), ([vec![0; 70_000], b"x".to_vec()].concat(), 70_001)] {
        for before in [&one, &long] {
            let message = read(&[before, &after]).unwrap_err().to_string();
            let words = format!("has {count} bytes after the end of the gzip data");
            assert!(message.contains(&words), "{message}");
        }
    }
    let message = read(&[&one[..one.len() - 9]]).unwrap_err().to_string();
    assert!(message.contains("cut short"), "{message}");
}

#[test]
fn missing_files_and_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = read_frame(folder.path().join("no.csv"), &ReadOptions::default()).unwrap_err();
    assert!(
        matches!(missing, DataError::File { .. }) && missing.to_string().ends_with("no.csv: no such file")
    );
    let message = read_frame(folder.path(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("is a folder"), "{message}");
}
