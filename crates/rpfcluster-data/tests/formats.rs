//! Every format is written and read back, and malformed files are refused.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use std::io::{Cursor, ErrorKind, Write};

use rpfcluster_data::write::{self, Csr};
use rpfcluster_data::{
    Format, Frame, Prepare, ReadOptions, Similarity, Values, read_batches_bytes, read_frame_bytes,
    read_labels, read_similarity, read_similarity_bytes,
};

fn options(format: Format) -> ReadOptions {
    ReadOptions { format: Some(format), ..Default::default() }
}

fn npy(bytes: &[u8]) -> Result<Frame, String> {
    read_frame_bytes(bytes.to_vec(), "a.npy", &options(Format::Npy)).map_err(|e| e.to_string())
}

fn values(frame: Frame) -> Values {
    Prepare::default().fit(frame).unwrap().0.values
}

/// An array as NumPy writes it.
fn array(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn npy_round_trip_keeps_bits_and_shape() {
    let singles = [1.5f32, -2.0, 3.25, 0.1, 5.0, 6.0];
    let bytes: Vec<u8> = singles.iter().flat_map(|x| x.to_le_bytes()).collect();
    let read = npy(&array("<f4", "False", "(3, 2)", &bytes)).unwrap();
    assert_eq!(values(read), Values::F32(singles.to_vec()));
    let doubles = [0.1, f64::MIN_POSITIVE, 1e300];
    let mut bytes = Vec::new();
    write::npy(&mut bytes, &doubles, &[3]).unwrap();
    let frame = npy(&bytes).unwrap();
    assert_eq!((frame.n(), frame.width(), frame.has_header()), (3, 1, false));
    assert_eq!(values(frame), Values::F64(doubles.to_vec()));
    assert!(bytes.windows(4).any(|w| w == b"(3,)"), "NumPy's spelling of one dimension");
}

#[test]
fn npy_types_and_orders_give_the_same_values() {
    for (kind, order, data) in [("|u1", "False", [1, 2, 3, 4]), ("|u1", "True", [1, 3, 2, 4])] {
        let bytes = array(kind, order, "(2, 2)", &data);
        assert_eq!(values(npy(&bytes).unwrap()), Values::U8(vec![1, 2, 3, 4]));
    }
    let expected = Values::F64(vec![1.0, 2.0, 3.0, 4.0]);
    let shorts: Vec<u8> = [1i16, 2, 3, 4].iter().flat_map(|x| x.to_be_bytes()).collect();
    let longs: Vec<u8> = [1i64, 3, 2, 4].iter().flat_map(|x| x.to_le_bytes()).collect();
    for bytes in [array(">i2", "False", "(2, 2)", &shorts), array("<i8", "True", "(2, 2)", &longs)] {
        assert_eq!(values(npy(&bytes).unwrap()), expected);
    }
}

#[test]
fn malformed_npy_is_refused() {
    let good = array("<f8", "False", "(2, 2)", &[0; 32]);
    for (bytes, words) in [
        (b"\x93NUMPX\x01\x00".to_vec(), "does not begin with"),
        (b"\x93NUMPY\x09\x00".to_vec(), "version"),
        (b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "header is cut short"),
        (good[..good.len() - 1].to_vec(), "the file is cut short"),
        (array("<f8", "False", "(9223372036854775807, 9)", &[]), "too large"),
        (array("<f8", "False", "(0, 2)", &[]), "0 rows"),
        (array("<f8", "False", "(1, 2, 2)", &[0; 32]), "3 dimensions"),
        (array("<c16", "False", "(1, 2)", &[0; 32]), "are not read"),
        (array("<f8", "False", "[1, 2]", &[0; 32]), "no shape"),
        (array("O", "False", "(1,)", &[0; 8]), "are not numbers"),
        (Vec::new(), "does not begin with"),
    ] {
        let message = npy(&bytes).unwrap_err();
        assert!(message.starts_with("a.npy: ") && message.contains(words), "{words}: {message}");
    }
    let nan: Vec<u8> = [1.0, f64::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
    let frame = npy(&array("<f8", "False", "(1, 2)", &nan)).unwrap();
    let message = Prepare::default().fit(frame).unwrap_err().to_string();
    assert!(message.contains("row 1, column 2: the value is missing"), "{message}");
}

/// 3 x 3, symmetric, one empty off-diagonal pair.
const INDPTR: [usize; 4] = [0, 2, 5, 7];
const INDICES: [u32; 7] = [0, 1, 0, 1, 2, 1, 2];
const DATA: [f64; 7] = [1.0, 0.25, 0.25, 1.0, 0.125, 0.125, 1.0];

fn kernel() -> Csr<'static> {
    Csr { columns: 3, indptr: &INDPTR, indices: &INDICES, data: &DATA }
}

fn expected() -> Similarity {
    Similarity { n: 3, indptr: INDPTR.to_vec(), indices: INDICES.to_vec(), data: DATA.to_vec() }
}

#[test]
fn similarities_round_trip_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write::to_file(path("k.npz"), |out| write::csr_npz(out, &kernel())).unwrap();
    write::to_file(path("k.mtx"), |out| write::csr_mtx(out, &kernel())).unwrap();
    let dense: Vec<f64> = (0..9).map(|i| expected().get(i / 3, i % 3)).collect();
    write::to_file(path("k.npy"), |out| write::npy(out, &dense, &[3, 3])).unwrap();
    let column = |at: usize| write::Column {
        name: ["a", "b", "c"][at].into(),
        cells: write::Cells::Doubles(dense.iter().skip(at).step_by(3).copied().collect()),
    };
    write::to_file(path("k.csv"), |out| {
        let mut table = write::text_writer(out, b',');
        table.write(&[column(0), column(1), column(2)])?;
        table.finish()
    })
    .unwrap();
    for name in ["k.npz", "k.mtx", "k.npy", "k.csv"] {
        assert_eq!(read_similarity(path(name), &ReadOptions::default()).unwrap(), expected(), "{name}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 4, "no temporary file stays");
}

#[test]
fn matrix_market_forms_are_read_or_refused() {
    let read = |text: &str| {
        read_similarity_bytes(text.as_bytes().to_vec(), "k.mtx", &ReadOptions::default())
            .map_err(|e| e.to_string())
    };
    let general = "%%MatrixMarket matrix coordinate real general\n% note\n3 3 7\n1 1 1\n1 2 .25\n2 1 .25\n2 2 1\n\
                   2 3 .125\n3 2 .125\n3 3 1\n";
    assert_eq!(read(general).unwrap(), expected());
    let array = "%%MatrixMarket matrix array real symmetric\n3 3\n1\n.25\n0\n1\n.125\n1\n";
    assert_eq!(read(array).unwrap(), expected());
    for (text, words) in [
        ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "complex"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1\n", "symmetric"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", "outside"),
        (
            "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n",
            "announces 2 entries, the file has 1",
        ),
        ("%%MatrixMarket matrix coordinate real general\n2 3 0\n", "square"),
        ("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 -1\n", "not negative"),
        (
            "%%MatrixMarket matrix coordinate real general\n999999999999 999999999999 0\n",
            "more than the limit",
        ),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n", "fewer"),
        ("%%MatrixMarket matrix array real general\n1 1\n1\n1\n", "more"),
        ("%%MatrixMarket matrix coordinate real general\n", "sizes"),
        ("%%MatrixMarket matrix coordinate real general\nx y z\n", "3 numbers"),
    ] {
        let message = read(text).unwrap_err();
        assert!(message.contains(words), "{text:?}: {message}");
    }
}

#[test]
fn malformed_similarities_are_refused() {
    let read = |bytes: &[u8], format| {
        read_similarity_bytes(bytes.to_vec(), "k", &options(format)).unwrap_err().to_string()
    };
    assert!(read(b"1,2\n3,4\n5,6\n", Format::Text).contains("3 x 2"));
    assert!(read(b"1,0.5\n0.4,1\n", Format::Text).contains("symmetric"));
    assert!(read(b"1,x\nx,1\n", Format::Text).contains("\"x\" is not a number"));
    assert!(read(b"1,NA\nNA,1\n", Format::Text).contains("finite"));
    assert!(read(b"PK\x03\x04rubbish", Format::Npz).contains("not an .npz archive"));
    assert!(read(b"PAR1", Format::Parquet).contains(".csv, .npy, .npz or .mtx"));
    let message = read_frame_bytes(b"%%MatrixMarket".to_vec(), "k", &ReadOptions::default()).unwrap_err();
    assert!(message.to_string().contains("--precomputed"));
}

/// Writes a table of one batch.
fn table(
    out: &mut (impl Write + std::io::Seek + Send),
    format: Format,
    columns: &[write::Column<'_>],
) -> std::io::Result<()> {
    let mut table = write::table_writer(out, format)?;
    table.write(columns)?;
    table.finish()
}

#[test]
fn labels_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.csv");
    let rows = [2, 3, 5];
    let labels = |format: Format| {
        let integers = |cells: &[i64]| write::Cells::Integers(cells.iter().copied().map(Some).collect());
        let columns = [
            write::Column { name: "row".into(), cells: integers(&[2, 3, 5]) },
            write::Column { name: "cluster".into(), cells: integers(&[0, 1, 0]) },
            write::Column { name: "confidence".into(), cells: write::Cells::Doubles(vec![1.0, 0.5, 0.75]) },
        ];
        write::to_file(&path, |out| table(out, format, &columns)).unwrap();
    };
    labels(Format::Text);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "row,cluster,confidence\n2,0,1\n3,1,0.5\n5,0,0.75\n");
    let read = read_labels(&path, None, &ReadOptions::default()).unwrap();
    assert_eq!((read.rows, read.labels.codes), (Some(rows.to_vec()), vec![0, 1, 0]));
}

#[cfg(all(feature = "arrow", feature = "parquet"))]
#[test]
fn a_copied_table_keeps_names_types_gaps_and_text() {
    let text = "id,x,name,year\n1,0.1,\"a, b\",2019\n2,,c,\n3,-2.5,,2021\n";
    let frame = read_frame_bytes(text.as_bytes().to_vec(), "t.csv", &options(Format::Text)).unwrap();
    let columns = frame.columns(1).unwrap();
    assert_eq!(columns.len(), 3);
    let columns = frame.columns(0).unwrap();
    assert!(matches!(columns[3].cells, write::Cells::Integers(_)));
    for format in [Format::Text, Format::Parquet, Format::Arrow] {
        let mut out = Cursor::new(Vec::new());
        table(&mut out, format, &columns).unwrap();
        let again = read_frame_bytes(out.into_inner(), "copy", &options(format)).unwrap();
        assert_eq!(format!("{:?}", again.columns(0).unwrap()), format!("{columns:?}"), "{format:?}");
    }
    let refused = table(&mut Cursor::new(Vec::new()), Format::Npy, &columns).unwrap_err().to_string();
    assert!(refused.contains("\"name\" holds text"), "{refused}");
    let mut out = Cursor::new(Vec::new());
    table(&mut out, Format::Npy, &columns[..2]).unwrap();
    let again = read_frame_bytes(out.into_inner(), "copy", &options(Format::Npy)).unwrap();
    assert_eq!((again.n(), again.width(), again.number(2, 1)), (3, 2, -2.5));
    assert!(again.number(1, 1).is_nan());
    let large = read_frame_bytes(b"id,x\n9007199254740993,1.5\n".to_vec(), "t.csv", &options(Format::Text));
    let refused = large.unwrap().columns(0).unwrap_err().to_string();
    assert!(refused.contains("column 1 \"id\" holds whole numbers of 2^53 and more"), "{refused}");
}

#[test]
fn labels_of_an_earlier_run_are_recognised_by_their_form() {
    let earlier = |text: &str| {
        read_frame_bytes(text.as_bytes().to_vec(), "t", &options(Format::Text)).unwrap().earlier_labels()
    };
    assert_eq!(earlier("x,cluster\n1,0\n2,1\n3,0\n4,2\n"), 1);
    assert_eq!(earlier("x,cluster\n1,\n2,0\n3,1\n"), 1, "a row that was left out");
    assert_eq!(earlier("x,cluster,confidence\n1,0,0.5\n2,1,1\n"), 2);
    assert_eq!(earlier("x,cluster\n1,1\n2,0\n"), 0, "not in order of first appearance");
    assert_eq!(earlier("x,cluster\n1,0\n2,2\n"), 0, "a cluster is skipped");
    assert_eq!(earlier("x,cluster\n1,0.5\n2,1\n"), 0);
    assert_eq!(earlier("cluster,x\n0,1\n1,2\n"), 0, "not the last column");
    assert_eq!(earlier("x,cluster,confidence\n1,0,7\n2,1,1\n"), 0);
}

#[test]
fn failed_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    std::fs::write(&path, "old").unwrap();
    let failed = write::to_file(&path, |out| {
        out.write_all(b"new")?;
        Err(std::io::Error::other("the disk is full"))
    });
    assert!(failed.unwrap_err().to_string().ends_with("out.csv: the disk is full"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = folder.path().join("no/such/out.csv");
    assert!(write::to_file(&nowhere, |_| Ok(())).unwrap_err().to_string().contains("no such file"));
    assert!(write::to_file(folder.path(), |_| Ok(())).unwrap_err().to_string().contains("is a folder"));
}

#[test]
fn appended_column_keeps_the_rest_of_the_file() {
    // In batches of one row, of two and of all.
    let append = |text: &str, replaced: usize| {
        let options = ReadOptions::default();
        let copies = [1, 2, 100].map(|rows| {
            let mut out = Vec::new();
            let mut batches = read_batches_bytes(text.as_bytes().into(), "in.csv", &options, rows).unwrap();
            let lines = write::CopiedLines { dialect: batches.dialect().unwrap(), replaced };
            let added = |before: usize| {
                let value = move |row: usize| (before + row != 1).then(|| ((before + row) * 10).to_string());
                [write::AddedColumn { name: "cluster", cell: Box::new(value) }]
            };
            lines.header(&mut out, batches.header(), &added(0)).unwrap();
            for batch in &mut batches {
                let batch = batch.unwrap();
                assert!(batch.frame.n() <= rows);
                lines.rows(&mut out, &batch.text, &added(batch.frame.before())).unwrap();
            }
            String::from_utf8(out).unwrap()
        });
        assert!(copies.iter().all(|copy| *copy == copies[0]), "{copies:?}");
        copies[0].clone()
    };
    assert_eq!(append("a,b\r\n1,2\r\n\r\n3,4\r\n5,6", 0), "a,b,cluster\r\n1,2,0\r\n3,4,\r\n5,6,20\n");
    assert_eq!(append("1 2\n3 4\n5 6\n", 0), "1 2 0\n3 4 NA\n5 6 20\n");
    assert_eq!(append("n,x\n\"a\nb\",1\nc,2\n", 0), "n,x,cluster\n\"a\nb\",1,0\nc,2,\n");
    assert_eq!(append("n|x\n\"a\n|b\"|1,5\nc|2\n", 0), "n|x|cluster\n\"a\n|b\"|1,5|0\nc|2|\n");
    assert_eq!(append("a;cluster;confidence\n1;0;0.5\n2;;\n", 2), "a;cluster\n1;0\n2;\n");
    assert_eq!(append("x cluster \n1 0\n2  1 \n", 1), "x cluster\n1 0\n2  NA\n");
    let frame = read_frame_bytes("a,b\n1,2\n".into(), "t", &ReadOptions::default()).unwrap();
    let lines = write::CopiedLines { dialect: frame.dialect().unwrap(), replaced: 0 };
    let full = lines.rows(&mut Cursor::new([0u8; 2]), b"1,2\n", &[]);
    assert_eq!(full.unwrap_err().kind(), ErrorKind::WriteZero, "the error is that of the output");
}

/// Parquet and Arrow as pyarrow writes them; fixtures/columnar.py made the files.
#[cfg(all(feature = "arrow", feature = "parquet"))]
mod columnar {
    use rpfcluster_data::read_frame;

    use super::*;

    const MIXED: [(&str, &[u8]); 3] = [
        ("mixed.parquet", include_bytes!("fixtures/mixed.parquet")),
        ("mixed.feather", include_bytes!("fixtures/mixed.feather")),
        ("mixed.arrows", include_bytes!("fixtures/mixed.arrows")),
    ];

    fn read(bytes: &[u8], name: &str) -> Frame {
        read_frame_bytes(bytes.to_vec(), name, &ReadOptions::default()).unwrap()
    }

    #[test]
    fn parquet_feather_and_arrow_stream_give_the_same_frame() {
        for (name, bytes) in MIXED {
            let frame = read(bytes, name);
            assert_eq!((frame.n(), frame.width()), (3, 6), "{name}");
            assert_eq!(frame.names(), ["x", "i", "b", "s", "d", "t"]);
            assert_eq!((frame.number(0, 0), frame.number(2, 1), frame.number(1, 2)), (0.5, 3.0, 0.0));
            assert!(frame.number(1, 0).is_nan());
            assert_eq!((frame.text(1, 3), frame.text(2, 3), frame.text(1, 4)), (Some("v"), None, Some("q")));
            let message = Prepare { drop: vec!["s".into(), "d".into()], ..Prepare::default() }
                .fit(frame.clone())
                .unwrap_err()
                .to_string();
            assert!(message.contains("column 6 \"t\" holds timestamps; drop it with --drop t"), "{message}");
            let prepare = Prepare {
                columns: vec!["i".into(), "b".into()],
                label: Some("d".into()),
                ..Prepare::default()
            };
            let (table, _) = prepare.fit(frame).unwrap();
            assert_eq!(table.values, Values::F64(vec![1., 1., 2., 0., 3., 1.]));
            assert_eq!(table.labels.unwrap().codes, [0, 1, 0]);
        }
    }

    #[test]
    fn every_type_of_number_keeps_its_value() {
        let files: [(&str, &[u8]); 2] = [
            ("numbers.parquet", include_bytes!("fixtures/numbers.parquet")),
            ("numbers.feather", include_bytes!("fixtures/numbers.feather")),
        ];
        for (name, bytes) in files {
            let frame = read(bytes, name);
            assert_eq!((frame.n(), frame.width()), (2, 10), "{name}");
            let row = |row: usize| -> Vec<f64> { (0..7).map(|column| frame.number(row, column)).collect() };
            let largest = (u64::MAX - 2047) as f64;
            assert_eq!(
                row(0),
                [0.5, f64::from(0.1f32), -1.0, 255.0, 4_294_967_295.0, largest, -1.25],
                "{name}"
            );
            assert_eq!(row(1), [-1.5, f64::from(0.2f32), 2.0, 2.0, 2.0, 2.0, 3.5], "{name}");
            assert!(frame.number(0, 7).is_nan() && frame.text(0, 7).is_none(), "{name}: a column of gaps");
            for column in [8, 9] {
                let text = frame.text(0, column).unwrap();
                assert!(text.starts_with("a value of type "), "{name}: {text}");
            }
            assert_eq!(frame.text(1, 9), None, "{name}: a missing date");
        }
    }

    #[test]
    fn categorical_column_without_values_is_all_gaps() {
        let frame = read(include_bytes!("fixtures/gaps.feather"), "gaps");
        assert_eq!((frame.text(0, 1), frame.number(1, 0)), (None, 2.0));
    }

    #[test]
    fn single_precision_is_kept() {
        let frame = read(include_bytes!("fixtures/singles.parquet"), "singles");
        let (table, _) = Prepare { label: Some("s".into()), ..Prepare::default() }.fit(frame).unwrap();
        assert_eq!(table.values, Values::F32(vec![0.1, 0.3, 0.2, 0.4]));
    }

    #[test]
    fn kernel_is_written_as_a_table_of_entries() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.parquet");
        write::to_file(&path, |out| write::csr_parquet(out, &kernel())).unwrap();
        let frame = read_frame(&path, &ReadOptions::default()).unwrap();
        assert_eq!((frame.names().join(","), frame.n()), ("i,j,s".to_string(), 7));
        assert_eq!([frame.number(4, 0), frame.number(4, 1), frame.number(4, 2)], [1.0, 2.0, 0.125]);
    }

    #[test]
    fn truncated_files_are_refused_and_damaged_ones_keep_their_shape_or_are_refused() {
        for (bytes, format) in [(MIXED[0].1, Format::Parquet), (MIXED[1].1, Format::Arrow)] {
            for cut in (0..bytes.len()).step_by(7) {
                let read = read_frame_bytes(bytes[..cut].to_vec(), "p", &options(format));
                assert!(read.is_err(), "{format:?} cut at {cut}");
            }
            for at in (0..bytes.len()).step_by(3) {
                let mut bytes = bytes.to_vec();
                bytes[at] ^= 0x55;
                if let Ok(frame) = read_frame_bytes(bytes, "p", &options(format)) {
                    let shape = (frame.n(), frame.width());
                    assert!(shape.0 <= 3 && shape.1 == 6, "{format:?} changed at {at}: {shape:?}");
                }
            }
        }
        let message = read_frame_bytes(b"nonsense".to_vec(), "p", &options(Format::Parquet)).unwrap_err();
        assert!(message.to_string().contains("is not a Parquet file"), "{message}");
        let message = read_frame_bytes(b"FEA1....".to_vec(), "p", &options(Format::Arrow)).unwrap_err();
        assert!(message.to_string().contains("version 1"), "{message}");
    }
}

/// A format that is compiled out names its cargo feature.
#[test]
fn missing_feature_is_named() {
    for (format, feature, is_built) in [
        (Format::Parquet, "`parquet`", cfg!(feature = "parquet")),
        (Format::Arrow, "`arrow`", cfg!(feature = "arrow")),
    ] {
        let message = read_frame_bytes(b"x".to_vec(), "p", &options(format)).unwrap_err().to_string();
        assert_eq!(message.contains(feature), !is_built, "{message}");
    }
}

proptest::proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), which in 0usize..5) {
        let (mark, format): (&[u8], Format) = [
            (&b"\x93NUMPY\x01\x00"[..], Format::Npy),
            (b"%%MatrixMarket matrix coordinate real general\n", Format::Mtx),
            (b"PK\x03\x04", Format::Npz),
            (b"PAR1", Format::Parquet),
            (b"ARROW1", Format::Arrow),
        ][which];
        let bytes = [mark, &bytes].concat();
        let _ = read_frame_bytes(bytes.clone(), "x", &options(format));
        let _ = read_similarity_bytes(bytes, "x", &options(format));
    }

    #[test]
    fn random_header_never_panics(header in "[{}'a-z:,_()0-9<>|f ]{0,80}", tail in 0usize..64) {
        let mut bytes = Cursor::new(Vec::new()).into_inner();
        bytes.extend(b"\x93NUMPY\x01\x00");
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(vec![1u8; tail]);
        let _ = npy(&bytes);
    }
}
