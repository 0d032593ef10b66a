//! Tables as they come: separators, decimal commas and headers found by looking; labels in the format of their file;
//! appended columns, also of standard input and twice; manual pages.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::TestDir;
use rpfcluster_data::{ReadOptions, read_frame, read_labels};

const FIT: &str = "-k 3 --trees 50";

/// Iris without its classes, rewritten cell by cell.
fn iris(dir: &TestDir, name: &str, separator: &str, header: bool, cell: impl Fn(&str) -> String) {
    let text = String::from_utf8(dir.bytes("iris.csv")).unwrap();
    let lines = text.lines().skip(usize::from(!header)).enumerate().map(|(at, line)| {
        let cells = line.split(',').take(4).map(|c| if header && at == 0 { c.into() } else { cell(c) });
        cells.collect::<Vec<String>>().join(separator) + "\n"
    });
    dir.put(name, lines.collect::<String>());
}

#[test]
fn tables_of_other_countries_give_the_same_labels_and_the_summary_says_how_they_were_read() {
    let dir = TestDir::new();
    let expected = dir.rpf(&format!("cluster iris.csv --label species {FIT}")).done();
    assert!(expected.err.contains("read as      cells separated by \",\", header\n"));
    let comma = |cell: &str| cell.replace('.', ",");
    iris(&dir, "german.csv", ";", true, comma);
    iris(&dir, "bars.txt", "|", true, str::to_string);
    iris(&dir, "bare.csv", "\t", false, comma);
    iris(&dir, "plain.csv", ",", false, str::to_string);
    let plain = String::from_utf8(dir.bytes("plain.csv")).unwrap();
    dir.put("years.csv", format!("2019,2020,2021,2022\n{plain}"));
    for (file, said) in [
        ("german.csv", "cells separated by \";\", decimal comma, header"),
        ("bars.txt", "cells separated by \"|\", header"),
        ("bare.csv", "cells separated by tabs, decimal comma, no header"),
        ("years.csv", "cells separated by \",\", header"),
        ("german.csv --delimiter ; --decimal , --header yes", "decimal comma"),
    ] {
        let run = dir.rpf(&format!("cluster {file} {FIT}")).done();
        assert_eq!(run.out, expected.out, "{file}");
        let line = run.err.lines().find(|line| line.starts_with("read as      ")).unwrap();
        assert!(line.contains(said), "{file}: {line}");
    }
    let run = dir.rpf(&format!("cluster years.csv --header no {FIT}")).done();
    assert_eq!(run.out.lines().count(), 152, "the years are a row");
    dir.rpf(&format!("cluster german.csv {FIT} -q --model m.rpf -o l.csv")).done();
    let run = dir.rpf("predict m.rpf german.csv --decimal , -q").done();
    assert_eq!(run.out, expected.out);
    dir.put("gap.csv", "sepal_length;sepal_width;petal_length;petal_width\n1,5;2,5;;1,5\n");
    let run = dir.rpf("predict m.rpf gap.csv -q");
    run.refused(1, &["gap.csv: row 1 (line 2), column 3", "fit the model with --missing native"]);
    assert!(!run.err.contains("drop such rows with"), "predict has no --missing: {}", run.err);
}

#[test]
#[cfg(feature = "excel")]
fn a_sheet_gives_the_labels_of_the_same_table_as_text() {
    let dir = TestDir::new();
    dir.put("iris.xlsx", include_bytes!("../../rpfcluster-data/tests/fixtures/iris.xlsx"));
    let expected = dir.rpf(&format!("cluster iris.csv --label species {FIT} --append")).done();
    let run = dir.rpf(&format!("cluster iris.xlsx --sheet flowers --label species {FIT} --append")).done();
    // "setosa" and 5.1 are written as they were; 5 is 5.0 in a sheet.
    let cells = |text: &str| text.lines().map(|line| line.replace(".0,", ",")).collect::<Vec<_>>();
    assert_eq!(cells(&run.out), cells(&expected.out));
    assert!(run.err.starts_with("iris.xlsx, sheet \"flowers\" (2 of 2): 150 rows"), "{}", run.err);
    assert!(run.err.contains("read as      a table with a header\n"), "{}", run.err);
    dir.refuses(1, &format!("cluster iris.xlsx {FIT}"), &["iris.xlsx, sheet \"notes\" (1 of 2): "]);
    dir.refuses(
        1,
        &format!("cluster iris.xlsx --sheet x {FIT}"),
        &["has no sheet \"x\"; there are \"notes\""],
    );
    dir.rpf(&format!("cluster iris.csv --label species {FIT} -q -o l.csv --model m.rpf")).done();
    let run = dir.rpf("predict m.rpf iris.xlsx --sheet 2 -q").done();
    let labels: String = expected
        .out
        .lines()
        .skip(1)
        .zip(1..)
        .map(|(line, row)| format!("{row},{}\n", line.rsplit_once(',').unwrap().1))
        .collect();
    assert_eq!(run.out, format!("row,cluster\n{labels}"));
}

#[test]
fn labels_are_written_in_the_format_of_their_file() {
    let dir = TestDir::new();
    let line = format!("cluster iris.csv --label species {FIT} --confidence -q");
    dir.rpf(&format!("{line} -o l.csv")).done();
    let expected = read_labels(dir.path("l.csv"), None, &ReadOptions::default()).unwrap();
    for file in ["l.parquet", "l.arrow", "l.feather"] {
        dir.rpf(&format!("{line} -o {file}")).done();
        assert_eq!(read_labels(dir.path(file), None, &ReadOptions::default()).unwrap(), expected, "{file}");
        let frame = read_frame(dir.path(file), &ReadOptions::default()).unwrap();
        assert_eq!(frame.names(), ["row", "cluster", "confidence"], "{file}");
    }
    dir.rpf(&format!("{} -o l.npy", line.replace(" --confidence", ""))).done();
    assert_eq!(
        read_labels(dir.path("l.npy"), None, &ReadOptions::default()).unwrap().labels,
        expected.labels
    );
    let rows: String =
        (0..40).map(|i| if i == 1 { ",2\n".into() } else { format!("{},{}\n", i % 4 * 30, i % 2) }).collect();
    dir.put("gaps.csv", format!("a,b\n{rows}"));
    dir.rpf("cluster gaps.csv -k 2 --min-node 2 --missing drop -q -o g.npy").done();
    let frame = read_frame(dir.path("g.npy"), &ReadOptions::default()).unwrap();
    let left_out: Vec<usize> = (0..40).filter(|row| frame.number(*row, 0) < 0.0).collect();
    assert_eq!((frame.n(), left_out), (40, vec![1]), "a row left out keeps its place");
}

#[test]
fn neighbours_and_embeddings_are_written_in_the_format_of_their_file() {
    let dir = TestDir::new();
    for line in [
        "neighbors iris.csv --label species -n 3 --exact --trees 20 -q",
        "embed iris.csv --label species -d 2 --trees 20 -q",
    ] {
        let read = |name: &str| read_frame(dir.path(name), &ReadOptions::default()).unwrap();
        dir.rpf(&format!("{line} -o t.csv")).done();
        assert_eq!(dir.bytes("t.csv"), dir.rpf(line).done().out.into_bytes());
        let expected = read("t.csv");
        for file in ["t.tsv", "t.parquet", "t.arrow"] {
            dir.rpf(&format!("{line} -o {file}")).done();
            let found = read(file);
            assert_eq!(found.names(), expected.names(), "{line} -o {file}");
            assert_eq!(found.columns(0).unwrap(), expected.columns(0).unwrap(), "{line} -o {file}");
        }
        assert!(String::from_utf8(dir.bytes("t.tsv")).unwrap().starts_with("row\t"));
        dir.refuses(2, &format!("{line} -o t.xlsx"), &["--output t.xlsx", ".parquet"]);
    }
}

#[test]
fn a_tab_separated_output_has_tabs_with_and_without_the_table() {
    let dir = TestDir::new();
    let line = format!("cluster iris.csv --label species {FIT} -q");
    dir.rpf(&format!("{line} -o l.tsv")).done();
    assert!(String::from_utf8(dir.bytes("l.tsv")).unwrap().starts_with("row\tcluster\n"));
    dir.rpf(&format!("{line} --append -o a.tsv")).done();
    dir.rpf(&format!("{line} --append -o a.csv")).done();
    let read = |name: &str| read_frame(dir.path(name), &ReadOptions::default()).unwrap();
    assert!(String::from_utf8(dir.bytes("a.tsv")).unwrap().starts_with("sepal_length\t"));
    assert_eq!(read("a.tsv").columns(0).unwrap(), read("a.csv").columns(0).unwrap());
}

#[test]
fn appended_confidence_has_the_decimal_comma_of_the_table() {
    let dir = TestDir::new();
    iris(&dir, "de.csv", ";", true, |cell| cell.replace('.', ","));
    let line = format!("{FIT} --confidence --append -q");
    let first = dir.rpf(&format!("cluster de.csv {line} -o once.csv")).done();
    assert_eq!(first.code, Some(0));
    let once = String::from_utf8(dir.bytes("once.csv")).unwrap();
    assert!(!once.contains('.') && once.lines().count() == 151, "{once}");
    dir.rpf(&format!("cluster once.csv {line} -o twice.csv")).done();
    assert_eq!(dir.bytes("twice.csv"), dir.bytes("once.csv"));
}

#[test]
fn appended_columns_work_in_every_format_from_standard_input_and_twice() {
    let dir = TestDir::new();
    let line = format!("{FIT} --label species --confidence --append -q");
    let csv = dir.rpf(&format!("cluster iris.csv {line}")).done().out;
    assert!(
        csv.starts_with("sepal_length,sepal_width,petal_length,petal_width,species,cluster,confidence\n")
    );
    let fed = dir.rpf_fed(&format!("cluster - {line}"), &dir.bytes("iris.csv")).done();
    assert_eq!(fed.out, csv);
    dir.put("once.csv", &csv);
    assert_eq!(dir.rpf(&format!("cluster once.csv {line}")).done().out, csv, "replaced, not a feature");
    let expected = read_frame(dir.path("once.csv"), &ReadOptions::default()).unwrap();
    for (from, to) in [
        ("iris.csv", "a.parquet"),
        ("a.parquet", "b.arrow"),
        ("b.arrow", "c.parquet"),
        ("c.parquet", "d.csv"),
    ] {
        dir.rpf(&format!("cluster {from} {line} -o {to}")).done();
        let frame = read_frame(dir.path(to), &ReadOptions::default()).unwrap();
        assert_eq!(frame.columns(0).unwrap(), expected.columns(0).unwrap(), "{from} to {to}");
    }
    let used = "cluster once.csv --columns petal_length,cluster -k 3 --trees 20 -q -o l.csv --json";
    assert_eq!(dir.rpf(used).done().json()["d"], 2, "a column that is named is used");
    dir.refuses(
        1,
        &format!("cluster iris.csv {line} -o e.npy"),
        &["e.npy", "\"species\" holds text", ".parquet"],
    );
}

#[test]
fn predicted_rows_have_the_confidence_of_equal_fitted_rows() {
    let dir = TestDir::new();
    let fitted =
        dir.rpf(&format!("cluster iris.csv --label species {FIT} --confidence --model m.rpf -q")).done();
    let run = dir.rpf("predict m.rpf iris.csv --confidence -q").done();
    assert_eq!(run.out, fitted.out);
    dir.put(
        "far.csv",
        "sepal_length,sepal_width,petal_length,petal_width\n6.05,2.85,4.95,1.75\n5,3.4,1.5,0.2\n",
    );
    let run = dir.rpf("predict m.rpf far.csv --confidence -q").done();
    let shares: Vec<f64> =
        run.out.lines().skip(1).map(|l| l.rsplit_once(',').unwrap().1.parse().unwrap()).collect();
    assert!(shares[0] < shares[1] && shares[1] > 0.8, "on a border and inside: {shares:?}");
    let run = dir.rpf("predict m.rpf far.csv --confidence --append -q").done();
    assert!(run.out.lines().next().unwrap().ends_with("petal_width,cluster,confidence"), "{}", run.out);
}

#[test]
fn the_number_of_clusters_is_chosen_when_it_is_left_out() {
    let dir = TestDir::new();
    let left_out = dir.rpf("cluster iris.csv --label species --trees 50 -q").done();
    assert_eq!(left_out.out, dir.rpf("cluster iris.csv --label species -k auto --trees 50 -q").done().out);
}

#[test]
fn manual_pages_describe_every_verb_and_the_version_names_the_commit() {
    let dir = TestDir::new();
    dir.rpf("man pages").done();
    let pages: Vec<String> = std::fs::read_dir(dir.path("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(
        pages.contains(&"rpf.1".to_string()) && pages.contains(&"rpf-cluster.1".to_string()),
        "{pages:?}"
    );
    let page = String::from_utf8(dir.bytes("pages/rpf-cluster.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("standardize") && page.contains("Examples"), "{page}");
    let version = dir.rpf("--version").done().out;
    assert!(version.starts_with(concat!("rpf ", env!("CARGO_PKG_VERSION"))), "{version}");
    assert_eq!(dir.rpf("help score").done().out, dir.rpf("score --help").done().out);
}

#[test]
fn bars_are_of_blocks_only_where_the_locale_has_them() {
    let dir = TestDir::new();
    let summary = |locale: &str| {
        let mut command = dir.command();
        command
            .env("LC_ALL", locale)
            .args(["cluster", "iris.csv", "--label", "species", "-k", "3", "--trees", "20"]);
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    assert!(summary("C.UTF-8").contains("▇▇▇"));
    let plain = summary("C");
    assert!(plain.is_ascii() && plain.contains("  ###"), "{plain}");
}

#[test]
fn categories_are_clustered_predicted_and_described() {
    let dir = TestDir::new();
    let text = |name: &str| String::from_utf8(dir.bytes(name)).unwrap();
    let rows: String = (0..120)
        .map(|i| {
            let (color, site) = [("red", "north"), ("blue", "south"), ("green", "south")][i % 3];
            format!("{},{color},{site}\n", (i * 7 % 10) as f64 / 10.0)
        })
        .collect();
    dir.put("t.csv", format!("x,color,site\n{rows}"));
    let refused = dir.rpf("cluster t.csv -k 3");
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("--categorical color,site"), "{}", refused.err);
    let clustered =
        dir.rpf("cluster t.csv -k 3 --categorical color,site -o l.csv --model m.rpf --report page.html");
    assert!(clustered.done().err.contains("120 rows, 3 columns (6 with levels)"));
    let labels = text("l.csv");
    let third = |first: usize| {
        labels.lines().skip(1 + first).step_by(3).map(|l| l.split(',').nth(1).unwrap().to_string())
    };
    for group in 0..3 {
        let mut of_group: Vec<String> = third(group).collect();
        of_group.dedup();
        assert_eq!(of_group.len(), 1, "each color is a cluster");
    }
    dir.rpf("predict m.rpf t.csv -o p.csv").done();
    assert_eq!(text("p.csv"), labels);
    dir.put("new.csv", "site,x,color\nnorth,0.5,red\nwest,0.5,purple\n");
    assert_eq!(dir.rpf("predict m.rpf new.csv").done().out.lines().nth(1).unwrap(), "1,0");
    assert!(text("page.html").contains("color=red"));
    assert!(dir.rpf("inspect m.rpf").done().out.contains("color (3 levels), site (2 levels)"));
}

#[test]
fn rows_with_gaps_are_clustered_and_predicted_by_their_other_columns() {
    let dir = TestDir::new();
    let text = |name: &str| String::from_utf8(dir.bytes(name)).unwrap();
    let cell = |value: String, is_gap: bool| if is_gap { String::new() } else { value };
    let rows: String = (0..150)
        .map(|i| {
            let group = i % 3;
            let x = |j: usize| (10 * group + (i * (7 + j) % 10)) as f64 / 10.0;
            let color = ["red", "blue", "green"][group].to_string();
            let gap = i * 13 % 29;
            let cells = [
                cell(x(0).to_string(), gap < 6),
                cell(x(1).to_string(), (6..12).contains(&gap)),
                cell(color, (12..18).contains(&gap)),
            ];
            format!("{}\n", cells.join(","))
        })
        .collect();
    dir.put("t.csv", format!("x,y,color\n{rows}"));
    let refused = dir.rpf("cluster t.csv -k 3 --categorical color");
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("--missing native"), "{}", refused.err);
    let options = "-k 3 --categorical color --missing native --standardize all";
    dir.rpf(&format!("cluster t.csv {options} -o l.csv --model m.rpf --report page.html")).done();
    let labels = text("l.csv");
    let of = |row: usize| labels.lines().nth(1 + row).unwrap().split(',').nth(1).unwrap().to_string();
    let wrong = (3..150).filter(|row| of(*row) != of(row % 3)).count();
    assert!(wrong < 8, "{wrong} rows with other labels than most of their group");
    dir.rpf("predict m.rpf t.csv -o p.csv").done();
    assert_eq!(text("p.csv"), labels);
    // A row is predicted the same alone.
    let row = rows.lines().nth(4).unwrap();
    dir.put("one.csv", format!("x,y,color\n{row}\n"));
    assert_eq!(dir.rpf("predict m.rpf one.csv").done().out.lines().nth(1).unwrap(), format!("1,{}", of(4)));
    assert!(text("page.html").contains("color=red"));
    assert!(dir.rpf("inspect m.rpf").done().out.contains("native"));
    // Every verb that takes DATA has an answer.
    dir.rpf("kernel t.csv --categorical color --missing native -o k.npz").done();
    dir.rpf("neighbors t.csv -n 3 --categorical color --missing native -o n.csv").done();
    dir.rpf("embed t.csv -d 2 --categorical color --missing native -o e.csv").done();
    // A column without a value, and a model without moments, refuse.
    dir.put("empty.csv", "x,y\n1,\n2,\n3,\n");
    let empty = dir.rpf("cluster empty.csv -k 2 --missing native");
    assert!(empty.err.contains("\"y\" is empty in every row; leave it out with --drop y"), "{}", empty.err);
}
