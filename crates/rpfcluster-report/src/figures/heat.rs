//! Similarity matrices as heat maps side by side, with names of the groups of rows and one colour scale. The cells are
//! a PNG image inside the SVG.

use crate::draw::{Chart, Ink, base64, brightest, number, png, root_marks};
use crate::error::{Error, Result};

/// A group of consecutive rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
}

/// One matrix.
#[derive(Debug, Clone)]
pub struct Panel<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its values, n x n, rows in the order of the groups.
    pub values: &'a [f64],
    /// The groups.
    pub groups: &'a [Group],
}

const SIDE: f64 = 440.0;
const LEFT: f64 = 100.0;
const TOP: f64 = 44.0;
const BELOW: f64 = 62.0;

/// Draws the panels side by side on one colour scale. Without `root` it is linear, from 0 to the largest value or 1,
/// whichever is larger. With `root`, colours follow the square root and the brightest stands for a percentile of the
/// similarities off the diagonal, which makes weak similarities visible.
pub fn heat(panels: &[Panel<'_>], meaning: &[&str], root: bool) -> Result<String> {
    let wrong = |problem: String| Error::Picture { what: "heat map", problem };
    let most = panels.iter().flat_map(|p| p.values).copied().fold(0.0, f64::max);
    let pairs = panels.iter().flat_map(|p| {
        let n = p.values.len().isqrt().max(1);
        p.values.iter().enumerate().filter(move |(at, _)| at / n != at % n).map(|(_, value)| *value)
    });
    let largest = if root { brightest(pairs) } else { most.max(1.0) };
    let step = LEFT + SIDE + 16.0;
    let width = step * panels.len() as f64 + 130.0;
    let names: Vec<&str> = panels.iter().map(|p| p.title).collect();
    let words = format!("Similarity heat maps: {}", names.join(", "));
    let right = step * panels.len().saturating_sub(1) as f64 + LEFT;
    let mut chart = Chart::new(Ink::PAPER, (width, TOP + SIDE + BELOW), [right, TOP, SIDE, SIDE], &words);
    let colour = |value: f64| {
        let share = (value / largest).clamp(0.0, 1.0);
        if root { share.sqrt() } else { share }
    };
    for (at, panel) in panels.iter().enumerate() {
        let n: usize = panel.groups.iter().map(|g| g.rows).sum();
        if n == 0 || panel.values.len() != n * n {
            return Err(wrong(format!("{} values do not make {n} rows and columns", panel.values.len())));
        }
        // Each cell is a whole number of pixels, so that viewers that smooth enlarged pictures do not blur it.
        let zoom = (2 * SIDE as usize / n).max(1);
        let side = n * zoom;
        let enlarged =
            (0..side * side).map(|at| colour(panel.values[at / side / zoom * n + at % side / zoom]));
        let x = LEFT + step * at as f64;
        let cells = base64(&png(side, side, enlarged)?);
        chart.add(&format!(
            "<image x=\"{x:.1}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{SIDE}\" preserveAspectRatio=\"none\" \
             image-rendering=\"pixelated\" href=\"data:image/png;base64,{cells}\"/>"
        ));
        chart.add(&format!(
            "<text x=\"{:.1}\" y=\"26\" text-anchor=\"middle\" font-size=\"16\">{}</text>",
            x + SIDE / 2.0,
            crate::draw::escaped(panel.title)
        ));
        names_of(&mut chart, panel.groups, x, n);
    }
    let marks = if root {
        root_marks(largest, most)
    } else {
        [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (number(share * largest), share)).to_vec()
    };
    chart.scale(&marks, meaning);
    chart.add(&format!(
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"12\">rows and columns in the order of the groups</text>",
        TOP + SIDE + BELOW - 12.0
    ));
    Ok(chart.done())
}

/// Names beside rows and below columns, and thin lines between groups.
fn names_of(chart: &mut Chart, groups: &[Group], x: f64, n: usize) {
    let mut from = 0.0;
    for group in groups {
        let length = SIDE * group.rows as f64 / n as f64;
        let middle = from + length / 2.0;
        // Groups that are too small for a label have none.
        if length >= 14.0 {
            let fits = |letters: usize| -> String {
                let mut name: String = group.name.chars().take(letters).collect();
                if name.chars().count() < group.name.chars().count() {
                    name.push('…');
                }
                name
            };
            chart.text(x - 8.0, TOP + middle + 4.5, "end", &fits(11));
            // Below, the neighbouring names limit the width.
            let letters = (length / 8.5) as usize;
            if group.name.chars().count() <= letters {
                chart.text(x + middle, TOP + SIDE + 18.0, "middle", &group.name);
            } else if letters > 4 {
                chart.text(x + middle, TOP + SIDE + 18.0, "middle", &fits(letters - 1));
            }
        }
        if from > 0.0 {
            chart.add(&format!(
                "<path d=\"M{:.1} {TOP}v{SIDE}M{x:.1} {:.1}h{SIDE}\" fill=\"none\" stroke=\"#fff\" stroke-opacity=\".6\"/>",
                x + from,
                TOP + from
            ));
        }
        from += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_sizes_are_refused_and_names_escaped() {
        let panel = |values, groups| Panel { title: "a < b", values, groups };
        let two = [Group { name: "<x>".into(), rows: 1 }];
        assert!(heat(&[panel(&[1.0], &[])], &[], false).is_err());
        assert!(heat(&[panel(&[1.0, 0.0], &two)], &[], false).is_err());
        let drawn = heat(&[panel(&[1.0], &two), panel(&[0.5], &two)], &["share"], true).unwrap();
        assert!(drawn.contains("a &lt; b") && drawn.contains("&lt;x&gt;"));
        assert_eq!(drawn.matches("<image").count(), 2);
        let weak =
            heat(&[panel(&[1.0, 0.004, 0.004, 1.0], &[Group { name: "x".into(), rows: 2 }])], &[], true);
        assert!(weak.unwrap().contains(">≥ 0.004<"));
    }
}
