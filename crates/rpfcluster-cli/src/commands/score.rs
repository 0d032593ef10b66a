//! `rpf score`: scores labels against known classes, from two files or from two columns of one file.

use std::path::Path;

use rpfcluster::metrics::{Contingency, Scores};
use rpfcluster_data::{ColumnRef, Labels, RowLabels, read_labels};
use serde_json::{Map, Value, json};

use crate::args::ScoreArgs;
use crate::exit::{Failure, Result};
use crate::files::labels::classes_of;
use crate::output;
use crate::session::Session;

/// Largest number of clusters and classes of a printed contingency table; a larger table is left to `--json`.
const SHOWN: usize = 20;

/// Reads labels and classes, scores and prints.
pub fn run(args: &ScoreArgs) -> Result {
    let session = Session::new(&args.run);
    session.on_threads(|| {
        let (labels, classes) = session.clock.time("read", || pair(&session, args))?;
        let table = Contingency::new(&labels.codes, &classes.codes)?;
        let scores = Scores::of(&table)?;
        let counts = full(&table, labels.names.len(), classes.names.len());
        if args.json {
            let mut object = Map::new();
            object.insert("command".into(), "score".into());
            object.insert("version".into(), env!("CARGO_PKG_VERSION").into());
            object.insert("n".into(), labels.codes.len().into());
            object.insert("k".into(), labels.names.len().into());
            object.insert("cluster_sizes".into(), json!(labels.counts()));
            object.insert("scores".into(), json!(scores));
            let contingency = json!({"clusters": labels.names, "classes": classes.names, "counts": counts});
            object.insert("contingency".into(), contingency);
            return output::print_json(&session.finished(object));
        }
        output::print(&text(&scores, &labels, &classes, &counts))
    })
}

/// Clusters and classes of the same rows, in the same order.
fn pair(session: &Session, args: &ScoreArgs) -> Result<(Labels, Labels)> {
    let reading = session.reading();
    let truth = Path::new(&args.truth);
    if truth.is_file() || args.truth == "-" {
        if args.truth == "-" && args.labels.as_os_str() == "-" {
            return Err(Failure::usage(
                "LABELS and --truth cannot both be standard input; name a file for one",
            ));
        }
        let labels = read_labels(&args.labels, None, &reading)?;
        let classes = read_labels(truth, args.label.as_ref(), &reading)?;
        return aligned(session, args, labels, &classes);
    }
    if args.labels.as_os_str() == "-" || truth.components().count() > 1 {
        return Err(Failure::data(format!("{}: no such file", args.truth)));
    }
    // Two columns of one file. The labels first, so that a missing file is reported as such.
    let labels = read_labels(&args.labels, None, &reading)?;
    let column = ColumnRef::from(args.truth.as_str());
    let classes = read_labels(&args.labels, Some(&column), &reading);
    let classes = classes.map_err(|error| match Failure::from(error) {
        Failure::Data(sentence) => {
            Failure::Data(format!("--truth {}: no such file, and no such column: {sentence}", args.truth))
        }
        other => other,
    })?;
    Ok((labels.labels, classes.labels))
}

/// Matches classes to labels by the column `row`, since a labels file may leave out rows.
fn aligned(
    session: &Session,
    args: &ScoreArgs,
    labels: RowLabels,
    classes: &RowLabels,
) -> Result<(Labels, Labels)> {
    let (n, m) = (labels.labels.codes.len(), classes.labels.codes.len());
    let (Some(rows), file) = (&labels.rows, args.labels.display()) else {
        if n == m {
            return Ok((labels.labels, classes.labels.clone()));
        }
        return Err(Failure::data(format!(
            "{} has {n} labels, but {} has {m} classes; both must describe the same rows",
            args.labels.display(),
            args.truth
        )));
    };
    let found = classes_of(classes, rows.iter().copied()).map_err(|row| {
        Failure::data(format!("{file} labels row {row}, but {} has no class for it", args.truth))
    })?;
    if n < m {
        session.note(&format!(
            "hint: {file} labels {n} of the {m} rows of {}; the others are left out",
            args.truth
        ));
    }
    Ok((labels.labels, found))
}

/// The full contingency table, one row per cluster.
fn full(table: &Contingency, clusters: usize, classes: usize) -> Value {
    let mut counts = vec![vec![0u64; classes]; clusters];
    for &(cluster, class, count) in table.cells() {
        if let Some(cell) = counts.get_mut(cluster as usize).and_then(|row| row.get_mut(class as usize)) {
            *cell = count;
        }
    }
    json!(counts)
}

fn text(scores: &Scores, labels: &Labels, classes: &Labels, counts: &Value) -> String {
    let percent = |value: f64| format!("{value:.2} %");
    let row = |name: &str, value: String, what: &str| format!("{name:<18} {value:>9}  {what}\n");
    let mut text = row(
        "accuracy (rho_c)",
        percent(scores.rho_c),
        "share of rows in the class that their cluster is matched with, by the best matching",
    );
    text += &row(
        "Rand index (rho_r)",
        percent(scores.rho_r),
        "share of pairs of rows on which clusters and classes agree",
    );
    text += &row(
        "ARI",
        format!("{:.4}", scores.ari),
        "adjusted Rand index: 0 for random labels, 1 for identical ones",
    );
    text += &row("NMI", format!("{:.4}", scores.nmi), "normalised mutual information");
    text += &row("majority", percent(scores.majority), "accuracy of always the largest class");
    let (k, c) = (labels.names.len(), classes.names.len());
    if k > SHOWN || c > SHOWN {
        text += &format!("\n{k} clusters, {c} classes: --json prints the contingency table\n");
        return text;
    }
    let mut rows =
        vec![std::iter::once("cluster".to_string()).chain(classes.names.iter().cloned()).collect()];
    for (cluster, name) in labels.names.iter().enumerate() {
        let cell = |class: usize| counts[cluster][class].to_string();
        rows.push(std::iter::once(name.clone()).chain((0..c).map(cell)).collect::<Vec<String>>());
    }
    text.push('\n');
    text + &output::columns(&rows)
}
