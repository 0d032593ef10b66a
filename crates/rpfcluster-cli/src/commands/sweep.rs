//! `rpf sweep`: every threshold and bandwidth of a grid over one forest, scored where classes are known.

use std::fmt::Write;
use std::sync::Arc;

use rpfcluster::observe::Observer;
use rpfcluster::spectral::Method;
use rpfcluster::sweep::{Entry, Sweep, SweepResult};
use rpfcluster::{Forest, ForestParams, Points};
use serde_json::{Map, Value, json};

/// Entries shown to people; all are in the JSON.
const SHOWN: usize = 10;

/// What is asked.
pub struct Request<'a> {
    /// Rows of `d` numbers.
    pub values: &'a [f64],
    /// Columns.
    pub d: usize,
    /// The known class of each row.
    pub classes: Option<&'a [u32]>,
    /// The forest.
    pub forest: ForestParams,
    /// The grid and everything else.
    pub sweep: Sweep,
    /// Whether each entry carries its labels.
    pub labels: bool,
}

/// The members of the JSON object below its common head, and the table for people. Runs in the current thread pool.
pub fn run(
    request: &Request<'_>,
    observer: &dyn Observer,
) -> rpfcluster::Result<(Map<String, Value>, String)> {
    let n = request.values.len().checked_div(request.d).unwrap_or(0);
    let points = Points::new(request.values, n, request.d)?;
    let forest = Forest::grow_observed(&points, &request.forest, observer)?;
    let found = request.sweep.run(&Arc::new(forest.leaves()), request.classes, observer)?;
    let grid: Vec<Value> = (0..found.entries.len()).map(|at| entry(&found, at, request.labels)).collect();
    let mut object = Map::new();
    object.insert(
        "best_by_labels".into(),
        json!(found.best_by_labels.map(|at| entry(&found, at, request.labels))),
    );
    object.insert("label_free".into(), entry(&found, found.label_free, request.labels));
    object
        .insert("label_free_rule".into(), "highest mean ARI to the partitions of all other settings".into());
    object.insert("distinct_partitions".into(), found.partitions.len().into());
    object.insert("left_out_beta1".into(), json!(found.left_out));
    object.insert("failed".into(), json!(found.failed));
    object.insert("grid".into(), Value::Array(grid));
    Ok((object, text(&found)))
}

fn name(method: Method) -> &'static str {
    match method {
        Method::Ncut => "ncut",
        Method::Kway => "kway",
    }
}

fn entry(found: &SweepResult, at: usize, labels: bool) -> Value {
    let Some(e) = found.entries.get(at) else { return Value::Null };
    let mut value = json!({
        "beta1": e.beta1, "beta2": e.beta2, "method": name(e.method), "sizes": e.sizes, "ncut": e.ncut,
        "eigengap": e.eigengap, "converged": e.converged, "reused": e.reused, "partition": e.partition,
    });
    if let (Value::Object(map), Some(scores)) = (&mut value, found.scores_of(at)) {
        map.insert("scores".into(), json!(scores));
    }
    if let (Value::Object(map), true) = (&mut value, labels) {
        map.insert("labels".into(), json!(found.labels_of(at)));
    }
    value
}

fn line(text: &mut String, found: &SweepResult, at: usize, e: &Entry) {
    let sizes: Vec<String> = e.sizes.iter().map(usize::to_string).collect();
    let _ = write!(text, "{:>6} {:>7} {:>5} {:>9.4}", e.beta1, e.beta2, name(e.method), e.ncut);
    if let Some(s) = found.scores_of(at) {
        let _ = write!(text, " {:>7.2} {:>7.2} {:>7.3}", s.rho_c, s.rho_r, s.ari);
    }
    let _ = writeln!(text, "  {}", sizes.join(" "));
}

/// The picks, and the partitions with the most settings behind them.
fn text(found: &SweepResult) -> String {
    let scored = if found.scores.is_some() {
        format!(" {:>7} {:>7} {:>7}", "rho_c", "rho_r", "ARI")
    } else {
        String::new()
    };
    let head = format!("{:>6} {:>7} {:>5} {:>9}{scored}  sizes\n", "beta1", "beta2", "", "ncut");
    let mut text =
        format!("{} settings, {} distinct partitions\n", found.entries.len(), found.partitions.len());
    for (title, at) in [("best by labels", found.best_by_labels), ("label-free", Some(found.label_free))] {
        if let Some((at, e)) = at.and_then(|at| found.entries.get(at).map(|e| (at, e))) {
            let _ = writeln!(text, "\n{title}");
            text.push_str(&head);
            line(&mut text, found, at, e);
        }
    }
    let mut counts = vec![(0usize, 0usize); found.partitions.len()];
    for (at, e) in found.entries.iter().enumerate().rev() {
        counts[e.partition] = (counts[e.partition].0 + 1, at);
    }
    counts.sort_by_key(|(count, at)| (std::cmp::Reverse(*count), *at));
    let _ = writeln!(text, "\nmost common partitions, each at its first setting");
    text.push_str(&head);
    for (_, at) in counts.into_iter().take(SHOWN) {
        if let Some(e) = found.entries.get(at) {
            line(&mut text, found, at, e);
        }
    }
    text
}
