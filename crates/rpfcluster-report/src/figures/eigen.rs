//! The eigenvalue spectrum as a dot plot: the eigenvalues used are filled, and the gap after them is marked.

use std::fmt::Write;

use crate::draw::{Chart, Ink, gap_in_words, room_left};
use crate::model::Spectrum;

/// Draws the figure. The script of the page finds the dots by `data-at` when another K is selected.
pub fn eigen(spectrum: &Spectrum, ink: Ink, title: Option<&str>) -> String {
    let Spectrum { values, k, used } = spectrum;
    let least = values.iter().copied().fold(1.0, f64::min);
    let most = values.iter().copied().fold(least, f64::max);
    // A margin below; a tenth when all values are equal up to rounding.
    let span = if most - least > 1e-9 { (most - least) * 1.08 } else { 0.1 };
    let floor = most - span;
    let words = match used {
        true => format!("The {} largest eigenvalues; {k} were used", values.len()),
        false => format!("The {} largest eigenvalues; there are {k} clusters", values.len()),
    };
    // Above the first dot there is room for the words of the gap.
    let top = if title.is_some() { 44.0 } else { 26.0 };
    // Three digits of the span, so that neighbouring ticks differ.
    let decimals = (2.0 - span.log10().floor()).max(3.0) as usize;
    let ticks: Vec<(String, f64)> = (0..=3)
        .map(|third| f64::from(third) / 3.0)
        .map(|share| (format!("{:.decimals$}", floor + span * share), share))
        .collect();
    let left = room_left(ticks.iter().map(|(words, _)| words.as_str()));
    let mut chart = Chart::new(ink, (680.0, 260.0 + top), [left, top, 656.0 - left, 190.0], &words);
    if let Some(title) = title {
        chart.title(title);
    }
    chart.ticks_left(&ticks);
    chart.axes();
    chart.names("index of the eigenvalue, largest first", "eigenvalue");
    let step = 1.0 / values.len().max(1) as f64;
    let x = |chart: &Chart, at: usize| chart.x(step * (at as f64 + 0.5));
    let share = |value: f64| (value - floor) / span;
    let gap = k.checked_sub(1).and_then(|at| Some((values.get(at)?, values.get(*k)?)));
    if let Some((last, next)) = gap {
        let middle = (x(&chart, *k - 1) + x(&chart, *k)) / 2.0;
        let (from, to) = (chart.y(share(*last)), chart.y(share(*next)));
        let mark = ink.mark;
        // Eigenvalues decrease: on the right the label fits above the next dot, on the left below the last one.
        let center = (from + to) / 2.0 + 4.0;
        let (beside, anchor, line) = if middle > 520.0 {
            (middle - 8.0, "end", center.max(from + 18.0))
        } else {
            (middle + 8.0, "start", center.min(to - 10.0))
        };
        let piece = format!(
            "<g class=\"gap\" fill=\"{mark}\"><path d=\"M{middle:.1} {from:.1}V{:.1}\" stroke=\"{mark}\" stroke-width=\"3\"/><text x=\"{beside:.1}\" y=\"{line:.1}\" text-anchor=\"{anchor}\">{}</text></g>",
            to.max(from + 1.0),
            gap_in_words(last - next)
        );
        chart.add(&piece);
    }
    // An index under every dot where they fit.
    let every = values.len().div_ceil(20).max(1);
    for (at, &value) in values.iter().enumerate() {
        let (fill, stroke) = if at < *k { (ink.main, ink.main) } else { (ink.hollow, ink.text) };
        let (cx, cy) = (x(&chart, at), chart.y(share(value)));
        let mut dot = String::new();
        let _ = write!(
            dot,
            "<circle data-at=\"{at}\" data-value=\"{value:.12}\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"5\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.5\"><title>eigenvalue {}: {value:.8}</title></circle>",
            at + 1
        );
        chart.add(&dot);
        if at % every == 0 {
            chart.text(cx, 18.0 + top + 190.0, "middle", &(at + 1).to_string());
        }
    }
    chart.done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_follows_the_kth_value_and_one_value_has_no_gap() {
        let drawn =
            eigen(&Spectrum { values: vec![1.0, 0.99, 0.5], k: 2, used: true }, Ink::PAPER, Some("a < b"));
        assert!(drawn.contains("gap 0.490") && drawn.contains("a &lt; b"));
        assert_eq!(drawn.matches("<circle").count(), 3);
        // With close eigenvalues the label is above the dot that it would cover.
        let close =
            eigen(&Spectrum { values: vec![1.0, 0.5, 0.499, 0.0], k: 2, used: true }, Ink::PAPER, None);
        let after = |text: &str, name: &str| -> f64 {
            text.split_once(name).unwrap().1.split('"').next().unwrap().parse().unwrap()
        };
        let words = &close[close.find("class=\"gap\"").unwrap()..];
        let third = &close[close.find("data-at=\"2\"").unwrap()..];
        assert!(after(words, " y=\"") <= after(third, "cy=\"") - 9.0, "{words}");
        let tiny =
            eigen(&Spectrum { values: vec![1.0, 0.99991, 0.99989], k: 2, used: true }, Ink::PAPER, None);
        assert!(tiny.contains(">gap 2.0e-5<"), "{tiny}");
        let equal = eigen(&Spectrum { values: vec![1.0, 1.0, 1.0, 0.9], k: 2, used: true }, Ink::PAPER, None);
        let level = eigen(&Spectrum { values: vec![1.0; 8], k: 2, used: true }, Ink::PAGE, None);
        let words = &level[level.find("class=\"gap\"").unwrap()..];
        assert!(after(words, " y=\"") >= 13.0, "the words are within the picture: {words}");
        assert!(level.contains(">1.000<") && level.contains(">0.900<"), "{level}");
        assert!(equal.contains(">no gap<") && !equal.contains("gap 0"), "{equal}");
        let lonely = eigen(&Spectrum { values: vec![1.0], k: 1, used: true }, Ink::PAGE, None);
        assert!(!lonely.contains("gap 0") && !lonely.contains("NaN"));
    }
}
