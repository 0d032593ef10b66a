//! A grouped bar chart as SVG, with error bars and a dashed baseline over each group.

use std::fmt::Write;

use crate::draw::{Chart, Ink, escaped, number, room_left};

/// A bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Its height.
    pub value: f64,
    /// Half the length of the error bar; 0 draws none.
    pub spread: f64,
}

/// Bars drawn side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGroup {
    /// The label below.
    pub name: String,
    /// One bar per series; `None` leaves a gap.
    pub bars: Vec<Option<Bar>>,
    /// The baseline of the group.
    pub baseline: Option<f64>,
}

/// A bar chart.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// Title.
    pub title: String,
    /// Titles of the horizontal and the vertical axis.
    pub axes: (String, String),
    /// Name and colour of each series.
    pub series: Vec<(String, String)>,
    /// The name of the baseline.
    pub baseline: Option<String>,
    /// The groups.
    pub groups: Vec<BarGroup>,
    /// The end of the vertical axis; `None` fits the highest bar.
    pub most: Option<f64>,
    /// A note below the chart.
    pub note: Option<String>,
}

const HEIGHT: f64 = 300.0;
/// From one line of the legend to the next.
const LEGEND_LINE: f64 = 22.0;
/// From one line of a name below the bars to the next.
const LINE: f64 = 16.0;

/// Draws the chart.
pub fn bars(chart: &BarChart) -> String {
    let series = chart.series.len().max(1) as f64;
    let highest = |b: &Bar| b.value + b.spread;
    let found = chart.groups.iter().flat_map(|g| g.bars.iter().flatten()).map(highest).fold(0.0, f64::max);
    let step = nice_step(chart.most.unwrap_or(found));
    let most = chart.most.unwrap_or_else(|| (found / step).ceil().max(1.0) * step);
    let bar = if series > 1.0 { 11.0 } else { (600.0 / chart.groups.len().max(1) as f64).clamp(6.0, 60.0) };
    let gap = 18.0f64.min(bar * 1.6);
    let width = ((bar * series + gap) * chart.groups.len() as f64).max(620.0);
    let group = width / chart.groups.len().max(1) as f64;
    let rows = legend_places(chart, width).last().map_or(0, |(row, _)| row + 1);
    let legend = if rows > 0 { LEGEND_LINE * rows as f64 + 2.0 } else { 0.0 }
        + if chart.baseline.is_some() { LEGEND_LINE } else { 0.0 };
    let top = 44.0 + legend;
    let ticks: Vec<(String, f64)> = (0..=(most / step).round() as usize)
        .map(|i| step * i as f64)
        .map(|v| (number(v), v / most))
        .collect();
    let left = room_left(ticks.iter().map(|(words, _)| words.as_str()));
    let lines = chart.groups.iter().map(|g| wrapped(&g.name, group).len()).max().unwrap_or(1);
    let below = LINE * lines.saturating_sub(1) as f64;
    let size = (left + width + 24.0, top + HEIGHT + 82.0 + below);
    let mut frame = Chart::new(Ink::PAPER, size, [left, top, width, HEIGHT], &chart.title);
    frame.below = below;
    frame.title(&chart.title);
    legend_of(&mut frame, chart);
    frame.ticks_left(&ticks);
    let y = |frame: &Chart, value: f64| frame.y((value / most).clamp(0.0, 1.0));
    for (position, one) in chart.groups.iter().enumerate() {
        let start = frame.area[0] + (group - bar * series) / 2.0 + position as f64 * group;
        for ((at, value), (name, colour)) in one.bars.iter().enumerate().zip(&chart.series) {
            let Some(value) = value else { continue };
            let (side, tip) = (start + at as f64 * bar, y(&frame, value.value));
            let mut piece = format!(
                "<rect x=\"{side:.1}\" y=\"{tip:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"><title>{}, {}: {} ± {}</title></rect>",
                bar - 1.0,
                frame.y(0.0) - tip,
                escaped(&one.name),
                escaped(name),
                number(value.value),
                number(value.spread)
            );
            if value.spread > most * 5e-4 {
                let middle = side + (bar - 1.0) / 2.0;
                let (from, to) =
                    (y(&frame, value.value + value.spread), y(&frame, value.value - value.spread));
                let _ = write!(piece, "<path d=\"M{middle:.1} {from:.1}V{to:.1}\" stroke=\"#000\"/>");
            }
            frame.add(&piece);
        }
        if let Some(baseline) = one.baseline {
            let at = y(&frame, baseline);
            frame.add(&dashes(start - 3.0, at, bar * series + 5.0));
        }
        // Every name where they fit, otherwise every second or third, and so on.
        let every = (44.0 / group).ceil().max(1.0) as usize;
        if position % every == 0 {
            let middle = start + bar * series / 2.0;
            let bottom = frame.y(0.0) + 18.0;
            for (line, words) in wrapped(&one.name, group * every as f64).iter().enumerate() {
                frame.text(middle, bottom + LINE * line as f64, "middle", words);
            }
        }
    }
    frame.axes();
    frame.names(&chart.axes.0, &chart.axes.1);
    if let Some(note) = &chart.note {
        frame.add(&format!(
            "<text x=\"{left}\" y=\"{:.1}\" font-size=\"11\">{}</text>",
            top + HEIGHT + 66.0 + below,
            escaped(note)
        ));
    }
    frame.done()
}

/// A step of 1, 2 or 5 times a power of ten, about a fifth of `most` (nice numbers, Heckbert, Graphics Gems, 1990).
fn nice_step(most: f64) -> f64 {
    if !(most > 0.0 && most.is_finite()) {
        return 1.0;
    }
    let rough = most / 5.0;
    let unit = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|f| f * unit).find(|s| *s >= rough * 0.999).unwrap_or(rough)
}

/// A name in lines of at most `width` pixels; a word that is longer has its own line.
fn wrapped(name: &str, width: f64) -> Vec<String> {
    // Letters are 8 pixels wide on average.
    let most = (width / 8.0) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

fn dashes(x: f64, y: f64, length: f64) -> String {
    format!(
        "<path d=\"M{x:.1} {y:.1}h{length:.1}\" fill=\"none\" stroke=\"#d55e00\" stroke-width=\"2\" stroke-dasharray=\"4 2\"/>"
    )
}

/// Row and distance from the left of every entry of the legend; none for a single series.
fn legend_places(chart: &BarChart, width: f64) -> Vec<(usize, f64)> {
    if chart.series.len() < 2 {
        return Vec::new();
    }
    let (mut row, mut x) = (0, 0.0);
    let place = |(name, _): &(String, String)| {
        let entry = 36.0 + 7.6 * name.chars().count() as f64;
        if x > 0.0 && x + entry > width {
            row += 1;
            x = 0.0;
        }
        let at = (row, x);
        x += entry;
        at
    };
    chart.series.iter().map(place).collect()
}

fn legend_of(frame: &mut Chart, chart: &BarChart) {
    let (left, mut y) = (frame.area[0], 44.0);
    let places = legend_places(chart, frame.area[2]);
    for ((row, x), (name, colour)) in places.iter().zip(&chart.series) {
        let (x, y) = (left + x, y + LEGEND_LINE * *row as f64);
        frame.add(&format!(
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>",
            y - 4.0
        ));
        frame.text(x + 17.0, y + 6.5, "start", name);
    }
    y += places.last().map_or(0.0, |(row, _)| LEGEND_LINE * (row + 1) as f64);
    if let Some(baseline) = &chart.baseline {
        frame.add(&dashes(left, y, 24.0));
        frame.text(left + 30.0, y + 4.5, "start", baseline);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (most, step) in [(100.0, 20.0), (1.0, 0.2), (64.0, 20.0), (7.0, 2.0), (0.0, 1.0)] {
            assert!((nice_step(most) - step).abs() < 1e-9, "{most}: {}", nice_step(most));
        }
    }

    #[test]
    fn long_names_are_wrapped_and_the_axis_title_is_below_them() {
        assert_eq!(wrapped("rpfCluster, best by labels", 124.0), ["rpfCluster,", "best by labels"]);
        assert_eq!(wrapped("K-means", 10.0), ["K-means"]);
    }

    #[test]
    fn legend_wraps_where_it_is_wider_than_the_chart() {
        let series = |names: &[&str]| BarChart {
            title: "t".into(),
            axes: ("a".into(), "b".into()),
            series: names.iter().map(|name| (name.to_string(), "#000".into())).collect(),
            baseline: None,
            groups: Vec::new(),
            most: None,
            note: None,
        };
        let places = legend_places(&series(&["K-means", "a name of thirty characters ...", "CF"]), 330.0);
        assert_eq!(places.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!((places[0].1, places[1].1), (0.0, 0.0));
        assert!(places[2].1 > 250.0 && legend_places(&series(&["one"]), 10.0).is_empty());
    }

    #[test]
    fn every_value_has_a_bar_and_a_missing_value_has_none() {
        let bar = |value| Some(Bar { value, spread: 1.0 });
        let chart = BarChart {
            title: "t".into(),
            axes: ("data set".into(), "percent".into()),
            series: vec![("a".into(), "#000".into()), ("b".into(), "#111".into())],
            baseline: Some("majority".into()),
            groups: vec![
                BarGroup { name: "<iris>".into(), bars: vec![bar(50.0), None], baseline: Some(33.0) },
                BarGroup { name: "wine".into(), bars: vec![bar(90.0), bar(10.0)], baseline: None },
            ],
            most: Some(100.0),
            note: None,
        };
        let drawn = bars(&chart);
        assert_eq!(drawn.matches("±").count(), 3);
        assert_eq!(drawn.matches("stroke-dasharray").count(), 2, "one group has a baseline, and the legend");
        assert!(drawn.contains("&lt;iris&gt;"));
    }
}
