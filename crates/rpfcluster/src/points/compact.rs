//! Rows of numbers of one or two bytes, which single precision holds exactly: embeddings in half precision, quantized
//! embeddings, images. They are widened as they are read, a row or less at a time, so that the table takes no more memory
//! than in its file. Every result equals that of the widened table, to the bit.

use std::ops::Range;

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::{Points, Real, Storage, check_shape, largest_magnitude};
use crate::error::{Error, Result};

/// Values that are widened together.
const BLOCK: usize = 64;

/// The values of a table, row by row, in one or two bytes each.
#[derive(Debug, Clone, Copy)]
pub enum CompactValues<'a> {
    /// Half precision (IEEE 754 binary16).
    F16(&'a [f16]),
    /// Integers from -128 to 127.
    I8(&'a [i8]),
    /// Integers from 0 to 255.
    U8(&'a [u8]),
}

/// Evaluates `$body` with `$values` bound to the slice.
macro_rules! with_slice {
    ($compact:expr, $values:ident => $body:expr) => {
        match $compact {
            CompactValues::F16($values) => $body,
            CompactValues::I8($values) => $body,
            CompactValues::U8($values) => $body,
        }
    };
}

impl<'a> CompactValues<'a> {
    /// Number of values.
    pub fn len(&self) -> usize {
        with_slice!(self, values => values.len())
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the values.
    pub(super) fn bytes(&self) -> usize {
        with_slice!(self, values => size_of_val(*values))
    }

    /// Number of values that are not zero.
    pub(super) fn count_nonzero(&self) -> usize {
        fn count<T: Default + PartialEq>(values: &[T]) -> usize {
            values.iter().filter(|value| **value != T::default()).count()
        }
        with_slice!(self, values => count(values))
    }

    /// The values of this range.
    pub(super) fn part(&self, range: Range<usize>) -> CompactValues<'a> {
        match self {
            CompactValues::F16(values) => CompactValues::F16(&values[range]),
            CompactValues::I8(values) => CompactValues::I8(&values[range]),
            CompactValues::U8(values) => CompactValues::U8(&values[range]),
        }
    }

    /// Writes the values from `from` on into `out`, a block at a time.
    pub(super) fn widen<R: Real>(&self, mut from: usize, out: &mut [R]) {
        fn each<T: Copy + Into<f32>>(values: &[T], out: &mut [f32]) {
            out.iter_mut().zip(values).for_each(|(to, value)| *to = (*value).into());
        }
        let mut block = [0.0; BLOCK];
        for out in out.chunks_mut(BLOCK) {
            let (range, block) = (from..from + out.len(), &mut block[..out.len()]);
            from = range.end;
            match self {
                CompactValues::F16(values) => values[range].convert_to_f32_slice(block),
                CompactValues::I8(values) => each(&values[range], block),
                CompactValues::U8(values) => each(&values[range], block),
            }
            out.iter_mut().zip(block).for_each(|(to, x)| *to = R::from_f64(f64::from(*x)));
        }
    }

    /// Calls `visit` with the number and the value of each column of the row that begins at `from`.
    pub(super) fn each_value<R: Real>(&self, from: usize, d: usize, mut visit: impl FnMut(usize, R)) {
        let mut block = [R::default(); BLOCK];
        for first in (0..d).step_by(BLOCK) {
            let block = &mut block[..BLOCK.min(d - first)];
            self.widen(from + first, block);
            block.iter().enumerate().for_each(|(at, value)| visit(first + at, *value));
        }
    }

    /// All values, widened.
    pub(crate) fn widened<R: Real>(&self) -> Vec<R> {
        let mut values = vec![R::default(); self.len()];
        self.widen(0, &mut values);
        values
    }

    /// Calls `work` with a copy of some rows of `d` values.
    pub(super) fn with_rows<T>(
        &self,
        rows: &[u32],
        d: usize,
        work: impl FnOnce(CompactValues<'_>) -> T,
    ) -> T {
        fn copied<T: Copy>(values: &[T], rows: &[u32], d: usize) -> Vec<T> {
            rows.iter().flat_map(|row| &values[*row as usize * d..][..d]).copied().collect()
        }
        match self {
            CompactValues::F16(values) => work(CompactValues::F16(&copied(values, rows, d))),
            CompactValues::I8(values) => work(CompactValues::I8(&copied(values, rows, d))),
            CompactValues::U8(values) => work(CompactValues::U8(&copied(values, rows, d))),
        }
    }
}

impl<'a, R: Real> Points<'a, R> {
    /// A dense row-major table of numbers of one or two bytes. Forests and clusters are those of the table widened to `R`.
    /// The rows are widened one by one where principal components replace the columns ([`Components`](crate::Components));
    /// a forest on the columns themselves grows on a widened copy.
    ///
    /// ```
    /// # use rpfcluster::{CompactValues, Points};
    /// let points = Points::<f32>::compact(CompactValues::U8(&[0, 1, 2, 3, 254, 255]), 3, 2)?;
    /// assert_eq!((points.n(), points.d()), (3, 2));
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn compact(values: CompactValues<'a>, n: usize, d: usize) -> Result<Self> {
        check_shape(n, d)?;
        if n.checked_mul(d) != Some(values.len()) {
            return Err(Error::Shape { len: values.len(), n, d });
        }
        let mut largest = 0.0f64;
        let mut block = [0.0f32; BLOCK];
        for first in (0..values.len()).step_by(BLOCK) {
            let block = &mut block[..BLOCK.min(values.len() - first)];
            values.widen(first, block);
            let of_block = largest_magnitude(block).map_err(|(at, value)| Error::NotFinite {
                row: (first + at) / d + 1,
                column: (first + at) % d + 1,
                value,
            })?;
            largest = largest.max(of_block);
        }
        Ok(Points { n, d, largest, storage: Storage::Compact(values), keys: &[] })
    }
}
