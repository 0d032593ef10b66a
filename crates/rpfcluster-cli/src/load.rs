//! Reads input files into tables of finite numbers; notes rows that were left out, columns of very different scale and
//! labels of an earlier run, which are no features.

use std::path::Path;
use std::sync::Arc;

use rpfcluster::printable::excerpt;
use rpfcluster_data::{
    Batches, Frame, Preparation, Prepare, ReadOptions, Selection, Standardize, Table, check_reading,
    read_batches, read_batches_bytes, read_bytes, read_frame, read_frame_bytes,
};

use crate::args::DataArgs;
use crate::exit::Result;
use crate::resolve;
use crate::session::Session;

/// Reads DATA as the options ask for; returns the table and the preparation that new rows must go through.
pub fn table(session: &Session, data: &DataArgs) -> Result<(Table, Preparation)> {
    let (table, preparation) = table_without_hint(session, data, &input(session, data))?;
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
pub fn table_without_hint(
    session: &Session,
    data: &DataArgs,
    input: &Input<'_>,
) -> Result<(Table, Preparation)> {
    let prepare = resolve::prepare(data)?;
    let frame = frame_of(session, input)?;
    prepared(session, data, input, frame, prepare)
}

/// DATA with its columns as they are, and with all columns standardised.
pub fn raw_and_standardized(
    session: &Session,
    data: &DataArgs,
    input: &Input<'_>,
) -> Result<[(Table, Preparation); 2]> {
    let [raw, all] = [Standardize::None, Standardize::All]
        .map(|standardize| Prepare { standardize, ..resolve::prepare_columns(data) });
    let frame = frame_of(session, input)?;
    let bytes = 8 * frame.n() as u64 * frame.width() as u64;
    check_reading(&input.source(), bytes, session.memory_limit())?;
    let first = prepared(session, data, input, frame.clone(), raw)?;
    let mut all = all;
    all.drop_last = drop_last(data, &frame, &all);
    let second = session.clock.time("read", || all.fit(frame))?;
    Ok([first, second])
}

fn frame_of(session: &Session, input: &Input<'_>) -> Result<Frame> {
    session.clock.time("read", || input.frame())
}

/// How many of the last columns are the labels of an earlier run, and are left out.
fn drop_last(data: &DataArgs, frame: &Frame, prepare: &Prepare) -> usize {
    let old = frame.earlier_labels();
    let first = frame.width() - old;
    let label = data.label.as_ref().and_then(|label| label.resolve(frame).ok()).unwrap_or_default();
    if first > 0 && prepare.columns.is_empty() && !label.contains(&first) { old } else { 0 }
}

/// Prepares a table and notes what was left out.
fn prepared(
    session: &Session,
    data: &DataArgs,
    input: &Input<'_>,
    frame: Frame,
    mut prepare: Prepare,
) -> Result<(Table, Preparation)> {
    let rows = frame.n();
    let old = drop_last(data, &frame, &prepare);
    if old > 0 {
        prepare.drop_last = old;
        let names = listed(&frame.names()[frame.width() - old..]).unwrap_or_default();
        let (holds, is) = if old == 1 { ("holds", "is") } else { ("hold", "are") };
        session.note(&format!(
            "{}: {names} {holds} the labels of an earlier run and {is} left out; --columns takes the columns it names",
            input.source()
        ));
    }
    let (table, preparation) = session.clock.time("read", || prepare.fit(frame))?;
    if let Some(name) = repeated(&table.columns) {
        session.note(&format!(
            "hint: {}: several columns are called \"{}\"; rename them if a model of this table is to label new rows",
            table.source,
            excerpt(name, 40)
        ));
    }
    note_size(session, &table.source, rows, table.n, table.d());
    Ok((table, preparation))
}

/// Reads DATA with the columns, the treatment of missing values and the scaling of a fitted model.
pub fn table_like(
    session: &Session,
    data: &DataArgs,
    input: &Input<'_>,
    fitted: &Preparation,
) -> Result<Table> {
    let frame = session.clock.time("read", || input.frame())?;
    let rows = frame.n();
    let (table, unknown) = session.clock.time("read", || fitted.apply(frame, &selection(data)))?;
    note_unknown(session, &table.source, &unknown);
    note_size(session, &table.source, rows, table.n, table.d());
    Ok(table)
}

/// The columns that the options select.
pub fn selection(data: &DataArgs) -> Selection {
    Selection { label: data.label.clone(), drop: data.drop.clone(), columns: data.columns.clone() }
}

/// Notes columns that are ignored because the model was not fitted on them.
pub fn note_unknown(session: &Session, source: &str, unknown: &[String]) {
    if let Some(names) = listed(unknown) {
        session.note(&format!(
            "hint: {source}: ignored {names}: the model was not fitted on {}; --drop silences this hint",
            if unknown.len() == 1 { "it" } else { "them" }
        ));
    }
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

/// A file or standard input, which can be read once: where its text is needed again, the bytes are kept.
pub struct Input<'a> {
    path: &'a Path,
    options: ReadOptions,
    kept: Option<Arc<[u8]>>,
}

/// DATA as an input.
pub fn input<'a>(session: &Session, data: &'a DataArgs) -> Input<'a> {
    let options = resolve::reading(&data.read, session.memory_limit());
    Input { path: &data.data, options, kept: None }
}

impl<'a> Input<'a> {
    /// DATA as an input that can be read again for `--append`.
    pub fn to_append_to(session: &Session, data: &'a DataArgs) -> Result<Self> {
        let input = input(session, data);
        let missing = !input.can_be_read_again();
        let kept = missing.then(|| read_bytes(&data.data, input.options.memory)).transpose()?;
        Ok(Input { kept: kept.map(Arc::from), ..input })
    }

    /// The name of the input in messages.
    pub fn source(&self) -> String {
        if self.path.as_os_str() == "-" { "standard input".into() } else { self.path.display().to_string() }
    }

    /// Whether it is not a stream, or is kept.
    pub fn can_be_read_again(&self) -> bool {
        self.kept.is_some() || (self.path.as_os_str() != "-" && (self.path.is_file() || self.path.is_dir()))
    }

    /// All columns.
    pub fn frame(&self) -> Result<Frame> {
        Ok(match &self.kept {
            Some(bytes) => read_frame_bytes(bytes.to_vec(), &self.source(), &self.options)?,
            None => read_frame(self.path, &self.options)?,
        })
    }

    /// The rows, at most so many at a time.
    pub fn batches(&self, rows: usize) -> rpfcluster_data::Result<Batches> {
        match &self.kept {
            Some(bytes) => read_batches_bytes(Arc::clone(bytes), &self.source(), &self.options, rows),
            None => read_batches(self.path, &self.options, rows),
        }
    }
}

/// Notes how many of `rows` were left out so that `n` remain, and with `--verbose` the size of the table.
pub fn note_size(session: &Session, source: &str, rows: usize, n: usize, d: usize) {
    if n < rows {
        session.note(&format!("{source}: {} of {rows} rows left out for missing values", rows - n));
    }
    session.detail(&format!("{source}: {n} rows, {d} columns"));
}
