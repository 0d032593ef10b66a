//! A report as one page that opens from disk: no network, no other file. Whatever came from the data is escaped: as
//! text by [`escaped`], as script data by leaving no `<` in it.

use std::fmt::Write;

use serde::Serialize;

use super::heatmap::escaped;
use super::model::{Agreement, Report, Scatter};
use super::plots;
use crate::exit::{Failure, Outcome};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Clusters and classes beyond these are not tabulated.
const SHOWN: usize = 100;

/// The page.
pub fn html(report: &Report) -> Outcome<String> {
    let title = format!("Clusters of {}", report.source);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         <p class=\"lead\">{}</p>\n",
        escaped(&report.summary),
        title = escaped(&title),
    );
    for warning in &report.warnings {
        page += &format!("<p class=\"warning\">{}</p>\n", escaped(warning));
    }
    page += &clusters(report);
    page += &embedding(report);
    page += &section(
        "Similarity",
        &format!(
            "{}, rows in cluster order{}. Bright blocks on the diagonal \
             are clusters; bright patches off it are clusters that touch. Colours follow the square root, so that \
             weak similarity is seen.",
            escaped(&report.heat.meaning),
            sampled(report.heat.shown, report)
        ),
        &format!("<figure>{}</figure>", plots::heat(&report.heat)),
    );
    page += &section(
        "Eigenvalues",
        "The largest eigenvalues of the normalised similarity. A wide gap after the last one used says that the number \
         of clusters suits the data; values close to 1 say that the clusters hardly touch.",
        &format!("<figure>{}</figure>", plots::eigenvalues(&report.spectrum)),
    );
    if let Some(agreement) = &report.agreement {
        page += &self::agreement(agreement);
    }
    page += &facts(report);
    page += &format!(
        "</main>\n<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{SCRIPT}</script>\n\
         </body>\n</html>\n",
        data(&report.scatter)?
    );
    Ok(page)
}

fn section(title: &str, words: &str, body: &str) -> String {
    format!("<section>\n<h2>{title}</h2>\n<p>{words}</p>\n{body}\n</section>\n")
}

fn sampled(shown: usize, report: &Report) -> String {
    let n: usize = report.clusters.iter().map(|c| c.size).sum();
    if shown < n { format!(" ({shown} of {n} rows, spread evenly over the clusters)") } else { String::new() }
}

fn clusters(report: &Report) -> String {
    let marked = report.clusters.iter().any(|c| !c.marks.is_empty());
    let mut table = String::from(
        "<div class=\"wide\"><table class=\"clusters\">\n<tr><th>Cluster<th>Rows<th>Share<th>Typical row",
    );
    table += if marked { "<th class=\"marks\">Set apart by</tr>\n" } else { "</tr>\n" };
    for (at, cluster) in report.clusters.iter().enumerate().take(SHOWN) {
        let _ = write!(
            table,
            "<tr><td><span class=\"dot\" style=\"background:{}\"></span>{at}<td class=\"n\">{}\
             <td class=\"n\">{:.1}\u{a0}%<td class=\"n\">{}",
            plots::colour(at),
            cluster.size,
            100.0 * cluster.share,
            cluster.medoid
        );
        if marked {
            table += "<td class=\"marks\">";
        }
        for mark in &cluster.marks {
            let _ = write!(
                table,
                "<div><b>{}</b> {} against {} elsewhere <span class=\"soft\">({:+.1} sd)</span></div>",
                escaped(&mark.column),
                number(mark.inside),
                number(mark.outside),
                mark.deviations
            );
        }
        table += "</tr>\n";
    }
    table += "</table></div>";
    if report.clusters.len() > SHOWN {
        let _ = write!(table, "<p class=\"soft\">The first {SHOWN} of {}.</p>", report.clusters.len());
    }
    let words = if marked {
        "The typical row is the one most similar to the rest of its cluster. The columns are those whose mean differs \
         most from the mean elsewhere, measured in standard deviations of the column."
    } else {
        "The typical row is the one most similar to the rest of its cluster."
    };
    section("Clusters", words, &table)
}

fn embedding(report: &Report) -> String {
    let words = format!(
        "Every point is a row{}. Eigenvectors place rows that many trees hold together close to each other; the columns \
         of the data can be taken as axes and colours too. Point at a row to see what it is.",
        sampled(report.scatter.rows.len(), report)
    );
    let choice = |id: &str, what: &str| format!("<label>{what} <select id=\"{id}\"></select></label>");
    let body = format!(
        "<div class=\"choices\">{}{}{}</div>\n<div class=\"plot\"><canvas id=\"scatter\" role=\"img\" tabindex=\"0\" \
         aria-label=\"Rows as points in two dimensions, coloured by cluster\"></canvas>\
         <div id=\"tip\" role=\"status\" hidden></div></div>\n<div id=\"legend\"></div>\n\
         <noscript><p class=\"soft\">This picture needs JavaScript.</p></noscript>",
        choice("x", "Across"),
        choice("y", "Up"),
        choice("by", "Colour")
    );
    section("Embedding", &words, &body)
}

fn agreement(agreement: &Agreement) -> String {
    let s = &agreement.scores;
    let mut table = String::from("<div class=\"wide\"><table>\n<tr><th>Cluster");
    for class in agreement.classes.iter().take(SHOWN) {
        let _ = write!(table, "<th>{}", escaped(class));
    }
    table += "</tr>\n";
    for (at, counts) in agreement.counts.iter().enumerate().take(SHOWN) {
        let _ = write!(
            table,
            "<tr><td><span class=\"dot\" style=\"background:{}\"></span>{at}",
            plots::colour(at)
        );
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
    section("Agreement with known classes", &words, &table)
}

fn facts(report: &Report) -> String {
    let mut list = String::from("<dl>\n");
    for (name, value) in &report.facts {
        let _ = writeln!(list, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value));
    }
    list += "</dl>";
    let command = format!("<pre>{}</pre>\n{list}", escaped(&report.command));
    section("How it was made", "This command makes the same again, bit for bit:", &command)
}

#[derive(Serialize)]
struct Data<'a> {
    #[serde(flatten)]
    scatter: &'a Scatter,
    colours: Vec<String>,
}

/// What the script draws from; with no `<`, nothing in it can end the element it stands in.
fn data(scatter: &Scatter) -> Outcome<String> {
    let colours = (0..scatter.k.max(scatter.class_names.len())).map(plots::colour).collect();
    let text = serde_json::to_string(&Data { scatter, colours })
        .map_err(|e| Failure::data(format!("the report cannot be written: {e}")))?;
    Ok(text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"))
}

/// A number of about four digits.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = if size >= 1000.0 {
        0
    } else if size >= 100.0 {
        1
    } else if size >= 1.0 {
        2
    } else {
        3
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_for_people() {
        let all =
            [(0.0, "0"), (1.5, "1.5"), (1.0, "1"), (-0.25, "-0.25"), (1234.5, "1234"), (2e-9, "2.00e-9")];
        for (value, text) in all {
            assert_eq!(number(value), text);
        }
    }
}
