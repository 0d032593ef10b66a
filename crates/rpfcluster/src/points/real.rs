//! The floating-point types of the rows, as types and as values.

use super::Points;

/// The floating-point precision of the data. A forest records it and routes new rows in the same precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Precision {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
}

/// A floating-point type the forest works in: `f32` or `f64`. Sealed.
pub trait Real:
    Copy
    + PartialOrd
    + Default
    + Send
    + Sync
    + std::fmt::Debug
    + std::ops::Add<Output = Self>
    + std::ops::Mul<Output = Self>
    + private::Sealed
    + 'static
{
    /// The precision of the type.
    const PRECISION: Precision;
    /// Rounds to the nearest value of the type.
    fn from_f64(value: f64) -> Self;
    /// Converts without rounding.
    fn to_f64(self) -> f64;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// NaN, which marks a gap.
    fn is_nan(self) -> bool;
    /// The points with their precision as a value instead of a type.
    #[doc(hidden)]
    fn any(points: Points<'_, Self>) -> AnyPoints<'_>;
}

/// Points of either precision. A function that takes them is compiled once, in this crate; one that takes `Points<R>`
/// is compiled again in every crate that calls it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum AnyPoints<'a> {
    /// 32 bits.
    F32(Points<'a, f32>),
    /// 64 bits.
    F64(Points<'a, f64>),
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Real for f32 {
    const PRECISION: Precision = Precision::F32;
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
    fn any(points: Points<'_, f32>) -> AnyPoints<'_> {
        AnyPoints::F32(points)
    }
}

impl Real for f64 {
    const PRECISION: Precision = Precision::F64;
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
    fn any(points: Points<'_, f64>) -> AnyPoints<'_> {
        AnyPoints::F64(points)
    }
}
