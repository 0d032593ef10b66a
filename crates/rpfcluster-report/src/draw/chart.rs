//! The frame of a chart: where it lies, its axes, its ticks and words. One code for the page, whose lines follow its
//! light and dark colours, and for figures of papers, which are black on white.

use std::fmt::Write;

use super::{escaped, number};

/// What a chart is drawn with, as style sheets have it.
#[derive(Debug, Clone, Copy)]
pub struct Ink {
    /// Letters and axes.
    pub text: &'static str,
    /// Lines of the grid.
    pub line: &'static str,
    /// Behind everything; `None` leaves what is there.
    pub ground: Option<&'static str>,
    /// Inside of hollow marks.
    pub hollow: &'static str,
    /// What the chart is about.
    pub main: &'static str,
    /// What the eye is led to.
    pub mark: &'static str,
}

impl Ink {
    /// For a page, whose style sheet knows the names.
    pub const PAGE: Ink = Ink {
        text: "var(--text)",
        line: "var(--line)",
        ground: None,
        hollow: "var(--ground)",
        main: "var(--main)",
        mark: "var(--mark)",
    };
    /// For a file that may be printed.
    pub const PAPER: Ink = Ink {
        text: "#1b1f24",
        line: "#d5dae0",
        ground: Some("#fff"),
        hollow: "#fff",
        main: "#0072b2",
        mark: "#c2410c",
    };
}

/// A chart under way: a rectangle with axes, and the text of an SVG.
pub struct Frame {
    /// What it is drawn with.
    pub ink: Ink,
    /// The rectangle: left, top, width, height.
    pub area: [f64; 4],
    /// The SVG so far.
    pub svg: String,
}

impl Frame {
    /// A picture of this size whose chart lies in `area`; `words` say what is seen to those who do not see it.
    pub fn new(ink: Ink, size: (f64, f64), area: [f64; 4], words: &str) -> Self {
        let (width, height) = size;
        let words = escaped(words);
        // A file must say what it is; inside a page that is known.
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
        Frame { ink, area, svg }
    }

    /// The place of a share of the width, from 0 at the left.
    pub fn x(&self, share: f64) -> f64 {
        self.area[0] + self.area[2] * share
    }

    /// The place of a share of the height, from 0 at the bottom.
    pub fn y(&self, share: f64) -> f64 {
        self.area[1] + self.area[3] * (1.0 - share)
    }

    /// More of the picture.
    pub fn add(&mut self, piece: &str) {
        self.svg.push_str(piece);
        self.svg.push('\n');
    }

    /// Words; `anchor` is start, middle or end.
    pub fn text(&mut self, x: f64, y: f64, anchor: &str, words: &str) {
        let _ = writeln!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(words)
        );
    }

    /// A headline.
    pub fn title(&mut self, words: &str) {
        let _ = writeln!(
            self.svg,
            "<text x=\"{:.1}\" y=\"24\" font-size=\"16\">{}</text>",
            self.area[0],
            escaped(words)
        );
    }

    /// The lines at the left and below.
    pub fn axes(&mut self) {
        let [left, top, width, height] = self.area;
        let line = self.ink.text;
        let _ = writeln!(
            self.svg,
            "<path d=\"M{left:.1} {top:.1}v{height:.1}h{width:.1}\" style=\"fill:none;stroke:{line};stroke-opacity:.6\"/>"
        );
    }

    /// What the axes are, the one below and the one at the left.
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

    /// Numbers at the left with lines across: each value and its share of the height.
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

    /// Numbers below.
    pub fn ticks_below(&mut self, ticks: &[(f64, f64)]) {
        let bottom = self.area[1] + self.area[3];
        for &(value, share) in ticks {
            self.text(self.x(share), bottom + 18.0, "middle", &number(value));
        }
    }

    /// The scale of [`super::shade`] at the right of the chart, with numbers at these shares of its height.
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
                // A little more than its part: no seams.
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

    /// The finished picture.
    pub fn done(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}
