//! The text reader: every layout it must guess, every input it must refuse, and no panic on any input.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use proptest::prelude::*;
use rpfcluster_data::{
    ColumnRef, DataError, Format, Frame, Labels, Missing, Prepare, ReadOptions, Selection, Standardize,
    Table, Values, read_batches_bytes, read_frame_bytes, read_labels_bytes,
};

const TEXT: ReadOptions = ReadOptions {
    format: Some(Format::Text),
    header: None,
    delimiter: None,
    decimal: None,
    sheet: None,
    query: None,
    memory: None,
};

fn frame(text: &str) -> Frame {
    read_frame_bytes(text.as_bytes().to_vec(), "t.csv", &TEXT).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    read_frame_bytes(bytes.to_vec(), "t.csv", &TEXT).unwrap_err().to_string()
}

fn table(text: &str) -> Table {
    Prepare::default().fit(frame(text)).unwrap().0
}

fn numbers(text: &str) -> Vec<f64> {
    table(text).values.to_f64().into_owned()
}

fn apply(how: &rpfcluster_data::Preparation, text: &str) -> Result<(Table, Vec<String>), DataError> {
    how.apply(frame(text), &Selection::default())
}

fn columns(names: &[&str]) -> Vec<ColumnRef> {
    names.iter().map(|n| ColumnRef::from(*n)).collect()
}

#[test]
fn every_layout_gives_the_same_numbers() {
    let expected = [1.0, 0.28, 3.0, 4.0, -5.0, 6e3];
    for text in [
        "1.,.28,3\n4,-5,6e3\n",
        "1.,.28,3\r\n4,-5,6e3",
        "1.\t.28\t3\n4\t-5\t6e3\n",
        "1.;.28;3\n4;-5;6e3\n\n",
        "1.|.28|3\n4|-5|6e3\n",
        "1;,28;3\n4;-5;6e3\n",
        "a;b;c\n1;0,28;3,0\n4;-5;6.000\n",
        "a|b|c\n1,0|0,28|3\n4|-5|6.000,0\n",
        "1,0 0,28 3,0\n4,0 -5,0 6e3\n",
        "\"1,0\",\"0,28\",\"3,0\"\n\"4,0\",\"-5,0\",\"6e3\"\n",
        "2019,2020,2021\n1.,.28,3\n4,-5,6e3\n",
        "  1.   .28  3 \n  4 -5\t6e3   \n",
        " 1. , .28,3\n4,  -5,6e3\n",
        "\u{feff}1.,.28,3\n4,-5,6e3\n",
        "# made by hand\n\n% and so on\n1.,.28,3\n\n4,-5,6e3\n",
        "\"1.\",\".28\",\"3\"\n4,-5,6e3\n",
        "1.,.28,3\r4,-5,6e3\r",
        "a,b,c\n1.,.28,3\n4,-5,6e3\n",
        "a b c\n1. .28 3\n4 -5 6e3\n",
        "\"a, or A\",\"b\",c\n1.,.28,3\n4,-5,6e3\n",
        "\u{feff}\"a\",b,c\r\n1.,.28,3\r\n4,-5,6e3\r\n",
    ] {
        assert_eq!(numbers(text), expected, "{text:?}");
    }
}

#[test]
fn header_is_detected_or_given() {
    let f = frame("\"sepal, length\",b\n1,2\n");
    assert!(f.has_header());
    assert_eq!(f.names(), ["sepal, length", "b"]);
    let f = frame("1,2\n3,4\n");
    assert!(!f.has_header());
    assert_eq!(f.names(), ["c1", "c2"]);
    // R's write.table names one column fewer than it writes.
    let f = frame("\"x\" \"y\"\n\"1\" 5.1 3.5\n\"2\" 4.9 3.0\n");
    assert_eq!((f.names().to_vec(), f.n()), (["row", "x", "y"].map(String::from).to_vec(), 2));
    let told = ReadOptions { header: Some(true), ..TEXT };
    let f = read_frame_bytes(b"0,1,2\n5,6,7\n".to_vec(), "t", &told).unwrap();
    assert_eq!((f.names().to_vec(), f.n()), (["0", "1", "2"].map(String::from).to_vec(), 1));
}

#[test]
fn delimiter_decimal_and_header_can_be_given() {
    let read = |text: &str, options: ReadOptions| {
        let frame = read_frame_bytes(text.as_bytes().to_vec(), "t.csv", &options).unwrap();
        let dialect = frame.dialect().unwrap().to_string();
        (frame.n(), frame.width(), frame.number(0, frame.width() - 1), dialect)
    };
    let colon = ReadOptions { delimiter: Some(":".parse().unwrap()), ..TEXT };
    assert_eq!(read("1:2\n3:4\n", colon), (2, 2, 2.0, "cells separated by \":\", no header".into()));
    let comma = ReadOptions { decimal: Some(",".parse().unwrap()), ..TEXT };
    let said = "cells separated by \";\", decimal comma, header";
    assert_eq!(read("a;b\n1;1,234\n", comma), (1, 2, 1.234, said.into()));
    let none = ReadOptions { header: Some(false), ..TEXT };
    assert_eq!(read("2019,2020\n1,2\n", none).0, 2);
    for (name, text) in
        [("pipe", "1|2"), ("comma", "1,2"), ("space", "1 2"), ("tab", "1\t2"), ("semicolon", "1;2")]
    {
        assert_eq!(read(text, ReadOptions { delimiter: Some(name.parse().unwrap()), ..TEXT }).1, 2, "{name}");
    }
    for wrong in ["", "ab", "a", "1", ".", "\"", "-"] {
        let message = wrong.parse::<rpfcluster_data::Delimiter>().unwrap_err().to_string();
        assert!(message.contains("use a character such as ;"), "{message}");
    }
    assert!("x".parse::<rpfcluster_data::Decimal>().unwrap_err().to_string().contains("comma"));
}

#[test]
fn a_first_line_for_excel_tells_the_delimiter() {
    let read = |text: &str, options: &ReadOptions| {
        let frame = read_frame_bytes(text.as_bytes().to_vec(), "t.csv", options).unwrap();
        (frame.names().join(" "), frame.n(), frame.place(0).line, frame.text(0, 0).map(String::from))
    };
    let told = ("a b".to_string(), 2, 3, None);
    for text in [
        "sep=^\na^b\n1^2\n3^4\n",
        "\u{feff}SEP=;\r\na;b\r\n1;2\r\n3;4\r\n",
        "\"sep=,\"\na,b\n1,2\n3,4\n",
        "sep=\t\na\tb\n1\t2\n3\t4\n",
        "sep=\\t\na\tb\n1\t2\n3\t4\n",
    ] {
        assert_eq!(read(text, &TEXT), told, "{text:?}");
    }
    let semicolon = ReadOptions { delimiter: Some(";".parse().unwrap()), ..TEXT };
    assert_eq!(read("sep=,\na;b\n1;2\n3;4\n", &semicolon), told, "the option counts, the line is left out");
    let batches = read_batches_bytes(b"sep=^\na^b\n1^2\n3^4\n"[..].into(), "t.csv", &TEXT, 1).unwrap();
    assert_eq!(batches.map(|batch| batch.unwrap().frame.number(0, 1)).collect::<Vec<_>>(), [2.0, 4.0]);
    assert!(read_frame_bytes(b"sep=;".to_vec(), "t.csv", &TEXT).unwrap_err().to_string().contains("empty"));
}

#[test]
fn a_point_between_thousands_or_before_decimals_is_said() {
    let said = |text: &str| frame(text).dialect().unwrap().to_string();
    assert_eq!(said("a;b\n1.001;995\n2.500;7\n"), "cells separated by \";\", decimal point, header");
    assert_eq!(numbers("a;b\n1.001;995\n2.500;7\n"), [1.001, 995.0, 2.5, 7.0]);
    for clear in ["a;b\n1.001;9.5\n", "a;b\n1;2\n"] {
        assert_eq!(said(clear), "cells separated by \";\", header", "{clear}");
    }
    assert_eq!(said("a,b\n1.001,2\n"), "cells separated by \",\", header");
}

#[test]
fn the_spellings_of_gaps_that_pandas_reads_are_missing_cells() {
    let gaps =
        ["#N/A", "#N/A N/A", "#NA", "-1.#IND", "1.#QNAN", "<NA>", "None", "NaT", "-nan", "NULL", "n/a"];
    for gap in gaps {
        let text = format!("x,y\n1,2\n{gap},4\n5,6\n");
        let drop = Prepare { missing: Missing::Drop, ..Prepare::default() };
        assert_eq!(drop.fit(frame(&text)).unwrap().0.rows, Some(vec![1, 3]), "{gap}");
    }
    // As a label each of them is missing, like NA.
    let label = Prepare { label: Some("x".into()), ..Prepare::default() };
    for gap in ["NA", "None", "#N/A"] {
        let message = label.fit(frame(&format!("x,y\nu,2\n{gap},4\n"))).unwrap_err().to_string();
        assert!(message.contains("the label is missing"), "{gap}: {message}");
    }
}

#[test]
fn a_delimiter_at_the_end_of_every_line_is_an_empty_column() {
    let error = |text: &str, missing| {
        Prepare { missing, ..Prepare::default() }.fit(frame(text)).unwrap_err().to_string()
    };
    for missing in [Missing::Error, Missing::Drop, Missing::Mean, Missing::Native] {
        let said = "t.csv: column 3 is empty in every row; leave it out with --drop 3";
        assert_eq!(error("1,2,\n3,4,\n", missing), said);
        let said = "t.csv: column 3 \"\" is empty in every row; leave it out with --drop 3";
        assert_eq!(error("a,b,\n1,2,\n3,4,\n", missing), said);
        // The names are not those of the columns to the right, as they would be after row names.
        assert_eq!(error("a,b\n1,2,\n3,4,\n", missing), said);
        let said = "t.csv: 2 columns are empty in every row: 2 \"b\", 4 \"\"; leave them out with --drop b,4";
        assert_eq!(error("a,b,c,\n1,NA,2,\n3,,4,\n", missing), said);
    }
    let drop = Prepare { drop: columns(&["3"]), ..Prepare::default() };
    assert_eq!(drop.fit(frame("a,b\n1,2,\n3,4,\n")).unwrap().0.columns, ["a", "b"]);
    let message = error("NA,\n,NA\n", Missing::Error);
    assert!(message.contains("no column has a value; there is nothing to cluster"), "{message}");
}

#[test]
fn every_text_column_is_named_at_once() {
    let error = |text: &str| Prepare::default().fit(frame(text)).unwrap_err().to_string();
    assert_eq!(
        error("x,colour,y,site\n1,red,2,a\n3,blue,4,b\n"),
        "t.csv: 2 columns hold text: 2 \"colour\", 4 \"site\" (\"red\" in row 1 (line 2)); use them as categories \
         with --categorical colour,site or drop them with --drop colour,site"
    );
    // What the message says can be pasted into a shell.
    assert!(
        error("x,price($),site (home),a&b,-c,d\n1,r,s,t,u,v\n2,r,s,t,u,v\n")
            .ends_with("--drop 2,\"site (home)\",\"a&b\",5,d")
    );
    let wide: Vec<String> = (0..20).map(|i| if i == 5 { "1".into() } else { format!("t{i}") }).collect();
    let message = error(&format!("{0}\n{0}\n", wide.join(",")));
    assert!(message.contains("19 columns hold text") && message.ends_with("--drop 1-5,7-20"), "{message}");
    assert!(message.contains(" 19, 20 (\"t0\" in row 1);"), "{message}");
    let wide: Vec<String> = (0..50).map(|i| if i == 5 { "1".into() } else { format!("t{i}") }).collect();
    let message = error(&format!("{0}\n{0}\n", wide.join(",")));
    assert!(message.contains(", 40, 41 and 9 more (\"t0\" in row 1)"), "{message}");
    let message = error("a;b\n1,234;5\n6,789;7\n");
    assert!(message.contains("or read commas as decimal points with --decimal ,"), "{message}");
}

#[test]
fn text_that_is_not_utf8_is_windows_1252() {
    for quote in ["", "\""] {
        let text = format!("Gr\u{f6}\u{df}e;Ort\n1,5;{quote}K\u{f6}ln{quote}\n2,5;{quote}K\u{e0}ln{quote}\n");
        let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
        let read = |bytes: Vec<u8>| read_frame_bytes(bytes, "t.csv", &TEXT).unwrap();
        let (of_latin, of_utf8) = (read(latin), read(text.into_bytes()));
        assert_eq!(of_latin.names(), ["Größe", "Ort"]);
        assert_eq!((of_latin.text(0, 1), of_latin.text(1, 1)), (Some("Köln"), Some("Kàln")));
        assert_eq!(of_latin.columns(0).unwrap(), of_utf8.columns(0).unwrap());
        let said = "cells separated by \";\", decimal comma, header";
        assert_eq!(of_utf8.dialect().unwrap().to_string(), said);
        assert_eq!(of_latin.dialect().unwrap().to_string(), format!("{said}, Windows-1252"));
    }
    let labels =
        read_labels_bytes(b"caf\xe9\ncafe\ncaf\xe9\n".to_vec(), "l.txt", None, &TEXT).unwrap().labels;
    assert_eq!((labels.names, labels.codes), (vec!["café".to_string(), "cafe".into()], vec![0, 1, 0]));
}

#[test]
fn one_column_needs_no_delimiter() {
    assert_eq!(numbers("x\n1\n2\n3\n"), [1.0, 2.0, 3.0]);
    assert_eq!(numbers("5"), [5.0]);
}

#[test]
fn quoted_cells_may_hold_delimiters_newlines_and_quotes() {
    let f = frame("name,x\n\"a,b\",1\n\"two\nlines\",2\n\"say \"\"hi\"\"\",3\n");
    let texts: Vec<&str> = (0..3).filter_map(|i| f.text(i, 0)).collect();
    assert_eq!(texts, ["a,b", "two\nlines", "say \"hi\""]);
    assert_eq!((f.number(2, 1), f.place(2).line), (3.0, 5));
}

#[test]
fn unreadable_text_is_refused_with_its_place() {
    for (bytes, words) in [
        (&b""[..], "empty"),
        (b"\n\n  \n", "empty"),
        (b"# only this\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"a,b,c\n", "header but no row"),
        (b"1,2\n3,4\n5\n", "row 3: 1 cell, but the rows above have 2"),
        (b"x,y\n1,2\n\n3,4,5\n", "row 2 (line 4): 3 cells, but the rows above have 2"),
        (b"\"x\",y\n\"1\",2\n3,4,5\n", "row 2 (line 3): 3 cells"),
        (b"a,b,c,d\n1,2\n3,4\n", "the header names 4 columns, but the first row has 2 cells"),
        (b"a\n1,2,3\n4,5,6\n", "the header names 1 column, but the first row has 3 cells"),
        (b"\x00\x01\x02\x03", "is not text"),
        (b"\xff\xfe1\x00", "UTF-16"),
    ] {
        let message = refused(bytes);
        assert!(message.starts_with("t.csv: ") && message.contains(words), "{bytes:?}: {message}");
    }
}

#[test]
fn wide_first_row_over_short_rows_is_refused() {
    // A table of this shape would have 40 billion cells.
    let mut text = ",".repeat(200_000);
    text.push_str(&"\n1".repeat(200_000));
    assert!(refused(text.as_bytes()).contains("row"));
}

#[test]
fn text_column_is_refused_with_a_remedy() {
    let error = |text: &str| Prepare::default().fit(frame(text)).unwrap_err().to_string();
    assert_eq!(
        error("a,b,species\n1,2,3\n1,2,setosa\n"),
        "t.csv: column 3 \"species\" holds text (\"setosa\" in row 2 (line 3)); use it as categories with \
         --categorical species, drop it with --drop species or use it as labels with --label species"
    );
    assert!(error("1,x\n2,y\n").contains(
        "column 2 holds text (\"x\" in row 1); use it as categories with --categorical 2, drop it with --drop 2"
    ));
}

#[test]
fn missing_cells_are_refused_dropped_or_averaged() {
    let text = "a,b,c\n1,NA,x\n2,?,y\n3,4,x\n5,6,NaN\n7,null,z\n,8,x\n";
    let prepare = |missing| Prepare { label: Some("c".into()), missing, ..Prepare::default() };
    let error = |missing| prepare(missing).fit(frame(text)).unwrap_err().to_string();
    assert!(error(Missing::Error).contains("row 4 (line 5), column 3 \"c\": the label is missing"));
    let no_label = Prepare { drop: columns(&["c"]), ..Prepare::default() };
    let message = no_label.fit(frame(text)).unwrap_err().to_string();
    assert!(message.contains("row 1 (line 2), column 2 \"b\": the value is missing"), "{message}");
    let (kept, _) = prepare(Missing::Drop).fit(frame(text)).unwrap();
    assert_eq!((kept.n, kept.rows.clone(), kept.input_row(0)), (1, Some(vec![3]), 3));
    assert_eq!(kept.labels, Some(Labels { codes: vec![0], names: vec!["x".into()] }));
    let (filled, how) = Prepare { missing: Missing::Mean, ..no_label.clone() }.fit(frame(text)).unwrap();
    assert_eq!(how.fill, [3.6, 6.0]);
    assert_eq!(filled.values, Values::F64(vec![1., 6., 2., 6., 3., 4., 5., 6., 7., 6., 3.6, 8.]));
    let all = Prepare { missing: Missing::Mean, ..Prepare::default() };
    let message = all.fit(frame("a,b\n1,NA\n2,NA\n3,?\n")).unwrap_err().to_string();
    assert!(
        message.contains("column 2 \"b\" is empty in every row; leave it out with --drop b"),
        "{message}"
    );
    let drop = Prepare { missing: Missing::Drop, ..Prepare::default() };
    let message = drop.fit(frame("a,b\n1,NA\nNA,2\n")).unwrap_err().to_string();
    assert!(message.contains("no row is left"), "{message}");
    let message = Prepare::default().fit(frame("a,b\n1,inf\n2,3\n")).unwrap_err().to_string();
    assert!(message.contains("column 2 \"b\": inf is not a finite number"), "{message}");
}

#[test]
fn columns_are_chosen_by_name_number_or_range() {
    let text = "a,b,2,d\n1,2,3,4\n5,6,7,8\n";
    let chosen = |names: &[&str], drop: &[&str]| {
        let prepare = Prepare { columns: columns(names), drop: columns(drop), ..Prepare::default() };
        prepare.fit(frame(text)).map(|(t, _)| t.values.to_f64().into_owned()).map_err(|e| e.to_string())
    };
    assert_eq!(chosen(&["d", "a"], &[]).unwrap(), [4., 1., 8., 5.]);
    assert_eq!(chosen(&["2"], &[]).unwrap(), [3., 7.], "a name wins over a number");
    assert_eq!(chosen(&["1"], &[]).unwrap(), [1., 5.]);
    assert_eq!(chosen(&["1-3"], &["b"]).unwrap(), [1., 3., 5., 7.]);
    assert!(chosen(&["9"], &[]).unwrap_err().contains("the columns are 1 to 4"));
    assert!(chosen(&["a", "1"], &[]).unwrap_err().contains("named twice"));
    assert!(chosen(&["e"], &[]).unwrap_err().contains("did you mean"));
    assert!(chosen(&[], &["1-4"]).unwrap_err().contains("no column is left"));
    let long = frame("sepal_length,petal_length\n1,2\n");
    let message = ColumnRef::from("Sepal_lenght").resolve(&long).unwrap_err().to_string();
    assert!(message.contains("did you mean \"sepal_length\""), "{message}");
}

#[test]
fn duplicate_names_need_a_number() {
    let f = frame("x,x,y\n1,2,3\n4,5,6\n");
    let message = ColumnRef::from("x").resolve(&f).unwrap_err().to_string();
    assert!(message.contains("columns 1, 2") && message.contains("give its number"), "{message}");
    let how = Prepare::default().fit(f.clone()).unwrap().1;
    let message = apply(&how, "x,x,y\n1,2,3\n").unwrap_err().to_string();
    assert!(message.contains("\"x\" is ambiguous: the model was fitted on several"), "{message}");
    // Left out by number at the fit, the name is one column of the model, and two of a new table are an error.
    let how = Prepare { drop: columns(&["2"]), ..Prepare::default() }.fit(f).unwrap().1;
    let message = apply(&how, "x,x,y\n1,2,3\n").unwrap_err().to_string();
    assert!(
        message.contains("\"x\" occurs more than once (columns 1, 2)") && message.contains("--drop"),
        "{message}"
    );
    let drop = Selection { drop: columns(&["1"]), ..Selection::default() };
    assert_eq!(how.apply(frame("x,x,y\n1,2,3\n"), &drop).unwrap().0.values, Values::F64(vec![2.0, 3.0]));
}

#[test]
fn preparation_matches_columns_by_name() {
    let prepare = Prepare {
        label: Some("class".into()),
        standardize: Standardize::All,
        missing: Missing::Mean,
        ..Prepare::default()
    };
    let (fitted, how) = prepare.fit(frame("a,b,k,class\n1,10,7,u\n3,NA,7,v\n5,30,7,u\n")).unwrap();
    let how: rpfcluster_data::Preparation =
        serde_json::from_str(&serde_json::to_string(&how).unwrap()).unwrap();
    let sd = (8.0f64 / 3.0).sqrt();
    assert_eq!(fitted.values.get(0), -2.0 / sd);
    assert_eq!((fitted.values.get(2), fitted.values.get(4)), (0.0, 0.0), "constant; filled with the mean");
    // Other order, an extra column, no label: the same numbers.
    let (again, unknown) = apply(&how, "k,z,b,a\n7,x,10,1\n7,x,,3\n7,x,30,5\n").unwrap();
    assert_eq!((&again.values, unknown), (&fitted.values, vec!["z".to_string()]));
    // The label of the fit may be there; it is not new.
    let (again, unknown) = apply(&how, "class,k,b,a\nu,7,10,1\nv,7,,3\nu,7,30,5\n").unwrap();
    assert_eq!((&again.values, unknown), (&fitted.values, Vec::new()));
    let damaged = rpfcluster_data::Preparation { scale: vec![1.0], ..how.clone() };
    assert!(apply(&damaged, "a,b,k\n1,2,3\n").unwrap_err().to_string().contains("damaged"));
    let message = apply(&how, "a,k\n1,2\n3,4\n").unwrap_err().to_string();
    assert!(message.contains("\"b\" does not exist, but the model was fitted on it"), "{message}");
    let message = apply(&how, "a,m\n1,2\n3,4\n").unwrap_err().to_string();
    assert!(
        message.contains("2 of the 3 columns that the model was fitted on do not exist: \"b\", \"k\""),
        "{message}"
    );
    let label = Selection { label: Some("b".into()), ..Selection::default() };
    let message = how.apply(frame("a,b,k\n1,2,3\n"), &label).unwrap_err().to_string();
    assert!(message.contains("\"b\" is not to be used, but the model was fitted on it"), "{message}");
}

#[test]
fn preparation_without_names_matches_columns_by_position() {
    let prepare = Prepare { label: Some("1".into()), ..Prepare::default() };
    let (fitted, how) = prepare.fit(frame("u,1,2\nv,3,4\n")).unwrap();
    for same in ["u,1,2\nv,3,4\n", "1,2\n3,4\n"] {
        assert_eq!(apply(&how, same).unwrap().0.values, fitted.values, "{same}");
    }
    assert_eq!(apply(&how, "u,1,2\nv,3,4\n").unwrap().1, ["c1"], "ignored, and said so");
    assert!(apply(&how, "a,b,c\n1,2,3\n4,5,6\n").unwrap_err().to_string().contains("has 3 columns"));
    let message = apply(&how, "1\n3\n").unwrap_err().to_string();
    assert!(message.contains("has 1 column, but the model was fitted on 2 columns"), "{message}");
    let message = apply(&how, "1,u,1,2\n2,v,3,4\n").unwrap_err().to_string();
    assert!(
        message.contains(
            "has 4 columns, but the model was fitted on 2 columns; leave out the others with --drop"
        ),
        "{message}"
    );
    for selection in [
        Selection { drop: columns(&["1", "2"]), ..Selection::default() },
        Selection { columns: columns(&["3-4"]), ..Selection::default() },
        Selection { label: Some("2".into()), drop: columns(&["1"]), ..Selection::default() },
    ] {
        let (table, _) = how.apply(frame("1,u,1,2\n2,v,3,4\n"), &selection).unwrap();
        assert_eq!(table.values, fitted.values, "{selection:?}");
    }
    let label = Selection { label: Some("2".into()), ..Selection::default() };
    let message = how.apply(frame("u,1,2\nv,3,4\n"), &label).unwrap_err().to_string();
    assert!(message.contains("holds text") || message.contains("cannot be the label"), "{message}");
    // A model of an earlier version does not know the width of its table.
    let old = rpfcluster_data::Preparation { width: None, ..how };
    assert_eq!(apply(&old, "1,2\n3,4\n").unwrap().0.values, fitted.values);
    assert!(apply(&old, "u,1,2\nv,3,4\n").unwrap_err().to_string().contains("fitted on 2 columns"));
}

#[test]
fn standardising_one_column_leaves_the_others() {
    let prepare = Prepare { standardize: Standardize::Columns(columns(&["b"])), ..Prepare::default() };
    let (t, _) = prepare.fit(frame("a,b\n0.998,1\n0.998,3\n")).unwrap();
    assert_eq!(t.values, Values::F64(vec![0.998, -1.0, 0.998, 1.0]));
    let hint = table("small,large\n0.1,1000\n0.2,2000\n").scale_hint().unwrap();
    assert_eq!((hint.largest.as_str(), hint.smallest.as_str()), ("large", "small"));
    assert!((hint.ratio - 1e4).abs() < 1e-6);
    assert!(table("a,b\n1,100\n2,200\n").scale_hint().is_none());
}

#[test]
fn chunks_give_the_same_frame_as_one_pass() {
    // Over a megabyte, so several tasks; empty lines and text cells fall anywhere.
    let mut text = String::from("x,y,name\n");
    let n = 120_000;
    for i in 0..n {
        if i % 1000 == 7 {
            text.push('\n');
        }
        text.push_str(&format!("{},{}.{:03},n{}\n", i, i % 13, i % 1000, i % 5));
    }
    let f = frame(&text);
    assert_eq!(f.n(), n);
    for i in 0..n {
        assert_eq!(f.number(i, 0), i as f64);
        assert_eq!(f.text(i, 2), Some(format!("n{}", i % 5).as_str()));
    }
    assert_eq!(f.place(n - 1).line, n + 1 + n / 1000);
    let broken = format!("{text}1,2\n");
    let message = refused(broken.as_bytes());
    assert!(message.contains(&format!("row {} (line {}): 2 cells", n + 1, n + 2 + n / 1000)), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), gz: bool) {
        let options = if gz { ReadOptions::default() } else { TEXT };
        if let Ok(f) = read_frame_bytes(bytes.clone(), "t", &options) {
            let _ = Prepare { missing: Missing::Mean, standardize: Standardize::All, ..Prepare::default() }.fit(f);
        }
        let _ = read_labels_bytes(bytes, "t", None, &TEXT);
    }

    #[test]
    fn random_tables_never_panic(text in "[-0-9.,;\t \"\r\nae?#N]{0,200}", header in proptest::option::of(any::<bool>())) {
        let options = ReadOptions { header, ..TEXT };
        if let Ok(f) = read_frame_bytes(text.clone().into_bytes(), "t", &options) {
            prop_assert!(f.n() > 0 && f.width() > 0);
            let prepare = Prepare { label: Some("1".into()), missing: Missing::Drop, ..Prepare::default() };
            if let Ok((t, how)) = prepare.fit(f.clone()) {
                prop_assert_eq!(t.values.len(), t.n * t.d());
                let _ = how.apply(f, &Selection::default());
            }
        }
        let _ = read_labels_bytes(text.into_bytes(), "t", None, &TEXT);
    }

    #[test]
    fn numbers_in_text_keep_their_value(
        rows in 1usize..20,
        values in proptest::collection::vec(proptest::num::f64::NORMAL, 60),
    ) {
        let values = &values[..rows * 3];
        let text: String = values.chunks(3).map(|r| format!("{},{:e},{}\n", r[0], r[1], r[2])).collect();
        prop_assert_eq!(numbers(&text), values);
    }
}
