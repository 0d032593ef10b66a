//! An estimate of the remaining time of a run, updated after every unit.
//!
//! A unit is expected to take the mean of finished units of the same data set and experiment, in this run or an earlier
//! one. Before the first of these, its rough cost is scaled by the pace of that experiment so far, or of all.

use std::collections::BTreeMap;

use crate::compare::Experiment;

use super::Step;
use super::unit::Unit;

/// Measured seconds, expected costs and number of finished units.
#[derive(Debug, Clone, Copy, Default)]
struct Measured {
    seconds: f64,
    costs: f64,
    units: usize,
}

impl Measured {
    fn add(&mut self, seconds: f64, cost: f64) {
        self.seconds += seconds;
        self.costs += cost;
        self.units += 1;
    }
}

/// The times of finished units.
pub(super) struct Pace {
    planned: Vec<Unit>,
    done: usize,
    alike: BTreeMap<(String, Experiment), Measured>,
    experiments: BTreeMap<Experiment, Measured>,
    all: Measured,
}

impl Pace {
    /// Plans these units, to be run in this order.
    pub fn new(planned: Vec<Unit>) -> Self {
        Pace {
            planned,
            done: 0,
            alike: BTreeMap::new(),
            experiments: BTreeMap::new(),
            all: Measured::default(),
        }
    }

    /// The state of the run.
    pub fn step<'a>(&self, stage: &'a str) -> Step<'a> {
        let left = self.planned[self.done..].iter().map(|unit| self.expected(unit)).sum();
        Step {
            stage,
            done: self.done,
            total: self.planned.len(),
            seconds_left: (self.all.units > 0).then_some(left),
        }
    }

    /// Expected seconds of one unit.
    fn expected(&self, unit: &Unit) -> f64 {
        if let Some(alike) = self.alike.get(&(unit.dataset.clone(), unit.experiment)) {
            return alike.seconds / alike.units as f64;
        }
        let pace = self.experiments.get(&unit.experiment).unwrap_or(&self.all);
        if pace.costs > 0.0 { unit.cost * pace.seconds / pace.costs } else { unit.cost }
    }

    /// Marks the next unit as done; `seconds` is `None` when it could not be run.
    pub fn done(&mut self, seconds: Option<f64>) {
        let Some(unit) = self.planned.get(self.done) else { return };
        self.done += 1;
        if let Some(seconds) = seconds {
            let key = (unit.dataset.clone(), unit.experiment);
            self.alike.entry(key).or_default().add(seconds, unit.cost);
            self.experiments.entry(unit.experiment).or_default().add(seconds, unit.cost);
            self.all.add(seconds, unit.cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(dataset: &str, experiment: Experiment, cost: f64) -> Unit {
        Unit { dataset: dataset.into(), preparation: "raw", experiment, seed: 0, cost }
    }

    #[test]
    fn time_left_follows_units_of_the_same_set_and_experiment_then_the_pace_of_the_experiment() {
        let slow = Experiment::Algorithm3;
        let mut pace = Pace::new(vec![
            unit("a", Experiment::KMeans, 1.0),
            unit("a", slow, 10.0),
            unit("a", slow, 10.0),
            unit("b", slow, 30.0),
            unit("b", Experiment::Njw, 4.0),
        ]);
        assert_eq!(pace.step("").seconds_left, None);
        pace.done(Some(1.0));
        assert_eq!(pace.step("").seconds_left, Some(54.0));
        pace.done(Some(5.0));
        // The same unit took 5; the other set costs three times as much; NJW takes the pace of all, 6 seconds for 11.
        let left = pace.step("").seconds_left.unwrap_or_default();
        assert!((left - (5.0 + 15.0 + 4.0 * 6.0 / 11.0)).abs() < 1e-12, "{left}");
        // A failed unit does not count.
        pace.done(None);
        pace.done(None);
        pace.done(Some(2.0));
        assert_eq!((pace.step("").done, pace.step("").seconds_left), (5, Some(0.0)));
    }
}
