//! The Chebyshev filter of the block solver: its degree and the interval it damps (Saad, Numerical Methods for Large
//! Eigenvalue Problems, section 7.4; Zhou and Saad 2007).
//!
//! The Chebyshev polynomial of the damped interval is at most 1 in absolute value there and grows like cosh above it.

/// Largest degree of the filter, which bounds the products of one cycle.
const MAX_DEGREE: usize = 40;
/// The last wanted eigenvector is amplified by cosh of this over the damped interval.
const GAIN: f64 = 2.5;
/// Logarithm of the largest amplification of eigenvalue 1. Beyond it the other directions are lost in rounding.
const MAX_GAIN: f64 = 14.0;
/// Smallest distance of the cut from the last wanted value, as a share of the distance of that value from 1.
const CLEARANCE: f64 = 0.25;

/// A Chebyshev polynomial of degree `degree` that damps the interval `[floor, cut]`.
pub(super) struct ChebyshevFilter {
    pub degree: usize,
    pub floor: f64,
    pub cut: f64,
}

impl ChebyshevFilter {
    /// From the current Ritz values, of which the first `pairs` are wanted and the first `width` are reliable. `floor`
    /// is a lower bound of the spectrum, `reduction` the logarithm of the factor that the residuals have yet to fall
    /// by.
    ///
    /// The cut is the last reliable value, but keeps its distance from the last wanted one: when an eigenvalue is
    /// repeated beyond the block, a cut at that value would damp the wanted vectors as much as the rest. A cycle
    /// applies the filter twice; the degree is raised when the cycle can then be the last.
    pub fn new(values: &[f64], pairs: usize, width: usize, floor: f64, reduction: f64) -> Self {
        let last_wanted = values[pairs - 1];
        let last_reliable = values[width.min(values.len()) - 1];
        let spectrum = 1.0 - floor;
        let cut = last_reliable
            .min(last_wanted - CLEARANCE * (1.0 - last_wanted))
            .clamp(floor + 0.05 * spectrum, 1.0 - 1e-9 * spectrum);
        let growth = |value: f64| libm::acosh(1.0 + 2.0 * (value - cut).max(0.0) / (cut - floor));
        let gain = if (2.0 * GAIN..=4.0 * GAIN).contains(&reduction) { reduction / 2.0 } else { GAIN };
        let needed = gain / growth(last_wanted).max(1e-9);
        let allowed = MAX_GAIN / growth(1.0).max(1e-9);
        let degree = needed.min(allowed).min(MAX_DEGREE as f64).ceil().max(1.0) as usize;
        ChebyshevFilter { degree, floor, cut }
    }
}
