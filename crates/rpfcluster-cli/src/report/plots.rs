//! The pictures of a page that need no script: eigenvalues, and the frame around the heat map. Lines and letters take
//! the colour of the text around them, so that they are right by day and by night.

use super::heatmap::base64;
use super::model::{Heat, Spectrum};

/// Colours of clusters: apart for the colour-blind, and readable on white and on black.
const PALETTE: [&str; 10] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#7f7f7f", "#b5a000",
    "#00a6a6",
];

/// The colour of a cluster; beyond the palette, hues as far apart as they go.
pub fn colour(cluster: usize) -> String {
    match PALETTE.get(cluster) {
        Some(colour) => (*colour).to_string(),
        None => format!("hsl({:.0} 60% 50%)", (cluster as f64 * 137.508) % 360.0),
    }
}

/// Eigenvalues as dots, those used filled, the gap after them marked.
pub fn eigenvalues(spectrum: &Spectrum) -> String {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 260.0;
    const LEFT: f64 = 56.0;
    const BOTTOM: f64 = 40.0;
    const TOP: f64 = 16.0;
    let Spectrum { values, k } = spectrum;
    let least = values.iter().copied().fold(1.0, f64::min);
    let most = values.iter().copied().fold(least, f64::max);
    // A little room below, and some height even when all are equal.
    let span = (most - least).max(1e-6) * 1.08;
    let floor = most - span;
    let step = (WIDTH - LEFT - 20.0) / values.len().max(1) as f64;
    let x = |at: usize| LEFT + step * (at as f64 + 0.5);
    let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (most - value) / span;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"The {} largest eigenvalues; {k} were \
         used\" fill=\"currentColor\" font-size=\"13\">\n<path d=\"M{LEFT} {TOP}V{b}H{r}\" fill=\"none\" \
         stroke=\"currentColor\" stroke-opacity=\"0.5\"/>\n",
        values.len(),
        b = HEIGHT - BOTTOM,
        r = WIDTH - 10.0,
    );
    let decimals = if span < 0.01 { 5 } else { 3 };
    for quarter in 0..=3 {
        let value = floor + span * f64::from(quarter) / 3.0;
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" dominant-baseline=\"middle\">{value:.decimals$}</text>\n",
            LEFT - 8.0,
            y(value)
        );
    }
    if let (Some(last), Some(next)) = (k.checked_sub(1).and_then(|at| values.get(at)), values.get(*k)) {
        let middle = (x(*k - 1) + x(*k)) / 2.0;
        svg += &format!(
            "<rect x=\"{middle:.1}\" y=\"{:.1}\" width=\"2\" height=\"{:.1}\" class=\"gap\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" class=\"gap\">gap {:.3}</text>\n",
            y(*last),
            (y(*next) - y(*last)).max(1.0),
            middle + 8.0,
            (y(*last) + 4.0).max(TOP + 4.0),
            last - next
        );
    }
    for (at, &value) in values.iter().enumerate() {
        let class = if at < *k { "used" } else { "unused" };
        svg += &format!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" class=\"{class}\"><title>eigenvalue {}: {value:.6}</title></circle>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            x(at),
            y(value),
            at + 1,
            x(at),
            HEIGHT - BOTTOM + 18.0,
            at + 1
        );
    }
    svg + "</svg>\n"
}

/// The heat map with cluster names, a legend and lines between clusters.
pub fn heat(heat: &Heat) -> String {
    const SIDE: f64 = 560.0;
    const LEFT: f64 = 40.0;
    const LEGEND: f64 = 90.0;
    let unit = SIDE / heat.shown.max(1) as f64;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Similarity of {} rows, ordered by cluster; bright \
         blocks on the diagonal are clusters\" fill=\"currentColor\" font-size=\"13\">\n\
         <image x=\"{LEFT}\" y=\"0\" width=\"{SIDE}\" height=\"{SIDE}\" preserveAspectRatio=\"none\" \
         style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
        LEFT + SIDE + LEGEND,
        SIDE + 28.0,
        heat.shown,
        base64(&heat.png)
    );
    let mut from = 0.0;
    for (cluster, &rows) in heat.groups.iter().enumerate() {
        let length = rows as f64 * unit;
        let middle = from + length / 2.0;
        // A name needs some room; small clusters between large ones go without.
        if length >= 14.0 {
            svg += &format!(
                "<text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\" dominant-baseline=\"middle\">{cluster}</text>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{cluster}</text>\n",
                LEFT - 8.0,
                LEFT + middle,
                SIDE + 18.0
            );
        }
        if from > 0.0 {
            svg += &format!(
                "<path d=\"M{:.1} 0v{SIDE}M{LEFT} {from:.1}h{SIDE}\" stroke=\"#fff\" stroke-opacity=\"0.6\"/>\n",
                LEFT + from
            );
        }
        from += length;
    }
    svg + &legend(LEFT + SIDE + 16.0, SIDE * 0.6, heat.largest) + "</svg>\n"
}

/// The scale; heights go with the root of the similarity, as the colours do.
fn legend(x: f64, height: f64, largest: f64) -> String {
    let mut svg = String::from("<defs><linearGradient id=\"scale\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">");
    for step in 0..=8 {
        let [r, g, b] = super::heatmap::colour(f64::from(step) / 8.0);
        svg += &format!("<stop offset=\"{}\" stop-color=\"rgb({r},{g},{b})\"/>", f64::from(step) / 8.0);
    }
    svg += &format!(
        "</linearGradient></defs>\n<rect x=\"{x:.1}\" y=\"8\" width=\"16\" height=\"{height:.1}\" fill=\"url(#scale)\"/>\n"
    );
    for share in [0.0f64, 0.05, 0.25, 0.5, 1.0] {
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" dominant-baseline=\"middle\">{}</text>\n",
            x + 22.0,
            8.0 + height * (1.0 - share.sqrt()),
            super::page::number(share * largest)
        );
    }
    svg
}
