//! What a person reads on standard error after a clustering: the summary (`text`), the tables of `--verbose`
//! (`tables`), and warnings.

mod tables;
mod text;

pub use tables::tables;
pub use text::{scores_in_words, text};

use crate::outcome::Outcome;

/// Where a warning is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// On standard error, by somebody who has no report.
    Terminal,
    /// On standard error, beside a report.
    TerminalWithReport,
    /// On the report page, which must not advise to write a report.
    Page,
}

/// A sentence of the library as a hint of the command, with the options that help.
fn command_hint(sentence: &str, reader: Reader) -> String {
    let mut hint = sentence.trim_end_matches('.').to_string();
    for (words, options) in [
        ("standardise the columns to", "--standardize all would"),
        ("leave it out", "--drop leaves it out"),
        (
            "so the labels may be wrong",
            "so the labels may be wrong; try --solver dense, another --affinity or more --trees",
        ),
        ("have arbitrary labels", "have arbitrary labels; use more --landmarks or --solver block"),
        ("the number of clusters may be too large", "-k may be too large"),
    ] {
        hint = hint.replace(words, options);
    }
    let which = match reader {
        Reader::Terminal => "; --report shows which rows they are",
        Reader::TerminalWithReport => "; the report shows which rows they are",
        Reader::Page => "",
    };
    if hint.ends_with("-k may be too large") {
        hint += which;
    }
    match reader {
        Reader::Page => format!("{hint}."),
        Reader::Terminal | Reader::TerminalWithReport => format!("hint: {hint}"),
    }
}

/// Warnings and hints, one sentence each.
pub fn warnings(outcome: &Outcome, reader: Reader) -> Vec<String> {
    let sentences = match outcome.clustering.fitted() {
        Some(fitted) => {
            let columns = outcome.table().map_or(&[][..], |table| &table.columns);
            fitted.hints(columns, |row| outcome.input_row(row))
        }
        None if outcome.clustering.embedding().converged => Vec::new(),
        None => vec!["The eigenvectors did not converge, so the labels may be wrong.".to_string()],
    };
    sentences.iter().map(|sentence| command_hint(sentence, reader)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Reader, command_hint};

    #[test]
    fn hints_name_options_and_are_sentences_on_the_page() {
        let few = "The smallest cluster has 2 of 900 rows: these may be outliers, or the number of clusters may be too large.";
        let hint = command_hint(few, Reader::Terminal);
        assert!(
            hint.starts_with("hint: The smallest")
                && hint.ends_with("-k may be too large; --report shows which rows they are")
        );
        assert!(command_hint(few, Reader::Page).ends_with("-k may be too large."));
        let id = command_hint("Column id looks like an identifier; leave it out.", Reader::Page);
        assert_eq!(id, "Column id looks like an identifier; --drop leaves it out.");
    }
}
