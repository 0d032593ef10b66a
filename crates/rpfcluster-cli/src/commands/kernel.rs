//! `rpf kernel`: grows a forest and writes the similarity matrix of a table: all pairs from a threshold, or the most
//! similar rows of each row. Estimates its memory before counting pairs.

use rpfcluster::Neighbors;
use rpfcluster::{Forest, SparseKernel};
use rpfcluster_data::Table;
use serde_json::json;

use crate::args::KernelArgs;
use crate::exit::{Failure, Result};
use crate::files;
use crate::files::kernel::KernelFormat;
use crate::files::model::{self, Meta};
use crate::session::{ProblemSize, Session};
use crate::transaction::Transaction;
use crate::{library, load, output_paths, resolve};

/// Bytes per stored pair: column, count, and the similarity while it is written.
const PAIR: u64 = 4 + 2 + 8;

/// Reads, grows a forest, counts shared leaves and writes.
pub fn run(args: &KernelArgs) -> Result {
    let session = Session::new(&args.run);
    let format = KernelFormat::of(&args.output)?;
    let params = resolve::forest(&args.forest)?;
    let min = args.min.map(|min| resolve::share("--min", min)).transpose()?.unwrap_or(0.0);
    let top = args.top.map(|top| resolve::positive("--top", top)).transpose()?;
    output_paths::check(
        &[("DATA", Some(&args.data.data)), ("--config", args.run.config.as_deref())],
        &[(output_paths::OUTPUT, Some(&args.output)), ("--model", args.model.as_deref())],
    )?;
    session.on_threads(|| {
        let (table, preparation) = load::table(&session, &args.data)?;
        if format == KernelFormat::Npy {
            let bytes = (table.n as u64).saturating_mul(table.n as u64).saturating_mul(8);
            let remedy = "write .npz with --min or --top";
            session.check_memory(&format!("the dense kernel of {} rows", table.n), bytes, remedy)?;
        }
        let forest = library::grow(&session, &table, &params)?;
        let kernel = session.clock.time("kernel", || kept(&session, &forest, &table, min, top))?;
        let mut transaction = Transaction::default();
        session.clock.time("write", || {
            files::kernel::save(&mut transaction, &args.output, format, &kernel)?;
            let Some(path) = &args.model else { return Ok(()) };
            let label = args.data.label.as_ref().map(|l| l.0.clone());
            model::save(&mut transaction, path, &forest, &Meta::new(&table, preparation, label))
        })?;
        let (n, pairs) = (kernel.rows, kernel.pairs());
        if args.json {
            let mut object =
                session.head("kernel", ProblemSize { n, d: table.d(), k: None }, params.seed, json!(params));
            object.insert("output".into(), args.output.display().to_string().into());
            object.insert("min".into(), min.into());
            object.insert("top".into(), top.into());
            object.insert("pairs".into(), pairs.into());
            transaction.print_json(session.finished(object));
            return transaction.commit();
        }
        transaction.commit()?;
        session.note(&format!("wrote {}: {n} x {n}, {pairs} entries", args.output.display()));
        Ok(())
    })
}

/// The requested pairs, diagonal included.
fn kept(
    session: &Session,
    forest: &Forest,
    table: &Table,
    min: f64,
    top: Option<usize>,
) -> Result<SparseKernel> {
    let leaves = forest.leaves();
    let remedy = "keep fewer pairs with --min or --top";
    let Some(top) = top else {
        let pairs = library::estimated_pairs(forest, &leaves, table, min)?;
        session.check_memory(&format!("a kernel of about {pairs} pairs"), pairs * PAIR, remedy)?;
        return Ok(leaves.sparse(min, &session.progress)?);
    };
    let most = table.n as u64 * (2 * top as u64 + 1).min(table.n as u64);
    session.check_memory(&format!("a kernel of up to {most} pairs"), most * (PAIR + 12), remedy)?;
    union(&leaves.top_k(top, &session.progress)?, min)
}

/// Pairs of which either row lists the other, and the diagonal, as CSR.
fn union(neighbors: &Neighbors, min: f64) -> Result<SparseKernel> {
    let (n, trees) = (neighbors.n(), neighbors.trees());
    let whole = u16::try_from(trees).map_err(|_| Failure::usage("--trees is too large"))?;
    let mut pairs: Vec<(u32, u32, u16)> = Vec::with_capacity(n * (2 * neighbors.k() + 1));
    for i in 0..n {
        pairs.push((i as u32, i as u32, whole));
        let (columns, counts) = neighbors.row(i);
        for (&j, &count) in columns.iter().zip(counts) {
            if f64::from(count) / trees as f64 >= min {
                pairs.extend([(i as u32, j, count), (j, i as u32, count)]);
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut starts = vec![0usize; n + 1];
    for (i, ..) in &pairs {
        starts[*i as usize + 1] += 1;
    }
    for i in 0..n {
        starts[i + 1] += starts[i];
    }
    let (indices, counts) = pairs.into_iter().map(|(_, j, count)| (j, count)).unzip();
    Ok(SparseKernel { rows: n, columns: n, starts, indices, counts, trees })
}
