//! Robust standardisation: the median is subtracted from a column, and the interquartile range divides it (Huber and
//! Ronchetti, Robust Statistics, 2009, section 1.2). A few extreme values then do not shrink all others.
//!
//! The range is divided by that of a normal column of standard deviation 1, so that a normal column gets unit spread as by
//! the standard deviation. Where both quartiles are equal, as in a column that is mostly 0, the standard deviation divides.

use crate::table::Values;

/// The interquartile range of a normal column of standard deviation 1: twice the upper quartile of the normal
/// distribution.
const NORMAL_RANGE: f64 = 1.348_979_500_392_163_4;

/// Median and scale of a column of every `d`; `deviation` is its standard deviation. Missing values are left out.
pub(crate) fn median_and_scale(values: &Values, d: usize, column: usize, deviation: f64) -> (f64, f64) {
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
