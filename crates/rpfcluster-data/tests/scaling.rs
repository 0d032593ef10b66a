//! Standardised columns: by mean and standard deviation, and by median and quartiles.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly, like the tests")]

use rpfcluster_data::{Frame, Missing, Prepare, ReadOptions, Selection, Standardize, read_frame_bytes};

fn frame(text: &str) -> Frame {
    read_frame_bytes(text.into(), "x.csv", &ReadOptions::default()).unwrap()
}

fn robust() -> Prepare {
    Prepare { standardize: Standardize::Robust, ..Default::default() }
}

/// The interquartile range of the standard normal distribution.
const NORMAL: f64 = 1.348_979_500_392_163_4;

#[test]
fn robust_scaling_has_median_zero_and_ignores_an_outlier() {
    let text =
        |last: &str| format!("a,b,c\n1,0,5\n2,0,5\n3,0,5\n4,0,5\n5,1,5\n6,0,5\n7,0,5\n8,0,5\n{last},0,5\n");
    let (table, fitted) = robust().fit(frame(&text("9"))).unwrap();
    assert_eq!(fitted.center, [5.0, 0.0, 5.0]);
    // Quartiles 3 and 7; a column that is mostly 0 has its standard deviation; a constant column is only centred.
    let rare = (8.0f64 / 81.0).sqrt();
    assert_eq!((fitted.scale[0], fitted.scale[2]), (4.0 / NORMAL, 1.0));
    assert!((fitted.scale[1] - rare).abs() < 1e-15);
    assert_eq!(table.values.get(0), -4.0 / (4.0 / NORMAL));
    assert_eq!(table.values.get(2), 0.0);
    let (_, far) = robust().fit(frame(&text("1e9"))).unwrap();
    assert_eq!((far.center[0], far.scale[0]), (5.0, 4.0 / NORMAL));
}

#[test]
fn new_rows_get_the_scaling_of_the_fitted_ones() {
    let (table, fitted) = robust().fit(frame("a,b\n1,2\n2,4\n3,9\n4,5\n")).unwrap();
    let (again, _) = fitted.apply(frame("b,a\n2,1\n4,2\n9,3\n5,4\n"), &Selection::default()).unwrap();
    assert_eq!(again.values, table.values);
}

#[test]
fn missing_cells_are_filled_or_dropped_before_the_quartiles() {
    let text = "a,b\n1,1\n2,1\n,1\n3,2\n6,2\n";
    let (_, dropped) = Prepare { missing: Missing::Drop, ..robust() }.fit(frame(text)).unwrap();
    assert_eq!(dropped.center, [2.5, 1.5]);
    let (_, filled) = Prepare { missing: Missing::Mean, ..robust() }.fit(frame(text)).unwrap();
    assert_eq!(filled.center, [3.0, 1.0]);
}

#[test]
fn numbers_too_large_for_a_range_are_refused() {
    let text = "a,b\n-1.7e308,1\n-1.7e308,1\n1.7e308,2\n1.7e308,2\n";
    let message = robust().fit(frame(text)).unwrap_err().to_string();
    assert_eq!(message, "x.csv: column 1 \"a\" holds numbers too large to standardise");
}
