//! Workbooks of Excel: sheets, kinds of cells, and what damaged and hostile ones can make of the memory.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail loudly")]
#![cfg(feature = "excel")]

use std::path::PathBuf;

use rpfcluster_data::{
    Format, Frame, Prepare, ReadOptions, read_batches, read_frame, read_frame_bytes, read_labels,
};

#[path = "../../../fuzz/targets/archive.rs"]
#[allow(missing_docs, unreachable_pub)]
mod archive;

use archive::archive;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/workbook.xlsx")
}

fn sheet(name: &str) -> ReadOptions {
    ReadOptions { sheet: Some(name.to_string()), ..Default::default() }
}

fn read(options: &ReadOptions) -> Result<Frame, String> {
    read_frame(path(), options).map_err(|e| e.to_string())
}

/// A workbook whose parts are these; see the fuzz target.
fn of_parts(parts: &[&str]) -> Result<Frame, String> {
    let bytes = archive(parts.join("\0").as_bytes());
    let options = ReadOptions { memory: Some(64 << 20), ..Default::default() };
    read_frame_bytes(bytes, "t", &options).map_err(|e| e.to_string())
}

#[test]
fn the_first_visible_sheet_is_read_unless_another_is_named() {
    let frame = read(&ReadOptions::default()).unwrap();
    assert_eq!(frame.names(), ["x", "y"]);
    assert_eq!((frame.number(0, 0), frame.number(0, 1), frame.number(1, 1)), (0.1, 1e-300, -3.5));
    assert_eq!(frame.dialect().unwrap().to_string(), "a table with a header");
    let (table, _) = Prepare::default().fit(frame).unwrap();
    assert_eq!(table.source, format!("{}, sheet \"plain\" (2 of 4)", path().display()));
    let bare = read(&ReadOptions { header: Some(false), ..sheet("hidden") }).unwrap();
    assert_eq!((bare.n(), bare.number(0, 1)), (1, 2.0));
    assert_eq!(read(&sheet("2")).unwrap().names(), ["x", "y"]);
    let unknown = read(&sheet("5")).unwrap_err();
    let said = "has no sheet \"5\"; there are \"hidden\", \"plain\", \"mixed, all kinds\", \"nothing\"";
    assert!(unknown.ends_with(said), "{unknown}");
    let empty = read(&sheet("nothing")).unwrap_err();
    assert!(
        empty.ends_with("sheet \"nothing\" (4 of 4): the sheet is empty; choose another with --sheet"),
        "{empty}"
    );
}

#[test]
fn cells_of_all_kinds_become_numbers_texts_and_gaps() {
    let frame = read(&sheet("mixed, all kinds")).unwrap();
    assert_eq!(frame.names(), ["x", "yes", "name", "day", "rate"]);
    assert_eq!(frame.n(), 3, "a blank row is no row");
    let numbers = |column: usize| (0..3).map(|row| frame.number(row, column)).collect::<Vec<f64>>();
    let texts = |column: usize| (0..3).map(|row| frame.text(row, column)).collect::<Vec<_>>();
    assert_eq!(numbers(0), [1.5, -2.0, 7.0], "a number that is stored as text too");
    assert_eq!(numbers(1)[..2], [1.0, 0.0]);
    assert_eq!(texts(2), [Some("say \"a\", b"), Some("two lines"), Some("c")]);
    assert_eq!(texts(3), [Some("2024-02-29"), Some("2024-03-01 13:05:09"), Some("06:00:00")]);
    // A formula that no program has computed yet, an error, and nothing.
    assert!((0..3).all(|row| frame.number(row, 4).is_nan() && frame.text(row, 4).is_none()));
    assert_eq!(frame.place(2).to_string(), "row 3 (line 8)", "the row of the sheet");
}

#[test]
fn batches_and_labels_come_from_sheets_too() {
    let whole = read(&ReadOptions::default()).unwrap();
    let batches: Vec<_> =
        read_batches(path(), &ReadOptions::default(), 1).unwrap().map(|b| b.unwrap().frame).collect();
    assert_eq!(batches.len(), 2);
    for (row, batch) in batches.iter().enumerate() {
        assert_eq!((batch.n(), batch.number(0, 1)), (1, whole.number(row, 1)));
    }
    let found = read_labels(path(), Some(&"name".into()), &sheet("mixed, all kinds")).unwrap();
    assert_eq!(found.labels.names.len(), 3);
    let packed = tempfile::tempdir().unwrap();
    let path_of_copy = packed.path().join("no-extension");
    std::fs::copy(path(), &path_of_copy).unwrap();
    let copy = read_frame(&path_of_copy, &ReadOptions::default()).unwrap();
    assert_eq!((copy.names(), copy.number(1, 1)), (whole.names(), -3.5));
}

#[test]
fn what_is_no_table_is_refused_in_one_sentence() {
    let cells = |cells: &str| format!("<worksheet><sheetData>{cells}</sheetData></worksheet>");
    let one = |row: usize, place: &str| format!("<row r=\"{row}\"><c r=\"{place}\"><v>1</v></c></row>");
    assert_eq!(of_parts(&[&cells(&one(1, "A1"))]).unwrap().number(0, 0), 1.0);
    let far = of_parts(&[&cells(&(one(1, "A1") + &one(1_048_576, "XFD1048576")))]).unwrap();
    assert_eq!((far.n(), far.width(), far.number(1, 16_383)), (2, 16_384, 1.0));
    let column: String = (1..20_000).map(|row| one(row, &format!("A{row}"))).collect();
    for (parts, said) in [
        (cells(""), "t: the sheet is empty; choose"),
        (cells(&(one(3, "A3") + &one(2, "A2"))), "row 2 of the sheet comes too late or has a cell twice"),
        (cells(&(one(1, "A1") + &one(1, "A1"))), "row 1 of the sheet comes too late or has a cell twice"),
        (cells("<row><c></row>"), "is not a readable workbook"),
        ("<worksheet>".to_string(), "is not a readable workbook"),
        ("<chartsheet/>".to_string(), "is not a readable workbook"),
        (cells(&(column + &one(1_048_576, "XFD1048576"))), "of memory, but --memory-limit allows"),
    ] {
        let error = of_parts(&[&parts]).unwrap_err();
        assert!(error.starts_with("t: ") && error.contains(said) && !error.contains('\n'), "{error}");
    }
    let bytes = std::fs::read(path()).unwrap();
    for length in (0..bytes.len()).step_by(97) {
        let excel = ReadOptions { format: Some(Format::Excel), ..Default::default() };
        assert!(read_frame_bytes(bytes[..length].to_vec(), "t", &excel).is_err(), "{length} bytes");
    }
}

/// Small files that become large: what they state, copy and repeat.
#[test]
fn memory_is_refused_before_it_is_taken() {
    let sheet = "<worksheet><sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row></sheetData></worksheet>";
    let texts = "<sst count=\"1\" uniqueCount=\"1\"><si><t>a</t></si></sst>";
    let styles = |name: usize, formats: usize| {
        let name = "S".repeat(name);
        let formats = "<xf fontId='0'></xf>".repeat(formats);
        format!(
            "<styleSheet><fonts><font><name val='{name}'/></font></fonts><cellXfs>{formats}</cellXfs></styleSheet>"
        )
    };
    let sheets = |path: usize, sheets: usize| {
        let path = "w".repeat(path);
        let sheets = "<sheet name='s' r:id='r'/>".repeat(sheets);
        let relation = format!(
            "<Relationships><Relationship Id='r' Target='{path}' Type='x/worksheet'/></Relationships>"
        );
        [format!("<workbook><sheets>{sheets}</sheets></workbook>"), relation]
    };
    let of_styles = of_parts(&[sheet, texts, &styles(100, 100)]);
    assert_eq!(of_styles.unwrap().n(), 1);
    let [book, relations] = sheets(50_000, 5_000);
    let counted = |count: &str| format!("<sst count='1' uniqueCount = '{count}'><si><t>a</t></si></sst>");
    let rows = format!("<sst>{}", counted("9223372036854775807"));
    let names = format!("<workbook><definedNames>{}", "<definedName name='a'></definedName>".repeat(200_000));
    let long = format!("<worksheet><sheetData><row><c t='str'><v>{}</v></c></row>", "x".repeat(30_000_000));
    for parts in [
        vec![rows],
        vec![names],
        vec![long],
        vec![sheet.to_string(), counted("9223372036854775807")],
        vec![sheet.to_string(), counted("3000000")],
        vec![sheet.to_string(), format!("<sst>{}</sst>", "<si/>".repeat(1_000_000))],
        vec![sheet.to_string(), texts.to_string(), styles(50_000, 5_000)],
        vec![sheet.to_string(), texts.to_string(), styles(10, 10), book, relations],
    ] {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let error = of_parts(&parts).unwrap_err();
        assert!(error.contains("of memory, but --memory-limit allows"), "{error}");
    }
}

#[test]
fn numbers_are_written_as_a_table_of_text_has_them() {
    let cells = |cells: &[&str]| {
        let rows = cells.iter().map(|row| {
            let cells = row.split(' ').map(|value| match value {
                "-" => "<c/>".to_string(),
                "!" => "<c t=\"e\"><v>#N/A</v></c>".to_string(),
                value => format!("<c><v>{value}</v></c>"),
            });
            format!("<row>{}</row>", cells.collect::<String>())
        });
        format!("<worksheet><sheetData>{}</sheetData></worksheet>", rows.collect::<String>())
    };
    let years = of_parts(&[&cells(&["2019 2020 2021", "1.5 2.5 3.5", "4 5 6"])]).unwrap();
    assert_eq!((years.names().join(" "), years.n()), ("2019 2020 2021".to_string(), 2));
    let gap = of_parts(&[&cells(&["1", "!", "3"])]).unwrap();
    assert_eq!((gap.n(), gap.number(1, 0).is_nan()), (3, true), "a missing value is a row");
}

#[test]
fn what_is_not_the_format_of_its_name_is_told_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let error = |bytes: &[u8]| {
        let path = folder.path().join("t.xlsx");
        std::fs::write(&path, bytes).unwrap();
        read_frame(path, &ReadOptions::default()).unwrap_err().to_string()
    };
    let compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    let password =
        [&compound[..], &[0; 100_000], b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"].concat();
    for (bytes, said) in [
        (b"x,y\n1,2\n".to_vec(), "is not a workbook of Excel; give its format with --format"),
        (compound, "with pandas and xlrd installed"),
        (password, "is protected by a password; save it without one"),
        (b"PK\x03\x04xl/workbook.bin [Content_Types].xml".to_vec(), "with pandas and pyxlsb installed"),
    ] {
        let error = error(&bytes);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn hints_suggest_no_option_that_a_sheet_does_not_heed() {
    let texts = |rows: &[&str]| {
        let cell = |text: &str| format!("<c t=\"str\"><v>{text}</v></c>");
        let rows =
            rows.iter().map(|row| format!("<row>{}</row>", row.split('|').map(cell).collect::<String>()));
        let sheet = format!("<worksheet><sheetData>{}</sheetData></worksheet>", rows.collect::<String>());
        Prepare::default().fit(of_parts(&[&sheet]).unwrap()).unwrap_err().to_string()
    };
    let commas = texts(&["a|b", "1,5|2", "2,5|3", "1,5|4"]);
    assert!(commas.contains("make it numbers in the file") && !commas.contains("--decimal"), "{commas}");
    let pasted = texts(&["a;b", "1;2", "3;4", "5;6"]);
    assert!(!pasted.contains("--delimiter"), "{pasted}");
}

#[test]
fn one_column_of_labels_is_read_as_the_same_lines_of_text() {
    let folder = tempfile::tempdir().unwrap();
    let labels = |rows: &[&str]| {
        let rows = rows.iter().map(|text| format!("<row><c t=\"str\"><v>{text}</v></c></row>"));
        let sheet = format!("<worksheet><sheetData>{}</sheetData></worksheet>", rows.collect::<String>());
        let path = folder.path().join("labels.xlsx");
        std::fs::write(&path, archive(sheet.as_bytes())).unwrap();
        read_labels(&path, None, &ReadOptions::default()).unwrap().labels.codes.len()
    };
    assert_eq!(labels(&["x", "a", "a", "b"]), 4);
    assert_eq!(labels(&["x", "a", "a", "b", "b"]), 4, "x is the name of the column");
    assert_eq!(labels(&["class", "a b", "c d"]), 2);
}
