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

/// Warnings and hints, one sentence each.
pub fn warnings(outcome: &Outcome, reader: Reader) -> Vec<String> {
    let sentences = sentences(outcome, reader);
    match reader {
        Reader::Page => sentences.iter().map(|sentence| page_sentence(sentence)).collect(),
        Reader::Terminal | Reader::TerminalWithReport => sentences,
    }
}

/// A sentence for the page: without "hint:", with a capital letter and a full stop.
fn page_sentence(sentence: &str) -> String {
    let plain = sentence.strip_prefix("hint: ").unwrap_or(sentence);
    let mut letters = plain.chars();
    letters.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// A sentence of the library as a hint of the command, with the options that help.
fn command_hint(sentence: &str) -> String {
    let with_options = sentence
        .replace("standardise the columns to", "--standardize all would")
        .replace("leave it out", "--drop leaves it out");
    format!("hint: {}", with_options.trim_end_matches('.'))
}

fn sentences(outcome: &Outcome, reader: Reader) -> Vec<String> {
    let clustering = &outcome.clustering;
    let e = clustering.embedding();
    let mut sentences = Vec::new();
    if !e.converged {
        sentences.push(
            "the eigenvectors did not converge, so the labels may be wrong; try --solver dense, another --affinity \
             or more --trees"
                .to_string(),
        );
    }
    if e.uncovered > 0.0 {
        sentences.push(format!(
            "{:.1} % of the rows are similar to no landmark and have arbitrary labels; use more --landmarks or \
             --solver block",
            100.0 * e.uncovered
        ));
    }
    if let Some(fitted) = clustering.fitted() {
        let names = outcome.table().map_or(&[][..], |table| &table.columns);
        sentences.extend(fitted.column_hints(names).iter().map(|sentence| command_hint(sentence)));
    }
    let (n, smallest) = (clustering.n(), clustering.sizes().into_iter().min().unwrap_or(0));
    if smallest * 200 < n && n >= 400 && clustering.k() > 1 {
        let which = match reader {
            Reader::Terminal => "; --report shows which rows they are",
            Reader::TerminalWithReport => "; the report shows which rows they are",
            Reader::Page => "",
        };
        sentences.push(format!(
            "hint: the smallest cluster has {smallest} of {n} rows: these may be outliers, or -k may be too large{which}"
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::page_sentence;

    #[test]
    fn a_hint_is_a_sentence_on_the_page() {
        assert_eq!(page_sentence("hint: the number is unclear"), "The number is unclear.");
    }
}
