//! The charts of `rpf plot --kind bars`: cluster sizes, or the scores that `rpf compare --json` printed.

use std::collections::BTreeMap;

use rpfcluster_paper::compare::ComparedMethod;
use rpfcluster_report::colour;
use rpfcluster_report::figures::{Bar, BarChart, BarGroup};
use serde::Deserialize;
use serde_json::Value;

use crate::args::ScoreArg;

/// Largest number of clusters in a chart; bars of more would be thinner than a line.
const SHOWN: usize = 200;

/// A chart of cluster sizes.
pub fn of_sizes(sizes: &[usize], title: String) -> BarChart {
    let shown = sizes.len().min(SHOWN);
    let groups = sizes.iter().take(SHOWN).enumerate().map(|(cluster, &size)| BarGroup {
        name: cluster.to_string(),
        bars: vec![Some(Bar { value: size as f64, spread: 0.0 })],
        baseline: None,
    });
    BarChart {
        title,
        axes: ("cluster".into(), "rows".into()),
        series: vec![("rows".into(), colour(0))],
        baseline: None,
        groups: groups.collect(),
        most: None,
        note: (shown < sizes.len()).then(|| format!("the first {shown} of {} clusters", sizes.len())),
    }
}

/// The part of the object of `rpf compare --json` that is drawn.
#[derive(Deserialize)]
pub struct Compared {
    majority: Option<f64>,
    methods: BTreeMap<String, Value>,
}

/// A chart of one score per method; a method that failed has no bar.
pub fn of_compared(compared: &Compared, score: ScoreArg, title: String) -> BarChart {
    let methods = ComparedMethod::ALL.into_iter().filter(|m| compared.methods.contains_key(m.name()));
    let percent = matches!(score, ScoreArg::RhoC | ScoreArg::RhoR);
    let baseline = compared.majority.filter(|_| score == ScoreArg::RhoC);
    let groups = methods.map(|method| {
        let value = compared.methods[method.name()]["scores"][score.key()].as_f64();
        BarGroup {
            name: method.title().into(),
            bars: vec![value.map(|value| Bar { value, spread: 0.0 })],
            baseline,
        }
    });
    BarChart {
        title,
        axes: ("method".into(), score.title().into()),
        series: vec![(score.title().into(), colour(0))],
        baseline: baseline.map(|_| "always the largest class".into()),
        groups: groups.collect(),
        most: Some(if percent { 100.0 } else { 1.0 }),
        note: None,
    }
}
