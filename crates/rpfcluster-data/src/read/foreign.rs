//! Spreadsheets and databases that are not read, and zip archives: recognised by their first bytes and refused with the line
//! that pipes them in (docs/how-to/tables-elsewhere.md).

use memchr::memmem;

use super::Format;

/// Bytes of an SQLite file that are searched for the name of a table: the largest page, which holds the schema.
const SCHEMA: usize = 1 << 16;

/// What to do about such a file; `None` for any other, and where it is said to have a format that such files do not have.
/// `source` is its name.
pub(super) fn remedy(bytes: &[u8], said: Option<Format>, source: &str) -> Option<String> {
    if !matches!(said, None | Some(Format::Text | Format::Excel | Format::Sqlite)) {
        return None;
    }
    let holds = |name: &[u8]| memmem::find(bytes, name).is_some();
    let is_archive = bytes.starts_with(b"PK\x03\x04");
    let is_compound = bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
    let file = quoted(source);
    // A workbook with a password is a compound file whose parts have names in UTF-16.
    if is_compound && holds(b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e") {
        return Some("is protected by a password; save it without one".to_string());
    }
    let found = Format::from_bytes(bytes);
    let is_read = cfg!(feature = "excel") && found == Format::Excel
        || cfg!(feature = "sqlite") && found == Format::Sqlite;
    if is_read {
        let (what, name) = match found {
            Format::Excel => ("a workbook of Excel", "xlsx"),
            _ => ("an SQLite database", "sqlite"),
        };
        return Some(format!("is {what}, not what its name or --format says; give --format {name}"));
    }
    // The older .xls is a compound file.
    let package = match bytes {
        _ if is_archive && holds(b"xl/workbook.bin") => Some("pyxlsb"),
        _ if is_archive && holds(b"opendocument") => Some("odfpy"),
        _ if found == Format::Excel => Some("openpyxl"),
        _ if is_compound => Some("xlrd"),
        _ => None,
    };
    if let Some(package) = package {
        let (what, target) = match package {
            "openpyxl" => {
                ("a workbook of Excel, which this build does not read (cargo feature `excel`)", ".csv")
            }
            _ => ("a spreadsheet of a kind that is not read", ".xlsx or .csv"),
        };
        return Some(format!(
            "is {what}; save it as {target}, or, with pandas and {package} installed: python3 -c \"import pandas, sys; \
             pandas.read_excel(sys.argv[1]).to_csv(sys.stdout, index=False)\" {file} | rpf cluster -"
        ));
    }
    // A .npz file is an archive of .npy files.
    if is_archive && !holds(b".npy") {
        return Some(format!(
            "is a zip archive, which is not read; unpack it, or pipe the one table in it: unzip -p {file} | rpf cluster -"
        ));
    }
    if found == Format::Sqlite {
        let table = first_table(bytes).unwrap_or("NAME");
        return Some(format!(
            "is an SQLite database, which this build does not read (cargo feature `sqlite`); pipe a query as CSV: sqlite3 -header -csv {file} \"SELECT * FROM \
             {table}\" | rpf cluster -"
        ));
    }
    if bytes.get(8..12) == Some(b"DUCK") && bytes[..64.min(bytes.len())].contains(&0) {
        return Some(format!(
            "is a DuckDB database, which is not read; pipe the table NAME as Parquet: duckdb {file} -c \"COPY (FROM NAME) TO \
             '/dev/stdout' (FORMAT parquet)\" | rpf cluster -"
        ));
    }
    None
}

/// The name of the first table of an SQLite file, where it needs no quotes. The schema holds the text of each statement,
/// the first at the end.
fn first_table(bytes: &[u8]) -> Option<&str> {
    const CREATE: &[u8] = b"CREATE TABLE ";
    let schema = &bytes[..bytes.len().min(SCHEMA)];
    let names = memmem::find_iter(schema, CREATE).filter_map(|at| {
        let rest = &schema[at + CREATE.len()..];
        let end = rest.iter().position(|c| !(c.is_ascii_alphanumeric() || *c == b'_'))?;
        std::str::from_utf8(&rest[..end]).ok().filter(|name| !name.is_empty() && !name.starts_with("sqlite_"))
    });
    names.last()
}

/// A file name in a shell: in single quotes unless every character is safe.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/+,:@%".contains(c);
    match name {
        "standard input" => "FILE".to_string(),
        _ if name.chars().all(is_plain) && !name.starts_with('-') => name.to_string(),
        _ => format!("'{}'", name.replace('\'', "'\\''")),
    }
}
