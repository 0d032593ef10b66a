//! Categorical columns: indicators of unit spread, levels by name, unseen and missing levels, errors.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use rpfcluster::ColumnKey;
use rpfcluster_data::{
    ColumnRef, Frame, Missing, Preparation, Prepare, ReadOptions, Selection, Standardize, Table,
    read_frame_bytes,
};

const TEXT: &str = "size,color,code\n1,red,7\n2,blue,8\n3,red,7\n4,green,9\n5,red,8\n6,blue,7\n";

fn frame(text: &str) -> Frame {
    read_frame_bytes(text.as_bytes().to_vec(), "t", &ReadOptions::default()).unwrap()
}

fn prepare(columns: &[&str]) -> Prepare {
    Prepare { categorical: columns.iter().map(|c| ColumnRef::from(*c)).collect(), ..Prepare::default() }
}

fn row(table: &Table, row: usize) -> Vec<f64> {
    (0..table.d()).map(|j| table.values.get(row * table.d() + j)).collect()
}

fn apply(how: &Preparation, text: &str) -> Table {
    how.apply(frame(text), &Selection::default()).unwrap().0
}

#[test]
fn indicators_have_the_spread_of_one_numeric_column() {
    let (table, how) = prepare(&["color", "code"]).fit(frame(TEXT)).unwrap();
    assert_eq!(
        table.columns,
        ["size", "color=blue", "color=green", "color=red", "code=7", "code=8", "code=9"]
    );
    for levels in [1..4, 4..7] {
        let variance: f64 = levels
            .map(|j| {
                let values: Vec<f64> = (0..6).map(|i| row(&table, i)[j]).collect();
                let mean = values.iter().sum::<f64>() / 6.0;
                values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 6.0
            })
            .sum();
        assert!((variance - 1.0).abs() < 1e-12, "{variance}");
    }
    // Only numbers are standardised.
    let all = Prepare { standardize: Standardize::All, ..prepare(&["color", "code"]) };
    let (scaled, _) = all.fit(frame(TEXT)).unwrap();
    assert_eq!(row(&scaled, 2)[1..], row(&table, 2)[1..]);
    assert!((row(&scaled, 0)[0] - row(&table, 0)[0]).abs() > 0.1);
    // The report shows the values of the file: 0 and 1.
    let (center, scale) = how.table_scaling();
    assert_eq!((center.len(), scale.len()), (7, 7));
    for (j, of_file) in [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0].into_iter().enumerate() {
        let shown = row(&table, 0)[j] * scale[j] + center[j];
        assert!((shown - of_file).abs() < 1e-12, "column {j}: {shown}");
    }
}

#[test]
fn the_order_of_rows_and_columns_does_not_change_a_row() {
    let (table, how) = prepare(&["color", "code"]).fit(frame(TEXT)).unwrap();
    let turned = "code,color,size\n8,blue,2\n7,red,1\n";
    let other = apply(&how, turned);
    assert_eq!((row(&other, 0), row(&other, 1)), (row(&table, 1), row(&table, 0)));
    let mut lines: Vec<&str> = TEXT.lines().collect();
    lines[1..].reverse();
    let (reversed, _) = prepare(&["color", "code"]).fit(frame(&lines.join("\n"))).unwrap();
    assert_eq!(row(&reversed, 5), row(&table, 0));
}

#[test]
fn unseen_levels_are_gaps_and_missing_ones_the_mean_of_the_fitted_rows() {
    let (table, how) = prepare(&["color"]).fit(frame(TEXT)).unwrap();
    let new = apply(&how, "size,color,code\n1,purple,7\n2,red,8\n");
    assert!(row(&new, 0)[1..4].iter().all(|x| x.is_nan()));
    for j in 1..4 {
        let mean = (0..6).map(|i| row(&table, i)[j]).sum::<f64>() / 6.0;
        assert!((new.value(0, j) - mean).abs() < 1e-12, "where no tree is involved");
    }
    assert_eq!(apply(&how, "size,color,code\n2,red,8\n").means, None, "no gap without an unseen level");
    let gap = "size,color\n1,red\n2,\n3,blue\n4,red\n";
    let error = prepare(&["color"]).fit(frame(gap)).unwrap_err().to_string();
    assert!(error.contains("drop them with --missing drop"), "{error}");
    let (dropped, _) = Prepare { missing: Missing::Drop, ..prepare(&["color"]) }.fit(frame(gap)).unwrap();
    assert_eq!((dropped.n, dropped.rows.as_deref()), (3, Some(&[1, 3, 4][..])));
    let (filled, how) = Prepare { missing: Missing::Mean, ..prepare(&["color"]) }.fit(frame(gap)).unwrap();
    let shares: Vec<f64> = how.categories[0].shares.iter().map(|s| s / how.categories[0].spread).collect();
    assert_eq!(row(&filled, 1)[1..], shares);
}

#[test]
fn columns_have_the_names_of_their_features_and_levels() {
    let (table, _) = prepare(&["color", "code"]).fit(frame(TEXT)).unwrap();
    let color = |name| ColumnKey::level(1, name);
    let expected = [
        ColumnKey::number(0),
        color("blue"),
        color("green"),
        color("red"),
        ColumnKey::level(2, "7"),
        ColumnKey::level(2, "8"),
        ColumnKey::level(2, "9"),
    ];
    assert_eq!(table.keys, expected);
    assert_eq!(prepare(&[]).fit(frame("1,2\n3,4\n")).unwrap().0.keys, []);
}

#[test]
fn columns_of_text_alone_and_preparations_of_models_work() {
    let text = "a,b\nx,u\ny,v\nx,u\ny,u\n";
    let (table, _) = prepare(&["a", "b"]).fit(frame(text)).unwrap();
    assert_eq!(table.columns, ["a=x", "a=y", "b=u", "b=v"], "a first line whose cells do not recur");
    let without = text.replace("y,v", "z,v");
    let error =
        prepare(&["a", "b"]).fit(frame(&without.replace("x,u\ny,u\n", "x,w\n"))).unwrap_err().to_string();
    assert!(error.contains("or --header yes if its first line names them"), "{error}");
    let options = ReadOptions { header: Some(true), ..Default::default() };
    let frame = |text: &str| read_frame_bytes(text.as_bytes().to_vec(), "t", &options).unwrap();
    let (table, how) = prepare(&["a", "b"]).fit(frame(text)).unwrap();
    assert_eq!((table.n, table.columns.len()), (4, 4));
    let again: Preparation = serde_json::from_str(&serde_json::to_string(&how).unwrap()).unwrap();
    assert_eq!(again, how);
    assert_eq!(row(&again.apply(frame(text), &Selection::default()).unwrap().0, 3), row(&table, 3));
    // Numeric tables have the bytes they had before there were categories.
    let (_, plain) = Prepare::default().fit(frame("1,2\n3,4\n")).unwrap();
    assert!(!serde_json::to_string(&plain).unwrap().contains("categories"));
    let mut damaged = how;
    damaged.categories[0].shares.pop();
    assert!(damaged.apply(frame(text), &Selection::default()).is_err());
}

#[test]
fn identifiers_and_columns_that_are_no_features_are_refused() {
    let names: String = (0..30).map(|i| format!("{i},name{i}\n")).collect();
    let error = prepare(&["name"]).fit(frame(&format!("x,name\n{names}"))).unwrap_err().to_string();
    assert!(
        error.contains("looks like an identifier: all values differ; leave it out with --drop name"),
        "{error}"
    );
    // Also with a missing value, and a column of too many levels.
    let gap = Prepare { missing: Missing::Mean, ..prepare(&["name"]) };
    let error = gap.fit(frame(&format!("x,name\n30,\n{names}"))).unwrap_err().to_string();
    assert!(error.contains("looks like an identifier"), "{error}");
    let many: String = (0..2100).map(|i| format!("{i},name{}\n", i % 1050)).collect();
    let error = prepare(&["name"]).fit(frame(&format!("x,name\n{many}"))).unwrap_err().to_string();
    assert!(error.contains("has 1050 levels, but at most 1000 are allowed"), "{error}");
    let drop = Prepare { drop: vec!["color".into()], ..prepare(&["color"]) };
    let error = drop.fit(frame(TEXT)).unwrap_err().to_string();
    assert!(error.contains("is to be categorical, but is not among the features"), "{error}");
    let error = Prepare::default().fit(frame(TEXT)).unwrap_err().to_string();
    assert!(error.contains("use it as categories with --categorical color"), "{error}");
}

#[test]
fn native_gaps_stay_gaps_and_means_and_spreads_are_those_of_the_other_values() {
    let text = "size,color\n1,red\n,blue\n3,\n5,red\n";
    let native = Prepare {
        missing: Missing::Native,
        standardize: Standardize::Columns(vec![ColumnRef::from("size")]),
        ..prepare(&["color"])
    };
    let (table, how) = native.fit(frame(text)).unwrap();
    assert_eq!((how.center[0], table.columns.len()), (3.0, 3));
    assert!((how.scale[0] - (8.0f64 / 3.0).sqrt()).abs() < 1e-12);
    assert!(row(&table, 1)[0].is_nan() && row(&table, 2)[1..].iter().all(|x| x.is_nan()));
    assert!(row(&table, 0).iter().all(|x| x.is_finite()));
    // A gap is shown as the mean of its column.
    assert_eq!(how.means.len(), 3);
    assert!((table.value(1, 0) - how.means[0]).abs() < 1e-12 && how.means[0].abs() < 1e-12);
    assert_eq!(table.complete_values().len(), 12);
    assert!(table.complete_values().iter().all(|x| x.is_finite()));
    // An unknown level is a gap, and the means are those of the fitted rows.
    let new = apply(&how, "size,color\n2,purple\n");
    assert!(row(&new, 0)[1..].iter().all(|x| x.is_nan()));
    assert_eq!(new.means, table.means);
    assert!(how.is_consistent());
    assert!(!Preparation { means: Vec::new(), ..how }.is_consistent());
    let empty = native.fit(frame("size,color,count\n,red,1\n,blue,2\n")).unwrap_err().to_string();
    assert!(empty.contains("is empty in every row; leave it out with --drop size"), "{empty}");
}
