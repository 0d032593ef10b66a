//! SQLite databases: tables, views, queries, and files that are damaged or in use.
#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

use std::path::Path;

use rpfcluster_data::{Format, Frame, ReadOptions, read_batches, read_frame, read_frame_bytes, read_labels};
use rusqlite::Connection;

fn database(folder: &Path, name: &str, statements: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    Connection::open(&path).unwrap().execute_batch(statements).unwrap();
    path
}

fn query(path: &Path, query: &str) -> Result<Frame, String> {
    let options = ReadOptions { query: Some(query.to_string()), ..Default::default() };
    read_frame(path, &options).map_err(|e| e.to_string())
}

const SHOP: &str = "CREATE TABLE customers (age REAL, visits INTEGER, \"town, or not\" TEXT, photo BLOB);
    INSERT INTO customers VALUES (30.5, 9007199254740993, 'Bonn, \"am\" Rhein', x'00ff'), (NULL, -2, 'Köln', NULL);";

#[test]
fn the_only_table_or_a_query_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "shop.db", SHOP);
    let frame = query(&path, "SELECT age, visits, \"town, or not\" FROM customers").unwrap();
    assert_eq!(frame.names(), ["age", "visits", "town, or not"]);
    assert_eq!((frame.n(), frame.number(0, 0), frame.number(1, 1)), (2, 30.5, -2.0));
    assert_eq!(frame.number(0, 1), 9_007_199_254_740_992.0, "the nearest double");
    assert!(frame.number(1, 0).is_nan());
    assert_eq!((frame.text(0, 2), frame.text(1, 2)), (Some("Bonn, \"am\" Rhein"), Some("Köln")));
    let blob = read_frame(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(blob.ends_with("column 4 \"photo\" holds binary data; leave it out of --query"), "{blob}");
    let only = database(
        folder.path(),
        "only.sqlite",
        "CREATE TABLE \"my table\" (x); INSERT INTO \"my table\" VALUES (1), (2);",
    );
    assert_eq!(read_frame(&only, &ReadOptions::default()).unwrap().n(), 2);
    let batches = read_batches(&only, &ReadOptions::default(), 1).unwrap();
    assert_eq!(batches.map(|batch| batch.unwrap().frame.number(0, 0)).collect::<Vec<_>>(), [1.0, 2.0]);
    assert_eq!(read_labels(&only, None, &ReadOptions::default()).unwrap().labels.codes, [0, 1]);
}

#[test]
fn what_is_no_table_is_refused_and_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let more = "CREATE TABLE orders (x); CREATE VIEW old AS SELECT * FROM customers WHERE age > 60;";
    let path = database(folder.path(), "shop.db", &format!("{SHOP}{more}"));
    let before = std::fs::read(&path).unwrap();
    let several = read_frame(&path, &ReadOptions::default()).unwrap_err().to_string();
    let said = "has the tables customers, orders, old; say which: --query 'SELECT * FROM customers'";
    assert!(several.ends_with(said), "{several}");
    let other = folder.path().join("other.db");
    for (asked, said) in [
        ("SELECT * FROM sales", "no such table: sales"),
        ("DROP TABLE customers", "--query takes a SELECT"),
        ("DELETE FROM customers RETURNING age", "--query takes a SELECT"),
        ("SELECT 1; SELECT 2", "SQLite says: "),
        ("", "--query takes a SELECT"),
        ("SELECT * FROM orders", "the query finds no row"),
        ("SELECT load_extension('x.so')", "SQLite says: "),
        ("SELECT randomblob(100000000)", "SQLite says: "),
        (&format!("ATTACH '{}' AS b", other.display()), "--query takes a SELECT"),
        ("SELECT 'a\0b'", "SQLite says: "),
    ] {
        let error = query(&path, asked).unwrap_err();
        assert!(error.contains(said) && error.lines().count() == 1, "{asked}: {error}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(!other.exists());
    let bytes = read_frame_bytes(before, "t", &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(
        bytes,
        "t: is an SQLite database, which is read from a file that is neither compressed nor a pipe"
    );
    let text = folder.path().join("t.sqlite");
    std::fs::write(&text, "x,y\n1,2\n").unwrap();
    let error = read_frame(&text, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("is not an SQLite database; give its format with --format"), "{error}");
    let csv = ReadOptions { format: Some(Format::Text), ..Default::default() };
    let error = read_frame(&path, &csv).unwrap_err().to_string();
    assert!(error.ends_with("give --format sqlite"), "{error}");
}

#[test]
fn rows_of_another_process_count_when_they_are_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(
        folder.path(),
        "shop.db",
        "PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1);",
    );
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("INSERT INTO t VALUES (2); BEGIN; INSERT INTO t VALUES (3)").unwrap();
    let n = || read_frame(&path, &ReadOptions::default()).unwrap().n();
    assert_eq!(n(), 2, "the second row is in the write-ahead log");
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(n(), 3);
}

#[test]
fn damaged_databases_and_endless_queries_end_with_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let rows = (0..2000).map(|i| format!("INSERT INTO t VALUES ({i}, 'name {i}');")).collect::<String>();
    let path = database(folder.path(), "whole.db", &format!("CREATE TABLE t (x, y); BEGIN; {rows} COMMIT;"));
    let whole = std::fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.db");
    let mut refused = 0;
    for at in (0..whole.len()).step_by(whole.len() / 300) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        bytes.truncate(if at % 2 == 0 { whole.len() } else { at.max(600) });
        std::fs::write(&damaged, &bytes).unwrap();
        match read_frame(&damaged, &ReadOptions { format: Some(Format::Sqlite), ..Default::default() }) {
            Ok(frame) => assert!(frame.n() > 0),
            Err(error) => {
                refused += 1;
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
            }
        }
    }
    assert!(refused > 50, "{refused}");
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";
    let options = ReadOptions { query: Some(endless.into()), memory: Some(4 << 20), ..Default::default() };
    let error = read_frame(&path, &options).unwrap_err().to_string();
    assert!(error.contains("of memory, but --memory-limit allows 4.2 MB"), "{error}");
}
