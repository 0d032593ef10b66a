//! A scatter plot as SVG, coloured by cluster or class, with axes, ticks and a legend of at most 14 names.

use std::fmt::Write;

use crate::draw::{Chart, Ink, colour, number, room_left};

/// Largest number of groups in the legend.
const NAMED: usize = 14;

/// The points of a scatter plot.
#[derive(Debug, Clone)]
pub struct Cloud<'a> {
    /// Title.
    pub title: &'a str,
    /// The two coordinates of each point.
    pub points: &'a [(f64, f64)],
    /// The group of each point.
    pub codes: &'a [u32],
    /// Names of the groups.
    pub names: &'a [String],
    /// Titles of the horizontal and the vertical axis.
    pub axes: (&'a str, &'a str),
}

/// Draws the scatter plot.
pub fn embedding(cloud: &Cloud<'_>) -> String {
    let words = format!("{}: {} points in two dimensions", cloud.title, cloud.points.len());
    let (xs, ys) = (range(cloud.points.iter().map(|p| p.0)), range(cloud.points.iter().map(|p| p.1)));
    let ticks = |(low, high): (f64, f64)| {
        [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (low + (high - low) * share, share))
    };
    let upward = ticks(ys).map(|(value, share)| (number(value), share));
    let left = room_left(upward.iter().map(|(words, _)| words.as_str()));
    let mut chart = Chart::new(Ink::PAPER, (800.0, 560.0), [left, 44.0, 616.0 - left, 456.0], &words);
    chart.title(cloud.title);
    chart.ticks_left(&upward);
    chart.axes();
    chart.ticks_below(&ticks(xs));
    chart.names(cloud.axes.0, cloud.axes.1);
    let radius = match cloud.points.len() {
        0..400 => 4.0,
        400..1500 => 3.0,
        _ => 2.0,
    };
    for (group, _) in cloud.names.iter().enumerate() {
        let mut dots = format!("<g fill=\"{}\" fill-opacity=\".85\">", colour(group));
        for ((x, y), _) in cloud.points.iter().zip(cloud.codes).filter(|(_, code)| **code as usize == group) {
            let (px, py) = (chart.x((x - xs.0) / (xs.1 - xs.0)), chart.y((y - ys.0) / (ys.1 - ys.0)));
            let _ = write!(dots, "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{radius}\"/>");
        }
        dots.push_str("</g>");
        chart.add(&dots);
    }
    for (at, name) in cloud.names.iter().enumerate().take(NAMED) {
        let y = 56.0 + 22.0 * at as f64;
        chart.add(&format!("<circle cx=\"640\" cy=\"{y}\" r=\"5\" fill=\"{}\"/>", colour(at)));
        let short: String = name.chars().take(18).collect();
        chart.text(652.0, y + 4.5, "start", &short);
    }
    if cloud.names.len() > NAMED {
        let y = 60.5 + 22.0 * NAMED as f64;
        chart.text(652.0, y, "start", &format!("and {} more", cloud.names.len() - NAMED));
    }
    chart.done()
}

/// Smallest and largest value with a margin; a positive width when they are equal.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    if high > low {
        let margin = 0.03 * (high - low);
        (low - margin, high + margin)
    } else if high == low {
        (low - 1.0, high + 1.0)
    } else {
        (0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_drawn_and_names_are_escaped() {
        let names = ["a".to_string(), "<b>".to_string()];
        let cloud = Cloud {
            title: "t",
            points: &[(0.0, 5.0), (1.0, 5.0)],
            codes: &[0, 1],
            names: &names,
            axes: ("across", "up"),
        };
        let drawn = embedding(&cloud);
        assert_eq!(drawn.matches("<circle").count(), 4);
        assert!(drawn.contains("&lt;b&gt;") && !drawn.contains("NaN"));
        assert!(!embedding(&Cloud { points: &[], codes: &[], ..cloud }).contains("NaN"));
    }
}
