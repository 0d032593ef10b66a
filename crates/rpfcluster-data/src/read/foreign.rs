//! Files of spreadsheets and databases, and zip archives: recognised by their first bytes and refused with the line that
//! pipes them in.
//! Readers of these formats would bring many packages (docs/how-to/tables-elsewhere.md).

use memchr::memmem;

use super::Format;

/// Bytes of an SQLite file that are searched for the name of a table: the largest page, which holds the schema.
const SCHEMA: usize = 1 << 16;

/// What to do about such a file; `None` for any other, and where it is said to have a format other than text. `source` is
/// its name.
pub(super) fn remedy(bytes: &[u8], said: Option<Format>, source: &str) -> Option<String> {
    if !matches!(said, None | Some(Format::Text)) {
        return None;
    }
    let holds = |name: &[u8]| memmem::find(bytes, name).is_some();
    let is_archive = bytes.starts_with(b"PK\x03\x04");
    let file = quoted(source);
    // Office Open XML and OpenDocument are archives with a list of their parts, or, of a long file whose list is at the end,
    // with properties at the start; the older .xls is a compound file.
    let sheet = match bytes {
        _ if is_archive && (holds(b"[Content_Types].xml") || holds(b"docProps/")) => Some("openpyxl"),
        _ if is_archive && holds(b"opendocument") => Some("odfpy"),
        _ if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") => Some("xlrd"),
        _ => None,
    };
    if let Some(package) = sheet {
        return Some(format!(
            "is a spreadsheet, which is not read; save the sheet as CSV, or, with pandas and {package} installed: \
             python3 -c \"import pandas, sys; pandas.read_excel(sys.argv[1]).to_csv(sys.stdout, index=False)\" {file} \
             | rpf cluster -"
        ));
    }
    // A .npz file is an archive of .npy files.
    if is_archive && !holds(b".npy") {
        return Some(format!(
            "is a zip archive, which is not read; unpack it, or pipe the one table in it: unzip -p {file} | rpf cluster -"
        ));
    }
    if bytes.starts_with(b"SQLite format 3\0") {
        let table = first_table(bytes).unwrap_or("NAME");
        return Some(format!(
            "is an SQLite database, which is not read; pipe a query as CSV: sqlite3 -header -csv {file} \"SELECT * FROM \
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
