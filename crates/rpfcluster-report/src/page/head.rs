//! The top of the page: the result, the verdict, warnings, key figures, and the section
//! on other numbers of clusters.

use std::fmt::Write;

use super::section;
use crate::draw::escaped;
use crate::model::{ConfidenceSummary, PartitionView, Report};

/// Summary, verdict, warnings and key figures.
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

fn own(report: &Report) -> Option<&PartitionView> {
    report.partitions.each.iter().find(|p| p.run)
}

fn verdict(report: &Report) -> Option<String> {
    let verdict = report.verdict.as_ref()?;
    let (word, reason) = (verdict.word.words(), escaped(&verdict.reason));
    Some(format!("Verdict: <b>{word}</b> (score {:.2}). {reason}", verdict.score))
}

fn cards(report: &Report) -> String {
    let mut cards: Vec<(String, String)> = vec![
        (report.rows.to_string(), "rows".into()),
        (report.clusters.len().to_string(), "clusters".into()),
    ];
    if report.clusters.len() > 1 {
        if let Some(verdict) = &report.verdict {
            let words = "score of the verdict, from 0 to 1: how far to believe the clusters";
            cards.push((format!("{:.2}", verdict.score), words.into()));
        }
        if let Some(own) = own(report) {
            let of = sampled("of", silhouette_sample(report));
            cards.push((
                format!("{:.2}", own.mean),
                format!("mean silhouette of the similarities{of}, from -1 to 1"),
            ));
        }
        if let Some(ConfidenceSummary { median, below_half }) = report.confidence {
            cards.push((format!("{median:.2}"), "median confidence of a row, from 0 to 1".into()));
            cards.push((below_half.to_string(), "rows with a confidence below 0.5".into()));
        }
    }
    if let Some(agreement) = &report.agreement {
        cards.push((
            format!("{:.2}", agreement.scores.ari),
            "adjusted Rand index with the known classes".into(),
        ));
    }
    let mut list = String::from("<ul class=\"cards\">\n");
    for (value, words) in cards {
        let _ = writeln!(list, "<li><b>{value}</b><span>{words}</span></li>");
    }
    list + "</ul>\n"
}

/// The number of rows whose silhouettes are known, when not of all.
fn silhouette_sample(report: &Report) -> Option<usize> {
    let drawn = report.points.rows.len();
    (drawn < report.rows).then_some(drawn)
}

/// " of a sample of 3000 rows" where a number is not of all rows.
fn sampled(which: &str, sample: Option<usize>) -> String {
    sample.map_or(String::new(), |rows| format!(" {which} a sample of {rows} rows"))
}

/// The slider over numbers of clusters, and a chart of their scores.
pub fn numbers_of_clusters(report: &Report) -> String {
    let each = &report.partitions.each;
    if each.len() < 2 {
        return String::new();
    }
    let run = each.iter().position(|p| p.run).unwrap_or(0);
    let measured = each.iter().any(|p| p.score.is_some());
    let mut words = String::from(if measured {
        "The same data in other numbers of clusters. Prefer a number with a high score, which says how far to believe \
         the clusters (from halves of the rows and from their separation). The silhouette compares the similarities \
         within and between clusters; it may be high without clusters."
    } else {
        "The same data in other numbers of clusters."
    });
    if let Some(rows) = report.partitions.sample {
        let _ = write!(
            words,
            " The other partitions, and the scores and silhouettes, are those of a sample of {rows} rows, on a \
             forest of its own."
        );
    }
    let body = format!(
        "<div class=\"k\"><label for=\"k\">Clusters <b id=\"k-now\">{}</b></label><input type=\"range\" id=\"k\" min=\"0\" \
         max=\"{}\" step=\"1\" value=\"{run}\"><button id=\"back\" class=\"back\" type=\"button\" hidden>Back to \
         {}</button><output id=\"k-words\" for=\"k\"></output></div>\n<p id=\"other\" hidden></p>\n\
         <figure>{}</figure>",
        each[run].k,
        each.len() - 1,
        each[run].k,
        chart(each)
    );
    section("number", "How many clusters", &words, &body)
}

/// The score of each K as a bar and its mean silhouette as a dot.
fn chart(each: &[PartitionView]) -> String {
    const WIDTH: f64 = 680.0;
    const HEIGHT: f64 = 170.0;
    const LEFT: f64 = 44.0;
    const TOP: f64 = 30.0;
    const TALL: f64 = 100.0;
    let step = (WIDTH - LEFT - 10.0) / each.len() as f64;
    let y = |value: f64| TOP + TALL * (1.0 - value.clamp(0.0, 1.0));
    let mut svg = format!(
        "<svg class=\"bars\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Score and mean \
         silhouette for each number of clusters\" font-size=\"13\" fill=\"currentColor\">\n"
    );
    for value in [0.0, 0.5, 1.0] {
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {:.1}H{WIDTH}\" stroke=\"var(--line)\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{value}</text>",
            y(value),
            LEFT - 8.0,
            y(value) + 4.0
        );
    }
    let mut legend = LEFT;
    if each.iter().any(|p| p.score.is_some()) {
        let _ = writeln!(
            svg,
            "<rect x=\"{legend}\" y=\"4\" width=\"12\" height=\"12\" fill=\"var(--main)\"/><text x=\"{}\" y=\"15\">\
             score</text>",
            legend + 18.0
        );
        legend += 110.0;
    }
    let _ = writeln!(
        svg,
        "<circle cx=\"{}\" cy=\"10\" r=\"5\" fill=\"var(--mark)\"/><text x=\"{}\" y=\"15\">mean silhouette</text>",
        legend + 6.0,
        legend + 18.0
    );
    for (at, p) in each.iter().enumerate() {
        let (left, middle) = (LEFT + step * at as f64, LEFT + step * (at as f64 + 0.5));
        let now = if p.run { " class=\"now\"" } else { "" };
        let bar = p.score.map_or(String::new(), |s| {
            format!(
                "<rect class=\"stable\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\"/>",
                left + step * 0.15,
                y(s),
                step * 0.7,
                TOP + TALL - y(s)
            )
        });
        let stable = p.score.map_or(String::new(), |s| format!("score {s:.2}, "));
        let _ = writeln!(
            svg,
            "<g data-k=\"{}\"{now}><rect x=\"{left:.1}\" y=\"{TOP}\" width=\"{step:.1}\" height=\"{:.1}\" \
             fill=\"transparent\"/>{bar}<circle cx=\"{middle:.1}\" cy=\"{:.1}\" r=\"4.5\" fill=\"var(--mark)\" stroke=\"var(--ground)\"/><text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
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
