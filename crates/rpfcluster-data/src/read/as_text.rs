//! Sheets of workbooks and results of queries as comma-separated text, which the reader of text takes. Names, gaps, levels and
//! errors are then those of the same table saved as CSV, at the cost of that text in memory.

use super::ReadOptions;
use super::input::Input;
#[cfg(any(feature = "excel", feature = "sqlite"))]
use super::{Decimal, Delimiter, Format};
use crate::error::Result;
#[cfg(any(feature = "excel", feature = "sqlite"))]
use crate::error::format;
use crate::memory::Budget;

/// A workbook or database as text.
pub(super) struct Converted {
    pub text: Vec<u8>,
    /// The name of the table in messages.
    pub source: String,
    /// How the text is read.
    pub options: ReadOptions,
}

/// The text of a workbook or database; any other input is returned as it came.
#[cfg(any(feature = "excel", feature = "sqlite"))]
pub(super) fn convert(
    input: Input,
    options: &ReadOptions,
    budget: &Budget,
) -> Result<std::result::Result<Converted, Input>> {
    let chosen = options.format.unwrap_or_else(|| Format::from_bytes(input.head()));
    let is_read = cfg!(feature = "excel") && chosen == Format::Excel
        || cfg!(feature = "sqlite") && chosen == Format::Sqlite;
    let input = match is_read && Format::from_bytes(input.head()) != chosen {
        true => confirmed(input, chosen, budget)?,
        false => input,
    };
    let (text, source, header) = match chosen {
        #[cfg(feature = "excel")]
        Format::Excel => {
            let source = input.source().to_string();
            let bytes = input.read_all(budget)?;
            let (text, sheet) = super::excel::text(&bytes, options.sheet.as_deref(), &source, budget)?;
            budget.release(bytes.capacity());
            (text, format!("{source}{sheet}"), options.header)
        }
        #[cfg(feature = "sqlite")]
        Format::Sqlite => {
            let text = super::sqlite::text(&input, options.query.as_deref(), budget)?;
            (text, input.source().to_string(), Some(true))
        }
        _ => return Ok(Err(input)),
    };
    let options = ReadOptions {
        format: Some(Format::Text),
        header,
        delimiter: Some(Delimiter::Byte(b',')),
        decimal: Some(Decimal::Point),
        ..options.clone()
    };
    Ok(Ok(Converted { text, source, options }))
}

/// The input, if all of it is of this format, which its beginning does not tell.
#[cfg(any(feature = "excel", feature = "sqlite"))]
fn confirmed(input: Input, chosen: Format, budget: &Budget) -> Result<Input> {
    let source = input.source().to_string();
    let bytes = input.read_all(budget)?;
    if Format::from_bytes(&bytes) == chosen {
        return Ok(Input::of_text(bytes, source));
    }
    let other = match chosen {
        Format::Excel => "is not a workbook of Excel; give its format with --format",
        _ => "is not an SQLite database; give its format with --format",
    };
    let problem = super::foreign::remedy(&bytes, Some(chosen), &source);
    Err(format(&source, problem.unwrap_or_else(|| other.to_string())))
}

/// As above, in a build that reads neither.
#[cfg(not(any(feature = "excel", feature = "sqlite")))]
pub(super) fn convert(
    input: Input,
    _: &ReadOptions,
    _: &Budget,
) -> Result<std::result::Result<Converted, Input>> {
    Ok(Err(input))
}
