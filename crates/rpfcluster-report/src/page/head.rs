//! The top of the page: what came out, whether to believe it, and other numbers of clusters.

use std::fmt::Write;

use super::section;
use crate::draw::escaped;
use crate::model::{Partition, Report};

/// From this agreement of the two halves of the forest on the clusters hold, and below this one they are weak.
const HOLDS: f64 = 0.9;
const WEAK: f64 = 0.6;
/// Below this mean silhouette rows are hardly nearer to their own cluster than to the next.
const APART: f64 = 0.25;

/// Summary, verdict, warnings, and the figures a person looks for first.
pub fn head(report: &Report) -> String {
    let mut text = format!("<p class=\"lead\">{}", escaped(&report.summary));
    if let Some(verdict) = verdict(report) {
        let _ = write!(text, " {verdict}");
    }
    text += "</p>\n";
    for warning in &report.warnings {
        let _ = writeln!(text, "<p class=\"warning\">{}</p>", escaped(warning));
    }
    text + &cards(report)
}

fn own(report: &Report) -> Option<&Partition> {
    report.partitions.each.iter().find(|p| p.run)
}

/// How far two halves of the forest agree: as the page found it, else by the trial of settings.
fn stability(report: &Report) -> Option<f64> {
    let tried = || report.evidence.as_ref().and_then(|e| e.settings.as_ref()?.candidates.first()?.stability);
    own(report).and_then(|p| p.stability).or_else(tried)
}

fn verdict(report: &Report) -> Option<String> {
    if report.clusters.len() < 2 {
        return None;
    }
    let stability = stability(report)?;
    let far = own(report).map_or(1.0, |p| p.mean);
    Some(if stability >= WEAK && far < APART {
        format!(
            "Two halves of the forest agree on the clusters to {stability:.2}, but <b>the clusters are hardly apart</b>: \
             the mean silhouette is {far:.2}. Perhaps there are fewer."
        )
    } else if stability >= HOLDS {
        format!(
            "The clusters hold: two halves of the forest, each on its own, agree on them to {stability:.2}."
        )
    } else if stability >= WEAK {
        format!(
            "The clusters hold in the main: two halves of the forest, each on its own, agree on them to {stability:.2} \
             (1 is the same clusters)."
        )
    } else {
        format!(
            "<b>The structure is weak:</b> two halves of the forest agree only to {stability:.2}, so the borders owe much \
             to chance."
        )
    })
}

fn cards(report: &Report) -> String {
    let mut cards: Vec<(String, &str)> =
        vec![(report.size.0.to_string(), "rows"), (report.clusters.len().to_string(), "clusters")];
    if report.clusters.len() > 1 {
        if let Some(stability) = stability(report) {
            cards.push((
                format!("{stability:.2}"),
                "agreement of two halves of the forest (1 is the same clusters)",
            ));
        }
        if let Some(own) = own(report) {
            cards.push((format!("{:.2}", own.mean), "mean silhouette, by the kernel (1 is far apart)"));
        }
        if let Some((median, low)) = report.confidence {
            cards
                .push((format!("{median:.2}"), "median confidence: share of leaf mates in the same cluster"));
            cards.push((low.to_string(), "rows with a confidence below one half"));
        }
    }
    if let Some(agreement) = &report.agreement {
        cards.push((format!("{:.2}", agreement.scores.ari), "adjusted Rand index with the known classes"));
    }
    let mut list = String::from("<ul class=\"cards\">\n");
    for (value, words) in cards {
        let _ = writeln!(list, "<li><b>{value}</b><span>{words}</span></li>");
    }
    list + "</ul>\n"
}

/// The slider over partitions, and how stable each is.
pub fn numbers_of_clusters(report: &Report) -> String {
    let each = &report.partitions.each;
    if each.len() < 2 {
        return String::new();
    }
    let run = each.iter().position(|p| p.run).unwrap_or(0);
    let measured = each.iter().any(|p| p.stability.is_some());
    let mut words = String::from(if measured {
        "The same similarity cut into other numbers of clusters. A K on which two halves of the forest agree is more \
         likely there than one on which they do not; of several that are stable, the largest says most."
    } else {
        "The same similarity cut into other numbers of clusters."
    });
    if let Some(rows) = report.partitions.sample {
        let _ = write!(
            words,
            " Numbers other than the run's own, and how stable each is, come from a forest of the {rows} rows shown."
        );
    }
    let body = format!(
        "<div class=\"k\"><label for=\"k\">Clusters <b id=\"k-now\">{}</b></label><input type=\"range\" id=\"k\" min=\"0\" \
         max=\"{}\" step=\"1\" value=\"{run}\"><button id=\"back\" class=\"back\" type=\"button\" hidden>Back to the \
         run's {}</button><output id=\"k-words\" for=\"k\"></output></div>\n<p id=\"other\" hidden></p>\n\
         <figure>{}</figure>",
        each[run].k,
        each.len() - 1,
        each[run].k,
        chart(each)
    );
    section("number", "How many clusters", &words, &body)
}

/// For each K its stability as a bar and its mean silhouette as a dot.
fn chart(each: &[Partition]) -> String {
    const WIDTH: f64 = 680.0;
    const HEIGHT: f64 = 170.0;
    const LEFT: f64 = 44.0;
    const TOP: f64 = 30.0;
    const TALL: f64 = 100.0;
    let step = (WIDTH - LEFT - 10.0) / each.len() as f64;
    let y = |value: f64| TOP + TALL * (1.0 - value.clamp(0.0, 1.0));
    let mut svg = format!(
        "<svg class=\"bars\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Agreement of two halves of the \
         forest, and mean silhouette, for each number of clusters\" font-size=\"13\" fill=\"currentColor\">\n"
    );
    for value in [0.0, 0.5, 1.0] {
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {:.1}H{WIDTH}\" style=\"stroke:var(--line)\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{value}</text>",
            y(value),
            LEFT - 8.0,
            y(value) + 4.0
        );
    }
    let mut legend = LEFT;
    if each.iter().any(|p| p.stability.is_some()) {
        let _ = writeln!(
            svg,
            "<rect x=\"{legend}\" y=\"4\" width=\"12\" height=\"12\" style=\"fill:var(--main)\"/><text x=\"{}\" y=\"15\">\
             agreement of two halves of the forest</text>",
            legend + 18.0
        );
        legend += 280.0;
    }
    let _ = writeln!(
        svg,
        "<circle cx=\"{}\" cy=\"10\" r=\"5\" style=\"fill:var(--mark)\"/><text x=\"{}\" y=\"15\">mean silhouette</text>",
        legend + 6.0,
        legend + 18.0
    );
    for (at, p) in each.iter().enumerate() {
        let (left, middle) = (LEFT + step * at as f64, LEFT + step * (at as f64 + 0.5));
        let now = if p.run { " class=\"now\"" } else { "" };
        let bar = p.stability.map_or(String::new(), |s| {
            format!(
                "<rect class=\"stable\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\"/>",
                left + step * 0.15,
                y(s),
                step * 0.7,
                TOP + TALL - y(s)
            )
        });
        let stable = p.stability.map_or(String::new(), |s| format!("agreement {s:.2}, "));
        let _ = writeln!(
            svg,
            "<g data-k=\"{}\"{now}><rect x=\"{left:.1}\" y=\"{TOP}\" width=\"{step:.1}\" height=\"{:.1}\" \
             fill=\"transparent\"/>{bar}<circle cx=\"{middle:.1}\" cy=\"{:.1}\" r=\"4.5\" style=\"fill:var(--mark);\
             stroke:var(--ground)\"/><text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <title>{} clusters: {stable}mean silhouette {:.2}</title></g>",
            p.k,
            TALL + 24.0,
            y(p.mean),
            TOP + TALL + 18.0,
            p.k,
            p.k,
            p.mean
        );
    }
    let _ = write!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">number of clusters K</text></svg>",
        LEFT + (WIDTH - LEFT) / 2.0,
        HEIGHT - 4.0
    );
    svg
}
