//! A sweep over thresholds and bandwidths as a map: one cell per setting, one panel per method, numbered rings on the
//! selected settings.

use crate::draw::{Chart, Ink, number, room_left, shade_hex};
use crate::model::SweepMap;

const WIDTH: f64 = 560.0;
const CELL: f64 = 34.0;
const TOP: f64 = 44.0;

/// Draws the map. Bandwidths are evenly spaced whatever their values: the grid is denser where labels change.
pub fn sweep(map: &SweepMap, ink: Ink, title: Option<&str>) -> String {
    let thresholds: Vec<String> = map.beta1.iter().map(|beta1| number(*beta1)).collect();
    let margin = room_left(thresholds.iter().map(String::as_str));
    let tall = CELL * map.beta1.len().max(1) as f64;
    let step = tall + 74.0;
    let panels = map.methods.len().max(1) as f64;
    let words = format!("{} for every threshold beta1 and bandwidth beta2", map.meaning);
    let size = (margin + WIDTH + 150.0, TOP + step * panels + 24.0 * map.picks.len() as f64 + 8.0);
    let mut chart = Chart::new(ink, size, [margin, TOP, WIDTH, tall.max(140.0)], &words);
    if let Some(title) = title {
        chart.title(title);
    }
    let all = || map.values.iter().flatten().flatten().flatten().copied();
    let (low, high) = all().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    let (low, high) = if high > low { (low, high) } else { (low.min(0.0), low.max(0.0) + 1.0) };
    let mark = |share: f64| (number(low + (high - low) * share), share);
    let meaning = wrapped(&map.meaning);
    chart.scale(&[0.0, 0.5, 1.0].map(mark), &meaning.iter().map(String::as_str).collect::<Vec<_>>());
    let cell = WIDTH / map.beta2.len().max(1) as f64;
    for (panel, (method, rows)) in map.methods.iter().zip(&map.values).enumerate() {
        chart.area = [margin, TOP + step * panel as f64, WIDTH, tall];
        let [left, top, ..] = chart.area;
        let at = |b1: usize, b2: usize| (left + cell * b2 as f64, top + tall - CELL * (b1 + 1) as f64);
        for (b1, row) in rows.iter().enumerate() {
            for (b2, value) in row.iter().enumerate() {
                let (x, y) = at(b1, b2);
                let Some(value) = value else { continue };
                // Gaps between cells only where cells are wide enough.
                let gap = if cell > 4.0 { 1.0 } else { 0.0 };
                chart.add(&format!(
                    "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{:.1}\" fill=\"{}\"><title>{method}, beta1 {}, beta2 {}: {}</title></rect>",
                    (cell - gap).max(0.4),
                    CELL - 1.0,
                    shade_hex((value - low) / (high - low)),
                    map.beta1[b1],
                    map.beta2[b2],
                    number(*value)
                ));
            }
            chart.text(left - 8.0, at(b1, 0).1 + CELL / 2.0 + 4.5, "end", &thresholds[b1]);
        }
        // As many bandwidths as fit.
        let every = (36.0 / cell).ceil().max(1.0) as usize;
        for b2 in (0..map.beta2.len()).step_by(every) {
            chart.text(left + cell * (b2 as f64 + 0.5), top + tall + 17.0, "middle", &number(map.beta2[b2]));
        }
        chart.names(&format!("bandwidth beta2 ({method})"), "threshold beta1");
        for (number, (_, pick)) in map.picks.iter().enumerate().filter(|(_, (_, p))| p[0] == panel) {
            let (x, y) = at(pick[1], pick[2]);
            ring(&mut chart, x + cell / 2.0, y + CELL / 2.0, number);
        }
    }
    for (number, (name, pick)) in map.picks.iter().enumerate() {
        let y = TOP + step * panels + 24.0 * number as f64;
        ring(&mut chart, margin + 8.0, y, number);
        let method = map.methods.get(pick[0]).map_or("", String::as_str);
        let words = format!("{name}: {method}, beta1 {}, beta2 {}", map.beta1[pick[1]], map.beta2[pick[2]]);
        chart.text(margin + 24.0, y + 4.5, "start", &words);
    }
    chart.done()
}

/// Wraps text to the width beside the map.
fn wrapped(words: &str) -> Vec<String> {
    const LETTERS: usize = 18;
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < LETTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// A numbered ring, visible on dark and on light cells.
fn ring(chart: &mut Chart, x: f64, y: f64, number: usize) {
    chart.add(&format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\" fill=\"#fff\" stroke=\"#000\" stroke-width=\"1.5\"/>\
         <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#000\">{}</text>",
        y + 4.0,
        number + 1
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_cell_and_every_pick_a_legend_line() {
        let map = SweepMap {
            beta1: vec![0.0, 0.1],
            beta2: vec![0.1, 0.5, 2.0],
            methods: vec!["ncut".into(), "kway".into()],
            meaning: "clustering accuracy, percent".into(),
            values: vec![vec![vec![Some(50.0), None, Some(90.0)]; 2]; 2],
            picks: vec![("label-free".into(), [1, 0, 2])],
        };
        let drawn = sweep(&map, Ink::PAPER, Some("t"));
        assert_eq!(drawn.matches("<title>ncut").count() + drawn.matches("<title>kway").count(), 8);
        assert!(drawn.contains("label-free: kway, beta1 0, beta2 2"));
    }
}
