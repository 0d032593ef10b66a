//! Reads input files into tables of finite numbers; notes rows that were left out and columns of very different scale.

use rpfcluster_data::{Frame, Preparation, Table, read_frame};

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
            hint.largest, hint.ratio, hint.smallest
        ));
    }
    Ok((table, preparation))
}

/// [`table`] for a clustering, whose own hints name such columns.
pub fn table_without_hint(session: &Session, data: &DataArgs) -> Result<(Table, Preparation)> {
    let frame = frame(session, data)?;
    let rows = frame.n();
    let (table, preparation) = session.clock.time("read", || resolve::prepare(data).fit(frame))?;
    note_size(session, &table, rows);
    Ok((table, preparation))
}

/// Reads DATA with the columns, the treatment of missing values and the scaling of a fitted model.
pub fn table_like(session: &Session, data: &DataArgs, fitted: &Preparation) -> Result<Table> {
    let frame = frame(session, data)?;
    let rows = frame.n();
    let table = session.clock.time("read", || fitted.apply(frame, data.label.as_ref()))?;
    note_size(session, &table, rows);
    Ok(table)
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
