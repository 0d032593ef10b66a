//! Computes the content of a report from a clustering.
//!
//! This file computes the eigenvalue spectrum (with some eigenvalues beyond K unless the table is large), the heat map
//! of similarities, the least confident rows and the agreement with known classes, and assembles the [`Report`].
//!
//! `sample` selects the rows that are drawn, `clusters` describes the clusters, `silhouette` computes silhouettes from
//! similarities, `partitions` computes partitions for other K, `points` collects the axes and colours of the scatter
//! plot, `layout` computes a two-dimensional layout of the spectral embedding, `summary` writes the first sentence.

mod clusters;
mod layout;
mod partitions;
mod points;
mod sample;
mod silhouette;
mod summary;

use std::borrow::Cow;

use rpfcluster::metrics::Scores;
use rpfcluster::spectral::{self, EmbedOptions, Embedding};
use rpfcluster::{LeafMatrix, Observer};

use crate::clustering::Clustering;
use crate::draw::{base64, brightest};
use crate::error::Result;
use crate::model::{Agreement, Cluster, Component, ConfidenceSummary, Doubtful, Heat, Report, Spectrum};
use crate::subject::Subject;

/// Eigenvalues computed beyond those used, so that the gap after them is visible.
const BEYOND: usize = 6;
/// Rows up to which these further eigenvalues are computed; above, they would take longer than the rest of the page.
const WIDER_BELOW: usize = 100_000;
/// Eigenvalues shown.
const VALUES: usize = 40;
/// Distinguishing columns listed per cluster.
const MARKS: usize = 3;
/// Principal components listed, and columns of each.
const COMPONENTS: usize = 10;
const LEADING: usize = 5;
/// Clusters with histograms; the page lists no more.
const DRAWN: usize = 100;
/// Rows listed as doubtful.
const DOUBTFUL: usize = 20;
/// Confidence from which a row is not doubtful.
const CERTAIN: f64 = 0.9;
/// Classes shown separately. A column with a class for every row would make the page as long as the data.
const CLASSES: usize = 200;
/// Characters of a name; longer names are cut.
const NAME_LENGTH: usize = 120;

/// Computes everything the page shows.
pub fn build(subject: Subject<'_>, observer: &dyn Observer) -> Result<Report> {
    let clustering = subject.clustering;
    let (n, k, labels) = (clustering.n(), clustering.k(), clustering.labels());
    let wider = wider(clustering, observer)?;
    let confidence = confidence(&subject, observer)?;
    let doubts = confidence.as_deref().map_or(Vec::new(), least_confident);
    let medoids = clusters::medoids(clustering);
    let also: Vec<usize> = medoids.iter().copied().take(DRAWN).chain(doubts.iter().copied()).collect();
    let shown = sample::points(labels, k, &also);
    let place = |i: usize| shown.binary_search_by_key(&(labels[i], i), |&j| (labels[j], j));
    let mut marks = clusters::marks(&subject);
    let by_strength = clusters::distinguishing(&subject, &marks);
    marks.iter_mut().for_each(|m| m.truncate(MARKS));
    let histogram_sample = clusters::spreads(&subject, &mut marks[..k.min(DRAWN)]);
    let typical = clusters::typical(&subject, &by_strength, &medoids);
    let clusters = clustering
        .sizes()
        .iter()
        .zip(marks)
        .zip(&medoids)
        .map(|((&size, marks), &medoid)| Cluster {
            size,
            share: size as f64 / n as f64,
            medoid: subject.input_row(medoid),
            medoid_point: place(medoid).ok(),
            marks,
        })
        .collect();
    let own = silhouette::of_clustering(clustering, &shown);
    let (partitions, sample_leaves) = partitions::partitions(&subject, &shown, &own, observer)?;
    let doubtful = doubts
        .iter()
        .map(|&i| Doubtful {
            row: subject.input_row(i),
            point: place(i).ok(),
            cluster: labels[i],
            next: place(i).ok().and_then(|p| own.next(p)),
            confidence: confidence.as_ref().map_or(0.0, |c| c[i]),
            class: subject.classes.and_then(|c| Some(short_name(c.names.get(*c.codes.get(i)? as usize)?))),
        })
        .collect();
    let agreement = agreement(&subject)?;
    let report = Report {
        source: short_name(&subject.source),
        rows: n,
        summary: summary::sentence(&subject, agreement.as_ref()),
        clusters,
        histogram_sample,
        typical,
        heat: heat(clustering, &shown, sample_leaves.as_deref()),
        points: points::points(&subject, &shown, &wider, confidence.as_deref(), &by_strength, &own),
        spectrum: Spectrum {
            values: spectrum(&clustering.embedding().eigenvalues, &wider.eigenvalues, k),
            k,
            used: clustering.embedding().k() > 0,
        },
        partitions,
        doubtful,
        confidence: confidence.map(|c| ConfidenceSummary::new(&c)),
        agreement,
        evidence: clustering.evidence().cloned(),
        components: components(&subject),
        verdict: clustering.fitted().and_then(|fitted| fitted.verdict().cloned()),
        sweep: subject.sweep,
        warnings: subject.warnings,
        facts: subject.facts,
        again: subject.again,
    };
    Ok(report)
}

/// The leading components that the forest was grown on, with the columns that each weighs most.
fn components(subject: &Subject) -> Vec<Component> {
    let Some(found) = subject.clustering.fitted().and_then(|fitted| fitted.components()) else {
        return Vec::new();
    };
    let name = |column: usize| match subject.columns.as_ref().and_then(|columns| columns.names.get(column)) {
        Some(name) => short_name(name),
        None => (column + 1).to_string(),
    };
    let share =
        |variance: f64| if found.total_variance > 0.0 { variance / found.total_variance } else { 0.0 };
    let columns = |at: usize| found.leading_columns(at, LEADING).into_iter();
    let each = found.variances.iter().take(COMPONENTS).enumerate().map(|(at, variance)| Component {
        share: share(*variance),
        columns: columns(at).map(|(column, weight)| (name(column), weight)).collect(),
    });
    each.collect()
}

/// The embedding with some eigenpairs more than the clustering used, where they are quick to compute.
fn wider(clustering: &Clustering, observer: &dyn Observer) -> Result<Embedding> {
    let used = eigenvectors(clustering, observer)?;
    let (n, k) = (clustering.n(), clustering.k());
    if n > WIDER_BELOW || k >= VALUES {
        return Ok(used.into_owned());
    }
    let found = match clustering {
        Clustering::Rows(fitted) => fitted.embed(k + BEYOND, observer),
        Clustering::Matrix(matrix) => {
            let params = spectral::SpectralParams { k: (k + BEYOND).min(n), ..matrix.params.clone() };
            let options = EmbedOptions { start: Some(&used), ..EmbedOptions::default() };
            spectral::embed(&matrix.affinity, &params, &options, observer)
        }
    };
    match found {
        Ok(wider) => Ok(wider),
        Err(rpfcluster::Error::Cancelled) => Err(rpfcluster::Error::Cancelled.into()),
        // Few landmarks or few distinct points have no more eigenvectors.
        Err(_) => Ok(used.into_owned()),
    }
}

/// The K eigenvalues of the fit, as the terminal lists them, then those beyond, in descending order. Both solve the same
/// problem unless the graph is disconnected: components are merged to the number of eigenvectors asked for, and that
/// number is larger here.
fn spectrum(used: &[f64], wider: &[f64], k: usize) -> Vec<f64> {
    let own = if used.len() >= k { &used[..k] } else { wider.get(..k).unwrap_or(wider) };
    let least = own.last().copied().unwrap_or(1.0);
    let beyond = wider.iter().skip(own.len()).map(|value| value.min(least));
    own.iter().copied().chain(beyond).take(VALUES.max(k + 1)).collect()
}

/// The eigenvectors of the clustering; computed for one that was made without.
fn eigenvectors<'a>(clustering: &'a Clustering, observer: &dyn Observer) -> Result<Cow<'a, Embedding>> {
    Ok(match clustering {
        Clustering::Rows(fitted) => Cow::Borrowed(fitted.spectral_embedding(observer)?),
        Clustering::Matrix(matrix) if matrix.embedding.k() > 0 => Cow::Borrowed(&matrix.embedding),
        Clustering::Matrix(matrix) => {
            Cow::Owned(spectral::embed(&matrix.affinity, &matrix.params, &EmbedOptions::default(), observer)?)
        }
    })
}

/// The confidence of each row; `None` for a matrix and for one cluster, where it says nothing.
fn confidence<'a>(subject: &Subject<'a>, observer: &dyn Observer) -> Result<Option<Cow<'a, [f64]>>> {
    match subject.clustering {
        Clustering::Rows(fitted) if subject.clustering.k() > 1 => Ok(Some(match subject.confidence {
            Some(confidence) => Cow::Borrowed(confidence),
            None => Cow::Owned(fitted.confidence(observer)?),
        })),
        _ => Ok(None),
    }
}

/// The rows of lowest confidence, lowest first.
fn least_confident(confidence: &[f64]) -> Vec<usize> {
    let mut doubtful: Vec<usize> = (0..confidence.len()).filter(|&i| confidence[i] < CERTAIN).collect();
    let by = |a: &usize, b: &usize| confidence[*a].total_cmp(&confidence[*b]).then(a.cmp(b));
    if doubtful.len() > DOUBTFUL {
        doubtful.select_nth_unstable_by(DOUBTFUL, by);
        doubtful.truncate(DOUBTFUL);
    }
    doubtful.sort_by(by);
    doubtful
}

/// The similarity matrix of some of the drawn rows, in the forest of the drawn rows where there is one: in that of a
/// large table hardly two of them share a leaf.
fn heat(clustering: &Clustering, shown: &[usize], sample_leaves: Option<&LeafMatrix>) -> Heat {
    let members = sample::spread(shown.len());
    let pair = |a: u32, b: u32| match sample_leaves {
        Some(leaves) => leaves.pair(a as usize, b as usize),
        None => clustering.similarity(shown[a as usize], shown[b as usize]),
    };
    let pairs = members.iter().enumerate().flat_map(|(at, &a)| members[..at].iter().map(move |&b| (a, b)));
    let values: Vec<f64> = pairs.map(|(a, b)| pair(a, b)).collect();
    let meaning = match (clustering, sample_leaves) {
        (Clustering::Rows(_), None) => "Share of trees in which two rows are in the same leaf".into(),
        (Clustering::Rows(_), Some(_)) => format!(
            "Share of trees in which two rows are in the same leaf, in a forest grown on a sample of {} rows",
            shown.len()
        ),
        (Clustering::Matrix(_), _) => "Similarity as given".into(),
    };
    let largest = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    // The square root keeps the digits of small similarities.
    let bytes: Vec<u8> = values.iter().map(|v| ((v / largest).sqrt() * 255.0).round() as u8).collect();
    Heat { members, lower: base64(&bytes), meaning, largest, bright: brightest(values.into_iter()) }
}

fn agreement(subject: &Subject<'_>) -> Result<Option<Agreement>> {
    let Some(classes) = subject.classes else { return Ok(None) };
    let scores = Scores::new(subject.clustering.labels(), classes.codes)?;
    let (codes, names) = few_classes(subject).unwrap_or_default();
    let mut counts = vec![vec![0; names.len()]; subject.clustering.k()];
    for (&label, &class) in subject.clustering.labels().iter().zip(&codes) {
        counts[label as usize][class as usize] += 1;
    }
    Ok(Some(Agreement { classes: names, counts, scores }))
}

/// The classes as the page shows them: the first [`CLASSES`], and all others as one.
fn few_classes(subject: &Subject<'_>) -> Option<(Vec<u32>, Vec<String>)> {
    let classes = subject.classes?;
    let mut names: Vec<String> = classes.names.iter().take(CLASSES).map(|name| short_name(name)).collect();
    if classes.names.len() > CLASSES {
        names.push(format!("{} others", classes.names.len() - CLASSES));
    }
    Some((classes.codes.iter().map(|&c| c.min(CLASSES as u32)).collect(), names))
}

/// A name, cut at [`NAME_LENGTH`] characters.
fn short_name(name: &str) -> String {
    match name.char_indices().nth(NAME_LENGTH) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::spectrum;

    #[test]
    fn spectrum_begins_with_the_eigenvalues_of_the_fit_and_descends() {
        // Five components: the fit for three clusters merged them, the wider embedding kept more of them apart.
        let (used, wider) = ([1.0, 1.0, 0.9], [1.0, 1.0, 1.0, 1.0, 0.8, 0.7]);
        assert_eq!(spectrum(&used, &wider, 3), [1.0, 1.0, 0.9, 0.9, 0.8, 0.7]);
        assert_eq!(spectrum(&used, &used, 3), used);
        // A clustering without eigenvectors, as by Leiden.
        assert_eq!(spectrum(&[], &wider, 3), wider);
    }
}
