//! SQLite databases: the rows of a query, or of the only table. The file is opened for reading, by SQLite itself, since only that
//! knows which changes of another process count.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::input::Input;
use super::text_rows::Rows;
use crate::error::{DataError, Result, excerpt, format, shortened};
use crate::memory::Budget;

/// The longest text of a cell and of a query.
const LONGEST: i32 = 1 << 24;

/// The result of the query as text whose first line names the columns.
pub(super) fn text(input: &Input, query: Option<&str>, budget: &Budget) -> Result<Vec<u8>> {
    let source = input.source();
    let failed = |e: rusqlite::Error| failure(source, &e);
    let Some(path) = &input.path else {
        let problem =
            "is an SQLite database, which is read from a file that is neither compressed nor a pipe";
        return Err(format(source, problem));
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // A name that begins with "file:" would be a URI.
    let database = Connection::open_with_flags(Path::new(".").join(path), flags).map_err(failed)?;
    // The file may be a stranger's: its views call no function with side effects.
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(failed)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(failed)?;
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST).map_err(failed)?;
    database.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0).map_err(failed)?;
    // Another process may be writing.
    database.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
    let query = match query {
        Some(query) => query.to_string(),
        None => whole_table(&database, source)?,
    };
    rows(&database, &query, source, budget)
}

fn failure(source: &str, error: &rusqlite::Error) -> DataError {
    format(source, format!("SQLite says: {}", shortened(error)))
}

/// The query of the only table.
fn whole_table(database: &Connection, source: &str) -> Result<String> {
    const NAMES: &str = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' \
                         ESCAPE '\\' ORDER BY rowid LIMIT 21";
    let names = || -> rusqlite::Result<Vec<String>> {
        database.prepare(NAMES)?.query_map([], |row| row.get(0))?.collect()
    };
    let names = names().map_err(|e| failure(source, &e))?;
    match names.as_slice() {
        [] => Err(format(source, "has no table")),
        [only] => Ok(format!("SELECT * FROM {}", quoted(only))),
        [first, ..] => {
            let shown: Vec<_> = names.iter().take(20).map(|name| excerpt(name)).collect();
            let more = if names.len() > 20 { ", …" } else { "" };
            let problem = format!(
                "has the tables {}{more}; say which: --query 'SELECT * FROM {}'",
                shown.join(", "),
                excerpt(&quoted(first))
            );
            Err(format(source, problem))
        }
    }
}

/// A name in a query: in double quotes unless it is plain.
fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if is_plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn rows(database: &Connection, query: &str, source: &str, budget: &Budget) -> Result<Vec<u8>> {
    let failed = |e: rusqlite::Error| failure(source, &e);
    let mut statement = database.prepare(query).map_err(failed)?;
    let width = statement.column_count();
    if width == 0 || !statement.readonly() {
        return Err(format(source, "--query takes a SELECT"));
    }
    let mut rows = Rows::new(budget);
    for name in statement.column_names() {
        rows.text(name)?;
    }
    rows.end()?;
    let mut found = statement.query([]).map_err(failed)?;
    while let Some(row) = found.next().map_err(failed)? {
        for column in 0..width {
            match row.get_ref(column).map_err(failed)? {
                ValueRef::Null => rows.missing()?,
                ValueRef::Integer(x) => rows.integer(x)?,
                ValueRef::Real(x) => rows.number(x)?,
                ValueRef::Text(text) => rows.text(&String::from_utf8_lossy(text))?,
                ValueRef::Blob(_) => {
                    let name = row.as_ref().column_name(column).unwrap_or_default();
                    let column = format!("{} \"{}\"", column + 1, excerpt(name));
                    let problem = "holds binary data; leave it out of --query".to_string();
                    return Err(DataError::Column { path: source.to_string(), column, problem });
                }
            }
        }
        rows.end()?;
    }
    if rows.ended() == 1 {
        return Err(format(source, "the query finds no row"));
    }
    rows.finish()
}
