//! The input of a report: a clustering and what is known about its data. The command fills it from files, Python from
//! arrays; the report knows neither file formats nor array types.

use crate::clustering::Clustering;
use crate::model::SweepMap;

/// A clustering with everything the page can say about it.
pub struct Subject<'a> {
    /// The name of the data.
    pub source: String,
    /// The clustering.
    pub clustering: &'a Clustering,
    /// The confidence of each row, where the caller has it already; otherwise the report computes it.
    pub confidence: Option<&'a [f64]>,
    /// The columns of the data, where they are available.
    pub columns: Option<Columns<'a>>,
    /// Known classes.
    pub classes: Option<Classes<'a>>,
    /// The input row of each point, counted from 1; `None` when every input row was clustered.
    pub rows: Option<&'a [usize]>,
    /// Warnings and hints, one sentence each.
    pub warnings: Vec<String>,
    /// A sweep over beta1 and beta2, where one was run.
    pub sweep: Option<SweepMap>,
    /// Parameters, times and the like: name and value.
    pub facts: Vec<(String, String)>,
    /// How to repeat the run.
    pub again: Again,
}

/// How to repeat a run.
#[derive(Debug, Clone)]
pub struct Again {
    /// The beginning of a sentence: "This command reproduces".
    pub what: String,
    /// The command or the code.
    pub text: String,
}

/// The columns of the data.
pub struct Columns<'a> {
    /// Their names.
    pub names: &'a [String],
    /// Writes row `i`, as it was clustered, into a slice with one place per column.
    pub row: &'a (dyn Fn(usize, &mut [f64]) + Sync),
    /// How the columns were scaled before clustering; the page shows the values of the file.
    pub scaling: Option<ColumnScaling<'a>>,
}

/// Each column was clustered as (value - center) / scale.
#[derive(Clone, Copy)]
pub struct ColumnScaling<'a> {
    /// What was subtracted from each column.
    pub center: &'a [f64],
    /// What each column was divided by.
    pub scale: &'a [f64],
}

impl Columns<'_> {
    /// A value of column `j` in the units of the file.
    pub fn in_file(&self, j: usize, value: f64) -> f64 {
        match self.scaling {
            Some(ColumnScaling { center, scale }) => value * scale[j] + center[j],
            None => value,
        }
    }
}

/// Known classes of the points.
#[derive(Clone, Copy)]
pub struct Classes<'a> {
    /// The class of each point, by number.
    pub codes: &'a [u32],
    /// The names of the classes.
    pub names: &'a [String],
}

impl Subject<'_> {
    /// The input row, counted from 1, of point `i`.
    pub fn input_row(&self, i: usize) -> usize {
        self.rows.and_then(|rows| rows.get(i).copied()).unwrap_or(i + 1)
    }
}
