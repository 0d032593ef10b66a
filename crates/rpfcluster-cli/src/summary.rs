//! The few lines a person reads after a clustering: how large the clusters are, how well they agree with known classes,
//! what was used, and what to distrust.

use crate::clustered::Clustered;
use crate::exit::Outcome;
use crate::output;
use crate::resolve::word;

/// Clusters shown one a line.
const SHOWN: usize = 20;
/// Width of the longest bar.
const BAR: usize = 40;

/// The lines.
pub fn text(clustered: &Clustered, seconds: f64) -> Outcome<String> {
    let (n, sizes) = (clustered.n(), clustered.sizes());
    let of = match clustered.d() {
        Some(d) => format!("{n} rows, {d} columns"),
        None => format!("{n} points"),
    };
    let clusters = if sizes.len() == 1 { "cluster" } else { "clusters" };
    let mut text = format!("{}: {of}, {} {clusters} in {seconds:.2} s\n\n", clustered.source, sizes.len());
    text += &bars(&sizes, n);
    text.push('\n');
    if let Some(s) = clustered.scores()? {
        text += &line(
            "scores",
            &format!(
                "rho_c {:.2} %, rho_r {:.2} %, ari {:.4}, nmi {:.4} (one single cluster: rho_c {:.2} %)",
                s.rho_c, s.rho_r, s.ari, s.nmi, s.majority
            ),
        );
    }
    let method = word(&clustered.method())?;
    text += &line("similarity", &format!("{}, {method}{}", clustered.affinity(), forest(clustered)?));
    for (name, value) in choices(clustered) {
        text += &line(name, &value);
    }
    if let Some(confidence) = confidence(clustered) {
        text += &line("confidence", &confidence);
    }
    let e = clustered.embedding();
    let shown: Vec<String> = e.eigenvalues.iter().take(8).map(|v| format!("{v:.4}")).collect();
    let more = if e.k() > shown.len() { " …" } else { "" };
    let sure = if e.converged { "converged" } else { "NOT converged" };
    let solver = word(&e.solver)?;
    text += &line(
        "eigenvalues",
        &format!("{}{more} ({solver}, {sure}, residual {:.0e})", shown.join(" "), e.residual),
    );
    Ok(text)
}

/// Rows up to which the summary asks the forest how sure it is; of more it would take longer than a summary may.
const ASKED_BELOW: usize = 100_000;

/// How sure the forest is of its rows.
fn confidence(clustered: &Clustered) -> Option<String> {
    if clustered.k() < 2 || clustered.n() > ASKED_BELOW {
        return None;
    }
    let mut all = clustered.confidence()?;
    let low = all.iter().filter(|c| **c < 0.5).count();
    let at = all.len() / 2;
    let (_, median, _) = all.select_nth_unstable_by(at, f64::total_cmp);
    let median = *median;
    Some(format!(
        "median {median:.2}; {low} of {} rows below one half (1 is deep inside a cluster)",
        all.len()
    ))
}

/// What was left to the program, what it took, and how clear the choice was.
pub fn choices(clustered: &Clustered) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let Some(evidence) = clustered.evidence() else { return lines };
    let on = |sample: Option<usize>| sample.map_or(String::new(), |rows| format!(", tried on {rows} rows"));
    if let Some(k) = &evidence.k {
        let next =
            k.candidates.iter().find(|c| c.k != k.k).map_or(String::new(), |c| format!("; next {}", c.k));
        lines.push(("chosen k", format!("{} (sure {:.2}{next}{})", k.k, k.sure, on(k.sample))));
    }
    if let Some(trees) = &evidence.trees {
        let last = trees.tried.iter().find(|t| t.trees == trees.trees).map_or(0.0, |t| t.agreement);
        let why = if trees.agreed { "halves agree" } else { "more would not bring the halves closer" };
        lines.push(("trees", format!("{} chosen ({why}: {last:.2}{})", trees.trees, on(trees.sample))));
    }
    if let Some(settings) = evidence.settings.as_ref().filter(|s| s.candidates.len() > 1) {
        let best = &settings.candidates[0];
        let tried = settings.candidates.len();
        let halves = best.stability.map_or(String::new(), |s| format!("halves of the forest {s:.2}"));
        // Partitions in which a few clusters hold nearly all rows may be passed over.
        let passed = settings.candidates.iter().any(|c| c.agreement > best.agreement);
        let even = if passed { " of the more even ones" } else { "" };
        let why = if settings.by_stability() {
            format!("of {tried} settings the one that is found again best: {halves}")
        } else {
            format!("of {tried} settings the most agreed with{even}: {:.2}, {halves}", best.agreement)
        };
        let why = why.trim_end_matches(", ");
        lines.push(("chosen", format!("{why} (1 is the same labels){}", on(settings.sample))));
    }
    lines
}

/// Below this agreement of the two halves of a forest the clusters owe much to chance.
const WEAK: f64 = 0.6;

/// Below this lead over the next a chosen number of clusters is not clear.
const UNSURE: f64 = 0.1;

/// Sentences on what to distrust.
pub fn warnings(clustered: &Clustered) -> Vec<String> {
    let e = clustered.embedding();
    let mut sentences = Vec::new();
    if !e.converged {
        sentences.push(
            "the eigenvectors did not converge, so the labels may be off; try --solver dense, another --affinity, \
             or more --trees"
                .to_string(),
        );
    }
    if e.uncovered > 0.0 {
        sentences.push(format!(
            "{:.1} % of the rows see no landmark and are placed by chance; take more --landmarks or --solver block",
            100.0 * e.uncovered
        ));
    }
    let settings = clustered.evidence().and_then(|e| e.settings.as_ref());
    if let Some(stability) = settings.and_then(|s| s.candidates.first()?.stability).filter(|s| *s < WEAK) {
        sentences.push(format!(
            "hint: the structure is weak: labels from two halves of the forest agree only to {stability:.2} (1 is the \
             same); try another -k, --standardize all, or fewer columns"
        ));
    }
    if let Some(k) = clustered.evidence().and_then(|e| e.k.as_ref()) {
        if k.k == 1 {
            let most = k.candidates.iter().map(|c| c.k).max().unwrap_or(1);
            sentences.push(format!(
                "hint: no number of clusters up to {most} stands out from a cloud without clusters; there may be none"
            ));
        } else if k.sure < UNSURE {
            let next = k.candidates.iter().find(|c| c.k != k.k).map_or(1, |c| c.k);
            sentences.push(format!(
                "hint: the number of clusters is not clear: {next} is nearly as good as {}; look at both",
                k.k
            ));
        }
    }
    let smallest = clustered.sizes().into_iter().min().unwrap_or(0);
    if smallest * 200 < clustered.n() && clustered.n() >= 400 && clustered.k() > 1 {
        sentences.push(format!(
            "hint: the smallest cluster has {smallest} of {} rows: rows far from all others, or too large a -k; \
             --report shows which",
            clustered.n()
        ));
    }
    sentences
}

fn forest(clustered: &Clustered) -> Outcome<String> {
    let params = clustered.params();
    let (Some(trees), Some(min_node)) = (params.get("trees"), params.get("min_node")) else {
        return Ok(format!(", seed {}", clustered.seed()));
    };
    Ok(format!(", {trees} trees, min-node {min_node}, seed {}", clustered.seed()))
}

fn line(name: &str, value: &str) -> String {
    format!("{name:<11}  {value}\n")
}

/// A line and a bar for each cluster; of many only the first.
fn bars(sizes: &[usize], n: usize) -> String {
    let largest = sizes.iter().copied().max().unwrap_or(1).max(1);
    let rows: Vec<Vec<String>> = sizes
        .iter()
        .enumerate()
        .take(SHOWN)
        .map(|(cluster, &size)| {
            let share = 100.0 * size as f64 / n.max(1) as f64;
            vec![format!("cluster {cluster}"), size.to_string(), format!("{share:.1} %")]
        })
        .collect();
    let mut text = String::new();
    for (line, &size) in output::columns(&rows).lines().zip(sizes) {
        let length = (size * BAR).div_ceil(largest);
        text += &format!("{line}  {}\n", "▇".repeat(length));
    }
    if sizes.len() > SHOWN {
        let rest = &sizes[SHOWN..];
        let (least, most) = (rest.iter().min().unwrap_or(&0), rest.iter().max().unwrap_or(&0));
        text += &format!("… and {} more of {least} to {most} rows\n", rest.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cluster_has_a_bar_and_many_are_cut() {
        let text = bars(&[100, 1], 101);
        assert_eq!(text.lines().count(), 2);
        assert_eq!(text.matches('▇').count(), BAR + 1);
        let many = bars(&[3; 30], 90);
        assert_eq!(many.lines().count(), SHOWN + 1);
        assert!(many.ends_with("… and 10 more of 3 to 3 rows\n"), "{many}");
    }
}
