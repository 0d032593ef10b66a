//! Tables read in batches hold the rows of the same tables in memory: every format, batches of any size, errors with the row of
//! the file, and memory that does not grow with the table.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail loudly, like the tests")]
#![allow(unsafe_code, reason = "an allocator that counts cannot be written otherwise")]
#![cfg(all(feature = "arrow", feature = "parquet"))]

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use counting_allocator::peak;
use rpfcluster_data::write::{Cells, Column, TableWriter, table_writer};
use rpfcluster_data::{Batch, Format, Frame, ReadOptions, Values, read_batches, read_frame};

#[path = "../../rpfcluster/tests/common/counting_allocator.rs"]
mod counting_allocator;

/// The counters belong to the process, so the tests run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A table of numbers with gaps, written in parts of `part` rows.
fn written(path: &Path, format: Format, rows: usize, part: usize) {
    let mut file = std::fs::File::create(path).unwrap();
    let mut table = table_writer(&mut file, format).unwrap();
    for start in (0..rows).step_by(part) {
        let range = || start..rows.min(start + part);
        let number = |row: usize| if row % 7 == 3 { f64::NAN } else { (row * 37 % 1001) as f64 / 8.0 };
        let columns = [
            Column { name: "a".into(), cells: Cells::Doubles(range().map(number).collect()) },
            Column {
                name: "b".into(),
                cells: Cells::Integers(range().map(|row| Some((row * 11 % 64) as i64)).collect()),
            },
        ];
        table.write(&columns).unwrap();
    }
    table.finish().unwrap();
}

fn gzipped(path: &Path) -> PathBuf {
    let to = PathBuf::from(format!("{}.gz", path.display()));
    let file = std::fs::File::create(&to).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packed.write_all(&std::fs::read(path).unwrap()).unwrap();
    packed.finish().unwrap();
    to
}

fn batches(path: &Path, rows: usize) -> Vec<Batch> {
    read_batches(path, &ReadOptions::default(), rows).unwrap().map(Result::unwrap).collect()
}

/// Cells, names, precision and places of a table.
fn described(frames: &[&Frame]) -> Vec<String> {
    let mut all = Vec::new();
    for frame in frames {
        for row in 0..frame.n() {
            let cells: Vec<String> = (0..frame.width())
                .map(|column| match frame.text(row, column) {
                    Some(text) => format!("{text:?}"),
                    None => format!("{:x}", frame.number(row, column).to_bits()),
                })
                .collect();
            let place = frame.place(row);
            all.push(format!("{}/{}: {} {:?}", place.row, place.line, cells.join(" "), frame.names()));
        }
    }
    all
}

fn has_uneven_lists(path: &Path) -> bool {
    let frame = read_frame(path, &ReadOptions::default()).unwrap();
    let is_list = |text: &str| text.starts_with("a value of type") && text.to_lowercase().contains("list");
    (0..frame.width()).any(|column| (0..frame.n()).any(|row| frame.text(row, column).is_some_and(is_list)))
}

fn same_in_batches(path: &Path) {
    let whole = read_frame(path, &ReadOptions::default()).unwrap();
    let expected = described(&[&whole]);
    for rows in [1, 2, 3, 7, 64, 1000, usize::MAX] {
        let parts = batches(path, rows);
        // What cannot be split is one batch.
        let fits = parts.len() == 1 || parts.iter().all(|part| part.frame.n() <= rows);
        assert!(fits, "{}", path.display());
        let mut before = 0;
        for part in &parts {
            assert_eq!(part.frame.before(), before);
            before += part.frame.n();
        }
        let frames: Vec<&Frame> = parts.iter().map(|part| &part.frame).collect();
        let found = described(&frames);
        let other = found.iter().zip(&expected).find(|(found, expected)| found != expected);
        assert!(other.is_none(), "{} in batches of {rows}: {other:?}", path.display());
        assert_eq!(found.len(), expected.len(), "{} in batches of {rows}", path.display());
    }
}

#[test]
fn every_format_has_the_same_rows_in_batches_of_any_size() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [
        ("t.csv", Format::Text),
        ("t.parquet", Format::Parquet),
        ("t.arrow", Format::Arrow),
        ("t.npy", Format::Npy),
    ] {
        for part in [1000, 30] {
            let path = folder.path().join(name);
            written(&path, format, 200, part);
            same_in_batches(&path);
            same_in_batches(&gzipped(&path));
        }
    }
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut tried = 0;
    for entry in std::fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        if Format::from_path(&path).is_some() && read_frame(&path, &ReadOptions::default()).is_ok() {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // A column of lists of different lengths is another one there: see below.
            if !name.starts_with("lists") && !name.starts_with("zeros") && !has_uneven_lists(&path) {
                same_in_batches(&path);
                tried += 1;
            }
        }
    }
    assert!(tried > 2, "only {tried} fixtures");
}

#[test]
fn text_as_it_comes_is_split_at_its_records() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let long: String = (0..3000).map(|i| format!("{i},\"a\nb, {i}\",{}\r\n", i % 5)).collect();
    let comments = "# about the table\n".repeat(200_000);
    let bare: String = (0..200).map(|i| format!("{i}\t{}\n", i * 2)).collect();
    for (name, text) in [
        ("quotes.csv", format!("x,name,y\n{long}")),
        ("blank.csv", "\n\n# c\na;b\n\n1,5;2\n\n\n2,5;3\n;\n".to_string()),
        ("comments.csv", format!("{comments}a,b\n1,2\n3,4\n")),
        ("blanks.txt", "  1.0   2.0\n 3.0 4.0 \n5 6".to_string()),
        ("mac.csv", "a,b\r1,2\r3,4\r".to_string()),
        ("bare.tsv", bare),
        ("words.csv", "x,w\n1,small\n2,\n3,\"la\"\"rge\"\n".to_string()),
        ("open.csv", "x,w\n1,\"never\nclosed\n2,b\n".to_string()),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        same_in_batches(&path);
    }
}

#[test]
fn errors_name_the_row_of_the_file_and_end_the_table() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let rows: String = (0..500).map(|i| format!("{i},1\n")).collect();
    std::fs::write(&path, format!("a,b\n{rows}7\n8,1\n")).unwrap();
    for quote in ["", "\"q\",1\n"] {
        std::fs::write(&path, format!("a,b\n{rows}{quote}7\n8,1\n")).unwrap();
        let row = 501 + usize::from(!quote.is_empty());
        let mut found = read_batches(&path, &ReadOptions::default(), 64).unwrap();
        let error = found.find_map(Result::err).unwrap().to_string();
        assert!(error.contains(&format!("row {row} (line {}): 1 cell", row + 1)), "{error}");
        assert!(found.next().is_none());
    }
    std::fs::write(&path, "a,b\n\n\n").unwrap();
    let mut found = read_batches(&path, &ReadOptions::default(), 64).unwrap();
    assert!(found.next().unwrap().unwrap_err().to_string().contains("no row of data"));
    // Files that are cut short: an array and a gzipped text when their end is missed, the others before the first row.
    written(&path, Format::Text, 200_000, 1000);
    let cut = |path: &Path| {
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(file.metadata().unwrap().len() * 2 / 3).unwrap();
    };
    let packed = gzipped(&path);
    cut(&packed);
    let error = read_batches(&packed, &ReadOptions::default(), 64).unwrap().find_map(Result::err).unwrap();
    assert!(error.to_string().contains("the file is cut short"), "{error}");
    for (name, format) in [("t.parquet", Format::Parquet), ("t.arrow", Format::Arrow), ("t.npy", Format::Npy)]
    {
        let path = folder.path().join(name);
        written(&path, format, 2000, 100);
        cut(&path);
        let error = read_batches(&path, &ReadOptions::default(), 64).err().unwrap().to_string();
        assert!(error.contains(name) && !error.contains("panic"), "{error}");
    }
}

#[test]
fn a_list_of_another_length_is_refused_where_it_is() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    std::fs::write(&path, "{\"a\":[1,2],\"b\":1}\n{\"a\":[1],\"b\":2}\n").unwrap();
    same_in_batches(&path);
    for name in ["lists.parquet", "lists.feather"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
        let whole = read_frame(&path, &ReadOptions::default()).unwrap();
        for rows in [1, 3, 100] {
            let parts = batches(&path, rows);
            let column = |name: &str| parts[0].frame.names().iter().position(|n| n == name).unwrap();
            let text = |row: usize, column: usize| {
                let part = parts.iter().rfind(|part| part.frame.before() <= row).unwrap();
                part.frame.text(row - part.frame.before(), column).map(String::from)
            };
            let ragged = column("ragged[1]");
            assert!(text(1, ragged).unwrap().contains("list of 2 numbers, unlike those above"), "{name}");
            assert!([0, 2, 3].iter().all(|row| text(*row, ragged).is_none()), "{name}");
            let even = whole.names().iter().position(|n| n == "even[2]").unwrap();
            for part in &parts {
                for row in 0..part.frame.n() {
                    let found = part.frame.number(row, column("even[2]"));
                    assert_eq!(found.to_bits(), whole.number(part.frame.before() + row, even).to_bits());
                }
            }
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_table() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [
        ("t.csv", Format::Text),
        ("t.parquet", Format::Parquet),
        ("t.arrow", Format::Arrow),
        ("t.npy", Format::Npy),
    ] {
        let path = folder.path().join(name);
        let held = |rows: usize| {
            written(&path, format, rows, 5000);
            let path = if format == Format::Text { gzipped(&path) } else { path.clone() };
            let count = || {
                read_batches(&path, &ReadOptions::default(), 5000)
                    .unwrap()
                    .map(|batch| batch.unwrap().frame.n())
                    .sum()
            };
            let (found, held): (usize, usize) = peak(count);
            assert_eq!(found, rows);
            held
        };
        let (small, large) = (held(200_000), held(2_000_000));
        assert!(large < small + (2 << 20), "{name}: {small} bytes for 200,000 rows, {large} for 2,000,000");
        let whole = peak(|| read_frame(&path, &ReadOptions::default()).unwrap().n()).1;
        assert!(whole > 2 * large, "{name}: {whole} bytes in memory, {large} in batches");
    }
}

#[test]
fn the_budget_holds_for_a_batch_and_not_for_the_table() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    written(&path, Format::Text, 500_000, 5000);
    let options = ReadOptions { memory: Some(6 << 20), ..Default::default() };
    let read = read_batches(&path, &options, 5000).unwrap();
    assert_eq!(read.map(|batch| batch.unwrap().frame.n()).sum::<usize>(), 500_000);
    assert!(read_frame(&path, &options).unwrap_err().to_string().contains("reading needs over"));
    // A cell that is never closed grows until the budget ends it.
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"1,\"").unwrap();
    file.write_all(&b"open \n".repeat(4 << 20)).unwrap();
    let error = read_batches(&path, &options, 5000).unwrap().find_map(Result::err).unwrap().to_string();
    assert!(error.contains("reading needs over"), "{error}");
}

#[test]
fn an_array_in_single_precision_stays_so_and_one_through_a_pipe_waits_in_memory() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npy");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    (0..6).for_each(|i| bytes.extend((i as f32 / 3.0).to_le_bytes()));
    std::fs::write(&path, bytes).unwrap();
    same_in_batches(&path);
    let part = batches(&path, 2).remove(1).frame;
    let prepared = rpfcluster_data::Prepare::default().fit(part).unwrap().0;
    assert_eq!(prepared.values, Values::F32(vec![4.0 / 3.0, 5.0 / 3.0]));
    assert_eq!(prepared.input_row(0), 3);

    /// A pipe: no place to return to.
    struct Pipe(Vec<u8>);
    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    impl Seek for Pipe {
        fn seek(&mut self, _: std::io::SeekFrom) -> std::io::Result<u64> {
            Err(std::io::Error::other("a pipe"))
        }
    }
    let column = |values: &[i64]| {
        [Column { name: "n".into(), cells: Cells::Integers(values.iter().copied().map(Some).collect()) }]
    };
    let fill = |mut table: Box<dyn TableWriter + '_>| {
        table.write(&column(&[1, 2])).unwrap();
        table.write(&column(&[3])).unwrap();
        table.finish().unwrap();
    };
    let (mut pipe, mut file) = (Pipe(Vec::new()), std::io::Cursor::new(Vec::new()));
    fill(table_writer(&mut pipe, Format::Npy).unwrap());
    fill(table_writer(&mut file, Format::Npy).unwrap());
    assert_eq!(pipe.0, file.into_inner());
}
