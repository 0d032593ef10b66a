//! `rpf predict`: labels new rows by a saved clustering, writes the labels and scores them where classes are known.

use rpfcluster::metrics::Scores;
use rpfcluster::metrics::cluster_sizes;
use rpfcluster_data::Table;
use serde_json::json;

use crate::args::{DataArgs, PredictArgs};
use crate::exit::Result;
use crate::files::labels::LabelsFile;
use crate::files::model;
use crate::load::Input;
use crate::session::{ProblemSize, Session};
use crate::transaction::Transaction;
use crate::{library, load, output, output_paths, resolve, summary};

/// Loads the model, reads the rows, predicts and writes labels.
pub fn run(args: &PredictArgs) -> Result {
    let session = Session::new(&args.run);
    resolve::labels_format(args.output.as_deref())?;
    output_paths::check(
        &[("MODEL", Some(&args.model)), ("DATA", Some(&args.data)), ("--config", args.run.config.as_deref())],
        &[(output_paths::OUTPUT, args.output.as_deref())],
    )?;
    session.on_threads(|| {
        let loaded = session.clock.time("model", || model::load(&args.model, session.memory_limit()))?;
        let (fitted, meta) = loaded.into_clustering(&args.model)?;
        let data = DataArgs {
            data: args.data.clone(),
            label: args.label.clone(),
            drop: args.drop.clone(),
            columns: args.columns.clone(),
            read: args.read.clone(),
            ..DataArgs::default()
        };
        let input = match args.append {
            true => Input::to_append_to(&session, &data)?,
            false => load::input(&session, &data),
        };
        let table = load::table_like(&session, &data, &input, &meta.preparation)?;
        let (labels, confidence) = if args.confidence {
            let (labels, confidence) = library::predict_with_confidence(&session, &fitted, &table)?;
            (labels, Some(confidence))
        } else {
            (library::predict(&session, &fitted, &table)?, None)
        };
        let hints: Vec<String> = far_hint(&table, &library::far_rows(&fitted, &table)?).into_iter().collect();
        hints.iter().for_each(|sentence| session.note(sentence));
        let file = LabelsFile {
            target: args.output.as_deref(),
            append_to: args.append.then_some(&input),
            rows: table.rows.as_deref(),
            labels: &labels,
            confidence: confidence.as_deref(),
        };
        let to_file = args.output.as_ref().filter(|path| !output::is_standard(path));
        let mut transaction = Transaction::default();
        if !args.json || to_file.is_some() {
            file.save(&mut transaction)?;
        }
        let scores = table.labels.as_ref().map(|classes| Scores::new(&labels, &classes.codes)).transpose()?;
        if args.json {
            let params = fitted.forest().params();
            let size = ProblemSize { n: table.n, d: table.d(), k: None };
            let mut object = session.head("predict", size, params.seed, json!(params));
            object.insert("k".into(), fitted.k().into());
            object.insert("hints".into(), json!(hints));
            object.insert("cluster_sizes".into(), json!(cluster_sizes(&labels, fitted.k())));
            if let Some(scores) = scores {
                object.insert("scores".into(), json!(scores));
            }
            transaction.print_json(session.finished(object));
            return transaction.commit();
        }
        transaction.commit()?;
        if let Some(s) = scores {
            session.note(&summary::scores_in_words(&s));
        }
        if let Some(path) = to_file {
            session.note(&format!("wrote {}: labels of {} rows", path.display(), table.n));
        }
        Ok(())
    })
}

/// Names rows whose labels are extrapolations.
fn far_hint(table: &Table, far: &[usize]) -> Option<String> {
    let first = table.input_row(*far.first()?);
    let many = far.len();
    let (rows, lie) = if many == 1 { ("row", "lies") } else { ("rows", "lie") };
    Some(format!(
        "hint: {many} {rows} {lie} far outside the rows of the model (the first is row {first}); the cluster is a guess there"
    ))
}
