//! Readers of tables, labels and matrices: no panic, no allocation beyond the memory limit, messages of one line, and
//! what is read has the shape that it claims.

use rpfcluster_data::{
    DataError, Format, Frame, Prepare, ReadOptions, Similarity, read_frame, read_frame_bytes,
    read_labels_bytes, read_similarity_bytes,
};

/// Bytes of memory that a reader may take. The fuzzer's own limit (`-malloc_limit_mb`) is above it.
pub const MEMORY: u64 = 64 << 20;

fn options(format: Option<Format>) -> ReadOptions {
    ReadOptions { format, memory: Some(MEMORY), ..Default::default() }
}

fn check_message(error: &DataError) {
    let message = error.to_string();
    assert!(message.starts_with("x: ") || matches!(error, DataError::Option { .. }), "{message}");
    assert!(message.len() < 2000, "a message of {} bytes", message.len());
}

fn check_frame(read: Result<Frame, DataError>) {
    let frame = match read {
        Ok(frame) => frame,
        Err(error) => return check_message(&error),
    };
    assert!(frame.n() > 0 && frame.width() > 0);
    assert_eq!(frame.names().len(), frame.width());
    for row in [0, frame.n() - 1] {
        for column in [0, frame.width() - 1] {
            let _ = frame.place(row);
            assert!(frame.text(row, column).is_none() || frame.number(row, column).is_nan());
        }
    }
    let (n, width) = (frame.n(), frame.width());
    match Prepare::default().fit(frame) {
        Ok((table, _)) => {
            assert_eq!((table.n, table.d()), (n, width));
            assert_eq!(table.values.len(), n * width);
            assert!((0..n * width).all(|i| table.values.get(i).is_finite()));
        }
        Err(error) => check_message(&error),
    }
}

/// Checked to be square, symmetric and non-negative.
pub fn check_similarity(read: Result<Similarity, DataError>) -> Option<Similarity> {
    let similarity = match read {
        Ok(similarity) => similarity,
        Err(error) => {
            check_message(&error);
            return None;
        }
    };
    assert_eq!(similarity.indptr.len(), similarity.n + 1);
    assert_eq!(similarity.indptr.last(), Some(&similarity.data.len()));
    assert_eq!(similarity.indices.len(), similarity.data.len());
    assert!(similarity.indices.iter().all(|j| (*j as usize) < similarity.n));
    assert!(similarity.data.iter().all(|s| s.is_finite() && *s > 0.0));
    Some(similarity)
}

/// CSV, TSV and blanks.
pub fn text(bytes: &[u8]) {
    for header in [None, Some(true)] {
        let options = ReadOptions { header, ..options(Some(Format::Text)) };
        check_frame(read_frame_bytes(bytes.to_vec(), "x", &options));
    }
}

pub fn npy(bytes: &[u8]) {
    check_frame(read_frame_bytes(bytes.to_vec(), "x", &options(Some(Format::Npy))));
}

pub fn parquet(bytes: &[u8]) {
    check_frame(read_frame_bytes(bytes.to_vec(), "x", &options(Some(Format::Parquet))));
}

pub fn arrow(bytes: &[u8]) {
    check_frame(read_frame_bytes(bytes.to_vec(), "x", &options(Some(Format::Arrow))));
}

/// JSON lines and arrays of objects.
pub fn json(bytes: &[u8]) {
    check_frame(read_frame_bytes(bytes.to_vec(), "x", &options(Some(Format::Json))));
}

/// A gzipped file of any format. Half of the inputs are compressed here, so that the format inside is reached too.
pub fn gzip(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let mut file = Vec::new();
    if kind % 2 == 0 {
        file.extend([0x1f, 0x8b]);
        file.extend(bytes);
    } else {
        let mut packed = flate2::read::GzEncoder::new(bytes, flate2::Compression::fast());
        std::io::Read::read_to_end(&mut packed, &mut file).expect("memory");
    }
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("a folder for temporary files");
    }
    FOLDER.with(|folder| {
        let path = folder.path().join("x");
        std::fs::write(&path, &file).expect("space for temporary files");
        match read_frame(&path, &options(None)) {
            Ok(frame) => assert!(frame.n() > 0),
            Err(error) => assert!(error.to_string().starts_with(&path.display().to_string()), "{error}"),
        }
    });
}

pub fn labels(bytes: &[u8]) {
    for format in [Format::Text, Format::Npy] {
        match read_labels_bytes(bytes.to_vec(), "x", None, &options(Some(format))) {
            Ok(read) => {
                let labels = &read.labels;
                assert!(labels.codes.iter().all(|code| (*code as usize) < labels.names.len()));
                assert!(read.rows.is_none_or(|rows| rows.len() == labels.codes.len()));
            }
            Err(error) => check_message(&error),
        }
    }
}

pub fn npz(bytes: &[u8]) {
    check_similarity(read_similarity_bytes(bytes.to_vec(), "x", &options(Some(Format::Npz))));
}

pub fn mtx(bytes: &[u8]) {
    check_similarity(read_similarity_bytes(bytes.to_vec(), "x", &options(Some(Format::Mtx))));
}

/// A precomputed matrix in any format, and its clustering.
pub fn similarity(bytes: &[u8]) {
    let Some(read) = check_similarity(read_similarity_bytes(bytes.to_vec(), "x", &options(None))) else {
        return;
    };
    if read.n <= 64 {
        super::algorithms::cluster(read.indptr, read.indices, read.data, read.n);
    }
}
