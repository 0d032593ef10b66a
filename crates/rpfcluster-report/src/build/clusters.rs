//! A description of each cluster: its medoid, the columns that distinguish it by the standardised mean difference from
//! all other rows, histograms of their values, and the values of the medoids as typical rows. Costs one pass over the
//! leaves, or the entries of a matrix, and two over the rows; histograms are counted on at most 20,000 rows.

use super::short_name;
use crate::clustering::Clustering;
use crate::model::{Mark, Spread, Typical};
use crate::subject::{Columns, Subject};

/// Columns in the table of medoids.
const SHOWN: usize = 10;
/// Bins of a histogram.
const BINS: usize = 24;
/// Rows a histogram is counted on; more would not change a picture of 116 pixels.
const COUNTED: usize = 20_000;

/// The medoid of each cluster (Kaufman and Rousseeuw 1990): the point with the largest sum of similarities to the
/// points of the cluster.
pub fn medoids(clustering: &Clustering) -> Vec<usize> {
    let (labels, k) = (clustering.labels(), clustering.k());
    let mut degree = vec![0.0; labels.len()];
    match clustering {
        Clustering::Rows(fitted) => {
            let leaves = fitted.leaves();
            let mut here = vec![0.0; k];
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
        Clustering::Matrix(matrix) => {
            for (i, degree) in degree.iter_mut().enumerate() {
                let own = matrix.row(i).filter(|(j, _)| labels[*j] == labels[i]);
                *degree += own.map(|(_, similarity)| similarity).sum::<f64>();
            }
        }
    }
    let mut best: Vec<Option<usize>> = vec![None; k];
    for (i, &label) in labels.iter().enumerate() {
        let slot = &mut best[label as usize];
        if slot.is_none_or(|b| degree[i] > degree[b]) {
            *slot = Some(i);
        }
    }
    best.into_iter().map(|b| b.unwrap_or(0)).collect()
}

/// For each cluster all columns that vary, the most distinguishing first.
pub fn marks(subject: &Subject<'_>) -> Vec<Vec<Mark>> {
    let (n, k) = (subject.clustering.n(), subject.clustering.k());
    let Some(columns) = &subject.columns else { return vec![Vec::new(); k] };
    let d = columns.names.len();
    let mut row = vec![0.0; d];
    let mut first = vec![0.0; d];
    (columns.row)(0, &mut first);
    let mut sums = vec![0.0; k * d];
    let mut total = vec![0.0; d];
    for (i, &label) in subject.clustering.labels().iter().enumerate() {
        (columns.row)(i, &mut row);
        let of_cluster = &mut sums[label as usize * d..][..d];
        for j in 0..d {
            // Differences from the first row: in sums of large values their small differences would be lost to
            // rounding.
            of_cluster[j] += row[j] - first[j];
            total[j] += row[j] - first[j];
        }
    }
    let mut squares = vec![0.0; d];
    for i in 0..n {
        (columns.row)(i, &mut row);
        for j in 0..d {
            let off = row[j] - first[j] - total[j] / n as f64;
            squares[j] += off * off;
        }
    }
    let sizes = subject.clustering.sizes();
    (0..k)
        .map(|c| {
            let mut marks: Vec<Mark> = (0..d)
                .filter(|&j| squares[j] > 0.0 && sizes[c] < n)
                .map(|j| {
                    let sd = (squares[j] / n as f64).sqrt();
                    let inside = sums[c * d + j] / sizes[c] as f64;
                    let outside = (total[j] - sums[c * d + j]) / (n - sizes[c]) as f64;
                    Mark {
                        column: j,
                        name: short_name(&columns.names[j]),
                        inside: columns.in_file(j, inside + first[j]),
                        outside: columns.in_file(j, outside + first[j]),
                        deviations: (inside - outside) / sd,
                        spread: None,
                    }
                })
                .collect();
            marks.sort_by(|a, b| b.deviations.abs().total_cmp(&a.deviations.abs()));
            marks
        })
        .collect()
}

/// All columns by their largest deviation over the clusters, the most distinguishing first.
pub fn distinguishing(subject: &Subject<'_>, marks: &[Vec<Mark>]) -> Vec<usize> {
    let d = subject.columns.as_ref().map_or(0, |c| c.names.len());
    let mut strength = vec![0.0f64; d];
    for mark in marks.iter().flatten() {
        let strongest = &mut strength[mark.column];
        *strongest = strongest.max(mark.deviations.abs());
    }
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| strength[b].total_cmp(&strength[a]));
    order
}

/// Adds histograms to the marks, counted on evenly spaced rows. Returns their number when they are not all.
pub fn spreads(subject: &Subject<'_>, marks: &mut [Vec<Mark>]) -> Option<usize> {
    let columns = subject.columns.as_ref()?;
    let n = subject.clustering.n();
    let step = n.div_ceil(COUNTED).max(1);
    let mut wanted: Vec<usize> = marks.iter().flatten().map(|m| m.column).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let rows: Vec<usize> = (0..n).step_by(step).collect();
    let values = gathered(columns, &rows, &wanted);
    let width = wanted.len();
    let labels = subject.clustering.labels();
    for (cluster, mark) in marks.iter_mut().enumerate().flat_map(|(c, m)| m.iter_mut().map(move |m| (c, m))) {
        let Ok(at) = wanted.binary_search(&mark.column) else { continue };
        let column = || values.iter().skip(at).step_by(width).copied();
        let range = middle_range(column().collect());
        let (mut inside, mut outside) = (vec![0.0; BINS], vec![0.0; BINS]);
        for (value, &i) in column().zip(&rows) {
            let share = (value - range.0) / (range.1 - range.0) * BINS as f64;
            let bin = (share.max(0.0) as usize).min(BINS - 1);
            let side = if labels[i] as usize == cluster { &mut inside } else { &mut outside };
            side[bin] += 1.0;
        }
        for side in [&mut inside, &mut outside] {
            let all = side.iter().sum::<f64>().max(1.0);
            side.iter_mut().for_each(|s| *s /= all);
        }
        mark.spread = Some(Spread { range, inside, outside });
    }
    (rows.len() < n).then_some(rows.len())
}

/// Some columns of some rows, in the units of the file.
fn gathered(columns: &Columns<'_>, rows: &[usize], wanted: &[usize]) -> Vec<f64> {
    let mut row = vec![0.0; columns.names.len()];
    let mut values = Vec::with_capacity(rows.len() * wanted.len());
    for &i in rows {
        (columns.row)(i, &mut row);
        values.extend(wanted.iter().map(|&j| columns.in_file(j, row[j])));
    }
    values
}

/// From the 1st to the 99th percentile, so that one outlier does not put all other values into one bin. Values beyond
/// are counted in the outermost bins.
fn middle_range(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    if values.is_empty() {
        return (0.0, 1.0);
    }
    let (low, high) = (at(0.01), at(0.99));
    let (low, high) = if high > low { (low, high) } else { (at(0.0), at(1.0)) };
    if high > low { (low, high) } else { (low - 0.5, low + 0.5) }
}

/// The values of the medoids in the most distinguishing columns.
pub fn typical(subject: &Subject<'_>, columns_by_strength: &[usize], medoids: &[usize]) -> Option<Typical> {
    let columns = subject.columns.as_ref()?;
    let shown = &columns_by_strength[..columns_by_strength.len().min(SHOWN)];
    let values = gathered(columns, medoids, shown);
    Some(Typical {
        columns: shown.iter().map(|&j| short_name(&columns.names[j])).collect(),
        values: values.chunks(shown.len().max(1)).map(<[f64]>::to_vec).collect(),
        left_out: columns.names.len() - shown.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::middle_range;

    #[test]
    fn an_outlier_does_not_widen_the_range() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values.push(1e9);
        let (low, high) = middle_range(values);
        assert!((low, high) == (10.0, 990.0), "{low} {high}");
        assert_eq!(middle_range(vec![2.0; 9]), (1.5, 2.5));
        let mut rare = vec![0.0; 1000];
        rare[5] = 3.0;
        assert_eq!(middle_range(rare), (0.0, 3.0));
        assert_eq!(middle_range(Vec::new()), (0.0, 1.0));
    }
}
