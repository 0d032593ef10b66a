//! Rows of embeddings: lists of numbers as columns, half precision and bytes without widening; JSON.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use rpfcluster::f16;
use rpfcluster_data::{
    Format, Frame, Missing, Prepare, ReadOptions, Selection, Standardize, Table, Values, read_frame_bytes,
};

fn read(bytes: &[u8], format: Format) -> Result<Frame, String> {
    let options = ReadOptions { format: Some(format), ..Default::default() };
    read_frame_bytes(bytes.to_vec(), "x", &options).map_err(|e| e.to_string())
}

fn rows(frame: &Frame) -> Vec<Vec<f64>> {
    let row = |i| (0..frame.width()).map(|j| frame.number(i, j)).collect();
    (0..frame.n()).map(row).collect()
}

fn prepared(frame: Frame, columns: &[&str]) -> Table {
    let columns = columns.iter().map(|name| (*name).into()).collect();
    Prepare { columns, ..Default::default() }.fit(frame).unwrap().0
}

#[cfg(all(feature = "arrow", feature = "parquet"))]
#[test]
fn lists_of_one_length_are_columns_in_parquet_and_arrow() {
    for (format, bytes) in [
        (Format::Parquet, &include_bytes!("fixtures/lists.parquet")[..]),
        (Format::Arrow, &include_bytes!("fixtures/lists.feather")[..]),
    ] {
        let frame = read(bytes, format).unwrap();
        assert_eq!(
            frame.names(),
            [
                "id", "fixed[1]", "fixed[2]", "fixed[3]", "bytes[1]", "bytes[2]", "even[1]", "even[2]",
                "ragged"
            ],
            "{format:?}"
        );
        let found = rows(&frame);
        let expected =
            |row: f64| [row * 0.75, row * 0.75 + 0.25, row * 0.75 + 0.5, 2.0 * row - 4.0, 2.0 * row - 3.0];
        for (i, row) in found.iter().enumerate() {
            assert_eq!(row[1..6], expected(i as f64), "{format:?}");
        }
        assert_eq!(found[0][6..8], [1.5, 2.5]);
        assert_eq!((found[2][6], found[2][7].is_nan()), (3.5, true), "a null in a list is missing");
        for row in [1, 3] {
            assert!(found[row][6].is_nan() && found[row][7].is_nan(), "an empty list and a null are missing");
        }
        assert!(frame.text(0, 8).is_some_and(|text| text.contains("ist")), "{:?}", frame.text(0, 8));
        assert_eq!(frame.text(0, 0), Some("a"));
        let table = prepared(frame, &["fixed[1]", "bytes[2]"]);
        assert_eq!(table.values, Values::F32(vec![0.0, -3.0, 0.75, -1.0, 1.5, 1.0, 2.25, 3.0]), "{format:?}");
    }
}

/// An array as NumPy writes it.
fn array(descr: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 2), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn halves_and_bytes_are_kept() {
    // 1, -2, the largest half and the smallest positive one.
    let halves = [0x3c00u16, 0xc000, 0x7bff, 0x0001];
    let expected = Values::F16(halves.iter().map(|bits| f16::from_bits(*bits)).collect());
    assert_eq!(*expected.to_f64(), [1.0, -2.0, 65504.0, 0.5f64.powi(24)]);
    let little: Vec<u8> = halves.iter().flat_map(|x| x.to_le_bytes()).collect();
    let big: Vec<u8> = halves.iter().flat_map(|x| x.to_be_bytes()).collect();
    for (descr, data) in [("<f2", little), (">f2", big)] {
        let frame = read(&array(descr, &data), Format::Npy).unwrap();
        assert_eq!(prepared(frame, &[]).values, expected, "{descr}");
    }
    let signed = read(&array("|i1", &[0, 127, 128, 255]), Format::Npy).unwrap();
    assert_eq!(prepared(signed, &[]).values, Values::I8(vec![0, 127, -128, -1]));
    let unsigned = read(&array("|u1", &[0, 127, 128, 255]), Format::Npy).unwrap();
    assert_eq!(prepared(unsigned, &[]).values, Values::U8(vec![0, 127, 128, 255]));
}

#[test]
fn prepared_halves_and_bytes_become_single_precision() {
    let bytes = || read(&array("|u1", &[0, 10, 4, 10]), Format::Npy).unwrap();
    let scaled = Prepare { standardize: Standardize::Columns(vec!["1".into()]), ..Default::default() };
    let (table, preparation) = scaled.fit(bytes()).unwrap();
    assert_eq!(table.values, Values::F32(vec![-1.0, 10.0, 1.0, 10.0]));
    assert_eq!(preparation.apply(bytes(), &Selection::default()).unwrap().0.values, table.values);
    // NaN, which a model can only take if its rows may have gaps.
    let halves: Vec<u8> = [0x3c00u16, 0x7e00, 0x4000, 0x3c00].iter().flat_map(|x| x.to_le_bytes()).collect();
    let halves = || read(&array("<f2", &halves), Format::Npy).unwrap();
    let refused = Prepare::default().fit(halves()).unwrap_err().to_string();
    assert!(refused.contains("missing"), "{refused}");
    for (missing, expected) in [
        (Missing::Mean, Values::F32(vec![1.0, 1.0, 2.0, 1.0])),
        (Missing::Drop, Values::F16(vec![f16::from_f32(2.0), f16::ONE])),
    ] {
        let (table, _) = Prepare { missing, ..Default::default() }.fit(halves()).unwrap();
        assert_eq!(table.values, expected);
    }
    let (table, _) = Prepare { missing: Missing::Native, ..Default::default() }.fit(halves()).unwrap();
    assert_eq!(table.means, Some(Values::F32(vec![1.5, 1.0])));
    assert!(matches!(table.values, Values::F32(values) if values[1].is_nan()));
}

#[test]
fn json_lines_and_arrays_are_read() {
    let lines = "{\"x\":1.5,\"s\":\"a\",\"b\":true}\n\n{\"s\":\"b\",\"x\":null}\r\n{\"b\":false,\"y\":12345678901234567890}\n";
    let array = "[{\"x\":1.5,\"s\":\"a\",\"b\":true}, {\"s\":\"b\",\"x\":null},\n{\"b\":false,\"y\":12345678901234567890}]";
    for text in [lines, array] {
        // Recognised by its contents, too.
        let frame = read_frame_bytes(text.into(), "x", &ReadOptions::default()).unwrap();
        assert_eq!(frame.names(), ["x", "s", "b", "y"]);
        let found = rows(&frame);
        assert_eq!(
            (found[0][0], found[0][2], found[2][2], found[2][3]),
            (1.5, 1.0, 0.0, 12345678901234567890.0)
        );
        assert!(found[1][0].is_nan() && found[1][2].is_nan() && found[0][3].is_nan());
        assert_eq!([0, 1, 2].map(|row| frame.text(row, 1)), [Some("a"), Some("b"), None]);
    }
}

#[test]
fn json_lists_of_one_length_are_columns() {
    let even = "{\"id\":\"a\",\"e\":[1,2.5]}\n{\"id\":\"b\",\"e\":null}\n{\"id\":\"c\",\"e\":[null,-1]}\n";
    let frame = read(even.as_bytes(), Format::Json).unwrap();
    assert_eq!(frame.names(), ["id", "e[1]", "e[2]"]);
    let found = rows(&frame);
    assert_eq!((found[0][1], found[0][2], found[2][2]), (1.0, 2.5, -1.0));
    assert!(found[1][1].is_nan() && found[2][1].is_nan());
    let ragged = "{\"e\":[1,2],\"x\":1}\n{\"e\":[1],\"x\":2}\n{\"e\":{\"f\":1},\"x\":3}\n";
    let frame = read(ragged.as_bytes(), Format::Json).unwrap();
    assert_eq!(frame.names(), ["e", "x"]);
    assert_eq!(frame.text(1, 0), Some("a value of type list"));
    assert_eq!(frame.text(2, 0), Some("a value of type object"));
}

#[test]
fn json_errors_name_the_row_and_the_line() {
    for (text, message) in [
        ("{\"a\":1}\n\n{\"a\":}\n", "x: row 2 (line 3): is not a JSON object (expected value, character 6)"),
        (
            "{\"a\":1}\n[1]\n",
            "x: row 2: is not a JSON object (invalid type: sequence, expected an object, character 0)",
        ),
        ("{\"a\":1,\"a\":2}\n", "x: row 1: \"a\" occurs twice in the row"),
        ("{\"a\":1} {\"a\":2}\n", "x: row 1: is not a JSON object (trailing characters, character 9)"),
    ] {
        assert_eq!(read(text.as_bytes(), Format::Json).unwrap_err(), message);
    }
    let cut = read(b"[{\"a\":1},", Format::Json).unwrap_err();
    assert!(cut.starts_with("x: is not an array of JSON objects: EOF"), "{cut}");
}
