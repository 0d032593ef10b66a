//! SQLite databases as DATA.
#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::{Run, TestDir};

#[test]
fn a_query_is_clustered_predicted_and_appended_to() {
    let dir = TestDir::new();
    dir.put("iris.db", include_bytes!("../../rpfcluster-data/tests/fixtures/iris.db"));
    let run = |line: &str, query: &str| {
        let mut command = dir.command();
        command.args(line.split_whitespace()).args(["--query", query]);
        Run::new(line, command.output().unwrap()).done()
    };
    let expected = dir.rpf("cluster iris.csv --label species -k 3 --trees 50").done();
    let found = run("cluster iris.db --label species -k 3 --trees 50", "SELECT * FROM iris");
    assert_eq!(found.out, expected.out);
    assert!(found.err.contains("read as      a table with a header"), "{}", found.err);
    dir.refuses(1, "cluster iris.db -k 3", &["has the tables iris, notes", "--query 'SELECT * FROM iris'"]);
    dir.refuses(1, "cluster - --format sqlite", &["standard input"]);
    dir.rpf("cluster iris.csv --drop species -k 3 --trees 50 --model m.rpf -q -o l.csv").done();
    let names =
        "SELECT a AS sepal_length, b AS sepal_width, c AS petal_length, d AS petal_width FROM iris LIMIT 1";
    let found = run("predict m.rpf iris.db --append -q", names);
    assert_eq!(found.out, "sepal_length,sepal_width,petal_length,petal_width,cluster\n5.1,3.5,1.4,0.2,0\n");
}
