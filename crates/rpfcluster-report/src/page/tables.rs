//! The parts of the page that are read rather than looked at: clusters, typical and doubtful rows, agreement with known
//! classes, what was chosen and why, and how it was made.

use std::fmt::Write;

use super::section;
use crate::draw::{colour, escaped, number};
use crate::model::{Agreement, Report, Spread};
use crate::subject::word;

/// Clusters and classes beyond these are not tabulated.
const SHOWN: usize = 100;
/// Candidates listed.
const LISTED: usize = 12;

fn dot(cluster: usize) -> String {
    format!("<span class=\"dot\" style=\"background:{}\"></span>", colour(cluster))
}

/// A button that selects a row in every picture, where the row is shown there.
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
    let largest = report.clusters.iter().map(|c| c.share).fold(f64::MIN_POSITIVE, f64::max);
    let mut table = String::from(
        "<div class=\"wide\"><table class=\"clusters\">\n<thead><tr><th>Cluster<th>Rows<th>Share<th>Typical row",
    );
    table += if marked { "<th class=\"marks\">Set apart by</tr></thead>\n" } else { "</tr></thead>\n" };
    for (at, cluster) in report.clusters.iter().enumerate().take(SHOWN) {
        let _ = write!(
            table,
            "<tr><td><button type=\"button\" class=\"link\" data-cluster=\"{at}\" aria-pressed=\"false\">{}{at}</button>\
             <td class=\"n\">{}<td class=\"n\">{:.1}\u{a0}%<span class=\"bar\" style=\"width:{:.1}rem;background:{}\">\
             </span><td class=\"n\">{}",
            dot(at),
            cluster.size,
            100.0 * cluster.share,
            5.0 * cluster.share / largest,
            colour(at),
            row_button(cluster.medoid, cluster.medoid_point)
        );
        if marked {
            table += "<td class=\"marks\">";
        }
        for mark in &cluster.marks {
            let _ = write!(
                table,
                "<div>{}<span><b>{}</b> {} against {} elsewhere <span class=\"soft\">({:+.1} sd)</span></span></div>",
                mark.spread.as_ref().map_or_else(String::new, |s| spread(s, at)),
                escaped(&mark.column.1),
                number(mark.inside),
                number(mark.outside),
                mark.deviations
            );
        }
        table += "</tr>\n";
    }
    table += "</table></div>";
    if report.clusters.len() > SHOWN {
        let _ = write!(table, "<p>The first {SHOWN} of {}.</p>", report.clusters.len());
    }
    let words = if marked {
        "The typical row is the one most similar to the rest of its cluster. The columns are those whose mean differs \
         most from the mean elsewhere, in standard deviations of the column; beside each, how its values lie within \
         the cluster (colour) and elsewhere (grey). <span class=\"hint\">Click a cluster to select its rows in every \
         picture.</span>"
    } else {
        "The typical row is the one most similar to the rest of its cluster."
    };
    section("clusters", "Clusters", words, &table)
}

/// Two small histograms on top of each other.
fn spread(spread: &Spread, cluster: usize) -> String {
    const WIDTH: f64 = 116.0;
    const HEIGHT: f64 = 30.0;
    let highest = spread.inside.iter().chain(&spread.outside).copied().fold(f64::MIN_POSITIVE, f64::max);
    let step = WIDTH / spread.inside.len().max(1) as f64;
    let outline = |shares: &[f64]| {
        let mut path = format!("M0 {HEIGHT}");
        for (at, share) in shares.iter().enumerate() {
            // The root, as in the heat map: a few rows must be seen beside many.
            let y = HEIGHT - (HEIGHT - 2.0) * (share / highest).sqrt();
            let _ = write!(path, "V{y:.1}H{:.1}", step * (at + 1) as f64);
        }
        path + &format!("V{HEIGHT}z")
    };
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"Values from \
         {} to {}\"><path d=\"{}\" style=\"fill:var(--soft);opacity:.35\"/><path d=\"{}\" style=\"fill:{};opacity:.75\"/>\
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
    let mut words = String::from("Of each cluster the row most similar to the others, as it is in the data.");
    if typical.left_out > 0 {
        let _ = write!(
            words,
            " The {} columns that tell clusters apart best; {} more are not shown.",
            typical.columns.len(),
            typical.left_out
        );
    }
    section("typical", "Typical rows", &words, &table)
}

pub fn doubtful(report: &Report) -> String {
    let Some((median, low)) = report.confidence else { return String::new() };
    let words = format!(
        "Confidence is the share of a row's leaf mates, over all trees, that are in its cluster: 1 deep inside, one half \
         on the border of two. Half the rows have at least {median:.2}; {low} of {} have less than one half.",
        report.size.0
    );
    if report.doubtful.is_empty() {
        let body = "<p>No row is doubtful: all have a confidence of 0.9 or more.</p>";
        return section("doubtful", "Doubtful rows", &words, body);
    }
    let classes = report.doubtful.iter().any(|d| d.class.is_some());
    let mut table =
        String::from("<div class=\"wide\"><table>\n<tr><th>Row<th>Confidence<th>Cluster<th>Next nearest");
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
        "Rows of each cluster by known class. Clustering accuracy rho_c {:.2}\u{a0}% (one single cluster: \
         {:.2}\u{a0}%), Rand index rho_r {:.2}\u{a0}%, adjusted Rand index {:.4}, normalised mutual information {:.4}.",
        s.rho_c, s.majority, s.rho_r, s.ari, s.nmi
    );
    section("agreement", "Agreement with known classes", &words, &table)
}

/// What was left open, what was tried, and what was taken.
pub fn evidence(report: &Report) -> String {
    let Some(evidence) = &report.evidence else { return String::new() };
    let mut body = String::new();
    let on = |sample: Option<usize>| sample.map_or(String::new(), |rows| format!(", tried on {rows} rows"));
    if let Some(k) = &evidence.k {
        let _ = write!(
            body,
            "<p>The number of clusters was left open: {} was taken (sure {:.2}, from 0 to 1{}). The gap is how many \
             times more the similarity leaks behind K clusters than in clouds without clusters; agreement is that of \
             two halves of the forest.</p>\n<div class=\"wide\"><table><tr><th>K<th>Gap<th>Agreement<th>Score</tr>",
            k.k,
            k.sure,
            on(k.sample)
        );
        for c in k.candidates.iter().take(LISTED) {
            let class = if c.k == k.k { "n most" } else { "n" };
            let _ = writeln!(
                body,
                "<tr><td class=\"{class}\">{}<td class=\"n\">{}<td class=\"n\">{:.2}<td class=\"n\">{:.3}</tr>",
                c.k,
                number(c.gap),
                c.stability,
                c.score
            );
        }
        body += "</table></div>\n";
    }
    if let Some(choice) = evidence.settings.as_ref().filter(|c| c.candidates.len() > 1) {
        let _ = write!(
            body,
            "<p>Of {} settings the one was taken {} (1 is the same clusters{}). {}</p>\n<div class=\"wide\"><table><tr>\
             <th>Similarity<th>min-node<th>Agreement<th>Halves<th>Sizes</tr>",
            choice.candidates.len(),
            if choice.by_stability() {
                "that two halves of the forest find again best"
            } else {
                "whose clusters those of all others agree with most"
            },
            on(choice.sample),
            if choice.by_stability() {
                "What the settings agree on most is not found again by halves of the forest, and so owes much to chance."
            } else {
                "Agreement is the root mean square of the adjusted Rand index: settings fail in different ways, so \
                 what many of them find is more likely there. Clusters of which a few hold nearly all rows count \
                 less, unless most settings find them."
            }
        );
        for (at, c) in choice.candidates.iter().take(LISTED).enumerate() {
            let sizes: Vec<String> = c.sizes.iter().take(8).map(usize::to_string).collect();
            let class = if at == 0 { " class=\"most\"" } else { "" };
            let _ = writeln!(
                body,
                "<tr><td{class}>{}<td class=\"n\">{}<td class=\"n\">{:.3}<td class=\"n\">{}<td class=\"n\">{}{}</tr>",
                setting(&c.affinity),
                c.min_node,
                c.agreement,
                c.stability.map_or("–".into(), |s| format!("{:.2}", (s * 100.0).round() / 100.0 + 0.0)),
                sizes.join(" "),
                if c.sizes.len() > 8 { " …" } else { "" }
            );
        }
        body += "</table></div>\n";
        if choice.candidates.len() > LISTED {
            let _ = write!(body, "<p>The first {LISTED}; <code>--json</code> has them all.</p>");
        }
    }
    if body.is_empty() {
        return body;
    }
    section("chosen", "What was chosen, and why", "No label was looked at.", &body)
}

fn setting(affinity: &rpfcluster::AffinityParams) -> String {
    use rpfcluster::AffinityParams;
    match affinity {
        AffinityParams::Linear => "linear".into(),
        AffinityParams::Paper { beta1, beta2, diagonal } => {
            format!("paper, beta1 {beta1}, beta2 {beta2}, diagonal {}", word(diagonal))
        }
        AffinityParams::TopK { top, power } => format!("top-k, top {top}, power {power}"),
    }
}

pub fn facts(report: &Report) -> String {
    let mut list = String::from("<dl>\n");
    for (name, value) in &report.facts {
        let _ = writeln!(list, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value));
    }
    list += "</dl>";
    // A pre keeps its line ends; everything else in it is escaped.
    let lines: Vec<String> = report.again.1.lines().map(escaped).collect();
    let body = format!("<pre>{}</pre>\n{list}", lines.join("\n"));
    let words = format!("{} the same again, bit for bit:", escaped(&report.again.0));
    section("made", "How it was made", &words, &body)
}
