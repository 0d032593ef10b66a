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
    /// Pixels added between the plot area and the title below it, for tick labels of several lines.
    pub below: f64,
    /// The SVG so far.
    pub svg: String,
}

/// The widest a character of a tick label is: a digit of DejaVu Sans at 13 pixels.
const DIGIT: f64 = 8.3;
/// From the plot area to the tick labels at the left.
const TICK: f64 = 7.0;

/// The width of a tick label, at most.
fn width_of(words: &str) -> f64 {
    DIGIT * words.chars().count() as f64
}

/// The room that these tick labels and the axis title need at the left of the plot area.
pub fn room_left<'a>(labels: impl IntoIterator<Item = &'a str>) -> f64 {
    // The title is 13 pixels high and stands 9 from the labels, with 4 to the edge.
    (TICK + labels.into_iter().map(width_of).fold(0.0, f64::max) + 26.0).max(76.0)
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
             sans-serif\" font-size=\"13\" fill=\"{}\">\n<title>{words}</title>\n",
            ink.text
        );
        if let Some(ground) = ink.ground {
            let _ = writeln!(svg, "<rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"{ground}\"/>");
        }
        Chart { ink, area, below: 0.0, svg }
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
            "<path d=\"M{left:.1} {top:.1}v{height:.1}h{width:.1}\" fill=\"none\" stroke=\"{line}\" stroke-opacity=\".6\"/>"
        );
    }

    /// The titles of the horizontal and the vertical axis. The plot area needs [`room_left`] at its left.
    pub fn names(&mut self, below: &str, left: &str) {
        let [x, y, width, height] = self.area;
        self.text(x + width / 2.0, y + height + 38.0 + self.below, "middle", below);
        let _ = writeln!(
            self.svg,
            "<text class=\"axis\" transform=\"translate({:.1} {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            16.0,
            y + height / 2.0,
            escaped(left)
        );
    }

    /// Ticks at the left with grid lines: each label and its share of the height.
    pub fn ticks_left(&mut self, ticks: &[(String, f64)]) {
        let [left, _, width, _] = self.area;
        for (words, share) in ticks {
            let y = self.y(*share);
            let _ = writeln!(
                self.svg,
                "<path d=\"M{left:.1} {y:.1}h{width:.1}\" fill=\"none\" stroke=\"{}\"/>",
                self.ink.line
            );
            self.text(left - TICK, y + 4.5, "end", words);
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
                "<rect x=\"{x:.1}\" y=\"{:.2}\" width=\"16\" height=\"{:.2}\" fill=\"{}\"/>",
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The axis title, 13 pixels high, ends before the longest tick label begins.
    #[test]
    fn axis_title_does_not_cover_tick_labels() {
        for labels in [["0", "1"], ["0.99999892", "1.00000000"], ["-1.25e-12", "3.5e-12"]] {
            let ticks = labels.map(|words| (words.to_string(), 0.5));
            let left = room_left(labels);
            let mut chart = Chart::new(Ink::PAPER, (600.0, 300.0), [left, 20.0, 400.0, 200.0], "t");
            chart.ticks_left(&ticks);
            chart.names("across", "up");
            let svg = chart.done();
            let at = svg.split_once("class=\"axis\" transform=\"translate(").map(|(_, rest)| rest);
            let baseline: f64 = at.and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
            let longest = labels.iter().map(|words| width_of(words)).fold(0.0, f64::max);
            assert!(
                baseline >= 13.0 && baseline + 4.0 < left - TICK - longest,
                "{labels:?}: {baseline} {left}"
            );
        }
    }
}
