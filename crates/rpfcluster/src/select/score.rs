//! Selects a setting by prediction strength: the default, unless another family is reproduced far better.
//!
//! Prediction strength (Tibshirani and Walther, JCGS 14, 2005): a fit on one half of the rows predicts the other half, which
//! is also fitted itself; the adjusted Rand index of both labellings. No family can exceed the default by its margin where
//! the default itself is reproduced well enough; the others are then not fitted.

use crate::eigen::Method;
use crate::error::Result;
use crate::observe::{Observer, Stage, StageGuard, check};
use crate::params::{AffinityParams, Setting};
use crate::select::candidates::Family;

/// A setting that was compared.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Candidate {
    /// n_s.
    pub min_node: usize,
    /// The affinity with its numbers.
    pub affinity: AffinityParams,
    /// Adjusted Rand index between what one half of the rows predicts for the other and what the other finds itself;
    /// `None` where it was not measured: nothing could exceed the default, or halves of the rows cannot be fitted.
    pub strength: Option<f64>,
}

/// The selected setting and what it was compared with.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Choice {
    /// n_s.
    pub min_node: usize,
    /// The affinity with its numbers.
    pub affinity: AffinityParams,
    /// How eigenvectors become labels.
    pub method: Method,
    /// Rows that were split into halves, when not all.
    pub sample: Option<usize>,
    /// The default first, then the other families.
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// The selected setting.
    pub fn setting(&self) -> Setting {
        Setting { min_node: self.min_node, affinity: self.affinity, method: self.method }
    }

    /// The candidate that was selected.
    pub fn selected(&self) -> Option<&Candidate> {
        self.candidates.iter().find(|c| c.min_node == self.min_node && c.affinity == self.affinity)
    }
}

/// The prediction strength of the family at this place of the list; `None` where halves of the rows cannot be fitted.
pub(crate) type Strength<'f> = dyn FnMut(usize) -> Result<Option<f64>> + 'f;

/// Selects one of the families; the first is the default.
pub(crate) fn choose(
    families: &[Family],
    strength: &mut Strength,
    observer: &dyn Observer,
) -> Result<Option<Choice>> {
    let [default, others @ ..] = families else { return Ok(None) };
    let mut strengths = vec![None; families.len()];
    if !others.is_empty() {
        let stage = StageGuard::begin(observer, Stage::Tune, families.len() as u64);
        strengths[0] = strength(0)?;
        observer.advance(Stage::Tune, 1);
        for (at, family) in (1..).zip(others) {
            check(observer)?;
            // An index is at most 1.
            if strengths[0].is_some_and(|own| own + family.margin <= 1.0) {
                strengths[at] = strength(at)?;
            }
            observer.advance(Stage::Tune, 1);
        }
        drop(stage);
    }
    let mut best = (default.setting, strengths[0].unwrap_or(1.0));
    for (family, found) in others.iter().zip(&strengths[1..]) {
        let needed = strengths[0].unwrap_or(1.0) + family.margin;
        if let Some(found) = found.filter(|found| *found >= needed && *found > best.1) {
            best = (family.setting, found);
        }
    }
    let Setting { min_node, affinity, method } = best.0;
    let candidate = |(family, strength): (&Family, &Option<f64>)| Candidate {
        min_node: family.setting.min_node,
        affinity: family.setting.affinity,
        strength: *strength,
    };
    let candidates = families.iter().zip(&strengths).map(candidate).collect();
    Ok(Some(Choice { min_node, affinity, method, sample: None, candidates }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;
    use crate::params::RpfCluster;
    use crate::select::candidates::families;

    fn chosen(strengths: [f64; 3]) -> (usize, Vec<usize>) {
        let families = families(&RpfCluster::default(), 1000, 5, false);
        let mut asked = Vec::new();
        let mut strength = |at: usize| {
            asked.push(at);
            Ok(Some(strengths[at]))
        };
        let choice = choose(&families, &mut strength, &Silent).unwrap().unwrap();
        (families.iter().position(|family| family.setting == choice.setting()).unwrap(), asked)
    }

    #[test]
    fn default_is_kept_unless_another_family_exceeds_it_by_its_margin() {
        assert_eq!(chosen([0.5, 0.55, 0.7]).0, 0);
        assert_eq!(chosen([0.5, 0.65, 0.7]).0, 1);
        assert_eq!(chosen([0.5, 0.55, 0.9]).0, 2);
        assert_eq!(chosen([0.5, 0.95, 0.9]).0, 1);
    }

    #[test]
    fn families_that_cannot_exceed_the_default_are_not_fitted() {
        assert_eq!(chosen([0.95, 1.0, 1.0]), (0, vec![0]));
        assert_eq!(chosen([0.8, 1.0, 1.0]), (1, vec![0, 1]));
    }

    #[test]
    fn default_is_kept_where_halves_cannot_be_fitted() {
        let families = families(&RpfCluster::default(), 1000, 5, false);
        let choice = choose(&families, &mut |_| Ok(None), &Silent).unwrap().unwrap();
        assert_eq!(choice.setting(), families[0].setting);
        assert!(choice.candidates.iter().all(|c| c.strength.is_none()));
    }
}
