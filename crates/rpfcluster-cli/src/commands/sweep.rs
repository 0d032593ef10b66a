//! `rpf sweep`: clusters one forest by every threshold and bandwidth of a grid; scores the results where classes are
//! known.

use std::fmt::Write;
use std::sync::Arc;

use rpfcluster::LeafMatrix;
use rpfcluster::{AffinityKind, Components, Duplicates, ForestParams, RpfCluster};
use rpfcluster_data::{Preparation, Table};
use rpfcluster_paper::sweep::{GridEntry, Sweep, SweepResult, coarse_bandwidths, paper_bandwidths};
use serde_json::{Map, Value, json};

use crate::args::{GridArg, MethodArg, SweepArgs};
use crate::charts::sweep_map;
use crate::exit::{Failure, Result};
use crate::files::report;
use crate::outcome::Outcome;
use crate::session::{ProblemSize, Session};
use crate::transaction::Transaction;
use crate::{library, load, output_paths, resolve, summary};

/// Entries in the printed table; the JSON object has all.
const SHOWN: usize = 10;
/// Bytes per pair above the threshold, in the kernel and in the affinity.
const PAIR_BYTES: f64 = 28.0;

/// Reads, grows one forest, clusters by every setting and prints.
pub fn run(args: &SweepArgs) -> Result {
    let session = Session::new(&args.run);
    let k = resolve::positive("--clusters", args.clusters)?;
    if args.method == Some(MethodArg::Leiden) {
        return Err(Failure::usage(
            "--method leiden is for rpf cluster only; rpf sweep compares the paper's methods kway and ncut",
        ));
    }
    let params = resolve::forest(&args.forest)?;
    let grid = args.grid.unwrap_or(GridArg::Coarse);
    let default = Sweep::default();
    let sweep = Sweep {
        k,
        beta2: match grid {
            GridArg::Coarse => coarse_bandwidths(),
            GridArg::Paper => paper_bandwidths(),
        },
        methods: args.method.map_or(default.methods, |method| vec![method.into()]),
        seed: params.seed,
        ..default
    };
    sweep.validate()?;
    output_paths::check(
        &[("DATA", Some(&args.data.data)), ("--config", args.run.config.as_deref())],
        &[("--report", args.report.as_deref())],
    )?;
    session.on_threads(|| {
        let (table, preparation) = load::table(&session, &args.data)?;
        let forest = library::grow(&session, &table, &params)?;
        let leaves = Arc::new(forest.leaves());
        check_memory(&session, &sweep, &leaves)?;
        let classes = table.labels.as_ref().map(|labels| labels.codes.as_slice());
        let found = session.clock.time("sweep", || {
            sweep
                .run(&leaves, classes, &session.progress)
                .map_err(|problem| Failure::of_file(&table.source, problem))
        })?;
        warn(&session, &found);
        let (n, d) = (table.n, table.d());
        let mut transaction = Transaction::default();
        if let Some(path) = &args.report {
            let outcome = refit(&session, table, preparation, &params, &sweep, &found)?;
            let warnings = summary::warnings(&outcome, summary::Reader::Page);
            let map = sweep_map::of_result(&found)?;
            report::save(&mut transaction, &session, &outcome, warnings, Some(map), path)?;
        }
        if !args.json {
            transaction.print(text(&found));
            return transaction.commit();
        }
        let mut params_object = json!(params);
        params_object["grid"] = match grid {
            GridArg::Coarse => "coarse".into(),
            GridArg::Paper => "paper".into(),
        };
        params_object["methods"] = sweep.methods.iter().map(rpfcluster_report::word).collect();
        params_object["diagonal"] = json!(sweep.diagonal);
        let mut object = session.head("sweep", ProblemSize { n, d, k: Some(k) }, params.seed, params_object);
        object.extend(members(&found));
        transaction.print_json(session.finished(object));
        transaction.commit()
    })
}

/// The clustering of the setting selected without labels, for the page. It is fitted again: a sweep keeps labels but
/// neither eigenvectors nor a model.
fn refit(
    session: &Session,
    table: Table,
    preparation: Preparation,
    forest: &ForestParams,
    sweep: &Sweep,
    found: &SweepResult,
) -> Result<Outcome> {
    let picked = found.entries.get(found.label_free);
    let picked = picked.ok_or_else(|| Failure::data("no setting of the sweep could be solved"))?;
    let params = RpfCluster {
        k: sweep.k,
        tune: false,
        trees: Some(forest.trees),
        min_node: Some(forest.min_node),
        split: forest.split,
        direction: forest.direction,
        candidates: forest.candidates,
        max_samples: forest.max_samples,
        affinity: Some(AffinityKind::Paper),
        beta1: Some(picked.beta1),
        beta2: Some(picked.beta2),
        diagonal: sweep.diagonal,
        method: Some(picked.method),
        // The forest of the sweep is grown on all rows and columns.
        duplicates: Duplicates::Keep,
        components: Components::None,
        seed: forest.seed,
        ..Default::default()
    };
    Outcome::of_rows(session, table, preparation, &params)
}

/// Refuses a sweep whose pairs do not fit into memory; the sweep itself leaves out thresholds that are far too small.
fn check_memory(session: &Session, sweep: &Sweep, leaves: &LeafMatrix) -> Result {
    let (kept, _) = sweep.affordable(leaves);
    let pairs = kept.into_iter().map(|beta1| Sweep::pair_bound(leaves, beta1)).fold(0.0, f64::max);
    session.check_memory(
        &format!("the pairs of {} rows", leaves.n()),
        (pairs * PAIR_BYTES) as u64,
        "use a smaller --min-node or fewer rows",
    )
}

/// Notes thresholds that were left out and settings that failed.
fn warn(session: &Session, found: &SweepResult) {
    if !found.left_out.is_empty() {
        let left: Vec<String> = found.left_out.iter().map(f64::to_string).collect();
        session.note(&format!("beta1 {} left out: it keeps too many pairs", left.join(", ")));
    }
    if let Some(failed) = &found.failed {
        session.note(&format!("{} settings could not be solved: {}", failed.settings, failed.first));
    }
}

/// The members of the JSON object below its head.
fn members(found: &SweepResult) -> Map<String, Value> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.into(), value);
    put("best_by_labels", json!(found.best_by_labels.map(|at| entry(found, at))));
    put("label_free", entry(found, found.label_free));
    put(
        "label_free_rule",
        "highest mean ARI to the partitions of all settings with beta2 up to 1, weighted by log beta2".into(),
    );
    put("distinct_partitions", found.partitions.len().into());
    put("left_out_beta1", json!(found.left_out));
    put("failed", json!(found.failed));
    put("grid", (0..found.entries.len()).map(|at| entry(found, at)).collect());
    object
}

fn entry(found: &SweepResult, at: usize) -> Value {
    let Some(e) = found.entries.get(at) else { return Value::Null };
    let mut value = json!({
        "beta1": e.beta1, "beta2": e.beta2, "method": rpfcluster_report::word(&e.method), "sizes": e.sizes, "ncut": e.ncut,
        "eigengap": e.eigengap, "converged": e.converged, "reused": e.reused, "partition": e.partition,
    });
    if let (Value::Object(map), Some(scores)) = (&mut value, found.scores_of(at)) {
        map.insert("scores".into(), json!(scores));
    }
    value
}

fn line(text: &mut String, found: &SweepResult, at: usize, e: &GridEntry) {
    let sizes: Vec<String> = e.sizes.iter().map(usize::to_string).collect();
    let _ = write!(
        text,
        "{:>6} {:>7} {:>5} {:>9.4}",
        e.beta1,
        e.beta2,
        rpfcluster_report::word(&e.method),
        e.ncut
    );
    if let Some(s) = found.scores_of(at) {
        let _ = write!(text, " {:>8.2} {:>10.2} {:>7.3}", s.rho_c, s.rho_r, s.ari);
    }
    let _ = writeln!(text, "  {}", sizes.join(" "));
}

/// The selected settings, and the partitions that most settings give.
fn text(found: &SweepResult) -> String {
    let scored = if found.scores.is_some() {
        format!(" {:>8} {:>10} {:>7}", "accuracy", "Rand index", "ARI")
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
    let _ = writeln!(text, "\nmost frequent partitions, each with its first setting");
    text.push_str(&head);
    for (_, at) in counts.into_iter().take(SHOWN) {
        if let Some(e) = found.entries.get(at) {
            line(&mut text, found, at, e);
        }
    }
    if found.scores.is_some() {
        text.push_str("\naccuracy (rho_c) and Rand index (rho_r) in percent\n");
    }
    text
}
