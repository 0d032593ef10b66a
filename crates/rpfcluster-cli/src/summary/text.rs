//! The summary: cluster sizes, scores against known classes, what was used and chosen, confidence and eigenvalues.

use rpfcluster::metrics::Scores;
use rpfcluster::printable::escaped;
use rpfcluster::select::Candidate;
use rpfcluster_report::model::ConfidenceSummary;
use rpfcluster_report::{affinity_in_words, word};

use crate::exit::Result;
use crate::outcome::Outcome;
use crate::output;
use crate::session::Session;

/// Largest number of clusters listed one per line.
const SHOWN: usize = 20;
/// Length of the longest bar in characters.
const BAR: usize = 40;
/// Largest number of eigenvalues listed.
const EIGENVALUES: usize = 8;
/// Rows up to which the summary computes the confidence; above, it would take seconds.
const CONFIDENCE_BELOW: usize = 100_000;

/// The summary of a clustering.
pub fn text(session: &Session, outcome: &Outcome) -> Result<String> {
    let clustering = &outcome.clustering;
    let (n, sizes) = (clustering.n(), clustering.sizes());
    let of = match (outcome.input_columns(), outcome.d()) {
        (Some(columns), Some(d)) => {
            let noun = if columns == 1 { "column" } else { "columns" };
            let levels = if columns == d { String::new() } else { format!(" ({d} with levels)") };
            format!("{n} rows, {columns} {noun}{levels}")
        }
        _ => format!("{n} points"),
    };
    let clusters = if sizes.len() == 1 { "cluster" } else { "clusters" };
    let seconds = session.clock.total();
    let source = escaped(&outcome.source);
    let mut text = format!("{source}: {of}, {} {clusters} in {seconds:.2} s\n\n", sizes.len());
    text += &bars(&sizes, n);
    text.push('\n');
    if let Some(dialect) = outcome.table().and_then(|table| table.dialect) {
        text += &line("read as", &dialect.to_string());
    }
    if let Some(scaling) = &outcome.scaling {
        let (used, other) = match scaling.standardize {
            "all" => ("standardised", "as they are"),
            _ => ("as they are", "standardised"),
        };
        let scores = (scaling.none.max(scaling.all), scaling.none.min(scaling.all));
        let value = format!("columns {used}: score {:.2}, {other} {:.2}", scores.0, scores.1);
        text += &line("scaling", &value);
    }
    if let Some(scores) = outcome.scores()? {
        text += &line("scores", &scores_in_words(&scores));
    }
    if let Some(verdict) = clustering.fitted().and_then(|fitted| fitted.verdict()) {
        let (word, reason) = (verdict.word.words(), &verdict.reason);
        text += &line("verdict", &format!("{word} (score {:.2} of 1): {reason}", verdict.score));
    }
    let forest = clustering.fitted().map_or(String::new(), |fitted| {
        format!(", {} trees, min-node {}", fitted.forest().trees(), fitted.min_node())
    });
    let (affinity, method) = (clustering.affinity_in_words(), word(&clustering.method()));
    text += &line("similarity", &format!("{affinity}, {method}{forest}, seed {}", clustering.seed()));
    for (name, value) in choices(outcome) {
        text += &line(name, &value);
    }
    if clustering.k() > 1
        && n <= CONFIDENCE_BELOW
        && let Some(confidence) = outcome.confidence(session)?
    {
        let ConfidenceSummary { median, below_half } = ConfidenceSummary::new(confidence);
        let value =
            format!("median {median:.2} (1: well inside a cluster); {below_half} of {n} rows below 0.5");
        text += &line("confidence", &value);
    }
    if let (Some(quality), Some(resolution)) = (clustering.quality(), clustering.resolution()) {
        let found = clustering.evidence().and_then(|evidence| evidence.resolution);
        let merged = match found.filter(|found| found.communities > clustering.k()) {
            Some(found) => format!(", {} communities merged to {}", found.communities, clustering.k()),
            None => String::new(),
        };
        text += &line("resolution", &format!("{resolution:.4} ({}{merged})", word(&quality)));
        return Ok(text);
    }
    let e = clustering.embedding();
    let shown: Vec<String> = e.eigenvalues.iter().take(EIGENVALUES).map(|v| format!("{v:.4}")).collect();
    let more = if e.k() > shown.len() { " …" } else { "" };
    let converged = if e.converged { "converged" } else { "NOT converged" };
    let solver = word(&e.solver);
    text += &line(
        "eigenvalues",
        &format!("{}{more} ({solver}, {converged}, residual {:.0e})", shown.join(" "), e.residual),
    );
    Ok(text)
}

/// Scores against known classes in one line.
pub fn scores_in_words(s: &Scores) -> String {
    format!(
        "accuracy (rho_c) {:.2} %, Rand index (rho_r) {:.2} %, adjusted Rand index {:.4}, normalised mutual \
         information (NMI) {:.4}; always the largest class: accuracy {:.2} %",
        s.rho_c, s.rho_r, s.ari, s.nmi, s.majority
    )
}

/// What was chosen from the data, and how clear the choice was.
fn choices(outcome: &Outcome) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let Some(evidence) = outcome.clustering.evidence() else { return lines };
    let on = |sample: Option<usize>| {
        sample.map_or(String::new(), |rows| format!(", chosen on a sample of {rows} rows"))
    };
    if let Some(k) = &evidence.k {
        let next = k
            .candidates
            .iter()
            .find(|c| c.k != k.k)
            .map_or(String::new(), |c| format!("; next best {}", c.k));
        lines.push(("chosen k", format!("{}{next}{}", k.k, on(k.sample))));
    }
    if let Some(trees) = &evidence.trees {
        let stability = trees.tried.iter().find(|t| t.trees == trees.trees).map_or(0.0, |t| t.agreement);
        let why = if trees.agreed { "" } else { "; more trees do not increase it" };
        let value = format!("{} chosen (stability {stability:.2}{why}){}", trees.trees, on(trees.sample));
        lines.push(("trees", value));
    }
    if let Some(settings) = evidence.settings.as_ref().filter(|s| s.candidates.len() > 1) {
        let strength = |c: Option<&Candidate>| c.and_then(|c| c.strength);
        let default = &settings.candidates[0];
        let why = match (strength(Some(default)), strength(settings.selected())) {
            (Some(_), Some(own)) if settings.affinity == default.affinity => {
                format!("the default (prediction strength {own:.2})")
            }
            (Some(of_default), Some(own)) => {
                let words = affinity_in_words(&settings.affinity);
                format!("{words} (prediction strength {own:.2}, the default has {of_default:.2})")
            }
            _ => "the default; halves of the rows are too few to compare settings".to_string(),
        };
        lines.push(("chosen", format!("{why}{}", on(settings.sample))));
    }
    lines
}

fn line(name: &str, value: &str) -> String {
    format!("{name:<11}  {value}\n")
}

/// One line with a bar per cluster, for the first [`SHOWN`] clusters.
fn bars(sizes: &[usize], n: usize) -> String {
    let largest = sizes.iter().copied().max().unwrap_or(1).max(1);
    let rows: Vec<Vec<String>> = sizes
        .iter()
        .enumerate()
        .take(SHOWN)
        .map(|(cluster, &size)| {
            let share = 100.0 * size as f64 / n.max(1) as f64;
            vec![format!("cluster {cluster}"), size.to_string(), format!("{share:.1} %")]
        })
        .collect();
    let mut text = String::new();
    for (line, &size) in output::columns(&rows).lines().zip(sizes) {
        let length = (size * BAR).div_ceil(largest);
        text += &format!("{line}  {}\n", "▇".repeat(length));
    }
    if sizes.len() > SHOWN {
        let rest = &sizes[SHOWN..];
        let (least, most) = (rest.iter().min().unwrap_or(&0), rest.iter().max().unwrap_or(&0));
        let rows = if least == most { most.to_string() } else { format!("{least} to {most}") };
        text += &format!("… and {} more clusters of {rows} rows\n", rest.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cluster_has_a_bar_and_long_lists_are_cut() {
        let text = bars(&[100, 1], 101);
        assert_eq!(text.lines().count(), 2);
        assert_eq!(text.matches('▇').count(), BAR + 1);
        let many = bars(&[3; 30], 90);
        assert_eq!(many.lines().count(), SHOWN + 1);
        assert!(many.ends_with("… and 10 more clusters of 3 rows\n"), "{many}");
    }
}
