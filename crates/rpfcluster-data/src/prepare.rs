//! From a [`Frame`] to a [`Table`]: selects columns, refuses, drops, fills (mean imputation) or keeps missing cells, turns
//! categories into indicators and standardises columns (z-scores). The texts true and false are numbers in a feature; other
//! text ([`refusal`](crate::refusal)) and infinite numbers are errors. The fitted [`Preparation`] applies exactly the same steps to new rows.

use serde::{Deserialize, Serialize};

use crate::categories::{Category, Levels, column_keys, expanded, per_column, table_width};
use crate::column_match::{Matched, Selection, match_columns};
use crate::column_ref::{ColumnRef, resolve_all};
use crate::error::{DataError, Result, format};
use crate::frame::Frame;
use crate::memory::check_reading;
use crate::refusal::{empty_error, foreign_error, text_error};
use crate::scaling::{scale_columns, standardize};
use crate::table::{Labels, Table, Values};

/// Which columns are scaled, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Standardize {
    /// None; the paper standardises a few columns of two data sets only.
    #[default]
    None,
    /// All features get mean zero and standard deviation one.
    All,
    /// All features get median zero and the interquartile range of a normal column of standard deviation one.
    Robust,
    /// The given columns get mean zero and standard deviation one.
    Columns(Vec<ColumnRef>),
}

/// How missing cells are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Return an error that names the first one.
    #[default]
    Error,
    /// Drop the row.
    Drop,
    /// Replace by the mean of the column.
    Mean,
    /// Leave it to the trees, which route the row by its other columns.
    Native,
}

/// How a table of features is made from a frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prepare {
    /// The column of known classes, which is not a feature.
    pub label: Option<ColumnRef>,
    /// Columns that are not features.
    pub drop: Vec<ColumnRef>,
    /// How many of the last columns are not features: the labels of an earlier run ([`Frame::earlier_labels`]).
    pub drop_last: usize,
    /// The features, in this order; empty means all.
    pub columns: Vec<ColumnRef>,
    /// Features that hold categories: text, or numbers that are codes.
    pub categorical: Vec<ColumnRef>,
    /// Which features to standardise; categories have unit spread in any case.
    pub standardize: Standardize,
    /// How missing cells are handled.
    pub missing: Missing,
}

/// The result of [`Prepare::fit`]; part of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// Names of the features.
    pub columns: Vec<String>,
    /// Their positions in the file, from 0.
    pub positions: Vec<usize>,
    /// Whether the file names its columns. Those of a new file are matched by name if it has names too, else by
    /// position.
    pub named: bool,
    /// How missing cells are handled.
    pub missing: Missing,
    /// The mean of each numeric feature before standardising, which replaces missing cells; empty unless `missing` is `Mean`.
    pub fill: Vec<f64>,
    /// Subtracted from each column.
    pub center: Vec<f64>,
    /// Divides each centred column.
    pub scale: Vec<f64>,
    /// Number of columns of the file; `None` in models of earlier versions.
    #[serde(default)]
    pub width: Option<usize>,
    /// Names of the label and of other columns of the file that are not features; empty unless `named`.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// The mean of each column of the prepared table; empty unless `missing` is `Native`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<f64>,
    /// The categorical features, in the order of the columns. Their centre is 0 and their scale 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Category>,
}

impl Prepare {
    /// Prepares a table, and returns the preparation for later ones.
    pub fn fit(&self, mut frame: Frame) -> Result<(Table, Preparation)> {
        let label = self.label.as_ref().map(|l| l.resolve_one(&frame)).transpose()?;
        let dropped = resolve_all(&frame, &self.drop)?;
        let mut chosen = if self.columns.is_empty() {
            (0..frame.width()).collect()
        } else {
            resolve_all(&frame, &self.columns)?
        };
        let kept = frame.width().saturating_sub(self.drop_last);
        chosen.retain(|c| *c < kept && !dropped.contains(c) && Some(*c) != label);
        if chosen.is_empty() {
            return Err(format(&frame.source, "no column is left to cluster on"));
        }
        let scaled = match &self.standardize {
            Standardize::None => Vec::new(),
            Standardize::All | Standardize::Robust => chosen.clone(),
            Standardize::Columns(refs) => resolve_all(&frame, refs)?,
        };
        if let Some(column) = scaled.iter().find(|c| !chosen.contains(c)) {
            return Err(frame.column_error(*column, "is to be standardised, but is not among the features"));
        }
        let categorical = resolve_all(&frame, &self.categorical)?;
        if let Some(column) = categorical.iter().find(|c| !chosen.contains(c)) {
            return Err(frame.column_error(*column, "is to be categorical, but is not among the features"));
        }
        let d = chosen.len();
        let places: Vec<usize> = (0..d).filter(|j| categorical.contains(&chosen[*j])).collect();
        let mut taken = take(&mut frame, &chosen, &places, label, self.missing, None)?;
        if taken.n == 0 {
            return Err(no_row_left(&frame.source));
        }
        let numbers: Vec<usize> = (0..d).filter(|j| !places.contains(j)).collect();
        let of_numbers: Vec<usize> =
            (0..numbers.len()).filter(|j| scaled.contains(&chosen[numbers[*j]])).collect();
        let robust = self.standardize == Standardize::Robust;
        let (centers, scales) = scale_columns(&mut taken.values, numbers.len(), &of_numbers, robust);
        let (mut center, mut scale) = (vec![0.0; d], vec![1.0; d]);
        for (j, (c, s)) in numbers.iter().zip(centers.into_iter().zip(scales)) {
            (center[*j], scale[*j]) = (c, s);
        }
        if let Some(j) = (0..d).find(|j| !(center[*j].is_finite() && scale[*j].is_finite())) {
            return Err(frame.column_error(chosen[j], "holds numbers too large to standardise"));
        }
        let fitted =
            places.iter().zip(&taken.levels).map(|(&j, levels)| Category::fit(&frame, chosen[j], j, levels));
        let categories = fitted.collect::<Result<Vec<Category>>>()?;
        taken.expand(&frame.source, d, &categories, self.missing)?;
        let means = match self.missing {
            Missing::Native => taken.values.means(&frame.source, table_width(d, &categories))?,
            _ => Vec::new(),
        };
        let mut left_out = if frame.has_header { frame.names.clone() } else { Vec::new() };
        let mut is_feature = vec![false; frame.width()];
        chosen.iter().for_each(|c| is_feature[*c] = true);
        let mut features = is_feature.into_iter();
        left_out.retain(|_| features.next() == Some(false));
        let preparation = Preparation {
            columns: chosen.iter().map(|c| frame.names[*c].clone()).collect(),
            left_out,
            width: Some(frame.width()),
            positions: chosen,
            named: frame.has_header,
            missing: self.missing,
            fill: taken.fill.clone(),
            center,
            scale,
            means,
            categories,
        };
        Ok((taken.table(&frame, &preparation), preparation))
    }
}

impl Preparation {
    /// Prepares new rows in the same way. Columns are found by name where both files have names, in any order;
    /// otherwise by position, and then their number must be that of the features or, where neither file has names, that
    /// of the fitted file. Also returns the names of columns that are ignored, except those that `selection` leaves out
    /// and those that the fitted file had under the same name.
    pub fn apply(&self, frame: Frame, selection: &Selection) -> Result<(Table, Vec<String>)> {
        let (table, unknown) = self.apply_to_batch(frame, selection)?;
        if table.n == 0 { Err(no_row_left(&table.source)) } else { Ok((table, unknown)) }
    }

    /// As [`apply`](Self::apply), for a batch, all rows of which may be left out for missing values.
    pub fn apply_to_batch(&self, mut frame: Frame, selection: &Selection) -> Result<(Table, Vec<String>)> {
        let Matched { label, features, unknown } = match_columns(self, &frame, selection)?;
        let unknown = unknown.into_iter().map(|c| frame.names[c].clone()).collect();
        let places: Vec<usize> = self.categories.iter().map(|category| category.column).collect();
        let mut taken = take(&mut frame, &features, &places, label, self.missing, Some(self))?;
        let numeric = |all: &[f64]| -> Vec<f64> {
            let kept = all.iter().enumerate().filter(|(j, _)| !places.contains(j));
            kept.map(|(_, value)| *value).collect()
        };
        standardize(&mut taken.values, &numeric(&self.center), &numeric(&self.scale));
        taken.expand(&frame.source, features.len(), &self.categories, self.missing)?;
        Ok((taken.table(&frame, self), unknown))
    }

    /// The columns of a prepared table: a categorical column has one for each level, such as `color=red`.
    pub fn table_columns(&self) -> Vec<String> {
        let level = |category: &Category, at: usize| {
            format!("{}={}", self.columns[category.column], category.levels[at])
        };
        per_column(self.columns.len(), &self.categories, |j| self.columns[j].clone(), level)
    }

    /// The centre and the scale of each column of a prepared table.
    pub fn table_scaling(&self) -> (Vec<f64>, Vec<f64>) {
        let of = |numbers: &[f64], level: fn(&Category) -> f64| {
            per_column(numbers.len(), &self.categories, |j| numbers[j], |category, _| level(category))
        };
        (of(&self.center, |_| 0.0), of(&self.scale, |category| category.spread))
    }

    /// The mean of each indicator over the fitted rows; 0 for numbers, which have no gaps.
    fn level_means(&self) -> Vec<f64> {
        per_column(self.columns.len(), &self.categories, |_| 0.0, Category::mean)
    }

    /// Whether the numbers of a model fit each other.
    pub fn is_consistent(&self) -> bool {
        let d = self.columns.len();
        let ascending = self.categories.windows(2).all(|pair| pair[0].column < pair[1].column);
        let places = self.categories.iter().all(|category| category.column < d && category.is_valid());
        let native = (self.missing == Missing::Native).then(|| self.table_columns().len());
        d > 0
            && [self.positions.len(), self.center.len(), self.scale.len()] == [d; 3]
            && ascending
            && places
            && self.means.len() == native.unwrap_or(0)
            && self.means.iter().all(|mean| mean.is_finite())
    }
}

/// The chosen columns; missing cells are left only where they are native.
struct Taken {
    n: usize,
    values: Values,
    labels: Option<Labels>,
    rows: Option<Vec<usize>>,
    fill: Vec<f64>,
    /// The levels of the categorical features.
    levels: Vec<Levels>,
}

impl Taken {
    /// Adds the indicators of the categories to the numbers.
    fn expand(&mut self, source: &str, d: usize, categories: &[Category], missing: Missing) -> Result<()> {
        if !categories.is_empty() {
            let levels: usize = categories.iter().map(|category| category.levels.len()).sum();
            // The numbers twice: as they are made, and in the precision of the table.
            check_reading(source, 16 * self.n as u64 * (d + levels) as u64, None)?;
            let levels = std::mem::take(&mut self.levels);
            let categories: Vec<_> = categories.iter().zip(levels).collect();
            self.values = expanded(&self.values, self.n, d, &categories, missing == Missing::Native);
        }
        Ok(())
    }

    /// Whether a row has a level that was not fitted.
    fn has_unknown_levels(&self, preparation: &Preparation) -> bool {
        !preparation.categories.is_empty() && (0..self.values.len()).any(|at| self.values.get(at).is_nan())
    }

    fn table(self, frame: &Frame, preparation: &Preparation) -> Table {
        let means = match preparation.missing {
            Missing::Native => Some(preparation.means.clone()),
            _ => self.has_unknown_levels(preparation).then(|| preparation.level_means()),
        };
        Table {
            source: frame.source.clone(),
            columns: preparation.table_columns(),
            keys: column_keys(preparation.columns.len(), &preparation.categories),
            means: means.map(|means| self.values.in_same_precision(means)),
            has_header: frame.has_header,
            before: frame.before,
            n: self.n,
            values: self.values,
            labels: self.labels,
            rows: self.rows,
            dialect: frame.dialect,
        }
    }
}

/// Moves the chosen columns out of the frame and removes missing cells as `missing` asks: the first one is an error,
/// their rows are dropped, or they get the mean of their column, for new rows that of the `fitted` table. Rows without a label are dropped or
/// refused. The features at `categorical` places are not numbers.
fn take(
    frame: &mut Frame,
    features: &[usize],
    categorical: &[usize],
    label: Option<usize>,
    missing: Missing,
    fitted: Option<&Preparation>,
) -> Result<Taken> {
    let chosen: Vec<usize> =
        (0..features.len()).filter(|j| !categorical.contains(j)).map(|j| features[j]).collect();
    let chosen = &chosen[..];
    let remedy = match fitted {
        Some(_) => "fit the model without it",
        None => "name it in --drop instead of --categorical",
    };
    let of_category = categorical.iter().find_map(|j| foreign_error(frame, features[*j], remedy));
    let of_label = || label.and_then(|column| foreign_error(frame, column, "leave out --label"));
    if let Some(error) = of_category.or_else(of_label) {
        return Err(error);
    }
    chosen.iter().for_each(|column| frame.read_booleans(*column));
    if let Some(error) = text_error(frame, chosen, categorical.len(), fitted.is_some()) {
        return Err(error);
    }
    if fitted.is_none()
        && let Some(error) = empty_error(frame, features)
    {
        return Err(error);
    }
    let n = frame.n;
    let d = chosen.len();
    let mut keep = vec![true; n];
    let mut levels: Vec<Levels> = categorical.iter().map(|j| Levels::read(frame, features[*j])).collect();
    for (levels, j) in levels.iter().zip(categorical) {
        match (missing, levels.gaps().next()) {
            (Missing::Error, Some(row)) => {
                return Err(frame.cell_error(row, features[*j], missing_value(fitted.is_some())));
            }
            (Missing::Drop, Some(_)) => levels.gaps().for_each(|row| keep[row] = false),
            _ => {}
        }
    }
    let mut labels = None;
    if let Some(column) = label {
        let (found, gaps) = frame.labels(column);
        if let (Some(&row), true) = (gaps.first(), missing != Missing::Drop) {
            let problem = match fitted {
                Some(_) => "the label is missing; leave out --label or such rows",
                None => "the label is missing; drop such rows with --missing drop",
            };
            return Err(frame.cell_error(row, column, problem));
        }
        gaps.into_iter().for_each(|row| keep[row] = false);
        labels = Some(found);
    }
    let width = frame.width();
    let all = std::mem::replace(&mut frame.values, Values::F64(Vec::new()));
    let mut values = all.choose_columns(width, chosen);
    if missing == Missing::Native {
        values.widen();
    }
    let mut holes = Vec::new();
    for i in 0..n * d {
        let x = values.get(i);
        if x.is_finite() {
            continue;
        }
        let (row, column) = (i / d, i % d);
        if x.is_infinite() {
            return Err(frame.cell_error(row, chosen[column], format!("{x} is not a finite number")));
        }
        match missing {
            Missing::Error => {
                return Err(frame.cell_error(row, chosen[column], missing_value(fitted.is_some())));
            }
            Missing::Drop => keep[row] = false,
            Missing::Mean => holes.push(i),
            Missing::Native => {}
        }
    }
    let fill = match (missing, fitted) {
        (Missing::Mean, Some(fitted)) => fitted.fill.clone(),
        (Missing::Mean, None) => means_of_present(&values, d),
        _ => Vec::new(),
    };
    for i in holes {
        let x = fill.get(i % d).copied().unwrap_or(f64::NAN);
        if !x.is_finite() {
            return Err(
                frame.column_error(chosen[i % d], "has no value to take the mean of; drop it with --drop")
            );
        }
        values.set(i, x);
    }
    let kept = keep.iter().filter(|k| **k).count();
    if kept == n {
        return Ok(Taken { n, values, labels, rows: None, fill, levels });
    }
    values.keep_rows(d, &keep);
    let rows: Vec<usize> = (0..n).filter(|i| keep[*i]).collect();
    // Codes follow first appearance, which changes with the rows.
    let labels = labels.map(|l| Labels::from_names(rows.iter().map(|i| l.name(*i))));
    levels.iter_mut().for_each(|levels| levels.keep(&rows));
    let rows: Vec<usize> = rows.into_iter().map(|i| frame.before + i + 1).collect();
    Ok(Taken { n: kept, values, labels, rows: Some(rows), fill, levels })
}

/// The error of a table whose rows are all left out for missing values.
pub(crate) fn no_row_left(source: &str) -> DataError {
    format(source, "every row has a missing value; no row is left")
}

/// What to do about a missing value.
fn missing_value(is_fitted: bool) -> &'static str {
    match is_fitted {
        true => "the value is missing; leave out such rows, or fit the model with --missing native",
        false => {
            "the value is missing; route such rows by their other columns with --missing native, drop them with --missing \
             drop or use the column's mean with --missing mean"
        }
    }
}

fn means_of_present(values: &Values, d: usize) -> Vec<f64> {
    let (mut sums, mut counts) = (vec![0.0; d], vec![0usize; d]);
    for i in 0..values.len() {
        let x = values.get(i);
        if !x.is_nan() {
            sums[i % d] += x;
            counts[i % d] += 1;
        }
    }
    sums.iter().zip(counts).map(|(s, c)| s / c as f64).collect()
}
