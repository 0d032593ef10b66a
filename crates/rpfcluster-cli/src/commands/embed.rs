//! `rpf embed`: writes the spectral embedding of every row (Laplacian eigenmaps, Belkin and Niyogi 2003).

use rpfcluster_data::Format;
use rpfcluster_data::write::{self, Cells, Column};

use crate::args::EmbedArgs;
use crate::exit::{Failure, Result};
use crate::files::table::TableFormat;
use crate::outcome::Outcome;
use crate::resolve::Clusters;
use crate::session::Session;
use crate::transaction::Transaction;
use crate::{load, output, output_paths, resolve};

/// Reads, computes one eigenvector more than requested, drops the constant first one, and writes.
pub fn run(args: &EmbedArgs) -> Result {
    let session = Session::new(&args.run);
    let wanted = resolve::positive("--dimensions", args.dimensions)?;
    let format = TableFormat::of(args.output.as_deref())?;
    output_paths::check(
        &[("DATA", Some(&args.data.data)), ("--config", args.run.config.as_deref())],
        &[(output_paths::OUTPUT, args.output.as_deref())],
    )?;
    session.on_threads(|| {
        let outcome = if args.spectral.precomputed {
            let params = resolve::matrix(&args.forest, &args.spectral, wanted + 1)?;
            Outcome::of_matrix(&session, &args.data, params).map_err(|e| dimensions(e, wanted))?
        } else {
            let params = resolve::pipeline(&args.forest, &args.spectral, &Clusters::Fixed(wanted + 1))?;
            let params = params.for_embedding();
            let (table, preparation) = load::table(&session, &args.data)?;
            Outcome::of_rows(&session, table, preparation, &params).map_err(|e| dimensions(e, wanted))?
        };
        let coordinates = outcome.clustering.embedding().coordinates();
        let n = outcome.clustering.n();
        let cells = |at: usize, rows: std::ops::Range<usize>| {
            Cells::Doubles(rows.map(|row| coordinates[row * wanted + at]).collect())
        };
        let columns = |rows: std::ops::Range<usize>| {
            let numbers = rows.clone().map(|i| Some(outcome.input_row(i) as i64)).collect();
            let mut columns = vec![Column { name: "row".into(), cells: Cells::Integers(numbers) }];
            columns.extend(
                (0..wanted)
                    .map(|at| Column { name: format!("e{}", at + 1).into(), cells: cells(at, rows.clone()) }),
            );
            columns
        };
        let mut transaction = Transaction::default();
        match &args.output {
            // The matrix alone: a row of a .npy file is known by its place.
            Some(path) if format.format == Format::Npy => {
                transaction.file(path, |out| write::npy(out, &coordinates, &[n, wanted]))?;
            }
            target => transaction.deliver(target.as_deref(), |out| format.write(out, (n, 1), columns))?,
        }
        if args.json {
            let mut object = outcome.json(&session, "embed", &[])?;
            if let Some(object) = object.as_object_mut() {
                object.retain(|key, _| {
                    !["k", "chosen", "verdict", "hints", "cluster_sizes", "scores"].contains(&key.as_str())
                });
                object.insert("dimensions".into(), wanted.into());
            }
            transaction.print_json(object);
            return transaction.commit();
        }
        transaction.commit()?;
        if let Some(path) = args.output.as_ref().filter(|path| !output::is_standard(path)) {
            session.note(&format!("wrote {}: {n} rows, {wanted} dimensions", path.display()));
        }
        Ok(())
    })
}

/// Rewords an error about k, which is not an option of `rpf embed`.
fn dimensions(failure: Failure, wanted: usize) -> Failure {
    let about = format!("k is {}, but", wanted + 1);
    match failure {
        Failure::Data(sentence) if sentence.contains(&about) => {
            let reworded = sentence
                .replace(&format!("-{about}"), &about)
                .replace(&about, &format!("--dimensions is {wanted}, but"));
            Failure::Data(format!("{reworded}, which have at most one dimension less"))
        }
        other => other,
    }
}
