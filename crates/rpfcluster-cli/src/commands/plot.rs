//! `rpf plot`: draws figures for papers from a model, a similarity matrix or the output of another command, and writes
//! them as .svg, .png or .pdf. Large inputs are drawn by evenly spaced rows.

use std::io::Write;
use std::path::Path;

use rpfcluster::{Fitted, Silent};
use rpfcluster_data::{Labels, check_reading, read_labels, read_similarity};
use rpfcluster_paper::reproduce::{Illustrations, Results};
use rpfcluster_report::Ink;
use rpfcluster_report::figures::{self, Cloud, Group, Panel};
use rpfcluster_report::files::{self, FigureFormat};
use rpfcluster_report::model::Spectrum;
use serde_json::Value;

use crate::args::{KindArg, PlotArgs, ScoreArg};
use crate::charts::{bars, sweep_map};
use crate::exit::{Failure, Result};
use crate::files::labels::classes_of;
use crate::files::model;
use crate::files::model::Meta;
use crate::output_paths;
use crate::session::Session;
use crate::transaction::Transaction;

/// Largest number of rows of a heat map; more are finer than print.
const ROWS: usize = 1200;
/// Largest number of points of a scatter plot.
const POINTS: usize = 5000;
/// Eigenvalues computed beyond those used.
const BEYOND: usize = 6;
/// Rows up to which these further eigenvalues are computed.
const WIDER_BELOW: usize = 100_000;

/// Bytes held for a byte of JSON: numbers of one digit take 32 bytes, in a vector that doubles.
const JSON: u64 = 32;

/// The content of an input file.
enum Input {
    /// A clustering.
    Model(Box<Fitted>, Option<Meta>),
    /// The JSON object of another command, with its name.
    Printed(String, Value),
    /// The results of `rpf reproduce`.
    Results(Box<Results>),
    /// A similarity matrix, n x n.
    Matrix(usize, Vec<f64>),
}

/// Reads, draws, writes.
pub fn run(args: &PlotArgs) -> Result {
    let session = Session::new(&args.run);
    let ending = args.output.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let format = FigureFormat::of_ending(ending).ok_or_else(|| {
        Failure::usage(format!("--output {} must end in .svg, .png or .pdf", args.output.display()))
    })?;
    let width = match args.width.unwrap_or(1600) {
        width if (1..=files::WIDEST as usize).contains(&width) => width as u32,
        width => {
            let widest = files::WIDEST;
            return Err(Failure::usage(format!("--width is {width}, but must be from 1 to {widest}")));
        }
    };
    if args.inputs.len() > 1 && args.kind != KindArg::Heatmap {
        return Err(Failure::usage(format!(
            "--kind {} draws one file, but {} are given; only heat maps are drawn side by side",
            args.kind.name(),
            args.inputs.len()
        )));
    }
    let mut inputs: Vec<(&str, Option<&Path>)> =
        args.inputs.iter().map(|input| ("MODEL|RESULT", Some(input.as_path()))).collect();
    inputs.extend([("--truth", args.truth.as_deref()), ("--config", args.run.config.as_deref())]);
    output_paths::check(&inputs, &[(output_paths::OUTPUT, Some(&args.output))])?;
    session.on_threads(|| {
        let svg = drawn(&session, args)?;
        let bytes = files::file(&svg, format, width)?;
        let mut transaction = Transaction::default();
        transaction.file(&args.output, |out| out.write_all(&bytes))?;
        transaction.commit()?;
        session.note(&format!("wrote {}", args.output.display()));
        Ok(())
    })
}

fn drawn(session: &Session, args: &PlotArgs) -> Result<String> {
    let path = &args.inputs[0];
    let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let title = args.title.clone().unwrap_or(name);
    if args.kind == KindArg::Heatmap {
        return heatmap(session, args, &title);
    }
    let unfit = |what: &str, needs: &str| {
        Failure::data(format!(
            "{}: contains {what}, but --kind {} needs {needs}",
            path.display(),
            args.kind.name()
        ))
    };
    match (args.kind, read(session, path)?) {
        (KindArg::Embedding, Input::Model(fitted, meta)) => {
            embedding(session, args, &fitted, meta.as_ref(), &title)
        }
        (KindArg::Embedding, other) => {
            Err(unfit(other.name(), "a model of rpf cluster --model, which contains the eigenvectors"))
        }
        (KindArg::Eigen, Input::Model(fitted, _)) => {
            Ok(figures::eigen(&spectrum(session, &fitted)?, Ink::PAPER, Some(&title)))
        }
        (KindArg::Eigen, Input::Printed(command, object))
            if ["cluster", "embed"].contains(&command.as_str()) =>
        {
            let values: Vec<f64> = parsed(path, &object["eigenvalues"])?;
            Ok(figures::eigen(&Spectrum { k: values.len(), values, used: true }, Ink::PAPER, Some(&title)))
        }
        (KindArg::Eigen, other) => Err(unfit(other.name(), "a model, or what rpf cluster --json printed")),
        (KindArg::Sweep, Input::Printed(command, object)) if command == "sweep" => {
            let map = sweep_map::of_printed(parsed(path, &object)?);
            Ok(figures::sweep(&map, Ink::PAPER, Some(&title)))
        }
        (KindArg::Sweep, other) => Err(unfit(other.name(), "what rpf sweep --json printed")),
        (_, input) => {
            let score = args.score.unwrap_or(ScoreArg::RhoC);
            let chart = match input {
                Input::Results(results) => rpfcluster_paper::reproduce::chart(&results, score.into()),
                Input::Printed(command, object) if command == "compare" => {
                    bars::of_compared(&parsed(path, &object)?, score, title)
                }
                Input::Printed(command, object) if command == "cluster" => {
                    bars::of_sizes(&parsed::<Vec<usize>>(path, &object["cluster_sizes"])?, title)
                }
                Input::Model(fitted, _) => bars::of_sizes(&fitted.sizes(), title),
                other => {
                    return Err(unfit(
                        other.name(),
                        "a model, or what rpf cluster, compare or reproduce wrote",
                    ));
                }
            };
            Ok(figures::bars(&chart))
        }
    }
}

impl Input {
    fn name(&self) -> &'static str {
        match self {
            Input::Model(..) => "a clustering",
            Input::Printed(..) => "the JSON output of another command",
            Input::Results(_) => "the results of rpf reproduce",
            Input::Matrix(..) => "a similarity matrix",
        }
    }
}

fn parsed<T: serde::de::DeserializeOwned>(path: &Path, value: &Value) -> Result<T> {
    T::deserialize(value)
        .map_err(|e| Failure::data(format!("{}: is not as rpf wrote it: {e}", path.display())))
}

/// Reads a file, recognised by its first bytes and its extension.
fn read(session: &Session, path: &Path) -> Result<Input> {
    let mut head = [0u8; 64];
    let mut begin = 0;
    if let Ok(mut file) = std::fs::File::open(path) {
        use std::io::Read;
        begin = file.read(&mut head).unwrap_or(0);
    }
    let head = &head[..begin];
    if head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{') {
        let wrong = |e: &dyn std::fmt::Display| Failure::data(format!("{}: {e}", path.display()));
        let length = std::fs::metadata(path).map_err(|e| wrong(&e))?.len();
        check_reading(&path.display().to_string(), length.saturating_mul(JSON), session.memory_limit())?;
        let text = std::fs::read_to_string(path).map_err(|e| wrong(&e))?;
        let object: Value =
            serde_json::from_str(&text).map_err(|e| wrong(&format!("is not valid JSON: {e}")))?;
        if object.get("datasets").is_some() {
            return Ok(Input::Results(Box::new(parsed(path, &object)?)));
        }
        let command = object["command"].as_str().unwrap_or_default().to_string();
        return Ok(Input::Printed(command, object));
    }
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if ["npy", "npz", "mtx", "csv", "tsv", "txt", "gz"].contains(&ending.as_str()) {
        let s = read_similarity(path, &session.reading())?;
        let step = s.n.div_ceil(ROWS).max(1);
        let rows: Vec<usize> = (0..s.n).step_by(step).collect();
        let values = rows.iter().flat_map(|&i| rows.iter().map(|&j| s.get(i, j)).collect::<Vec<_>>());
        return Ok(Input::Matrix(s.n, values.collect()));
    }
    let model = model::load(path, session.memory_limit())?;
    let meta = model.meta.clone();
    Ok(Input::Model(Box::new(model.into_fitted(path)?), meta))
}

/// Known classes of `n` rows; `row` gives the input row, counted from 1.
fn classes(
    session: &Session,
    args: &PlotArgs,
    n: usize,
    row: impl Fn(usize) -> usize,
) -> Result<Option<Labels>> {
    let Some(path) = &args.truth else { return Ok(None) };
    let read = read_labels(path, args.label.as_ref(), &session.reading())?;
    classes_of(&read, (0..n).map(row)).map(Some).map_err(|row| {
        Failure::data(format!("{}: has no class for row {row} of the {n} rows of the figure", path.display()))
    })
}

/// At most [`ROWS`] rows ordered by group, and the groups.
fn ordered(codes: &[u32], names: &[String]) -> (Vec<usize>, Vec<Group>) {
    let mut order: Vec<usize> = (0..codes.len()).collect();
    order.sort_by_key(|&i| codes[i]);
    let step = order.len().div_ceil(ROWS).max(1);
    let rows: Vec<usize> = order.into_iter().step_by(step).collect();
    let mut groups: Vec<Group> = names.iter().map(|name| Group { name: name.clone(), rows: 0 }).collect();
    rows.iter().for_each(|&i| groups[codes[i] as usize].rows += 1);
    groups.retain(|g| g.rows > 0);
    (rows, groups)
}

fn heatmap(session: &Session, args: &PlotArgs, title: &str) -> Result<String> {
    let mut panels: Vec<(String, Vec<f64>, Vec<Group>)> = Vec::new();
    let mut shares = true;
    for path in &args.inputs {
        let stem = path.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let name = if args.inputs.len() == 1 { title.to_string() } else { stem };
        match read(session, path)? {
            Input::Model(fitted, meta) => {
                let row = |i: usize| meta.as_ref().map_or(i + 1, |m| m.input_row(i));
                let n = fitted.labels().len();
                let (rows, groups) = match classes(session, args, n, row)? {
                    Some(classes) => ordered(&classes.codes, &classes.names),
                    None => ordered(fitted.labels(), &cluster_names(fitted.k())),
                };
                let leaves = fitted.leaves();
                let values = rows.iter().flat_map(|&i| rows.iter().map(move |&j| leaves.pair(i, j)));
                panels.push((name, values.collect(), groups));
            }
            Input::Matrix(n, values) => {
                shares = false;
                let side = values.len().isqrt();
                let (order, groups) = match classes(session, args, n, |i| i + 1)? {
                    // Only every `step`-th row was read; the classes follow.
                    Some(classes) => {
                        let step = n.div_ceil(ROWS).max(1);
                        let kept: Vec<u32> = classes.codes.iter().copied().step_by(step).collect();
                        ordered(&kept, &classes.names)
                    }
                    None => ((0..side).collect(), vec![Group { name: String::new(), rows: side }]),
                };
                let values = &values;
                let cells = order.iter().flat_map(|&i| order.iter().map(move |&j| values[i * side + j]));
                panels.push((name, cells.collect(), groups));
            }
            Input::Results(_) if args.inputs.len() == 1 => {
                return Ok(Illustrations::make(true)?.heat_maps().to_string());
            }
            other => {
                return Err(Failure::data(format!(
                    "{}: contains {}, but --kind heatmap needs models or similarity matrices",
                    path.display(),
                    other.name()
                )));
            }
        }
    }
    let drawn: Vec<Panel<'_>> =
        panels.iter().map(|(title, values, groups)| Panel { title, values, groups }).collect();
    let meaning: &[&str] =
        if shares { &["share of trees", "with both rows", "in one leaf"] } else { &["similarity"] };
    Ok(figures::heat(&drawn, meaning, true)?)
}

fn cluster_names(k: usize) -> Vec<String> {
    (0..k).map(|c| format!("cluster {c}")).collect()
}

fn embedding(
    session: &Session,
    args: &PlotArgs,
    fitted: &Fitted,
    meta: Option<&Meta>,
    title: &str,
) -> Result<String> {
    let e = fitted.spectral_embedding(&Silent)?;
    let (x, y) = args.axes.unwrap_or(if e.k() > 2 { (2, 3) } else { (1, 2) });
    if e.k() < 2 || x > e.k() || y > e.k() {
        return Err(Failure::data(format!(
            "{}: has {} eigenvectors, but the figure needs numbers {x} and {y}; cluster with a larger -k or choose others with --axes",
            args.inputs[0].display(),
            e.k()
        )));
    }
    let classes = classes(session, args, e.n(), |i| meta.map_or(i + 1, |m| m.input_row(i)))?;
    let (codes, names) = match classes {
        Some(classes) => (classes.codes, classes.names),
        None => (fitted.labels().to_vec(), cluster_names(fitted.k())),
    };
    let step = e.n().div_ceil(POINTS).max(1);
    let rows: Vec<usize> = (0..e.n()).step_by(step).collect();
    // Divided by the square root of the degree: the coordinates that rpf embed writes.
    let at = |i: usize, axis: usize| {
        let degree = e.degrees[i];
        if degree > 0.0 { e.row(i)[axis - 1] / degree.sqrt() } else { 0.0 }
    };
    let points: Vec<(f64, f64)> = rows.iter().map(|&i| (at(i, x), at(i, y))).collect();
    let codes: Vec<u32> = rows.iter().map(|&i| codes[i]).collect();
    let (across, up) = (format!("eigenvector {x}"), format!("eigenvector {y}"));
    let cloud = Cloud { title, points: &points, codes: &codes, names: &names, axes: (&across, &up) };
    Ok(figures::embedding(&cloud))
}

/// The eigenvalues used and, for tables of moderate size, some more.
fn spectrum(session: &Session, fitted: &Fitted) -> Result<Spectrum> {
    let used = fitted.spectral_embedding(&session.progress)?;
    let k = used.k();
    let mut values = used.eigenvalues.clone();
    if used.n() <= WIDER_BELOW {
        match fitted.embed(k + BEYOND, &session.progress) {
            Ok(wider) => values = wider.eigenvalues,
            Err(rpfcluster::Error::Cancelled) => return Err(Failure::Interrupted),
            // Few landmarks have no more eigenvalues.
            Err(_) => {}
        }
    }
    Ok(Spectrum { values, k, used: fitted.embedding().k() > 0 })
}
