//! How far to believe a clustering: one word, one score and the reason, without labels.
//!
//! The score is that of `select::evidence` for the K of the fit, with the separation of the labels that the fit returned.
//! It estimates the adjusted Rand index with the true classes. The word is lower where the evidence itself is doubtful:
//! few rows, or columns that decide nearly everything. docs/notes/2026-11-verdict.md reports how words and scores compare
//! with the truth on tables that were not used to set the limits.

use super::Fitted;
use crate::columns::{ColumnProblem, column_problems};
use crate::error::{Error, Result};
use crate::metrics::Scores;
use crate::observe::{Observer, Quiet};
use crate::params::{AffinityParams, RpfCluster, Setting};
use crate::points::{ColumnKey, Points, Real};
use crate::random::sample_rows;
use crate::select::{K_SAMPLE_ROWS, KCandidate, KChoice, KEvidence, choose_k};

/// Smallest score of a clear clustering.
const CLEAR: f64 = 0.75;
/// Smallest score of a plausible clustering.
const PLAUSIBLE: f64 = 0.5;
/// Prediction strength from which halves of the rows are said to agree.
const STRONG: f64 = 0.8;
/// Largest score of a clustering whose word is lowered to plausible or weak.
const LOWERED: [f64; 2] = [0.74, 0.49];
/// Rows of the sample the evidence is computed on, and per cluster.
const SAMPLE_ROWS: usize = 1000;
const SAMPLE_ROWS_PER_CLUSTER: usize = 20;
const MAX_SAMPLE_ROWS: usize = 4000;
/// Fewer rows are not assessed: halves of them hold too little.
const MIN_ROWS: usize = 20;
/// Fewer rows cannot make a clustering clear: chance groups look separated.
const FEW_ROWS: usize = 30;

/// Spread within clusters, in medians of the other columns, from which a dominant column is one of another scale. Less
/// than in the whole table, since a cut through the column narrows it and widens the others.
const WITHIN_RATIO: f64 = 3.0;

/// Largest number of clusters that is tried without a column.
const MOST_WITHOUT: usize = 10;

/// How far to believe a clustering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum VerdictWord {
    /// No better separated than arbitrary cuts through unclustered data.
    None,
    /// Halves of the rows give different clusters, or they are hardly separated.
    Weak,
    /// Mostly reproduced and separated.
    Plausible,
    /// Reproduced from half of the rows and well separated.
    Clear,
}

impl VerdictWord {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            VerdictWord::None => "none",
            VerdictWord::Weak => "weak",
            VerdictWord::Plausible => "plausible",
            VerdictWord::Clear => "clear",
        }
    }

    /// The word in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            VerdictWord::None => "no structure found",
            other => other.name(),
        }
    }
}

/// How far to believe a clustering, and why.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Verdict {
    /// The word.
    pub word: VerdictWord,
    /// From 0 to 1: an estimate of the adjusted Rand index with the true classes.
    pub score: f64,
    /// One sentence.
    pub reason: String,
}

/// The verdict of a fit, the evidence behind it, and what its columns show.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assessment {
    pub verdict: Verdict,
    pub evidence: Option<KCandidate>,
    pub columns: Vec<ColumnFinding>,
}

/// A problem of some columns, and what happens without them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnFinding {
    pub problem: ColumnProblem,
    /// `None` where the other columns cannot be clustered.
    pub without: Option<Without>,
}

/// What the columns that are left give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Without {
    /// Adjusted Rand index between the clusters and those of the other columns.
    Agreement(f64),
    /// The number of clusters that is selected on the other columns, where one was selected on all.
    Clusters(usize),
}

impl ColumnFinding {
    pub fn sentence(&self, names: &[String]) -> String {
        let sentence = self.problem.sentence(names);
        let others = if self.problem.columns().len() == 1 { "Without it" } else { "Without them" };
        match self.without {
            Some(Without::Clusters(1)) => format!("{sentence} {others} no clusters are found either."),
            Some(Without::Clusters(k)) => format!("{sentence} {others} {k} clusters are found."),
            Some(Without::Agreement(ari)) => {
                let change = if ari >= 0.9 { "hardly change" } else { "change" };
                let ari = (100.0 * ari).round() / 100.0 + 0.0;
                format!(
                    "{sentence} {others} the clusters {change} (adjusted Rand index of the two {ari:.2})."
                )
            }
            None => sentence,
        }
    }
}

/// Rows of the sample that a fit with K clusters is assessed on; `selected` where K is selected on one.
pub(super) fn most_sample_rows(k: usize, selected: bool) -> usize {
    if selected { K_SAMPLE_ROWS } else { (SAMPLE_ROWS_PER_CLUSTER * k).clamp(SAMPLE_ROWS, MAX_SAMPLE_ROWS) }
}

/// Assesses a fit of `points`, the rows that its forest was grown on; they are those of `table` or their principal
/// components. `known` is the evidence that K was selected by.
pub(crate) fn assess<R: Real>(
    points: &Points<R>,
    table: &Points<R>,
    fitted: &Fitted,
    choice: Option<&KChoice>,
    known: Option<KEvidence>,
    observer: &dyn Observer,
) -> Result<Assessment> {
    let (n, k) = (points.n(), fitted.k());
    let labels = fitted.grown_labels();
    let mut columns = Vec::new();
    for problem in column_problems(table) {
        // A column that separates the clusters has a large spread for that reason alone.
        let spread_by_clusters = match &problem {
            ColumnProblem::Dominant { columns, .. } => !dominates_within(table, &labels, k, columns),
            _ => false,
        };
        if spread_by_clusters {
            continue;
        }
        let without = match problem {
            ColumnProblem::Scales { .. } => None,
            _ if k > 1 => agreement_without(table, &labels, fitted, &problem, observer)?,
            _ if choice.is_some() => clusters_without(table, fitted, &problem, observer)?,
            _ => None,
        };
        columns.push(ColumnFinding { problem, without });
    }
    if k < 2 {
        let most = choice.and_then(|choice| choice.candidates.iter().map(|c| c.k).max());
        let reason = match most {
            Some(most) => format!(
                "No number of clusters up to {most} is better separated than arbitrary cuts through unclustered data."
            ),
            None if choice.is_some() => {
                format!("{} too few to tell clusters from chance.", rows_are(n, n < fitted.n()))
            }
            None => "One cluster holds every row.".to_string(),
        };
        let verdict = Verdict { word: VerdictWord::None, score: 0.0, reason };
        return Ok(Assessment { verdict, evidence: None, columns });
    }
    // With fewer than two rows for each cluster there is nothing to compare, and the embeddings would take n³ steps.
    if known.is_none() && 2 * k > n {
        let reason =
            format!("{} too few for {k} clusters to be told from chance.", rows_are(n, n < fitted.n()));
        let verdict = Verdict { word: VerdictWord::Weak, score: 0.0, reason };
        return Ok(Assessment { verdict, evidence: None, columns });
    }
    let evidence = match known {
        Some(evidence) => evidence,
        None => {
            let rows = most_sample_rows(k, false);
            KEvidence::new(points, fitted.params(), &[k], rows, observer)?
        }
    };
    let sampled: Vec<u32> = evidence.rows.iter().map(|row| labels[*row as usize]).collect();
    let Some(found) = evidence.of_labels(&sampled, k) else {
        let reason = "The number of clusters is too large to be assessed.".to_string();
        let verdict = Verdict { word: VerdictWord::Weak, score: 0.0, reason };
        return Ok(Assessment { verdict, evidence: None, columns });
    };
    let verdict = judge(&found, fitted.n(), &columns);
    Ok(Assessment { verdict, evidence: Some(found), columns })
}

/// `1 distinct row is` or `12 rows are`.
fn rows_are(n: usize, distinct: bool) -> String {
    let distinct = if distinct { "distinct " } else { "" };
    format!("{n} {distinct}{}", if n == 1 { "row is" } else { "rows are" })
}

/// The verdict for this evidence.
fn judge(found: &KCandidate, n: usize, columns: &[ColumnFinding]) -> Verdict {
    let halves = match found.strength {
        Some(ari) => format!("(adjusted Rand index {:.2})", ari.max(0.0)),
        None => String::new(),
    };
    let too_few = n < MIN_ROWS || found.strength.is_none();
    let (mut word, mut reason) = if too_few {
        (VerdictWord::Weak, format!("{} too few to tell these clusters from chance.", rows_are(n, false)))
    } else if !found.separated {
        let reason =
            "The clusters are no better separated than arbitrary cuts through unclustered data.".to_string();
        (VerdictWord::None, reason)
    } else if found.score >= CLEAR {
        let reason = format!(
            "The clusters are separated, and those found in one half of the rows predict those in the other half {halves}."
        );
        (VerdictWord::Clear, reason)
    } else if found.score >= PLAUSIBLE && found.strength.is_some_and(|ari| ari >= STRONG) {
        let reason =
            format!("Two halves of the rows agree {halves}, but the clusters are not clearly separated.");
        (VerdictWord::Plausible, reason)
    } else if found.score >= PLAUSIBLE {
        let reason =
            format!("The clusters are separated, but two halves of the rows agree only in part {halves}.");
        (VerdictWord::Plausible, reason)
    } else if found.strength.is_some_and(|ari| ari < 0.6) {
        (VerdictWord::Weak, format!("Two halves of the rows give different clusters {halves}."))
    } else {
        let reason = "The clusters are hardly better separated than arbitrary cuts through unclustered data.";
        (VerdictWord::Weak, reason.to_string())
    };
    let mut score = if word <= VerdictWord::Weak { found.score.min(LOWERED[1]) } else { found.score };
    let mut lower = |most: VerdictWord, limit: f64, because: String| {
        if word > most {
            (word, score, reason) = (most, score.min(limit), because);
        }
    };
    if n < FEW_ROWS {
        lower(VerdictWord::Plausible, LOWERED[0], format!("{n} rows are too few for certainty."));
    }
    for finding in columns {
        if !matches!(finding.without, Some(Without::Agreement(ari)) if ari < 0.5) {
            continue;
        }
        match finding.problem {
            ColumnProblem::Identifier { .. } => {
                let because = "The clusters change when a column that looks like an identifier is left out.";
                lower(VerdictWord::Weak, LOWERED[1], because.to_string());
            }
            _ => {
                let because = "The clusters follow few columns of large spread and change without them.";
                lower(VerdictWord::Plausible, LOWERED[0], because.to_string());
            }
        }
    }
    Verdict { word, score, reason }
}

/// Whether the columns spread [`WITHIN_RATIO`] times as much as the others within the clusters too, by the standard deviations on a
/// sample of the rows.
fn dominates_within<R: Real>(points: &Points<R>, labels: &[u32], k: usize, dominant: &[usize]) -> bool {
    let d = points.d();
    let rows = sample_rows(0, points.n(), SAMPLE_ROWS);
    let mut values = vec![0.0f64; rows.len() * d];
    for (&row, out) in rows.iter().zip(values.chunks_exact_mut(d)) {
        points.copy_row(row as usize, out);
    }
    let (mut means, mut sizes) = (vec![0.0; k * d], vec![0.0; k]);
    let label_of = |row: &u32| labels[*row as usize] as usize;
    rows.iter().for_each(|row| sizes[label_of(row)] += 1.0);
    for (row, x) in rows.iter().zip(values.chunks_exact(d)) {
        let size = sizes[label_of(row)];
        means[label_of(row) * d..][..d].iter_mut().zip(x).for_each(|(mean, v)| *mean += v / size);
    }
    let mut squares = vec![0.0; d];
    for (row, x) in rows.iter().zip(values.chunks_exact(d)) {
        let mean = &means[label_of(row) * d..][..d];
        squares.iter_mut().zip(x.iter().zip(mean)).for_each(|(sum, (v, m))| *sum += (v - m) * (v - m));
    }
    let mut others: Vec<f64> =
        (0..d).filter(|column| !dominant.contains(column)).map(|column| squares[column]).collect();
    others.retain(|square| *square > 0.0);
    others.sort_unstable_by(f64::total_cmp);
    let Some(median) = others.get(others.len() / 2) else { return true };
    dominant.iter().any(|column| squares[*column] >= WITHIN_RATIO * WITHIN_RATIO * median)
}

/// A sample of the rows without some of the columns.
struct OtherColumns {
    rows: Vec<u32>,
    values: Vec<f64>,
    d: usize,
    keys: Vec<ColumnKey>,
}

impl OtherColumns {
    fn new<R: Real>(points: &Points<R>, left_out: &[usize], seed: u64) -> Self {
        let d = points.d() - left_out.len();
        let rows = sample_rows(seed, points.n(), SAMPLE_ROWS);
        let mut row_values = vec![0.0f64; points.d()];
        let mut values = Vec::with_capacity(rows.len() * d);
        for &row in &rows {
            points.copy_row(row as usize, &mut row_values);
            let kept = row_values.iter().enumerate().filter(|(column, _)| !left_out.contains(column));
            values.extend(kept.map(|(_, value)| *value));
        }
        let keys = points.keys().iter().enumerate().filter(|(column, _)| !left_out.contains(column));
        let keys = keys.map(|(_, key)| *key).collect();
        OtherColumns { rows, values, d, keys }
    }

    fn points(&self) -> Result<Points<'_, f64>> {
        Points::new(&self.values, self.rows.len(), self.d)?.with_keys(&self.keys)
    }
}

/// Compares the labels with a clustering without some of the columns.
fn agreement_without<R: Real>(
    points: &Points<R>,
    labels: &[u32],
    fitted: &Fitted,
    problem: &ColumnProblem,
    observer: &dyn Observer,
) -> Result<Option<Without>> {
    let others = OtherColumns::new(points, problem.columns(), fitted.params().seed);
    let setting = Setting {
        min_node: RpfCluster::default().fixed_min_node(others.rows.len()),
        affinity: AffinityParams::TopK { top: RpfCluster::TOP, power: RpfCluster::POWER },
        method: fitted.method(),
    };
    let params = fitted.params().at_setting(&setting);
    let found = others.points().and_then(|points| params.fit_in_pool(&points, &Quiet(observer)));
    match found {
        Ok(other) => {
            let own: Vec<u32> = others.rows.iter().map(|row| labels[*row as usize]).collect();
            Ok(Some(Without::Agreement(Scores::new(&own, other.labels())?.ari)))
        }
        Err(Error::Cancelled) => Err(Error::Cancelled),
        // No columns are left, or too few distinct rows.
        Err(_) => Ok(None),
    }
}

/// Selects the number of clusters without some of the columns.
fn clusters_without<R: Real>(
    points: &Points<R>,
    fitted: &Fitted,
    problem: &ColumnProblem,
    observer: &dyn Observer,
) -> Result<Option<Without>> {
    let others = OtherColumns::new(points, problem.columns(), fitted.params().seed);
    let params = fitted.params();
    let most = params.max_k.unwrap_or(MOST_WITHOUT).min(MOST_WITHOUT);
    let found = others.points().and_then(|points| choose_k(&points, params, most, &Quiet(observer)));
    match found {
        Ok((choice, _)) => Ok(Some(Without::Clusters(choice.k))),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => Ok(None),
    }
}
