//! 200 tables made to break a clustering, under every affinity and method: a fit ends with K valid labels or with a
//! sentence that names the reason. `make outcomes` prints the table of outcomes in
//! docs/notes/2026-11-robustness.md.
#![allow(clippy::unwrap_used)]

#[path = "common/adversarial.rs"]
mod adversarial;

use std::collections::BTreeMap;

use adversarial::{KINDS, Table, table};
use rayon::prelude::*;
use rpfcluster::spectral::Method;
use rpfcluster::{AffinityKind, Error, Points, Real, RpfCluster, Silent};

const SEEDS: u64 = 5;
const AFFINITIES: [(&str, Option<AffinityKind>); 4] = [
    ("linear", Some(AffinityKind::Linear)),
    ("paper", Some(AffinityKind::Paper)),
    ("top-k", Some(AffinityKind::TopK)),
    ("chosen", None),
];

/// The number of rows that differ from every counted one by more than a millionth of the range of some column, without its
/// lowest and highest tenth: the definition, computed in the order of the rows.
fn distinct_rows<R: Real>(values: &[R], table: &Table) -> usize {
    let row = |i: usize| values[i * table.d..][..table.d].iter().map(|v| v.to_f64());
    let tolerance = |column: usize| {
        let mut sorted: Vec<f64> = (0..table.n).map(|i| values[i * table.d + column].to_f64()).collect();
        sorted.sort_by(f64::total_cmp);
        let trimmed = (table.n / 10).max(1).min((table.n - 1) / 2);
        (sorted[table.n - 1 - trimmed] - sorted[trimmed]).min(f64::MAX) * 1e-6
    };
    let tolerances: Vec<f64> = (0..table.d).map(tolerance).collect();
    let equal = |a: usize, b: usize| {
        row(a).zip(row(b)).zip(&tolerances).all(|((x, y), tolerance)| (x - y).abs() <= *tolerance)
    };
    let mut counted: Vec<usize> = Vec::new();
    for i in 0..table.n {
        if !counted.iter().any(|&first| equal(first, i)) {
            counted.push(i);
        }
    }
    counted.len()
}

/// Fits the table twice, the second time with or without a verdict, and checks what must hold of any labels; the
/// refusal, shortened, where there are none.
fn outcome<R: Real>(
    values: &[R],
    table: &Table,
    params: &RpfCluster,
    assess_again: bool,
) -> Result<Option<&'static str>, String> {
    let points = match Points::new(values, table.n, table.d) {
        Ok(points) => points,
        Err(Error::NotFinite { .. }) if table.values.iter().any(|v| !v.is_finite()) => {
            return Ok(Some("a value is not finite"));
        }
        Err(error) => return Err(error.to_string()),
    };
    let fitted = match params.fit(&points) {
        Ok(fitted) => fitted,
        Err(Error::TooManyClusters { k, distinct }) if k > distinct && k > distinct_rows(values, table) => {
            return Ok(Some(if k > table.n { "K exceeds the rows" } else { "K exceeds the distinct rows" }));
        }
        Err(error) => return Err(error.to_string()),
    };
    let labels = fitted.labels();
    let mut next = 0;
    for &label in labels {
        if label > next {
            return Err(format!("label {label} appears before {next}"));
        }
        next = next.max(label + 1);
    }
    if (labels.len(), next as usize) != (table.n, table.k) {
        return Err(format!("{next} labels on {} rows", labels.len()));
    }
    let e = fitted.embedding();
    if !e.vectors.iter().chain(&e.eigenvalues).chain(&e.degrees).all(|v| v.is_finite()) {
        return Err("the embedding is not finite".to_string());
    }
    if let Some(verdict) = fitted.verdict()
        && !(0.0..=1.0).contains(&verdict.score)
    {
        return Err(format!("the verdict has score {}", verdict.score));
    }
    if !fitted.confidence(&Silent).unwrap().iter().all(|c| (0.0..=1.0).contains(c)) {
        return Err("a confidence lies outside 0 to 1".to_string());
    }
    // Rows that differ by less than a millionth of the spread count as equal in a fit, but predict sees the difference:
    // of such rows, the first has the label of the fit.
    let row = |i: usize| &values[i * table.d..][..table.d];
    let mut first: BTreeMap<u32, usize> = BTreeMap::new();
    let mut stands_for_itself = |i: usize| match fitted.distinct_rows() {
        Some(groups) => row(*first.entry(groups[i]).or_insert(i)) == row(i),
        None => true,
    };
    let own: Vec<bool> = (0..table.n).map(&mut stands_for_itself).collect();
    let predicted = fitted.predict(&points).map_err(|e| e.to_string())?;
    if (0..table.n).any(|i| own[i] && predicted[i] != labels[i]) {
        return Err("predict gives training rows other labels".to_string());
    }
    let second = RpfCluster { assess: assess_again, ..params.clone() };
    let again = second.fit(&points).map_err(|e| e.to_string())?;
    if again.labels() != labels || again.embedding() != e {
        return Err("a second fit differs".to_string());
    }
    if assess_again && again.verdict() != fitted.verdict() {
        return Err("the verdict of a second fit differs".to_string());
    }
    Ok(None)
}

/// A cell of the table: how many fits ended with labels, and how many were refused for which reason.
fn cell(counts: &BTreeMap<Option<&str>, usize>) -> String {
    let part = |(reason, count): (&Option<&str>, &usize)| match reason {
        None => format!("{count} labelled"),
        Some(reason) => format!("{count} refused: {reason}"),
    };
    counts.iter().map(part).collect::<Vec<_>>().join(", ")
}

#[test]
fn every_adversarial_table_gets_valid_labels_or_a_reason() {
    let runs: Vec<(usize, u64)> =
        (0..KINDS.len()).flat_map(|kind| (0..SEEDS).map(move |seed| (kind, seed))).collect();
    assert_eq!(runs.len(), 200);
    let results: Vec<_> = runs
        .into_par_iter()
        .flat_map_iter(|(kind, seed)| {
            let table = table(KINDS[kind].0, seed);
            let narrow = table.narrow();
            let mut found = Vec::new();
            for (at, (name, affinity)) in AFFINITIES.into_iter().enumerate() {
                for method in [Method::Kway, Method::Ncut] {
                    let tune = affinity.is_none();
                    let open = RpfCluster {
                        k: table.k,
                        trees: Some(24),
                        seed,
                        tune,
                        threads: Some(1),
                        ..Default::default()
                    };
                    // The verdict does not depend on the method.
                    let assess = method == Method::Kway;
                    let params = RpfCluster { affinity, method: Some(method), assess, ..open };
                    // The verdict takes most of the time: of each kind, one affinity a seed repeats it, and labels
                    // without one must be the same.
                    let assess_again = assess && seed as usize % AFFINITIES.len() == at;
                    // Odd seeds are in single precision, unless it cannot hold the table.
                    let single =
                        seed % 2 == 1 && table.values.iter().all(|v| !v.is_finite() || v.abs() < 1e38);
                    let clock = std::time::Instant::now();
                    let outcome = if single {
                        outcome(&narrow, &table, &params, assess_again)
                    } else {
                        outcome(&table.values, &table, &params, assess_again)
                    };
                    let seconds = clock.elapsed().as_secs_f64();
                    let told = format!("{}, seed {seed}, {name}, {method:?}, {seconds:.2} s", KINDS[kind].0);
                    found.push((kind, seed, outcome, told));
                }
            }
            found
        })
        .collect();
    let mut cells: BTreeMap<usize, BTreeMap<Option<&str>, usize>> = BTreeMap::new();
    let mut wrong = Vec::new();
    // Whether there are labels depends on the table and its precision alone.
    let mut expected: BTreeMap<(usize, u64), Option<&str>> = BTreeMap::new();
    for (kind, seed, outcome, told) in results {
        match outcome {
            Ok(reason) => {
                *cells.entry(kind).or_default().entry(reason).or_default() += 1;
                let first = *expected.entry((kind, seed)).or_insert(reason);
                if first != reason {
                    wrong.push(format!("{told}: {reason:?}, but {first:?} under another affinity or method"));
                }
            }
            Err(problem) => wrong.push(format!("{told}: {problem}")),
        }
    }
    assert!(wrong.is_empty(), "{} fits are wrong:\n{}", wrong.len(), wrong.join("\n"));
    let mut page = "| table | what it is | of 40 fits |\n|---|---|---|\n".to_string();
    for (kind, (name, what)) in KINDS.into_iter().enumerate() {
        page += &format!("| {name} | {what} | {} |\n", cell(&cells[&kind]));
    }
    println!("{page}");
    let note = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/notes/2026-11-robustness.md");
    if let Ok(note) = std::fs::read_to_string(note) {
        assert!(note.contains(&page), "the table in the note is another; `make outcomes` prints this one");
    }
}
