//! `rpf cluster`: clusters a table or a similarity matrix; writes labels, a model and a report.

use crate::args::ClusterArgs;
use crate::exit::{Failure, Result};
use crate::files::labels::{LabelledRows, LabelsFile};
use crate::files::model::{self, Meta};
use crate::files::report;
use crate::files::table::TableFormat;
use crate::load::Input;
use crate::outcome::Outcome;
use crate::resolve::Clusters;
use crate::session::Session;
use crate::transaction::Transaction;
use crate::{load, output, output_paths, resolve, summary};

/// Reads, clusters, writes the files and prints the summary or the JSON object.
pub fn run(args: &ClusterArgs) -> Result {
    let session = Session::new(&args.run);
    let wanted = resolve::clusters(args)?;
    TableFormat::of(args.output.as_deref())?;
    output_paths::check(
        &[("DATA", Some(&args.data.data)), ("--config", args.run.config.as_deref())],
        &[
            (output_paths::OUTPUT, args.output.as_deref()),
            ("--model", args.model.as_deref()),
            ("--report", args.report.as_deref()),
        ],
    )?;
    session.on_threads(|| {
        let input = match args.append {
            true => Input::to_append_to(&session, &args.data)?,
            false => load::input(&session, &args.data),
        };
        let outcome = if args.spectral.precomputed {
            matrix(&session, args, &wanted)?
        } else {
            rows(&session, args, &input, &wanted)?
        };
        let mut transaction = Transaction::default();
        stage(&mut transaction, &session, args, &input, &outcome)?;
        let reader = match args.report {
            Some(_) => summary::Reader::TerminalWithReport,
            None => summary::Reader::Terminal,
        };
        let hints = summary::warnings(&outcome, reader);
        // Computed before the files are in place: Ctrl-C can end the run here, but not after that.
        let mut text = String::new();
        if args.json {
            transaction.print_json(outcome.json(&session, "cluster", &hints)?);
        } else {
            text = session.summary(|| described(&session, args, &outcome))?;
        }
        transaction.commit()?;
        if let Some(evidence) = outcome.clustering.evidence() {
            session.details(|| summary::tables(evidence));
        }
        hints.iter().for_each(|sentence| session.note(sentence));
        output::summary(&text);
        Ok(())
    })
}

/// The summary of the clustering and the names of its files.
fn described(session: &Session, args: &ClusterArgs, outcome: &Outcome) -> Result<String> {
    let mut text = summary::text(session, outcome)?;
    for (what, path) in [("labels", &args.output), ("model", &args.model), ("report", &args.report)] {
        if let Some(path) = path.as_ref().filter(|p| !output::is_standard(p)) {
            text += &format!("{what:<11}  {}\n", path.display());
        }
    }
    Ok(text)
}

fn rows(session: &Session, args: &ClusterArgs, input: &Input<'_>, wanted: &Clusters) -> Result<Outcome> {
    let params = resolve::pipeline_with_open_trees(&args.forest, &args.spectral, wanted)?;
    let params = resolve::with_method(params, args)?;
    if resolve::scaling_is_auto(&args.data) {
        let tables = load::raw_and_standardized(session, &args.data, input)?;
        return Outcome::of_better_scaling(session, tables, &params);
    }
    let (table, preparation) = load::table_without_hint(session, &args.data, input)?;
    Outcome::of_rows(session, table, preparation, &params)
}

fn matrix(session: &Session, args: &ClusterArgs, wanted: &Clusters) -> Result<Outcome> {
    if args.model.is_some() {
        return Err(Failure::usage("--model saves a forest, but --precomputed grows none; leave it out"));
    }
    if args.append {
        return Err(Failure::usage(
            "--append applies only to tables, but --precomputed reads a matrix; leave it out",
        ));
    }
    if args.confidence {
        return Err(Failure::usage(
            "--confidence needs a forest, but --precomputed grows none; leave it out",
        ));
    }
    let params = resolve::pipeline(&args.forest, &args.spectral, wanted)?;
    let params = resolve::with_method(params, args)?;
    Outcome::of_matrix(session, &args.data, params.spectral_params(params.method.unwrap_or_default()))
}

/// Stages the model, the page and the labels.
fn stage<'a>(
    transaction: &mut Transaction<'a>,
    session: &Session,
    args: &'a ClusterArgs,
    input: &'a Input<'a>,
    outcome: &'a Outcome,
) -> Result {
    if let (Some(path), Some(prepared), Some(fitted)) =
        (&args.model, &outcome.prepared, outcome.clustering.fitted())
    {
        let label = args.data.label.as_ref().map(|l| l.0.clone());
        let meta = Meta::new(&prepared.table, prepared.preparation.clone(), label);
        model::save_clustering(transaction, path, fitted, &meta)?;
    }
    if let Some(path) = &args.report {
        let warnings = summary::warnings(outcome, summary::Reader::Page);
        report::save(transaction, session, outcome, warnings, None, path)?;
    }
    let to_stdout = args.output.as_ref().is_none_or(|path| output::is_standard(path));
    if args.json && to_stdout {
        return Ok(());
    }
    let (rows, labels) =
        (outcome.table().and_then(|table| table.rows.as_deref()), outcome.clustering.labels());
    let labelled = LabelledRows {
        before: 0,
        n: rows.and_then(|rows| rows.last().copied()).unwrap_or(labels.len()),
        rows,
        labels,
        confidence: if args.confidence { outcome.confidence(session)? } else { None },
    };
    LabelsFile { target: args.output.as_deref(), append_to: args.append.then_some(input), labelled }
        .save(transaction)
}
