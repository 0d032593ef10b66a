//! The extent of the training rows, by which predict tells rows that lie far outside: their leaves are those of the
//! nearest border, so the label is an extrapolation.

use super::Fitted;
use crate::error::{Error, Result};
use crate::points::{Points, Real};

/// Ranges beyond the training values of a column from which a row is far outside.
const FAR: f64 = 0.5;

/// The smallest and the largest value of each column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Extent(pub Vec<[f64; 2]>);

impl Extent {
    /// The extent of these rows.
    pub fn new<R: Real>(points: &Points<R>) -> Self {
        let mut extent = vec![[f64::INFINITY, f64::NEG_INFINITY]; points.d()];
        let mut stored = vec![0usize; points.d()];
        for row in 0..points.n() {
            points.each_value(row, |column, value| {
                let [low, high] = &mut extent[column];
                (*low, *high) = (low.min(value.to_f64()), high.max(value.to_f64()));
                stored[column] += 1;
            });
        }
        // Entries that a sparse row does not store are zero.
        for ([low, high], _) in extent.iter_mut().zip(&stored).filter(|(_, stored)| **stored < points.n()) {
            (*low, *high) = (low.min(0.0), high.max(0.0));
        }
        Extent(extent)
    }

    /// Whether a value lies far outside the values of its column.
    fn is_far(&self, column: usize, value: f64) -> bool {
        let [low, high] = self.0[column];
        let reach = FAR * (high - low);
        value < low - reach || value > high + reach
    }
}

impl Fitted {
    /// The rows, ascending, that lie far outside the training rows: in some column by more than half of the range of the
    /// training values. Their predicted labels are extrapolations. Empty for a model of a version that did not store
    /// the ranges.
    ///
    /// ```
    /// use rpfcluster::{Points, RpfCluster};
    /// let values: Vec<f64> = (0..100).map(|i| f64::from(i % 2) * 10.0 + f64::from(i) * 0.01).collect();
    /// let fitted = RpfCluster { k: 2, ..Default::default() }.fit(&Points::new(&values, 100, 1)?)?;
    /// assert_eq!(fitted.far_rows(&Points::new(&[0.5, 11.0, 40.0], 3, 1)?)?, [2]);
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn far_rows<R: Real>(&self, points: &Points<R>) -> Result<Vec<usize>> {
        let Some(extent) = &self.extent else { return Ok(Vec::new()) };
        if points.d() != extent.0.len() {
            return Err(Error::Columns { got: points.d(), expected: extent.0.len() });
        }
        // An entry that a sparse row does not store is zero.
        let far_zeros = (0..points.d()).filter(|&column| extent.is_far(column, 0.0)).count();
        let is_far = |row: &usize| {
            let (mut far, mut zeros) = (false, far_zeros);
            points.each_value(*row, |column, value| {
                far |= extent.is_far(column, value.to_f64());
                zeros -= usize::from(extent.is_far(column, 0.0));
            });
            far || zeros > 0
        };
        Ok((0..points.n()).filter(is_far).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_far_by_more_than_half_of_the_range() {
        let points = Points::new(&[0.0, 5.0, 10.0, 5.0], 2, 2).unwrap();
        let extent = Extent::new(&points);
        assert_eq!(extent.0, [[0.0, 10.0], [5.0, 5.0]]);
        assert!(!extent.is_far(0, 15.0) && extent.is_far(0, 15.1) && extent.is_far(0, -5.1));
        assert!(!extent.is_far(1, 5.0) && extent.is_far(1, 5.1));
        let sparse = Points::sparse(&[0, 1, 1], &[0], &[4.0], 2, 2).unwrap();
        assert_eq!(Extent::new(&sparse).0, [[0.0, 4.0], [0.0, 0.0]]);
    }
}
