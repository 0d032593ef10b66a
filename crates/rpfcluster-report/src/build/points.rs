//! The drawn rows with every axis and colour the page offers: eigenvectors, their layout, confidence, columns, known
//! classes; and the two axes that are drawn first, which are never columns.

use rpfcluster::spectral::Embedding;

use super::layout::layout;
use super::silhouette::ClusterSimilarity;
use super::{few_classes, short_name};
use crate::model::{Axis, DrawnPoints};
use crate::subject::Subject;

/// Columns offered as axes.
const COLUMNS: usize = 24;
/// Eigenvectors offered as axes.
const VECTORS: usize = 12;

/// The points in the order of `shown`.
pub fn points(
    subject: &Subject<'_>,
    shown: &[usize],
    wider: &Embedding,
    confidence: Option<&[f64]>,
    columns_by_strength: &[usize],
    own: &ClusterSimilarity,
) -> DrawnPoints {
    let width = wider.k() - 1;
    let all = wider.coordinates();
    let mut axes: Vec<Axis> = (0..width.min(VECTORS))
        .map(|c| Axis {
            name: format!("eigenvector {}", c + 2),
            column: false,
            values: shown.iter().map(|&i| short(all[i * width + c])).collect(),
        })
        .collect();
    let spectral = axes.len();
    let k = subject.clustering.k();
    let clusters: Vec<u32> = shown.iter().map(|&i| subject.clustering.labels()[i]).collect();
    let laid_out = layout(wider, shown, &clusters, &own.between_clusters(), k);
    for (name, values) in ["layout, horizontal", "layout, vertical"].into_iter().zip(laid_out) {
        let values = values.into_iter().map(short).collect();
        axes.push(Axis { name: name.into(), column: false, values });
    }
    if let Some(confidence) = confidence {
        let values = shown.iter().map(|&i| short(confidence[i])).collect();
        axes.push(Axis { name: "confidence".into(), column: false, values });
    }
    let first_column = axes.len();
    if let Some(columns) = &subject.columns {
        let wanted = &columns_by_strength[..columns_by_strength.len().min(COLUMNS)];
        axes.extend(wanted.iter().map(|&j| Axis {
            name: short_name(&columns.names[j]),
            column: true,
            values: Vec::with_capacity(shown.len()),
        }));
        let mut row = vec![0.0; columns.names.len()];
        for &i in shown {
            (columns.row)(i, &mut row);
            for (axis, &j) in axes[first_column..].iter_mut().zip(wanted) {
                axis.values.push(short(columns.in_file(j, row[j])));
            }
        }
    }
    // On a disconnected graph the eigenvectors are constant on each component: each would be drawn as a single point.
    let disconnected = wider.columns.iter().filter(|columns| !columns.is_empty()).count() > 1;
    // More than three clusters differ in more than two eigenvectors.
    let two_suffice = !disconnected && k <= 3 && spectral >= 2;
    let start = if two_suffice { [0, 1] } else { [spectral, spectral + 1] };
    let (classes, class_names) = match few_classes(subject) {
        Some((codes, names)) => (Some(shown.iter().map(|&i| codes[i]).collect()), names),
        None => (None, Vec::new()),
    };
    DrawnPoints {
        clusters,
        classes,
        class_names,
        rows: shown.iter().map(|&i| subject.input_row(i)).collect(),
        axes,
        start,
        k,
    }
}

/// A number rounded to five significant digits: finer than a screen, and a third of the bytes in JSON.
fn short(value: f64) -> f32 {
    format!("{value:.4e}").parse().unwrap_or(value as f32)
}
