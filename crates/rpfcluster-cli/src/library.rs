//! Calls into the library, in the precision of the table, and an estimate of the number of pairs of a kernel from a few
//! rows. The only file that dispatches on the precision of the data.

use rpfcluster::{
    Error, Fitted, Forest, ForestParams, LeafIds, LeafMatrix, Observer, Points, Real, RpfCluster, Silent,
};
use rpfcluster::{Neighbors, Reranked, rerank};
use rpfcluster_data::{Table, Values};

use crate::exit::{Failure, Result};
use crate::session::Session;

/// Evaluates `$body` with the points of a table in their own precision.
macro_rules! with_points {
    ($table:expr, |$points:ident| $body:expr) => {
        match (&$table.values, &$table.means) {
            (Values::F32(values), Some(Values::F32(means))) => {
                let $points = &points($table, Points::with_gaps(values, $table.n, $table.d(), means))?;
                $body
            }
            (Values::F64(values), Some(Values::F64(means))) => {
                let $points = &points($table, Points::with_gaps(values, $table.n, $table.d(), means))?;
                $body
            }
            (Values::F64(values), _) => {
                let $points = &points($table, Points::new(values, $table.n, $table.d()))?;
                $body
            }
            (values, _) => {
                let $points = &points($table, single($table, values))?;
                $body
            }
        }
    };
}

/// The points with the keys of the columns.
fn points<'a, R: Real>(table: &'a Table, points: rpfcluster::Result<Points<'a, R>>) -> Result<Points<'a, R>> {
    points.and_then(|points| points.with_keys(&table.keys)).map_err(|e| of_table(table, e))
}

/// Points of numbers of one, two or four bytes.
fn single<'a>(table: &Table, values: &'a Values) -> rpfcluster::Result<Points<'a, f32>> {
    match (values, values.compact()) {
        (Values::F32(values), _) => Points::new(values, table.n, table.d()),
        (_, Some(values)) => Points::compact(values, table.n, table.d()),
        // Refused: double precision is not single.
        (_, None) => Points::new(&[], table.n, table.d()),
    }
}

/// An error about a table, which may be a batch: with the row of the file.
fn of_table(table: &Table, error: Error) -> Failure {
    let error = match error {
        Error::NotFinite { row, column, value } => {
            Error::NotFinite { row: table.input_row(row.saturating_sub(1)), column, value }
        }
        other => other,
    };
    Failure::of_file(&table.source, error)
}

/// Grows a forest on the rows of a table.
pub fn grow(session: &Session, table: &Table, params: &ForestParams) -> Result<Forest> {
    let (n, trees) = (table.n as u64, params.trees as u64);
    // Four bytes per row and tree for the row numbers; the nodes of small leaves add up to 24 bytes per row and tree.
    let needed = n * trees * (4 + 48 / params.min_node as u64);
    let remedy = "use fewer --trees or fewer rows";
    session.check_memory(&format!("a forest of {trees} trees over {n} rows"), needed, remedy)?;
    session.clock.time("grow", || {
        with_points!(table, |points| Forest::grow(points.observed(&session.progress), params)
            .map_err(Failure::from))
    })
}

/// Clusters the rows of a table.
pub fn fit(session: &Session, table: &Table, params: &RpfCluster) -> Result<Fitted> {
    let needed = with_points!(table, |points| params.memory_of(points));
    let what = format!("clustering {} rows", table.n);
    session.check_memory(&what, needed, "use fewer --trees or fewer rows")?;
    let fitted = with_points!(table, |points| params
        .fit(points.observed(&session.progress))
        .map_err(|e| Failure::of_file(&table.source, e)))?;
    let seconds = fitted.seconds();
    session.clock.book("grow", seconds.grow);
    session.clock.book("kernel", seconds.kernel);
    session.clock.book("spectral", seconds.spectral);
    session.clock.book("label", seconds.label);
    for (stage, spent) in [("tune", seconds.tune), ("assess", seconds.assess)] {
        if spent > 0.0 {
            session.clock.book(stage, spent);
        }
    }
    Ok(fitted)
}

/// Predicts the clusters of new rows, and with `confidence` that of each. `observer` is that of all batches.
pub fn predict(
    session: &Session,
    fitted: &Fitted,
    table: &Table,
    confidence: bool,
    observer: &dyn Observer,
) -> Result<(Vec<u32>, Option<Vec<f64>>)> {
    session.clock.time("predict", || {
        with_points!(table, |points| {
            let observed = points.observed(observer);
            if confidence {
                let found = fitted.predict_with_confidence(observed);
                return found.map(|(labels, each)| (labels, Some(each))).map_err(|e| of_table(table, e));
            }
            fitted.predict(observed).map(|labels| (labels, None)).map_err(|e| of_table(table, e))
        })
    })
}

/// The rows that lie far outside the training rows.
pub fn far_rows(fitted: &Fitted, table: &Table) -> Result<Vec<usize>> {
    with_points!(table, |points| fitted.far_rows(points).map_err(|e| of_table(table, e)))
}

/// Finds the leaves of new rows.
pub fn route(session: &Session, forest: &Forest, table: &Table) -> Result<LeafIds> {
    session.clock.time("route", || {
        with_points!(table, |points| forest
            .route(points.observed(&session.progress))
            .map_err(|e| Failure::of_file(&table.source, e)))
    })
}

/// Keeps the `k` candidates of every row with the smallest Euclidean distance.
pub fn nearest(session: &Session, table: &Table, candidates: &Neighbors, k: usize) -> Result<Reranked> {
    session.clock.time("rerank", || {
        with_points!(table, |points| rerank(points, points, candidates, k, &Silent).map_err(Failure::from))
    })
}

/// Estimates the number of pairs in a kernel from a few evenly spaced rows.
pub fn estimated_pairs(forest: &Forest, leaves: &LeafMatrix, table: &Table, min: f64) -> Result<u64> {
    /// Rows counted: the estimate only has to tell megabytes from gigabytes.
    const SAMPLE: usize = 64;
    let (n, d) = (table.n, table.d());
    let m = n.min(SAMPLE);
    let cells = (0..m).flat_map(|i| (0..d).map(move |j| (i * n / m, j)));
    // Routed in the precision of the forest, to which doubles convert back exactly. An estimate may fill gaps.
    let values: Vec<f64> = cells.map(|(row, column)| table.value(row, column)).collect();
    let codes = forest.route(&Points::new(&values, m, d)?)?;
    let kept = leaves.sparse_of(&codes, min, &Silent)?;
    Ok((kept.pairs() as u64 * n as u64).div_ceil(m as u64))
}
