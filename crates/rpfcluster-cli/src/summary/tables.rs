//! The tables of `--verbose`: every number of clusters, number of trees and setting that was tried, with the values
//! that decided between them.

use rpfcluster::Evidence;
use rpfcluster_report::affinity_in_words;

/// The tables, with the chosen row marked; empty when nothing was chosen from the data.
pub fn tables(evidence: &Evidence) -> String {
    let mut text = String::new();
    if let Some(k) = &evidence.k {
        let rows = k.candidates.iter().map(|c| {
            let strength = c.strength.map_or("-".into(), two_digits);
            let cells = vec![
                c.k.to_string(),
                two_digits(c.score),
                strength,
                two_digits(c.separation),
                two_digits(c.gap),
            ];
            (c.k == k.k, cells)
        });
        text += &table(
            "numbers of clusters tried",
            &["clusters", "score", "strength", "separation", "gap"],
            rows.collect(),
        );
    }
    if let Some(trees) = &evidence.trees {
        let rows = trees
            .tried
            .iter()
            .map(|t| (t.trees == trees.trees, vec![t.trees.to_string(), two_digits(t.agreement)]));
        text += &table("numbers of trees tried", &["trees", "stability"], rows.collect());
    }
    if let Some(settings) = evidence.settings.as_ref().filter(|s| s.candidates.len() > 1) {
        let rows = settings.candidates.iter().map(|c| {
            let cells = vec![
                affinity_in_words(&c.affinity),
                c.min_node.to_string(),
                c.strength.map_or("-".into(), two_digits),
            ];
            (settings.selected() == Some(c), cells)
        });
        text += &table("settings compared", &["similarity", "min-node", "strength"], rows.collect());
    }
    text
}

/// Two decimals, without a minus sign before zero.
fn two_digits(value: f64) -> String {
    format!("{:.2}", (value * 100.0).round() / 100.0 + 0.0)
}

/// One table; an arrow marks the chosen rows.
fn table(title: &str, names: &[&str], rows: Vec<(bool, Vec<String>)>) -> String {
    let widths: Vec<usize> = (0..names.len())
        .map(|at| {
            let cells = rows.iter().map(|(_, cells)| cells[at].chars().count());
            cells.chain([names[at].len()]).max().unwrap_or_default()
        })
        .collect();
    let line = |mark: &str, cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{mark} {}", padded.collect::<Vec<_>>().join("  ")).trim_end().to_string() + "\n"
    };
    let head: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut text = format!("{title}\n{}", line(" ", &head));
    for (chosen, cells) in &rows {
        text += &line(if *chosen { ">" } else { " " }, cells);
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_minus_sign() {
        assert_eq!([-0.004, 0.996, -0.25].map(two_digits), ["0.00", "1.00", "-0.25"]);
    }

    #[test]
    fn columns_are_aligned_and_the_chosen_row_is_marked() {
        let rows = vec![(false, vec!["50".into(), "0.91".into()]), (true, vec!["100".into(), "0.97".into()])];
        let text = table("numbers of trees tried", &["trees", "stability"], rows);
        assert_eq!(text, "numbers of trees tried\n  trees  stability\n  50     0.91\n> 100    0.97\n\n");
    }
}
