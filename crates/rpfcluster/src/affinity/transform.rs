//! The scalar functions from a fraction of trees to a weight, the paper's exponential and the power of `top-k`, each
//! tabulated over the T + 1 possible counts; and whether the diagonal is kept.

use crate::error::{Result, parameter};

/// Whether a point is similar to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Diagonal {
    /// S_ii = 1, as in the paper.
    #[default]
    Keep,
    /// S_ii is pruned like a pair below the threshold: at small bandwidths the diagonal would dominate every degree.
    Drop,
}

/// `exp((s - 1) / beta2)`: the paper's exp(s / beta2) divided by its largest value, which changes no normalised cut
/// and cannot overflow. Returns the constant of pruned pairs (s = 0) and, for each count, the excess over it.
pub(crate) fn exponential(beta2: f64, trees: usize) -> Result<(f64, Vec<f64>)> {
    if !(beta2.is_finite() && beta2 > 0.0) {
        return Err(parameter("beta2", beta2, "above 0"));
    }
    let constant = libm::exp(-1.0 / beta2);
    // exp((s-1)/b) - exp(-1/b) = exp(-1/b) (exp(s/b) - 1), without cancellation for small s/b.
    let table = (0..=trees)
        .map(|count| {
            let s = count as f64 / trees as f64;
            if s / beta2 < 1.0 {
                constant * libm::expm1(s / beta2)
            } else {
                libm::exp((s - 1.0) / beta2) - constant
            }
        })
        .collect();
    Ok((constant, table))
}

/// `s^power` for each count.
pub(crate) fn powers(power: f64, trees: usize) -> Result<Vec<f64>> {
    if !(power.is_finite() && power > 0.0 && power <= 1000.0) {
        return Err(parameter("power", power, "above 0 and at most 1000"));
    }
    Ok((0..=trees).map(|count| libm::pow(count as f64 / trees as f64, power)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_weights_keep_their_digits_at_any_bandwidth() {
        // Wide: exp(-1/b) (exp(s/b) - 1), whose difference from s / b is of the order of 1 / b².
        let (constant, table) = exponential(1e9, 4).unwrap();
        assert!((constant - (1.0 - 1e-9)).abs() < 1e-15);
        for (count, excess) in table.iter().enumerate() {
            let x = count as f64 / 4.0 * 1e-9;
            assert!((excess - x * (1.0 + x / 2.0) * constant).abs() <= 1e-14 * x, "{count}: {excess}");
        }
        // Medium: the definition, s at the bandwidth included.
        let (constant, table) = exponential(0.5, 4).unwrap();
        for (count, excess) in table.iter().enumerate() {
            let weight = ((count as f64 / 4.0 - 1.0) / 0.5).exp();
            assert!((constant + excess - weight).abs() < 1e-15, "{count}: {excess}");
        }
        // Narrow: exp(s / b) alone would overflow.
        let (constant, table) = exponential(1e-3, 4).unwrap();
        assert_eq!((constant, table[0], table[4]), (0.0, 0.0, 1.0));
        assert!((table[3] / (-250.0f64).exp() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn powers_are_of_the_fraction_of_trees() {
        assert_eq!(powers(2.0, 4).unwrap(), [0.0, 0.0625, 0.25, 0.5625, 1.0]);
        assert_eq!(powers(1000.0, 2).unwrap()[2], 1.0);
    }

    #[test]
    fn bandwidths_and_powers_out_of_range_are_refused() {
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(exponential(wrong, 4).unwrap_err().to_string().starts_with("beta2 is "), "{wrong}");
            assert!(powers(wrong, 4).unwrap_err().to_string().starts_with("power is "), "{wrong}");
        }
        assert!(powers(1000.5, 4).is_err());
    }
}
