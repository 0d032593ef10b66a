//! From a clustering to its report. `sample` which rows are shown, `clusters` what they are like, `similar` how much a
//! row is like each cluster, `partitions` other numbers of clusters, `points` everything rows can be drawn by, `view` by which
//! axes first, `words` sentences.

mod clusters;
mod partitions;
mod points;
mod sample;
mod similar;
mod view;
mod words;

use rpfcluster::Observer;
use rpfcluster::affinity::{Affinity, SparseAffinity};
use rpfcluster::metrics::{Contingency, Scores};
use rpfcluster::spectral::{self, EmbedOptions, Embedding};

use crate::draw::base64;
use crate::error::Result;
use crate::model::{Agreement, Cluster, Doubtful, Heat, Report, Spectrum};
use crate::subject::{Basis, Subject};

/// Eigenvalues beyond the ones used, to see the gap by.
const BEYOND: usize = 6;
/// Beyond this many rows a second look at the eigenvectors would take longer than it is worth.
const LOOK_BELOW: usize = 100_000;
/// Eigenvalues shown.
const VALUES: usize = 40;
/// Columns named for each cluster.
const MARKS: usize = 3;
/// Clusters whose columns are drawn; the page tabulates no more.
const DRAWN: usize = 100;
/// Rows listed as doubtful, and the confidence from which on none is.
const DOUBTFUL: usize = 20;
const SURE: f64 = 0.9;
/// Classes that are told apart; a column with a class for every row would make the page as long as the data.
const CLASSES: usize = 200;
/// Letters of a name.
const LETTERS: usize = 120;

/// Everything the page shows.
pub fn build(subject: Subject<'_>, observer: &dyn Observer) -> Result<Report> {
    let (n, k) = (subject.n(), subject.k());
    let wider = wider(&subject, observer)?;
    let (confidence, doubts) = doubts(&subject, observer)?;
    let medoids = clusters::medoids(&subject);
    let also: Vec<usize> = medoids.iter().copied().take(DRAWN).chain(doubts.iter().copied()).collect();
    let shown = sample::points(subject.labels(), k, &also);
    let place =
        |i: usize| shown.binary_search_by_key(&(subject.labels()[i], i), |&j| (subject.labels()[j], j));
    let mut marks = clusters::marks(&subject);
    let telling = clusters::telling(&subject, &marks);
    marks.iter_mut().for_each(|m| m.truncate(MARKS));
    clusters::spreads(&subject, &mut marks[..k.min(DRAWN)]);
    let typical = clusters::typical(&subject, &telling, &medoids);
    let sizes = subject.sizes();
    let clusters = sizes
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
    let own = similar::of_subject(&subject, &shown);
    let partitions = partitions::partitions(&subject, &shown, &own, observer)?;
    let doubtful = doubts
        .iter()
        .map(|&i| Doubtful {
            row: subject.input_row(i),
            point: place(i).ok(),
            cluster: subject.labels()[i],
            next: place(i).ok().and_then(|p| own.next(p)),
            confidence: confidence.as_ref().map_or(0.0, |c| c[i]),
            class: subject.classes.and_then(|c| Some(short_name(c.names.get(*c.codes.get(i)? as usize)?))),
        })
        .collect();
    let agreement = agreement(&subject)?;
    let report = Report {
        source: short_name(&subject.source),
        size: (n, subject.columns.as_ref().map(|c| c.names.len())),
        summary: words::sentence(&subject, agreement.as_ref()),
        clusters,
        typical,
        heat: heat(&subject, &shown),
        points: points::points(&subject, &shown, &wider, confidence.as_deref(), &telling),
        spectrum: Spectrum { values: wider.eigenvalues.iter().copied().take(VALUES.max(k + 1)).collect(), k },
        partitions,
        doubtful,
        confidence: confidence.map(|c| words::middle(&c)),
        agreement,
        evidence: match &subject.basis {
            Basis::Forest(fitted) => Some(fitted.evidence().clone()),
            Basis::Matrix { .. } => None,
        },
        sweep: subject.sweep,
        warnings: subject.warnings,
        facts: subject.facts,
        again: (subject.again.what, subject.again.text),
    };
    Ok(report)
}

/// More eigenpairs of what was cut than the labels needed, where that does not take long.
fn wider(subject: &Subject<'_>, observer: &dyn Observer) -> Result<Embedding> {
    let used = subject.embedding();
    let (n, k) = (subject.n(), subject.k());
    if n > LOOK_BELOW || k >= VALUES {
        return Ok(used.clone());
    }
    let (affinity, params): (Affinity<'_>, _) = match &subject.basis {
        Basis::Forest(fitted) => (
            fitted.affinity().build(fitted.leaves(), observer)?,
            fitted.params().spectral_params(fitted.method()),
        ),
        Basis::Matrix { pairs, params, .. } => {
            let (starts, indices, values) =
                (pairs.starts.to_vec(), pairs.indices.to_vec(), pairs.values.to_vec());
            (
                SparseAffinity::precomputed_sparse(starts, indices, values, n, observer)?.into(),
                (*params).clone(),
            )
        }
    };
    let params = spectral::SpectralParams { k: (k + BEYOND).min(n), ..params };
    let options = EmbedOptions { start: Some(used), ..EmbedOptions::default() };
    match spectral::embed(&affinity, &params, &options, observer) {
        Ok(wider) => Ok(wider),
        Err(rpfcluster::Error::Cancelled) => Err(rpfcluster::Error::Cancelled.into()),
        // Few landmarks have no more eigenvectors to give: then what was used has to do.
        Err(_) => Ok(used.clone()),
    }
}

/// How sure the forest is of each row, and the rows it is least sure of.
fn doubts(subject: &Subject<'_>, observer: &dyn Observer) -> Result<(Option<Vec<f64>>, Vec<usize>)> {
    let Basis::Forest(fitted) = &subject.basis else { return Ok((None, Vec::new())) };
    if subject.k() < 2 {
        return Ok((None, Vec::new()));
    }
    let confidence = fitted.confidence(observer)?;
    let mut unsure: Vec<usize> = (0..confidence.len()).filter(|&i| confidence[i] < SURE).collect();
    let by = |a: &usize, b: &usize| confidence[*a].total_cmp(&confidence[*b]).then(a.cmp(b));
    if unsure.len() > DOUBTFUL {
        unsure.select_nth_unstable_by(DOUBTFUL, by);
        unsure.truncate(DOUBTFUL);
    }
    unsure.sort_by(by);
    Ok((Some(confidence), unsure))
}

/// The similarity of some of the shown rows.
fn heat(subject: &Subject<'_>, shown: &[usize]) -> Heat {
    let members = sample::spread(shown.len());
    let pair = |a: u32, b: u32| subject.similarity(shown[a as usize], shown[b as usize]);
    let lower = || members.iter().enumerate().flat_map(|(at, &a)| members[..at].iter().map(move |&b| (a, b)));
    let (meaning, largest) = match &subject.basis {
        Basis::Forest(_) => ("Share of trees in which two rows share a leaf", 1.0),
        Basis::Matrix { .. } => {
            ("Similarity as given", lower().map(|(a, b)| pair(a, b)).fold(f64::MIN_POSITIVE, f64::max))
        }
    };
    let bytes: Vec<u8> = lower().map(|(a, b)| (pair(a, b) / largest * 255.0).round() as u8).collect();
    Heat { members, lower: base64(&bytes), meaning: meaning.into(), largest }
}

fn agreement(subject: &Subject<'_>) -> Result<Option<Agreement>> {
    let Some(classes) = subject.classes else { return Ok(None) };
    let scores = Scores::of(&Contingency::new(subject.labels(), classes.codes)?)?;
    let (codes, names) = few_classes(subject).unwrap_or_default();
    let mut counts = vec![vec![0; names.len()]; subject.k()];
    for (&label, &class) in subject.labels().iter().zip(&codes) {
        counts[label as usize][class as usize] += 1;
    }
    Ok(Some(Agreement { classes: names, counts, scores }))
}

/// The classes as the page tells them apart: the first [`CLASSES`], then all others as one.
fn few_classes(subject: &Subject<'_>) -> Option<(Vec<u32>, Vec<String>)> {
    let classes = subject.classes?;
    let mut names: Vec<String> = classes.names.iter().take(CLASSES).map(|name| short_name(name)).collect();
    if classes.names.len() > CLASSES {
        names.push(format!("{} others", classes.names.len() - CLASSES));
    }
    Some((classes.codes.iter().map(|&c| c.min(CLASSES as u32)).collect(), names))
}

/// A name no longer than a person reads.
fn short_name(name: &str) -> String {
    match name.char_indices().nth(LETTERS) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_string(),
    }
}
