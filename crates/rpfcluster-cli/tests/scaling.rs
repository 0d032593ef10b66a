//! `--standardize robust` and `auto`, and JSON lines as input.

#![allow(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

mod common;

use common::{TestDir, numbers};

/// Three clusters in the columns `a` and `b`, and a column `wide` without any that is a thousand times as wide.
fn different_units() -> String {
    let mut noise = numbers();
    let mut text = String::from("a,b,wide,class\n");
    for i in 0..180 {
        let class = i % 3;
        let center = [(0.0, 0.0), (6.0, 0.0), (0.0, 6.0)][class];
        let mut next = || noise.next().unwrap();
        text += &format!("{},{},{},{class}\n", center.0 + next(), center.1 + next(), 6000.0 * next());
    }
    text
}

#[test]
fn auto_standardises_columns_of_different_units_and_predict_does_the_same() {
    let dir = TestDir::new();
    dir.put("units.csv", different_units());
    let all = "-k 3 --label class --trees 100 -o all.csv --standardize all -q";
    dir.rpf(&format!("cluster units.csv {all}")).done();
    let auto = "-k 3 --label class --trees 100 -o auto.csv --standardize auto --model m.rpf";
    let run = dir.rpf(&format!("cluster units.csv {auto} --json -q")).done().json();
    let chosen = &run["chosen"]["standardize"];
    assert_eq!(chosen["standardize"], "all");
    assert!(chosen["all"].as_f64() > chosen["none"].as_f64(), "{chosen}");
    assert_eq!(run["verdict"]["score"], chosen["all"]);
    assert!(run["scores"]["ari"].as_f64() > Some(0.95), "{}", run["scores"]);
    assert_eq!(dir.bytes("auto.csv"), dir.bytes("all.csv"));
    dir.rpf("predict m.rpf units.csv -q -o p.csv").done();
    assert_eq!(dir.bytes("p.csv"), dir.bytes("all.csv"));
    let summary = dir.rpf(&format!("cluster units.csv {auto}")).done().err;
    assert!(summary.contains("scaling      columns standardised: score "), "{summary}");
}

#[test]
fn auto_keeps_columns_that_are_clustered_better_as_they_are() {
    let dir = TestDir::new();
    let mut noise = numbers();
    let mut text = String::from("x,y,n1,n2,n3,n4,n5,n6\n");
    for i in 0..240 {
        let center = [(0.0, 0.0), (9.0, 0.0), (0.0, 9.0), (9.0, 9.0)][i % 4];
        let mut next = || noise.next().unwrap();
        text += &format!("{},{}", center.0 + 2.0 * next(), center.1 + 2.0 * next());
        (0..6).for_each(|_| text += &format!(",{}", 0.2 * next()));
        text.push('\n');
    }
    dir.put("noise.csv", text);
    dir.rpf("cluster noise.csv -k 4 --trees 100 -q -o raw.csv").done();
    let run =
        dir.rpf("cluster noise.csv -k 4 --trees 100 --standardize auto --json -q -o l.csv").done().json();
    assert_eq!(run["chosen"]["standardize"]["standardize"], "none", "{}", run["chosen"]);
    assert_eq!(dir.bytes("l.csv"), dir.bytes("raw.csv"));
}

#[test]
fn auto_is_for_clusterings_only() {
    let dir = TestDir::new();
    for line in [
        "kernel iris.csv --label species -o k.npz",
        "embed iris.csv --label species -d 2 -o e.csv",
        "compare iris.csv -k 3 --label species",
        "neighbors iris.csv --label species -n 2 -o n.csv",
    ] {
        dir.refuses(2, &format!("{line} --standardize auto"), &["--standardize auto", "rpf cluster only"]);
    }
}

#[test]
fn robust_scaling_keeps_the_groups_apart_beside_an_error_of_entry() {
    let dir = TestDir::new();
    let text = different_units();
    dir.put("units.csv", &text);
    dir.put("entry.csv", format!("{text}0,0,3e9,0\n"));
    let labels = |line: &str| {
        dir.rpf(&format!("cluster {line} --label class --trees 100 -q -o l.csv --model m.rpf")).done();
        String::from_utf8(dir.bytes("l.csv")).unwrap()
    };
    let same = |a: &str, b: &str| a.lines().zip(b.lines()).filter(|(a, b)| a == b).count();
    let expected = labels("units.csv -k 3 --standardize robust");
    // The row with the error is the fourth cluster.
    let found = labels("entry.csv -k 4 --standardize robust");
    assert!(same(&expected, &found) >= 179, "{} of 181 lines", same(&expected, &found));
    dir.rpf("predict m.rpf entry.csv -q -o p.csv").done();
    assert_eq!(String::from_utf8(dir.bytes("p.csv")).unwrap(), found);
    assert!(dir.rpf("inspect m.rpf").done().out.contains("standardised  all"));
}
