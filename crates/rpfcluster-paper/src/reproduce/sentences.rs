//! The summary and the sentences that both pages share, all computed from the results. Plain text, with names of
//! parameters in backticks.
//!
//! Numbers are written by [`thousands`] and [`decimal`], which has no negative zero.

use std::collections::BTreeMap;

use crate::compare::ComparedMethod;

use super::illustrations::{IrisExample, PAPER_IRIS};
use super::origin::words;
use super::results::{DataSet, MethodResult, Place, RIVALS, Results, SKEWED, Statistic};
use super::statements::{Outcome, Statement, of_the_paper};

/// Thresholds of the grid: beta1 from 0 to 0.4 in steps of 0.1.
pub(super) const THRESHOLDS: usize = 5;

/// The relation of a number to another.
pub(super) fn compared(a: f64, b: f64) -> &'static str {
    match a.total_cmp(&b) {
        std::cmp::Ordering::Less => "below",
        std::cmp::Ordering::Equal => "equal to",
        std::cmp::Ordering::Greater => "above",
    }
}

/// `Iris, Wine and WDBC`.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => "none".to_string(),
        [one] => (*one).to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `2,090`.
pub(super) fn thousands(number: usize) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", thousands(number / 1000), number % 1000)
}

/// A number with some decimals; what rounds to zero has no sign.
pub(super) fn decimal(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_string(),
        _ => text,
    }
}

/// Mean and standard deviation; the mean alone of a single run.
pub(super) fn spread(of: &Statistic, digits: usize) -> String {
    let mean = decimal(of.mean, digits);
    if of.runs < 2 { mean } else { format!("{mean} ± {:.digits$}", of.sd) }
}

/// Seconds, with three decimals where two would say too little.
pub(super) fn time(seconds: f64) -> String {
    if seconds < 0.1 { format!("{seconds:.3}") } else { format!("{seconds:.2}") }
}

pub(super) fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Commit, dates and machine of the units.
pub(super) fn origin(results: &Results) -> String {
    let origins: Vec<String> = results.origins.iter().map(words).collect();
    format!(
        "{} run of version {}; {}.",
        if results.effort == "quick" { "Quick" } else { "Full" },
        results.version,
        if origins.is_empty() { "origin not stored".into() } else { origins.join("; ") }
    )
}

/// `5 seeds`, or how many on which sets.
pub(super) fn seeds(results: &Results) -> String {
    let mut numbers: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (_, set) in results.in_order() {
        let runs = set.methods.values().flat_map(BTreeMap::values).map(|cell| cell.rho_c.runs).max();
        numbers.entry(runs.unwrap_or(0)).or_default().push(&set.title);
    }
    match numbers.len() {
        0 => "no runs".to_string(),
        1 => numbers.keys().map(|n| plural(*n, "seed")).collect(),
        _ => {
            let each: Vec<String> = numbers
                .iter()
                .rev()
                .map(|(n, sets)| format!("{} on {}", plural(*n, "seed"), list(sets)))
                .collect();
            each.join("; ")
        }
    }
}

/// First, tied for first and second places of a column.
pub(super) fn places(
    sets: &[(&str, &DataSet)],
    own: ComparedMethod,
    score: impl Fn(&MethodResult) -> f64 + Copy,
) -> ([usize; 3], usize) {
    let places: Vec<Place> =
        sets.iter().filter_map(|(_, s)| Results::place(s, own, "paper", score)).collect();
    let count =
        |better: usize, tied: bool| places.iter().filter(|p| (p.better, p.tied) == (better, tied)).count();
    ([count(0, false), count(0, true), count(1, false)], places.len())
}

/// The data sets without those on which one cluster scores a high accuracy.
pub(super) fn even<'a>(sets: &[(&'a str, &'a DataSet)]) -> Vec<(&'a str, &'a DataSet)> {
    sets.iter().copied().filter(|(name, _)| !SKEWED.contains(name)).collect()
}

/// `5 seeds`, or `1 to 3 seeds`.
fn seeds_in_short(sets: &[(&str, &DataSet)]) -> String {
    let cells = sets.iter().filter_map(|(_, set)| set.cell(ComparedMethod::NcutBest, "paper"));
    let runs: Vec<usize> = cells.map(|cell| cell.rho_c.runs).collect();
    let (least, most) = (runs.iter().min().copied().unwrap_or(0), runs.iter().max().copied().unwrap_or(0));
    if least == most { plural(most, "seed") } else { format!("{least} to {}", plural(most, "seed")) }
}

/// The largest number of settings from which the classes choose.
fn settings(sets: &[(&str, &DataSet)]) -> usize {
    let numbers = sets.iter().map(|(_, set)| set.used.trees.len() * THRESHOLDS * set.bandwidths);
    numbers.max().unwrap_or(0)
}

/// What a reader can quote: places of the four columns, the skewed sets, Iris, the count of verdicts.
pub(super) fn summary(results: &Results, stated: &[Statement], iris: Option<&IrisExample>) -> Vec<String> {
    let sets = of_the_paper(results);
    let without = even(&sets);
    let mut out = Vec::new();
    if !sets.is_empty() {
        let column = |own: ComparedMethod, among: &[(&str, &DataSet)]| {
            let ([first, tied, second], _) = places(among, own, |c| c.rho_c.mean);
            let tied = if tied > 0 { format!(", tied for first on {tied}") } else { String::new() };
            format!("first on {first}{tied}, second on {second}")
        };
        let skewed: Vec<&str> = sets
            .iter()
            .filter(|(name, _)| SKEWED.contains(name))
            .map(|(_, set)| set.title.as_str())
            .collect();
        let [own, kway, free, auto] = ComparedMethod::OWN;
        let below = behind(results).map_or(String::new(), |sentence| format!(" {sentence}"));
        out.push(format!(
            "On {} data sets the paper's protocol (Algorithm 3, normalised cuts, the setting chosen by the classes) is {}, by mean accuracy over \
{}. The paper says first on 7 of 12 and second on 3; one of the 12 sets is not public. Places are among K-means, NJW, CF and one column of \
rpfCluster, on data prepared as in the paper.{below}",
            sets.len(),
            column(own, &sets),
            seeds_in_short(&sets),
        ));
        out.push(format!(
            "In the same comparison, k-way labels instead of normalised cuts are {}. Algorithm 3 with a setting chosen without the classes is {}. \
The default of this program, which is not Algorithm 3, is {}.",
            column(kway, &sets),
            column(free, &sets),
            column(auto, &sets),
        ));
        if !skewed.is_empty() && !without.is_empty() {
            out.push(format!(
                "Accuracy says little on {}, where a single cluster scores high. On the other {}, the paper's protocol is {}; k-way labels are {}; \
the setting chosen without the classes is {}; the default is {}.",
                list(&skewed),
                plural(without.len(), "set"),
                column(own, &without),
                column(kway, &without),
                column(free, &without),
                column(auto, &without),
            ));
        }
        out.push(format!(
            "The rivals and the last two columns do not use the classes. The first two columns choose by them among up to {} settings for each data \
set and seed, so their scores are optimistic. The paper does not say how it chose its settings.",
            thousands(settings(&sets))
        ));
    }
    if let Some(iris) = iris {
        out.push(format!(
            "On Iris (section 5.1), at the best setting by species, the rpf-kernel has a median accuracy of {:.2} and a median Rand index of {:.2} over \
{}; the paper has {:.2} and {:.2}.",
            iris.rpf.rho_c[1],
            iris.rpf.rho_r[1],
            plural(iris.seeds, "forest"),
            PAPER_IRIS[0].0,
            PAPER_IRIS[0].1
        ));
    }
    let count = |outcome: Outcome| stated.iter().filter(|s| s.outcome == outcome).count();
    if !stated.is_empty() {
        out.push(format!(
            "Of {} of the paper, {} reproduced, {} partly and {} not; {} not checked.",
            plural(stated.len(), "statement"),
            verb(count(Outcome::Reproduced)),
            count(Outcome::Partly),
            count(Outcome::Not),
            verb(count(Outcome::NotChecked)),
        ));
    }
    out
}

fn verb(count: usize) -> String {
    format!("{count} {}", if count == 1 { "is" } else { "are" })
}

/// How far each column is ahead of the best rival on the sets without skewed classes.
pub(super) fn leads(sets: &[(&str, &DataSet)]) -> Vec<String> {
    let mut out = Vec::new();
    for own in ComparedMethod::OWN {
        let leads = sets.iter().filter_map(|(_, set)| {
            let mine = set.cell(own, "paper")?.rho_c.mean;
            let rivals = RIVALS.iter().filter_map(|m| set.cell(*m, "paper")).map(|c| c.rho_c.mean);
            Some(mine - rivals.fold(f64::NEG_INFINITY, f64::max))
        });
        let leads: Vec<f64> = leads.collect();
        if leads.is_empty() {
            continue;
        }
        let mean = leads.iter().sum::<f64>() / leads.len() as f64;
        let ahead = leads.iter().filter(|lead| **lead > 0.0).count();
        out.push(format!(
            "{}: ahead of the best of the three rivals on {ahead} of {}; on average {:.1} points {} it.",
            own.title(),
            plural(leads.len(), "set"),
            mean.abs(),
            if mean >= 0.0 { "ahead of" } else { "behind" }
        ));
    }
    out
}

/// What each method used, and how its scores vary.
pub(super) fn methods(results: &Results) -> Vec<String> {
    let sets = results.in_order();
    let grouped = |of: &dyn Fn(&DataSet) -> Option<usize>| {
        let mut groups: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for (_, set) in &sets {
            if let Some(value) = of(set) {
                groups.entry(value).or_default().push(&set.title);
            }
        }
        groups
    };
    let each = |groups: &BTreeMap<usize, Vec<&str>>| match groups.len() {
        1 => groups.keys().map(usize::to_string).collect::<String>(),
        _ => {
            let parts: Vec<String> =
                groups.iter().rev().map(|(n, sets)| format!("{n} on {}", list(sets))).collect();
            parts.join(", ")
        }
    };
    let mut out = vec![
        "Best by labels is the setting of the highest accuracy; the other scores are those of the same partition.".to_string(),
        "Algorithm 3, chosen without labels, takes the largest number of trees. Of its partitions by ncut and kway it is the one with the highest mean \
adjusted Rand index with the others, each counted by its share of the logarithmic scale of bandwidths up to 1."
            .to_string(),
    ];
    if let Some((title, sd)) = widest(&sets, ComparedMethod::KMeans) {
        let restarts = each(&grouped(&|set| Some(set.used.kmeans_restarts)));
        out.push(format!(
            "K-means is Hartigan and Wong's from random distinct rows, as R's `kmeans()`, the best of {restarts} starts. Its standard deviation of \
accuracy over seeds is at most {sd:.2} ({title})."
        ));
    }
    if let Some((title, sd)) = widest(&sets, ComparedMethod::Njw) {
        let landmarks = grouped(&|set| set.used.njw_landmarks);
        let above = if landmarks.is_empty() {
            "All sets are solved exactly.".to_string()
        } else {
            format!("Nyström landmarks: {}; the others are solved exactly.", on(&landmarks))
        };
        out.push(format!(
            "NJW takes for each row the distance to its seventh neighbour as its bandwidth (Zelnik-Manor and Perona 2004), not a rule of kernlab's, which score \
higher on some sets. {above} Its standard \
deviation of accuracy is at most {sd:.2} ({title})."
        ));
    }
    if let Some((title, sd)) = widest(&sets, ComparedMethod::Cf) {
        let landmarks = grouped(&|set| set.used.cf_landmarks);
        let above =
            if landmarks.is_empty() { String::new() } else { format!(" Landmarks: {}.", on(&landmarks)) };
        out.push(format!(
            "CF averages {} clustering instances and cuts by k-way labels. Its bandwidth is chosen without classes: the partition with the highest mean agreement with the \
others.{above} Its standard deviation of accuracy is at most {sd:.2} ({title}).",
            each(&grouped(&|set| Some(set.used.cf_instances)))
        ));
    }
    let short = |set: &DataSet| {
        let cells = set.methods.get(ComparedMethod::NcutBest.name()).into_iter().flat_map(BTreeMap::values);
        cells.flat_map(|cell| &cell.notes).any(|note| note.contains("left out"))
    };
    let left: Vec<&str> =
        sets.iter().filter(|(_, set)| short(set)).map(|(_, set)| set.title.as_str()).collect();
    if !left.is_empty() {
        out.push(format!(
            "Thresholds that would keep too many pairs in memory are left out of the search on {}; the notes of the runs in `results.json` name them.",
            list(&left)
        ));
    }
    out
}

/// `500 on Musk, 500 on mGamma` grouped by number.
fn on(groups: &BTreeMap<usize, Vec<&str>>) -> String {
    let parts: Vec<String> =
        groups.iter().rev().map(|(n, sets)| format!("{} on {}", thousands(*n), list(sets))).collect();
    parts.join("; ")
}

/// The data set on which a method's accuracy varies most over seeds, prepared as in the paper.
fn widest<'a>(sets: &[(&str, &'a DataSet)], method: ComparedMethod) -> Option<(&'a str, f64)> {
    let spreads =
        sets.iter().filter_map(|(_, set)| Some((set.title.as_str(), set.cell(method, "paper")?.rho_c.sd)));
    spreads.reduce(|widest, next| if next.1 > widest.1 { next } else { widest })
}

/// Data sets on which the paper's protocol has two rivals or more above it.
pub(super) fn behind(results: &Results) -> Option<String> {
    let mut worse = Vec::new();
    for (name, set) in of_the_paper(results) {
        let place = Results::place(set, ComparedMethod::NcutBest, "paper", |c| c.rho_c.mean);
        if let Some(place) = place.filter(|place| place.better > 1) {
            let skew = if SKEWED.contains(&name) { ", a skewed set" } else { "" };
            worse.push(format!("{} (rank {}{skew})", set.title, place.better + 1));
        }
    }
    (!worse.is_empty()).then(|| {
        format!(
            "Algorithm 3 with normalised cuts, best by labels, ranks below two rivals or more by accuracy on {}.",
            worse.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas_and_no_negative_zero() {
        assert_eq!([7, 999, 2090, 31_350].map(thousands), ["7", "999", "2,090", "31,350"]);
        assert_eq!([-0.0004, 0.0, -0.0006].map(|v| decimal(v, 3)), ["0.000", "0.000", "-0.001"]);
        let mut score = Statistic::default();
        score.add(90.0);
        assert_eq!(spread(&score, 1), "90.0");
        score.add(92.0);
        assert_eq!(spread(&score, 1), "91.0 ± 1.4");
    }
}
