//! The first steps every verb takes: a file becomes a table, a table a forest. The only file that asks whether a table is
//! single or double precision.

use rpfcluster::kernel::{Neighbors, Reranked, rerank};
use rpfcluster::{Fitted, Forest, ForestParams, LeafIds, Points, Real, RpfCluster, Silent};
use rpfcluster_data::{Frame, Preparation, Table, Values, read_frame};

use crate::args::DataArgs;
use crate::exit::{Failure, Outcome};
use crate::resolve;
use crate::session::Session;

/// Does `$body` with the table's points, in the width they have.
macro_rules! with_points {
    ($table:expr, |$points:ident| $body:expr) => {
        match &$table.values {
            Values::F32(values) => {
                let $points = &points($table, values)?;
                $body
            }
            Values::F64(values) => {
                let $points = &points($table, values)?;
                $body
            }
        }
    };
}

fn points<'a, R: Real>(table: &Table, values: &'a [R]) -> Outcome<Points<'a, R>> {
    Points::new(values, table.n, table.d()).map_err(|e| Failure::of_file(&table.source, e))
}

/// The file as it is.
fn read(session: &Session, data: &DataArgs) -> Outcome<Frame> {
    session.clock.time("read", || Ok(read_frame(&data.data, &resolve::reading(data))?))
}

/// The file as a table of finite numbers, and how it became one.
pub fn load(session: &Session, data: &DataArgs) -> Outcome<(Table, Preparation)> {
    let frame = read(session, data)?;
    let rows = frame.n();
    let (table, preparation) = session.clock.time("read", || resolve::prepare(data).fit(frame))?;
    told(session, &table, rows);
    if data.standardize.is_empty()
        && let Some(hint) = table.scale_hint()
    {
        session.note(&format!(
            "hint: column \"{}\" varies {:.0} times as much as \"{}\" and will decide nearly alone; \
             --standardize all would give every column the same weight",
            hint.largest, hint.ratio, hint.smallest
        ));
    }
    Ok((table, preparation))
}

/// The file as a table for a fitted model: its columns, gaps and scales as they were then.
pub fn load_like(session: &Session, data: &DataArgs, fitted: &Preparation) -> Outcome<Table> {
    let frame = read(session, data)?;
    let rows = frame.n();
    let table = session.clock.time("read", || fitted.apply(frame, data.label.as_ref()))?;
    told(session, &table, rows);
    Ok(table)
}

fn told(session: &Session, table: &Table, rows: usize) {
    if table.n < rows {
        let left = rows - table.n;
        session.note(&format!("{}: {left} of {rows} rows left out for missing values", table.source));
    }
    session.detail(&format!("{}: {} rows, {} columns", table.source, table.n, table.d()));
}

/// Grows the forest of a table.
pub fn grow(session: &Session, table: &Table, params: &ForestParams) -> Outcome<Forest> {
    let (n, trees) = (table.n as u64, params.trees as u64);
    // Row numbers of every tree; nodes are few beside them unless leaves are tiny, then up to 24 bytes a row more.
    let needed = n * trees * (4 + 48 / params.min_node as u64);
    let remedy = "take fewer --trees, fewer rows, or raise --memory-limit";
    session.check_memory(&format!("a forest of {trees} trees over {n} rows"), needed, remedy)?;
    let grown = session.clock.time("grow", || {
        with_points!(table, |points| Forest::grow(points.observed(&session.progress), params)
            .map_err(Failure::from))
    })?;
    Ok(grown)
}

/// Goes the whole walk with a table.
pub fn fit(session: &Session, table: &Table, params: &RpfCluster) -> Outcome<Fitted> {
    let params = RpfCluster { threads: session.threads(), ..params.clone() };
    let width = match table.values {
        Values::F32(_) => size_of::<f32>(),
        Values::F64(_) => size_of::<f64>(),
    };
    let needed = params.memory_needed(table.n, table.d(), width);
    let what = format!("clustering {} rows with {} trees", table.n, params.trees);
    session.check_memory(&what, needed, "take fewer --trees, fewer rows, or raise --memory-limit")?;
    let fitted = with_points!(table, |points| params
        .fit(points.observed(&session.progress))
        .map_err(|e| Failure::of_file(&table.source, e)))?;
    let seconds = fitted.seconds();
    session.clock.book("grow", seconds.grow);
    session.clock.book("kernel", seconds.kernel);
    session.clock.book("spectral", seconds.spectral);
    session.clock.book("label", seconds.label);
    if seconds.tune > 0.0 {
        session.clock.book("tune", seconds.tune);
    }
    Ok(fitted)
}

/// The clusters of new rows.
pub fn predict(session: &Session, fitted: &Fitted, table: &Table) -> Outcome<Vec<u32>> {
    session.clock.time("predict", || {
        with_points!(table, |points| fitted
            .predict(points.observed(&session.progress))
            .map_err(|e| Failure::of_file(&table.source, e)))
    })
}

/// Sends the rows of a table down a grown forest.
pub fn route(session: &Session, forest: &Forest, table: &Table) -> Outcome<LeafIds> {
    session.clock.time("route", || {
        with_points!(table, |points| forest
            .route(points.observed(&session.progress))
            .map_err(|e| Failure::of_file(&table.source, e)))
    })
}

/// Measures the candidates of every row and keeps the `k` nearest.
pub fn nearest(session: &Session, table: &Table, candidates: &Neighbors, k: usize) -> Outcome<Reranked> {
    session.clock.time("rerank", || {
        with_points!(table, |points| rerank(points, points, candidates, k, &Silent).map_err(Failure::from))
    })
}

/// About how many pairs a kernel would keep: counted for a few rows, spread evenly over the table.
pub fn estimated_pairs(forest: &Forest, table: &Table, min: f64) -> Outcome<u64> {
    const SAMPLE: usize = 64;
    let (n, d) = (table.n, table.d());
    let m = n.min(SAMPLE);
    let rows = (0..m).map(|i| i * n / m);
    let values = match &table.values {
        Values::F32(v) => Values::F32(rows.flat_map(|r| v[r * d..(r + 1) * d].to_vec()).collect()),
        Values::F64(v) => Values::F64(rows.flat_map(|r| v[r * d..(r + 1) * d].to_vec()).collect()),
    };
    let sample = &Table {
        source: table.source.clone(),
        columns: table.columns.clone(),
        has_header: table.has_header,
        n: m,
        values,
        labels: None,
        rows: None,
    };
    let codes = with_points!(sample, |points| forest.route(points))?;
    let kept = forest.leaves().sparse_of(&codes, min, &Silent)?;
    Ok((kept.pairs() as u64 * n as u64).div_ceil(m as u64))
}
