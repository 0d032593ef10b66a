//! Tables that cannot be used as they are: the message suggests only what works.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use rpfcluster_data::{Format, Frame, Prepare, ReadOptions, read_frame_bytes};

fn read(bytes: impl Into<Vec<u8>>) -> Result<Frame, String> {
    read_frame_bytes(bytes.into(), "t", &ReadOptions::default()).map_err(|e| e.to_string())
}

#[test]
fn columns_that_name_the_rows_are_not_suggested_as_categories() {
    let error = |header: &str, row: &dyn Fn(usize) -> String| {
        let rows: String = (0..30).map(|i| row(i) + "\n").collect();
        Prepare::default().fit(read(format!("{header}\n{rows}")).unwrap()).unwrap_err().to_string()
    };
    let message = error("x,name,site", &|i| format!("{i},n{i},{}", ["a", "b"][i % 2]));
    let said = "; use those with few values as categories with --categorical site or drop them with --drop name,site";
    assert!(message.ends_with(said), "{message}");
    let message = error("x,name,mail", &|i| format!("{i},n{i},m{i}"));
    assert!(message.ends_with("(\"n0\" in row 1 (line 2)); drop them with --drop name,mail"), "{message}");
    let message = error("x,name", &|i| format!("{i},n{i}"));
    let said = "; drop it with --drop name or use it as labels with --label name";
    assert!(message.ends_with(said) && !message.contains("--categorical"), "{message}");
}

#[test]
fn files_of_spreadsheets_and_databases_are_refused_with_a_remedy() {
    let archive = |part: &str| [b"PK\x03\x04\x14\0\x06\0", part.as_bytes()].concat();
    let duck = [&[0u8; 8][..], b"DUCK\xe7\x03\0\0"].concat();
    for (bytes, words) in [
        (archive("[Content_Types].xml"), "is a spreadsheet, which is not read; save the sheet as CSV"),
        (archive("docProps/app.xml"), "is a spreadsheet, which is not read; save the sheet as CSV"),
        (archive("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"), "is a spreadsheet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0".to_vec(), "is a spreadsheet"),
        (b"SQLite format 3\0\x10\0".to_vec(), "SELECT * FROM NAME"),
        (
            b"SQLite format 3\0..CREATE TABLE b(x)..CREATE TABLE sqlite_sequence(n)..CREATE TABLE a (x)"
                .to_vec(),
            "SELECT * FROM a\" | rpf cluster -",
        ),
        (b"SQLite format 3\0..CREATE TABLE \"my table\"(x)".to_vec(), "SELECT * FROM NAME"),
        (duck, "COPY (FROM NAME) TO"),
        (archive("table.csv"), "is a zip archive, which is not read; unpack it, or pipe"),
        (archive("data.npy"), "holds a matrix"),
    ] {
        let error = read(bytes.clone()).unwrap_err();
        assert!(error.contains(words), "{bytes:?}: {error}");
    }
    // A spreadsheet under the name of a text file.
    let text = ReadOptions { format: Some(Format::Text), ..Default::default() };
    let error = read_frame_bytes(archive("[Content_Types].xml"), "t.csv", &text).unwrap_err().to_string();
    assert!(error.contains("is a spreadsheet"), "{error}");
    assert_eq!(read("a,b,c,d\nDUCK,1,2,3\n").unwrap().n(), 1);
}
