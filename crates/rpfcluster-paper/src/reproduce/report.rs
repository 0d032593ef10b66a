//! `report.html`: a summary, the statements of the paper with their verdicts, all tables and figures, seconds per run and
//! what was not run, in one self-contained page.

use std::fmt::Write;

use crate::compare::ComparedMethod;
use rpfcluster_report::escaped as escape;

use super::illustrations::{Illustrations, PAPER_IRIS};
use super::results::{Results, SKEWED};
use super::sentences;
use super::statements::{Outcome, Statement, VERDICTS, statements};
use super::tables::{PREPARATIONS, SCORES};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:light-dark(#111,#e6e9ec);background:light-dark(#fff,#14171a)}:root{color-scheme:light dark}@media print{:root{color-scheme:light}figure,tr{break-inside:avoid}}\
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}th,td{padding:.25rem .6rem;border-bottom:1px solid light-dark(#ddd,#384047);text-align:right}\
th:first-child,td:first-child{text-align:left}caption{text-align:left;font-weight:bold;padding:.4rem 0}.best{font-weight:bold}.wide{overflow-x:auto}\
td{white-space:nowrap}.text td,.text th{text-align:left;vertical-align:top;white-space:normal}.yes{color:light-dark(#00664d,#4fd1a5)}.partly{color:light-dark(#7a5200,#f0b94d)}.no{color:light-dark(#a32a00,#ff8f66)}\
.summary{border-left:.25rem solid #0072b2;padding:.1rem 1rem;margin:1rem 0}.summary h2{margin:.3rem 0}.origin{color:light-dark(#444,#a3adb7)}\
svg{max-width:100%;height:auto}figure{margin:1rem 0}small{color:light-dark(#444,#a3adb7)}";

/// The whole page.
pub(super) fn page(
    results: &Results,
    illustrations: &Illustrations,
    figures: &[(&'static str, String)],
) -> String {
    let mut out = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
<title>rpfCluster: the paper's experiments</title><style>{STYLE}</style></head><body><main><h1>The paper's experiments, reproduced</h1>\
<p class=\"origin\">{} Scores are means over {} ± standard deviation.</p><section class=\"summary\"><h2>Summary</h2>",
        escape(&sentences::origin(results)),
        escape(&sentences::seeds(results)),
    );
    let stated = statements(results, illustrations);
    for paragraph in sentences::summary(results, &stated, Some(&illustrations.iris)) {
        let _ = write!(out, "<p>{}</p>", escape(&paragraph));
    }
    out.push_str(
        "</section><p><b>Algorithm 3, ncut, best by labels</b> is the paper's protocol as far as the paper gives it: the best setting of a grid, chosen by the \
known classes, which the rivals do not use. <b>kway</b> labels are not the paper's. <b>Algorithm 3, chosen without labels</b> selects a setting of the same grid \
without classes; <b>rpfCluster, default</b> (<code>auto</code>) is the default of this program, which is not Algorithm 3. <b>NJW</b> is spectral \
clustering with the Gaussian kernel, <b>CF</b> Cluster Forests; <b>majority</b> is the share of the largest class in percent, the accuracy of a single \
cluster.</p>",
    );
    for (name, figure) in figures.iter().take(2) {
        let _ = write!(out, "<figure id=\"{name}\"><div class=\"wide\">{figure}</div></figure>");
    }
    statement_table(&mut out, &stated);
    for preparation in PREPARATIONS {
        let words = match preparation {
            "paper" => "prepared as in the paper",
            "raw" => "as distributed",
            _ => "every feature standardised",
        };
        let _ = write!(out, "<h2>Data {words}</h2>");
        for (name, _) in SCORES {
            table(&mut out, results, preparation, name);
        }
    }
    seconds(&mut out, results);
    let _ = write!(out, "<h2>Methods</h2><ul>");
    for sentence in sentences::methods(results).into_iter().chain(sentences::behind(results)) {
        let _ = write!(out, "<li>{}", marked(&sentence));
    }
    out.push_str("</ul>");
    trouble(&mut out, results);
    let iris = &illustrations.iris;
    let _ = write!(
        out,
        "<h2>Iris: two kernels</h2><p>Accuracy (rho_c) / Rand index (rho_r). rpf-kernel, normalised cuts, {} seeds, {} bandwidths: best setting by \
species {} (paper: {:.2} / {:.2}); setting chosen without species {}. Gaussian kernel: {:.2} / {:.2} at σ = {:.2}, picked of {} bandwidths as \
the one closest to the paper's {:.2} / {:.2}; {:.2} / {:.2} at its best bandwidth by species.</p>",
        iris.seeds,
        iris.bandwidths,
        iris.rpf.words(),
        PAPER_IRIS[0].0,
        PAPER_IRIS[0].1,
        iris.rpf_label_free.words(),
        iris.gaussian.rho_c,
        iris.gaussian.rho_r,
        iris.sigma,
        iris.gaussian_curve.len(),
        PAPER_IRIS[1].0,
        PAPER_IRIS[1].1,
        iris.gaussian_best.rho_c,
        iris.gaussian_best.rho_r
    );
    for (name, figure) in figures.iter().skip(2) {
        if *name == "nine-points.svg" {
            out.push_str("<h2>Nine points on a line</h2><p>The vector printed in the paper, recomputed: D<sup>1/2</sup>u<sub>2</sub> scaled to unit length.</p>");
        }
        let _ = write!(out, "<figure id=\"{name}\"><div class=\"wide\">{figure}</div></figure>");
    }
    out.push_str("</main></body></html>\n");
    out
}

/// Escaped text with `names` set as code.
fn marked(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(at, part)| if at % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { escape(part) })
        .collect()
}

/// The statements of the paper and their verdicts.
fn statement_table(out: &mut String, stated: &[Statement]) {
    let _ = write!(
        out,
        "<h2>Statements of the paper</h2><p>{}</p><div class=\"wide\"><table class=\"text\"><tr><th>section<th>the paper \
states<th>verdict<th>found",
        escape(VERDICTS)
    );
    for s in stated {
        let class = match s.outcome {
            Outcome::Reproduced => "yes",
            Outcome::Partly => "partly",
            Outcome::Not => "no",
            Outcome::NotChecked => "open",
        };
        let _ = write!(
            out,
            "<tr><td>{}<td>{}<td class=\"{class}\">{}<td>{}",
            escape(s.section),
            escape(s.paper),
            s.outcome.word(),
            marked(&s.found)
        );
    }
    out.push_str("</table></div>");
}

/// One score, a row per data set and a column per method, the best of each row in bold.
fn table(out: &mut String, results: &Results, preparation: &str, name: &str) {
    let Some((_, score)) = SCORES.iter().find(|(n, _)| *n == name) else { return };
    let digits = if name.starts_with("rho") { 1 } else { 3 };
    let title = match name {
        "rho_c" => "Accuracy (rho_c), percent",
        "rho_r" => "Rand index (rho_r), percent",
        "ari" => "Adjusted Rand index",
        _ => "Normalised mutual information",
    };
    let _ =
        write!(out, "<div class=\"wide\"><table><caption>{title}</caption><tr><th>set<th>n<th>K<th>majority");
    for method in ComparedMethod::ALL {
        let _ = write!(out, "<th>{}", escape(method.title()));
    }
    for (short, set) in results.in_order() {
        let star = if SKEWED.contains(&short) && name == "rho_c" { "*" } else { "" };
        let _ = write!(
            out,
            "<tr><td>{}{star}<td>{}<td>{}<td>{:.1}",
            escape(&set.title),
            set.n,
            set.k,
            set.majority
        );
        let means: Vec<Option<f64>> =
            ComparedMethod::ALL.iter().map(|m| set.cell(*m, preparation).map(|c| score(c).mean)).collect();
        let best = means.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        for method in ComparedMethod::ALL {
            match set.cell(method, preparation).map(score) {
                Some(s) => {
                    let class = if s.mean >= best - 1e-9 { " class=\"best\"" } else { "" };
                    let _ = write!(out, "<td{class}>{}", sentences::spread(s, digits));
                }
                None => out.push_str("<td>–"),
            }
        }
    }
    out.push_str("</table></div>");
    if name == "rho_c" {
        out.push_str("<p><small>* Skewed classes: a single cluster scores the majority, so the accuracy is not informative. Read the adjusted Rand index instead.</small></p>");
    }
}

fn seconds(out: &mut String, results: &Results) {
    out.push_str("<h2>Seconds per run</h2><div class=\"wide\"><table><tr><th>set");
    for method in ComparedMethod::ALL {
        let _ = write!(out, "<th>{}", escape(method.title()));
    }
    for (_, set) in results.in_order() {
        let _ = write!(out, "<tr><td>{}", escape(&set.title));
        for method in ComparedMethod::ALL {
            match set.cell(method, "paper") {
                Some(cell) => {
                    let note =
                        cell.notes.first().map_or(String::new(), |n| format!(" title=\"{}\"", escape(n)));
                    let _ = write!(out, "<td{note}>{}", sentences::time(cell.seconds));
                }
                None => out.push_str("<td>–"),
            }
        }
    }
    out.push_str("</table></div>");
}

fn trouble(out: &mut String, results: &Results) {
    out.push_str("<h2>Not run</h2><ul>");
    for (title, why) in &results.not_public {
        let _ = write!(out, "<li>{}: {}", escape(title), escape(why));
    }
    for (name, problems) in &results.failed {
        for problem in problems {
            let _ = write!(out, "<li>{}: {}", escape(name), escape(problem));
        }
    }
    out.push_str("</ul>");
}
