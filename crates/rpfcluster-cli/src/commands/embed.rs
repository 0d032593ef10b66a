//! `rpf embed`: spectral coordinates of every row, for pictures and for other methods.

use std::path::Path;

use rpfcluster_data::write;

use crate::args::EmbedArgs;
use crate::clustered::Clustered;
use crate::exit::{Failure, Outcome};
use crate::resolve::Clusters;
use crate::session::Session;
use crate::{engine, output, resolve};

/// Reads, finds one eigenvector more than asked for, drops the first, writes.
pub fn run(args: &EmbedArgs) -> Outcome {
    let session = Session::new(&args.run);
    let wanted = resolve::positive("--dimensions", args.dimensions)?;
    let binary = is_npy(args.output.as_deref())?;
    resolve::outputs(&args.data.data, &[("--output", args.output.as_deref())])?;
    session.on_threads(|| {
        let clustered = if args.spectral.precomputed {
            let params = resolve::matrix(&args.forest, &args.spectral, wanted + 1)?;
            Clustered::matrix(&session, &args.data, &params).map_err(|e| dimensions(e, wanted))?
        } else {
            let mut params = resolve::walk(&args.forest, &args.spectral, &Clusters::Fixed(wanted + 1))?;
            // Settings are compared by the clusters they give, and nobody asked for clusters.
            params.tune = false;
            let (table, preparation) = engine::load(&session, &args.data)?;
            Clustered::rows(&session, table, preparation, &params).map_err(|e| dimensions(e, wanted))?
        };
        let coordinates = clustered.embedding().coordinates();
        let n = clustered.n();
        match &args.output {
            Some(path) if binary => {
                output::to_file(path, |out| write::npy(out, &coordinates, &[n, wanted]))?;
            }
            target => {
                let names: Vec<String> = (1..=wanted).map(|c| format!("e{c}")).collect();
                let rows: Vec<usize> = (0..n).map(|i| clustered.input_row(i)).collect();
                output::deliver(target.as_deref(), |mut out| {
                    write::numbers_csv(&mut out, &names, &coordinates, Some(&rows))
                })?;
            }
        }
        if args.json {
            let mut object = clustered.json(&session, "embed")?;
            if let Some(object) = object.as_object_mut() {
                object.retain(|key, _| !["k", "chosen", "cluster_sizes", "scores"].contains(&key.as_str()));
                object.insert("dimensions".into(), wanted.into());
            }
            return output::print_json(&object);
        }
        if let Some(path) = args.output.as_ref().filter(|path| path.as_os_str() != "-") {
            session.note(&format!("wrote {}: {n} rows, {wanted} dimensions", path.display()));
        }
        Ok(())
    })
}

/// Whether the name asks for NumPy's format.
fn is_npy(output: Option<&Path>) -> Outcome<bool> {
    let Some(path) = output else { return Ok(false) };
    match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("npy") => Ok(true),
        Some("npz" | "parquet" | "arrow" | "feather" | "mtx" | "gz") => Err(Failure::usage(format!(
            "--output {} does not end in a format that holds an embedding; take .csv or .npy",
            path.display()
        ))),
        _ => Ok(false),
    }
}

/// A complaint about k speaks of something the user did not say.
fn dimensions(failure: Failure, wanted: usize) -> Failure {
    match failure {
        Failure::Data(sentence) if sentence.contains("distinct points") => {
            let told = sentence
                .replace(&format!("k is {}, but", wanted + 1), &format!("--dimensions is {wanted}, but"));
            Failure::Data(format!("{told}, and one dimension less than that can be told apart"))
        }
        other => other,
    }
}
