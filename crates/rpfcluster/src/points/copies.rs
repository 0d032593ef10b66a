//! Copies of points: of some rows, in another precision, or scaled to unit length.

use super::{Points, Real, Storage};
use crate::error::Result;

impl<R: Real> Points<'_, R> {
    /// Calls `work` with a copy of some rows. Sparse rows stay sparse.
    pub(crate) fn with_rows<T>(&self, rows: &[u32], work: impl FnOnce(&Points<R>) -> T) -> Result<T> {
        let mut copied = Vec::new();
        match self.storage {
            Storage::Dense(values) | Storage::Gaps { values, .. } => {
                for &row in rows {
                    copied.extend_from_slice(&values[row as usize * self.d..][..self.d]);
                }
                let points = match self.storage {
                    Storage::Gaps { means, .. } => Points::with_gaps(&copied, rows.len(), self.d, means)?,
                    _ => Points::new(&copied, rows.len(), self.d)?,
                };
                Ok(work(&Points { keys: self.keys, ..points }))
            }
            Storage::Compact(values) => values.with_rows(rows, self.d, |values| {
                let points = Points::compact(values, rows.len(), self.d)?;
                Ok(work(&Points { keys: self.keys, ..points }))
            }),
            Storage::Sparse { starts, columns, values } => {
                let (mut firsts, mut places) = (vec![0], Vec::new());
                for &row in rows {
                    let range = starts[row as usize]..starts[row as usize + 1];
                    places.extend_from_slice(&columns[range.clone()]);
                    copied.extend_from_slice(&values[range]);
                    firsts.push(places.len());
                }
                let points = Points::sparse(&firsts, &places, &copied, rows.len(), self.d)?;
                Ok(work(&Points { keys: self.keys, ..points }))
            }
        }
    }

    /// Calls `work` with the rows converted to precision `W`. Sparse rows stay sparse. Rounding to f32 can overflow, so
    /// the values are checked again.
    pub(crate) fn in_width<W: Real, T>(&self, work: impl FnOnce(&Points<W>) -> T) -> Result<T> {
        let values = match self.storage {
            Storage::Dense(values) | Storage::Gaps { values, .. } | Storage::Sparse { values, .. } => values,
            Storage::Compact(values) => {
                let points = Points::compact(values, self.n, self.d)?;
                return Ok(work(&Points { keys: self.keys, ..points }));
            }
        };
        let convert = |values: &[R]| -> Vec<W> { values.iter().map(|v| W::from_f64(v.to_f64())).collect() };
        let values = convert(values);
        let converted;
        let points = match self.storage {
            Storage::Dense(_) | Storage::Compact(_) => Points::new(&values, self.n, self.d)?,
            Storage::Gaps { means, .. } => {
                converted = convert(means);
                Points::with_gaps(&values, self.n, self.d, &converted)?
            }
            Storage::Sparse { starts, columns, .. } => {
                Points::sparse(starts, columns, &values, self.n, self.d)?
            }
        };
        Ok(work(&Points { keys: self.keys, ..points }))
    }

    /// Calls `work` with the rows scaled to unit length. Sparse rows stay sparse; gaps become the means of their columns.
    pub(crate) fn with_unit_rows<T>(&self, work: impl FnOnce(&Points<R>) -> T) -> Result<T> {
        match self.storage {
            Storage::Dense(_) | Storage::Gaps { .. } | Storage::Compact(_) => {
                let mut values = Vec::with_capacity(self.n * self.d);
                (0..self.n).for_each(|row| self.each_value(row, |_, value| values.push(value)));
                values.chunks_exact_mut(self.d).for_each(scale_to_unit_length);
                let points = Points::new(&values, self.n, self.d)?;
                Ok(work(&Points { keys: self.keys, ..points }))
            }
            Storage::Sparse { starts, columns, values } => {
                // A part of a table has starts of its own.
                let (first, last) = (starts[0], starts[self.n]);
                let mut values = values[first..last].to_vec();
                let starts: Vec<usize> = starts.iter().map(|start| start - first).collect();
                starts.windows(2).for_each(|row| scale_to_unit_length(&mut values[row[0]..row[1]]));
                let points = Points::sparse(&starts, &columns[first..last], &values, self.n, self.d)?;
                Ok(work(&Points { keys: self.keys, ..points }))
            }
        }
    }
}

/// Divides the values by their Euclidean length; zeros stay zeros.
pub(crate) fn scale_to_unit_length<R: Real>(values: &mut [R]) {
    let largest = values.iter().map(|v| v.to_f64().abs()).fold(0.0, f64::max);
    if largest > 0.0 {
        // Relative to the largest, no square overflows or vanishes.
        let length = values.iter().map(|v| v.to_f64() / largest).map(|v| v * v).sum::<f64>().sqrt();
        values.iter_mut().for_each(|v| *v = R::from_f64(v.to_f64() / largest / length));
    }
}
