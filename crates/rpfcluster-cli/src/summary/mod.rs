//! What a person reads on standard error after a clustering: the summary (`text`), the tables of `--verbose`
//! (`tables`), and warnings.

mod tables;
mod text;

pub use tables::tables;
pub use text::{scores_in_words, text};

use crate::outcome::Outcome;

/// Stability below which the clusters count as unstable.
const UNSTABLE: f64 = 0.6;

/// Certainty below which the chosen number of clusters counts as unclear.
const UNCLEAR: f64 = 0.1;

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
    let settings = clustering.evidence().and_then(|e| e.settings.as_ref());
    if let Some(stability) = settings.and_then(|s| s.candidates.first()?.stability).filter(|s| *s < UNSTABLE)
    {
        sentences.push(format!(
            "hint: the clusters are unstable: two halves of the forest find different clusters (adjusted Rand index \
             {stability:.2}, where 1 means identical); try another -k, --standardize all or fewer columns"
        ));
    }
    if let Some(k) = clustering.evidence().and_then(|e| e.k.as_ref()) {
        if k.k == 1 {
            let most = k.candidates.iter().map(|c| c.k).max().unwrap_or(1);
            sentences.push(format!(
                "hint: no number of clusters from 2 to {most} fits better than data without clusters; there may be none"
            ));
        } else if k.sure < UNCLEAR {
            let next = k.candidates.iter().find(|c| c.k != k.k).map_or(1, |c| c.k);
            sentences.push(format!(
                "hint: the number of clusters is unclear: {next} fits nearly as well as {}; compare both",
                k.k
            ));
        }
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
