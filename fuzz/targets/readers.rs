//! Readers of tables, labels and matrices: no panic, no allocation beyond the memory limit, messages of one line, and
//! what is read has the shape that it claims.

use rpfcluster_data::{
    Batches, DataError, Format, Frame, Prepare, ReadOptions, Similarity, read_batches, read_batches_bytes,
    read_frame, read_frame_bytes, read_labels_bytes, read_similarity_bytes,
};

/// Bytes of memory that a reader may take. The fuzzer's own limit (`-malloc_limit_mb`) is above it.
pub const MEMORY: u64 = 64 << 20;

pub fn options(format: Option<Format>) -> ReadOptions {
    ReadOptions { format, memory: Some(MEMORY), ..Default::default() }
}

fn check_message(error: &DataError) {
    let message = error.to_string();
    let names_file = message.starts_with("x: ") || message.starts_with("x, sheet \"");
    assert!(names_file || matches!(error, DataError::Option { .. }), "{message}");
    assert!(message.len() < 2000, "a message of {} bytes", message.len());
}

pub fn check_frame(read: Result<Frame, DataError>) {
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

/// Reads batches of three rows, which follow each other; returns the numbers, or nothing after an error, of which `name` is
/// the beginning.
fn check_batches(read: Result<Batches, DataError>, name: &str) -> Option<Vec<u64>> {
    let (mut before, mut numbers) = (0, Vec::new());
    let checked = |error: DataError| assert!(error.to_string().starts_with(name), "{error}");
    for batch in read.map_err(checked).ok()? {
        let frame = batch.map_err(checked).ok()?.frame;
        assert_eq!(frame.before(), before);
        assert_eq!(frame.names().len(), frame.width());
        before += frame.n();
        numbers.extend(numbers_of(&frame));
    }
    assert!(before > 0, "a table without rows");
    Some(numbers)
}

fn numbers_of(frame: &Frame) -> impl Iterator<Item = u64> + '_ {
    let cells = (0..frame.n()).flat_map(|row| (0..frame.width()).map(move |column| (row, column)));
    cells.map(|(row, column)| frame.number(row, column).to_bits())
}

/// Reads a table in batches and as a whole; where `same`, both give the same numbers or both are refused.
fn check_both(bytes: &[u8], options: &ReadOptions, same: bool) {
    let in_batches = check_batches(read_batches_bytes(bytes.into(), "x", options, 3), "x: ");
    let whole = read_frame_bytes(bytes.to_vec(), "x", options);
    if same && let Ok(frame) = &whole {
        let expected: Vec<u64> = numbers_of(frame).collect();
        assert!(in_batches.is_some_and(|found| found == expected), "batches differ from the table");
    }
    check_frame(whole);
}

/// Calls `read` with the path of a file of these bytes.
fn with_file(bytes: &[u8], read: impl Fn(&std::path::Path)) {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("a folder for temporary files");
    }
    FOLDER.with(|folder| {
        let path = folder.path().join("x");
        std::fs::write(&path, bytes).expect("space for temporary files");
        read(&path);
    });
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
        // A batch before the first quote is read as a text without quotes, in which a carriage return ends no line.
        let same = !bytes.iter().any(|b| matches!(b, b'"' | b'\r'));
        check_both(bytes, &options, same);
    }
}

pub fn npy(bytes: &[u8]) {
    check_both(bytes, &options(Some(Format::Npy)), true);
}

pub fn parquet(bytes: &[u8]) {
    check_both(bytes, &options(Some(Format::Parquet)), true);
    on_disk(bytes, Format::Parquet);
}

pub fn arrow(bytes: &[u8]) {
    // A list of another length makes its column useless for all rows of a stream that is read as a whole.
    check_both(bytes, &options(Some(Format::Arrow)), false);
    on_disk(bytes, Format::Arrow);
}

/// A file whose parts are read where they lie.
fn on_disk(bytes: &[u8], format: Format) {
    with_file(bytes, |path| {
        let name = path.display().to_string();
        check_batches(read_batches(path, &options(Some(format)), 3), &name);
    });
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
    with_file(&file, |path| {
        let name = path.display().to_string();
        check_batches(read_batches(path, &options(None), 3), &name);
        match read_frame(path, &options(None)) {
            Ok(frame) => assert!(frame.n() > 0),
            Err(error) => assert!(error.to_string().starts_with(&name), "{error}"),
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
