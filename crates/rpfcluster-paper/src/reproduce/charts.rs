//! The paper's bar charts: a group of bars per data set, a colour per method, the standard deviation as whiskers.
//!
//! [`chart`] returns the chart of one score; `rpfcluster_report` draws it. The colours are those of Okabe and Ito
//! (2008), distinguishable with any colour vision; the legend lists them in the order of the bars. In the chart of
//! rho_c a line over each group marks the majority baseline, the score of a single cluster.

use crate::compare::ComparedMethod;
use rpfcluster_report::figures::{Bar, BarChart, BarGroup};

use super::results::{DataSet, Results, SKEWED, Statistic};

/// The score of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Clustering accuracy.
    RhoC,
    /// Co-cluster accuracy.
    RhoR,
    /// Adjusted Rand index.
    Ari,
    /// Normalised mutual information.
    Nmi,
}

impl Metric {
    fn title(self) -> &'static str {
        match self {
            Metric::RhoC => "Accuracy (rho_c), percent",
            Metric::RhoR => "Rand index (rho_r), percent",
            Metric::Ari => "Adjusted Rand index",
            Metric::Nmi => "Normalised mutual information",
        }
    }

    fn of(self, set: &DataSet, method: ComparedMethod) -> Option<&Statistic> {
        let cell = set.cell(method, "paper")?;
        Some(match self {
            Metric::RhoC => &cell.rho_c,
            Metric::RhoR => &cell.rho_r,
            Metric::Ari => &cell.ari,
            Metric::Nmi => &cell.nmi,
        })
    }

    /// The label of the axis and its maximum.
    fn axis(self) -> (&'static str, f64) {
        match self {
            Metric::RhoC | Metric::RhoR => ("percent", 100.0),
            Metric::Ari | Metric::Nmi => ("from 0 (chance) to 1", 1.0),
        }
    }
}

/// The colour of each method.
fn colour(method: ComparedMethod) -> &'static str {
    match method {
        ComparedMethod::KMeans => "#999999",
        ComparedMethod::Njw => "#56b4e9",
        ComparedMethod::Cf => "#e69f00",
        ComparedMethod::NcutBest => "#0072b2",
        ComparedMethod::KwayBest => "#cc79a7",
        ComparedMethod::LabelFree => "#d55e00",
        ComparedMethod::Auto => "#009e73",
    }
}

/// The chart of one score, data prepared as in the paper.
///
/// ```
/// use rpfcluster_report::figures::bars;
/// use rpfcluster_paper::reproduce::{Metric, Results, chart};
/// let empty = r#"{"version": "0", "effort": "quick", "seeds": 1, "datasets": {}, "failed": {}, "not_public": {}}"#;
/// let results: Results = serde_json::from_str(empty)?;
/// assert!(bars(&chart(&results, Metric::RhoC)).contains("Accuracy (rho_c)"));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn chart(results: &Results, metric: Metric) -> BarChart {
    let skewed = metric == Metric::RhoC;
    let groups = results.in_order().into_iter().map(|(name, set)| BarGroup {
        name: format!("{}{}", set.title, if skewed && SKEWED.contains(&name) { "*" } else { "" }),
        bars: ComparedMethod::ALL
            .into_iter()
            .map(|method| metric.of(set, method).map(|s| Bar { value: s.mean, spread: s.sd }))
            .collect(),
        baseline: skewed.then_some(set.majority),
    });
    let (unit, most) = metric.axis();
    BarChart {
        title: metric.title().into(),
        axes: ("data set".into(), unit.into()),
        series: ComparedMethod::ALL.into_iter().map(|m| (m.title().to_string(), colour(m).to_string())).collect(),
        baseline: skewed.then(|| "one cluster for all (majority)".into()),
        groups: groups.collect(),
        most: Some(most),
        note: skewed.then(|| {
            "* skewed: one cluster for all scores high, so accuracy means little here; see the adjusted Rand index".into()
        }),
    }
}
