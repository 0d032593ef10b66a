//! Recursive bipartition by normalised cuts (Shi and Malik, PAMI 22(8), 2000; Algorithm 3 of the paper), and the Ncut
//! value of a partition.
//!
//! `Ncut(parts) = Σ cut(part, rest) / volume(part)`. A part is split by the sign of its second eigenvector; the part
//! whose split has the smallest Ncut value is split next, until there are K parts. A disconnected part is split between
//! its components, with Ncut value 0. Costs at most 2 K - 4 eigen-problems on parts beyond the embedding.

use crate::affinity::Affinity;
use crate::eigen::{Embedding, NormalizedAffinity, Solution, SpectralParams, StartVectors, largest};
use crate::error::{Error, Result, parameter};
use crate::kmeans::relabel_by_first_appearance;
use crate::observe::{Observer, Stage, StageGuard, check};

/// Indicator vectors multiplied at once: the widest register tile of a product.
const INDICATORS: usize = 16;
/// Entries below this share of the largest are rounding and count as zero, which belongs to the non-negative side.
const ROUNDING: f64 = 1e-12;

/// A part and its best bipartition.
struct CutPart {
    rows: Vec<u32>,
    split: Option<Bipartition>,
}

/// The side of each row, and the Ncut value.
struct Bipartition {
    side: Vec<bool>,
    ncut: f64,
}

/// Labels by recursive bipartition.
pub(super) fn label(
    affinity: &Affinity,
    embedding: &Embedding,
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let _stage = StageGuard::begin(observer, Stage::Label, params.k as u64 - 1);
    let mut own: Vec<Vec<u32>> = vec![Vec::new(); embedding.columns.len()];
    for (i, component) in embedding.component_of.iter().enumerate() {
        own[*component as usize].push(i as u32);
    }
    let enough = own.len() >= params.k;
    let mut parts = Vec::with_capacity(params.k);
    for rows in own {
        let split = match (enough, rows.len() == embedding.n() && embedding.k() >= 2) {
            (true, _) => None,
            (false, true) => {
                let (vectors, degrees) = (&embedding.vectors, &embedding.degrees);
                Some(by_sign(affinity, vectors, embedding.k(), degrees, observer)?)
            }
            (false, false) => split(affinity, embedding, &rows, params, observer)?,
        };
        parts.push(CutPart { rows, split });
    }
    while parts.len() < params.k {
        check(observer)?;
        let cheapest = parts
            .iter()
            .enumerate()
            .filter_map(|(at, part)| part.split.as_ref().map(|s| (s.ncut, at)))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((_, at)) = cheapest else {
            return Err(Error::TooManyClusters { k: params.k, distinct: parts.len() });
        };
        let Some(Bipartition { side, .. }) = parts[at].split.take() else { break };
        let whole = std::mem::take(&mut parts[at].rows);
        let last = parts.len() + 1 == params.k;
        let pick = |wanted: bool| -> Result<CutPart> {
            let rows = whole.iter().zip(&side).filter(|(_, s)| **s == wanted).map(|(r, _)| *r);
            let rows: Vec<u32> = rows.collect();
            // The parts of the last cut are not split further.
            let split = if last { None } else { split(affinity, embedding, &rows, params, observer)? };
            Ok(CutPart { rows, split })
        };
        parts[at] = pick(true)?;
        parts.push(pick(false)?);
        observer.advance(Stage::Label, 1);
    }
    let mut labels = vec![0; embedding.n()];
    for (number, part) in parts.iter().enumerate() {
        for row in &part.rows {
            labels[*row as usize] = number as u32;
        }
    }
    relabel_by_first_appearance(&mut labels);
    Ok(labels)
}

/// The best bipartition of these rows; `None` for a single row. The eigenvectors of the whole, restricted to these
/// rows, are the start vectors.
fn split(
    affinity: &Affinity,
    whole: &Embedding,
    rows: &[u32],
    params: &SpectralParams,
    observer: &dyn Observer,
) -> Result<Option<Bipartition>> {
    if rows.len() < 2 {
        return Ok(None);
    }
    let part = affinity.submatrix(rows, observer)?;
    if let Some(components) = part.components(observer)?
        && components.count() > 1
    {
        let two = components.merge_into_largest(2);
        return Ok(Some(Bipartition { side: two.of.iter().map(|c| *c == 0).collect(), ncut: 0.0 }));
    }
    let vectors: Vec<f64> = rows.iter().flat_map(|row| whole.row(*row as usize)).copied().collect();
    let start = StartVectors { vectors: &vectors, columns: whole.k() };
    let Solution { pairs, degrees, .. } = largest(&part, 2, params, Some(start), observer)?;
    Ok(Some(by_sign(&part, &pairs.vectors, 2, &degrees, observer)?))
}

/// The bipartition by the sign of the second of `k` eigenvectors.
fn by_sign(
    affinity: &Affinity,
    vectors: &[f64],
    k: usize,
    degrees: &[f64],
    observer: &dyn Observer,
) -> Result<Bipartition> {
    let vector = second_vector(vectors, k, degrees);
    let largest = vector.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let mut side: Vec<bool> = vector.iter().map(|v| *v >= -ROUNDING * largest).collect();
    if side.iter().all(|s| *s) || side.iter().all(|s| !*s) {
        side = at_largest_gap(&vector);
    }
    let indicator: Vec<f64> = side.iter().map(|s| f64::from(u8::from(*s))).collect();
    let mut product = vec![0.0; side.len()];
    affinity.apply(&indicator, &mut product, 1, observer)?;
    let mut cut = 0.0;
    let mut volume = [0.0; 2];
    for ((s, y), d) in side.iter().zip(&product).zip(degrees) {
        if !s {
            cut += y;
        }
        volume[usize::from(*s)] += d;
    }
    let ncut = volume.iter().map(|v| if *v > 0.0 { cut / v } else { 0.0 }).sum();
    Ok(Bipartition { side, ncut })
}

/// The second eigenvector, orthogonal to the known first one `D^1/2 1`. When both eigenvalues are 1 up to rounding, the
/// computed vectors are any rotation of the two; the one that differs more from the first is used.
fn second_vector(vectors: &[f64], k: usize, degrees: &[f64]) -> Vec<f64> {
    let total: f64 = degrees.iter().sum();
    let first: Vec<f64> =
        degrees.iter().map(|d| if total > 0.0 { (d / total).sqrt() } else { 0.0 }).collect();
    let without_first = |j: usize| {
        let column = || vectors.iter().skip(j).step_by(k);
        let share: f64 = column().zip(&first).map(|(v, f)| v * f).sum();
        let rest: Vec<f64> = column().zip(&first).map(|(v, f)| v - share * f).collect();
        let length: f64 = rest.iter().map(|v| v * v).sum();
        (rest, length)
    };
    let (second, other) = (without_first(1), without_first(0));
    if second.1 >= 0.5 * other.1 { second.0 } else { other.0 }
}

/// The rows above the largest gap of the sorted entries; without any gap, the first row alone.
fn at_largest_gap(vector: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..vector.len()).collect();
    order.sort_by(|a, b| vector[*b].total_cmp(&vector[*a]).then(a.cmp(b)));
    let mut best = (f64::NEG_INFINITY, 1);
    for at in 1..order.len() {
        let gap = vector[order[at - 1]] - vector[order[at]];
        if gap > best.0 {
            best = (gap, at);
        }
    }
    let mut side = vec![false; vector.len()];
    for row in &order[..best.1] {
        side[*row] = true;
    }
    side
}

/// The Ncut value of a partition: the sum over its `k` parts of cut(part, rest) / volume(part). Parts without volume
/// count 0.
pub fn ncut_value<'a>(
    affinity: impl Into<Affinity<'a>>,
    labels: &[u32],
    k: usize,
    observer: &dyn Observer,
) -> Result<f64> {
    let affinity = affinity.into();
    let n = affinity.n();
    if labels.len() != n {
        return Err(Error::Length { what: "labels", got: labels.len(), expected: n });
    }
    if let Some(row) = labels.iter().position(|l| *l as usize >= k) {
        return Err(parameter(
            "label",
            format!("{} in row {}", labels[row], row + 1),
            format!("below k, which is {k}"),
        ));
    }
    let degrees = NormalizedAffinity::new(&*affinity, observer)?.into_degrees();
    let mut total = 0.0;
    for first in (0..k).step_by(INDICATORS) {
        let width = INDICATORS.min(k - first);
        let mut indicator = vec![0.0; n * width];
        for (row, label) in indicator.chunks_exact_mut(width).zip(labels) {
            if let Some(v) = (*label as usize).checked_sub(first).and_then(|c| row.get_mut(c)) {
                *v = 1.0;
            }
        }
        let mut product = vec![0.0; n * width];
        affinity.apply(&indicator, &mut product, width, observer)?;
        let mut cut = vec![0.0; width];
        let mut volume = vec![0.0; width];
        for (i, (inside, y)) in indicator.chunks_exact(width).zip(product.chunks_exact(width)).enumerate() {
            for c in 0..width {
                if inside[c] > 0.0 {
                    volume[c] += degrees[i];
                } else {
                    cut[c] += y[c];
                }
            }
        }
        total += cut.iter().zip(&volume).map(|(c, v)| if *v > 0.0 { c / v } else { 0.0 }).sum::<f64>();
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::{SparseAffinity, Weights};
    use crate::observe::Silent;

    #[test]
    fn entries_of_one_sign_are_cut_at_their_largest_gap() {
        assert_eq!(at_largest_gap(&[0.1, 0.9, 0.12, 0.95]), [false, true, false, true]);
        assert_eq!(at_largest_gap(&[0.5, 0.5, 0.5]), [true, false, false], "without a gap the first row");
    }

    #[test]
    fn a_bipartition_has_the_value_of_its_cut() {
        // A path of five rows with weights 1, 2, 0.25 and 3.
        let (indptr, indices) = (vec![0, 1, 3, 5, 7, 8], vec![1, 0, 2, 1, 3, 2, 4, 3]);
        let weights = Weights::Values(vec![1.0, 1.0, 2.0, 2.0, 0.25, 0.25, 3.0, 3.0]);
        let graph = SparseAffinity::new(0.0, indptr, indices, weights).unwrap();
        let degrees: [f64; 5] = [1.0, 3.0, 2.25, 3.25, 3.0];
        let total: f64 = degrees.iter().sum();
        let second = [0.5, 0.4, 0.3, -0.5, -0.6];
        let vectors: Vec<f64> =
            degrees.iter().zip(second).flat_map(|(d, v)| [(d / total).sqrt(), v]).collect();
        let found = by_sign(&Affinity::from(&graph), &vectors, 2, &degrees, &Silent).unwrap();
        assert_eq!(found.side, [true, true, true, false, false]);
        let labels: Vec<u32> = found.side.iter().map(|side| u32::from(!side)).collect();
        assert_eq!(found.ncut, 0.25 / 6.25 + 0.25 / 6.25);
        assert_eq!(ncut_value(&graph, &labels, 2, &Silent).unwrap(), found.ncut);
        assert_eq!(ncut_value(&graph, &[0; 5], 2, &Silent).unwrap(), 0.0, "an empty part counts 0");
    }
}
