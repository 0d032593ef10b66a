//! The tables of the page: clusters, typical and doubtful rows, agreement with known classes, what was chosen and why,
//! parameters.

use std::fmt::Write;

use super::section;
use crate::clustering::affinity_in_words;
use crate::draw::{colour, escaped, number};
use crate::model::{Agreement, ConfidenceSummary, Report, Spread};

/// Largest number of clusters and classes in a table.
const SHOWN: usize = 100;
/// Largest number of candidates in a table.
const LISTED: usize = 12;

fn dot(cluster: usize) -> String {
    format!("<span class=\"dot c{cluster}\"></span>")
}

/// Style rules of the clusters: `.c0` has the colour of cluster 0, a bar of that class the length of its share.
pub fn rules(report: &Report) -> String {
    let largest = report.clusters.iter().map(|c| c.share).fold(f64::MIN_POSITIVE, f64::max);
    let mut rules = String::new();
    for (at, cluster) in report.clusters.iter().enumerate() {
        let width = 5.0 * cluster.share / largest;
        let _ = writeln!(
            rules,
            ".c{at} {{ background: {}; }} .bar.c{at} {{ width: {width:.1}rem; }}",
            colour(at)
        );
    }
    rules
}

/// A button that selects a row in every picture; plain text for a row that is not drawn.
fn row_button(row: usize, point: Option<usize>) -> String {
    match point {
        Some(point) => format!(
            "<button type=\"button\" class=\"link\" data-point=\"{point}\" aria-pressed=\"false\">{row}</button>"
        ),
        None => row.to_string(),
    }
}

pub fn clusters(report: &Report) -> String {
    let marked = report.clusters.iter().any(|c| !c.marks.is_empty());
    let mut table = String::from(
        "<div class=\"wide\"><table class=\"clusters\">\n<thead><tr><th>Cluster<th>Rows<th>Share<th>Typical row",
    );
    table +=
        if marked { "<th class=\"marks\">Distinguishing columns</tr></thead>\n" } else { "</tr></thead>\n" };
    for (at, cluster) in report.clusters.iter().enumerate().take(SHOWN) {
        let _ = write!(
            table,
            "<tr><td><button type=\"button\" class=\"link\" data-cluster=\"{at}\" aria-pressed=\"false\">{}{at}</button>\
             <td class=\"n\">{}<td class=\"n\">{:.1}\u{a0}%<span class=\"bar c{at}\">\
             </span><td class=\"n\">{}",
            dot(at),
            cluster.size,
            100.0 * cluster.share,
            row_button(cluster.medoid, cluster.medoid_point)
        );
        if marked {
            table += "<td class=\"marks\">";
        }
        for mark in &cluster.marks {
            let _ = write!(
                table,
                "<div>{}<span><b>{}</b> {}, elsewhere {} <span class=\"soft\">({} sd)</span></span></div>",
                mark.spread.as_ref().map_or_else(String::new, |s| spread(s, at)),
                escaped(&mark.name),
                number(mark.inside),
                number(mark.outside),
                deviations(mark.deviations)
            );
        }
        table += "</tr>\n";
    }
    table += "</table></div>";
    if report.clusters.len() > SHOWN {
        let _ = write!(table, "<p>The first {SHOWN} of {} clusters.</p>", report.clusters.len());
    }
    let words = if marked {
        let counted = match report.histogram_sample {
            Some(rows) => format!(", of a sample of {rows} rows"),
            None => String::new(),
        };
        format!(
            "The typical row is the row most similar to the rest of its cluster. The distinguishing columns are those whose \
             mean differs most from the mean of all other rows, in standard deviations (sd) of the column; the histograms \
             show the values within the cluster (coloured) and elsewhere (grey){counted}. <span class=\"hint\">Click a \
             cluster to select its rows in every picture.</span>"
        )
    } else {
        "The typical row is the row most similar to the rest of its cluster.".into()
    };
    section("clusters", "Clusters", &words, &table)
}

/// With a sign and one decimal; zero has no sign.
fn deviations(value: f64) -> String {
    let words = format!("{value:+.1}");
    if words.ends_with("0.0") && words.len() == 4 { "0.0".into() } else { words }
}

/// Two overlaid histograms.
fn spread(spread: &Spread, cluster: usize) -> String {
    const WIDTH: f64 = 116.0;
    const HEIGHT: f64 = 30.0;
    let highest = spread.inside.iter().chain(&spread.outside).copied().fold(f64::MIN_POSITIVE, f64::max);
    let step = WIDTH / spread.inside.len().max(1) as f64;
    let outline = |shares: &[f64]| {
        let mut path = format!("M0 {HEIGHT}");
        for (at, share) in shares.iter().enumerate() {
            // The square root, as in the heat map: bins of few rows stay visible.
            let y = HEIGHT - (HEIGHT - 2.0) * (share / highest).sqrt();
            let _ = write!(path, "V{y:.1}H{:.1}", step * (at + 1) as f64);
        }
        path + &format!("V{HEIGHT}z")
    };
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"Values from \
         {} to {}\"><path d=\"{}\" fill=\"var(--soft)\" opacity=\".35\"/><path d=\"{}\" fill=\"{}\" opacity=\".75\"/>\
         <title>from {} to {}</title></svg>",
        number(spread.range.0),
        number(spread.range.1),
        outline(&spread.outside),
        outline(&spread.inside),
        colour(cluster),
        number(spread.range.0),
        number(spread.range.1)
    )
}

pub fn typical(report: &Report) -> String {
    let Some(typical) = report.typical.as_ref().filter(|t| !t.columns.is_empty()) else {
        return String::new();
    };
    let mut table = String::from("<div class=\"wide\"><table>\n<tr><th>Cluster<th>Row");
    for name in &typical.columns {
        let _ = write!(table, "<th>{}", escaped(name));
    }
    table += "</tr>\n";
    for (at, (values, cluster)) in typical.values.iter().zip(&report.clusters).enumerate().take(SHOWN) {
        let row = row_button(cluster.medoid, cluster.medoid_point);
        let _ = write!(table, "<tr><td>{}{at}<td class=\"n\">{row}", dot(at));
        for value in values {
            let _ = write!(table, "<td class=\"n\">{}", number(*value));
        }
        table += "</tr>\n";
    }
    table += "</table></div>";
    let mut words =
        String::from("The row of each cluster that is most similar to the others, with its values.");
    if typical.left_out > 0 {
        let _ = write!(
            words,
            " The {} most distinguishing columns; {} more are not shown.",
            typical.columns.len(),
            typical.left_out
        );
    }
    section("typical", "Typical rows", &words, &table)
}

pub fn doubtful(report: &Report) -> String {
    let Some(ConfidenceSummary { median, below_half }) = report.confidence else { return String::new() };
    let shrunk = match &report.verdict {
        Some(verdict) => format!(", lowered by the score of the verdict ({:.2})", verdict.score),
        None => String::new(),
    };
    let words = format!(
        "The confidence of a row is the share of the rows in its leaves, over all trees, that belong to its cluster{shrunk}: 1 \
         well inside a cluster, about 0.5 on the border of two. The median is {median:.2}; {below_half} of {} rows are below \
         0.5.",
        report.rows
    );
    if report.doubtful.is_empty() {
        let body = "<p>All rows have a confidence of at least 0.9.</p>";
        return section("doubtful", "Doubtful rows", &words, body);
    }
    let classes = report.doubtful.iter().any(|d| d.class.is_some());
    let mut table =
        String::from("<div class=\"wide\"><table>\n<tr><th>Row<th>Confidence<th>Cluster<th>Nearest other");
    table += if classes { "<th>Known class</tr>\n" } else { "</tr>\n" };
    for d in &report.doubtful {
        let next = d.next.map_or_else(|| "–".into(), |c| format!("{}{c}", dot(c as usize)));
        let _ = write!(
            table,
            "<tr><td class=\"n\">{}<td class=\"n\">{:.2}<td>{}{}<td>{next}",
            row_button(d.row, d.point),
            d.confidence,
            dot(d.cluster as usize),
            d.cluster
        );
        if classes {
            let _ = write!(table, "<td>{}", escaped(d.class.as_deref().unwrap_or("–")));
        }
        table += "</tr>\n";
    }
    table += "</table></div>";
    section("doubtful", "Doubtful rows", &words, &table)
}

pub fn agreement(agreement: &Agreement) -> String {
    let s = &agreement.scores;
    let mut table = String::from("<div class=\"wide\"><table>\n<tr><th>Cluster");
    for class in agreement.classes.iter().take(SHOWN) {
        let _ = write!(table, "<th>{}", escaped(class));
    }
    table += "</tr>\n";
    for (at, counts) in agreement.counts.iter().enumerate().take(SHOWN) {
        let _ = write!(table, "<tr><td>{}{at}", dot(at));
        let most = counts.iter().max().copied().unwrap_or(0);
        for &count in counts.iter().take(SHOWN) {
            let class = if count == most { "n most" } else { "n" };
            let _ = write!(table, "<td class=\"{class}\">{count}");
        }
        table += "</tr>\n";
    }
    table += "</table></div>";
    let words = format!(
        "Number of rows by cluster and known class. Accuracy (rho_c) {:.2}\u{a0}% (always the largest class: {:.2}\u{a0}%), Rand \
         index (rho_r) {:.2}\u{a0}%, adjusted Rand index {:.4}, normalised mutual information {:.4}.",
        s.rho_c, s.majority, s.rho_r, s.ari, s.nmi
    );
    section("agreement", "Agreement with known classes", &words, &table)
}

/// What was chosen from the data: the candidates and the choice.
pub fn evidence(report: &Report) -> String {
    let Some(evidence) = &report.evidence else { return String::new() };
    let mut body = String::new();
    let on =
        |sample: Option<usize>| sample.map_or(String::new(), |rows| format!(", on a sample of {rows} rows"));
    if let Some(k) = &evidence.k {
        let _ = write!(
            body,
            "<p>The number of clusters K was chosen automatically: {}{}. Strength is the prediction strength: the adjusted \
             Rand index between the clusters that one half of the rows predicts for the other and those that the other \
             half finds. Separation compares the similarity between clusters with that in unclustered data of the \
             same covariance. The gap compares the growth of 1 − λ after the K-th eigenvalue λ of the graph. Both are \
             natural logarithms of ratios, 0 for unclustered data. The score says how far to believe the \
             clusters.</p>\n<div class=\"wide\"><table><tr><th>K<th>Score<th>Strength<th>Separation<th>Gap</tr>",
            k.k,
            on(k.sample)
        );
        for c in k.candidates.iter().take(LISTED) {
            let class = if c.k == k.k { "n most" } else { "n" };
            let _ = writeln!(
                body,
                "<tr><td class=\"{class}\">{}<td class=\"n\">{:.2}<td class=\"n\">{}<td class=\"n\">{:.2}<td \
                 class=\"n\">{:.2}</tr>",
                c.k,
                c.score,
                c.strength.map_or("–".into(), |s| format!("{s:.2}")),
                c.separation,
                c.gap
            );
        }
        body += "</table></div>\n";
    }
    if let Some(choice) = evidence.settings.as_ref().filter(|c| c.candidates.len() > 1) {
        let _ = write!(
            body,
            "<p>{} settings were compared by prediction strength{}: half of the rows predicts the clusters of the other half, \
             which is also clustered itself; the adjusted Rand index of both, 1 if they are identical. The first, the \
             default, is kept unless another is clearly better. A dash means not measured, since it could not have \
             won.</p>\n<div class=\"wide\"><table><tr><th>Similarity<th>min-node<th>Strength</tr>",
            choice.candidates.len(),
            on(choice.sample),
        );
        for c in &choice.candidates {
            let class = if choice.selected() == Some(c) { " class=\"most\"" } else { "" };
            let _ = writeln!(
                body,
                "<tr><td{class}>{}<td class=\"n\">{}<td class=\"n\">{}</tr>",
                affinity_in_words(&c.affinity),
                c.min_node,
                c.strength.map_or("–".into(), |s| format!("{:.2}", (s * 100.0).round() / 100.0 + 0.0)),
            );
        }
        body += "</table></div>\n";
    }
    if body.is_empty() {
        return body;
    }
    section("chosen", "What was chosen, and why", "The choice uses no labels.", &body)
}

/// The principal components that the forest was grown on.
pub fn components(report: &Report) -> String {
    if report.components.is_empty() {
        return String::new();
    }
    let mut table =
        String::from("<div class=\"wide\"><table><tr><th>Component<th>Variance<th>Columns</tr>\n");
    for (at, component) in report.components.iter().enumerate() {
        let columns: Vec<String> = component
            .columns
            .iter()
            .map(|(name, weight)| format!("{} ({weight:+.2})", escaped(name)))
            .collect();
        let _ = writeln!(
            table,
            "<tr><td class=\"n\">{}<td class=\"n\">{:.1}\u{a0}%<td>{}</tr>",
            at + 1,
            100.0 * component.share,
            columns.join(", ")
        );
    }
    table += "</table></div>";
    let words = "The forest was grown on the principal components of the columns. For the first of them, the share of the \
         variance and the columns with the largest coefficients.";
    section("components", "Principal components", words, &table)
}

pub fn facts(report: &Report) -> String {
    let mut list = String::from("<dl>\n");
    for (name, value) in &report.facts {
        let _ = writeln!(list, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value));
    }
    list += "</dl>";
    // Line breaks are kept in a pre element.
    let lines: Vec<String> = report.again.text.lines().map(escaped).collect();
    let body = format!("<pre>{}</pre>\n{list}", lines.join("\n"));
    let words = format!("{} exactly this result:", escaped(&report.again.what));
    section("made", "How to repeat it", &words, &body)
}
