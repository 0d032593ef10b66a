//! The sentence at the head of a report, and the numbers that sum up how sure it is.

use crate::model::Agreement;
use crate::subject::Subject;

/// What came out, in a sentence or two.
pub fn sentence(subject: &Subject<'_>, agreement: Option<&Agreement>) -> String {
    let sizes = subject.sizes();
    let (least, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    let what = match &subject.columns {
        Some(columns) => format!("{} rows with {} columns", subject.n(), columns.names.len()),
        None => format!("{} rows", subject.n()),
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

/// The median, and how many are below one half.
pub fn middle(confidence: &[f64]) -> (f64, usize) {
    let mut sorted = confidence.to_vec();
    let at = sorted.len() / 2;
    if sorted.is_empty() {
        return (0.0, 0);
    }
    let (_, median, _) = sorted.select_nth_unstable_by(at, f64::total_cmp);
    (*median, confidence.iter().filter(|c| **c < 0.5).count())
}

#[cfg(test)]
mod tests {
    #[test]
    fn half_are_above_the_median() {
        assert_eq!(super::middle(&[0.1, 0.9, 0.8]), (0.8, 1));
        assert_eq!(super::middle(&[]), (0.0, 0));
    }
}
