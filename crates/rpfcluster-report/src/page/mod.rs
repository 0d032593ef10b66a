//! A report as one page that opens from disk: no network, no other file. Whatever came from the data is escaped: as
//! text by [`escaped`], as script data by leaving no `<` in it.
//!
//! The pictures that are pointed at are canvases drawn by some five hundred lines of script; a plotting library would
//! be ten times the size of everything else on the page, and would have to be taught the linked views anyway.

mod head;
mod tables;

use serde::Serialize;

use crate::draw::{Ink, colour, escaped};
use crate::error::Result;
use crate::figures;
use crate::model::{Heat, Partitions, Points, Report};

const STYLE: &str = include_str!("page.css");
const SCRIPT: [&str; 5] = [
    include_str!("base.js"),
    include_str!("scatter.js"),
    include_str!("heat.js"),
    include_str!("views.js"),
    include_str!("start.js"),
];

/// The page.
pub fn html(report: &Report) -> Result<String> {
    let title = format!("Clusters of {}", report.source);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header><h1>{title}</h1><button id=\"theme\" type=\"button\" hidden>Dark</button></header>\n",
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
        let words = "Every threshold beta1 and bandwidth beta2 that was tried over one forest. A wide field of one colour \
             says that the clusters do not hang on the setting. The rest of this page shows the setting picked \
             without labels.";
        let body = format!("<figure>{}</figure>", figures::sweep(map, Ink::PAGE, None));
        page += &section("sweep", "Thresholds and bandwidths", words, &body);
    }
    page += &tables::evidence(report);
    page += &tables::facts(report);
    page += "<div id=\"selected\" role=\"status\" hidden><div id=\"selected-words\"></div>\
             <button id=\"clear\" type=\"button\">Clear</button></div>\n";
    page += &format!(
        "</main>\n<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n\"use strict\";\n(() => {{\n{}}})();\n\
         </script>\n</body>\n</html>\n",
        data(report)?,
        SCRIPT.concat()
    );
    Ok(page)
}

/// A part of the page under a headline.
fn section(id: &str, title: &str, words: &str, body: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{title}</h2>\n<p>{words}</p>\n{body}\n</section>\n")
}

/// Says so when not all rows are shown.
fn sampled(shown: usize, report: &Report) -> String {
    let n = report.size.0;
    if shown < n { format!(" ({shown} of {n} rows, spread evenly over the clusters)") } else { String::new() }
}

const NEEDS_SCRIPT: &str = "<noscript><p>This picture needs JavaScript.</p></noscript>";

fn choice(id: &str, what: &str) -> String {
    format!("<label>{what} <select id=\"{id}\"></select></label>")
}

fn embedding(report: &Report) -> String {
    let words = format!(
        "Every point is a row{}. Eigenvectors place rows that many trees hold together close to each other. <span \
         class=\"hint\">Point at a row to see what it is; drag to select several; click a name below to select a \
         cluster; Escape lets go.</span>",
        sampled(report.points.rows.len(), report)
    );
    let body = format!(
        "<div class=\"choices\">{}{}{}</div>\n<div class=\"plot\"><canvas id=\"scatter\" role=\"img\" tabindex=\"0\" \
         aria-label=\"Rows as points in two dimensions; arrow keys go from row to row, Enter selects the row's \
         cluster\"></canvas><div id=\"tip\" class=\"tip\" role=\"status\" hidden></div></div>\n\
         <div id=\"legend\" class=\"legend\"></div>\n{NEEDS_SCRIPT}",
        choice("x", "Across"),
        choice("y", "Up"),
        choice("by", "Colour")
    );
    section("embedding", "Embedding", &words, &body)
}

fn similarity(report: &Report) -> String {
    let words = format!(
        "{}{}. Bright blocks on the diagonal are clusters; bright patches off it are clusters that touch. Colours \
         follow the square root, so that weak similarity is seen. <span class=\"hint\">Click a cell to select its \
         clusters.</span>",
        escaped(&report.heat.meaning),
        sampled(report.heat.members.len(), report)
    );
    let stops: Vec<String> = (0..=8).map(|i| crate::draw::shade_hex(f64::from(i) / 8.0)).collect();
    let body = format!(
        "<div class=\"choices\">{}</div>\n<div class=\"plot\"><canvas id=\"heat\" role=\"img\" tabindex=\"0\" \
         aria-label=\"Similarity of every pair of rows as a heat map; arrow keys go from cell to cell, Enter selects \
         the cell's clusters\"></canvas><div id=\"heat-tip\" class=\"tip\" role=\"status\" hidden></div></div>\n\
         <div class=\"legend\"><span>0</span><span class=\"ramp\" style=\"background:linear-gradient(to right,{})\">\
         </span><span>{}</span></div>\n{NEEDS_SCRIPT}",
        choice("order", "Rows by"),
        stops.join(","),
        crate::draw::number(report.heat.largest)
    );
    section("similarity", "Similarity", &words, &body)
}

fn silhouette(report: &Report) -> String {
    if report.clusters.len() < 2 && report.partitions.each.len() < 2 {
        // One cluster has no other to compare with; the script still finds its canvas.
        return "<canvas id=\"silhouette\" hidden></canvas><div id=\"silhouette-tip\" hidden></div>\n".into();
    }
    let words = format!(
        "Each bar is a row{}, by cluster: how much more similar it is to its own cluster than to the nearest other one, by \
         the kernel itself. 1 is deep inside, 0 on the border, below 0 nearer to another cluster. The dashed line is the \
         mean.",
        sampled(report.points.rows.len(), report)
    );
    let body = format!(
        "<div class=\"plot\"><canvas id=\"silhouette\" role=\"img\" aria-label=\"Silhouette of every row, by \
         cluster\"></canvas><div id=\"silhouette-tip\" class=\"tip\" role=\"status\" hidden></div></div>\n{NEEDS_SCRIPT}"
    );
    section("silhouettes", "How well rows fit their clusters", &words, &body)
}

fn eigenvalues(report: &Report) -> String {
    let further = report.spectrum.values.len() > report.spectrum.k;
    let words = if further {
        "The largest eigenvalues of the normalised similarity. A wide gap after the last one used says that the number of \
         clusters suits the data; values close to 1 say that the clusters hardly touch."
    } else {
        "The largest eigenvalues of the normalised similarity, those used only: of so many rows, or with so many \
         clusters, no further ones were computed. Values close to 1 say that the clusters hardly touch."
    };
    let drawn = figures::eigen(&report.spectrum, Ink::PAGE, None);
    section("eigenvalues", "Eigenvalues", words, &format!("<figure>{drawn}</figure>"))
}

#[derive(Serialize)]
struct Data<'a> {
    #[serde(flatten)]
    points: &'a Points,
    heat: &'a Heat,
    partitions: &'a Partitions,
    colours: Vec<String>,
}

/// What the script draws from; with no `<`, nothing in it can end the element it stands in.
fn data(report: &Report) -> Result<String> {
    let used =
        report.partitions.each.iter().flat_map(|p| &p.colours).map(|c| *c as usize + 1).max().unwrap_or(1);
    let colours = (0..used.max(report.points.class_names.len())).map(colour).collect();
    let data = Data { points: &report.points, heat: &report.heat, partitions: &report.partitions, colours };
    let text = serde_json::to_string(&data)?;
    Ok(text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"))
}
