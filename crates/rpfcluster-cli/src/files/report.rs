//! Writes the page of `--report`: collects what the command knows about a run (data, classes, warnings, times, memory,
//! the command line) for the report crate.

use std::io::Write;
use std::path::Path;

use rpfcluster_data::byte_size;
use rpfcluster_report::model::SweepMap;
use rpfcluster_report::{Again, Classes, ColumnScaling, Columns, Subject};

use crate::exit::Result;
use crate::files::command_line::command_line;
use crate::outcome::Outcome;
use crate::session::Session;
use crate::session::clock::peak_bytes;
use crate::transaction::Transaction;

/// Builds the page and stages it. `warnings` are shown at its top.
pub fn save(
    transaction: &mut Transaction<'_>,
    session: &Session,
    outcome: &Outcome,
    warnings: Vec<String>,
    sweep: Option<SweepMap>,
    path: &Path,
) -> Result {
    let page = session.clock.time("report", || -> Result<String> {
        let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        let text = command_line(words, outcome.clustering.seed());
        let row = |i: usize, out: &mut [f64]| {
            if let Some(table) = outcome.table() {
                out.iter_mut().enumerate().for_each(|(j, out)| *out = table.value(i, j));
            }
        };
        let scaling = outcome.prepared.as_ref().map(|prepared| prepared.preparation.table_scaling());
        let columns = outcome.prepared.as_ref().map(|prepared| Columns {
            names: &prepared.table.columns,
            row: &row,
            scaling: scaling.as_ref().map(|(center, scale)| ColumnScaling { center, scale }),
        });
        let subject = Subject {
            source: outcome.source.clone(),
            clustering: &outcome.clustering,
            confidence: if outcome.clustering.k() > 1 { outcome.confidence(session)? } else { None },
            columns,
            classes: outcome.classes().map(|c| Classes { codes: &c.codes, names: &c.names }),
            rows: outcome.table().and_then(|table| table.rows.as_deref()),
            warnings,
            sweep,
            facts: facts(session, outcome),
            again: Again { what: "This command reproduces".into(), text },
        };
        let report = rpfcluster_report::build(subject, &session.progress)?;
        Ok(rpfcluster_report::html(&report)?)
    })?;
    transaction.file(path, move |out| out.write_all(page.as_bytes()))
}

/// Parameters, times and memory.
fn facts(session: &Session, outcome: &Outcome) -> Vec<(String, String)> {
    let mut facts = outcome.clustering.facts();
    for stage in ["read", "grow", "tune", "sweep", "kernel", "spectral", "label", "assess"] {
        let seconds = session.clock.seconds_of(stage);
        if seconds > 0.0 {
            facts.push((format!("seconds to {stage}"), format!("{seconds:.3}")));
        }
    }
    if let Some(bytes) = peak_bytes() {
        facts.push(("peak memory".into(), byte_size(bytes)));
    }
    facts.push(("version".into(), format!("rpf {}", env!("CARGO_PKG_VERSION"))));
    facts
}
