//! The first sentences of a report: size of the data, number and sizes of the clusters, accuracy if classes are known.

use crate::model::Agreement;
use crate::subject::Subject;

/// The result in one or two sentences.
pub fn sentence(subject: &Subject<'_>, agreement: Option<&Agreement>) -> String {
    let sizes = subject.clustering.sizes();
    let (least, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    let n = subject.clustering.n();
    let what = match &subject.columns {
        Some(columns) if columns.names.len() == 1 => format!("{n} rows with 1 column"),
        Some(columns) => format!("{n} rows with {} columns", columns.names.len()),
        None => format!("{n} rows"),
    };
    let mut text = match sizes.len() {
        1 => format!("{what} in one cluster."),
        k if least == most => format!("{what} in {k} clusters of {most} rows."),
        k => format!("{what} in {k} clusters of {least} to {most} rows."),
    };
    if let Some(Agreement { scores, .. }) = agreement {
        text += &format!(
            " Against the known classes: accuracy (rho_c) {:.2} %, Rand index (rho_r) {:.2} %; always the largest class: \
             accuracy {:.2} %.",
            scores.rho_c, scores.rho_r, scores.majority
        );
    }
    text
}
