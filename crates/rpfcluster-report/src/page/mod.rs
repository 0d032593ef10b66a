//! The report as a self-contained HTML page that opens from disk. Text from the data is escaped by [`escaped`]; the
//! data of the script contains no `<`. The page's content security policy names its one style sheet and its one script
//! by their SHA-256 hashes and allows nothing else: no request, no other script, no event handler or style in an
//! attribute, so that markup that got into the page could still do nothing.
//!
//! `head` renders the top, `tables` the tables, this file the frame, the pictures and the data of the script. The
//! interactive pictures are canvases drawn by fewer than 600 lines of script. A plotting library would be ten times
//! the size of the rest of the page and has no linked views.

mod head;
mod tables;

use rpfcluster::printable::is_hidden;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::draw::{Ink, base64, colour, escaped};
use crate::error::Result;
use crate::figures;
use crate::model::{DrawnPoints, Heat, Partitions, Report};

const STYLE: &str = include_str!("page.css");
const SCRIPT: [&str; 5] = [
    include_str!("base.js"),
    include_str!("scatter.js"),
    include_str!("heat.js"),
    include_str!("views.js"),
    include_str!("start.js"),
];

/// Renders the page.
pub fn html(report: &Report) -> Result<String> {
    let title = format!("Clusters of {}", report.source);
    let style = format!("\n{STYLE}{}{}", tables::rules(report), scale_rules(report));
    let script = format!("\n\"use strict\";\n(() => {{\n{}}})();\n", SCRIPT.concat());
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src '{}'; \
         base-uri 'none'; form-action 'none'\">\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n\
         <header><h1>{title}</h1><button id=\"theme\" type=\"button\" hidden>Dark</button></header>\n",
        source_hash(&style),
        source_hash(&script),
        title = escaped(&title),
    );
    page += &head::head(report);
    page += "<div class=\"pair\">\n";
    page += &head::numbers_of_clusters(report);
    page += &eigenvalues(report);
    page += "</div>\n<div class=\"pair\">\n";
    page += &embedding(report);
    page += &similarity(report);
    page += "</div>\n";
    page += &tables::clusters(report);
    page += &tables::typical(report);
    page += &silhouette(report);
    page += &tables::doubtful(report);
    if let Some(agreement) = &report.agreement {
        page += &tables::agreement(agreement);
    }
    if let Some(map) = &report.sweep {
        let words = "Every threshold beta1 and bandwidth beta2 of the sweep, on one forest. A large area of one colour \
             means that the clusters do not depend on the setting. The rest of this page shows the setting selected \
             without labels.";
        let body = format!("<figure>{}</figure>", figures::sweep(map, Ink::PAGE, None));
        page += &section("sweep", "Thresholds and bandwidths", words, &body);
    }
    page += &tables::evidence(report);
    page += &tables::components(report);
    page += &tables::facts(report);
    page += "<div id=\"selected\" role=\"status\" hidden><div id=\"selected-words\"></div>\
             <button id=\"clear\" type=\"button\">Clear</button></div>\n";
    page += &format!(
        "</main>\n<script type=\"application/json\" id=\"data\">{}</script>\n<script>{script}</script>\n</body>\n</html>\n",
        data(report)?,
    );
    Ok(page)
}

/// The name of an inline style sheet or script in a content security policy (CSP Level 3).
fn source_hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

/// A section with a heading and a paragraph.
fn section(id: &str, title: &str, words: &str, body: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{title}</h2>\n<p>{words}</p>\n{body}\n</section>\n")
}

/// " of a sample of 400 of 5000 rows" when not all rows are shown.
fn of_sample(shown: usize, report: &Report) -> String {
    let n = report.rows;
    if shown < n { format!(" of a sample of {shown} of {n} rows") } else { String::new() }
}

const NEEDS_SCRIPT: &str = "<noscript><p>This picture needs JavaScript.</p></noscript>";

fn choice(id: &str, what: &str) -> String {
    format!("<label>{what} <select id=\"{id}\"></select></label>")
}

fn embedding(report: &Report) -> String {
    let meaning = if report.points.starts_with_layout() {
        "The layout places rows that are close in the spectral embedding side by side; distances between separate groups \
         mean little."
    } else {
        "In the coordinates of the eigenvectors, rows that share leaves in many trees lie close together."
    };
    let words = format!(
        "Each point is a row{}. {meaning} <span class=\"hint\">Hover over a row for its values; drag to select several rows; click a name below \
         to select a cluster; press Escape to clear the selection.</span>",
        of_sample(report.points.rows.len(), report)
    );
    let body = format!(
        "<div class=\"choices\">{}{}{}</div>\n<div class=\"plot\"><canvas id=\"scatter\" role=\"img\" tabindex=\"0\" \
         aria-label=\"Rows as points in two dimensions; arrow keys move from row to row, Enter selects the \
         row's cluster\"></canvas><div id=\"tip\" class=\"tip\" role=\"status\" hidden></div></div>\n\
         <div id=\"legend\" class=\"legend\"></div>\n{NEEDS_SCRIPT}",
        choice("x", "Horizontal"),
        choice("y", "Vertical"),
        choice("by", "Colour")
    );
    section("embedding", "Embedding", &words, &body)
}

fn similarity(report: &Report) -> String {
    let (members, n) = (report.heat.members.len(), report.rows);
    let drawn =
        if members < n { format!(" A sample of {members} of {n} rows is drawn.") } else { String::new() };
    let words = format!(
        "{}.{drawn} Bright blocks on the diagonal are clusters; bright areas off the diagonal show clusters that overlap. \
         The colour scale follows the square root, so that weak similarities are visible. <span class=\"hint\">Click a \
         cell to select its clusters.</span>",
        escaped(&report.heat.meaning),
    );
    let ticks: String = marks(report).iter().map(|(words, _)| format!("<span>{words}</span>")).collect();
    let body = format!(
        "<div class=\"choices\">{}</div>\n<div class=\"plot\"><canvas id=\"heat\" role=\"img\" tabindex=\"0\" \
         aria-label=\"Similarity of every pair of rows as a heat map; arrow keys move from cell to cell, Enter selects \
         the cell's clusters\"></canvas><div id=\"heat-tip\" class=\"tip\" role=\"status\" hidden></div></div>\n\
         <div class=\"scale\"><div class=\"ramp\"></div>\
         <div class=\"ticks\">{ticks}</div></div>\n{NEEDS_SCRIPT}",
        choice("order", "Rows by"),
    );
    section("similarity", "Similarity", &words, &body)
}

/// The labels of the colour scale and their shares of its width. The diagonal is 1 or more.
fn marks(report: &Report) -> Vec<(String, f64)> {
    crate::draw::root_marks(report.heat.bright, f64::INFINITY)
}

/// Style rules of the colour scale: its colours, and the place of each label.
fn scale_rules(report: &Report) -> String {
    let stops: Vec<String> = (0..=8).map(|i| crate::draw::shade_hex(f64::from(i) / 8.0)).collect();
    let mut rules =
        format!(".scale .ramp {{ background: linear-gradient(to right, {}); }}\n", stops.join(", "));
    for (at, (_, share)) in marks(report).iter().enumerate() {
        rules += &format!(".ticks span:nth-child({}) {{ left: {:.0}%; }}\n", at + 1, 100.0 * share);
    }
    rules
}

fn silhouette(report: &Report) -> String {
    if report.clusters.len() < 2 && report.partitions.each.len() < 2 {
        // One cluster has no silhouette; the script still needs its canvas.
        return "<canvas id=\"silhouette\" hidden></canvas><div id=\"silhouette-tip\" hidden></div>\n".into();
    }
    let words = format!(
        "Each bar is a row{}, ordered by cluster. The silhouette compares a row's mean similarity to its own cluster with \
         that to the nearest other cluster: 1 is well inside its cluster, 0 on the border, below 0 closer to another \
         cluster. The dashed line is the mean.",
        of_sample(report.points.rows.len(), report)
    );
    let body = format!(
        "<div class=\"plot\"><canvas id=\"silhouette\" role=\"img\" aria-label=\"Silhouette of every row, by \
         cluster\"></canvas><div id=\"silhouette-tip\" class=\"tip\" role=\"status\" hidden></div></div>\n{NEEDS_SCRIPT}"
    );
    section("silhouettes", "How well rows fit their clusters", &words, &body)
}

fn eigenvalues(report: &Report) -> String {
    let further = report.spectrum.values.len() > report.spectrum.k;
    let words = if !report.spectrum.used {
        "The largest eigenvalues of the normalised similarity matrix. The clusters were found without them; a wide gap \
         after as many as there are clusters suggests that their number fits the data."
    } else if further {
        "The largest eigenvalues of the normalised similarity matrix. A wide gap after the last one used suggests that the \
         number of clusters fits the data; values close to 1 mean that the clusters hardly overlap."
    } else {
        "The eigenvalues of the normalised similarity matrix that were used; for this many rows or clusters no further \
         ones are computed. Values close to 1 mean that the clusters hardly overlap."
    };
    let drawn = figures::eigen(&report.spectrum, Ink::PAGE, None);
    section("eigenvalues", "Eigenvalues", words, &format!("<figure>{drawn}</figure>"))
}

#[derive(Serialize)]
struct Data<'a> {
    #[serde(flatten)]
    points: &'a DrawnPoints,
    heat: &'a Heat,
    partitions: &'a Partitions,
    /// Number of rows of the table; `rows` has those drawn.
    n: usize,
    colours: Vec<String>,
}

/// The data of the script. Without `<`, nothing in it can close the script element; format characters are shown.
fn data(report: &Report) -> Result<String> {
    let used =
        report.partitions.each.iter().flat_map(|p| &p.colours).map(|c| *c as usize + 1).max().unwrap_or(1);
    let colours = (0..used.max(report.points.class_names.len())).map(colour).collect();
    let (points, heat, partitions) = (&report.points, &report.heat, &report.partitions);
    let data = Data { points, heat, partitions, n: report.rows, colours };
    let text = serde_json::to_string(&data)?;
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            // A string of JSON that shows the character instead of containing it.
            c if is_hidden(c) => safe.push_str(&format!("\\\\u{{{:x}}}", u32::from(c))),
            c => safe.push(c),
        }
    }
    Ok(safe)
}
