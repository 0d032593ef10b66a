//! `rpf neighbors`: lists the rows that share the most leaves with each row. `--exact` re-ranks a larger pool
//! by Euclidean distance; `--against` searches the training rows of a saved model instead of the table itself.

use rpfcluster::ForestParams;
use rpfcluster::{Neighbors, Reranked};
use rpfcluster_data::write::{Cells, Column};
use serde_json::json;

use crate::args::NeighborsArgs;
use crate::exit::{Failure, Result};
use crate::files::model;
use crate::files::table::TableFormat;
use crate::session::{ProblemSize, Session};
use crate::transaction::Transaction;
use crate::{library, load, output, output_paths, resolve};

/// Reads, grows or loads a forest, counts shared leaves and writes.
pub fn run(args: &NeighborsArgs) -> Result {
    let session = Session::new(&args.run);
    let wanted = resolve::positive("--neighbors", args.neighbors)?;
    output_paths::check(
        &[
            ("DATA", Some(&args.data.data)),
            ("--config", args.run.config.as_deref()),
            ("--against", args.against.as_deref()),
        ],
        &[(output_paths::OUTPUT, args.output.as_deref())],
    )?;
    TableFormat::of(args.output.as_deref())?;
    session.on_threads(|| match &args.against {
        Some(path) => against(&session, args, path, wanted),
        None => among(&session, args, wanted),
    })
}

/// Neighbours among the rows of the table.
fn among(session: &Session, args: &NeighborsArgs, wanted: usize) -> Result {
    let params = resolve::forest(&args.forest)?;
    let pool = args.pool.map(|pool| resolve::positive("--pool", pool)).transpose()?;
    if let Some(pool) = pool.filter(|pool| *pool < wanted) {
        return Err(Failure::usage(format!("--pool is {pool}, but must be at least --neighbors, {wanted}")));
    }
    let (table, _) = load::table(session, &args.data)?;
    check_count(wanted, table.n.saturating_sub(1), &table.source)?;
    let candidates =
        if args.exact { pool.unwrap_or((wanted * 10).max(100)).min(table.n - 1) } else { wanted };
    check_memory(session, table.n, candidates)?;
    let forest = library::grow(session, &table, &params)?;
    let found = session.clock.time("kernel", || forest.leaves().top_k(candidates, &session.progress))?;
    let exact = args.exact.then(|| library::nearest(session, &table, &found, wanted)).transpose()?;
    let row = |i: usize| table.input_row(i);
    let mut transaction = Transaction::default();
    stage(&mut transaction, session, args, &found, exact.as_ref(), row, row)?;
    finish(transaction, session, args, table.n, table.d(), &params)
}

/// Neighbours among the rows a model was grown on.
fn against(session: &Session, args: &NeighborsArgs, path: &std::path::Path, wanted: usize) -> Result {
    let model = session.clock.time("model", || model::load(path, session.memory_limit()))?;
    let meta = model.columns(path)?;
    let table = load::table_like(session, &args.data, &load::input(session, &args.data), &meta.preparation)?;
    check_count(wanted, model.forest().n(), &path.display().to_string())?;
    check_memory(session, table.n, wanted)?;
    let codes = library::route(session, model.forest(), &table)?;
    let leaves = model.forest().leaves();
    let found = session.clock.time("kernel", || leaves.top_k_of(&codes, wanted, &session.progress))?;
    let mut transaction = Transaction::default();
    stage(&mut transaction, session, args, &found, None, |i| table.input_row(i), |j| meta.input_row(j))?;
    finish(transaction, session, args, table.n, table.d(), model.forest().params())
}

fn check_count(wanted: usize, there: usize, source: &str) -> Result {
    if wanted <= there {
        return Ok(());
    }
    Err(Failure::usage(format!("--neighbors is {wanted}, but {source} has only {there} candidates")))
}

fn check_memory(session: &Session, n: usize, k: usize) -> Result {
    let bytes = (n as u64).saturating_mul(k as u64).saturating_mul(12);
    let remedy = "use fewer --neighbors or a smaller --pool";
    session.check_memory(&format!("a list of {k} neighbours for {n} rows"), bytes, remedy)
}

fn stage<'a>(
    transaction: &mut Transaction<'a>,
    session: &Session,
    args: &NeighborsArgs,
    found: &'a Neighbors,
    exact: Option<&'a Reranked>,
    row: impl Fn(usize) -> usize + 'a,
    neighbor: impl Fn(usize) -> usize + 'a,
) -> Result {
    let (trees, shape) = (found.trees() as f64, (found.n(), args.neighbors));
    let format = TableFormat::of(args.output.as_deref())?;
    // The neighbours of a row with their counts, by rank; with their distances where these decide the rank.
    let of_row = move |i: usize| -> Vec<(u32, u16, f64)> {
        let (columns, counts) = found.row(i);
        let count = |of: u32| columns.iter().position(|c| *c == of).and_then(|at| counts.get(at)).copied();
        match exact.and_then(|exact| exact.neighbors.get(i)) {
            Some(nearest) => nearest.iter().map(|&(j, far)| (j, count(j).unwrap_or(0), far)).collect(),
            None => columns.iter().zip(counts).map(|(&j, &count)| (j, count, f64::NAN)).collect(),
        }
    };
    let columns = move |rows: std::ops::Range<usize>| {
        let (mut numbers, mut ranks, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let (mut similarities, mut distances) = (Vec::new(), Vec::new());
        for i in rows {
            for (rank, (j, count, distance)) in (1..).zip(of_row(i)) {
                numbers.push(Some(row(i) as i64));
                ranks.push(Some(rank));
                others.push(Some(neighbor(j as usize) as i64));
                similarities.push(f64::from(count) / trees);
                distances.push(distance);
            }
        }
        let column = |name: &'static str, cells| Column { name: name.into(), cells };
        let mut columns = vec![
            column("row", Cells::Integers(numbers)),
            column("rank", Cells::Integers(ranks)),
            column("neighbor", Cells::Integers(others)),
            column("similarity", Cells::Doubles(similarities)),
        ];
        if exact.is_some() {
            columns.push(column("distance", Cells::Doubles(distances)));
        }
        columns
    };
    session.clock.time("write", || {
        transaction.deliver(args.output.as_deref(), move |out| format.write(out, shape, columns))
    })
}

fn finish(
    mut transaction: Transaction<'_>,
    session: &Session,
    args: &NeighborsArgs,
    n: usize,
    d: usize,
    params: &ForestParams,
) -> Result {
    if args.json {
        let mut object = session.head("neighbors", ProblemSize { n, d, k: None }, params.seed, json!(params));
        object.insert("neighbors".into(), args.neighbors.into());
        object.insert("exact".into(), args.exact.into());
        object.insert("output".into(), args.output.as_ref().map(|p| p.display().to_string()).into());
        transaction.print_json(session.finished(object));
        return transaction.commit();
    }
    transaction.commit()?;
    if let Some(path) = args.output.as_ref().filter(|p| !output::is_standard(p)) {
        session.note(&format!("wrote {}: {} neighbours of {n} rows", path.display(), args.neighbors));
    }
    Ok(())
}
