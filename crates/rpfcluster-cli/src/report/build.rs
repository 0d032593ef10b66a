//! From a clustering to its report: medoids, the columns that set clusters apart, samples for the pictures.

use rpfcluster::affinity::{Affinity, LinearAffinity, SparseAffinity};
use rpfcluster::spectral::{self, Embedding, Hints, SpectralParams};
use rpfcluster::{AffinityParams, Fitted};
use rpfcluster_data::{Preparation, Table};

use super::heatmap;
use super::model::{Agreement, Axis, Cluster, Heat, Mark, Report, Scatter, Spectrum};
use super::view::best_pair;
use crate::clock::peak_bytes;
use crate::clustered::{Basis, Clustered, coordinates, matrix_affinity};
use crate::exit::{Failure, Outcome};
use crate::session::Session;
use crate::{output, summary};

/// Rows of the heat map.
const HEAT: usize = 400;
/// Points of the scatter plot.
const POINTS: usize = 3000;
/// Columns that can be chosen for it.
const COLUMNS: usize = 24;
/// Eigenvalues beyond the ones used, to see the gap by.
const BEYOND: usize = 6;
/// Columns named for each cluster.
const MARKS: usize = 3;

/// Everything the page shows.
pub fn build(session: &Session, clustered: &Clustered, command: String) -> Outcome<Report> {
    let wider = wider(session, clustered)?;
    let marks = match &clustered.basis {
        Basis::Rows { table, preparation, .. } => all_marks(clustered, table, preparation),
        Basis::Matrix { .. } => vec![Vec::new(); clustered.k()],
    };
    let medoids = medoids(clustered);
    let sizes = clustered.sizes();
    let clusters: Vec<Cluster> = sizes
        .iter()
        .zip(&marks)
        .zip(&medoids)
        .map(|((&size, marks), &medoid)| Cluster {
            size,
            share: size as f64 / clustered.n() as f64,
            medoid: clustered.input_row(medoid),
            marks: marks.iter().take(MARKS).cloned().collect(),
        })
        .collect();
    let spectrum = Spectrum { values: wider.eigenvalues.clone(), k: clustered.k() };
    let agreement = agreement(clustered)?;
    Ok(Report {
        source: clustered.source.clone(),
        summary: sentence(clustered, agreement.as_ref()),
        warnings: summary::warnings(clustered),
        clusters,
        heat: heat(clustered)?,
        spectrum,
        scatter: scatter(clustered, &wider, &marks),
        agreement,
        facts: facts(session, clustered),
        command,
    })
}

/// More eigenpairs of what was cut than the labels needed.
fn wider(session: &Session, clustered: &Clustered) -> Outcome<Embedding> {
    let k = (clustered.k() + BEYOND).min(clustered.n());
    let start = clustered.embedding();
    let (affinity, params): (Box<dyn Affinity>, SpectralParams) = match &clustered.basis {
        Basis::Rows { fitted, .. } => {
            (affinity(session, fitted)?, fitted.params().spectral_params(fitted.method()))
        }
        Basis::Matrix { similarity, params, .. } => (Box::new(matrix_affinity(similarity)?), params.clone()),
    };
    let params = SpectralParams { k, ..params };
    let hints = Hints { start: Some(start), similarity: None };
    match spectral::embed(affinity.as_ref(), &params, &hints, &session.progress) {
        Ok(wider) => Ok(wider),
        Err(rpfcluster::Error::Cancelled) => Err(Failure::Interrupted),
        // Few landmarks have no more eigenvectors to give: then what was used has to do.
        Err(_) => Ok(start.clone()),
    }
}

fn affinity(session: &Session, fitted: &Fitted) -> Outcome<Box<dyn Affinity>> {
    let leaves = fitted.leaves();
    Ok(match *fitted.affinity() {
        AffinityParams::Linear => Box::new(LinearAffinity::new(leaves.clone())),
        AffinityParams::Paper { beta1, beta2, diagonal } => {
            let kernel = leaves.sparse_observed(beta1, &session.progress)?;
            Box::new(SparseAffinity::paper(&kernel, beta2, diagonal)?)
        }
        AffinityParams::TopK { top, power } => {
            let neighbors = leaves.top_k_observed(top, &session.progress)?;
            Box::new(SparseAffinity::top_k(&neighbors, top, power)?)
        }
    })
}

/// Of each cluster the point with the largest sum of similarities to the others of it.
fn medoids(clustered: &Clustered) -> Vec<usize> {
    let labels = clustered.labels();
    let mut degree = vec![0.0; labels.len()];
    match &clustered.basis {
        Basis::Rows { fitted, .. } => {
            let leaves = fitted.leaves();
            let mut here = vec![0.0; clustered.k()];
            for tree in 0..leaves.trees() {
                let end =
                    if tree + 1 < leaves.trees() { leaves.first_column(tree + 1) } else { leaves.columns() };
                for leaf in 0..(end - leaves.first_column(tree)) as u32 {
                    let members = leaves.members(tree, leaf);
                    members.iter().for_each(|&i| here[labels[i as usize] as usize] += 1.0);
                    members.iter().for_each(|&i| degree[i as usize] += here[labels[i as usize] as usize]);
                    members.iter().for_each(|&i| here[labels[i as usize] as usize] = 0.0);
                }
            }
        }
        Basis::Matrix { similarity: s, .. } => {
            for i in 0..s.n {
                for at in s.indptr[i]..s.indptr[i + 1] {
                    if labels[s.indices[at] as usize] == labels[i] {
                        degree[i] += s.data[at];
                    }
                }
            }
        }
    }
    let mut best: Vec<Option<usize>> = vec![None; clustered.k()];
    for (i, &label) in labels.iter().enumerate() {
        let slot = &mut best[label as usize];
        if slot.is_none_or(|b| degree[i] > degree[b]) {
            *slot = Some(i);
        }
    }
    best.into_iter().map(|b| b.unwrap_or(0)).collect()
}

/// For each cluster every column that varies, the one that sets it apart most first.
fn all_marks(clustered: &Clustered, table: &Table, preparation: &Preparation) -> Vec<Vec<Mark>> {
    let (n, d, k) = (table.n, table.d(), clustered.k());
    let mut sums = vec![0.0; k * d];
    let (mut total, mut first) = (vec![0.0; d], vec![0.0; d]);
    for (i, &label) in clustered.labels().iter().enumerate() {
        for j in 0..d {
            // Differences from the first row: sums of large numbers would lose the small ones.
            let x = table.values.get(i * d + j);
            if i == 0 {
                first[j] = x;
            }
            sums[label as usize * d + j] += x - first[j];
            total[j] += x - first[j];
        }
    }
    let mut squares = vec![0.0; d];
    for i in 0..n {
        for j in 0..d {
            let off = table.values.get(i * d + j) - first[j] - total[j] / n as f64;
            squares[j] += off * off;
        }
    }
    let sizes = clustered.sizes();
    (0..k)
        .map(|c| {
            let mut marks: Vec<Mark> = (0..d)
                .filter(|&j| squares[j] > 0.0 && sizes[c] < n)
                .map(|j| {
                    let sd = (squares[j] / n as f64).sqrt();
                    let inside = sums[c * d + j] / sizes[c] as f64;
                    let outside = (total[j] - sums[c * d + j]) / (n - sizes[c]) as f64;
                    let in_file = |x: f64| (x + first[j]) * preparation.scale[j] + preparation.center[j];
                    Mark {
                        column: table.columns[j].clone(),
                        inside: in_file(inside),
                        outside: in_file(outside),
                        deviations: (inside - outside) / sd,
                    }
                })
                .collect();
            marks.sort_by(|a, b| b.deviations.abs().total_cmp(&a.deviations.abs()));
            marks
        })
        .collect()
}

/// Points in cluster order, at most `most` of them, evenly spread; every cluster keeps at least one.
fn sample(clustered: &Clustered, most: usize) -> Vec<usize> {
    let labels = clustered.labels();
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|&i| labels[i]);
    if order.len() <= most {
        return order;
    }
    let n = order.len();
    let mut starts = vec![true; n];
    (1..n).for_each(|at| starts[at] = labels[order[at]] != labels[order[at - 1]]);
    (0..n)
        .filter(|&at| starts[at] || at * most / n != (at - 1) * most / n)
        .map(|at| order[at])
        .take(most.max(clustered.k()))
        .collect()
}

fn heat(clustered: &Clustered) -> Outcome<Heat> {
    let rows = sample(clustered, HEAT);
    let shown = rows.len();
    let values: Vec<f64> =
        rows.iter().flat_map(|&i| rows.iter().map(move |&j| clustered.similarity(i, j))).collect();
    let (meaning, largest) = match &clustered.basis {
        Basis::Rows { .. } => ("Share of trees in which two rows share a leaf", 1.0),
        Basis::Matrix { .. } => {
            ("Similarity as given", values.iter().copied().fold(f64::MIN_POSITIVE, f64::max))
        }
    };
    // The root of a share: most pairs share few leaves, and their differences would drown in the dark.
    let png = heatmap::png(shown, shown, values.iter().map(|v| (v / largest).sqrt()))
        .map_err(|e| Failure::data(format!("the heat map cannot be drawn: {e}")))?;
    let mut groups = vec![0; clustered.k()];
    rows.iter().for_each(|&i| groups[clustered.labels()[i] as usize] += 1);
    Ok(Heat { png, shown, groups, meaning: meaning.into(), largest })
}

fn scatter(clustered: &Clustered, wider: &Embedding, marks: &[Vec<Mark>]) -> Scatter {
    let rows = sample(clustered, POINTS);
    let width = wider.k() - 1;
    let all = coordinates(wider);
    let mut axes: Vec<Axis> = (0..width)
        .map(|c| Axis {
            name: format!("eigenvector {}", c + 2),
            column: false,
            values: rows.iter().map(|&i| short(all[i * width + c])).collect(),
        })
        .collect();
    let spectral = axes.len();
    if let Some(confidence) = clustered.confidence() {
        let values = rows.iter().map(|&i| short(confidence[i])).collect();
        axes.push(Axis { name: "confidence".into(), column: false, values });
    }
    let first_column = axes.len();
    if let Basis::Rows { table, preparation, .. } = &clustered.basis {
        let d = table.d();
        for j in telling(table, marks) {
            let in_file =
                |i: usize| table.values.get(i * d + j) * preparation.scale[j] + preparation.center[j];
            axes.push(Axis {
                name: table.columns[j].clone(),
                column: true,
                values: rows.iter().map(|&i| short(in_file(i))).collect(),
            });
        }
    }
    let clusters: Vec<u32> = rows.iter().map(|&i| clustered.labels()[i]).collect();
    // On a graph in pieces the eigenvectors are constant on each, and clusters would be drawn as single points.
    let in_pieces = wider.columns.iter().filter(|columns| !columns.is_empty()).count() > 1;
    let used: Vec<usize> = (0..spectral.min(clustered.k().max(3) - 1)).collect();
    let columns: Vec<usize> = (first_column..axes.len()).collect();
    let (first, second) = if in_pieces { (columns, used) } else { (used, columns) };
    let pair = |candidates: &[usize]| best_pair(&axes, candidates, &clusters, clustered.k());
    let start = pair(&first).or_else(|| pair(&second)).unwrap_or([0, axes.len().saturating_sub(1)]);
    Scatter {
        clusters,
        classes: clustered.classes().map(|c| rows.iter().map(|&i| c.codes[i]).collect()),
        class_names: clustered.classes().map(|c| c.names.clone()).unwrap_or_default(),
        rows: rows.iter().map(|&i| clustered.input_row(i)).collect(),
        axes,
        start,
        k: clustered.k(),
    }
}

/// Five digits: more than a screen has points, and a third of the bytes.
fn short(value: f64) -> f32 {
    format!("{value:.4e}").parse().unwrap_or(value as f32)
}

/// The columns that tell clusters apart best, by their largest deviation over all clusters.
fn telling(table: &Table, marks: &[Vec<Mark>]) -> Vec<usize> {
    let mut strength = vec![0.0f64; table.d()];
    let place: std::collections::HashMap<&str, usize> =
        table.columns.iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect();
    for mark in marks.iter().flatten() {
        if let Some(&j) = place.get(mark.column.as_str()) {
            strength[j] = strength[j].max(mark.deviations.abs());
        }
    }
    let mut order: Vec<usize> = (0..table.d()).collect();
    order.sort_by(|&a, &b| strength[b].total_cmp(&strength[a]));
    order.truncate(COLUMNS);
    order
}

fn agreement(clustered: &Clustered) -> Outcome<Option<Agreement>> {
    let (Some(classes), Some(scores)) = (clustered.classes(), clustered.scores()?) else { return Ok(None) };
    let mut counts = vec![vec![0; classes.names.len()]; clustered.k()];
    for (&label, &class) in clustered.labels().iter().zip(&classes.codes) {
        counts[label as usize][class as usize] += 1;
    }
    Ok(Some(Agreement { classes: classes.names.clone(), counts, scores }))
}

fn sentence(clustered: &Clustered, agreement: Option<&Agreement>) -> String {
    let sizes = clustered.sizes();
    let (least, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    let what = match clustered.d() {
        Some(d) => format!("{} rows with {d} columns", clustered.n()),
        None => format!("{} points, given by their similarities,", clustered.n()),
    };
    let mut text = match sizes.len() {
        1 => format!("{what} in one cluster."),
        k => format!("{what} in {k} clusters of {least} to {most}."),
    };
    if let Some(Agreement { scores, .. }) = agreement {
        text += &format!(
            " {:.2} % of the rows agree with their known class (one single cluster would have {:.2} %).",
            scores.rho_c, scores.majority
        );
    }
    text
}

fn facts(session: &Session, clustered: &Clustered) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = clustered
        .params()
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| {
            (name.replace('_', "-"), value.as_str().map_or_else(|| value.to_string(), str::to_string))
        })
        .collect();
    facts.extend(summary::choices(clustered).into_iter().map(|(name, value)| (name.into(), value)));
    let e = clustered.embedding();
    let sure = if e.converged { "yes" } else { "no" };
    facts.push(("seed".into(), clustered.seed().to_string()));
    facts.push(("converged".into(), format!("{sure}, largest residual {:.1e}", e.residual)));
    for stage in ["read", "grow", "tune", "kernel", "spectral", "label"] {
        facts.push((format!("seconds to {stage}"), format!("{:.3}", session.clock.seconds_of(stage))));
    }
    if let Some(bytes) = peak_bytes() {
        facts.push(("peak memory".into(), output::size(bytes)));
    }
    facts.push(("version".into(), format!("rpf {}", env!("CARGO_PKG_VERSION"))));
    facts
}
