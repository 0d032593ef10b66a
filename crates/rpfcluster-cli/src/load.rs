//! Reads input files into tables of finite numbers; notes rows that were left out and columns of very different scale.

use rpfcluster::printable::excerpt;
use rpfcluster_data::{Frame, Preparation, Selection, Table, read_frame};

use crate::args::DataArgs;
use crate::exit::Result;
use crate::resolve;
use crate::session::Session;

/// Reads DATA as the options ask for; returns the table and the preparation that new rows must go through.
pub fn table(session: &Session, data: &DataArgs) -> Result<(Table, Preparation)> {
    let (table, preparation) = table_without_hint(session, data)?;
    if data.standardize.is_empty()
        && let Some(hint) = table.scale_hint()
    {
        session.note(&format!(
            "hint: column \"{}\" varies {:.0} times as much as column \"{}\" and will dominate the result; \
             --standardize all gives every column the same weight",
            excerpt(&hint.largest, 40),
            hint.ratio,
            excerpt(&hint.smallest, 40)
        ));
    }
    Ok((table, preparation))
}

/// [`table`] for a clustering, whose own hints name such columns.
pub fn table_without_hint(session: &Session, data: &DataArgs) -> Result<(Table, Preparation)> {
    let frame = frame(session, data)?;
    let rows = frame.n();
    let (table, preparation) = session.clock.time("read", || resolve::prepare(data).fit(frame))?;
    if let Some(name) = repeated(&table.columns) {
        session.note(&format!(
            "hint: {}: several columns are called \"{}\"; rename them if a model of this table is to label new rows",
            table.source,
            excerpt(name, 40)
        ));
    }
    note_size(session, &table, rows);
    Ok((table, preparation))
}

/// Reads DATA with the columns, the treatment of missing values and the scaling of a fitted model.
pub fn table_like(session: &Session, data: &DataArgs, fitted: &Preparation) -> Result<Table> {
    let frame = frame(session, data)?;
    let rows = frame.n();
    let selection =
        Selection { label: data.label.clone(), drop: data.drop.clone(), columns: data.columns.clone() };
    let (table, unknown) = session.clock.time("read", || fitted.apply(frame, &selection))?;
    if let Some(names) = listed(&unknown) {
        session.note(&format!(
            "hint: {}: ignored {names}: the model was not fitted on {}; --drop leaves out columns without this hint",
            table.source,
            if unknown.len() == 1 { "it" } else { "them" }
        ));
    }
    note_size(session, &table, rows);
    Ok(table)
}

/// `column "a"`, or `columns "a", "b" and 7 more`.
fn listed(names: &[String]) -> Option<String> {
    const SHOWN: usize = 5;
    let quoted = |name: &String| format!("\"{}\"", excerpt(name, 40));
    let shown: Vec<String> = names.iter().take(SHOWN).map(quoted).collect();
    match names.len() {
        0 => None,
        1 => Some(format!("column {}", shown[0])),
        many if many > SHOWN => Some(format!("columns {} and {} more", shown.join(", "), many - SHOWN)),
        _ => Some(format!("columns {}", shown.join(", "))),
    }
}

/// The first name that several columns have.
fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = std::collections::HashSet::new();
    names.iter().find(|name| !seen.insert(name.as_str()))
}

fn frame(session: &Session, data: &DataArgs) -> Result<Frame> {
    let reading = resolve::reading(data, session.memory_limit());
    session.clock.time("read", || Ok(read_frame(&data.data, &reading)?))
}

/// Notes rows that were left out, and with `--verbose` the size of the table.
fn note_size(session: &Session, table: &Table, rows: usize) {
    if table.n < rows {
        let left = rows - table.n;
        session.note(&format!("{}: {left} of {rows} rows left out for missing values", table.source));
    }
    session.detail(&format!("{}: {} rows, {} columns", table.source, table.n, table.d()));
}
