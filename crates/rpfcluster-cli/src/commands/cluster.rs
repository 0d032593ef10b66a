//! `rpf cluster`: from a table, or a similarity matrix, to labels, a model and a page.

use std::path::PathBuf;

use crate::args::ClusterArgs;
use crate::clustered::{Basis, Clustered};
use crate::exit::{Failure, Outcome};
use crate::labels_file::{COLUMN, LabelsFile};
use crate::model::{self, Meta};
use crate::resolve::Clusters;
use crate::session::Session;
use crate::{engine, output, report, resolve, summary, tried};

/// Reads, clusters, writes, sums up.
pub fn run(args: &ClusterArgs) -> Outcome {
    let session = Session::new(&args.run);
    let wanted = resolve::clusters(args)?;
    if args.append {
        resolve::appendable(&args.data.data)?;
    }
    resolve::outputs(
        &args.data.data,
        &[
            ("--output", args.output.as_deref()),
            ("--model", args.model.as_deref()),
            ("--report", args.report.as_deref()),
        ],
    )?;
    session.on_threads(|| {
        let clustered = if args.spectral.precomputed {
            matrix(&session, args, &wanted)?
        } else {
            rows(&session, args, &wanted)?
        };
        write(&session, args, &clustered)?;
        if let Some(evidence) = clustered.evidence() {
            session.details(&tried::tables(evidence));
        }
        for sentence in summary::warnings(&clustered) {
            session.note(&sentence);
        }
        if args.json {
            return output::print_json(&clustered.json(&session, "cluster")?);
        }
        session.summary(&summary::text(&clustered, session.clock.total())?);
        let written = [("labels", &args.output), ("model", &args.model), ("report", &args.report)];
        for (what, path) in written {
            if let Some(path) = path.as_ref().filter(|p| p.as_os_str() != "-") {
                session.summary(&format!("{what:<11}  {}\n", path.display()));
            }
        }
        Ok(())
    })
}

fn rows(session: &Session, args: &ClusterArgs, wanted: &Clusters) -> Outcome<Clustered> {
    let mut params = resolve::open_walk(&args.forest, &args.spectral, wanted)?;
    params.method = args.method.map(Into::into);
    let (table, preparation) = engine::load(session, &args.data)?;
    if table.columns.iter().any(|name| name == COLUMN) {
        session.note(&format!(
            "hint: column \"{COLUMN}\" looks like the labels of an earlier run and is used as a feature; \
             leave it out with --drop {COLUMN}"
        ));
    }
    Clustered::rows(session, table, preparation, &params)
}

fn matrix(session: &Session, args: &ClusterArgs, wanted: &Clusters) -> Outcome<Clustered> {
    if args.model.is_some() {
        return Err(Failure::usage("--model saves a forest, but --precomputed grows none; leave it out"));
    }
    if args.append {
        return Err(Failure::usage("--append is for tables, but --precomputed reads a matrix; leave it out"));
    }
    if args.confidence {
        return Err(Failure::usage(
            "--confidence asks the forest, but --precomputed grows none; leave it out",
        ));
    }
    let (Clusters::Fixed(k) | Clusters::UpTo(k)) = *wanted;
    let mut params = resolve::matrix(&args.forest, &args.spectral, k)?;
    params.method = args.method.map_or(params.method, Into::into);
    Clustered::matrix(session, &args.data, &params)
}

/// All files that were asked for, or none: some of them without the others would look like success.
fn write(session: &Session, args: &ClusterArgs, clustered: &Clustered) -> Outcome {
    let mut written: Vec<PathBuf> = Vec::new();
    let done = write_each(session, args, clustered, &mut written);
    if done.is_err() {
        written.iter().filter(|path| path.is_file()).for_each(|path| {
            let _ = std::fs::remove_file(path);
        });
    }
    done
}

fn write_each(
    session: &Session,
    args: &ClusterArgs,
    clustered: &Clustered,
    written: &mut Vec<PathBuf>,
) -> Outcome {
    if let (Some(path), Basis::Rows { table, preparation, fitted }) = (&args.model, &clustered.basis) {
        let label = args.data.label.as_ref().map(|l| l.0.clone());
        model::save_clustering(path, fitted, &Meta::new(table, preparation.clone(), label))?;
        written.push(path.clone());
    }
    if let Some(path) = &args.report {
        report::save(session, clustered, None, path)?;
        written.push(path.clone());
    }
    let to_stdout = args.output.as_ref().is_none_or(|path| path.as_os_str() == "-");
    if args.json && to_stdout {
        return Ok(());
    }
    let file = match clustered.table() {
        Some(table) => LabelsFile::of_table(table, clustered.labels(), args.output.as_deref()),
        None => LabelsFile {
            target: args.output.as_deref(),
            append_to: None,
            rows: None,
            labels: clustered.labels(),
            confidence: None,
        },
    };
    let confidence = if args.confidence { clustered.confidence() } else { None };
    let append_to = args.append.then_some(args.data.data.as_path());
    LabelsFile { append_to, confidence: confidence.as_deref(), ..file }.save()
}
