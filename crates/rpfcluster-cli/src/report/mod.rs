//! The page of `--report`: what the command knows of a run, handed to the report's own crate, and the file it comes back
//! as.

mod command;

use std::io::Write;
use std::path::Path;

use rpfcluster_report::model::SweepMap;
use rpfcluster_report::{Again, Basis as Shown, Classes, Columns, Pairs, Subject};

pub use command::command_line;

use crate::clock::peak_bytes;
use crate::clustered::{Basis, Clustered};
use crate::exit::Outcome;
use crate::output;
use crate::session::Session;
use crate::summary;

/// Makes the page and writes it, whole or not at all.
pub fn save(session: &Session, clustered: &Clustered, sweep: Option<SweepMap>, path: &Path) -> Outcome {
    let page = session.clock.time("report", || -> Outcome<String> {
        let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        let again = Again { what: "This command makes".into(), text: command_line(words, clustered.seed()) };
        let (row, d);
        let columns = match &clustered.basis {
            Basis::Rows { table, preparation, .. } => {
                d = table.d();
                row = move |i: usize, out: &mut [f64]| {
                    out.iter_mut().enumerate().for_each(|(j, out)| *out = table.values.get(i * d + j));
                };
                let units = Some((preparation.center.as_slice(), preparation.scale.as_slice()));
                Some(Columns { names: &table.columns, row: &row, units })
            }
            Basis::Matrix { .. } => None,
        };
        let subject = Subject {
            source: clustered.source.clone(),
            basis: match &clustered.basis {
                Basis::Rows { fitted, .. } => Shown::Forest(fitted),
                Basis::Matrix { similarity: s, params, labels, embedding } => Shown::Matrix {
                    pairs: Pairs { starts: &s.indptr, indices: &s.indices, values: &s.data },
                    params,
                    labels,
                    embedding,
                },
            },
            columns,
            classes: clustered.classes().map(|c| Classes { codes: &c.codes, names: &c.names }),
            rows: clustered.table().and_then(|table| table.rows.as_deref()),
            warnings: summary::warnings(clustered),
            sweep,
            facts: facts(session, clustered),
            again,
        };
        let report = rpfcluster_report::build(subject, &session.progress)?;
        Ok(rpfcluster_report::html(&report)?)
    })?;
    output::to_file(path, |out| out.write_all(page.as_bytes()))
}

/// Parameters, choices, times and memory.
fn facts(session: &Session, clustered: &Clustered) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = clustered
        .params()
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| {
            (name.replace('_', "-"), value.as_str().map_or_else(|| value.to_string(), str::to_string))
        })
        .collect();
    let e = clustered.embedding();
    let sure = if e.converged { "yes" } else { "no" };
    facts.push(("seed".into(), clustered.seed().to_string()));
    facts.push(("converged".into(), format!("{sure}, largest residual {:.1e}", e.residual)));
    for stage in ["read", "grow", "tune", "sweep", "kernel", "spectral", "label"] {
        let seconds = session.clock.seconds_of(stage);
        if seconds > 0.0 {
            facts.push((format!("seconds to {stage}"), format!("{seconds:.3}")));
        }
    }
    if let Some(bytes) = peak_bytes() {
        facts.push(("peak memory".into(), output::size(bytes)));
    }
    facts.push(("version".into(), format!("rpf {}", env!("CARGO_PKG_VERSION"))));
    facts
}
