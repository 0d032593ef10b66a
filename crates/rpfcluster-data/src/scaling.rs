//! Scaling of columns: by mean and standard deviation, or robustly, by median and interquartile range (Huber and
//! Ronchetti, Robust Statistics, 2009, section 1.2), so that a few extreme values do not shrink all others. Missing values
//! are left out of both.
//!
//! The interquartile range is divided by that of a normal column of standard deviation 1, so that a normal column gets unit spread as by
//! the standard deviation. Where both quartiles are equal, as in a column that is mostly 0, the standard deviation divides.

use crate::table::Values;

/// The interquartile range of a normal column of standard deviation 1: twice the upper quartile of the normal
/// distribution.
const NORMAL_RANGE: f64 = 1.348_979_500_392_163_4;

/// Mean and population standard deviation of the values that every column has, in two passes (Chan, Golub and LeVeque,
/// Am. Stat. 37, 1983). For a constant column they are exactly its value and zero, free of rounding errors.
pub(crate) fn moments(values: &Values, d: usize) -> (Vec<f64>, Vec<f64>) {
    let rows = || (0..values.len()).step_by(d.max(1));
    let mut first: Vec<Option<f64>> = vec![None; d];
    let (mut means, mut squares, mut constant) = (vec![0.0; d], vec![0.0; d], vec![true; d]);
    let mut counts = vec![0usize; d];
    for start in rows() {
        for j in 0..d {
            let x = values.get(start + j);
            if !x.is_nan() {
                means[j] += x;
                counts[j] += 1;
                constant[j] &= x == *first[j].get_or_insert(x);
            }
        }
    }
    means.iter_mut().zip(&counts).for_each(|(m, count)| *m /= *count as f64);
    for start in rows() {
        for j in 0..d {
            let x = values.get(start + j) - means[j];
            if !x.is_nan() {
                squares[j] += x * x;
            }
        }
    }
    let mut sds: Vec<f64> = squares.iter().zip(counts).map(|(s, count)| (s / count as f64).sqrt()).collect();
    for j in (0..d).filter(|j| constant[*j]) {
        means[j] = first[j].unwrap_or(0.0);
        sds[j] = 0.0;
    }
    (means, sds)
}

/// Subtracts the centres and divides by the scales.
pub(crate) fn standardize(values: &mut Values, center: &[f64], scale: &[f64]) {
    let d = center.len();
    let columns: Vec<usize> = (0..d).filter(|j| center[*j] != 0.0 || scale[*j] != 1.0).collect();
    for start in (0..values.len()).step_by(d.max(1)) {
        for &j in &columns {
            values.set(start + j, (values.get(start + j) - center[j]) / scale[j]);
        }
    }
}

/// Standardises the given ones of `d` columns, numbered from 0, and returns the centres and scales of all.
pub(crate) fn standardize_columns(values: &mut Values, d: usize, columns: &[usize]) -> (Vec<f64>, Vec<f64>) {
    scale_columns(values, d, columns, false)
}

/// As [`standardize_columns`]; `robust` takes medians and quartiles.
pub(crate) fn scale_columns(
    values: &mut Values,
    d: usize,
    columns: &[usize],
    robust: bool,
) -> (Vec<f64>, Vec<f64>) {
    let (mut center, mut scale) = (vec![0.0; d], vec![1.0; d]);
    if !columns.is_empty() {
        let (means, sds) = moments(values, d);
        for &j in columns {
            let (middle, spread) =
                if robust { median_and_scale(values, d, j, sds[j]) } else { (means[j], sds[j]) };
            center[j] = middle;
            scale[j] = if spread == 0.0 { 1.0 } else { spread };
        }
        standardize(values, &center, &scale);
    }
    (center, scale)
}

/// Median and scale of a column of every `d`; `deviation` is its standard deviation. Missing values are left out.
fn median_and_scale(values: &Values, d: usize, column: usize, deviation: f64) -> (f64, f64) {
    let cells = (column..values.len()).step_by(d.max(1));
    let mut sorted: Vec<f64> = cells.map(|at| values.get(at)).filter(|x| !x.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let range = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
    (quantile(&sorted, 0.5), if range > 0.0 { range / NORMAL_RANGE } else { deviation })
}

/// The quantile of sorted values, linear between two of them: definition 7 of Hyndman and Fan (Am. Stat. 50, 1996), as in
/// NumPy.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    let below = at as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    // The difference of two values can exceed the largest number; then neither quartile is usable.
    low + (high - low) * (at - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!([0.25, 0.5, 0.75].map(|share| quantile(&sorted, share)), [1.75, 3.0, 5.0]);
        assert_eq!([0.0, 0.3, 1.0].map(|share| quantile(&[7.0], share)), [7.0; 3]);
    }

    #[test]
    fn extreme_value_does_not_change_the_scale_and_a_mostly_constant_column_has_its_deviation() {
        let column = |last: f64| Values::F64((0..100).map(f64::from).chain([last]).collect());
        assert_eq!(median_and_scale(&column(100.0), 1, 0, 9.0), (50.0, 50.0 / NORMAL_RANGE));
        assert_eq!(median_and_scale(&column(1e300), 1, 0, 9.0), (50.0, 50.0 / NORMAL_RANGE));
        let mut rare = vec![0.0f32; 20];
        rare.extend([1.0, f32::NAN]);
        assert_eq!(median_and_scale(&Values::F32(rare), 1, 0, 0.25), (0.0, 0.25));
    }
}
