//! The frame of a chart as SVG: plot area, axes, ticks, labels and colour bar. Positions are fractions of the plot area;
//! callers compute scales and tick values. Shared by the page, whose colours follow its light or dark theme, and by
//! figures for papers, which are black on white.

use std::fmt::Write;

use super::{escaped, number};

/// The colours of a chart as CSS values.
#[derive(Debug, Clone, Copy)]
pub struct Ink {
    /// Text and axes.
    pub text: &'static str,
    /// Grid lines.
    pub line: &'static str,
    /// Background; `None` is transparent.
    pub ground: Option<&'static str>,
    /// Fill of hollow marks.
    pub hollow: &'static str,
    /// The main colour.
    pub main: &'static str,
    /// The highlight colour.
    pub mark: &'static str,
}

impl Ink {
    /// For the page, by variables of its style sheet.
    pub const PAGE: Ink = Ink {
        text: "var(--text)",
        line: "var(--line)",
        ground: None,
        hollow: "var(--ground)",
        main: "var(--main)",
        mark: "var(--mark)",
    };
    /// For a file, black on white.
    pub const PAPER: Ink = Ink {
        text: "#1b1f24",
        line: "#d5dae0",
        ground: Some("#fff"),
        hollow: "#fff",
        main: "#0072b2",
        mark: "#c2410c",
    };
}

/// A chart under construction.
pub struct Chart {
    /// Its colours.
    pub ink: Ink,
    /// The plot area: left, top, width, height.
    pub area: [f64; 4],
    /// The SVG so far.
    pub svg: String,
}

impl Chart {
    /// A picture of this size with its plot in `area`; `words` is the text alternative.
    pub fn new(ink: Ink, size: (f64, f64), area: [f64; 4], words: &str) -> Self {
        let (width, height) = size;
        let words = escaped(words);
        // A file needs the namespace; inline SVG does not.
        let namespace = if ink.ground.is_some() { " xmlns=\"http://www.w3.org/2000/svg\"" } else { "" };
        let mut svg = format!(
            "<svg{namespace} viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" aria-label=\"{words}\" font-family=\"system-ui, 'DejaVu Sans', \
             sans-serif\" font-size=\"13\" style=\"fill:{}\">\n<title>{words}</title>\n",
            ink.text
        );
        if let Some(ground) = ink.ground {
            let _ =
                writeln!(svg, "<rect width=\"{width:.0}\" height=\"{height:.0}\" style=\"fill:{ground}\"/>");
        }
        Chart { ink, area, svg }
    }

    /// The x coordinate of a share of the width, 0 at the left.
    pub fn x(&self, share: f64) -> f64 {
        self.area[0] + self.area[2] * share
    }

    /// The y coordinate of a share of the height, 0 at the bottom.
    pub fn y(&self, share: f64) -> f64 {
        self.area[1] + self.area[3] * (1.0 - share)
    }

    /// Appends SVG elements.
    pub fn add(&mut self, piece: &str) {
        self.svg.push_str(piece);
        self.svg.push('\n');
    }

    /// Appends text; `anchor` is start, middle or end.
    pub fn text(&mut self, x: f64, y: f64, anchor: &str, words: &str) {
        let _ = writeln!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(words)
        );
    }

    /// The title above the chart.
    pub fn title(&mut self, words: &str) {
        let _ = writeln!(
            self.svg,
            "<text x=\"{:.1}\" y=\"24\" font-size=\"16\">{}</text>",
            self.area[0],
            escaped(words)
        );
    }

    /// The axis lines at the left and at the bottom.
    pub fn axes(&mut self) {
        let [left, top, width, height] = self.area;
        let line = self.ink.text;
        let _ = writeln!(
            self.svg,
            "<path d=\"M{left:.1} {top:.1}v{height:.1}h{width:.1}\" style=\"fill:none;stroke:{line};stroke-opacity:.6\"/>"
        );
    }

    /// The titles of the horizontal and the vertical axis.
    pub fn names(&mut self, below: &str, left: &str) {
        let [x, y, width, height] = self.area;
        self.text(x + width / 2.0, y + height + 38.0, "middle", below);
        let _ = writeln!(
            self.svg,
            "<text transform=\"translate({:.1} {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            x - 60.0,
            y + height / 2.0,
            escaped(left)
        );
    }

    /// Ticks at the left with grid lines: each value and its share of the height.
    pub fn ticks_left(&mut self, ticks: &[(f64, f64)], decimals: Option<usize>) {
        let [left, _, width, _] = self.area;
        for &(value, share) in ticks {
            let y = self.y(share);
            let words = decimals.map_or_else(|| number(value), |d| format!("{value:.d$}"));
            let _ = writeln!(
                self.svg,
                "<path d=\"M{left:.1} {y:.1}h{width:.1}\" style=\"fill:none;stroke:{}\"/>",
                self.ink.line
            );
            self.text(left - 7.0, y + 4.5, "end", &words);
        }
    }

    /// Ticks at the bottom: each value and its share of the width.
    pub fn ticks_below(&mut self, ticks: &[(f64, f64)]) {
        let bottom = self.area[1] + self.area[3];
        for &(value, share) in ticks {
            self.text(self.x(share), bottom + 18.0, "middle", &number(value));
        }
    }

    /// The colour scale of [`super::shade`] at the right, with labels at these shares of its height.
    pub fn scale(&mut self, marks: &[(String, f64)], meaning: &[&str]) {
        let [left, top, width, height] = self.area;
        let (x, tall) = (left + width + 20.0, (height * 0.6).max(80.0));
        const STEPS: usize = 64;
        for step in 0..STEPS {
            let share = (step as f64 + 0.5) / STEPS as f64;
            let _ = writeln!(
                self.svg,
                "<rect x=\"{x:.1}\" y=\"{:.2}\" width=\"16\" height=\"{:.2}\" style=\"fill:{}\"/>",
                top + tall * (1.0 - (step + 1) as f64 / STEPS as f64),
                // Slightly taller than its part, which avoids visible seams.
                tall / STEPS as f64 + 0.4,
                super::shade_hex(share)
            );
        }
        for (words, share) in marks {
            self.text(x + 22.0, top + tall * (1.0 - share) + 4.5, "start", words);
        }
        for (at, line) in meaning.iter().enumerate() {
            let _ = writeln!(
                self.svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"12\">{}</text>",
                top + tall + 26.0 + 16.0 * at as f64,
                escaped(line)
            );
        }
    }

    /// The finished SVG.
    pub fn done(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}
