//! Tables that cannot be used as they are: the message suggests only what works.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use proptest::prelude::*;
use rpfcluster_data::{
    ColumnRef, Format, Frame, Missing, Prepare, ReadOptions, Selection, Values, read_frame_bytes,
};

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
    let compound = |part: &str| [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", part.as_bytes()].concat();
    let duck = [&[0u8; 8][..], b"DUCK\xe7\x03\0\0"].concat();
    for (bytes, words) in [
        (archive("[Content_Types].xml"), "t: is not a readable workbook: "),
        (archive("docProps/app.xml"), "t: is not a readable workbook: "),
        (archive("[Content_Types].xml xl/workbook.bin"), "with pandas and pyxlsb installed"),
        (archive("[Content_Types].xml word/document.xml"), "is a zip archive"),
        (archive("xl/workbook.xml xl/embeddings/a.docx word/document.xml"), "is not a readable workbook"),
        (archive("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"), "pandas and odfpy installed"),
        (compound("\0\0"), "is a spreadsheet of a kind that is not read; save it as .xlsx or .csv, or, with"),
        (compound("E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"), "is protected by a password"),
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
    assert!(
        error.ends_with("is a workbook of Excel, not what its name or --format says; give --format xlsx"),
        "{error}"
    );
    assert_eq!(read("a,b,c,d\nDUCK,1,2,3\n").unwrap().n(), 1);
}

fn error(prepare: &Prepare, text: &str) -> String {
    prepare.fit(read(text).unwrap()).unwrap_err().to_string()
}

fn refs(names: &[&str]) -> Vec<ColumnRef> {
    names.iter().map(|name| ColumnRef::from(*name)).collect()
}

#[test]
#[cfg(all(feature = "arrow", feature = "parquet"))]
fn timestamps_and_structs_are_neither_text_nor_categories_nor_labels() {
    let files: [&[u8]; 2] =
        [include_bytes!("fixtures/mixed.parquet"), include_bytes!("fixtures/mixed.feather")];
    for bytes in files {
        let fit = |prepare: Prepare| prepare.fit(read(bytes).unwrap()).unwrap_err().to_string();
        let drop = refs(&["x", "s", "d"]);
        let said = "t: column 6 \"t\" holds timestamps; drop it with --drop t or turn it into a number, such as days since a \
                    date";
        assert_eq!(fit(Prepare { drop: drop.clone(), ..Prepare::default() }), said);
        let said = "t: column 6 \"t\" holds timestamps, which are not read as names; ";
        let message = fit(Prepare { drop: drop.clone(), categorical: refs(&["t"]), ..Prepare::default() });
        let or = " or store it as text";
        assert_eq!(message, format!("{said}name it in --drop instead of --categorical{or}"));
        let message = fit(Prepare { drop, label: Some("t".into()), ..Prepare::default() });
        assert_eq!(message, format!("{said}leave out --label{or}"));
        let column = ColumnRef::from("t");
        let labels =
            rpfcluster_data::read_labels_bytes(bytes.to_vec(), "t", Some(&column), &ReadOptions::default());
        assert_eq!(labels.unwrap_err().to_string(), format!("{said}take another column{or}"));
        let said = "t: 3 columns hold text or values that are not numbers: 4 \"s\", 5 \"d\", 6 \"t\" (timestamps) (\"u\" in row \
                    1); use those with few values as categories with --categorical s,d or drop them with --drop s,d,t";
        assert_eq!(fit(Prepare::default()), said);
    }
    let objects = "{\"x\":1,\"o\":{},\"l\":[\"a\"]}\n{\"x\":2,\"o\":{},\"l\":[]}\n";
    let said = "t: 2 columns hold neither numbers nor text: 2 \"o\" (objects), 3 \"l\" (lists); drop them with --drop o,l or \
                turn them into numbers";
    assert_eq!(error(&Prepare::default(), objects), said);
    let (_, how) = Prepare::default().fit(read("x,o\n1,2\n3,4\n").unwrap()).unwrap();
    let message =
        how.apply(read("{\"x\":1,\"o\":{}}\n").unwrap(), &Selection::default()).unwrap_err().to_string();
    assert!(message.contains("\"o\" holds objects, but the model was fitted on numbers"), "{message}");
}

#[test]
fn booleans_in_text_are_numbers_in_features_and_names_elsewhere() {
    let text = "x,new,site\n1,True,false\n2,FALSE,true\n3,true,false\n4,true,true\n";
    let (table, how) = Prepare::default().fit(read(text).unwrap()).unwrap();
    assert_eq!(table.values, Values::F64(vec![1., 1., 0., 2., 0., 1., 3., 1., 0., 4., 1., 1.]));
    // Rows with one of the two values, and with numbers instead, get what all rows get.
    for batch in
        ["x,new,site\n3,true,false\n", "x,new,site\n3,1,0\n", "{\"x\":3,\"new\":true,\"site\":false}\n"]
    {
        let (again, _) = how.apply(read(batch).unwrap(), &Selection::default()).unwrap();
        assert_eq!(again.values, Values::F64(vec![3.0, 1.0, 0.0]), "{batch}");
    }
    let named = Prepare { categorical: refs(&["new"]), label: Some("site".into()), ..Prepare::default() };
    let (table, _) =
        named.fit(read("x,new,site\n1,true,False\n2,false,True\n3,true,False\n").unwrap()).unwrap();
    assert_eq!(table.columns, ["x", "new=false", "new=true"]);
    assert_eq!(table.labels.unwrap().names, ["False", "True"]);
    let gap = Prepare { missing: Missing::Mean, ..Prepare::default() };
    let (table, _) = gap.fit(read("x,b\n1,true\n2,\n3,false\n").unwrap()).unwrap();
    assert_eq!(table.values.get(3), 0.5);
    // Any other text makes it a column of text, and is what the message shows.
    let said = "t: column 2 \"new\" holds text (\"maybe\" in row 2 (line 3)); use it as categories with --categorical new, drop \
                it with --drop new or use it as labels with --label new";
    assert_eq!(error(&Prepare::default(), "x,new\n1,true\n2,maybe\n"), said);
    let message =
        how.apply(read("x,new,site\n1,true,no\n").unwrap(), &Selection::default()).unwrap_err().to_string();
    assert!(
        message.contains("holds text (\"no\" in row 1 (line 2)), but the model was fitted on numbers"),
        "{message}"
    );
    let f = read("true,1\nfalse,2\n").unwrap();
    assert_eq!((f.has_header(), f.n()), (false, 2));
}

#[test]
fn a_column_of_numbers_with_few_texts_is_not_suggested_as_categories() {
    let rows = |name: &str| -> String {
        (0..40).map(|i| if i == 6 { format!("{i},-,{name}\n") } else { format!("{i},{i}.5,b\n") }).collect()
    };
    let one = Prepare { drop: refs(&["z"]), ..Prepare::default() };
    let text = format!("x,y,z\n{}", rows("b"));
    let said = "t: column 2 \"y\" holds numbers except in 1 of 40 rows, the first \"-\" in row 7 (line 8); make such cells \
                empty and choose --missing native or drop the column with --drop y";
    assert_eq!(error(&one, &text), said);
    let native = Prepare { missing: Missing::Native, ..one.clone() };
    assert_eq!(native.fit(read(text.replace(",-,", ",,")).unwrap()).unwrap().0.n, 40);
    let said = "t: 2 columns hold text: 2 \"y\" (numbers except \"-\" in row 7 (line 8)), 3 \"z\" (\"b\" in row 1 (line 2)); use \
                those with few values as categories with --categorical z or drop them with --drop y,z";
    assert_eq!(error(&Prepare::default(), &text), said);
    let two: String =
        (0..40).map(|i| if i == 6 { "Total,.\n".into() } else { format!("{i},{i}\n") }).collect();
    let said = "t: 2 columns hold numbers except in a few rows: 1 \"x\" (numbers except \"Total\" in row 7 (line 8)), 2 \"y\" \
                (numbers except \".\" in row 7 (line 8)); make such cells empty and choose --missing native";
    assert_eq!(error(&Prepare::default(), &format!("x,y\n{two}")), said);
}

#[test]
fn a_table_of_one_text_column_names_the_delimiter() {
    for (delimiter, option) in [("^", "\"^\""), ("~", "\"~\""), (":", ":"), ("$", "'$'")] {
        let text = ["a^b", "1^2.5", "3^4", "5^6"].map(|row| row.replace('^', delimiter)).join("\n");
        let message = error(&Prepare::default(), &text);
        let said = format!("; name the character between its cells with --delimiter {option}");
        assert!(message.ends_with(&said) && !message.contains("--drop"), "{message}");
        let told = ReadOptions { delimiter: Some(delimiter.parse().unwrap()), ..Default::default() };
        let frame = read_frame_bytes(text.into_bytes(), "t", &told).unwrap();
        assert_eq!((frame.names().join(" "), frame.n(), frame.number(0, 1)), ("a b".to_string(), 3, 2.5));
    }
    let times = error(&Prepare::default(), "10:00^1^2\n10:00^3^4\n11:10^3^4");
    assert!(times.ends_with("--delimiter \"^\""), "{times}");
    // Dropping the only column would leave none.
    let said = "t: column 1 holds text (\"ann\" in row 1); use it as categories with --categorical 1; if the first line names \
                the columns, add --header yes";
    assert_eq!(error(&Prepare::default(), "ann\nbob\n"), said);
}

#[test]
fn a_header_over_text_alone_is_recognised_or_asked_for() {
    let cars = "color,size,shape,class\nred,s,flat,a\nblue,l,flat,b\nred,l,tall,a\nblue,s,tall,b\n";
    let message = error(&Prepare::default(), cars);
    let said = "; use them as categories with --categorical color,size,shape,class";
    assert!(message.ends_with(said), "{message}");
    let unclear = error(&Prepare::default(), "color,size\nred,s\nblue,l\n");
    assert!(unclear.ends_with("; if the first line names the columns, add --header yes"), "{unclear}");
}

#[test]
fn numbers_that_json_does_not_have_are_gaps_or_refused_as_infinite() {
    let drop = Prepare { missing: Missing::Drop, ..Prepare::default() };
    for text in [
        "{\"x\":1,\"y\":2}\n{\"x\":NaN,\"y\":3}\n{\"x\":5,\"y\": NaN}\n",
        "[{\"x\":1,\"y\":2},\n{\"x\":NaN,\"y\":3},{\"x\":5,\"y\":NaN}]",
    ] {
        let (table, _) = drop.fit(read(text).unwrap()).unwrap();
        assert_eq!((table.n, table.values), (1, Values::F64(vec![1.0, 2.0])), "{text}");
    }
    let lists = read("{\"v\":[1,NaN]}\n{\"v\":[3,4]}\n").unwrap();
    assert_eq!((lists.width(), lists.number(1, 1)), (2, 4.0));
    assert!(lists.number(0, 1).is_nan());
    for (number, said) in [("Infinity", "inf"), ("-Infinity", "-inf")] {
        let text = format!("{{\"x\":1,\"y\":2}}\n{{\"x\":{number},\"y\":3}}\n");
        let message = error(&Prepare::default(), &text);
        assert_eq!(message, format!("t: row 2, column 1 \"x\": {said} is not a finite number"));
        let other = Prepare { drop: refs(&["x"]), ..Prepare::default() };
        assert_eq!(other.fit(read(text).unwrap()).unwrap().0.n, 2, "a column that is not used may hold it");
    }
    // In strings they stay as they are, and so does what is no number.
    let names = read("{\"x\":\"a \\\" NaN\",\"NaN\":\"-Infinity\"}\n").unwrap();
    assert_eq!((names.text(0, 0), names.text(0, 1)), (Some("a \" NaN"), Some("-Infinity")));
    assert_eq!(names.names(), ["x", "NaN"]);
    let message = read("{\"x\":1}\n{\"x\":NaNa}\n").unwrap_err();
    assert!(message.contains("row 2: is not a JSON object"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_numbers_that_json_does_not_have_never_panic(
        rows in proptest::collection::vec("([-:,x\"\\\\{}\\[\\]]|NaN|Infinity|\"x\":|1){0,12}", 0..6),
    ) {
        let json = ReadOptions { format: Some(Format::Json), ..Default::default() };
        let lines: Vec<String> = rows.iter().map(|row| format!("{{\"a\":{row}}}")).collect();
        for text in [lines.join("\n"), format!("[{}]", lines.join(","))] {
            if let Ok(frame) = read_frame_bytes(text.into_bytes(), "t", &json) {
                let _ = Prepare { missing: Missing::Mean, ..Prepare::default() }.fit(frame);
            }
        }
    }
}
