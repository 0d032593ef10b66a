//! The time a run takes: an estimate before it starts, and of what is left after every unit.
//!
//! `pace.json` holds the seconds of a [`probe`] on one machine, and of the units that were measured with it, by full and
//! quick run (`make reproduction` writes it). Before a run the probe is repeated, and all times are scaled by the ratio. A
//! unit that was not measured is estimated from its size. During the run, a unit is expected to take the mean of finished units of the
//! same data set and task; before the first of these, its estimate is scaled by the pace of that task so far, or of all.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use serde::Deserialize;

use crate::rivals::HartiganWong;
use crate::sweep::Sweep;
use rpfcluster::{Forest, ForestParams, Points, Silent};

use super::unit::{Task, Unit};
use super::{Plan, Result, Step};

/// Seconds of one run, by effort, data set and task.
#[derive(Debug, Default, Deserialize)]
struct Reference {
    /// Seconds of the probe on that machine.
    probe: f64,
    units: BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>,
}

fn measured() -> &'static Reference {
    static MEASURED: OnceLock<Reference> = OnceLock::new();
    // A test reads the file, so that it cannot be broken unnoticed.
    MEASURED.get_or_init(|| serde_json::from_str(include_str!("pace.json")).unwrap_or_default())
}

/// Measured seconds of a unit on the reference machine.
pub(super) fn reference(effort: &str, dataset: &str, task: Task) -> Option<f64> {
    measured().units.get(effort)?.get(dataset)?.get(task.name()).copied()
}

/// Seconds of a small fixed computation: a search of 18 bandwidths and K-means on Iris, at best of three.
pub(super) fn probe(threads: Option<usize>) -> Result<f64> {
    let (table, _) = rpfcluster_data::iris()?;
    let data = table.values.to_f64().into_owned();
    let (n, d) = (table.n, table.d());
    let once = || -> rpfcluster::Result<f64> {
        let clock = Instant::now();
        let forest = Forest::grow(&Points::new(&data, n, d)?, &ForestParams::default())?;
        Sweep { k: 3, ..Default::default() }.run(&Arc::new(forest.leaves()), None, &Silent)?;
        HartiganWong { k: 3, ..Default::default() }.fit(&data, d, &Silent)?;
        Ok(clock.elapsed().as_secs_f64())
    };
    let times: rpfcluster::Result<Vec<f64>> =
        rpfcluster::thread_pool::in_pool(threads, || (0..3).map(|_| once()).collect())?;
    Ok(times?.into_iter().fold(f64::INFINITY, f64::min))
}

/// Measured seconds, expected seconds and number of finished units.
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

/// The times of finished units and of those to come.
pub(super) struct Pace {
    /// Units to run, in this order.
    planned: Vec<Unit>,
    done: usize,
    alike: BTreeMap<(String, Task), Measured>,
    tasks: BTreeMap<Task, Measured>,
    all: Measured,
    /// Seconds here of a second of the reference machine.
    scale: f64,
}

impl Pace {
    /// Plans these units; `probe` are the seconds of the [`probe`] here.
    pub fn new(planned: Vec<Unit>, probe: f64) -> Self {
        let then = measured().probe;
        let scale = if then > 0.0 && probe > 0.0 { probe / then } else { 1.0 };
        Pace {
            planned,
            done: 0,
            alike: BTreeMap::new(),
            tasks: BTreeMap::new(),
            all: Measured::default(),
            scale,
        }
    }

    /// Counts a unit of an earlier run.
    pub fn known(&mut self, unit: &Unit, seconds: f64) {
        self.alike.entry((unit.dataset.clone(), unit.task)).or_default().add(seconds, unit.cost);
    }

    /// The plan before the first unit; `finished` units are there already.
    pub fn plan(&self, finished: usize) -> Plan {
        let mut sets: BTreeMap<&str, f64> = BTreeMap::new();
        for unit in &self.planned {
            *sets.entry(&unit.dataset).or_default() += self.expected(unit);
        }
        let mut sets: Vec<(String, f64)> = sets.into_iter().map(|(set, s)| (set.to_string(), s)).collect();
        sets.sort_by(|a, b| b.1.total_cmp(&a.1));
        let seconds = sets.iter().fold(0.0, |sum, (_, seconds)| sum + seconds);
        Plan { units: self.planned.len() + finished, finished, seconds, sets }
    }

    /// The state of the run.
    pub fn step<'a>(&self, stage: &'a str, finished: usize) -> Step<'a> {
        Step {
            stage,
            done: self.done + finished,
            total: self.planned.len() + finished,
            seconds_left: self.planned[self.done..].iter().fold(0.0, |sum, unit| sum + self.expected(unit)),
        }
    }

    /// Expected seconds of one unit.
    fn expected(&self, unit: &Unit) -> f64 {
        if let Some(alike) = self.alike.get(&(unit.dataset.clone(), unit.task)) {
            return alike.seconds / alike.units as f64;
        }
        let pace = self.tasks.get(&unit.task).unwrap_or(&self.all);
        unit.cost * if pace.costs > 0.0 { pace.seconds / pace.costs } else { self.scale }
    }

    /// Marks the next unit as done; `seconds` is `None` when it could not be run.
    pub fn done(&mut self, seconds: Option<f64>) {
        let Some(unit) = self.planned.get(self.done) else { return };
        self.done += 1;
        if let Some(seconds) = seconds {
            let key = (unit.dataset.clone(), unit.task);
            self.alike.entry(key).or_default().add(seconds, unit.cost);
            self.tasks.entry(unit.task).or_default().add(seconds, unit.cost);
            self.all.add(seconds, unit.cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Experiment;

    fn unit(dataset: &str, experiment: Experiment, cost: f64) -> Unit {
        Unit { dataset: dataset.into(), preparation: "raw", task: Task::Columns(experiment), seed: 0, cost }
    }

    #[test]
    fn time_left_follows_units_of_the_same_set_and_task_then_the_pace_of_the_task() {
        let slow = Experiment::Algorithm3;
        let planned = vec![
            unit("a", Experiment::KMeans, 1.0),
            unit("a", slow, 10.0),
            unit("a", slow, 10.0),
            unit("b", slow, 30.0),
            unit("b", Experiment::Njw, 4.0),
        ];
        let mut pace = Pace::new(planned, 2.0 * measured().probe);
        // A machine that takes twice as long for the probe.
        assert_eq!(pace.step("", 0).seconds_left, 110.0);
        let plan = pace.plan(3);
        assert_eq!((plan.units, plan.finished, plan.seconds), (8, 3, 110.0));
        assert_eq!(plan.sets, [("b".to_string(), 68.0), ("a".to_string(), 42.0)]);
        pace.done(Some(1.0));
        assert_eq!(pace.step("", 0).seconds_left, 54.0);
        pace.done(Some(5.0));
        // The same unit took 5; the other set costs three times as much; NJW takes the pace of all, 6 seconds for 11.
        let left = pace.step("", 0).seconds_left;
        assert!((left - (5.0 + 15.0 + 4.0 * 6.0 / 11.0)).abs() < 1e-12, "{left}");
        // A failed unit does not count.
        pace.done(None);
        pace.done(None);
        pace.done(Some(2.0));
        let step = pace.step("", 3);
        assert_eq!((step.done, step.total, step.seconds_left), (8, 8, 0.0));
    }

    #[test]
    fn units_of_an_earlier_run_are_the_best_estimate() {
        let kmeans = Experiment::KMeans;
        let mut pace = Pace::new(vec![unit("a", kmeans, 1.0)], measured().probe);
        pace.known(&unit("a", kmeans, 1.0), 7.0);
        assert_eq!(pace.plan(1).seconds, 7.0);
    }

    #[test]
    fn reference_times_name_known_sets_and_tasks() -> std::result::Result<(), serde_json::Error> {
        let read: Reference = serde_json::from_str(include_str!("pace.json"))?;
        assert!(read.probe > 0.0 && read.units.contains_key("full") && read.units.contains_key("quick"));
        let tasks: Vec<&str> =
            Experiment::ALL.iter().map(|e| e.name()).chain([Task::Variants.name()]).collect();
        for (set, times) in read.units.values().flatten() {
            assert!(rpfcluster_data::catalog::find(set).is_ok(), "{set}");
            assert!(times.iter().all(|(task, s)| tasks.contains(&task.as_str()) && *s >= 0.0), "{set}");
        }
        Ok(())
    }
}
