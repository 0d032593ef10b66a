//! The paper's two bar charts as SVG: groups of bars by data set, one colour a method, spread as whiskers.
//!
//! Colours are Okabe and Ito's, told apart by readers of any colour vision; the legend names them in the same order
//! as the bars. The majority baseline is a line over each group: bars that do not pass it say nothing.

use std::fmt::Write;

use rpfcluster_rivals::Method;

use crate::results::{DataSet, Results, SKEWED, Statistic};

/// Which chart.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Metric {
    /// Clustering accuracy.
    RhoC,
    /// Co-cluster accuracy.
    RhoR,
}

impl Metric {
    fn title(self) -> &'static str {
        match self {
            Metric::RhoC => "Clustering accuracy ρc (percent)",
            Metric::RhoR => "Co-cluster accuracy ρr (percent)",
        }
    }

    fn of(self, set: &DataSet, method: Method) -> Option<&Statistic> {
        let cell = set.cell(method, "paper")?;
        Some(match self {
            Metric::RhoC => &cell.rho_c,
            Metric::RhoR => &cell.rho_r,
        })
    }
}

/// The colour of each method.
pub(crate) fn colour(method: Method) -> &'static str {
    match method {
        Method::KMeans => "#999999",
        Method::Njw => "#56b4e9",
        Method::Cf => "#e69f00",
        Method::RpfLabelFree => "#009e73",
        Method::RpfBestByLabels => "#0072b2",
    }
}

/// Text safe inside markup.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const LEFT: f64 = 56.0;
const TOP: f64 = 70.0;
const HEIGHT: f64 = 300.0;
const BAR: f64 = 11.0;
const GAP: f64 = 18.0;

/// One chart, the paper's preparation.
pub(crate) fn bars(results: &Results, metric: Metric) -> String {
    let sets = results.in_order();
    let group = BAR * Method::ALL.len() as f64 + GAP;
    let width = (LEFT + group * sets.len() as f64 + 20.0).max(760.0);
    let bottom = TOP + HEIGHT;
    let y = |value: f64| bottom - HEIGHT * value.clamp(0.0, 100.0) / 100.0;
    let mut out = String::new();
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {:.0}" role="img" aria-label="{title}" font-family="sans-serif" font-size="12"><title>{title}</title><rect width="100%" height="100%" fill="#fff"/><text x="{LEFT}" y="20" font-size="15" font-weight="bold">{title}</text>"##,
        bottom + 70.0,
        title = escape(metric.title()),
    );
    let mut x = LEFT;
    for method in Method::ALL {
        let _ = write!(
            out,
            r#"<rect x="{x:.1}" y="34" width="12" height="12" fill="{}"/><text x="{:.1}" y="44">{}</text>"#,
            colour(method),
            x + 17.0,
            escape(method.title())
        );
        x += 34.0 + 6.4 * method.title().len() as f64;
    }
    if metric == Metric::RhoC {
        let _ = write!(
            out,
            r##"<line x1="{LEFT}" x2="{:.1}" y1="58" y2="58" stroke="#d55e00" stroke-width="2" stroke-dasharray="4 2"/><text x="{:.1}" y="62">one cluster for all (majority)</text>"##,
            LEFT + 24.0,
            LEFT + 30.0
        );
    }
    for tick in (0..=100).step_by(20) {
        let at = y(f64::from(tick));
        let _ = write!(
            out,
            r##"<line x1="{LEFT}" x2="{:.1}" y1="{at:.1}" y2="{at:.1}" stroke="#ddd"/><text x="{:.1}" y="{:.1}" text-anchor="end">{tick}</text>"##,
            width - 10.0,
            LEFT - 6.0,
            at + 4.0
        );
    }
    let _ = write!(
        out,
        r#"<text transform="translate(16 {:.1}) rotate(-90)" text-anchor="middle">percent</text>"#,
        TOP + HEIGHT / 2.0
    );
    for (position, (name, set)) in sets.iter().enumerate() {
        let start = LEFT + GAP / 2.0 + position as f64 * group;
        for (number, method) in Method::ALL.into_iter().enumerate() {
            let Some(value) = metric.of(set, method) else { continue };
            let (left, top) = (start + number as f64 * BAR, y(value.mean));
            let _ = write!(
                out,
                r#"<rect x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}" fill="{}"><title>{}, {}: {:.1} ± {:.1}</title></rect>"#,
                BAR - 1.0,
                bottom - top,
                colour(method),
                escape(&set.title),
                escape(method.title()),
                value.mean,
                value.sd
            );
            if value.sd > 0.05 {
                let middle = left + (BAR - 1.0) / 2.0;
                let _ = write!(
                    out,
                    r##"<line x1="{middle:.1}" x2="{middle:.1}" y1="{:.1}" y2="{:.1}" stroke="#000"/>"##,
                    y(value.mean + value.sd),
                    y(value.mean - value.sd)
                );
            }
        }
        let middle = start + (group - GAP) / 2.0;
        if metric == Metric::RhoC {
            let at = y(set.majority);
            let _ = write!(
                out,
                r##"<line x1="{:.1}" x2="{:.1}" y1="{at:.1}" y2="{at:.1}" stroke="#d55e00" stroke-width="2" stroke-dasharray="4 2"/>"##,
                start - 3.0,
                start + group - GAP + 2.0
            );
        }
        let star = if SKEWED.contains(name) { "*" } else { "" };
        let _ = write!(
            out,
            r#"<text x="{middle:.1}" y="{:.1}" text-anchor="middle">{}{star}</text>"#,
            bottom + 18.0,
            escape(&set.title)
        );
    }
    let _ = write!(
        out,
        r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">data set</text><text x="{LEFT}" y="{:.1}" font-size="11">* skewed: one cluster for all scores high, so ρc means little here; see the adjusted Rand index in the table</text></svg>"#,
        LEFT + (width - LEFT) / 2.0,
        bottom + 40.0,
        bottom + 60.0
    );
    out
}
