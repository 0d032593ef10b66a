//! Damaged and hostile files: no panic, no more memory than allowed, one sentence. Replays the seeds and the regression
//! cases of the fuzz targets, and thousands of mutants of them, the same ones in every run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(unsafe_code, reason = "an allocator that counts cannot be written otherwise")]
#![cfg(all(feature = "arrow", feature = "excel", feature = "parquet"))]

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use counting_allocator::peak;
use rpfcluster_data::{
    Format, ReadOptions, read_frame, read_frame_bytes, read_labels, read_similarity_bytes,
};

#[path = "../../../fuzz/targets/mod.rs"]
#[allow(missing_docs, dead_code, unreachable_pub)]
mod targets;

#[path = "../../rpfcluster/tests/common/counting_allocator.rs"]
mod counting_allocator;

/// The counters belong to the process, so the tests run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The memory limit of the targets, and what decoders hold besides (tables, windows, the copy of the input).
const MOST: usize = targets::MEMORY as usize + (24 << 20);

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect()
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Flips bits, overwrites lengths with huge, negative and small ones, cuts, repeats and removes parts.
fn mutant(seed: &[u8], draws: &mut Draws) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=draws.below(3) {
        let at = draws.below(bytes.len());
        match draws.below(8) {
            0 => bytes.truncate(at),
            1 => {
                let end = (at + draws.below(40)).min(bytes.len());
                bytes.drain(at..end);
            }
            2 => {
                let end = (at + draws.below(40)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 | 4 => {
                let values = [u64::MAX, i64::MAX as u64, 1 << 60, 1 << 40, 1 << 31, 0xffff_ffff, 0, 1 << 20];
                let value = values[draws.below(values.len())].to_le_bytes();
                let width = [1, 2, 4, 8][draws.below(4)];
                let end = (at + width).min(bytes.len());
                let count = end - at;
                bytes[at..end].copy_from_slice(&value[..count]);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << draws.below(8);
                }
            }
        }
    }
    bytes
}

/// Runs a target; names the input when it panics or takes too much memory.
fn survive(target: &str, name: &str, bytes: &[u8]) {
    let (done, held) = peak(|| catch_unwind(AssertUnwindSafe(|| targets::run(target, bytes))));
    if done.is_err() || held > MOST {
        let path = std::env::temp_dir().join(format!("{target}-input"));
        std::fs::write(&path, bytes).unwrap();
        let what = if done.is_err() { "panics".to_string() } else { format!("takes {held} bytes") };
        panic!("{target} {what} on a mutant of {name}, kept as {}", path.display());
    }
}

#[test]
fn seeds_and_regression_cases_pass_every_target() {
    let _alone = alone();
    for (target, _) in targets::TARGETS {
        for (name, bytes) in seeds(target) {
            survive(target, &name, &bytes);
        }
    }
}

/// 2,000 mutants of the seeds of a target.
fn check_mutants(target: &str) {
    let _alone = alone();
    // The arrow and parquet crates may panic on damaged files; the readers turn that into errors.
    std::panic::set_hook(Box::new(|_| {}));
    let seeds = seeds(target);
    let mut draws = Draws(20);
    for turn in 0..2000 {
        let (name, seed) = &seeds[turn % seeds.len()];
        survive(target, name, &mutant(seed, &mut draws));
    }
    let _ = std::panic::take_hook();
}

#[test]
fn mutants_of_parquet_files_are_survived() {
    check_mutants("parquet");
}

#[test]
fn mutants_of_arrow_files_are_survived() {
    check_mutants("arrow");
}

#[test]
fn mutants_of_npy_files_are_survived() {
    check_mutants("npy");
}

#[test]
fn mutants_of_workbooks_are_survived() {
    check_mutants("workbook");
}

#[test]
fn mutants_of_matrix_files_are_survived() {
    check_mutants("npz");
    check_mutants("mtx");
}

#[test]
fn mutants_of_model_files_are_survived() {
    check_mutants("model");
}

#[test]
fn mutants_of_text_files_are_survived() {
    check_mutants("text");
    check_mutants("json");
    check_mutants("gzip");
    check_mutants("labels");
}

/// Numbers of four and of eight bytes, one after another, become the largest there are.
#[test]
fn lengths_of_exabytes_are_refused_without_an_allocation() {
    let _alone = alone();
    std::panic::set_hook(Box::new(|_| {}));
    for target in ["arrow", "parquet", "npz", "model"] {
        for (name, seed) in seeds(target).into_iter().filter(|(_, seed)| seed.len() < 6000) {
            for at in (0..seed.len().saturating_sub(8)).step_by(4) {
                let claim = [i64::MAX, 1_000_000_000_000_000_000, 0x7fff_ffff][at / 4 % 3];
                let width = if claim > i64::from(u32::MAX) { 8 } else { 4 };
                let mut bytes = seed.clone();
                bytes[at..at + width].copy_from_slice(&claim.to_le_bytes()[..width]);
                survive(target, &name, &bytes);
            }
        }
    }
    let _ = std::panic::take_hook();
}

/// 80 MB of zeros each; fixtures/columnar.py made the files.
const BOMBS: [(Format, &[u8]); 2] = [
    (Format::Parquet, include_bytes!("fixtures/zeros.parquet")),
    (Format::Arrow, include_bytes!("fixtures/zeros.feather")),
];

/// About this many bytes of a table of zeros, gzipped.
fn gzipped_zeros(bytes: usize) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let line = b"0,0,0,0\n".repeat(1 << 13);
    for _ in 0..bytes / line.len() {
        packed.write_all(&line).unwrap();
    }
    packed.finish().unwrap()
}

#[test]
fn compression_bomb_is_refused_while_it_is_read() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.csv.gz");
    std::fs::write(&path, gzipped_zeros(200 << 20)).unwrap();
    // Below the text; above the text, but below the text and its numbers.
    for limit in [30 << 20, 400 << 20] {
        let options = ReadOptions { memory: Some(limit), ..Default::default() };
        let (read, held) = peak(|| read_frame(&path, &options));
        let message = read.unwrap_err().to_string();
        assert!(
            message.contains("reading needs over") && message.contains("--memory-limit allows"),
            "{message}"
        );
        assert!(held as u64 <= limit + (8 << 20), "{held} bytes of {limit}");
    }
    for (format, bomb) in BOMBS {
        let options = ReadOptions { format: Some(format), memory: Some(32 << 20), ..Default::default() };
        let (read, held) = peak(|| read_frame_bytes(bomb.to_vec(), "bomb", &options));
        assert!(read.unwrap_err().to_string().contains("reading needs over"), "{format:?}");
        assert!(held < 34 << 20, "{format:?}: {held} bytes");
    }
    let bomb = include_bytes!("fixtures/zeros.npz").to_vec();
    let options = ReadOptions { format: Some(Format::Npz), memory: Some(16 << 20), ..Default::default() };
    let (read, held) = peak(|| read_similarity_bytes(bomb, "bomb", &options));
    assert!(read.unwrap_err().to_string().contains("reading needs over"));
    assert!(held < 20 << 20, "{held} bytes");
}

/// Every row has a key of its own, or one row has a long list: the table would be far larger than the file.
#[test]
fn json_that_unfolds_is_refused_within_the_limit() {
    let _alone = alone();
    let keys: String = (0..20_000).map(|i| format!("{{\"k{i}\":1}}\n")).collect();
    let list = format!("{{\"a\":[{}0]}}\n", "0,".repeat(8 << 20));
    for (name, text) in [("keys", keys), ("list", list)] {
        let options =
            ReadOptions { format: Some(Format::Json), memory: Some(60 << 20), ..Default::default() };
        let bytes = text.into_bytes();
        let (read, held) = peak(|| read_frame_bytes(bytes, "x", &options));
        let message = read.unwrap_err().to_string();
        assert!(message.contains("reading needs over"), "{name}: {message}");
        assert!(held < 62 << 20, "{name}: {held} bytes");
    }
}

#[test]
fn bombs_are_read_where_there_is_memory_for_them() {
    let _alone = alone();
    for (format, bomb) in BOMBS {
        let options = ReadOptions { format: Some(format), memory: Some(400 << 20), ..Default::default() };
        let (read, held) = peak(|| read_frame_bytes(bomb.to_vec(), "bomb", &options));
        assert_eq!(read.unwrap().n(), 10_000_000, "{format:?}");
        assert!(held < 400 << 20, "{format:?}: {held} bytes");
    }
}

macro_rules! seed {
    ($name:literal) => {
        include_bytes!(concat!("../../../fuzz/seeds/", $name))
    };
}

/// Files of a few kilobytes whose strings share their beginnings, fill 120 pages of a megabyte, whose dictionary is one string of 24 MB, or whose first list
/// has half a million numbers; fixtures/columnar.py made them. A page header with a map claims 2 GB, one of
/// a dictionary two billion values.
#[test]
fn files_that_unfold_are_refused_within_the_limit() {
    let _alone = alone();
    let cases: [(&str, Format, &[u8], &str); 7] = [
        ("prefixes", Format::Parquet, seed!("parquet/case-prefixes"), "reading needs over"),
        ("pages", Format::Parquet, seed!("parquet/case-pages"), "reading needs over"),
        ("dictionary", Format::Arrow, seed!("arrow/case-dictionary"), "reading needs over"),
        ("lists", Format::Parquet, seed!("parquet/case-ragged"), "reading needs over"),
        ("lists", Format::Arrow, seed!("arrow/case-ragged"), "reading needs over"),
        ("claim", Format::Parquet, seed!("parquet/case-dictionary"), "reading needs over"),
        ("map", Format::Parquet, seed!("parquet/case-map"), "claims to be 2147483647"),
    ];
    for (name, format, bytes, words) in cases {
        for limit in [12usize << 20, 28 << 20, 40 << 20] {
            let options =
                ReadOptions { format: Some(format), memory: Some(limit as u64), ..Default::default() };
            let bytes = bytes.to_vec();
            let (read, held) = peak(|| read_frame_bytes(bytes, "x", &options));
            match read {
                // Only ten strings of it differ.
                Ok(frame) => assert!(name == "prefixes" && frame.n() == 600, "{name}: read with {limit}"),
                Err(e) => assert!(e.to_string().contains(words), "{name}: {e}"),
            }
            assert!(held < limit + (8 << 20), "{name}, {format:?}: {held} bytes with a limit of {limit}");
        }
    }
    // With enough memory they are tables.
    let read = |format, bytes: &[u8]| {
        let options = ReadOptions { format: Some(format), memory: Some(1 << 30), ..Default::default() };
        read_frame_bytes(bytes.to_vec(), "x", &options).unwrap()
    };
    let frame = read(Format::Parquet, seed!("parquet/case-prefixes"));
    assert_eq!((frame.n(), frame.text(598, 0).map(|text| &text[99_999..])), (600, Some("x0008")));
    assert!(frame.text(9, 0).is_some_and(|text| text.ends_with("x0009")));
    assert_eq!(
        read(Format::Arrow, seed!("arrow/case-dictionary")).text(9, 0).map(str::len),
        Some(24_000_000)
    );
    assert_eq!(read(Format::Parquet, seed!("parquet/case-ragged")).width(), 2);
    assert_eq!(read(Format::Arrow, seed!("arrow/case-ragged")).width(), 2);
}

/// A Parquet file without rows whose schema has this many levels of groups.
fn nested_parquet(levels: u16) -> Vec<u8> {
    // A root with one child, groups with one child each, and a number.
    let mut footer = vec![0x15, 0x02, 0x19, 0xfc];
    let mut count = levels + 2;
    while count > 127 {
        footer.push(count as u8 | 0x80);
        count >>= 7;
    }
    footer.push(count as u8);
    footer.extend(b"\x48\x01r\x15\x02\0");
    (0..levels).for_each(|_| footer.extend(b"\x35\0\x18\x01g\x15\x02\0"));
    footer.extend(b"\x15\x0a\x25\0\x18\x01x\0");
    footer.extend(b"\x16\0\x19\x0c\0");
    [b"PAR1", &footer[..], &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

#[test]
fn deep_schemas_are_refused() {
    let _alone = alone();
    let message = |format, bytes: &[u8]| {
        let options = ReadOptions { format: Some(format), ..Default::default() };
        read_frame_bytes(bytes.to_vec(), "x", &options).unwrap_err().to_string()
    };
    for levels in [64, 200, 3000, 60_000] {
        let found = message(Format::Parquet, &nested_parquet(levels));
        assert!(found.contains(&format!("nested {} levels deep", levels + 1)), "{found}");
    }
    let found = message(Format::Parquet, seed!("parquet/case-deep"));
    assert!(found.contains("levels deep"), "{found}");
    let found = message(Format::Parquet, &nested_parquet(63));
    assert!(found.contains("there are no numbers"), "{found}");
    let found = message(Format::Arrow, seed!("arrow/case-deep"));
    assert!(found.contains("its footer cannot be read"), "{found}");
}

#[test]
fn valid_files_are_not_called_damaged() {
    let _alone = alone();
    let read = |format, bytes: &[u8], memory| {
        let options = ReadOptions { format: Some(format), memory, ..Default::default() };
        read_frame_bytes(bytes.to_vec(), "x", &options)
    };
    let message = read(Format::Parquet, seed!("parquet/case-brotli"), None).unwrap_err().to_string();
    assert!(message.contains("is compressed with brotli, which is not read"), "{message}");
    assert!(message.contains("snappy, gzip, lz4 or zstd"), "{message}");
    let frame = read(Format::Arrow, seed!("arrow/case-nulls"), None).unwrap();
    assert_eq!((frame.n(), frame.width()), (2000, 2));
    // A billion and more rows of them.
    let mut many = seed!("arrow/case-nulls").to_vec();
    for at in 0..many.len() - 8 {
        if many[at..at + 8] == 2000u64.to_le_bytes() {
            many[at..at + 8].copy_from_slice(&(1u64 << 40).to_le_bytes());
        }
    }
    let (read, held) = peak(|| read(Format::Arrow, &many, Some(100 << 20)));
    let message = read.unwrap_err().to_string();
    assert!(message.contains("reading needs over"), "{message}");
    assert!(held < 1 << 20, "{held} bytes");
}

#[test]
fn memory_of_text_is_a_multiple_of_its_size() {
    let _alone = alone();
    let million: Vec<u8> = (0..1_000_000).map(|i: u32| i % 10).flat_map(|i| [b'0' + i as u8, b',']).collect();
    let wide = [&million[..million.len() - 1], b"\n", &million[..million.len() - 1], b"\n"].concat();
    let distinct: Vec<u8> = (0..400_000).flat_map(|i: u32| format!("t{i}\n").into_bytes()).collect();
    let cases: [(&str, Vec<u8>, usize); 6] = [
        ("a million columns", wide, 150),
        ("only commas", vec![b','; 3 << 20], 200),
        ("only line ends", vec![b'\n'; 8 << 20], 3),
        ("a row and a blank line", b"1\n\n".repeat(1 << 20), 24),
        ("one long cell", [b"x\n".as_slice(), &vec![b'a'; 20 << 20], b"\n1\n"].concat(), 8),
        ("distinct text", distinct, 100),
    ];
    for (name, bytes, factor) in cases {
        let length = bytes.len();
        let options = ReadOptions { format: Some(Format::Text), ..Default::default() };
        let (_, held) = peak(|| read_frame_bytes(bytes, "x", &options).map(|frame| frame.n()));
        assert!(held <= factor * length, "{name}: {held} bytes for {length}");
    }
}

#[test]
fn long_field_is_read_or_refused_within_the_limit() {
    let _alone = alone();
    let long = [b"name,x\n".as_slice(), &vec![b'a'; 100 << 20], b",1\nb,2\n"].concat();
    let read = |memory: u64| {
        let options = ReadOptions { memory: Some(memory), ..Default::default() };
        peak(|| read_frame_bytes(long.clone(), "long.csv", &options))
    };
    let (refused, held) = read(150 << 20);
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("reading needs over") && message.len() < 300, "{message}");
    assert!(held < 170 << 20, "{held} bytes");
    let frame = read(2 << 30).0.unwrap();
    assert_eq!(frame.text(0, 0).map(str::len), Some(100 << 20));
}

#[test]
fn long_quoted_field_is_read_or_refused_within_the_limit() {
    let _alone = alone();
    // Closed, and never closed: then the rest of the file is one cell.
    for (end, closed) in [(b"\",1\nb,2\n".as_slice(), true), (b",1\nb,2\n", false)] {
        let long = [b"name,x\n\"".as_slice(), &vec![b'a'; 50 << 20], end].concat();
        for limit in [60usize << 20, 120 << 20, 240 << 20] {
            let options = ReadOptions { memory: Some(limit as u64), ..Default::default() };
            let (read, held) = peak(|| read_frame_bytes(long.clone(), "long.csv", &options));
            let message = read.unwrap_err().to_string();
            let ragged = !closed && message.contains(": 1 cell");
            assert!(ragged || message.contains("reading needs over"), "{message}");
            assert!(message.len() < 300, "{message}");
            assert!(held < limit + (2 << 20), "{held} bytes with a limit of {limit}");
        }
        let (read, held) = peak(|| read_frame_bytes(long.clone(), "long.csv", &ReadOptions::default()));
        assert!(held < 8 * long.len(), "{held} bytes");
        match read {
            Ok(frame) => assert_eq!(frame.text(0, 0).map(str::len), Some(50 << 20)),
            Err(error) => assert!(!closed && error.to_string().contains(": 1 cell"), "{error}"),
        }
    }
}

#[test]
fn odd_files_are_refused_with_one_sentence() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let utf16: Vec<u8> =
        [0xfeff_u16].into_iter().chain("a,b\n1,2\n".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let bare: Vec<u8> = "a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, bytes, words) in [
        ("empty.csv", Vec::new(), "the file is empty"),
        ("empty.parquet", Vec::new(), "is not a Parquet file"),
        ("empty.arrow", Vec::new(), "is not a valid Arrow file"),
        ("empty.npy", Vec::new(), "is not a .npy array"),
        ("empty.jsonl", b"\n \n".to_vec(), "the file is empty"),
        ("empty.json", b"[]".to_vec(), "the file is empty"),
        ("cut.jsonl", b"{\"a\":1}\n\n{\"a\":".to_vec(), "row 2 (line 3): is not a JSON object"),
        ("cut.json", b"[{\"a\":1},{\"a\":".to_vec(), "is not an array of JSON objects"),
        ("numbers.jsonl", b"1\n2\n".to_vec(), "row 1: is not a JSON object"),
        ("keyless.jsonl", b"{}\n{}\n".to_vec(), "there are no columns"),
        ("twice.jsonl", b"{\"a\":1,\"a\":2}\n".to_vec(), "row 1: \"a\" occurs twice in the row"),
        ("mark.csv", b"\xef\xbb\xbf".to_vec(), "the file is empty"),
        ("lines.csv", b"\n\n\r\n".to_vec(), "the file is empty"),
        ("zeros.csv", b"a,b\n1,\0\n".to_vec(), "zero bytes"),
        ("utf16.csv", utf16, "is UTF-16 text"),
        ("bare.csv", bare, "zero bytes"),
        ("gzip.csv", b"\x1f\x8b".to_vec(), "gzip data"),
        ("model.csv", b"RPFMODEL\0\0\0\0".to_vec(), "zero bytes"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let message = read_frame(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(message.contains(words) && message.contains(name), "{name}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
    let refused = |path: PathBuf| read_frame(path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused(folder.path().into()).contains("is a folder"));
    #[cfg(unix)]
    {
        let (a, b) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
        std::os::unix::fs::symlink(&a, &b).unwrap();
        std::os::unix::fs::symlink(&b, &a).unwrap();
        assert!(refused(a).contains("a.csv"));
        let sparse = folder.path().join("sparse.csv");
        std::fs::File::create(&sparse).unwrap().set_len(1 << 42).unwrap();
        let (message, held) = peak(|| refused(sparse));
        assert!(message.contains("reading needs over") && held < 1 << 20, "{message}: {held} bytes");
    }
}

#[cfg(unix)]
#[test]
fn fifo_is_read_to_its_end() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let writer = path.clone();
    let fed = std::thread::spawn(move || std::fs::write(writer, "cluster\na\nb\na\n").unwrap());
    assert_eq!(read_labels(&path, None, &ReadOptions::default()).unwrap().labels.codes, [0, 1, 0]);
    fed.join().unwrap();
    // Endless input ends at the limit.
    let options = ReadOptions { memory: Some(10 << 20), ..Default::default() };
    let (read, held) = peak(|| read_frame("/dev/zero", &options));
    assert!(read.unwrap_err().to_string().contains("reading needs over"));
    assert!(held < 12 << 20, "{held} bytes");
    assert!(read_frame("/dev/null", &ReadOptions::default()).unwrap_err().to_string().contains("empty"));
}
