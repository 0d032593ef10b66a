//! The map of a sweep over thresholds and bandwidths, from its result or from the output of `rpf sweep --json`. A cell
//! is the accuracy of a setting where classes are known; otherwise its agreement with the selected setting, or, from
//! JSON, its normalised cut.

use rpfcluster::metrics::Scores;
use rpfcluster_paper::sweep::SweepResult;
use rpfcluster_report::model::SweepMap;
use rpfcluster_report::word;
use serde::Deserialize;

use crate::exit::Result;

/// One setting.
struct MapCell {
    method: String,
    beta1: f64,
    beta2: f64,
    value: Option<f64>,
}

/// With known classes, the accuracy of each setting; without, its agreement with the setting selected without labels.
pub fn of_result(found: &SweepResult) -> Result<SweepMap> {
    let mut values = Vec::with_capacity(found.partitions.len());
    for (at, partition) in found.partitions.iter().enumerate() {
        values.push(match &found.scores {
            Some(scores) => scores[at].rho_c,
            None => Scores::new(partition, found.labels_of(found.label_free))?.ari,
        });
    }
    let cells: Vec<MapCell> = found
        .entries
        .iter()
        .map(|e| MapCell {
            method: word(&e.method),
            beta1: e.beta1,
            beta2: e.beta2,
            value: values.get(e.partition).copied(),
        })
        .collect();
    let scored = found.scores.is_some();
    let picks =
        [("selected without labels", Some(found.label_free)), ("best by labels", found.best_by_labels)];
    Ok(map(cells, meaning(scored), &picks))
}

fn meaning(scored: bool) -> &'static str {
    if scored { "accuracy (rho_c), percent" } else { "adjusted Rand index with the selected setting" }
}

/// The part of the object of `rpf sweep --json` that is drawn.
#[derive(Deserialize)]
pub struct Printed {
    grid: Vec<PrintedEntry>,
    label_free: PrintedEntry,
    best_by_labels: Option<PrintedEntry>,
}

#[derive(Deserialize, Clone)]
struct PrintedEntry {
    beta1: f64,
    beta2: f64,
    method: String,
    ncut: f64,
    scores: Option<PrintedScores>,
}

#[derive(Deserialize, Clone)]
struct PrintedScores {
    rho_c: f64,
}

/// The map of a printed sweep. Labels are not printed, so without scores it shows the normalised cut.
pub fn of_printed(printed: Printed) -> SweepMap {
    let at = |entry: &PrintedEntry| {
        let same = |e: &PrintedEntry| {
            (e.beta1, e.beta2, e.method.as_str()) == (entry.beta1, entry.beta2, entry.method.as_str())
        };
        printed.grid.iter().position(same)
    };
    let picks = [
        ("selected without labels", at(&printed.label_free)),
        ("best by labels", printed.best_by_labels.as_ref().and_then(at)),
    ];
    let scored = printed.grid.iter().any(|e| e.scores.is_some());
    let cells = printed
        .grid
        .iter()
        .map(|e| MapCell {
            method: e.method.clone(),
            beta1: e.beta1,
            beta2: e.beta2,
            value: if scored { e.scores.as_ref().map(|s| s.rho_c) } else { Some(e.ncut) },
        })
        .collect();
    map(cells, if scored { meaning(true) } else { "normalised cut of the kernel (lower is better)" }, &picks)
}

/// Arranges the cells by method, threshold and bandwidth; `picks` are indices of cells.
fn map(cells: Vec<MapCell>, meaning: &str, picks: &[(&str, Option<usize>)]) -> SweepMap {
    let mut beta1: Vec<f64> = cells.iter().map(|c| c.beta1).collect();
    let mut beta2: Vec<f64> = cells.iter().map(|c| c.beta2).collect();
    for values in [&mut beta1, &mut beta2] {
        values.sort_by(f64::total_cmp);
        values.dedup();
    }
    let mut methods: Vec<String> = Vec::new();
    for cell in &cells {
        if !methods.contains(&cell.method) {
            methods.push(cell.method.clone());
        }
    }
    let place = |cell: &MapCell| {
        let find = |values: &[f64], value: f64| values.partition_point(|v| *v < value);
        let method = methods.iter().position(|m| *m == cell.method).unwrap_or(0);
        [method, find(&beta1, cell.beta1), find(&beta2, cell.beta2)]
    };
    let mut values = vec![vec![vec![None; beta2.len()]; beta1.len()]; methods.len()];
    for cell in &cells {
        let [method, row, column] = place(cell);
        values[method][row][column] = cell.value;
    }
    let picks =
        picks.iter().filter_map(|(name, at)| Some((name.to_string(), place(cells.get((*at)?)?)))).collect();
    SweepMap { meaning: meaning.into(), picks, values, methods, beta1, beta2 }
}
