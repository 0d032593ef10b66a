//! Files of labels: one label a line, or a column of a table.
#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

use rpfcluster_data::{ColumnRef, Format, ReadOptions, read_labels_bytes};

#[test]
fn label_files_in_every_form_are_read() {
    let options = ReadOptions { format: Some(Format::Text), ..Default::default() };
    let read = |text: &str, column: Option<&str>| {
        let column = column.map(ColumnRef::from);
        read_labels_bytes(text.as_bytes().to_vec(), "l.csv", column.as_ref(), &options)
    };
    let ours = read("row,cluster\n1,0\n3,1\n4,0\n", None).unwrap();
    assert_eq!((ours.rows, ours.labels.codes), (Some(vec![1, 3, 4]), vec![0, 1, 0]));
    let lines = read("setosa\nvirginica\nsetosa\n", None).unwrap();
    assert_eq!((lines.rows, lines.labels.names), (None, vec!["setosa".to_string(), "virginica".to_string()]));
    assert_eq!(read("cluster\n5\n7\n5", None).unwrap().labels.codes, [0, 1, 0]);
    assert_eq!(read("1.\r\n0.\r\n1\r\n", None).unwrap().labels.codes, [0, 1, 0]);
    assert_eq!(read("a,b,kind\n1,2,x\n3,4,y\n", Some("kind")).unwrap().labels.names, ["x", "y"]);
    for (text, words) in [
        ("a,b\n1,2\n", "none is called \"cluster\""),
        ("row,cluster\n1,0\n1,1\n", "occurs twice"),
        ("row,cluster\n0,0\n", "is not a row number"),
        ("row,cluster\n1,\n", "label is missing"),
        ("1\nNA\n", "label is missing"),
        ("", "no labels"),
    ] {
        let message = read(text, None).unwrap_err().to_string();
        assert!(message.contains(words), "{text:?}: {message}");
    }
}

#[test]
fn the_name_of_a_column_of_labels_is_not_a_label() {
    let labels = |text: &str, header: Option<bool>| {
        let options = ReadOptions { header, ..Default::default() };
        read_labels_bytes(text.as_bytes().to_vec(), "t", None, &options).unwrap().labels.codes.len()
    };
    assert_eq!(labels("diagnosis\nB\nM\nB\nM\n", None), 4);
    assert_eq!(labels("diagnosis\n0\n1\n0\n1\n", None), 4);
    assert_eq!(labels("\ndiagnosis\n0\n1\n0\n1\n", Some(true)), 4);
    // A label that occurs once is a label where others do too, and so is a number.
    assert_eq!(labels("a\nB\nM\nB\nM\nc\n", None), 6);
    assert_eq!(labels("7\n0\n1\n0\n1\n", None), 5);
    assert_eq!(labels("a\nb\n", None), 2);
    assert_eq!(labels("class\nclass\nB\nB\n", Some(false)), 4);
}
