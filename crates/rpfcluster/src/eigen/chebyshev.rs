//! How long the block solver's Chebyshev polynomial is, and which part of the spectrum it keeps small.

/// The highest degree of the filter.
const MAX_DEGREE: usize = 40;
/// The filter is as long as it takes to raise the last wanted direction by cosh of this over the cut …
const GAIN: f64 = 2.5;
/// … but may not raise eigenvalue 1 by more than about e to this: the smaller directions would drown in rounding.
const RANGE: f64 = 14.0;
/// The cut stays below the last wanted value by this share of that value's distance from 1.
const CLEARANCE: f64 = 0.25;

/// The Chebyshev polynomial of one cycle: its degree, and the interval it keeps small.
pub(super) struct Filter {
    pub degree: usize,
    pub floor: f64,
    pub cut: f64,
}

impl Filter {
    /// From the current Ritz values.
    ///
    /// The cut is the last value of the block, but never close to the last wanted one: when an eigenvalue is
    /// repeated beyond the block, a cut at that value would damp the wanted vectors as much as the rest.
    ///
    /// `ahead` is the logarithm of what the residuals have yet to fall by: the filter is longer when this cycle,
    /// which applies it twice, can then be the last.
    pub fn new(values: &[f64], pairs: usize, width: usize, (floor, ahead): (f64, f64)) -> Self {
        let last_wanted = values[pairs - 1];
        let natural = values[width.min(values.len()) - 1];
        let room = 1.0 - floor;
        let cut = natural
            .min(last_wanted - CLEARANCE * (1.0 - last_wanted))
            .clamp(floor + 0.05 * room, 1.0 - 1e-9 * room);
        let growth = |value: f64| (1.0 + 2.0 * (value - cut).max(0.0) / (cut - floor)).acosh();
        let gain = if (2.0 * GAIN..=4.0 * GAIN).contains(&ahead) { ahead / 2.0 } else { GAIN };
        let needed = gain / growth(last_wanted).max(1e-9);
        let allowed = RANGE / growth(1.0).max(1e-9);
        let degree = needed.min(allowed).min(MAX_DEGREE as f64).ceil().max(1.0) as usize;
        Filter { degree, floor, cut }
    }
}
